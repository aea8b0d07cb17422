/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crash_store_writer URL RUN - writes until it is killed; tests/e2e/crash_store.py kills it.
 *
 * Several threads run transactions of several rows: `part` rows of one `tx`, each knowing how many
 * there are, and a count of all transactions. The number of a transaction is printed, in one
 * write(2), only after store_write has returned 0. Numbers never repeat: RUN is in them.
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/random.h"
#include "base/text.h"
#include "store/store.h"

enum { THREAD_COUNT = 6, PART_COUNT_MAX = 6, PAYLOAD_SIZE = 700 };

struct writer {
    struct store *store;
    int64_t next; /* number of the next transaction */
    struct rng rng;
    int64_t part_count;
};

static int write_parts(struct store_tx *tx, void *arg, struct err *err)
{
    static const uint8_t payload[PAYLOAD_SIZE];
    const struct writer *writer = arg;
    int64_t part;
    int rc = 0;

    for (part = 0; part < writer->part_count && rc == 0; part++) {
        const struct store_value params[] = {STORE_V_INT(writer->next), STORE_V_INT(part),
                                             STORE_V_INT(writer->part_count),
                                             STORE_V_BLOB(bytes_make(payload, sizeof(payload)))};

        rc = store_exec(tx,
                        "INSERT INTO part (tx, part, part_count, payload) VALUES ($1, $2, $3, $4)",
                        params, 4, NULL, err);
    }
    if (rc == 0)
        rc = store_exec(tx, "UPDATE total SET n = n + 1", NULL, 0, NULL, err);
    /* Some change their mind after writing: what they wrote must not show. */
    if (rc == 0 && writer->next % 16 == 0)
        rc = err_set(err, ERR_CANCELLED, "changed my mind");
    return rc;
}

static void *write_for_ever(void *arg)
{
    struct writer *writer = arg;
    struct err err;
    char line[32];
    int rc;

    for (;; writer->next++) {
        writer->part_count = 2 + (int64_t)rng_below(&writer->rng, PART_COUNT_MAX - 1);
        rc = store_write(writer->store, write_parts, writer, &err);
        if (rc == ERR_CANCELLED)
            continue;
        if (rc) {
            fprintf(stderr, "write: %s\n", err.text);
            exit(1);
        }
        snprintf(line, sizeof(line), "%" PRId64 "\n", writer->next);
        if (write(STDOUT_FILENO, line, strlen(line)) < 0)
            exit(1);
    }
    return NULL;
}

static int create(struct store_tx *tx, void *arg, struct err *err)
{
    static const char *const statements[] = {
        "CREATE TABLE IF NOT EXISTS part (tx BIGINT, part BIGINT, part_count BIGINT, "
        "payload BYTEA, PRIMARY KEY (tx, part))",
        "CREATE TABLE IF NOT EXISTS total (id BIGINT PRIMARY KEY, n BIGINT)",
        "INSERT INTO total (id, n) VALUES (1, 0) ON CONFLICT (id) DO NOTHING",
    };
    size_t i;
    int rc = 0;

    for (i = 0; i < sizeof(statements) / sizeof(statements[0]) && rc == 0; i++)
        rc = store_exec(tx, statements[i], NULL, 0, NULL, err);
    return rc;
}

int main(int argc, char **argv)
{
    /* A short log, so that kills also meet checkpoints. */
    const struct store_options options = {.wal_page_count = 512};
    static struct writer writers[THREAD_COUNT];
    pthread_t threads[THREAD_COUNT];
    struct store *store;
    struct err err;
    uint64_t run;
    int i;

    if (argc != 3 || !text_to_u64(bytes_of(argv[2]), &run)) {
        fprintf(stderr, "usage: crash_store_writer URL RUN\n");
        return 2;
    }
    if (store_open_with(argv[1], &options, &store, &err) ||
        store_write(store, create, NULL, &err)) {
        fprintf(stderr, "open: %s\n", err.text);
        return 1;
    }
    for (i = 0; i < THREAD_COUNT; i++) {
        writers[i] = (struct writer){.store = store,
                                     .next = (int64_t)(run << 32 | (uint64_t)i << 24),
                                     .rng = rng_seeded(run * THREAD_COUNT + (uint64_t)i)};
        if (pthread_create(&threads[i], NULL, write_for_ever, &writers[i]))
            return 1;
    }
    for (i = 0; i < THREAD_COUNT; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
