/* SPDX-License-Identifier: Apache-2.0 */
/* batch.c - see batch.h. */
#include "numerator/batch.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "base/text.h"
#include "numerator/bounds.h"
#include "numerator/docs_table.h"
#include "numerator/key_columns.h"
#include "numerator/table.h"

enum {
    SEE_COUNT = 256,       /* keys seen at once */
    PROGRESS_COUNT = 4096, /* rows between two looks at how far it is */
};

struct running {
    const struct number_batch *batch;
    struct number_batch_result *result;
    struct number_run_options options;
    struct table_reader *offers;
    struct key_columns keys;
    int shop_at, class_at, rank_at; /* of a row's cells; -1: none */
    uint32_t cell_count;
    struct number_present *seen; /* owned: SEE_COUNT */
    uint32_t seen_count;
    struct buf bytes;
    struct docs_table *new_docs, *expired_docs;
    uint32_t lineage; /* of the state that went in */
    uint64_t changes; /* a hash of all that changed, in its order */
};

/* --- what goes in --- */

static int check_state(const struct running *running, const struct number_state *state,
                       struct err *err)
{
    const struct number_batch *batch = running->batch;
    struct number_version version = number_state_version(state);
    struct bytes parts[NUMBER_KEY_PART_MAX];
    uint32_t count;

    if (batch->kind > 0 && batch->kind != version.kind)
        return err_set(err, ERR_PRECONDITION, "the state's type is %" PRIu32 ", not %" PRIu32,
                       version.kind, batch->kind);
    if (number_state_key_count(state) == 0)
        return 0;
    count = number_key_split(number_state_entry(state, 0).key, parts);
    if (count == running->keys.count)
        return 0;
    return err_set(err, ERR_PRECONDITION,
                   "keys of the state have %" PRIu32 " parts, those of the offers %" PRIu32
                   ": name the columns of the key",
                   count, running->keys.count);
}

static struct number_state *first_state(const struct number_batch *batch, struct err *err)
{
    const struct number_version version = {
        .kind = batch->kind ? batch->kind : 1,
        .scheme = batch->scheme ? batch->scheme : 1,
    };
    const struct number_rules rules = {.ttl_generations = NUMBER_TTL_DEFAULT,
                                       .hold_generations = NUMBER_HOLD_DEFAULT};
    uint32_t shard_count = number_scheme_shard_count(version.scheme);

    if (shard_count > 0)
        return number_state_new(&version, shard_count, &rules);
    err_set(err, ERR_INVALID, "there is no sharding scheme %" PRIu32, version.scheme);
    return NULL;
}

static int load_state(struct running *running, struct err *err)
{
    const struct number_batch *batch = running->batch;
    struct number_state **state = &running->result->state;
    struct number_rules rules;
    int rc;

    if (batch->input_state) {
        rc = number_state_load(batch->input_state, batch->blob, state, err);
        if (rc)
            return rc;
        rc = check_state(running, *state, err);
        if (rc)
            return err_wrap(err, "%s", batch->input_state);
    } else {
        *state = first_state(batch, err);
        if (!*state)
            return ERR_INVALID;
    }
    rules = number_state_rules(*state);
    if (batch->ttl >= 0)
        rules.ttl_generations = (uint32_t)batch->ttl;
    if (batch->hold >= 0)
        rules.hold_generations = (uint32_t)batch->hold;
    number_state_set_rules(*state, &rules);
    running->result->before = number_state_version(*state);
    running->lineage = number_state_lineage(*state);
    return 0;
}

static int take_shop(struct number_shops *shops, const struct bytes cells[2], struct err *err)
{
    uint64_t shard;

    if (cells[0].size == 0)
        return err_set(err, ERR_INVALID, "a shop without its id");
    if (!text_to_u64(cells[1], &shard) || shard >= NUMBER_SHARD_COUNT_MAX)
        return err_set(err, ERR_INVALID, "shard_id \"%.*s\": expected 0 to %d", BYTES_ARG(cells[1]),
                       NUMBER_SHARD_COUNT_MAX - 1);
    number_shops_add(shops, cells[0], (uint32_t)shard);
    return 0;
}

static int load_shops(struct running *running, struct number_shops *shops, struct err *err)
{
    static const char *const columns[] = {"shop_id", "shard_id"};
    struct table_reader *reader = NULL;
    struct bytes cells[2];
    bool found = true;
    int rc;

    rc = table_reader_open(running->batch->input_shops, running->batch->blob, &reader, err);
    if (rc == 0)
        rc = table_pick(reader, columns, 2, err);
    while (rc == 0 && found) {
        rc = table_next(reader, cells, &found, err);
        if (rc || !found)
            continue;
        rc = take_shop(shops, cells, err);
        if (rc)
            table_wrap(reader, err);
    }
    table_reader_close(reader);
    return rc ? rc : number_shops_settle(shops, err);
}

/* Where the cell of a column is in a row; asks for it when the key has it not. */
static int cell_of(struct running *running, const char **picked, const char *column)
{
    for (uint32_t i = 0; i < running->cell_count; i++)
        if (strcmp(picked[i], column) == 0)
            return (int)i;
    picked[running->cell_count] = column;
    return (int)running->cell_count++;
}

static int open_offers(struct running *running, struct err *err)
{
    const struct number_batch *batch = running->batch;
    const char *picked[NUMBER_KEY_PART_MAX + 3];
    const char *shop = batch->shop_column ? batch->shop_column : "shop_id";
    int rc = table_reader_open(batch->input_offers, batch->blob, &running->offers, err);

    if (rc == 0)
        rc = key_columns_find(&running->keys, batch->key_columns, running->offers, err);
    if (rc)
        return rc;
    for (; running->cell_count < running->keys.count; running->cell_count++)
        picked[running->cell_count] = running->keys.names[running->cell_count];
    if (batch->shop_column || table_has_column(running->offers, shop))
        running->shop_at = cell_of(running, picked, shop);
    if (batch->class_column)
        running->class_at = cell_of(running, picked, batch->class_column);
    if (batch->rank_column)
        running->rank_at = cell_of(running, picked, batch->rank_column);
    return table_pick(running->offers, picked, running->cell_count, err);
}

/* --- rows --- */

static int read_rank(struct bytes cell, double *rank, struct err *err)
{
    char text[64], *end = text;

    if (cell.size > 0 && cell.size < sizeof(text)) {
        memcpy(text, cell.data, cell.size);
        text[cell.size] = 0;
        *rank = strtod(text, &end);
    }
    if (end == text || *end || !isfinite(*rank))
        return err_set(err, ERR_INVALID, "rank \"%.*s\": expected a number",
                       cell.size < 64 ? (int)cell.size : 64, (const char *)cell.data);
    return 0;
}

/* Where something lies in `bytes`, which moves until all keys of a batch are there. */
static struct bytes place_of(size_t at, size_t size)
{
    return bytes_make((const void *)(uintptr_t)at, size);
}

static struct bytes keep(struct running *running, struct bytes cell)
{
    size_t at = running->bytes.size;

    buf_put(&running->bytes, cell);
    return place_of(at, cell.size);
}

static int flush_seen(struct running *running, struct err *err)
{
    const uint8_t *base = running->bytes.data;
    int rc;

    for (uint32_t i = 0; i < running->seen_count; i++) {
        struct number_present *present = &running->seen[i];

        present->key.data = base + (uintptr_t)present->key.data;
        present->place.data = base + (uintptr_t)present->place.data;
        present->shop.data = base + (uintptr_t)present->shop.data;
    }
    rc = number_run_see(running->result->runner, running->seen, running->seen_count, err);
    running->seen_count = 0;
    buf_reset(&running->bytes);
    return rc ? table_wrap(running->offers, err) : 0;
}

static int take_row(struct running *running, const struct bytes *cells, struct err *err)
{
    struct number_present *present = &running->seen[running->seen_count];
    size_t at = running->bytes.size, size = 0;
    int rc = number_key_put(cells, running->keys.count, &running->bytes, err);

    for (uint32_t i = 0; i < running->keys.count; i++)
        size += cells[i].size;
    if (rc == 0 && size == 0)
        rc = err_set(err, ERR_INVALID, "all columns of the key are empty");
    if (rc)
        return rc;
    *present = (struct number_present){.key = place_of(at, running->bytes.size - at)};
    if (running->shop_at >= 0)
        present->shop = keep(running, cells[running->shop_at]);
    if (running->class_at >= 0)
        present->place = keep(running, cells[running->class_at]);
    if (running->bytes.size - at > NUMBER_ROW_SIZE_MAX || buf_failed(&running->bytes))
        return err_set(err, ERR_LIMIT, "key, shop and class of more than %d bytes",
                       NUMBER_ROW_SIZE_MAX);
    if (running->rank_at >= 0)
        rc = read_rank(cells[running->rank_at], &present->rank, err);
    running->seen_count++;
    return rc;
}

static void tell_progress(const struct running *running)
{
    uint64_t read_size, total_size;

    if (!running->batch->progress)
        return;
    table_progress(running->offers, &read_size, &total_size);
    running->batch->progress(running->batch->arg, read_size, total_size,
                             table_row_count(running->offers));
}

static int see_offers(struct running *running, struct err *err)
{
    struct bytes cells[NUMBER_KEY_PART_MAX + 3];
    bool found = true;
    int rc = 0;

    while (rc == 0 && found) {
        rc = table_next(running->offers, cells, &found, err);
        if (rc || !found)
            continue;
        rc = take_row(running, cells, err);
        if (rc)
            return table_wrap(running->offers, err);
        if (running->seen_count == SEE_COUNT)
            rc = flush_seen(running, err);
        if (table_row_count(running->offers) % PROGRESS_COUNT == 0)
            tell_progress(running);
    }
    if (rc == 0)
        rc = flush_seen(running, err);
    tell_progress(running);
    running->result->row_count = table_row_count(running->offers);
    return rc;
}

/* --- what comes out --- */

static uint64_t add_entry(uint64_t hash, uint32_t what, const struct number_entry *entry)
{
    const uint32_t numbers[] = {what, entry->shard, entry->doc_id, entry->birth};

    hash = hash64_seeded(bytes_make(numbers, sizeof(numbers)), hash);
    return hash64_seeded(entry->key, hash);
}

/* Follows from what the state was and what has changed in it, so that the same run gives the same
 * state, and another one, of the same T.S.V.G, another lineage. Where changes do not tell it all,
 * it follows from all keys. */
static void set_lineage(struct running *running)
{
    struct number_state *state = running->result->state;
    uint32_t before = running->lineage, lineage;
    bool is_whole = before == 0 || running->result->run.is_rebuilt;
    uint64_t hash = running->changes;

    if (memcmp(&running->result->after, &running->result->before, sizeof(running->result->after)) ==
        0)
        return; /* no generation was made: its numbers are what they were */
    for (uint64_t i = 0; is_whole && i < number_state_key_count(state); i++) {
        struct number_entry entry = number_state_entry(state, i);

        hash = add_entry(hash, NUMBER_EXPIRED + 1, &entry);
    }
    lineage = (uint32_t)hash64_seeded(bytes_make(&before, sizeof(before)), hash);
    number_state_set_lineage(state, lineage ? lineage : 1);
}

static int take_change(void *arg, enum number_change change, const struct number_entry *entry,
                       struct err *err)
{
    struct running *running = arg;
    struct docs_table *table = change == NUMBER_IS_NEW ? running->new_docs : running->expired_docs;

    running->changes = add_entry(running->changes, change, entry);
    return table ? docs_table_put(table, entry, err) : 0;
}

static int open_docs(struct running *running, struct err *err)
{
    const struct number_batch *batch = running->batch;
    int rc = 0;

    if (batch->new_docs)
        rc = docs_table_open(batch->new_docs, batch->blob, &running->keys, DOCS_BIRTH,
                             &running->new_docs, err);
    if (rc == 0 && batch->expired_docs)
        rc = docs_table_open(batch->expired_docs, batch->blob, &running->keys, DOCS_SEEN,
                             &running->expired_docs, err);
    return rc;
}

static int commit_docs(struct docs_table **table, struct err *err)
{
    struct docs_table *taken = *table;

    *table = NULL;
    return taken ? docs_table_commit(taken, err) : 0;
}

int number_batch_put_tables(struct number_batch_result *result, struct err *err)
{
    int rc = commit_docs(&result->new_docs, err);

    return rc ? rc : commit_docs(&result->expired_docs, err);
}

static int put_out(struct running *running, struct err *err)
{
    const struct number_batch *batch = running->batch;
    struct number_batch_result *result = running->result;
    struct outlet *out;
    int rc = 0;

    result->new_docs = running->new_docs;
    result->expired_docs = running->expired_docs;
    running->new_docs = running->expired_docs = NULL;
    if (!batch->keeps_tables)
        rc = number_batch_put_tables(result, err);
    if (rc == 0)
        rc = outlet_open(batch->output_state, batch->blob, &out, err);
    if (rc)
        return rc;
    number_state_put(result->state, out);
    return outlet_commit(out, err);
}

static int run(struct running *running, struct number_shops *shops, struct err *err)
{
    const struct number_batch *batch = running->batch;
    struct number_batch_result *result = running->result;
    int rc = open_offers(running, err);

    if (rc == 0)
        rc = load_state(running, err);
    if (rc == 0 && batch->input_shops)
        rc = load_shops(running, shops, err);
    if (rc)
        return rc;
    running->options = (struct number_run_options){
        .is_rebuild_forced = batch->is_rebuild_forced,
        .rebuild_floor = batch->rebuild_floor,
        .hole_share_max = batch->hole_share_max,
        .by_rank = batch->rank_column != NULL,
        .scheme = batch->scheme,
        .shops = batch->input_shops ? shops : NULL,
    };
    rc = number_run_begin(result->state, &running->options, &result->runner, err);
    if (rc == 0)
        rc = open_docs(running, err);
    if (rc == 0)
        rc = see_offers(running, err);
    if (rc == 0)
        rc = number_run_end(result->runner, take_change, running, &result->run, err);
    if (rc == 0)
        result->after = number_state_version(result->state);
    if (rc == 0)
        set_lineage(running);
    return rc ? rc : put_out(running, err);
}

int number_batch_run(const struct number_batch *batch, struct number_batch_result *result,
                     struct err *err)
{
    struct running running = {
        .batch = batch, .result = result, .shop_at = -1, .class_at = -1, .rank_at = -1};
    struct number_shops *shops = number_shops_new();
    int rc;

    assert(batch->input_offers && batch->output_state);
    *result = (struct number_batch_result){0};
    running.seen = mem_array(SEE_COUNT, sizeof(*running.seen));
    buf_init(&running.bytes, (size_t)SEE_COUNT * NUMBER_ROW_SIZE_MAX);
    rc = run(&running, shops, err);
    docs_table_abort(running.new_docs);
    docs_table_abort(running.expired_docs);
    table_reader_close(running.offers);
    number_shops_free(shops);
    key_columns_release(&running.keys);
    buf_release(&running.bytes);
    free(running.seen);
    return rc;
}

void number_batch_release(struct number_batch_result *result)
{
    docs_table_abort(result->new_docs);
    docs_table_abort(result->expired_docs);
    number_run_free(result->runner);
    number_state_free(result->state);
    *result = (struct number_batch_result){0};
}

int number_state_tabulate(const struct number_state *state, const char *names, const char *table,
                          struct blob *blob, struct err *err)
{
    struct key_columns keys;
    struct docs_table *docs = NULL;
    struct bytes parts[NUMBER_KEY_PART_MAX];
    uint32_t count = 1;
    int rc;

    if (number_state_key_count(state) > 0)
        count = number_key_split(number_state_entry(state, 0).key, parts);
    rc = key_columns_name(&keys, names, count, err);
    if (rc == 0)
        rc = docs_table_open(table, blob, &keys, DOCS_BIRTH | DOCS_SEEN, &docs, err);
    for (uint64_t i = 0; rc == 0 && i < number_state_key_count(state); i++) {
        struct number_entry entry = number_state_entry(state, i);

        rc = docs_table_put(docs, &entry, err);
    }
    if (rc == 0)
        rc = docs_table_commit(docs, err);
    else
        docs_table_abort(docs);
    key_columns_release(&keys);
    return rc;
}
