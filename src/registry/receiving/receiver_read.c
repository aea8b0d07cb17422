/* SPDX-License-Identifier: Apache-2.0 */
/* receiver_read.c - documents and schemas as they are kept, fields declared ahead: receiver.h. */
#include <assert.h>
#include <inttypes.h>
#include <stdio.h>

#include "access/audit.h"
#include "codec/message.h"
#include "registry/bounds.h"
#include "registry/receiving/accept.h"
#include "registry/receiving/document.h"
#include "registry/receiving/receiver.h"
#include "registry/receiving/side.h"

/* --- a document --- */

int receiver_get(const struct receiver *receiver, const char *client, const char *pk,
                 struct arena *arena, Torg__V1__StoredDocument *stored, struct err *err)
{
    const struct client_view *view = NULL;
    Torg__V1__SideFields *side;
    struct row row = {0};
    bool found;
    int rc = client_check_name(client, err);

    assert(receiver->store && receiver->clock && receiver->clients);
    if (!rc)
        rc = clients_find(receiver->clients, client, false, &view, err);
    if (rc)
        return rc;
    rc = row_read(receiver->store, view->id, bytes_of(pk), true, arena, &row, &found, err);
    if (!rc && !found)
        rc = err_set(err, ERR_NOT_FOUND, "client %s has no document %s", client, pk);
    if (!rc)
        rc = row_unpack(receiver->dictionaries, view->id, &row, arena, &stored->document, err);
    if (!rc)
        rc = side_decode(row.side, arena, &side, err);
    if (!rc) {
        stored->side = side->fields;
        stored->n_side = side->n_fields;
    }
    stored->is_deleted = row.status == ROW_TOMBSTONE;
    client_unref(view);
    return rc;
}

/* --- schemas --- */

static int fill_schema(const struct client_view *client, int64_t epoch, struct arena *arena,
                       Torg__V1__Schema *schema, struct err *err)
{
    const struct epoch_view *view = client_epoch(client, epoch ? epoch : client->writing_epoch);

    if (!view)
        return err_set(err, ERR_NOT_FOUND, "client %s has no epoch %" PRId64 ": it is at %" PRId64,
                       client->name, epoch, client->writing_epoch);
    schema->client = arena_strdup(arena, client->name);
    schema->epoch = view->epoch;
    schema->n_fields = view->field_count;
    schema->fields = arena_array(arena, view->field_count + 1, sizeof(Torg__V1__SchemaField *));
    for (uint32_t i = 0; i < view->field_count; i++)
        schema->fields[i] = schema_field_message(&view->fields[i], arena);
    return 0;
}

int receiver_schema(const struct receiver *receiver, const char *client, int64_t epoch,
                    struct arena *arena, Torg__V1__Schema *schema, struct err *err)
{
    const struct client_view *view = NULL;
    int rc = client_check_name(client, err);

    assert(receiver->store && receiver->clock && receiver->clients);
    if (!rc)
        rc = clients_find(receiver->clients, client, true, &view, err);
    if (!rc)
        rc = fill_schema(view, epoch, arena, schema, err);
    client_unref(view);
    return rc;
}

struct declaring {
    const struct receiver *receiver;
    const char *actor; /* for the audit log */
    const struct client_view *client;
    const struct new_fields *fields;
    struct arena *arena;
};

static int audit_schema(struct store_tx *tx, const struct declaring *declaring, struct err *err)
{
    const struct audit_entry entry = {
        .at_us = clock_wall_us(declaring->receiver->clock),
        .principal = declaring->actor,
        .action = "schema.declare",
        .target = declaring->client->name,
        .detail = arena_printf(declaring->arena, "%u new fields", declaring->fields->count)};

    return audit_add(tx, &entry, err);
}

static int grow(struct store_tx *tx, void *arg, struct err *err)
{
    const struct declaring *declaring = arg;
    struct new_fields grown = {0};
    int rc = client_confirm(tx, declaring->client, err);

    if (!rc)
        rc = schema_grow(tx, declaring->client, declaring->fields, &grown, declaring->arena, err);
    return rc ? rc : audit_schema(tx, declaring, err);
}

/* What the declaration would add to the client, in check->added. */
static int check_declaration(const Torg__V1__DeclareSchemaRequest *request,
                             const struct client_view *client, struct document_check *check,
                             struct err *err)
{
    int64_t epoch = request->epoch ? request->epoch : client->writing_epoch;

    check->client = client;
    check->epoch = client_epoch(client, epoch);
    if (!check->epoch)
        return err_set(err, ERR_NOT_FOUND, "client %s has no epoch %" PRId64 ": it is at %" PRId64,
                       client->name, epoch, client->writing_epoch);
    for (size_t i = 0; i < request->n_fields; i++)
        schema_field_check(check, i, request->fields[i]);
    if (check->reasons->count)
        return err_set(err, ERR_INVALID, "the fields cannot be declared: nothing was changed");
    return 0;
}

static int declare_once(const struct receiver *receiver, const char *actor,
                        const Torg__V1__DeclareSchemaRequest *request,
                        const struct client_view *client, struct violations *reasons,
                        struct err *err)
{
    struct document_check check = {
        .reasons = reasons, .is_declaration = true, .arena = reasons->arena};
    struct declaring declaring = {.receiver = receiver,
                                  .actor = actor,
                                  .client = client,
                                  .fields = &check.added,
                                  .arena = check.arena};
    int rc = check_declaration(request, client, &check, err);

    return rc || !check.added.count ? rc : store_write(receiver->store, grow, &declaring, err);
}

/* The client; one that is not there is made for a declaration that is right, and for no other. */
static int obtain_for(const struct receiver *receiver,
                      const Torg__V1__DeclareSchemaRequest *request, const char *client,
                      struct violations *reasons, const struct client_view **view, struct err *err)
{
    struct client_view unborn = client_unborn();
    struct document_check check = {
        .reasons = reasons, .is_declaration = true, .arena = reasons->arena};
    int rc = clients_find(receiver->clients, client, false, view, err);

    if (rc != ERR_NOT_FOUND)
        return rc;
    snprintf(unborn.name, sizeof(unborn.name), "%s", client);
    rc = check_declaration(request, &unborn, &check, err);
    return rc ? rc : receiver_obtain(receiver, client, view, err);
}

int receiver_declare(const struct receiver *receiver, const char *actor,
                     const Torg__V1__DeclareSchemaRequest *request, const char *client,
                     struct violations *reasons, Torg__V1__Schema *schema, struct err *err)
{
    const struct client_view *view = NULL;
    int rc;

    assert(receiver->store && receiver->clock && receiver->clients);
    if (!request->n_fields || request->n_fields > DOCUMENT_SCHEMA_COUNT_MAX)
        return err_set(err, ERR_INVALID, "fields: %zu of them; expected 1 to %d", request->n_fields,
                       DOCUMENT_SCHEMA_COUNT_MAX);
    rc = obtain_for(receiver, request, client, reasons, &view, err);
    for (int i = 0; i < DOCUMENT_ATTEMPT_COUNT_MAX && !rc; i++) {
        rc = declare_once(receiver, actor, request, view, reasons, err);
        client_unref(view);
        view = NULL;
        if (rc && rc != ERR_CONFLICT)
            return rc;
        if (!rc)
            return receiver_schema(receiver, client, request->epoch, reasons->arena, schema, err);
        rc = clients_find(receiver->clients, client, true, &view, err);
    }
    client_unref(view);
    return rc ? rc : err_set(err, ERR_CONFLICT, "others change client %s all the time", client);
}
