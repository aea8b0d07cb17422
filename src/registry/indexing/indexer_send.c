/* SPDX-License-Identifier: Apache-2.0 */
/*
 * indexer_send.c - a batch as records of the index topics; see indexer.h.
 *
 * Every epoch of the client has a topic, made when it is first sent to. Each gets, in this order:
 * its schema, when this owner has not told it yet or it has grown; the documents that fit it, and
 * removals of those that do not and of the deleted; how far the lanes are. Documents go to the
 * partition of their shard of the index, the rest to all that are fed from here; each with the
 * ticket and the version of the shard's numbers (T.S.V.G).
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
    size_t count, capacity;
    size_t size;
    struct buf wire;
};

/* A topic only grows. Where a record comes to stand before another that was acknowledged, that one
 * is gone: a disk has lost the tail, or somebody has cut the topic or made it anew. */
static void note_offsets(struct sending *sending)
{
    struct indexer *indexer = sending->batch->indexer;
    const struct epoch_view *epoch = &indexer->client->epochs[sending->place];

    for (size_t i = 0; i < sending->count; i++) {
        int64_t offset = (int64_t)sending->offsets[i];
        struct told_end *told = indexer_told_end(indexer, epoch, sending->records[i].partition);

        told->is_cut = told->is_cut || offset < told->end;
        if (told->end <= offset)
            told->end = offset + 1;
        if (told->is_cut)
            indexer->tend_us = 0;
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
        note_offsets(sending);
    if (rc == ERR_NOT_FOUND) /* somebody has removed it: the next round makes it */
        told->is_told = false;
    sending->count = 0;
    sending->size = 0;
    return rc;
}

/* False: it is too large for a record. */
static bool encode(struct sending *sending, Torg__V1__IndexMessage *message, struct bytes key,
                   uint32_t shard)
{
    struct batch *batch = sending->batch;
    const struct indexer *indexer = batch->indexer;
    uint32_t numbering = indexer->client->epochs[sending->place].numbering;
    struct number_version version = numbers_version(indexer_numbers(indexer, numbering, shard));
    uint32_t place[] = {version.kind, version.scheme, version.rebuild, version.generation};

    message->n_place = sizeof(place) / sizeof(place[0]);
    message->place = place;
    buf_reset(&sending->wire);
    message_encode(&message->base, &sending->wire);
    if (buf_failed(&sending->wire))
        return false;
    sending->records[sending->count++] =
        (struct topic_record){.key = key,
                              .value = arena_copy(batch->arena, buf_bytes(&sending->wire)),
                              .has_partition = true,
                              .partition = shard};
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

struct told_end *indexer_told_end(struct indexer *indexer, const struct epoch_view *epoch,
                                  uint32_t shard)
{
    uint32_t first = first_shard(indexer, epoch);

    assert(shard >= first && shard < first + client_shards_each(indexer->client, epoch));
    return &indexer_told(indexer, epoch->epoch)->ends[shard - first];
}

/* Of the epoch at hand. */
static Torg__V1__IndexSchema *schema_of(const struct sending *sending)
{
    const struct batch *batch = sending->batch;

    return convert_schema(&batch->indexer->client->epochs[sending->place], batch->arena);
}

static int put_schema(struct sending *sending, Torg__V1__IndexSchema *schema, uint32_t shard,
                      struct err *err)
{
    const struct epoch_view *epoch = &sending->batch->indexer->client->epochs[sending->place];
    Torg__V1__IndexMessage message =
        message_of(sending->batch, TORG__V1__INDEX_MESSAGE__KIND_SCHEMA);

    message.schema = schema;
    if (!encode(sending, &message, bytes_of(""), shard))
        return err_set(err, ERR_LIMIT, "the schema of epoch %" PRId64 " does not fit one record",
                       epoch->epoch);
    return 0;
}

/* Where it was not told before. That of thousands of fields is nearly as large as a record, and
 * there may be more shards than a produce has room for. */
static int put_schemas(struct sending *sending, struct err *err)
{
    struct indexer *indexer = sending->batch->indexer;
    const struct epoch_view *epoch = &indexer->client->epochs[sending->place];
    const struct told_epoch *told = indexer_told(indexer, epoch->epoch);
    uint32_t each = client_shards_each(indexer->client, epoch);
    Torg__V1__IndexSchema *schema;
    int rc = 0;

    if (told->is_told && told->field_count == epoch->field_count)
        return 0;
    schema = schema_of(sending);
    for (uint32_t i = 0; i < each && !rc; i++) {
        rc = put_schema(sending, schema, first_shard(indexer, epoch) + i, err);
        if (!rc && sending->size >= INDEXER_SEND_SIZE)
            rc = flush(sending, err);
    }
    return rc;
}

/* The number of a document in the epoch at hand. */
static const struct number_ask *number_of(const struct sending *sending, const struct item *item)
{
    return item->asks[sending->batch->indexer->client->epochs[sending->place].numbering];
}

static uint32_t shard_of(const struct sending *sending, const struct item *item)
{
    const struct client_view *client = sending->batch->indexer->client;
    const struct epoch_view *epoch = &client->epochs[sending->place];

    if (client_shards_each(client, epoch) == 1)
        return sending->batch->indexer->shard;
    return number_key_shard(number_key_hash(item->element.pk),
                            client_numbering(client, epoch)->scheme);
}

static void put_document(struct sending *sending, struct item *item)
{
    Torg__V1__IndexMessage message = message_of(sending->batch, TORG__V1__INDEX_MESSAGE__KIND_PUT);
    char reason[ERR_TEXT_SIZE];

    message.put = item->documents[sending->place];
    if (!message.put)
        return;
    assert(number_of(sending, item)->doc_id != NUMBER_NONE);
    message.put->doc_id = number_of(sending, item)->doc_id;
    message.put->birth = number_of(sending, item)->birth;
    if (encode(sending, &message, item->element.pk, shard_of(sending, item)))
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

    removal.doc_id = number_of(sending, item)->doc_id;
    if (removal.doc_id == NUMBER_NONE) /* it was never sent there */
        return;
    removal.pk = arena_text(sending->batch->arena, item->element.pk);
    removal.version = item->row->order.version;
    removal.modify_us = item->row->order.modify_us;
    message.remove = &removal;
    fits = encode(sending, &message, item->element.pk, shard_of(sending, item));
    assert(fits); /* a key and some numbers */
}

static void put_fields(struct sending *sending, struct item *item, uint32_t shard)
{
    Torg__V1__IndexMessage message =
        message_of(sending->batch, TORG__V1__INDEX_MESSAGE__KIND_FIELDS);
    bool fits;

    message.fields = item_fields(sending->batch, item, sending->place, shard);
    if (!message.fields)
        return;
    fits = encode(sending, &message, bytes_of(""), shard);
    assert(fits); /* an element is much smaller than a record */
}

static void put_progress(struct sending *sending, uint32_t shard)
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
    fits = encode(sending, &message, bytes_of(""), shard);
    assert(fits);
}

/* --- topics --- */

static int make_topic(struct sending *sending, struct err *err)
{
    const struct indexer *indexer = sending->batch->indexer;
    const struct indexer_base *base = indexer->base;
    const struct epoch_view *epoch = &indexer->client->epochs[sending->place];
    struct topic_config config = {.partition_count =
                                      client_numbering(indexer->client, epoch)->scheme,
                                  .retention_ms = base->rules.retention_us / MS_US};
    struct topic_config found;
    int rc = topic_describe(base->topics, sending->topic, &found, err);

    if (rc == ERR_NOT_FOUND)
        rc = topic_create(base->topics, sending->topic, &config, err);
    else if (!rc && found.partition_count != config.partition_count)
        rc = err_set(err, ERR_PRECONDITION, "topic %s has %u partitions, and the epoch %u shards",
                     sending->topic, found.partition_count, config.partition_count);
    return rc;
}

static int put_items(struct sending *sending, struct err *err)
{
    struct batch *batch = sending->batch;
    const struct indexer *indexer = batch->indexer;
    const struct epoch_view *epoch = &indexer->client->epochs[sending->place];
    uint32_t each = client_shards_each(indexer->client, epoch);
    int rc = 0;

    for (size_t i = 0; i < batch->count && !rc; i++) {
        struct item *item = &batch->items[i];

        if (item->state == ITEM_PUT && item->is_unfit[sending->place])
            put_removal(sending, item); /* what is there is not as the registry has it */
        else if (item->state == ITEM_PUT)
            put_document(sending, item);
        else if (item->state == ITEM_REMOVE)
            put_removal(sending, item);
        for (uint32_t k = 0; item->state == ITEM_FIELDS && k < each; k++)
            put_fields(sending, item, first_shard(indexer, epoch) + k);
        if (sending->size >= INDEXER_SEND_SIZE || sending->count + each > sending->capacity)
            rc = flush(sending, err);
    }
    return rc;
}

static int send_epoch(struct sending *sending, struct err *err)
{
    struct indexer *indexer = sending->batch->indexer;
    const struct epoch_view *epoch = &indexer->client->epochs[sending->place];
    struct told_epoch *told = indexer_told(indexer, epoch->epoch);
    int rc = 0;

    index_topic_name(indexer->client->name, epoch->epoch, sending->topic);
    if (!told->is_told)
        rc = make_topic(sending, err);
    if (!rc)
        rc = put_schemas(sending, err);
    if (!rc)
        rc = put_items(sending, err);
    for (uint32_t i = 0; i < client_shards_each(indexer->client, epoch) && !rc; i++)
        put_progress(sending, first_shard(indexer, epoch) + i);
    if (!rc)
        rc = flush(sending, err);
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

int indexer_send_mark(struct indexer *indexer, uint32_t place, uint32_t shard,
                      const Torg__V1__IndexPour *mark, uint64_t *offset, struct err *err)
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
    fits = encode(&sending, &message, bytes_of(""), shard);
    assert(fits); /* some numbers */
    if (!rc && mark->mark == TORG__V1__INDEX_POUR__MARK__BEGIN)
        rc = put_schema(&sending, schema_of(&sending), shard, err);
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
    /* a round's, with the schema and the progress of each shard */
    sending.capacity = batch->count + 3 * (size_t)CLIENT_SHARD_COUNT_MAX;
    sending.records = arena_array(batch->arena, sending.capacity, sizeof(*sending.records));
    sending.offsets = arena_array(batch->arena, sending.capacity, sizeof(*sending.offsets));
    for (uint32_t i = 0; i < indexer->client->epoch_count && !rc; i++) {
        sending.place = i;
        rc = send_epoch(&sending, err);
    }
    indexer->is_announced = indexer->is_announced || !rc;
    buf_release(&sending.wire);
    return rc;
}
