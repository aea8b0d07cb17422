/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clients_load.c - see clients_load.h.
 *
 * Names of an epoch's fields are found by a table of places plus one (0: free), open addressing,
 * at most half full.
 */
#include "registry/clients/clients_load.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "codec/message.h"
#include "config/bounds.h"
#include "registry/bounds.h"

void held_view_free(struct held_view *view)
{
    if (!view)
        return;
    arena_free(view->arena);
    free(view);
}

const struct epoch_field *epoch_find_field(const struct epoch_view *epoch, struct bytes name)
{
    uint32_t at;

    if (!epoch->field_count)
        return NULL;
    for (at = (uint32_t)hash64(name) & epoch->slot_mask; epoch->slots[at];
         at = (at + 1) & epoch->slot_mask) {
        const struct epoch_field *field = &epoch->fields[epoch->slots[at] - 1];

        if (bytes_equal_text(name, field->name))
            return field;
    }
    return NULL;
}

void epoch_set_fields(struct epoch_view *epoch, const struct epoch_field *fields, uint32_t count,
                      struct arena *arena)
{
    uint32_t slot_count = 4;
    uint16_t *slots;

    epoch->fields = fields;
    epoch->field_count = count;
    while (slot_count < 2 * count)
        slot_count *= 2;
    slots = arena_array(arena, slot_count, sizeof(*slots));
    epoch->slot_mask = slot_count - 1;
    for (uint32_t i = 0; i < epoch->field_count; i++) {
        uint32_t at = (uint32_t)hash64(bytes_of(epoch->fields[i].name)) & epoch->slot_mask;

        while (slots[at])
            at = (at + 1) & epoch->slot_mask;
        slots[at] = (uint16_t)(i + 1);
    }
    epoch->slots = slots;
}

/* columns: id, shard_count, writing_epoch, serving_epoch, state_no */
static int take_client(struct client_loading *loading, const struct store_value *columns,
                       struct err *err)
{
    struct client_view *view;

    if (columns[4].integer == loading->known_state) {
        loading->is_same = true;
        return 0;
    }
    if (columns[0].integer <= 0 || columns[1].integer < 1 ||
        columns[1].integer > CLIENT_SHARD_COUNT_MAX)
        return err_set(err, ERR_CORRUPT,
                       "its row has id %" PRId64 " and %" PRId64 " shards; expected 1 to %d",
                       columns[0].integer, columns[1].integer, CLIENT_SHARD_COUNT_MAX);
    loading->view = mem_zero(sizeof(*loading->view));
    loading->view->arena = arena_new();
    atomic_init(&loading->view->ref_count, 1);
    view = &loading->view->view;
    view->id = columns[0].integer;
    snprintf(view->name, sizeof(view->name), "%s", loading->name);
    view->shard_count = (uint32_t)columns[1].integer;
    view->writing_epoch = columns[2].integer;
    view->serving_epoch = columns[3].integer;
    view->state_no = columns[4].integer;
    return 0;
}

static uint32_t place_numbering(struct client_view *view, const struct numbering *numbering)
{
    uint32_t at = 0;

    while (at < view->numbering_count && view->numberings[at].space != numbering->space)
        at++;
    if (at == view->numbering_count)
        view->numberings[view->numbering_count++] = *numbering;
    return at;
}

/* columns: epoch, state, started_us, space, shard_count, rebuild, numbered_by, is_ascending */
static int take_epoch(struct held_view *held, const struct store_value *columns, struct err *err)
{
    struct client_view *view = &held->view;
    int64_t shard_count = columns[4].integer ? columns[4].integer : view->shard_count;
    const struct numbering numbering = {.space = columns[3].integer ? columns[3].integer : view->id,
                                        .kind = (uint32_t)view->id,
                                        .scheme = (uint32_t)shard_count,
                                        .rebuild = (uint32_t)columns[5].integer};

    if (view->epoch_count == EPOCHS_MAX)
        return err_set(err, ERR_CORRUPT, "it has more than %d epochs", EPOCHS_MAX);
    if (shard_count < 1 || shard_count > CLIENT_SHARD_COUNT_MAX ||
        shard_count % view->shard_count != 0)
        return err_set(err, ERR_CORRUPT,
                       "epoch %" PRId64 " has %" PRId64 " shards, and the client's queue %" PRIu32
                       "; expected a multiple of those, at most %d",
                       columns[0].integer, shard_count, view->shard_count, CLIENT_SHARD_COUNT_MAX);
    view->epochs[view->epoch_count++] =
        (struct epoch_view){.epoch = columns[0].integer,
                            .state = (Torg__V1__IndexMap__Epoch__State)columns[1].integer,
                            .started_us = columns[2].integer,
                            .numbering = place_numbering(view, &numbering),
                            .number_by = arena_text(held->arena, columns[6].bytes),
                            .is_ascending = columns[7].integer != 0};
    return 0;
}

struct fields_loading {
    struct arena *arena;
    struct epoch_view *epoch;
    struct epoch_field *fields; /* room for DOCUMENT_SCHEMA_COUNT_MAX */
};

/* columns: number, field */
static int take_field(struct fields_loading *loading, const struct store_value *columns,
                      struct err *err)
{
    const Torg__V1__SchemaField *field;
    ProtobufCMessage *message;
    int rc;

    if (loading->epoch->field_count == DOCUMENT_SCHEMA_COUNT_MAX)
        return err_set(err, ERR_CORRUPT, "epoch %" PRId64 " has more than %d fields",
                       loading->epoch->epoch, DOCUMENT_SCHEMA_COUNT_MAX);
    rc = message_decode(columns[1].bytes, &torg__v1__schema_field__descriptor, loading->arena,
                        &message, err);
    if (rc)
        return err_set(err, ERR_CORRUPT, "field %" PRId64 " of epoch %" PRId64 " cannot be read",
                       columns[0].integer, loading->epoch->epoch);
    field = (const Torg__V1__SchemaField *)message;
    if (columns[0].integer < 1 || columns[0].integer > DOCUMENT_SCHEMA_COUNT_MAX || !*field->name ||
        field->type <= TORG__V1__SCHEMA_FIELD__TYPE__TYPE_UNSPECIFIED ||
        field->type > TORG__V1__SCHEMA_FIELD__TYPE__KEYWORDS)
        return err_set(err, ERR_CORRUPT,
                       "field %" PRId64 " (%.80s) of epoch %" PRId64 " has the unknown type %d",
                       columns[0].integer, field->name, loading->epoch->epoch, (int)field->type);
    loading->fields[loading->epoch->field_count++] = (struct epoch_field){
        .number = (uint32_t)columns[0].integer,
        .type = field->type,
        .name = field->name,
        .weight = field->options ? field->options->weight : 0,
        .scale = field->options ? (uint8_t)field->options->scale : 0,
        .filter = field->options && field->options->filter,
        .value_count_max = field->options ? field->options->value_count_max : 0,
        .side = field->options && field->options->side};
    return 0;
}

static int load_fields(struct store_tx *tx, struct held_view *view, struct epoch_view *epoch,
                       struct err *err)
{
    struct store_rows rows =
        store_select(tx,
                     "SELECT number, field FROM registry_field WHERE client_id = $1 AND epoch = $2 "
                     "ORDER BY number",
                     STORE_WITH(STORE_V_INT(view->view.id), STORE_V_INT(epoch->epoch)));
    struct fields_loading loading = {.arena = view->arena, .epoch = epoch};
    int rc;

    loading.fields = mem_array(DOCUMENT_SCHEMA_COUNT_MAX, sizeof(*loading.fields));
    while (store_next(&rows))
        rows.rc = take_field(&loading, rows.columns, err);
    rc = store_rows_end(&rows, err);
    if (!rc) {
        struct epoch_field *fields =
            arena_array(view->arena, epoch->field_count + 1, sizeof(*fields));

        memcpy(fields, loading.fields, epoch->field_count * sizeof(*fields));
        epoch_set_fields(epoch, fields, epoch->field_count, view->arena);
    }
    free(loading.fields);
    return rc;
}

static int load_epochs(struct store_tx *tx, struct held_view *view, struct err *err)
{
    struct store_rows rows =
        store_select(tx,
                     "SELECT epoch, state, started_us, space, shard_count, rebuild, numbered_by, "
                     "is_ascending FROM registry_epoch WHERE client_id = $1 ORDER BY epoch",
                     STORE_WITH(STORE_V_INT(view->view.id)));
    int rc;

    while (store_next(&rows))
        rows.rc = take_epoch(view, rows.columns, err);
    rc = store_rows_end(&rows, err);
    for (uint32_t i = 0; i < view->view.epoch_count && !rc; i++)
        rc = load_fields(tx, view, &view->view.epochs[i], err);
    if (!rc && (!client_epoch(&view->view, view->view.serving_epoch) ||
                !client_epoch(&view->view, view->view.writing_epoch)))
        rc = err_set(err, ERR_CORRUPT,
                     "it has no row of epoch %" PRId64 ", which serves, or of %" PRId64
                     ", which is written",
                     view->view.serving_epoch, view->view.writing_epoch);
    return rc;
}

int client_load(struct store_tx *tx, void *arg, struct err *err)
{
    struct client_loading *loading = arg;
    struct store_rows rows =
        store_select(tx,
                     "SELECT id, shard_count, writing_epoch, serving_epoch, state_no "
                     "FROM registry_client WHERE name = $1",
                     STORE_WITH(STORE_V_STRING(loading->name)));
    int rc;

    held_view_free(loading->view);
    loading->view = NULL;
    loading->is_same = false;
    if (store_next(&rows))
        rows.rc = take_client(loading, rows.columns, err);
    rc = store_rows_end(&rows, err);
    if (!rc && loading->view)
        rc = load_epochs(tx, loading->view, err);
    if (rc == ERR_CORRUPT)
        err_wrap(err, "client %s", loading->name);
    return rc;
}
