/* SPDX-License-Identifier: Apache-2.0 */
/* changes.c - see changes.h. */
#include "snippets/rows/changes.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "base/text.h"
#include "base/varint.h"
#include "store/sequence.h"

void snippet_changes_add(struct snippet_changes *changes, const struct snippet_change *change)
{
    assert(change->prefix > 0);
    varint_put(&changes->list, (uint64_t)change->prefix);
    varint_put(&changes->list, change->is_all ? 0 : change->key.size + 1);
    if (!change->is_all) {
        buf_put(&changes->list, change->key);
        varint_put(&changes->list, change->language.size);
        buf_put(&changes->list, change->language);
    }
    changes->count++;
}

/* One process writes to a store of this machine, one transaction at a time. */
static int64_t pick_partition(struct store *store)
{
    int64_t now_us = clock_wall_us(store_clock(store));

    if (store_is_local(store))
        return 0;
    return (int64_t)(hash64_seeded(bytes_make(&now_us, sizeof(now_us)), 0) %
                     SNIPPET_CHANGE_PARTITION_COUNT);
}

int snippet_changes_write(struct store_tx *tx, struct store *store,
                          const struct snippet_changes *changes, struct err *err)
{
    int64_t partition = pick_partition(store), first = 0;
    char name[32];
    int rc;

    if (!changes->count)
        return 0;
    if (buf_failed(&changes->list))
        return err_set(err, ERR_LIMIT,
                       "the names and keys of this write have more than %d bytes "
                       "(SNIPPET_CHANGES_SIZE_MAX)",
                       SNIPPET_CHANGES_SIZE_MAX);
    snprintf(name, sizeof(name), "snippet-change.%d", (int)partition);
    rc = store_next_seq(tx, name, changes->count, &first, err);
    if (rc)
        return rc;
    return store_exec(
        tx, "INSERT INTO snippet_change (lane, last, first, changes) VALUES ($1, $2, $3, $4)",
        STORE_WITH(STORE_V_INT(partition), STORE_V_INT(first + changes->count - 1),
                   STORE_V_INT(first), STORE_V_BLOB(buf_bytes(&changes->list))),
        NULL, err);
}

/* --- positions --- */

const char *snippet_position_text(const struct snippet_position *position, struct arena *arena)
{
    struct buf text = BUF_INIT(SNIPPET_CHANGE_PARTITION_COUNT * 24);
    const char *copy;

    for (size_t i = 0; i < SNIPPET_CHANGE_PARTITION_COUNT; i++)
        buf_printf(&text, "%s%" PRId64, i ? "." : "", position->last[i]);
    assert(!buf_failed(&text));
    copy = arena_strdup(arena, buf_text(&text));
    buf_release(&text);
    return copy;
}

int snippet_position_parse(struct bytes text, struct snippet_position *position, struct err *err)
{
    size_t partition = 0, digits = 0;
    bool is_good = text.size > 0;

    *position = (struct snippet_position){0};
    for (size_t i = 0; i < text.size && is_good; i++) {
        uint8_t byte = text.data[i];

        if (byte == '.') {
            is_good = digits > 0 && ++partition < SNIPPET_CHANGE_PARTITION_COUNT;
            digits = 0;
        } else {
            is_good = byte >= '0' && byte <= '9' && ++digits <= 18;
            if (is_good)
                position->last[partition] = position->last[partition] * 10 + (byte - '0');
        }
    }
    if (is_good && digits && partition == SNIPPET_CHANGE_PARTITION_COUNT - 1)
        return 0;
    return err_set(err, ERR_INVALID,
                   "this is not a position of a watch: take one from an answer, or none");
}

static int find_end(struct store *store, int64_t partition, int64_t *last, struct err *err)
{
    *last = 0;
    return store_read_integer(store,
                              "SELECT last FROM snippet_change WHERE lane = $1 "
                              "ORDER BY last DESC LIMIT 1",
                              STORE_WITH(STORE_V_INT(partition)), last, err);
}

static size_t partition_count(struct store *store)
{
    return store_is_local(store) ? 1 : SNIPPET_CHANGE_PARTITION_COUNT;
}

int snippet_changes_end(struct store *store, struct snippet_position *position, struct err *err)
{
    int rc = 0;

    *position = (struct snippet_position){0};
    for (size_t partition = 0; partition < partition_count(store) && !rc; partition++)
        rc = find_end(store, (int64_t)partition, &position->last[partition], err);
    return rc;
}

/* --- reading --- */

static bool get_bytes(struct bytes *in, uint64_t size, struct bytes *out)
{
    if (size > in->size)
        return false;
    *out = bytes_make(in->data, (size_t)size);
    *in = bytes_skip(*in, (size_t)size);
    return true;
}

static bool get_change(struct bytes *in, struct snippet_change *change)
{
    uint64_t prefix, size;

    *change = (struct snippet_change){0};
    if (!varint_get(in, &prefix) || prefix == 0 || prefix > INT64_MAX || !varint_get(in, &size))
        return false;
    change->prefix = (int64_t)prefix;
    change->is_all = size == 0;
    return change->is_all || (get_bytes(in, size - 1, &change->key) && varint_get(in, &size) &&
                              get_bytes(in, size, &change->language));
}

struct reading {
    struct arena *arena;
    struct snippet_change *list;
    size_t count, capacity;
};

static int take_changes(struct reading *reading, struct bytes changes, struct err *err)
{
    struct bytes in = arena_copy(reading->arena, changes);

    while (in.size) {
        if (reading->count == reading->capacity) {
            struct snippet_change *old = reading->list;

            reading->capacity = reading->capacity * 2 + 64;
            reading->list = arena_array(reading->arena, reading->capacity, sizeof(*old));
            if (reading->count)
                memcpy(reading->list, old, reading->count * sizeof(*old));
        }
        if (!get_change(&in, &reading->list[reading->count]))
            return err_set(err, ERR_CORRUPT, "a row of snippet_change is damaged");
        reading->count++;
    }
    return 0;
}

static const char LOST[] = "changes since this position are not kept any more, or it is not of "
                           "this store: read the snippets again, and watch without a position";

static int read_partition(struct store *store, int64_t partition, int64_t *last,
                          struct reading *reading, struct err *err)
{
    struct store_rows rows = store_read_rows(
        store,
        "SELECT first, last, changes FROM snippet_change WHERE lane = $1 AND last > $2 "
        "ORDER BY last LIMIT $3",
        STORE_WITH(STORE_V_INT(partition), STORE_V_INT(*last),
                   STORE_V_INT(SNIPPET_CHANGE_READ_COUNT)));

    while (store_next(&rows)) {
        if (rows.columns[0].integer != *last + 1)
            rows.rc = err_set(err, ERR_RANGE, "%s", LOST);
        else
            rows.rc = take_changes(reading, rows.columns[2].bytes, err);
        if (!rows.rc)
            *last = rows.columns[1].integer;
    }
    return store_rows_end(&rows, err);
}

int snippet_changes_read(struct store *store, struct snippet_position *position,
                         struct arena *arena, struct snippet_change **list, size_t *count,
                         struct err *err)
{
    struct reading reading = {.arena = arena};
    int rc = 0;

    for (size_t partition = 0; partition < partition_count(store) && !rc; partition++) {
        int64_t before = position->last[partition], end = 0;

        rc = read_partition(store, (int64_t)partition, &position->last[partition], &reading, err);
        if (rc || position->last[partition] != before)
            continue;
        rc = find_end(store, (int64_t)partition, &end, err); /* the newest is always kept */
        if (!rc && end < before)
            rc = err_set(err, ERR_RANGE, "%s", LOST);
    }
    *list = reading.list;
    *count = rc ? 0 : reading.count;
    return rc;
}

int snippet_changes_trim(struct store *store, bool *more, struct err *err)
{
    int rc = 0;

    *more = false;
    for (size_t partition = 0; partition < partition_count(store) && !rc; partition++) {
        int64_t end, oldest = 0, count = 0;

        rc = find_end(store, (int64_t)partition, &end, err);
        if (!rc)
            rc = store_read_integer(store,
                                    "SELECT last FROM snippet_change WHERE lane = $1 "
                                    "ORDER BY last LIMIT 1",
                                    STORE_WITH(STORE_V_INT((int64_t)partition)), &oldest, err);
        if (rc || oldest >= end - SNIPPET_CHANGE_KEPT_COUNT)
            continue;
        rc = store_write_one(store,
                             "DELETE FROM snippet_change WHERE lane = $1 AND last IN "
                             "(SELECT last FROM snippet_change WHERE lane = $1 AND last < $2 "
                             "ORDER BY last LIMIT $3)",
                             STORE_WITH(STORE_V_INT((int64_t)partition),
                                        STORE_V_INT(end - SNIPPET_CHANGE_KEPT_COUNT),
                                        STORE_V_INT(SNIPPET_SWEEP_COUNT)),
                             &count, err);
        *more = *more || count == SNIPPET_SWEEP_COUNT;
    }
    return rc;
}
