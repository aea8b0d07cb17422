/* SPDX-License-Identifier: Apache-2.0 */
/*
 * indexer_send.c - a batch as records of the index topics; see indexer.h.
 *
 * Every epoch of the client has a topic, made when it is first sent to. Each gets, in this order:
 * its schema, when this owner has not told it yet or it has grown; the documents that fit it, and
 * removals of those that do not and of the deleted; how far the lanes are. All go to the partition
 * of the shard, with the ticket.
 */
#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "codec/message.h"
#include "model/topics.h"
#include "registry/bounds.h"
#include "registry/clients/convert.h"
#include "registry/indexing/indexer_parts.h"
#include "topic/bounds.h"

/* Records of one topic on their way. */
struct sending {
    struct batch *batch;
    uint32_t place; /* of the epoch */
    char topic[INDEX_TOPIC_SIZE];
    struct topic_record *records;
    uint64_t *offsets; /* of those that were sent last */
    size_t count;
    size_t size;
    struct buf wire;
};

/* A topic only grows. Where a record comes to stand before another that was acknowledged, that one
 * is gone: a disk has lost the tail, or somebody has cut the topic or made it anew. */
static void note_offsets(struct told_epoch *told, const uint64_t *offsets, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        told->is_cut = told->is_cut || (int64_t)offsets[i] < told->end;
        if (told->end <= (int64_t)offsets[i])
            told->end = (int64_t)offsets[i] + 1;
    }
}

static int flush(struct sending *sending, struct err *err)
{
    struct indexer *indexer = sending->batch->indexer;
    struct told_epoch *told = indexer_told(indexer, indexer->client->epochs[sending->place].epoch);
    int rc = 0;

    if (sending->count)
        rc = topic_produce(indexer->base->topics, sending->topic, sending->records, sending->count,
                           sending->offsets, err);
    if (!rc)
        note_offsets(told, sending->offsets, sending->count);
    if (rc == ERR_NOT_FOUND) /* somebody has removed it: the next round makes it */
        told->is_told = false;
    if (told->is_cut)
        indexer->tend_us = 0;
    sending->count = 0;
    sending->size = 0;
    return rc;
}

/* False: it is too large for a record. */
static bool encode(struct sending *sending, const Torg__V1__IndexMessage *message, struct bytes key)
{
    struct batch *batch = sending->batch;

    buf_reset(&sending->wire);
    message_encode(&message->base, &sending->wire);
    if (buf_failed(&sending->wire))
        return false;
    sending->records[sending->count++] =
        (struct topic_record){.key = key,
                              .value = arena_copy(batch->arena, buf_bytes(&sending->wire)),
                              .has_partition = true,
                              .partition = batch->indexer->shard};
    sending->size += sending->wire.size;
    return true;
}

static Torg__V1__IndexMessage message_of(const struct batch *batch,
                                         Torg__V1__IndexMessage__KindCase kind)
{
    Torg__V1__IndexMessage message = TORG__V1__INDEX_MESSAGE__INIT;

    message.ticket = batch->indexer->ticket;
    message.kind_case = kind;
    return message;
}

/* --- records --- */

struct told_epoch *indexer_told(struct indexer *indexer, int64_t epoch)
{
    struct told_epoch *unused = NULL;

    object_check(indexer, INDEXER_MAGIC);
    for (size_t i = 0; i < EPOCHS_MAX; i++) {
        if (indexer->told[i].epoch == epoch)
            return &indexer->told[i];
        if (!client_epoch(indexer->client, indexer->told[i].epoch)) /* it is gone, or was none */
            unused = &indexer->told[i];
    }
    assert(unused); /* there are no more epochs than places */
    *unused = (struct told_epoch){.epoch = epoch};
    return unused;
}

/* is_due: whatever was told before. */
static int put_schema(struct sending *sending, bool is_due, struct err *err)
{
    struct indexer *indexer = sending->batch->indexer;
    const struct epoch_view *epoch = &indexer->client->epochs[sending->place];
    const struct told_epoch *told = indexer_told(indexer, epoch->epoch);
    const struct number_version version = numbers_version(indexer->numbers);
    uint32_t place[] = {version.kind, version.scheme, version.rebuild, version.generation};
    Torg__V1__IndexMessage message =
        message_of(sending->batch, TORG__V1__INDEX_MESSAGE__KIND_SCHEMA);

    if (!is_due && told->is_told && told->field_count == epoch->field_count)
        return 0;
    message.schema = convert_schema(epoch, sending->batch->arena);
    message.schema->n_place = sizeof(place) / sizeof(place[0]);
    message.schema->place = place;
    if (!encode(sending, &message, bytes_of("")))
        return err_set(err, ERR_LIMIT, "the schema of epoch %" PRId64 " does not fit one record",
                       epoch->epoch);
    return 0;
}

static void put_document(struct sending *sending, struct item *item)
{
    Torg__V1__IndexMessage message = message_of(sending->batch, TORG__V1__INDEX_MESSAGE__KIND_PUT);
    char reason[ERR_TEXT_SIZE];

    message.put = item->documents[sending->place];
    if (!message.put)
        return;
    assert(item->ask->doc_id != NUMBER_NONE);
    message.put->doc_id = item->ask->doc_id;
    if (encode(sending, &message, item->element.pk))
        return;
    snprintf(reason, sizeof(reason), "it is larger than a record of the index's topic: %d bytes",
             TOPIC_VALUE_SIZE_MAX);
    item_fail(sending->batch, item, reason);
}

static void put_removal(struct sending *sending, const struct item *item)
{
    Torg__V1__IndexMessage message =
        message_of(sending->batch, TORG__V1__INDEX_MESSAGE__KIND_REMOVE);
    Torg__V1__IndexRemoval removal = TORG__V1__INDEX_REMOVAL__INIT;
    bool fits;

    removal.doc_id = item->ask->doc_id;
    removal.pk = arena_text(sending->batch->arena, item->element.pk);
    removal.version = item->row->order.version;
    removal.modify_us = item->row->order.modify_us;
    message.remove = &removal;
    fits = encode(sending, &message, item->element.pk);
    assert(fits); /* a key and some numbers */
}

static void put_fields(struct sending *sending, struct item *item)
{
    Torg__V1__IndexMessage message =
        message_of(sending->batch, TORG__V1__INDEX_MESSAGE__KIND_FIELDS);
    bool fits;

    message.fields = item_fields(sending->batch, item, sending->place);
    if (!message.fields)
        return;
    fits = encode(sending, &message, bytes_of(""));
    assert(fits); /* an element is much smaller than a record */
}

static void put_progress(struct sending *sending)
{
    static const enum lane lanes[] = {LANE_MAIN, LANE_BACKFILL, LANE_EMERGENCY};
    enum { COUNT = sizeof(lanes) / sizeof(lanes[0]) };
    Torg__V1__IndexMessage message =
        message_of(sending->batch, TORG__V1__INDEX_MESSAGE__KIND_PROGRESS);
    Torg__V1__IndexProgress progress = TORG__V1__INDEX_PROGRESS__INIT;
    Torg__V1__IndexProgress__Lane told[COUNT];
    Torg__V1__IndexProgress__Lane *list[COUNT];
    bool fits;

    for (size_t i = 0; i < COUNT; i++) {
        torg__v1__index_progress__lane__init(&told[i]);
        told[i].lane = (Torg__V1__QueueLane__Name)lanes[i];
        told[i].idx = batch_position(sending->batch, lanes[i]);
        list[i] = &told[i];
    }
    progress.lanes = list;
    progress.n_lanes = COUNT;
    message.progress = &progress;
    fits = encode(sending, &message, bytes_of(""));
    assert(fits);
}

/* --- topics --- */

static int make_topic(struct sending *sending, struct err *err)
{
    const struct indexer *indexer = sending->batch->indexer;
    const struct indexer_base *base = indexer->base;
    struct topic_config config = {.partition_count = indexer->client->shard_count,
                                  .retention_ms = base->rules.retention_us / MS_US};
    struct topic_config found;
    int rc = topic_describe(base->topics, sending->topic, &found, err);

    if (rc == ERR_NOT_FOUND)
        rc = topic_create(base->topics, sending->topic, &config, err);
    else if (!rc && found.partition_count != config.partition_count)
        rc = err_set(err, ERR_PRECONDITION, "topic %s has %u partitions, and the client %u shards",
                     sending->topic, found.partition_count, config.partition_count);
    return rc;
}

static int send_epoch(struct sending *sending, struct err *err)
{
    struct batch *batch = sending->batch;
    struct indexer *indexer = batch->indexer;
    const struct epoch_view *epoch = &indexer->client->epochs[sending->place];
    struct told_epoch *told = indexer_told(indexer, epoch->epoch);
    int rc = 0;

    index_topic_name(indexer->client->name, epoch->epoch, sending->topic);
    if (!told->is_told)
        rc = make_topic(sending, err);
    if (!rc)
        rc = put_schema(sending, false, err);
    for (size_t i = 0; i < batch->count && !rc; i++) {
        struct item *item = &batch->items[i];

        if (item->state == ITEM_PUT && item->is_unfit[sending->place])
            put_removal(sending, item); /* what is there is not as the registry has it */
        else if (item->state == ITEM_PUT)
            put_document(sending, item);
        else if (item->state == ITEM_REMOVE)
            put_removal(sending, item);
        else if (item->state == ITEM_FIELDS)
            put_fields(sending, item);
        if (sending->size >= INDEXER_SEND_SIZE)
            rc = flush(sending, err);
    }
    if (!rc) {
        put_progress(sending);
        rc = flush(sending, err);
    }
    if (!rc) {
        told->is_told = true;
        told->field_count = epoch->field_count;
    }
    return rc;
}

static int check_owned(const struct indexer *indexer, struct err *err)
{
    if (indexer->shards && !coord_valid(indexer->shards, indexer->shard, indexer->ticket))
        return err_set(err, ERR_STALE, "shard %" PRIu32 " of client %s is not ours any more",
                       indexer->shard, indexer->client->name);
    return 0;
}

int indexer_send_mark(struct indexer *indexer, uint32_t place, const Torg__V1__IndexPour *mark,
                      uint64_t *offset, struct err *err)
{
    struct batch batch = {.indexer = indexer, .arena = arena_new()};
    struct topic_record records[2];
    uint64_t offsets[2] = {0};
    struct sending sending = {.batch = &batch,
                              .place = place,
                              .records = records,
                              .offsets = offsets,
                              .wire = BUF_INIT(TOPIC_VALUE_SIZE_MAX)};
    Torg__V1__IndexMessage message = message_of(&batch, TORG__V1__INDEX_MESSAGE__KIND_POUR);
    Torg__V1__IndexPour copy = *mark;
    int rc = check_owned(indexer, err);
    bool fits;

    index_topic_name(indexer->client->name, indexer->client->epochs[place].epoch, sending.topic);
    message.pour = &copy;
    fits = encode(&sending, &message, bytes_of(""));
    assert(fits); /* some numbers */
    if (!rc && mark->mark == TORG__V1__INDEX_POUR__MARK__BEGIN)
        rc = put_schema(&sending, true, err);
    if (!rc)
        rc = flush(&sending, err);
    *offset = offsets[0];
    buf_release(&sending.wire);
    arena_free(batch.arena);
    return rc;
}

int batch_send(struct batch *batch, struct err *err)
{
    struct indexer *indexer = batch->indexer;
    struct sending sending = {.batch = batch, .wire = BUF_INIT(TOPIC_VALUE_SIZE_MAX)};
    int rc = check_owned(indexer, err);

    if (rc)
        return rc;
    sending.records = arena_array(batch->arena, batch->count + 2, sizeof(*sending.records));
    sending.offsets = arena_array(batch->arena, batch->count + 2, sizeof(*sending.offsets));
    for (uint32_t i = 0; i < indexer->client->epoch_count && !rc; i++) {
        sending.place = i;
        rc = send_epoch(&sending, err);
    }
    indexer->is_announced = indexer->is_announced || !rc;
    buf_release(&sending.wire);
    return rc;
}
