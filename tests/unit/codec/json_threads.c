/* SPDX-License-Identifier: Apache-2.0 */
/* The first use of a type by many threads at once: each must see it finished. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "codec/json.h"
#include "echo.pb-c.h"
#include "echo_descriptors.h"

enum { THREAD_COUNT = 8, REPEAT_COUNT = 50 };

static pthread_barrier_t barrier;

static void *convert(void *context)
{
    static const char json[] =
        "{\"everything\":{\"child\":{\"childMap\":{"
        "\"5\":{\"aTimestamp\":\"2026-11-15T08:41:26Z\"}}},\"aMap\":{\"x\":\"1\"}}}";
    struct buf out = BUF_INIT(4096);
    struct arena *arena = arena_new();
    intptr_t failed = 0;
    int i;

    (void)context;
    pthread_barrier_wait(&barrier);
    for (i = 0; i < REPEAT_COUNT; i++) {
        ProtobufCMessage *message;

        arena_reset(arena);
        buf_reset(&out);
        if (json_decode(bytes_of(json), &torg__test__v1__echo_request__descriptor, arena, &message,
                        NULL, NULL) != 0) {
            failed++;
            continue;
        }
        json_encode(message, &out);
        failed += strcmp(buf_text(&out), json) != 0;
    }
    buf_release(&out);
    arena_free(arena);
    return (void *)failed;
}

static void many_threads_meet_a_new_type(void **state)
{
    pthread_t threads[THREAD_COUNT];
    struct err err;
    void *failed;
    int i;

    (void)state;
    pthread_barrier_init(&barrier, NULL, THREAD_COUNT);
    assert_int_equal(json_add_types(bytes_make(echo_descriptors, echo_descriptors_size), &err), 0);
    for (i = 0; i < THREAD_COUNT; i++)
        pthread_create(&threads[i], NULL, convert, NULL);
    for (i = 0; i < THREAD_COUNT; i++) {
        pthread_join(threads[i], &failed);
        assert_null(failed);
    }
    pthread_barrier_destroy(&barrier);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(many_threads_meet_a_new_type),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
