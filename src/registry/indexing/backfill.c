/* SPDX-License-Identifier: Apache-2.0 */
/* backfill.c - see backfill.h. */
#include "registry/indexing/backfill.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>

#include "numerator/numerator.h"
#include "registry/indexing/queue.h"

static int insert(struct store_tx *tx, int64_t client_id, int64_t epoch, uint32_t shard,
                  uint32_t shard_count, bool is_done, bool is_numbered, struct err *err)
{
    int64_t first, last;

    number_shard_range(shard, shard_count, &first, &last);
    return store_exec(tx,
                      "INSERT INTO registry_backfill (client_id, epoch, shard, hash, is_done, "
                      "poured_count, refused_count, late_count, end_idx, is_numbered) "
                      "VALUES ($1, $2, $3, $4, $5, 0, 0, 0, 0, $6)",
                      STORE_WITH(STORE_V_INT(client_id), STORE_V_INT(epoch), STORE_V_INT(shard),
                                 STORE_V_INT(is_done              ? last
                                             : first == INT64_MIN ? first
                                                                  : first - 1),
                                 STORE_V_INT(is_done), STORE_V_INT(is_numbered)),
                      NULL, err);
}

/* The first epoch of a client was poured from nothing. */
static int insert_missing(struct store_tx *tx, const struct client_view *client,
                          const struct epoch_view *epoch, struct err *err)
{
    uint32_t shard_count = client_numbering(client, epoch)->scheme;
    int rc = 0;

    for (uint32_t shard = 0; shard < shard_count && !rc; shard++) {
        struct backfill backfill;
        bool found;

        rc = backfill_find(tx, client->id, epoch->epoch, shard, &backfill, &found, err);
        if (!rc && !found)
            rc = insert(tx, client->id, epoch->epoch, shard, shard_count, true, true, err);
    }
    return rc;
}

int backfill_begin(struct store_tx *tx, const struct client_view *client, int64_t epoch,
                   uint32_t shard_count, bool is_ranked, struct err *err)
{
    int rc = 0;

    for (uint32_t shard = 0; shard < shard_count && !rc; shard++)
        rc = insert(tx, client->id, epoch, shard, shard_count, false, !is_ranked, err);
    for (uint32_t i = 0; i < client->epoch_count && !rc; i++)
        rc = insert_missing(tx, client, &client->epochs[i], err);
    return rc;
}

int backfill_find(struct store_tx *tx, int64_t client_id, int64_t epoch, uint32_t shard,
                  struct backfill *backfill, bool *found, struct err *err)
{
    struct store_rows rows =
        store_select(tx,
                     "SELECT hash, is_done, poured_count, refused_count, late_count, end_idx, "
                     "pour_no, is_whole, mark_ticket, mark_offset, whole_offset, whole_us, "
                     "is_numbered "
                     "FROM registry_backfill WHERE client_id = $1 AND epoch = $2 AND shard = $3",
                     STORE_WITH(STORE_V_INT(client_id), STORE_V_INT(epoch), STORE_V_INT(shard)));

    *backfill = (struct backfill){.is_numbered = true, .is_whole = true, .mark_offset = -1};
    *found = store_next(&rows);
    if (*found)
        *backfill = (struct backfill){.hash = rows.columns[0].integer,
                                      .is_done = rows.columns[1].integer != 0,
                                      .poured_count = rows.columns[2].integer,
                                      .refused_count = rows.columns[3].integer,
                                      .late_count = rows.columns[4].integer,
                                      .end_idx = rows.columns[5].integer,
                                      .pour_no = rows.columns[6].integer,
                                      .is_whole = rows.columns[7].integer != 0,
                                      .mark_ticket = (uint64_t)rows.columns[8].integer,
                                      .mark_offset = rows.columns[9].integer,
                                      .whole_offset = rows.columns[10].integer,
                                      .whole_us = rows.columns[11].integer,
                                      .is_numbered = rows.columns[12].integer != 0};
    return store_rows_end(&rows, err);
}

int backfill_move(struct store_tx *tx, int64_t client_id, int64_t epoch, uint32_t shard,
                  int64_t from, const struct backfill *to, struct err *err)
{
    int64_t changed = 0;
    int rc = store_exec(tx,
                        "UPDATE registry_backfill SET hash = $4, is_done = $5, poured_count = $6, "
                        "refused_count = $7, end_idx = $8 WHERE client_id = $1 AND epoch = $2 "
                        "AND shard = $3 AND hash = $9 AND is_done = 0",
                        STORE_WITH(STORE_V_INT(client_id), STORE_V_INT(epoch), STORE_V_INT(shard),
                                   STORE_V_INT(to->hash), STORE_V_INT(to->is_done),
                                   STORE_V_INT(to->poured_count), STORE_V_INT(to->refused_count),
                                   STORE_V_INT(to->end_idx), STORE_V_INT(from)),
                        &changed, err);

    if (!rc && changed != 1)
        rc = err_set(err, ERR_STALE,
                     "the pouring into epoch %" PRId64 ", shard %" PRIu32 " of client %" PRId64
                     " is not where it was",
                     epoch, shard, client_id);
    return rc;
}

int backfill_add_late(struct store_tx *tx, int64_t client_id, int64_t epoch, uint32_t shard,
                      int64_t count, struct err *err)
{
    return store_exec(tx,
                      "UPDATE registry_backfill SET late_count = late_count + $4 "
                      "WHERE client_id = $1 AND epoch = $2 AND shard = $3",
                      STORE_WITH(STORE_V_INT(client_id), STORE_V_INT(epoch), STORE_V_INT(shard),
                                 STORE_V_INT(count)),
                      NULL, err);
}

/* --- numbers before the first --- */

int backfill_note_numbered(struct store_tx *tx, const struct backfill_place *place, int64_t hash,
                           struct err *err)
{
    return store_exec(tx,
                      "UPDATE registry_backfill SET is_numbered = 1, hash = $4, is_done = 0, "
                      "poured_count = 0, refused_count = 0 "
                      "WHERE client_id = $1 AND epoch = $2 AND shard = $3",
                      STORE_WITH(STORE_V_INT(place->client_id), STORE_V_INT(place->epoch),
                                 STORE_V_INT(place->shard), STORE_V_INT(hash)),
                      NULL, err);
}

int backfill_find_unnumbered(struct store_tx *tx, const struct backfill_place *first,
                             uint32_t shard_count, uint64_t *shards, struct err *err)
{
    struct store_rows rows = store_select(
        tx,
        "SELECT shard FROM registry_backfill WHERE client_id = $1 AND epoch = $2 "
        "AND shard >= $3 AND shard < $4 AND is_numbered = 0",
        STORE_WITH(STORE_V_INT(first->client_id), STORE_V_INT(first->epoch),
                   STORE_V_INT(first->shard), STORE_V_INT((int64_t)first->shard + shard_count)));

    assert(shard_count <= 64);
    *shards = 0;
    while (store_next(&rows))
        *shards |= UINT64_C(1) << (rows.columns[0].integer - first->shard);
    return store_rows_end(&rows, err);
}

int backfill_find_unpoured(struct store_tx *tx, int64_t client_id, int64_t epoch, int64_t *shard,
                           struct err *err)
{
    *shard = -1;
    return store_find_integer(tx,
                              "SELECT shard FROM registry_backfill WHERE client_id = $1 "
                              "AND epoch = $2 AND (is_numbered = 0 OR is_done = 0) "
                              "ORDER BY shard LIMIT 1",
                              STORE_WITH(STORE_V_INT(client_id), STORE_V_INT(epoch)), shard, err);
}

/* --- pours after the first --- */

static int moved(const struct backfill_place *place, int64_t changed, struct err *err)
{
    return changed == 1 ? 0
                        : err_set(err, ERR_STALE,
                                  "the pour of epoch %" PRId64 ", shard %" PRIu32
                                  " of client %" PRId64 " is not where it was",
                                  place->epoch, place->shard, place->client_id);
}

/* What did not fit stays counted until the pour has counted it anew: whoever moves searches to the
 * epoch meanwhile is told too many, never too few. */
int backfill_begin_again(struct store_tx *tx, const struct backfill_place *place,
                         const struct backfill *from, int64_t hash, struct err *err)
{
    int64_t changed = 0;
    int rc = store_exec(tx,
                        "UPDATE registry_backfill SET hash = $4, is_done = 0, poured_count = 0, "
                        "late_count = late_count + is_whole * refused_count, "
                        "late_before = CASE WHEN is_whole = 1 THEN late_count + refused_count "
                        "ELSE late_before END, "
                        "refused_count = 0, end_idx = 0, pour_no = pour_no + 1, is_whole = 0, "
                        "mark_ticket = 0, mark_offset = -1 WHERE client_id = $1 AND epoch = $2 "
                        "AND shard = $3 AND pour_no = $5",
                        STORE_WITH(STORE_V_INT(place->client_id), STORE_V_INT(place->epoch),
                                   STORE_V_INT(place->shard), STORE_V_INT(hash),
                                   STORE_V_INT(from->pour_no)),
                        &changed, err);

    if (!rc && !changed && !from->pour_no) /* the client's first epoch has no row */
        rc = store_exec(tx,
                        "INSERT INTO registry_backfill (client_id, epoch, shard, hash, is_done, "
                        "poured_count, refused_count, late_count, end_idx, pour_no, is_whole) "
                        "VALUES ($1, $2, $3, $4, 0, 0, 0, 0, 0, 1, 0) "
                        "ON CONFLICT (client_id, epoch, shard) DO NOTHING",
                        STORE_WITH(STORE_V_INT(place->client_id), STORE_V_INT(place->epoch),
                                   STORE_V_INT(place->shard), STORE_V_INT(hash)),
                        &changed, err);
    return rc ? rc : moved(place, changed, err);
}

int backfill_note_begin(struct store_tx *tx, const struct backfill_place *place, int64_t pour_no,
                        uint64_t ticket, uint64_t offset, struct err *err)
{
    int64_t changed = 0;
    int rc = store_exec(tx,
                        "UPDATE registry_backfill SET mark_ticket = $5, mark_offset = $6 "
                        "WHERE client_id = $1 AND epoch = $2 AND shard = $3 AND pour_no = $4 "
                        "AND mark_offset = -1",
                        STORE_WITH(STORE_V_INT(place->client_id), STORE_V_INT(place->epoch),
                                   STORE_V_INT(place->shard), STORE_V_INT(pour_no),
                                   STORE_V_INT((int64_t)ticket), STORE_V_INT((int64_t)offset)),
                        &changed, err);

    return rc ? rc : moved(place, changed, err);
}

int backfill_note_end(struct store_tx *tx, const struct backfill_place *place, int64_t pour_no,
                      int64_t now_us, struct err *err)
{
    int64_t changed = 0;
    int rc =
        store_exec(tx,
                   "UPDATE registry_backfill SET is_whole = 1, whole_offset = mark_offset, "
                   "whole_us = $5, late_count = late_count - late_before, late_before = 0 "
                   "WHERE client_id = $1 AND epoch = $2 AND shard = $3 "
                   "AND pour_no = $4 AND is_done = 1 AND is_whole = 0 AND mark_offset >= 0",
                   STORE_WITH(STORE_V_INT(place->client_id), STORE_V_INT(place->epoch),
                              STORE_V_INT(place->shard), STORE_V_INT(pour_no), STORE_V_INT(now_us)),
                   &changed, err);

    return rc ? rc : moved(place, changed, err);
}

/* --- how far topics go --- */

enum { GROUP_SIZE = 32 };

static void name_group(const struct backfill_place *place, char name[GROUP_SIZE])
{
    snprintf(name, GROUP_SIZE, "topic/%" PRId64, place->epoch);
}

int backfill_find_end(struct store_tx *tx, const struct backfill_place *place, int64_t *end,
                      struct err *err)
{
    char group[GROUP_SIZE];

    name_group(place, group);
    *end = 0;
    return store_find_integer(tx,
                              "SELECT idx FROM registry_offset WHERE client_id = $1 AND lane = $2 "
                              "AND group_id = $3 AND shard = $4",
                              STORE_WITH(STORE_V_INT(place->client_id), STORE_V_INT(LANE_MAIN),
                                         STORE_V_STRING(group), STORE_V_INT(place->shard)),
                              end, err);
}

int backfill_note_topic(struct store_tx *tx, const struct backfill_place *place, int64_t end,
                        struct err *err)
{
    char group[GROUP_SIZE];

    name_group(place, group);
    return store_exec(tx,
                      "INSERT INTO registry_offset (client_id, lane, group_id, shard, idx) "
                      "VALUES ($1, $2, $3, $4, $5) ON CONFLICT (client_id, lane, group_id, shard) "
                      "DO UPDATE SET idx = excluded.idx",
                      STORE_WITH(STORE_V_INT(place->client_id), STORE_V_INT(LANE_MAIN),
                                 STORE_V_STRING(group), STORE_V_INT(place->shard),
                                 STORE_V_INT(end)),
                      NULL, err);
}
