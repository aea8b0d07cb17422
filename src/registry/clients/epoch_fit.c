/* SPDX-License-Identifier: Apache-2.0 */
/* epoch_fit.c - see epoch_fit.h. */
#include "registry/clients/epoch_fit.h"

#include "registry/receiving/document.h"

int epoch_find_misfits(struct clients *clients, const char *client,
                       Torg__V1__SchemaField *const *fields, size_t field_count,
                       struct arena *arena, struct epoch_misfit **misfits, size_t *count,
                       struct err *err)
{
    struct client_view unborn = client_unborn();
    const struct client_view *found = NULL;
    int rc = clients_find(clients, client, true, &found, err);
    const struct client_view *view = found ? found : &unborn;
    struct document_check check = {.client = view, .is_declaration = true, .arena = arena};

    *count = 0;
    if (rc && rc != ERR_NOT_FOUND)
        return rc;
    check.epoch = &view->epochs[view->epoch_count - 1];
    *misfits = arena_array(arena, field_count ? field_count : 1, sizeof(**misfits));
    for (size_t i = 0; i < field_count; i++) {
        struct violations reasons = violations_in(arena);

        check.reasons = &reasons;
        schema_field_check(&check, i, fields[i]);
        if (reasons.count)
            (*misfits)[(*count)++] =
                (struct epoch_misfit){fields[i], arena_strdup(arena, reasons.first->reason)};
    }
    client_unref(found);
    return 0;
}
