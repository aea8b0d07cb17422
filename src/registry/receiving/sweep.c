/* SPDX-License-Identifier: Apache-2.0 */
/* sweep.c - see sweep.h. */
#include "registry/receiving/sweep.h"

#include <assert.h>

#include "config/bounds.h"
#include "numerator/numerator.h"
#include "registry/bounds.h"

struct sweeping {
    const struct receiver *receiver;
    const struct client_view *client;
    int64_t now_us;
    struct row tombstone; /* what all ends have: packed and content */
    struct sweep_counts counts;
    size_t found;
};

struct due {
    struct arena *arena;
    struct row rows[SWEEP_CHUNK_COUNT];
    size_t count;
};

static int find_due(struct store_tx *tx, const struct sweeping *sweeping, struct due *due,
                    struct err *err)
{
    struct store_rows rows =
        store_select(tx,
                     "SELECT hash, pk, epoch, version, modify_us, status, expires_us "
                     "FROM registry WHERE client_id = $1 AND expires_us > 0 AND expires_us <= $2 "
                     "ORDER BY expires_us, hash LIMIT $3",
                     STORE_WITH(STORE_V_INT(sweeping->client->id), STORE_V_INT(sweeping->now_us),
                                STORE_V_INT(SWEEP_CHUNK_COUNT)));

    for (due->count = 0; store_next(&rows); due->count++) {
        assert(due->count < SWEEP_CHUNK_COUNT);
        due->rows[due->count] = (struct row){.hash = rows.columns[0].integer,
                                             .pk = arena_copy(due->arena, rows.columns[1].bytes),
                                             .order = {.epoch = rows.columns[2].integer,
                                                       .version = rows.columns[3].integer,
                                                       .modify_us = rows.columns[4].integer},
                                             .status = (int)rows.columns[5].integer,
                                             .expires_us = rows.columns[6].integer};
    }
    return store_rows_end(&rows, err);
}

/* --- ends --- */

static void make_tombstone(const struct sweeping *sweeping, struct row *row)
{
    row->order.modify_us++;
    row->status = ROW_TOMBSTONE;
    row->expires_us = sweeping->now_us + sweeping->receiver->tombstone_life_us;
    row->packed = sweeping->tombstone.packed;
    row->content = sweeping->tombstone.content;
}

/* All in the lane main: an end is not urgent, the index knows the time itself. */
static int end_documents(struct store_tx *tx, struct sweeping *sweeping, struct due *due,
                         struct err *err)
{
    const struct client_view *client = sweeping->client;
    struct queue_element *elements = arena_array(due->arena, due->count + 1, sizeof(*elements));
    const struct row **ended = arena_array(due->arena, due->count + 1, sizeof(const struct row *));
    int rc = 0;

    for (uint32_t shard = 0; shard < client->shard_count && !rc; shard++) {
        size_t count = 0;

        for (size_t i = 0; i < due->count; i++) {
            struct row *row = &due->rows[i];

            if (row->status != ROW_ALIVE ||
                number_key_shard(row->hash, client->shard_count) != shard)
                continue;
            make_tombstone(sweeping, row);
            ended[count] = row;
            elements[count++] = (struct queue_element){
                .pk = row->pk, .order = row->order, .put_us = sweeping->now_us};
        }
        if (count)
            rc = rows_save(tx, client->id, ended, count, err);
        if (count && !rc)
            rc = queue_append(tx, client->id, LANE_MAIN, shard, elements, count, err);
        sweeping->counts.ended += count;
    }
    return rc;
}

/* --- tombstones --- */

/* When the oldest element that waits in the shard was put, INT64_MAX: none waits. Elements that are
 * dealt with and not removed yet count too: they go soon. */
static int find_oldest(struct store_tx *tx, const struct client_view *client, uint32_t shard,
                       int64_t *oldest_us, struct err *err)
{
    int rc = 0;

    *oldest_us = INT64_MAX;
    for (int lane = LANE_MAIN; lane < LANE_FAILED && !rc; lane++) {
        int64_t first_us = INT64_MAX;

        rc = store_find_integer(
            tx,
            "SELECT put_us FROM registry_queue WHERE client_id = $1 AND lane = $2 AND "
            "shard = $3 ORDER BY idx LIMIT 1",
            STORE_WITH(STORE_V_INT(client->id), STORE_V_INT(lane), STORE_V_INT(shard)), &first_us,
            err);
        if (first_us < *oldest_us)
            *oldest_us = first_us;
    }
    return rc;
}

static int is_parked(struct store_tx *tx, int64_t client_id, uint32_t shard, struct bytes pk,
                     bool *parked, struct err *err)
{
    int64_t count = 0;
    int rc = store_find_integer(
        tx,
        "SELECT COUNT(*) FROM registry_failed WHERE client_id = $1 AND shard = $2 "
        "AND pk = $3",
        STORE_WITH(STORE_V_INT(client_id), STORE_V_INT(shard), STORE_V_TEXT(pk)), &count, err);

    *parked = count > 0;
    return rc;
}

static int forget(struct store_tx *tx, struct sweeping *sweeping, const struct row *row,
                  bool is_needed, struct err *err)
{
    const struct store_value params[] = {
        STORE_V_INT(sweeping->client->id), STORE_V_INT(row->hash), STORE_V_TEXT(row->pk),
        STORE_V_INT(sweeping->now_us + (int64_t)SWEEP_DELAY_S * SECOND_US)};

    if (is_needed) {
        sweeping->counts.delayed++;
        return store_exec(tx,
                          "UPDATE registry SET expires_us = $4 WHERE client_id = $1 AND hash = $2 "
                          "AND pk = $3",
                          params, 4, NULL, err);
    }
    sweeping->counts.forgotten++;
    return store_exec(tx, "DELETE FROM registry WHERE client_id = $1 AND hash = $2 AND pk = $3",
                      params, 3, NULL, err);
}

static int forget_tombstones(struct store_tx *tx, struct sweeping *sweeping, const struct due *due,
                             struct err *err)
{
    const struct client_view *client = sweeping->client;
    int64_t oldest_us[CLIENT_SHARD_COUNT_MAX] = {0}; /* 0: not looked at yet */
    int rc = 0;

    for (size_t i = 0; i < due->count && !rc; i++) {
        const struct row *row = &due->rows[i];
        uint32_t shard = number_key_shard(row->hash, client->shard_count);
        bool parked = false;

        if (row->status != ROW_TOMBSTONE)
            continue;
        if (!oldest_us[shard])
            rc = find_oldest(tx, client, shard, &oldest_us[shard], err);
        if (!rc)
            rc = is_parked(tx, client->id, shard, row->pk, &parked, err);
        /* Its own element was put before its end. How long before is not asked: the setting may
         * have been another then. */
        if (!rc)
            rc = forget(tx, sweeping, row, parked || oldest_us[shard] <= row->expires_us, err);
    }
    return rc;
}

static int sweep(struct store_tx *tx, void *arg, struct err *err)
{
    struct sweeping *sweeping = arg;
    struct arena *arena = arena_new();
    struct due *due = arena_zero(arena, sizeof(*due));
    int rc;

    due->arena = arena;
    sweeping->counts = (struct sweep_counts){0};
    rc = find_due(tx, sweeping, due, err);
    if (!rc)
        rc = forget_tombstones(tx, sweeping, due, err);
    if (!rc)
        rc = end_documents(tx, sweeping, due, err);
    sweeping->found = due->count;
    arena_free(arena);
    return rc;
}

int sweep_client(const struct receiver *receiver, const struct client_view *client, int64_t now_us,
                 struct sweep_counts *counts, bool *is_full, struct err *err)
{
    Torg__V1__RawDocument deletion = TORG__V1__RAW_DOCUMENT__INIT;
    struct sweeping sweeping = {.receiver = receiver, .client = client, .now_us = now_us};
    struct arena *arena = arena_new();
    int64_t end_us = 0;
    /* Most rounds find nothing: a look that writes nothing costs no commit. */
    int rc = store_read_integer(
        receiver->store,
        "SELECT expires_us FROM registry WHERE client_id = $1 AND expires_us > 0 "
        "AND expires_us <= $2 ORDER BY expires_us LIMIT 1",
        STORE_WITH(STORE_V_INT(client->id), STORE_V_INT(now_us)), &end_us, err);

    assert(receiver->store && receiver->clock && receiver->clients);
    *is_full = false;
    if (!rc && end_us) {
        deletion.event = TORG__V1__RAW_DOCUMENT__EVENT__DELETE;
        sweeping.tombstone.status = ROW_TOMBSTONE;
        rc = row_pack(receiver->dictionaries, client->id, &deletion, arena, &sweeping.tombstone,
                      err);
        sweeping.tombstone.dictionary = 0;
        if (!rc)
            rc = store_write(receiver->store, sweep, &sweeping, err);
        *is_full = !rc && sweeping.found == SWEEP_CHUNK_COUNT;
    }
    if (!rc) {
        counts->ended += sweeping.counts.ended;
        counts->forgotten += sweeping.counts.forgotten;
        counts->delayed += sweeping.counts.delayed;
    }
    arena_free(arena);
    return rc;
}
