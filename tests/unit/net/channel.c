/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of net/channel: order, bounds and wake-ups between a handler and its reactor. */
#include "net/server/loop/channel.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/random.h"
#include "net/bounds.h"
#include "patience.h"
#include <cmocka.h>

enum { TOTAL_SIZE = 8 << 20, WINDOW_SIZE = 64 << 10 };

static _Atomic unsigned notified;

static void count_notice(void *arg)
{
    atomic_fetch_add(&notified, 1);
}

static void reads_are_whole_and_the_end_is_told(void **state)
{
    struct channel *channel = channel_new(count_notice, NULL, clock_system());
    struct buf got = BUF_INIT(100);
    struct err err;

    channel_push(channel, bytes_of("hello wor"));
    assert_int_equal(channel_read(channel, &got, 5, &err), 1);
    assert_true(bytes_equal_text(buf_bytes(&got), "hello"));
    channel_push(channel, bytes_of("ld!"));
    channel_push_end(channel);
    buf_reset(&got);
    assert_int_equal(channel_read(channel, &got, 7, &err), 1);
    assert_true(bytes_equal_text(buf_bytes(&got), " world!"));
    assert_int_equal(channel_read(channel, &got, 1, &err), 0);
    assert_int_equal(channel_look(channel).taken, 12);
    assert_int_equal(channel_look(channel).taken, 0);
    buf_release(&got);
    channel_free(channel);
}

static void an_end_within_a_message_is_an_error(void **state)
{
    struct channel *channel = channel_new(count_notice, NULL, clock_system());
    struct buf got = BUF_INIT(100);
    struct err err;

    channel_push(channel, bytes_of("abc"));
    channel_push_end(channel);
    assert_int_equal(channel_read(channel, &got, 4, &err), ERR_INVALID);
    buf_release(&got);
    channel_free(channel);
}

static void the_reactor_is_told_once_until_it_looks(void **state)
{
    struct channel *channel = channel_new(count_notice, NULL, clock_system());
    struct err err;

    atomic_store(&notified, 0);
    assert_int_equal(channel_write(channel, bytes_of("a"), &err), 0);
    assert_int_equal(channel_write(channel, bytes_of("b"), &err), 0);
    assert_int_equal(atomic_load(&notified), 1);
    assert_int_equal(channel_look(channel).unsent, 2);
    channel_finish(channel);
    assert_int_equal(atomic_load(&notified), 2);
    assert_true(channel_look(channel).finished);
    channel_free(channel);
}

struct side {
    struct channel *channel;
    uint64_t seed;
    int rc;
    _Atomic size_t done;
};

/* The handler: copies all it reads to its output, in pieces of random size. */
static void *copy_all(void *arg)
{
    struct side *side = arg;
    struct rng rng = rng_seeded(side->seed);
    struct buf piece = BUF_INIT(TOTAL_SIZE);
    struct err err;
    size_t left = TOTAL_SIZE;

    while (left && !side->rc) {
        size_t size = 1 + rng_below(&rng, 100000);

        size = size < left ? size : left;
        buf_reset(&piece);
        side->rc = channel_read(side->channel, &piece, size, &err) == 1 ? 0 : -1;
        if (!side->rc)
            side->rc = channel_write(side->channel, buf_bytes(&piece), &err);
        left -= size;
    }
    buf_release(&piece);
    channel_finish(side->channel);
    return NULL;
}

/* The reactor's side sends only what the window allows, and pulls in random pieces. */
static void everything_arrives_in_order_within_the_window(void **state)
{
    struct side side = {.channel = channel_new(count_notice, NULL, clock_system()),
                        .seed = random_u64()};
    struct rng rng = rng_seeded(side.seed + 1);
    static uint8_t bytes[WINDOW_SIZE];
    size_t pushed = 0;
    size_t pulled = 0;
    size_t window = WINDOW_SIZE;
    bool end = false;
    pthread_t thread;

    print_message("# seed %ju\n", (uintmax_t)side.seed);
    pthread_create(&thread, NULL, copy_all, &side);
    while (!end) {
        size_t size = rng_below(&rng, window + 1);
        size_t count;

        size = size < TOTAL_SIZE - pushed ? size : TOTAL_SIZE - pushed;
        for (size_t i = 0; i < size; i++)
            bytes[i] = (uint8_t)((pushed + i) * 31 >> 3);
        channel_push(side.channel, bytes_make(bytes, size));
        pushed += size;
        window = window - size + channel_look(side.channel).taken;
        assert_true(window <= WINDOW_SIZE);
        count = channel_pull(side.channel, bytes, 1 + rng_below(&rng, sizeof(bytes)), &end);
        for (size_t i = 0; i < count; i++)
            assert_int_equal(bytes[i], (uint8_t)((pulled + i) * 31 >> 3));
        pulled += count;
    }
    pthread_join(thread, NULL);
    assert_int_equal(side.rc, 0);
    assert_int_equal(pulled, TOTAL_SIZE);
    channel_free(side.channel);
}

static void *write_for_ever(void *arg)
{
    static uint8_t bytes[10000];
    struct side *side = arg;
    struct err err;

    do {
        side->rc = channel_write(side->channel, bytes_make(bytes, sizeof(bytes)), &err);
        atomic_fetch_add(&side->done, sizeof(bytes));
    } while (!side->rc);
    return NULL;
}

static void wait_ms(long ms)
{
    struct timespec pause = {.tv_nsec = ms * 1000 * 1000};

    nanosleep(&pause, NULL);
}

static void a_writer_blocks_until_it_is_cancelled(void **state)
{
    struct side side = {.channel = channel_new(count_notice, NULL, clock_system())};
    int64_t until = clock_mono_us(clock_system()) + PATIENCE_S * (int64_t)SECOND_US;
    size_t before = 0;
    pthread_t thread;

    pthread_create(&thread, NULL, write_for_ever, &side);
    while (atomic_load(&side.done) <= NET_STREAM_OUT_SIZE_MAX &&
           clock_mono_us(clock_system()) < until)
        wait_ms(1);
    before = atomic_load(&side.done);
    wait_ms(50);
    assert_true(atomic_load(&side.done) <= NET_STREAM_OUT_SIZE_MAX + 2 * 10000);
    assert_true(before > NET_STREAM_OUT_SIZE_MAX);
    channel_cancel(side.channel, ERR_TIMEOUT);
    pthread_join(thread, NULL);
    assert_int_equal(side.rc, ERR_TIMEOUT);
    channel_free(side.channel);
}

static void *read_one(void *arg)
{
    struct side *side = arg;
    struct buf got = BUF_INIT(1);
    struct err err;

    side->rc = channel_read(side->channel, &got, 1, &err);
    buf_release(&got);
    return NULL;
}

static void a_reader_wakes_when_the_client_leaves(void **state)
{
    struct side side = {.channel = channel_new(count_notice, NULL, clock_system())};
    pthread_t thread;

    pthread_create(&thread, NULL, read_one, &side);
    wait_ms(10);
    channel_cancel(side.channel, ERR_CANCELLED);
    pthread_join(thread, NULL);
    assert_int_equal(side.rc, ERR_CANCELLED);
    channel_free(side.channel);
}

static void *pause_for_ever(void *arg)
{
    struct side *side = arg;

    channel_pause(side->channel, INT64_MAX);
    return NULL;
}

/* A pause ends at its time, or with the call; what comes meanwhile does not shorten it. */
static void a_pause_ends_when_the_client_leaves(void **state)
{
    const struct clock *clock = clock_system();
    struct side side = {.channel = channel_new(count_notice, NULL, clock)};
    int64_t until_us = clock_mono_us(clock) + 20 * MS_US;
    pthread_t thread;

    channel_push(side.channel, bytes_of("hello"));
    channel_pause(side.channel, until_us);
    assert_true(clock_mono_us(clock) >= until_us);
    pthread_create(&thread, NULL, pause_for_ever, &side);
    channel_push(side.channel, bytes_of("hello"));
    channel_cancel(side.channel, ERR_CANCELLED);
    pthread_join(thread, NULL);
    channel_free(side.channel);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_are_whole_and_the_end_is_told),
        cmocka_unit_test(an_end_within_a_message_is_an_error),
        cmocka_unit_test(the_reactor_is_told_once_until_it_looks),
        cmocka_unit_test(everything_arrives_in_order_within_the_window),
        cmocka_unit_test(a_writer_blocks_until_it_is_cancelled),
        cmocka_unit_test(a_reader_wakes_when_the_client_leaves),
        cmocka_unit_test(a_pause_ends_when_the_client_leaves),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
