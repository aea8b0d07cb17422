/* SPDX-License-Identifier: Apache-2.0 */
/* rows.c - see rows.h. */
#include "snippets/rows/rows.h"

#include <assert.h>
#include <string.h>

#include "base/buf.h"
#include "base/memory.h"
#include "snippets/bounds.h"
#include "snippets/rows/changes.h"

enum { PREFIXES_AT_ONCE = 16, KEYS_AT_ONCE = 64, KNOWN_COUNT = 32 };

/* The generations that a write goes to; the one that is shown comes first. */
struct generations {
    int64_t list[3];
    size_t count;
    int64_t loading; /* -1: none */
    int64_t begun_us;
};

/* Those of the prefixes that a transaction has asked for last, by their number. */
struct known_generations {
    int64_t prefixes[KNOWN_COUNT]; /* 0: none */
    struct generations list[KNOWN_COUNT];
};

struct writing {
    struct store *store;
    const struct snippet_part *parts;
    size_t count;
    const struct snippet_source *source;
    struct known_generations known;
    struct snippet_changes changes;
    size_t written;
};

static int find_generations(struct store_tx *tx, int64_t prefix, struct generations *found,
                            struct err *err)
{
    struct store_rows rows = store_select(
        tx, "SELECT live, back, loading, begun_us FROM snippet_space WHERE prefix = $1",
        STORE_WITH(STORE_V_INT(prefix)));

    *found = (struct generations){.count = 1, .loading = -1};
    if (store_next(&rows)) {
        found->list[0] = rows.columns[0].integer;
        for (size_t i = 1; i <= 2; i++) {
            if (rows.columns[i].integer >= 0)
                found->list[found->count++] = rows.columns[i].integer;
        }
        found->loading = rows.columns[2].integer;
        found->begun_us = rows.columns[3].integer;
    }
    return store_rows_end(&rows, err);
}

/* Where a row is written; what a request writes there is not older than since_us. */
struct place {
    int64_t generation;
    int64_t since_us;
};

/* A request's write is newer than the row, whatever the clocks say; a record's is not, if the row
 * knows it or was written since the record was tried first. */
static int put_row(struct store_tx *tx, struct store *store, const struct snippet_source *source,
                   const struct snippet_row *row, struct place at, int64_t *changed,
                   struct err *err)
{
    int64_t now_us = clock_wall_us(store_clock(store));
    int64_t late_us = now_us > at.since_us ? now_us : at.since_us;
    int64_t written_us = source->first_us ? source->first_us : late_us;
    int64_t end_us = row->is_deleted ? now_us + (int64_t)SNIPPET_TOMBSTONE_S * 1000000
                     : row->ttl_us   ? written_us + row->ttl_us
                                     : SNIPPET_FOR_EVER;

    return store_exec(
        tx,
        "INSERT INTO snippet (prefix, record_key, language, generation, body, written_us, end_us, "
        "source, source_offset) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) "
        "ON CONFLICT (prefix, record_key, language, generation) DO UPDATE SET "
        "body = excluded.body, "
        "written_us = CASE WHEN snippet.written_us >= excluded.written_us "
        "THEN snippet.written_us + 1 ELSE excluded.written_us END, "
        "end_us = excluded.end_us, "
        "source = CASE WHEN excluded.source = 0 THEN snippet.source ELSE excluded.source END, "
        "source_offset = CASE WHEN excluded.source = 0 THEN snippet.source_offset "
        "ELSE excluded.source_offset END "
        "WHERE (excluded.source = 0 OR snippet.source <> excluded.source "
        "OR snippet.source_offset < excluded.source_offset) "
        "AND (CAST($10 AS BIGINT) = 0 OR snippet.written_us < CAST($10 AS BIGINT))",
        STORE_WITH(STORE_V_INT(row->prefix), STORE_V_TEXT(row->key), STORE_V_TEXT(row->language),
                   STORE_V_INT(at.generation),
                   row->is_deleted ? STORE_V_NULL : STORE_V_BLOB(row->body),
                   STORE_V_INT(written_us), STORE_V_INT(end_us), STORE_V_INT(source->id),
                   STORE_V_INT(source->offset), STORE_V_INT(source->first_us)),
        changed, err);
}

static int remove_row(struct store_tx *tx, const struct snippet_row *row, int64_t generation,
                      int64_t *changed, struct err *err)
{
    return store_exec(tx,
                      "DELETE FROM snippet WHERE prefix = $1 AND record_key = $2 AND language = $3 "
                      "AND generation = $4",
                      STORE_WITH(STORE_V_INT(row->prefix), STORE_V_TEXT(row->key),
                                 STORE_V_TEXT(row->language), STORE_V_INT(generation)),
                      changed, err);
}

/* While a load is under way a deletion leaves its row beside, where the load would put it again. A
 * record that the row in use refuses is old: rows of the load know nothing of records. */
static int write_row(struct store_tx *tx, struct writing *writing, const struct snippet_row *row,
                     const struct generations *generations, struct err *err)
{
    int64_t changed = 0;
    int rc = 0;

    for (size_t k = 0; k < generations->count && !rc; k++) {
        int64_t generation = generations->list[k];

        if (row->is_deleted && !row->keeps_deleted && generation != generations->loading)
            rc = remove_row(tx, row, generation, &changed, err);
        else
            rc = put_row(tx, writing->store, writing->source, row,
                         (struct place){generation, generations->begun_us}, &changed, err);
        if (k == 0 && changed <= 0 && writing->source->id && !row->is_deleted)
            break;
        if (rc || k || changed <= 0)
            continue;
        writing->written++;
        snippet_changes_add(&writing->changes, &(struct snippet_change){.prefix = row->prefix,
                                                                        .key = row->key,
                                                                        .language = row->language});
    }
    return rc;
}

static int get_generations(struct store_tx *tx, struct known_generations *known, int64_t prefix,
                           const struct generations **found, struct err *err)
{
    size_t place = (size_t)((uint64_t)prefix % KNOWN_COUNT);
    int rc = 0;

    *found = &known->list[place];
    if (known->prefixes[place] == prefix && prefix)
        return 0;
    known->prefixes[place] = 0;
    rc = find_generations(tx, prefix, &known->list[place], err);
    if (!rc)
        known->prefixes[place] = prefix;
    return rc;
}

static int write_rows(struct store_tx *tx, void *arg, struct err *err)
{
    struct writing *writing = arg;
    int rc = 0;

    writing->written = 0;
    writing->known = (struct known_generations){0}; /* of another try of this transaction */
    buf_reset(&writing->changes.list);
    writing->changes.count = 0;
    for (size_t i = 0; i < writing->count && !rc; i++) {
        const struct snippet_part *part = &writing->parts[i];

        for (size_t k = 0; k < part->count && !rc; k++) {
            const struct generations *generations;

            rc = get_generations(tx, &writing->known, part->rows[k].prefix, &generations, err);
            if (!rc)
                rc = write_row(tx, writing, &part->rows[k], generations, err);
        }
    }
    return rc ? rc : snippet_changes_write(tx, writing->store, &writing->changes, err);
}

int snippet_rows_write_parts(struct store *store, const struct snippet_part *parts, size_t count,
                             const struct snippet_source *source, size_t *written, struct err *err)
{
    static const struct snippet_source request;
    struct writing writing = {.store = store,
                              .parts = parts,
                              .count = count,
                              .source = source ? source : &request,
                              .changes = SNIPPET_CHANGES_INIT};
    int rc = store_write(store, write_rows, &writing, err);

    buf_release(&writing.changes.list);
    if (written)
        *written = rc ? 0 : writing.written;
    return rc;
}

int snippet_rows_write(struct store *store, const struct snippet_row *rows, size_t count,
                       const struct snippet_source *source, size_t *written, struct err *err)
{
    const struct snippet_part part = {.rows = rows, .count = count};

    return snippet_rows_write_parts(store, &part, 1, source, written, err);
}

struct loading {
    struct store *store;
    const struct snippet_row *rows;
    size_t count;
    int64_t generation;
    size_t written;
};

static int load_rows(struct store_tx *tx, void *arg, struct err *err)
{
    struct loading *loading = arg;
    struct snippet_source source = {0};
    struct generations generations;
    int64_t changed = 0;
    int rc = 0;

    loading->written = 0;
    for (size_t i = 0; i < loading->count && !rc; i++) {
        const struct snippet_row *row = &loading->rows[i];

        if (i == 0 || row->prefix != loading->rows[i - 1].prefix)
            rc = find_generations(tx, row->prefix, &generations, err);
        if (!rc && generations.loading != loading->generation)
            return err_set(err, ERR_STALE, "another load has begun, or this one was given up");
        source.first_us = generations.begun_us;
        if (!rc)
            rc = put_row(tx, loading->store, &source, row, (struct place){loading->generation, 0},
                         &changed, err);
        loading->written += !rc && changed > 0;
    }
    return rc;
}

int snippet_rows_load(struct store *store, const struct snippet_row *rows, size_t count,
                      int64_t generation, size_t *written, struct err *err)
{
    struct loading loading = {
        .store = store, .rows = rows, .count = count, .generation = generation};
    int rc = store_write(store, load_rows, &loading, err);

    *written = rc ? 0 : loading.written;
    return rc;
}

/* --- reading --- */

static void take_row(const struct store_value *columns, struct arena *arena,
                     struct snippet_row *row)
{
    *row = (struct snippet_row){.prefix = columns[0].integer,
                                .key = arena_copy(arena, columns[1].bytes),
                                .language = arena_copy(arena, columns[2].bytes),
                                .body = arena_copy(arena, columns[3].bytes),
                                .written_us = columns[4].integer,
                                .end_us = columns[5].integer};
}

int snippet_rows_get(struct store *store, int64_t prefix, struct bytes key, struct bytes language,
                     struct arena *arena, struct snippet_row *row, bool *found, struct err *err)
{
    struct store_rows rows = store_read_rows(
        store,
        "SELECT prefix, record_key, language, body, written_us, end_us FROM snippet "
        "WHERE prefix = $1 AND record_key = $2 AND language = $3 AND " SNIPPET_ROW_IS_SHOWN
        " AND body IS NOT NULL AND end_us > $4",
        STORE_WITH(STORE_V_INT(prefix), STORE_V_TEXT(key), STORE_V_TEXT(language),
                   STORE_V_INT(clock_wall_us(store_clock(store)))));

    *found = store_next(&rows);
    if (*found)
        take_row(rows.columns, arena, row);
    return store_rows_end(&rows, err);
}

/* The rows of up to PREFIXES_AT_ONCE and KEYS_AT_ONCE: what is missing to a round number of either
 * is filled with the last, so that there are few statements to prepare. */
struct batch {
    char sql[2048];
    struct store_value values[PREFIXES_AT_ONCE + KEYS_AT_ONCE + 2];
    size_t value_count;
};

static size_t round_up(size_t count)
{
    size_t rounded = 1;

    while (rounded < count)
        rounded *= 2;
    return rounded;
}

static void put_places(struct buf *sql, size_t first, size_t count)
{
    size_t i;

    for (i = 0; i < count; i++)
        buf_printf(sql, "%s$%zu", i ? ", " : "", first + i);
}

static void fill_batch(struct batch *batch, const int64_t *prefixes, size_t prefix_count,
                       const struct bytes *keys, size_t key_count, struct bytes language,
                       int64_t now_us)
{
    struct buf sql = BUF_INIT(sizeof(batch->sql) - 1);
    size_t prefix_places = round_up(prefix_count), key_places = round_up(key_count), i;

    assert(prefix_places <= PREFIXES_AT_ONCE && key_places <= KEYS_AT_ONCE);
    batch->value_count = 0;
    batch->values[batch->value_count++] = STORE_V_TEXT(language);
    batch->values[batch->value_count++] = STORE_V_INT(now_us);
    for (i = 0; i < prefix_places; i++)
        batch->values[batch->value_count++] =
            STORE_V_INT(prefixes[i < prefix_count ? i : prefix_count - 1]);
    for (i = 0; i < key_places; i++)
        batch->values[batch->value_count++] = STORE_V_TEXT(keys[i < key_count ? i : key_count - 1]);
    buf_put_text(&sql, "SELECT prefix, record_key, language, body, written_us, end_us FROM snippet "
                       "WHERE prefix IN (");
    put_places(&sql, 3, prefix_places);
    buf_put_text(&sql, ") AND record_key IN (");
    put_places(&sql, 3 + prefix_places, key_places);
    buf_put_text(&sql, ") AND language IN ('', $1) AND " SNIPPET_ROW_IS_SHOWN
                       " AND body IS NOT NULL AND end_us > $2");
    assert(!buf_failed(&sql));
    memcpy(batch->sql, buf_text(&sql), sql.size + 1);
    buf_release(&sql);
}

int snippet_rows_too_large(struct err *err)
{
    return err_set(err, ERR_LIMIT,
                   "these snippets have more than %d bytes (SNIPPET_BATCH_SIZE_MAX): ask for fewer "
                   "at once",
                   SNIPPET_BATCH_SIZE_MAX);
}

struct batch_rows {
    struct arena *arena;
    struct snippet_row *list;
    size_t count, capacity, size;
};

static int take_rows(struct store *store, const struct batch *batch, struct batch_rows *result,
                     struct err *err)
{
    struct store_rows rows = store_read_rows(store, batch->sql, batch->values, batch->value_count);

    while (store_next(&rows)) {
        if (result->count == result->capacity) {
            struct snippet_row *old = result->list;

            result->capacity = result->capacity * 2 + 64;
            result->list = arena_array(result->arena, result->capacity, sizeof(*old));
            if (result->count)
                memcpy(result->list, old, result->count * sizeof(*old));
        }
        take_row(rows.columns, result->arena, &result->list[result->count]);
        result->size += result->list[result->count++].body.size;
        if (result->size > SNIPPET_BATCH_SIZE_MAX)
            rows.rc = snippet_rows_too_large(err);
    }
    return store_rows_end(&rows, err);
}

int snippet_rows_batch(struct store *store, const int64_t *prefixes, size_t prefix_count,
                       const struct bytes *keys, size_t key_count, struct bytes language,
                       struct arena *arena, struct snippet_row **rows, size_t *count,
                       struct err *err)
{
    struct batch_rows result = {.arena = arena};
    int64_t now_us = clock_wall_us(store_clock(store));
    struct batch batch;
    size_t i, k;
    int rc = 0;

    for (i = 0; i < prefix_count && !rc; i += PREFIXES_AT_ONCE) {
        size_t some = prefix_count - i < PREFIXES_AT_ONCE ? prefix_count - i : PREFIXES_AT_ONCE;

        for (k = 0; k < key_count && !rc; k += KEYS_AT_ONCE) {
            size_t few = key_count - k < KEYS_AT_ONCE ? key_count - k : KEYS_AT_ONCE;

            fill_batch(&batch, prefixes + i, some, keys + k, few, language, now_us);
            rc = take_rows(store, &batch, &result, err);
        }
    }
    *rows = result.list;
    *count = rc ? 0 : result.count;
    return rc;
}

/* --- keeping --- */

struct sweep {
    int64_t now_us;
    int64_t count;
};

static int sweep_rows(struct store_tx *tx, void *arg, struct err *err)
{
    struct sweep *sweep = arg;

    return store_exec(tx,
                      "DELETE FROM snippet WHERE (prefix, record_key, language, generation) IN "
                      "(SELECT prefix, record_key, language, generation FROM snippet "
                      "WHERE end_us < 9223372036854775807 AND end_us <= $1 "
                      "ORDER BY end_us LIMIT $2)",
                      STORE_WITH(STORE_V_INT(sweep->now_us), STORE_V_INT(SNIPPET_SWEEP_COUNT)),
                      &sweep->count, err);
}

int snippet_rows_sweep(struct store *store, int64_t now_us, size_t *count, struct err *err)
{
    struct sweep sweep = {.now_us = now_us};
    int rc = store_write(store, sweep_rows, &sweep, err);

    *count = rc ? 0 : (size_t)sweep.count;
    return rc;
}

int snippet_rows_count(struct store *store, int64_t prefix, int64_t max, int64_t *count,
                       struct err *err)
{
    *count = 0;
    return store_read_integer(store,
                              "SELECT COUNT(*) FROM (SELECT 1 AS one FROM snippet "
                              "WHERE prefix = $1 LIMIT $2) AS some",
                              STORE_WITH(STORE_V_INT(prefix), STORE_V_INT(max)), count, err);
}
