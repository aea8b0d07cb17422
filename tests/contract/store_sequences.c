/* SPDX-License-Identifier: Apache-2.0 */
/* The store's contract: sequences and fences. */
#include "contract/store_fixture.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/random.h"
#include "store/fence.h"
#include "store/migrate.h"
#include "store/sequence.h"

struct held {
    struct store *store;
    _Atomic int taken;
    _Atomic int release;
    _Atomic int done;
    bool hold;
    int rc;
};

static int take_number(struct store_tx *tx, void *arg, struct err *err)
{
    struct held *held = arg;
    int64_t seq;
    int rc;

    rc = store_next_seq(tx, "queue/1", 1, &seq, err);
    if (rc == 0)
        rc = store_exec(tx, "INSERT INTO q (seq) VALUES ($1)", &STORE_V_INT(seq), 1, NULL, err);
    held->taken = 1;
    if (rc == 0 && held->hold && !wait_flag(&held->release, 1))
        rc = err_set(err, ERR_TIMEOUT, "nobody released");
    return rc;
}

static void *held_main(void *arg)
{
    struct held *held = arg;

    held->rc = store_write(held->store, take_number, held, NULL);
    held->done = 1;
    return NULL;
}

/* The first number's transaction is open for long; the second's must not become visible. */
static void no_reader_passes_a_row_that_commits_later(void **state)
{
    struct fixture *fixture = start(state);
    struct held first = {.store = fixture->store, .hold = true};
    struct held second = {.store = fixture->store};
    pthread_t threads[2];
    int64_t deadline;

    assert_int_equal(store_migrate(fixture->store, NULL, NULL), 0);
    exec(fixture->store, "CREATE TABLE q (seq BIGINT PRIMARY KEY)");
    assert_int_equal(pthread_create(&threads[0], NULL, held_main, &first), 0);
    assert_true(wait_flag(&first.taken, 1));
    assert_int_equal(pthread_create(&threads[1], NULL, held_main, &second), 0);
    for (deadline = now_us() + 300 * MS_US; now_us() < deadline; pause_ms(5)) {
        assert_int_equal(second.done, 0);
        assert_int_equal(read_integer(fixture->store, "SELECT count(*) FROM q"), 0);
    }
    first.release = 1;
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    assert_int_equal(first.rc, 0);
    assert_int_equal(second.rc, 0);
    assert_int_equal(read_integer(fixture->store, "SELECT count(*) FROM q"), 2);
    assert_int_equal(read_integer(fixture->store, "SELECT max(seq) FROM q"), 2);
}

struct producer {
    struct store *store;
    struct rng rng;
    int committed;
};

static int produce_fn(struct store_tx *tx, void *arg, struct err *err)
{
    struct producer *self = arg;
    int64_t count = 1 + (int64_t)rng_below(&self->rng, 3);
    int64_t first;
    int64_t i;
    int rc;

    rc = store_next_seq(tx, "queue/1", count, &first, err);
    for (i = 0; i < count && rc == 0; i++)
        rc = store_exec(tx, "INSERT INTO q (seq) VALUES ($1)", &STORE_V_INT(first + i), 1, NULL,
                        err);
    if (rc == 0 && rng_below(&self->rng, 4) == 0)
        rc = err_set(err, ERR_CANCELLED, "changed my mind");
    return rc;
}

static void *produce_main(void *arg)
{
    struct producer *self = arg;
    int i;

    for (i = 0; i < 40; i++)
        if (store_write(self->store, produce_fn, self, NULL) == 0)
            self->committed++;
    return NULL;
}

struct follower {
    struct store *store;
    int64_t last;
    int64_t seen;
    _Atomic int stop;
    bool failed;
};

static int follow_fn(struct store_tx *tx, void *arg, struct err *err)
{
    struct follower *self = arg;
    struct store_rows rows = store_select(tx, "SELECT seq FROM q WHERE seq > $1 ORDER BY seq",
                                          &STORE_V_INT(self->last), 1);

    for (; store_next(&rows); self->seen++)
        self->last = rows.columns[0].integer;
    return store_rows_end(&rows, err);
}

static void *follow_main(void *arg)
{
    struct follower *self = arg;
    bool last_round;

    do {
        last_round = self->stop;
        if (store_read(self->store, follow_fn, self, NULL))
            self->failed = true;
    } while (!last_round);
    return NULL;
}

static void a_follower_of_a_sequence_misses_nothing(void **state)
{
    struct fixture *fixture = start(state);
    struct producer producers[4];
    struct follower follower = {.store = fixture->store};
    uint64_t seed = random_u64();
    pthread_t threads[4];
    pthread_t reader;
    size_t i;

    print_message("# seed %ju\n", (uintmax_t)seed);
    assert_int_equal(store_migrate(fixture->store, NULL, NULL), 0);
    exec(fixture->store, "CREATE TABLE q (seq BIGINT PRIMARY KEY)");
    assert_int_equal(pthread_create(&reader, NULL, follow_main, &follower), 0);
    for (i = 0; i < ARRAY_COUNT(producers); i++) {
        producers[i] = (struct producer){.store = fixture->store, .rng = rng_seeded(seed + i)};
        assert_int_equal(pthread_create(&threads[i], NULL, produce_main, &producers[i]), 0);
    }
    for (i = 0; i < ARRAY_COUNT(producers); i++) {
        pthread_join(threads[i], NULL);
        assert_true(producers[i].committed > 0);
    }
    follower.stop = 1;
    pthread_join(reader, NULL);
    assert_false(follower.failed);
    assert_int_equal(follower.seen, read_integer(fixture->store, "SELECT count(*) FROM q"));
    assert_int_equal(follower.last, follower.seen); /* rolled back numbers are used again */
}

struct guarded {
    int64_t ticket;
};

static int guarded_write(struct store_tx *tx, void *arg, struct err *err)
{
    struct guarded *guarded = arg;
    int rc = store_exec(tx, "INSERT INTO t (ticket) VALUES ($1)", &STORE_V_INT(guarded->ticket), 1,
                        NULL, err);

    return rc ? rc : store_check_fence(tx, "shard/1", guarded->ticket, err);
}

static void a_stale_ticket_writes_nothing(void **state)
{
    struct fixture *fixture = start(state);
    const int64_t tickets[] = {5, 5, 7, 5, 6, 7, 8};
    const int wanted[] = {0, 0, 0, ERR_STALE, ERR_STALE, 0, 0};
    struct err err;
    size_t i;

    assert_int_equal(store_migrate(fixture->store, NULL, NULL), 0);
    exec(fixture->store, "CREATE TABLE t (ticket BIGINT)");
    for (i = 0; i < ARRAY_COUNT(tickets); i++) {
        struct guarded guarded = {tickets[i]};

        assert_int_equal(store_write(fixture->store, guarded_write, &guarded, &err), wanted[i]);
        if (wanted[i])
            assert_non_null(strstr(err.text, "shard/1"));
    }
    assert_int_equal(read_integer(fixture->store, "SELECT count(*) FROM t"), 5);
}

/* The old owner checked its ticket and is slow; the new owner writes; the old one's commit, or
 * its write, must fail or come before the new owner's. */
struct slow_owner {
    struct store *store;
    _Atomic int checked;
    _Atomic int release;
    int rc;
};

static int slow_write(struct store_tx *tx, void *arg, struct err *err)
{
    struct slow_owner *self = arg;
    int rc = store_check_fence(tx, "shard/2", 1, err);

    self->checked++;
    if (rc == 0 && self->checked == 1)
        wait_flag(&self->release, 1);
    if (rc == 0)
        rc = store_exec(tx, "INSERT INTO t (ticket) VALUES (1)", NULL, 0, NULL, err);
    return rc;
}

static void *slow_main(void *arg)
{
    struct slow_owner *self = arg;

    self->rc = store_write(self->store, slow_write, self, NULL);
    return NULL;
}

static int fast_write(struct store_tx *tx, void *arg, struct err *err)
{
    int rc = store_check_fence(tx, "shard/2", 2, err);
    struct statement_args args = {0};

    if (rc == 0)
        rc = store_find_integer(tx, "SELECT count(*) FROM t", NULL, 0, &args.integer, err);
    *(int64_t *)arg = args.integer;
    return rc;
}

struct fast_owner {
    struct store *store;
    int64_t seen;
    int rc;
};

static void *fast_main(void *arg)
{
    struct fast_owner *self = arg;

    self->rc = store_write(self->store, fast_write, &self->seen, NULL);
    return NULL;
}

static void a_slow_owner_cannot_write_behind_its_successor(void **state)
{
    struct fixture *fixture = start(state);
    struct slow_owner slow = {.store = fixture->store};
    struct fast_owner fast = {.store = fixture->store};
    pthread_t threads[2];
    int64_t count;

    assert_int_equal(store_migrate(fixture->store, NULL, NULL), 0);
    exec(fixture->store, "CREATE TABLE t (ticket BIGINT)");
    exec(fixture->store, "INSERT INTO fence (name, ticket) VALUES ('shard/2', 1)");
    assert_int_equal(pthread_create(&threads[0], NULL, slow_main, &slow), 0);
    assert_true(wait_flag(&slow.checked, 1));
    assert_int_equal(pthread_create(&threads[1], NULL, fast_main, &fast), 0);
    if (fixture->backend->postgres) { /* elsewhere the new owner waits for the old one's commit */
        pthread_join(threads[1], NULL);
        slow.release = 1;
    } else {
        slow.release = 1;
        pthread_join(threads[1], NULL);
    }
    pthread_join(threads[0], NULL);
    assert_int_equal(fast.rc, 0);
    count = read_integer(fixture->store, "SELECT count(*) FROM t");
    assert_int_equal(slow.rc, count ? 0 : ERR_STALE);
    assert_int_equal(fast.seen, count); /* what the new owner saw is all there ever is */
}

const struct test_case store_sequence_cases[] = {
    CASE_ON(no_reader_passes_a_row_that_commits_later, ON_ALL),
    CASE_ON(a_follower_of_a_sequence_misses_nothing, ON_ALL),
    CASE_ON(a_stale_ticket_writes_nothing, ON_ALL),
    CASE_ON(a_slow_owner_cannot_write_behind_its_successor, ON_ALL),
    {0},
};
