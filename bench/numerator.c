/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench/numerator.c - what a batch of the numerator costs, beside a bare insert of the same keys
 * into a hash table in memory, and beside upserts of them into SQLite.
 *
 * A state of COUNT keys goes on by a table of as many offers, of which one in a hundred is new, as
 * many are gone and lose their numbers: read, joined, numbered, written and synced. The hash table
 * has its room from the beginning, and copies keys as any would. SQLite gets a part of the keys, in
 * one transaction, into a table that has all of those. Times are those of processors.
 *
 * usage: bench-numerator DIR [COUNT [SQLITE_COUNT]]
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/memory.h"
#include "numerator/batch.h"
#include "numerator/table.h"
#include "store/store.h"

enum { KEY_SIZE = 40, PATH_SIZE = 4096 };

struct bench {
    const char *dir;
    uint64_t count;
    uint64_t upsert_count;
    struct store *store;
};

static void die(const struct err *err)
{
    fprintf(stderr, "bench-numerator: %s\n", err->text);
    exit(1);
}

static double processor_s(void)
{
    struct timespec time;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static struct bytes key_of(uint64_t number, char text[KEY_SIZE])
{
    uint64_t mixed = hash64(bytes_make(&number, sizeof(number)));

    snprintf(text, KEY_SIZE, "offer-%016" PRIx64, mixed);
    return bytes_of(text);
}

/* Offers first to first + count, in an order that has nothing to do with their names. */
static void write_offers(const char *path, uint64_t first, uint64_t count)
{
    const struct table_column column = {"pk", TABLE_TEXT};
    struct table_writer *writer;
    char text[KEY_SIZE];
    struct err err;

    if (table_writer_open(path, NULL, &column, 1, &writer, &err))
        die(&err);
    for (uint64_t i = 0; i < count; i++) {
        struct table_cell cell = {.text = key_of(first + (i * 7919) % count, text)};

        table_put(writer, &cell);
    }
    if (table_commit(writer, &err))
        die(&err);
}

static double run_batch(const char *state, const char *offers, const char *out)
{
    const struct number_batch batch = {.input_state = state,
                                       .input_offers = offers,
                                       .output_state = out,
                                       .scheme = 16,
                                       .ttl = 0,
                                       .hold = -1};
    struct number_batch_result result;
    double begin_s = processor_s(), spent_s;
    struct err err;

    if (number_batch_run(&batch, &result, &err))
        die(&err);
    spent_s = processor_s() - begin_s;
    printf("%-16s %8.2f s, %6.1f ns a key; %" PRIu64 " kept, %" PRIu64 " new, %" PRIu64
           " expired\n",
           state ? "the next state" : "a first state", spent_s,
           spent_s * 1e9 / (double)result.row_count, result.run.kept_count, result.run.new_count,
           result.run.expired_count);
    number_batch_release(&result);
    return spent_s;
}

/* Keys, each with its number, into one array of bytes and one table. */
static double insert_bare(const char *offers, uint64_t count)
{
    static const char *const columns[] = {"pk"};
    struct {
        uint64_t at;
        uint32_t size, number;
    } * places;
    struct buf bytes = BUF_INIT(SIZE_MAX);
    struct table_reader *reader;
    uint64_t size = 2, done = 0, found = 0;
    uint32_t *table;
    bool is_there = true;
    double begin_s, spent_s = 0;
    struct err err;

    while (size < 2 * count)
        size *= 2;
    table = mem_array(size, sizeof(*table));
    places = mem_array(count, sizeof(*places));
    if (table_reader_open(offers, NULL, &reader, &err) || table_pick(reader, columns, 1, &err))
        die(&err);
    while (is_there) { /* the reading is not counted: pieces of keys in memory, then their insert */
        struct buf piece = BUF_INIT(SIZE_MAX);
        struct bytes keys[4096], cell;
        size_t ends[4096];
        uint32_t some = 0;

        for (; some < 4096 && is_there; some += is_there) {
            if (table_next(reader, &cell, &is_there, &err))
                die(&err);
            if (is_there) {
                buf_put(&piece, cell);
                ends[some] = piece.size;
            }
        }
        for (uint32_t i = 0; i < some; i++)
            keys[i] =
                bytes_make(piece.data + (i ? ends[i - 1] : 0), ends[i] - (i ? ends[i - 1] : 0));
        begin_s = processor_s();
        for (uint32_t i = 0; i < some; i++) {
            uint64_t at = hash64(keys[i]) & (size - 1);

            while (table[at] && !bytes_equal(bytes_make(bytes.data + places[table[at] - 1].at,
                                                        places[table[at] - 1].size),
                                             keys[i]))
                at = (at + 1) & (size - 1);
            if (table[at]) {
                found++;
                continue;
            }
            places[done].at = bytes.size;
            places[done].size = (uint32_t)keys[i].size;
            places[done].number = (uint32_t)done;
            buf_put(&bytes, keys[i]);
            table[at] = (uint32_t)++done;
        }
        spent_s += processor_s() - begin_s;
        buf_release(&piece);
    }
    printf("%-16s %8.2f s, %6.1f ns a key; %" PRIu64 " keys\n", "a bare insert", spent_s,
           spent_s * 1e9 / (double)count, done + found);
    table_reader_close(reader);
    buf_release(&bytes);
    free(table);
    free(places);
    return spent_s;
}

static int upsert(struct store_tx *tx, void *arg, struct err *err)
{
    const struct bench *bench = arg;
    char text[KEY_SIZE];
    int rc = 0;

    for (uint64_t i = 0; rc == 0 && i < bench->upsert_count; i++) {
        uint64_t number = (i * 7919) % bench->upsert_count;

        rc = store_exec(tx,
                        "INSERT INTO bench_number (key, shard, doc_id, birth, seen) "
                        "VALUES ($1, $2, $3, 1, 1) ON CONFLICT (key) DO UPDATE SET seen = seen + 1",
                        STORE_WITH(STORE_V_BLOB(key_of(number, text)), STORE_V_INT(number % 16),
                                   STORE_V_INT(number)),
                        NULL, err);
    }
    return rc;
}

static int make_table(struct store_tx *tx, void *arg, struct err *err)
{
    (void)arg;
    return store_exec(tx,
                      "CREATE TABLE bench_number (key BLOB PRIMARY KEY, shard INTEGER, doc_id "
                      "INTEGER, birth INTEGER, seen INTEGER) WITHOUT ROWID",
                      NULL, 0, NULL, err);
}

/* Seconds a key of the second time, when all keys are known. */
static double upsert_all(struct bench *bench)
{
    char url[PATH_SIZE];
    double begin_s, spent_s;
    struct err err;

    snprintf(url, sizeof(url), "sqlite:%s/store.db", bench->dir);
    if (store_open(url, &bench->store, &err) || store_write(bench->store, make_table, NULL, &err) ||
        store_write(bench->store, upsert, bench, &err))
        die(&err);
    begin_s = processor_s();
    if (store_write(bench->store, upsert, bench, &err))
        die(&err);
    spent_s = processor_s() - begin_s;
    printf("%-16s %8.2f s, %6.1f ns a key; %" PRIu64 " keys\n", "SQLite upserts", spent_s,
           spent_s * 1e9 / (double)bench->upsert_count, bench->upsert_count);
    store_close(bench->store);
    return spent_s / (double)bench->upsert_count;
}

int main(int argc, char **argv)
{
    struct bench bench = {.dir = argc > 1 ? argv[1] : NULL,
                          .count = argc > 2 ? strtoull(argv[2], NULL, 10) : 50000000};
    char first[PATH_SIZE], next[PATH_SIZE], one[PATH_SIZE], two[PATH_SIZE];
    double batch_s, bare_s, upsert_s;

    bench.upsert_count = argc > 3 ? strtoull(argv[3], NULL, 10) : bench.count;
    if (argc < 2 || bench.count < 100 || bench.upsert_count == 0) {
        fprintf(stderr, "usage: bench-numerator DIR [COUNT [SQLITE_COUNT]]\n");
        return 2;
    }
    log_setup(LOG_FORMAT_AUTO, LOG_LEVEL_WARN, 2);
    snprintf(first, sizeof(first), "%s/first.csv", bench.dir);
    snprintf(next, sizeof(next), "%s/next.csv", bench.dir);
    snprintf(one, sizeof(one), "%s/1.numbers", bench.dir);
    snprintf(two, sizeof(two), "%s/2.numbers", bench.dir);
    write_offers(first, 0, bench.count);
    write_offers(next, bench.count / 100, bench.count);
    run_batch(NULL, first, one);
    batch_s = run_batch(one, next, two);
    bare_s = insert_bare(next, bench.count);
    upsert_s = upsert_all(&bench);
    printf("the next state takes %.2f of a bare insert; SQLite %.1f of it\n", batch_s / bare_s,
           upsert_s * (double)bench.count / batch_s);
    return 0;
}
