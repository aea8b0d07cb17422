/* SPDX-License-Identifier: Apache-2.0 */
/* Unit tests of search/glue.h: every offer of a page gets its own snippets, in their order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/memory.h"
#include "base/random.h"
#include "codec/message.h"
#include "search/glue.h"

enum { ROUND_COUNT = 2000, OFFER_MAX = 12, NAME_COUNT = 3 };

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Of each name every other key, by name, then key, each once. */
static int read_snippets(void *arg, char *const *names, size_t name_count, char *const *keys,
                         size_t key_count, const char *language, struct arena *arena,
                         Torg__V1__Snippet ***list, size_t *count, struct err *err)
{
    struct rng *rng = arg;
    char **sorted = arena_array(arena, key_count, sizeof(*sorted));

    (void)language;
    (void)err;
    memcpy(sorted, keys, key_count * sizeof(*sorted));
    qsort(sorted, key_count, sizeof(*sorted), by_text);
    *list = arena_array(arena, name_count * key_count, sizeof(**list));
    *count = 0;
    for (size_t i = 0; i < name_count; i++) {
        for (size_t k = 0; k < key_count; k++) {
            Torg__V1__Snippet *message;

            if ((k && strcmp(sorted[k], sorted[k - 1]) == 0) || rng_below(rng, 2))
                continue;
            message = MESSAGE_NEW(snippet, arena);
            message->name = names[i];
            message->key = sorted[k];
            (*list)[(*count)++] = message;
        }
    }
    return 0;
}

static void check(const Torg__V1__SearchOffersResponse *page, Torg__V1__Snippet *const *list,
                  size_t count, uint64_t seed)
{
    for (size_t i = 0; i < page->n_offers; i++) {
        const Torg__V1__FoundOffer *offer = page->offers[i];
        size_t own = 0;

        for (size_t k = 0; k < count; k++) {
            if (strcmp(list[k]->key, offer->id) != 0)
                continue;
            if (own >= offer->n_snippets ||
                strcmp(offer->snippets[own]->name, list[k]->name) != 0 ||
                strcmp(offer->snippets[own]->key, offer->id) != 0)
                fail_msg("seed %ju: offer %s", (uintmax_t)seed, offer->id);
            own++;
        }
        assert_int_equal(own, offer->n_snippets);
    }
}

static void every_offer_gets_its_own(void **state)
{
    char *names[NAME_COUNT] = {(char *)"a", (char *)"b", (char *)"c"};
    uint64_t seed = random_u64();
    struct rng rng = rng_seeded(seed);
    struct arena *arena = arena_new();

    (void)state;
    for (int round = 0; round < ROUND_COUNT; round++) {
        Torg__V1__SearchOffersRequest request = TORG__V1__SEARCH_OFFERS_REQUEST__INIT;
        Torg__V1__SearchOffersResponse page = TORG__V1__SEARCH_OFFERS_RESPONSE__INIT;
        struct rng before;
        struct search search = {.snippets = read_snippets, .snippets_arg = &rng};
        Torg__V1__Snippet **list;
        char *keys[OFFER_MAX];
        size_t count;

        request.snippet_names = names;
        request.n_snippet_names = NAME_COUNT;
        page.n_offers = rng_below(&rng, OFFER_MAX + 1);
        page.offers = arena_array(arena, OFFER_MAX, sizeof(*page.offers));
        for (size_t i = 0; i < page.n_offers; i++) {
            page.offers[i] = MESSAGE_NEW(found_offer, arena);
            keys[i] = page.offers[i]->id =
                arena_printf(arena, "%d", (int)rng_below(&rng, 2 * OFFER_MAX));
        }
        before = rng;
        glue_snippets(&search, &request, "ru", arena, &page);
        if (page.n_offers)
            read_snippets(&before, names, NAME_COUNT, keys, page.n_offers, "ru", arena, &list,
                          &count, NULL);
        check(&page, list, page.n_offers ? count : 0, seed);
        arena_reset(arena);
    }
    arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_offer_gets_its_own)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
