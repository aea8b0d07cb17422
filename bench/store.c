/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench/store.c - the publish transaction of offers, durable, by many callers; reads by key.
 *
 * The same function runs through store.h on SQLite, on PostgreSQL as the store uses it
 * (SERIALIZABLE), and on PostgreSQL at READ COMMITTED, which promises less and is what the figure
 * is compared with: the faster of the two counts. Rounds are interleaved, medians are told, and
 * the last line is for machines.
 *
 * usage: bench-store SQLITE_URL [POSTGRES_URL]
 * TORG_BENCH_ROWS, _SECONDS, _ROUNDS, _CALLERS, _CONNECTIONS change the defaults.
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "base/clock.h"
#include "base/endian.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/random.h"
#include "base/text.h"
#include "store/migrate.h"
#include "store/sequence.h"
#include "store/store.h"

enum {
    BODY_SIZE = 2048,
    ID_SIZE = 16,
    SELLER_COUNT = 2000,
    SHARD_COUNT = 256,
    TOTAL_SPREAD = 10,
    LOAD_BATCH = 250,
    SAMPLE_COUNT_MAX = 1 << 20,
    ROUND_COUNT_MAX = 15,
    CALLER_COUNT_MAX = 256,
};

struct settings {
    uint64_t rows;
    uint64_t seconds;
    uint64_t rounds;
    uint64_t callers;
    uint64_t connections;
};

static struct settings settings = {
    .rows = 100000, .seconds = 4, .rounds = 3, .callers = 64, .connections = 16};

static const char *const schema[] = {
    "CREATE TABLE bench_offer (id TEXT, kind BIGINT, seller TEXT NOT NULL, revision BIGINT "
    "NOT NULL, updated_us BIGINT NOT NULL, body BYTEA NOT NULL, PRIMARY KEY (id, kind))",
    "CREATE TABLE bench_preset (seller TEXT, preset BIGINT, updated_us BIGINT, id TEXT, "
    "PRIMARY KEY (seller, preset, updated_us, id))",
    "CREATE TABLE bench_preset_count (seller TEXT, preset BIGINT, n BIGINT NOT NULL, "
    "PRIMARY KEY (seller, preset))",
    "CREATE TABLE bench_queue (shard BIGINT, seq BIGINT, id TEXT NOT NULL, at_us BIGINT NOT NULL, "
    "PRIMARY KEY (shard, seq))",
    "CREATE TABLE bench_total (seller TEXT, counter BIGINT, seq_no BIGINT, "
    "n BIGINT NOT NULL, PRIMARY KEY (seller, counter, seq_no))",
};

/* ---- the transaction ---- */

struct publish {
    char id[ID_SIZE + 1];
    char seller[ID_SIZE];
    int64_t shard;
    int64_t spread;
    int64_t at_us;
    uint8_t body[BODY_SIZE];
};

/* The id of the number-th loaded or written offer: looks random, can be asked for again. */
static void id_of(uint64_t number, char id[ID_SIZE + 1])
{
    uint8_t bytes[8];

    put_le64(bytes, number);
    snprintf(id, ID_SIZE + 1, "%016" PRIx64, hash64(bytes_make(bytes, sizeof(bytes))));
}

static void publish_make(struct publish *publish, uint64_t number, struct rng *rng)
{
    uint64_t seller = rng_below(rng, SELLER_COUNT);

    id_of(number, publish->id);
    snprintf(publish->seller, sizeof(publish->seller), "s%06" PRIu64, seller);
    publish->shard = (int64_t)(seller % SHARD_COUNT);
    publish->spread = (int64_t)rng_below(rng, TOTAL_SPREAD);
    publish->at_us = clock_wall_us(clock_system());
    put_le64(publish->body, rng_next(rng));
}

static int publish_fn(struct store_tx *tx, void *arg, struct err *err)
{
    const struct publish *publish = arg;
    const struct store_value id = STORE_V_TEXT(bytes_of(publish->id));
    const struct store_value seller = STORE_V_TEXT(bytes_of(publish->seller));
    const struct store_value at = STORE_V_INT(publish->at_us);
    const struct store_value offer[] = {id, seller, at,
                                        STORE_V_BLOB(bytes_make(publish->body, BODY_SIZE))};
    const struct store_value preset[] = {seller, at, id};
    const struct store_value total[] = {seller, STORE_V_INT(publish->spread)};
    char sequence[32];
    int64_t seq;
    int rc;

    snprintf(sequence, sizeof(sequence), "queue/%" PRId64, publish->shard);
    rc = store_exec(tx,
                    "INSERT INTO bench_offer (id, kind, seller, revision, updated_us, body) "
                    "VALUES ($1, 0, $2, 1, $3, $4) ON CONFLICT (id, kind) DO UPDATE SET "
                    "revision = bench_offer.revision + 1, updated_us = excluded.updated_us, "
                    "body = excluded.body",
                    offer, 4, NULL, err);
    if (rc == 0)
        rc = store_exec(tx,
                        "INSERT INTO bench_preset (seller, preset, updated_us, id) "
                        "VALUES ($1, 1, $2, $3)",
                        preset, 3, NULL, err);
    if (rc == 0)
        rc = store_exec(tx,
                        "INSERT INTO bench_preset_count (seller, preset, n) VALUES ($1, 1, 1) "
                        "ON CONFLICT (seller, preset) DO UPDATE SET "
                        "n = bench_preset_count.n + 1",
                        &seller, 1, NULL, err);
    if (rc == 0)
        rc = store_exec(tx,
                        "INSERT INTO bench_total (seller, counter, seq_no, n) "
                        "VALUES ($1, 1, $2, 1) ON CONFLICT (seller, counter, seq_no) "
                        "DO UPDATE SET n = bench_total.n + 1",
                        total, 2, NULL, err);
    if (rc == 0)
        rc = store_next_seq(tx, sequence, 1, &seq, err);
    if (rc == 0) {
        const struct store_value queue[] = {STORE_V_INT(publish->shard), STORE_V_INT(seq), id, at};

        rc = store_exec(tx,
                        "INSERT INTO bench_queue (shard, seq, id, at_us) VALUES ($1, $2, $3, $4)",
                        queue, 4, NULL, err);
    }
    return rc;
}

/* ---- a store under test ---- */

struct subject {
    const char *name;
    struct store *store;
    _Atomic uint64_t next; /* number of the next offer */
    double rates[ROUND_COUNT_MAX];
    double p50_ms[ROUND_COUNT_MAX];
    double p99_ms[ROUND_COUNT_MAX];
    double reads[ROUND_COUNT_MAX];
    double write_cpu_us[ROUND_COUNT_MAX]; /* of this process, a transaction */
    double read_cpu_us[ROUND_COUNT_MAX];
};

static void check(int rc, const char *what, const struct err *err)
{
    if (rc) {
        fprintf(stderr, "bench-store: %s: %s\n", what, err->text);
        exit(1);
    }
}

static int schema_fn(struct store_tx *tx, void *arg, struct err *err)
{
    size_t i;
    int rc = 0;

    for (i = 0; i < ARRAY_COUNT(schema) && rc == 0; i++)
        rc = store_exec(tx, schema[i], NULL, 0, NULL, err);
    return rc;
}

struct load {
    uint64_t from;
    uint64_t to;
    struct publish publish;
};

static int load_fn(struct store_tx *tx, void *arg, struct err *err)
{
    struct load *load = arg;
    struct rng rng = rng_seeded(load->from);
    uint64_t number;
    int rc = 0;

    for (number = load->from; number < load->to && rc == 0; number++) {
        publish_make(&load->publish, number, &rng);
        rc = publish_fn(tx, &load->publish, err);
    }
    return rc;
}

static void load_rows(struct subject *subject)
{
    struct rng rng = rng_seeded(1);
    struct load load = {0};
    struct err err;
    uint64_t done;
    size_t i;

    for (i = 0; i < BODY_SIZE; i++)
        load.publish.body[i] = (uint8_t)rng_next(&rng);
    check(store_migrate(subject->store, NULL, &err), "migrate", &err);
    check(store_write(subject->store, schema_fn, NULL, &err), "schema", &err);
    for (done = 0; done < settings.rows; done = load.to) {
        load.from = done;
        load.to = done + LOAD_BATCH < settings.rows ? done + LOAD_BATCH : settings.rows;
        check(store_write(subject->store, load_fn, &load, &err), "load", &err);
    }
    subject->next = settings.rows;
}

/* ---- writing ---- */

struct caller {
    struct subject *subject;
    pthread_t thread;
    int64_t deadline_us;
    uint64_t seed;
    uint64_t count;
    int64_t *samples; /* owned, shared by all callers of a round: each has its part */
    size_t sample_max;
};

static void *call_until_deadline(void *arg)
{
    struct caller *caller = arg;
    struct rng rng = rng_seeded(caller->seed);
    struct publish publish;
    struct err err;
    size_t i;

    for (i = 0; i < BODY_SIZE; i++)
        publish.body[i] = (uint8_t)rng_next(&rng);
    for (;;) {
        int64_t start = clock_mono_us(clock_system());

        if (start > caller->deadline_us)
            return NULL;
        publish_make(&publish, atomic_fetch_add(&caller->subject->next, 1), &rng);
        check(store_write(caller->subject->store, publish_fn, &publish, &err), "publish", &err);
        if (caller->count < caller->sample_max)
            caller->samples[caller->count] = clock_mono_us(clock_system()) - start;
        caller->count++;
    }
}

static int compare_samples(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a;
    int64_t y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

static int compare_reals(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;

    return (x > y) - (x < y);
}

static double median(const double *values, size_t count)
{
    double sorted[ROUND_COUNT_MAX];

    memcpy(sorted, values, count * sizeof(sorted[0]));
    qsort(sorted, count, sizeof(sorted[0]), compare_reals);
    return count % 2 ? sorted[count / 2] : (sorted[count / 2 - 1] + sorted[count / 2]) / 2;
}

/* Time on processors, all threads: a busy neighbour changes it less than it changes rates. */
static double cpu_us(void)
{
    struct rusage usage;

    getrusage(RUSAGE_SELF, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * SECOND_US +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

static void write_round(struct subject *subject, size_t round)
{
    double cpu = cpu_us();
    static struct caller callers[CALLER_COUNT_MAX];
    size_t sample_max = SAMPLE_COUNT_MAX / settings.callers;
    int64_t *samples = mem_array(SAMPLE_COUNT_MAX, sizeof(samples[0]));
    int64_t start = clock_mono_us(clock_system());
    uint64_t count = 0;
    size_t kept = 0;
    double seconds;
    size_t i;

    for (i = 0; i < settings.callers; i++) {
        callers[i] = (struct caller){.subject = subject,
                                     .deadline_us = start + (int64_t)settings.seconds * SECOND_US,
                                     .seed = round * CALLER_COUNT_MAX + i + 7,
                                     .samples = samples + i * sample_max,
                                     .sample_max = sample_max};
        if (pthread_create(&callers[i].thread, NULL, call_until_deadline, &callers[i]))
            exit(1);
    }
    for (i = 0; i < settings.callers; i++) {
        size_t own;

        pthread_join(callers[i].thread, NULL);
        count += callers[i].count;
        own = callers[i].count < sample_max ? callers[i].count : sample_max;
        memmove(samples + kept, callers[i].samples, own * sizeof(samples[0]));
        kept += own;
    }
    seconds = (double)(clock_mono_us(clock_system()) - start) / SECOND_US;
    qsort(samples, kept, sizeof(samples[0]), compare_samples);
    subject->rates[round] = (double)count / seconds;
    subject->write_cpu_us[round] = (cpu_us() - cpu) / (double)count;
    subject->p50_ms[round] = (double)samples[kept / 2] / MS_US;
    subject->p99_ms[round] = (double)samples[kept * 99 / 100] / MS_US;
    free(samples);
}

/* ---- reading ---- */

struct lookup {
    char id[ID_SIZE + 1];
    size_t size;
};

static int lookup_fn(struct store_tx *tx, void *arg, struct err *err)
{
    struct lookup *lookup = arg;
    struct store_rows rows =
        store_select(tx, "SELECT revision, body FROM bench_offer WHERE id = $1 AND kind = 0",
                     &STORE_V_TEXT(bytes_make(lookup->id, ID_SIZE)), 1);

    if (store_next(&rows))
        lookup->size = rows.columns[1].bytes.size;
    return store_rows_end(&rows, err);
}

static void read_round(struct subject *subject, size_t round)
{
    struct rng rng = rng_seeded(round + 1);
    int64_t start = clock_mono_us(clock_system());
    int64_t deadline = start + (int64_t)settings.seconds * SECOND_US / 2;
    double cpu = cpu_us();
    uint64_t count = 0;
    struct err err;

    while (count % 64 || clock_mono_us(clock_system()) < deadline) {
        struct lookup lookup = {.size = 0};

        id_of(rng_below(&rng, settings.rows), lookup.id);
        check(store_read(subject->store, lookup_fn, &lookup, &err), "read", &err);
        if (lookup.size != BODY_SIZE) {
            fprintf(stderr, "bench-store: offer %s is not there\n", lookup.id);
            exit(1);
        }
        count++;
    }
    subject->reads[round] =
        (double)count * SECOND_US / (double)(clock_mono_us(clock_system()) - start);
    subject->read_cpu_us[round] = (cpu_us() - cpu) / (double)count;
}

/* ---- main ---- */

static void setting(const char *name, uint64_t *value, uint64_t max)
{
    const char *text = getenv(name);

    if (text && (!text_to_u64(bytes_of(text), value) || *value < 1 || *value > max)) {
        fprintf(stderr, "bench-store: %s=%s: a number up to %" PRIu64 "\n", name, text, max);
        exit(2);
    }
}

static struct store *open_subject(const char *url, bool read_committed)
{
    struct store_options options = {.connection_count = (unsigned)settings.connections,
                                    .read_committed = read_committed};
    struct store *store;
    struct err err;

    check(store_open_with(url, &options, &store, &err), "open", &err);
    return store;
}

static void print_subject(const struct subject *subject)
{
    printf(
        "%-24s %8.0f tx/s  %4.0f us CPU  p50 %6.1f ms  p99 %6.1f ms  %8.0f reads/s  %5.1f us CPU\n",
        subject->name, median(subject->rates, settings.rounds),
        median(subject->write_cpu_us, settings.rounds), median(subject->p50_ms, settings.rounds),
        median(subject->p99_ms, settings.rounds), median(subject->reads, settings.rounds),
        median(subject->read_cpu_us, settings.rounds));
}

static void print_line(const struct subject *subjects, size_t count)
{
    double sqlite = median(subjects[0].rates, settings.rounds);

    printf("bench=store rows=%" PRIu64 " callers=%" PRIu64 " sqlite_tx_s=%.0f sqlite_p50_ms=%.2f "
           "sqlite_p99_ms=%.2f sqlite_reads_s=%.0f",
           settings.rows, settings.callers, sqlite, median(subjects[0].p50_ms, settings.rounds),
           median(subjects[0].p99_ms, settings.rounds), median(subjects[0].reads, settings.rounds));
    if (count == 3) {
        double serializable = median(subjects[1].rates, settings.rounds);
        double committed = median(subjects[2].rates, settings.rounds);
        double faster = serializable > committed ? serializable : committed;

        printf(" postgres_connections=%" PRIu64 " postgres_serializable_tx_s=%.0f "
               "postgres_serializable_p99_ms=%.2f postgres_committed_tx_s=%.0f "
               "postgres_committed_p99_ms=%.2f postgres_reads_s=%.0f ratio_serializable=%.2f "
               "ratio=%.2f",
               settings.connections, serializable, median(subjects[1].p99_ms, settings.rounds),
               committed, median(subjects[2].p99_ms, settings.rounds),
               median(subjects[1].reads, settings.rounds), sqlite / serializable, sqlite / faster);
    }
    printf("\n");
}

int main(int argc, char **argv)
{
    static struct subject subjects[3] = {
        {.name = "sqlite"}, {.name = "postgres serializable"}, {.name = "postgres read committed"}};
    size_t count = argc > 2 ? 3 : 1;
    size_t round;
    size_t i;

    if (argc < 2) {
        fprintf(stderr, "usage: bench-store SQLITE_URL [POSTGRES_URL]\n");
        return 2;
    }
    setting("TORG_BENCH_ROWS", &settings.rows, 100000000);
    setting("TORG_BENCH_SECONDS", &settings.seconds, 600);
    setting("TORG_BENCH_ROUNDS", &settings.rounds, ROUND_COUNT_MAX);
    setting("TORG_BENCH_CALLERS", &settings.callers, CALLER_COUNT_MAX);
    setting("TORG_BENCH_CONNECTIONS", &settings.connections, 200);
    log_setup(LOG_FORMAT_AUTO, LOG_LEVEL_WARN, 2);
    for (i = 0; i < count; i++)
        subjects[i].store = open_subject(argv[i ? 2 : 1], i == 2);
    for (i = 0; i < count && i < 2; i++)
        load_rows(&subjects[i]);
    for (round = 0; round < settings.rounds; round++) {
        for (i = 0; i < count; i++) {
            if (i == 2) /* the same tables: the two go on from one another */
                subjects[2].next = subjects[1].next;
            write_round(&subjects[i], round);
            if (i == 2)
                subjects[1].next = subjects[2].next;
        }
        for (i = 0; i < count; i++)
            read_round(&subjects[i], round);
    }
    printf("CPU is this process's: of PostgreSQL the client side only\n");
    for (i = 0; i < count; i++)
        print_subject(&subjects[i]);
    print_line(subjects, count);
    for (i = 0; i < count; i++)
        store_close(subjects[i].store);
    return 0;
}
