/* SPDX-License-Identifier: Apache-2.0 */
/* rebuild.c - see rebuild.h. */
#include "inspect/verify/rebuild.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/object.h"
#include "codec/message.h"
#include "index/bounds.h"
#include "index/shard/shard.h"
#include "inspect/bounds.h"
#include "numerator/numerator.h"
#include "registry/clients/convert.h"
#include "searcher/replica/apply.h"
#include "topic/bounds.h"

enum { REBUILD_MAGIC = OBJECT_MAGIC('r', 'e', 'b', 'u') };

struct rebuild {
    uint32_t magic;
    uint64_t id;
    const struct client_view *client; /* a reference of its own */
    const struct epoch_view *epoch;   /* of it */
    uint32_t shard_number;
    struct shard *shard;
    struct applier *applier;
    int64_t after, last; /* hashes */
    uint64_t doc_count;
    int64_t first_end_us; /* of the rows that end; 0: none does */
};

enum { REBUILDS_MAGIC = OBJECT_MAGIC('r', 'e', 'b', 's') };

struct rebuilds {
    uint32_t magic;
    pthread_mutex_t mutex;
    struct rebuild *held; /* NULL: none is under way */
    bool is_taken;
    int64_t put_us;
    uint64_t last_id;
};

struct rebuilds *rebuilds_new(void)
{
    struct rebuilds *rebuilds = mem_zero(sizeof(*rebuilds));

    object_begin(rebuilds, REBUILDS_MAGIC);
    pthread_mutex_init(&rebuilds->mutex, NULL);
    return rebuilds;
}

static void rebuild_free(struct rebuild *rebuild)
{
    if (!rebuild)
        return;
    applier_free(rebuild->applier);
    shard_close(rebuild->shard);
    client_unref(rebuild->client);
    object_end(rebuild, REBUILD_MAGIC);
    free(rebuild);
}

void rebuilds_free(struct rebuilds *rebuilds)
{
    if (!rebuilds)
        return;
    object_check(rebuilds, REBUILDS_MAGIC);
    rebuild_free(rebuilds->held);
    pthread_mutex_destroy(&rebuilds->mutex);
    object_end(rebuilds, REBUILDS_MAGIC);
    free(rebuilds);
}

/* --- whose turn it is --- */

static struct rebuild *make_room(struct rebuilds *rebuilds, int64_t now_us, bool *is_free)
{
    struct rebuild *idle = NULL;

    pthread_mutex_lock(&rebuilds->mutex);
    if (!rebuilds->is_taken && now_us - rebuilds->put_us > REBUILD_IDLE_MS * (int64_t)MS_US) {
        idle = rebuilds->held;
        rebuilds->held = NULL;
    }
    *is_free = !rebuilds->held && !rebuilds->is_taken;
    if (*is_free)
        rebuilds->is_taken = true; /* until it is put */
    pthread_mutex_unlock(&rebuilds->mutex);
    return idle;
}

void rebuild_put(const struct inspect *inspect, struct rebuild *rebuild, bool is_done)
{
    struct rebuilds *rebuilds = inspect->rebuilds;

    assert(inspect->store && inspect->clients && inspect->clock);
    object_check(rebuild, REBUILD_MAGIC);
    pthread_mutex_lock(&rebuilds->mutex);
    rebuilds->is_taken = false;
    rebuilds->held = is_done ? NULL : rebuild;
    rebuilds->put_us = clock_mono_us(inspect->clock);
    pthread_mutex_unlock(&rebuilds->mutex);
    if (is_done)
        rebuild_free(rebuild);
}

int rebuild_take(const struct inspect *inspect, uint64_t id, struct rebuild **rebuild,
                 struct err *err)
{
    struct rebuilds *rebuilds = inspect->rebuilds;

    assert(inspect->store && inspect->clients && inspect->clock);
    pthread_mutex_lock(&rebuilds->mutex);
    *rebuild = rebuilds->is_taken ? NULL : rebuilds->held;
    if (*rebuild && (*rebuild)->id != id)
        *rebuild = NULL;
    if (*rebuild)
        rebuilds->is_taken = true;
    pthread_mutex_unlock(&rebuilds->mutex);
    return *rebuild ? 0
                    : err_set(err, ERR_NOT_FOUND,
                              "cursor: that rebuild was given up; begin the check again");
}

/* --- building --- */

static int apply(struct rebuild *rebuild, const Torg__V1__IndexMessage *message,
                 struct arena *arena, struct err *err)
{
    struct buf bytes = BUF_INIT(TOPIC_VALUE_SIZE_MAX);
    int rc;

    message_encode(&message->base, &bytes);
    if (buf_failed(&bytes))
        rc = err_set(err, ERR_LIMIT, "a message is larger than %d bytes", TOPIC_VALUE_SIZE_MAX);
    else
        rc = applier_apply(rebuild->applier, buf_bytes(&bytes), arena, NULL, err);
    buf_release(&bytes);
    return rc;
}

static int send_schema(struct rebuild *rebuild, struct err *err)
{
    Torg__V1__IndexMessage message = TORG__V1__INDEX_MESSAGE__INIT;
    struct arena *arena = arena_new();
    int rc;

    message.kind_case = TORG__V1__INDEX_MESSAGE__KIND_SCHEMA;
    message.schema = convert_schema(rebuild->epoch, arena);
    rc = apply(rebuild, &message, arena, err);
    arena_free(arena);
    return rc;
}

static int open_shard(const struct inspect *inspect, struct rebuild *rebuild, const char *client,
                      int64_t epoch, struct err *err)
{
    const struct shard_options options = {
        .clock = inspect->clock, .epoch = (uint64_t)epoch, .background = true};
    int64_t first;
    int rc = clients_find(inspect->clients, client, true, &rebuild->client, err);

    if (rc)
        return rc;
    rebuild->epoch = client_epoch(rebuild->client, epoch);
    if (!rebuild->epoch)
        return err_set(err, ERR_NOT_FOUND, "%s has no epoch %jd", client, (intmax_t)epoch);
    number_shard_range(rebuild->shard_number,
                       client_numbering(rebuild->client, rebuild->epoch)->scheme, &first,
                       &rebuild->last);
    rebuild->after = first == INT64_MIN ? first : first - 1;
    rc = shard_open(&options, &rebuild->shard, err);
    if (!rc)
        rc = applier_new(rebuild->shard, &rebuild->applier, err);
    return rc ? rc : send_schema(rebuild, err);
}

int rebuild_begin(const struct inspect *inspect, const char *client, int64_t epoch, uint32_t shard,
                  uint64_t *id, struct err *err)
{
    struct rebuild *rebuild;
    bool is_free;
    int rc;

    assert(inspect->store && inspect->clients && inspect->clock);
    rebuild_free(make_room(inspect->rebuilds, clock_mono_us(inspect->clock), &is_free));
    if (!is_free)
        return err_set(err, ERR_UNAVAILABLE, "another rebuild is under way: try again later");
    rebuild = mem_zero(sizeof(*rebuild));
    object_begin(rebuild, REBUILD_MAGIC);
    rebuild->id = ++inspect->rebuilds->last_id; /* taken: nobody else is here */
    rebuild->shard_number = shard;
    *id = rebuild->id;
    rc = open_shard(inspect, rebuild, client, epoch, err);
    rebuild_put(inspect, rebuild, rc != 0);
    return rc;
}

struct reading {
    struct rebuild *rebuild;
    struct arena *arena;
    struct row *rows;
    size_t count;
    struct number_ask *asks;
};

static int read_rows(struct store_tx *tx, void *arg, struct err *err)
{
    struct reading *reading = arg;
    const struct rebuild *rebuild = reading->rebuild;
    int rc = rows_scan(tx, rebuild->client->id, rebuild->after, rebuild->last, VERIFY_REBUILD_COUNT,
                       true, reading->arena, &reading->rows, &reading->count, err);

    if (rc || !reading->count)
        return rc;
    reading->asks = arena_array(reading->arena, reading->count, sizeof(*reading->asks));
    for (size_t i = 0; i < reading->count; i++)
        reading->asks[i].key = reading->rows[i].pk;
    return numbers_find(tx, client_numbering(rebuild->client, rebuild->epoch)->space,
                        rebuild->shard_number, reading->asks, (uint32_t)reading->count, err);
}

/* What does not fit the epoch is not in its index (INDEX tells), nor what cannot be read
 * (REGISTRY).
 */
static int put_row(const struct inspect *inspect, struct rebuild *rebuild, const struct row *row,
                   uint32_t doc_id, struct arena *arena, struct err *err)
{
    Torg__V1__IndexMessage message = TORG__V1__INDEX_MESSAGE__INIT;
    Torg__V1__IndexDocument converted = TORG__V1__INDEX_DOCUMENT__INIT;
    Torg__V1__RawDocument *document;
    struct err misfit;
    int rc;

    if (row->status != ROW_ALIVE || doc_id == NUMBER_NONE)
        return 0;
    if (row_unpack(inspect->dictionaries, rebuild->client->id, row, arena, &document, &misfit) ||
        convert_document(document, rebuild->epoch, arena, &converted, &misfit) ||
        convert_side(row->side, rebuild->epoch, arena, &converted, &misfit))
        return 0;
    converted.doc_id = doc_id;
    message.kind_case = TORG__V1__INDEX_MESSAGE__KIND_PUT;
    message.put = &converted;
    rc = apply(rebuild, &message, arena, err);
    if (rc && applier_is_final(rc))
        return 0;
    rebuild->doc_count += rc == 0;
    if (!rc && row->expires_us &&
        (!rebuild->first_end_us || row->expires_us < rebuild->first_end_us))
        rebuild->first_end_us = row->expires_us;
    return rc;
}

int rebuild_go_on(const struct inspect *inspect, struct rebuild *rebuild, struct arena *arena,
                  size_t *count, struct err *err)
{
    struct reading reading = {.rebuild = rebuild, .arena = arena};
    int rc = store_read(inspect->store, read_rows, &reading, err);

    assert(inspect->store && inspect->clients && inspect->clock);
    object_check(rebuild, REBUILD_MAGIC);
    *count = rc ? 0 : reading.count;
    for (size_t i = 0; i < *count && !rc; i++) {
        struct arena_mark mark = arena_mark(arena);

        rc = put_row(inspect, rebuild, &reading.rows[i], reading.asks[i].doc_id, arena, err);
        arena_rewind(arena, mark);
    }
    if (!rc && *count)
        rebuild->after = reading.rows[*count - 1].hash;
    return rc ? rc : applier_publish(rebuild->applier, 0, err);
}

int rebuild_content(const struct inspect *inspect, struct rebuild *rebuild, uint64_t *content,
                    uint64_t *doc_count, struct err *err)
{
    int64_t now_us = clock_wall_us(inspect->clock);
    int rc;

    object_check(rebuild, REBUILD_MAGIC);
    rebuild->doc_count -= shard_expire(rebuild->shard, now_us / SECOND_US);
    rc = applier_publish(rebuild->applier, 0, err);
    *doc_count = rebuild->doc_count;
    return rc ? rc : shard_hash(rebuild->shard, content, err);
}

bool rebuild_has_ended(const struct inspect *inspect, const struct rebuild *rebuild)
{
    return rebuild->first_end_us &&
           rebuild->first_end_us - SECOND_US <= clock_wall_us(inspect->clock);
}

/* --- a few documents --- */

static int hash_sample(struct rebuild *rebuild, const uint32_t *doc_ids, size_t count,
                       struct arena *arena, uint64_t *contents, struct err *err)
{
    struct stored_value *stored = arena_array(arena, STORED_VALUE_COUNT_MAX, sizeof(*stored));
    struct buf record = BUF_INIT(2 * (size_t)STORED_RECORD_SIZE_MAX);
    const struct snapshot *snapshot = NULL;
    struct shard_reader *reader = NULL;
    int rc = shard_reader_new(rebuild->shard, &reader, err);

    rc = rc ? rc : shard_enter(reader, &snapshot, err);
    for (size_t i = 0; i < count && !rc; i++) {
        uint32_t stored_count;

        if (!live_has(snapshot->alive, doc_ids[i]))
            continue;
        rc = shard_stored(snapshot, rebuild->shard, doc_ids[i], &record, stored,
                          STORED_VALUE_COUNT_MAX, &stored_count, err);
        if (!rc)
            contents[i] =
                shard_hash_document(rebuild->shard, snapshot, doc_ids[i], stored, stored_count);
    }
    if (reader && snapshot)
        shard_exit(reader);
    shard_reader_free(reader);
    buf_release(&record);
    return rc;
}

int rebuild_sample(const struct inspect *inspect, const struct client_view *client, int64_t epoch,
                   const struct row *rows, const uint32_t *doc_ids, size_t count,
                   struct arena *arena, uint64_t *contents, struct err *err)
{
    const struct shard_options options = {.clock = inspect->clock, .epoch = (uint64_t)epoch};
    struct rebuild rebuild = {.client = client, .epoch = client_epoch(client, epoch)};
    int rc;

    memset(contents, 0, count * sizeof(contents[0]));
    if (!rebuild.epoch)
        return 0;
    rc = shard_open(&options, &rebuild.shard, err);
    if (!rc)
        rc = applier_new(rebuild.shard, &rebuild.applier, err);
    if (!rc)
        rc = send_schema(&rebuild, err);
    for (size_t i = 0; i < count && !rc; i++) {
        struct arena_mark mark = arena_mark(arena);

        rc = put_row(inspect, &rebuild, &rows[i], doc_ids[i], arena, err);
        arena_rewind(arena, mark);
    }
    if (!rc)
        rc = applier_publish(rebuild.applier, 0, err);
    if (!rc)
        rc = hash_sample(&rebuild, doc_ids, count, arena, contents, err);
    applier_free(rebuild.applier);
    shard_close(rebuild.shard);
    return rc;
}
