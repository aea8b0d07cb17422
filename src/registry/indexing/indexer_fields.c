/* SPDX-License-Identifier: Apache-2.0 */
/*
 * indexer_fields.c - elements of side fields (receiving/side.h): read, joined with the numbers of
 * their documents, converted.
 *
 * A document without a number has not been sent yet, or is gone: its put, if there is one, brings
 * what its row has. So a change is never tried again, and never waits for anything.
 *
 * A field in an element is sent as the row has it now, which may be newer: elements are sent again
 * when their commit is lost, by the next owner too, and a caller that has waited for the newer
 * change must not find the older one again.
 */
#include <assert.h>
#include <string.h>

#include "base/log.h"
#include "codec/message.h"
#include "numerator/numerator.h"
#include "registry/bounds.h"
#include "registry/clients/convert.h"
#include "registry/indexing/indexer_parts.h"
#include "registry/receiving/side.h"

/* One that is damaged is passed, so that it stops nobody: which documents it was about is not known
 * any more, and their rows have what it said. */
static int read_fields(struct store_tx *tx, struct batch *batch, struct item *item, struct err *err)
{
    const struct indexer *indexer = batch->indexer;
    ProtobufCMessage *message = NULL;
    struct bytes wire;
    struct err why;
    int rc = queue_read_fields(tx, indexer->client->id, item->lane, indexer->shard,
                               item->element.idx, batch->arena, &wire, err);

    if (rc)
        return rc;
    if (message_decode(wire, &torg__v1__put_fields_request__descriptor, batch->arena, &message,
                       &why)) {
        message = NULL;
        counter_add(indexer->metrics.failed[item->lane], 1);
        log_error("changes of side fields in the queue cannot be read: torg verify finds documents "
                  "that lack them",
                  LOG_TEXT("client", indexer->client->name),
                  LOG_TEXT("lane", lane_name(item->lane)), LOG_INT("shard", indexer->shard),
                  LOG_INT("idx", item->element.idx), LOG_TEXT("reason", why.text));
    }
    item->fields = (Torg__V1__PutFieldsRequest *)message;
    return 0;
}

static void renew(Torg__V1__FieldChange *change, const struct row *row, struct arena *arena)
{
    Torg__V1__SideFields *kept;

    if (!row->side.size || side_decode(row->side, arena, &kept, NULL))
        return; /* its document is gone, or is to be repaired */
    for (size_t i = 0; i < change->n_fields; i++)
        for (size_t k = 0; k < kept->n_fields; k++)
            if (strcmp(change->fields[i]->name, kept->fields[k]->field->name) == 0)
                change->fields[i] = kept->fields[k]->field;
}

static int renew_all(struct store_tx *tx, struct batch *batch, const struct number_ask *asks,
                     size_t count, struct err *err)
{
    struct bytes *pks = arena_array(batch->arena, count, sizeof(*pks));
    struct row *rows = arena_array(batch->arena, count, sizeof(*rows));
    size_t at = 0;
    int rc;

    for (size_t i = 0; i < count; i++)
        pks[i] = asks[i].key;
    rc = rows_find_sides(tx, batch->indexer->client->id, pks, count, batch->arena, rows, err);
    for (size_t i = 0; i < batch->count && !rc; i++) {
        struct item *item = &batch->items[i];

        item->field_rows = rows + at;
        for (size_t k = 0; item->fields && k < item->fields->n_changes; k++)
            renew(item->fields->changes[k], &rows[at++], batch->arena);
    }
    return rc;
}

/* The documents of all changes, which lie one behind the other. */
static struct number_ask **ask_for_fields(struct batch *batch, uint32_t numbering, size_t count)
{
    struct number_ask *list = arena_array(batch->arena, count, sizeof(*list));
    struct number_ask **asks = arena_array(batch->arena, count, sizeof(struct number_ask *));
    size_t at = 0;

    for (size_t i = 0; i < batch->count; i++) {
        struct item *item = &batch->items[i];

        item->field_asks[numbering] = list + at;
        for (size_t k = 0; item->fields && k < item->fields->n_changes; k++) {
            list[at].key = bytes_of(item->fields->changes[k]->pk);
            asks[at] = &list[at];
            at++;
        }
    }
    assert(at == count);
    return asks;
}

int batch_join_fields(struct store_tx *tx, struct batch *batch, struct err *err)
{
    size_t count = 0;
    int rc = 0;

    for (size_t i = 0; i < batch->count && !rc; i++) {
        struct item *item = &batch->items[i];

        if (!item->element.fields_size)
            continue;
        if (count >= INDEXER_CHANGE_COUNT) {
            batch_cut(batch, i);
            break;
        }
        rc = read_fields(tx, batch, item, err);
        count += item->fields ? item->fields->n_changes : 0;
    }
    if (rc || !count)
        return rc;
    for (uint32_t i = 0; i < batch->indexer->client->numbering_count && !rc; i++) {
        struct number_ask **asks = ask_for_fields(batch, i, count);

        if (i == 0)
            rc = renew_all(tx, batch, asks[0], count, err);
        if (!rc)
            rc = indexer_find_numbers(tx, batch->indexer, i, asks, count, batch->arena, err);
    }
    return rc;
}

Torg__V1__IndexFields *item_fields(const struct batch *batch, const struct item *item,
                                   uint32_t place, uint32_t shard)
{
    const struct client_view *client = batch->indexer->client;
    const struct epoch_view *epoch = &client->epochs[place];
    const struct number_ask *asks = item->field_asks[epoch->numbering];
    uint32_t scheme = client_numbering(client, epoch)->scheme;
    bool is_alone = client_shards_each(client, epoch) == 1;
    Torg__V1__IndexFields *fields = MESSAGE_NEW(index_fields, batch->arena);
    size_t count = item->fields->n_changes;
    Torg__V1__IndexFields__Document *documents =
        arena_array(batch->arena, count + 1, sizeof(*documents));

    assert(item->state == ITEM_FIELDS);
    fields->documents = arena_array(batch->arena, count + 1, sizeof(fields->documents[0]));
    for (size_t i = 0; i < count; i++) {
        Torg__V1__IndexFields__Document *document = &documents[i];

        if (asks[i].doc_id == NUMBER_NONE ||
            (!is_alone && number_key_shard(number_key_hash(asks[i].key), scheme) != shard))
            continue;
        torg__v1__index_fields__document__init(document);
        document->doc_id = asks[i].doc_id;
        document->version = item->field_rows[i].order.version;
        document->modify_us = item->field_rows[i].order.modify_us;
        convert_change(item->fields->changes[i], epoch, batch->arena, document);
        if (document->n_values)
            fields->documents[fields->n_documents++] = document;
    }
    return fields->n_documents ? fields : NULL;
}
