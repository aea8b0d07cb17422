/* SPDX-License-Identifier: Apache-2.0 */
/* epoch_schema.c - see epoch_schema.h. */
#include "registry/clients/epoch_schema.h"

#include <assert.h>
#include <string.h>

#include "registry/bounds.h"
#include "registry/clients/clients_load.h"

static const Torg__V1__SchemaField *find_change(Torg__V1__SchemaField *const *changes, size_t count,
                                                const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(changes[i]->name, name) == 0)
            return changes[i];
    return NULL;
}

static void fill_view(struct epoch_proposal *proposal, struct arena *arena)
{
    struct epoch_field *fields =
        arena_array(arena, proposal->fields.count + 1, sizeof(struct epoch_field));

    for (uint32_t i = 0; i < proposal->fields.count; i++) {
        proposal->fields.list[i].field.number = i + 1;
        fields[i] = proposal->fields.list[i].field;
    }
    epoch_set_fields(&proposal->view, fields, proposal->fields.count, arena);
}

int epoch_propose(const struct client_view *client, Torg__V1__SchemaField *const *changes,
                  size_t change_count, struct violations *reasons, struct epoch_proposal *proposal,
                  struct err *err)
{
    const struct epoch_view *now = client_epoch(client, client->writing_epoch);
    struct document_check check = {
        .client = client, .reasons = reasons, .is_declaration = true, .arena = reasons->arena};

    assert(now && client->epoch_count > 0);
    if (change_count > DOCUMENT_SCHEMA_COUNT_MAX)
        return err_set(err, ERR_INVALID, "fields: %zu of them; expected at most %d", change_count,
                       DOCUMENT_SCHEMA_COUNT_MAX);
    *proposal =
        (struct epoch_proposal){.view = {.epoch = client->epochs[client->epoch_count - 1].epoch + 1,
                                         .state = TORG__V1__INDEX_MAP__EPOCH__STATE__BUILDING}};
    check.epoch = &proposal->view; /* without fields: each is new in it */
    for (size_t i = 0; i < change_count; i++)
        schema_field_check(&check, i, changes[i]);
    for (uint32_t i = 0; i < now->field_count; i++)
        if (!find_change(changes, change_count, now->fields[i].name))
            schema_field_check(&check, change_count + i,
                               schema_field_message(&now->fields[i], reasons->arena));
    if (reasons->count)
        return err_set(err, ERR_INVALID, "%s: %s; nothing was changed", reasons->first->field,
                       reasons->first->reason);
    proposal->fields = check.added;
    fill_view(proposal, reasons->arena);
    return 0;
}
