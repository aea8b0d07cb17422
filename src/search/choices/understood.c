/* SPDX-License-Identifier: Apache-2.0 */
/* understood.c - see understood.h. */
#include "search/choices/understood.h"

#include "codec/message.h"
#include "search/bounds.h"

void understood_put(const struct wanted *wanted, Torg__V1__SearchOffersResponse *response)
{
    static const char *const kinds[] = {[MEANT_FILLER] = "filler",
                                        [MEANT_NEW] = "condition",
                                        [MEANT_USED] = "condition",
                                        [MEANT_NEAR] = "distance",
                                        [MEANT_PRICE] = "price"};
    struct arena *arena = wanted->arena;

    response->understood = arena_array(arena, wanted->meaning.count + SYNONYM_USE_COUNT_MAX + 1,
                                       sizeof(response->understood[0]));
    for (size_t i = 0; i < wanted->meaning.count; i++) {
        const struct meant *meant = &wanted->meaning.list[i];
        Torg__V1__Understood *understood = MESSAGE_NEW(understood, arena);

        if (meant->kind == MEANT_STOP)
            continue;
        understood->text = (char *)meant->text;
        understood->as =
            (char *)(meant->kind == MEANT_PRICE && wanted->is_pay ? "salary" : kinds[meant->kind]);
        if (meant->kind != MEANT_FILLER)
            understood->choice = (Torg__V1__FilterChoice *)wanted_choice(wanted, understood->as);
        response->understood[response->n_understood++] = understood;
    }
    if (wanted->named) {
        Torg__V1__Understood *understood = MESSAGE_NEW(understood, arena);

        understood->text = (char *)wanted->named_by;
        understood->as = "category";
        understood->category = arena_strdup(arena, wanted->named->id);
        understood->category_name = arena_strdup(arena, wanted->named->name.in[wanted->language]);
        response->understood[response->n_understood++] = understood;
    }
}
