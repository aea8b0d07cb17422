/* SPDX-License-Identifier: Apache-2.0 */
/*
 * logs.c - the house's own durable things on the simulated disk: the store on SQLite and the
 * embedded topics, written by several threads at once, over many lives.
 *
 * What store_write and topic_produce have returned 0 for is there in the next life, in order, with
 * the bytes it had; so is what a consumer has committed. What was tried may be there or not. In
 * some seeds the disk fails now and then from some moment of each life on: who is told so writes no
 * more in that life, and a store that cannot sync its database ends it (sqlite_checkpointer.c).
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/random.h"
#include "base/task.h"
#include "sim.h"
#include "store/store.h"
#include "topic/topic.h"

enum {
    WRITER_COUNT = 4,
    PARTITION_COUNT = 3,
    LIFE_COUNT = 5,
    STEP_COUNT = 60,
    BATCH_MAX = 4,
    VALUE_SIZE_MAX = 3000,
    ILL_SHARE = 3, /* of so many seeds one has a disk that fails */
    IO_ERROR_RATE = 300000,
};

struct promised {
    struct {
        int64_t rows, rows_tried;        /* in the store */
        uint64_t records, records_tried; /* in the topic */
    } writers[WRITER_COUNT];
    uint64_t committed[PARTITION_COUNT];
};

static struct promised *promised;
static struct store *store;
static struct topics *topics;

static void must(int rc, const struct err *err, const char *what)
{
    if (rc)
        sim_fail("%s: %s", what, err->text);
}

/* False: the disk is ill. */
static bool done(int rc, const struct err *err, const char *what)
{
    if (!sim_faults()->io_error)
        must(rc, err, what);
    return !rc;
}

_Noreturn void __real_abort(void);
_Noreturn void __wrap_abort(void);

void __wrap_abort(void)
{
    if (strcmp(sim_task_name(), "store-wal") == 0 && sim_faults()->io_error)
        sim_end_life(SIM_END_KILL);
    __real_abort();
}

/* --- the store --- */

static int create(struct store_tx *tx, void *arg, struct err *err)
{
    return store_exec(
        tx,
        "CREATE TABLE IF NOT EXISTS row (writer BIGINT, number BIGINT, payload BYTEA, "
        "PRIMARY KEY (writer, number))",
        NULL, 0, NULL, err);
}

static int insert(struct store_tx *tx, void *arg, struct err *err)
{
    static const char payload[VALUE_SIZE_MAX];
    unsigned writer = *(unsigned *)arg;
    const struct store_value values[] = {STORE_V_INT(writer),
                                         STORE_V_INT(promised->writers[writer].rows_tried),
                                         STORE_V_BLOB(bytes_make(payload, (size_t)(writer * 700)))};

    return store_exec(tx, "INSERT INTO row (writer, number, payload) VALUES ($1, $2, $3)", values,
                      3, NULL, err);
}

static int check_rows(struct store_tx *tx, void *arg, struct err *err)
{
    for (unsigned i = 0; i < WRITER_COUNT; i++) {
        struct store_value writer = STORE_V_INT(i);
        int64_t count = 0, last = 0;
        int rc = store_find_integer(tx, "SELECT count(*) FROM row WHERE writer = $1", &writer, 1,
                                    &count, err);

        if (!rc)
            rc = store_find_integer(tx, "SELECT max(number) FROM row WHERE writer = $1", &writer, 1,
                                    &last, err);
        if (rc)
            return rc;
        if (count != last || last < promised->writers[i].rows ||
            last > promised->writers[i].rows_tried)
            sim_fail("writer %u has %jd rows up to %jd; %jd were promised, %jd tried", i,
                     (intmax_t)count, (intmax_t)last, (intmax_t)promised->writers[i].rows,
                     (intmax_t)promised->writers[i].rows_tried);
        promised->writers[i].rows = promised->writers[i].rows_tried = last;
    }
    return 0;
}

/* --- the topics --- */

static size_t make_value(unsigned writer, uint64_t number, char value[VALUE_SIZE_MAX])
{
    struct rng rng = rng_seeded(number * WRITER_COUNT + writer);
    size_t size = 40 + rng_below(&rng, VALUE_SIZE_MAX - 40);
    size_t i = (size_t)snprintf(value, VALUE_SIZE_MAX, "%u:%" PRIu64 ":", writer, number);

    for (; i < size; i++)
        value[i] = (char)('a' + i % 26);
    return size;
}

static void check_record(const struct topic_message *message, uint64_t next[WRITER_COUNT])
{
    static char wanted[VALUE_SIZE_MAX];
    unsigned writer = 0;
    uint64_t number = 0;

    if (message->value.size < 40 ||
        sscanf((const char *)message->value.data, "%u:%" SCNu64 ":", &writer, &number) != 2 ||
        writer >= WRITER_COUNT ||
        !bytes_equal(message->value, bytes_make(wanted, make_value(writer, number, wanted))))
        sim_fail("record %ju of partition %u is torn", (uintmax_t)message->offset,
                 message->partition);
    if (number > next[writer]) /* again is fine: it was produced again */
        sim_fail("record %ju of writer %u is missing: %ju follows", (uintmax_t)next[writer], writer,
                 (uintmax_t)number);
    if (number == next[writer])
        next[writer]++;
}

static void check_records(void)
{
    struct arena *arena = arena_new();
    uint64_t next[WRITER_COUNT] = {1, 1, 1, 1};
    const struct topic_message *messages;
    struct topic_lag lag;
    struct err err;
    size_t count;

    for (uint32_t partition = 0; partition < PARTITION_COUNT; partition++) {
        must(topic_lag(topics, "readers", "records", partition, &lag, &err), &err, "lag");
        for (uint64_t at = lag.first; at < lag.end; at += count) {
            must(topic_read(topics, "records", partition, at, 100, 0, arena, &messages, &count,
                            &err),
                 &err, "read");
            for (size_t i = 0; i < count; i++)
                check_record(&messages[i], next);
            arena_reset(arena);
        }
        if (lag.has_committed ? lag.committed < promised->committed[partition]
                              : promised->committed[partition] != 0)
            sim_fail("partition %u: %ju is committed, %ju was promised", partition,
                     (uintmax_t)(lag.has_committed ? lag.committed : 0),
                     (uintmax_t)promised->committed[partition]);
    }
    for (unsigned i = 0; i < WRITER_COUNT; i++) {
        if (next[i] <= promised->writers[i].records ||
            next[i] > promised->writers[i].records_tried + 1)
            sim_fail("writer %u has %ju records; %ju were promised, %ju tried", i,
                     (uintmax_t)next[i] - 1, (uintmax_t)promised->writers[i].records,
                     (uintmax_t)promised->writers[i].records_tried);
        promised->writers[i].records = promised->writers[i].records_tried = next[i] - 1;
    }
    arena_free(arena);
}

static bool produce(unsigned writer)
{
    static char values[WRITER_COUNT][BATCH_MAX][VALUE_SIZE_MAX];
    struct topic_record records[BATCH_MAX];
    size_t count = 1 + sim_below(BATCH_MAX);
    uint64_t first = promised->writers[writer].records + 1;
    char key[16];
    struct err err;

    snprintf(key, sizeof(key), "writer-%u", writer);
    for (size_t i = 0; i < count; i++) {
        size_t size = make_value(writer, first + i, values[writer][i]);

        records[i] = (struct topic_record){.key = bytes_of(key),
                                           .value = bytes_make(values[writer][i], size)};
    }
    promised->writers[writer].records_tried = first + count - 1;
    if (!done(topic_produce(topics, "records", records, count, NULL, &err), &err, "produce"))
        return false;
    promised->writers[writer].records = first + count - 1;
    return true;
}

static void consume(struct task *task, void *arg)
{
    static const char *const names[] = {"records"};
    const struct consumer_options options = {.group = "readers", .topics = names, .topic_count = 1};
    const struct topic_message *messages;
    struct consumer *consumer;
    struct err err;
    size_t count;

    must(consumer_open(topics, &options, &consumer, &err), &err, "consumer");
    while (!task_is_stopping(task)) {
        if (!done(consumer_poll(consumer, 100, &messages, &count, &err), &err, "poll"))
            break;
        if (!count)
            continue;
        if (!done(consumer_commit_polled(consumer, &err), &err, "commit"))
            break;
        for (size_t i = 0; i < count; i++)
            promised->committed[messages[i].partition] = messages[i].offset + 1;
    }
    consumer_close(consumer);
}

static void write_both(struct task *task, void *arg)
{
    unsigned writer = (unsigned)(uintptr_t)arg;
    struct err err;

    for (unsigned i = 0; i < sim_steps(); i++) {
        if (sim_below(2)) {
            if (!produce(writer))
                return;
            continue;
        }
        promised->writers[writer].rows_tried = promised->writers[writer].rows + 1;
        if (!done(store_write(store, insert, &writer, &err), &err, "write"))
            return;
        promised->writers[writer].rows++;
    }
}

static void fall_ill(struct task *task, void *arg)
{
    sim_pause_us((int64_t)sim_below(sim_steps() * 2500));
    sim_faults()->io_task = "store-wal"; /* others would soon write no more */
    sim_faults()->io_call = "sync";      /* and a checkpoint would not come so far */
    sim_faults()->io_error = IO_ERROR_RATE;
}

static void live(void *shared, unsigned life)
{
    const struct store_options options = {.wal_page_count = 64};
    const struct topic_config config = {.partition_count = PARTITION_COUNT};
    static struct task writers[WRITER_COUNT], reader, illness;
    struct task_options task = {.name = "reader", .run = consume, .clock = clock_system()};
    struct err err;

    promised = shared;
    must(store_open_with("sqlite:disk/store.db", &options, &store, &err), &err, "open");
    must(store_write(store, create, NULL, &err), &err, "create");
    must(store_read(store, check_rows, NULL, &err), &err, "rows");
    must(topics_open("file:disk/topics", NULL, &topics, &err), &err, "topics");
    must(topic_create(topics, "records", &config, &err), &err, "topic");
    check_records();
    if (life == LIFE_COUNT)
        return;
    sim_end_later(sim_chance(300000) ? SIM_END_KILL : SIM_END_POWER,
                  (int64_t)sim_below(sim_steps() * 5000));
    must(task_start(&reader, &task, &err), &err, "task");
    for (uintptr_t i = 0; i < WRITER_COUNT; i++) {
        task = (struct task_options){
            .name = "writer", .run = write_both, .arg = (void *)i, .clock = clock_system()};
        must(task_start(&writers[i], &task, &err), &err, "task");
    }
    if (sim_seed() % ILL_SHARE == 0 && sim_has("bad-disk")) {
        task = (struct task_options){.name = "illness", .run = fall_ill, .clock = clock_system()};
        must(task_start(&illness, &task, &err), &err, "task");
    }
    for (unsigned i = 0; i < WRITER_COUNT; i++)
        pthread_join(writers[i].thread, NULL);
    if (sim_seed() % ILL_SHARE == 0) /* nobody closes anything in order */
        sim_end_life(SIM_END_POWER);
    task_stop(&reader);
    topics_close(topics);
    store_close(store);
    sim_end_life(SIM_END_STOP);
}

int main(int argc, char **argv)
{
    static const struct sim_program program = {.name = "logs",
                                               .life = live,
                                               .shared_size = sizeof(struct promised),
                                               .step_count = STEP_COUNT,
                                               .life_count_max = LIFE_COUNT + 1};

    return sim_main(argc, argv, &program);
}
