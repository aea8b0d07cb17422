/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of net/client/hosts: who is refused a turn at a server, and until when. */
#include "net/client/hosts.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "base/memory.h"
#include "net/bounds.h"
#include <cmocka.h>

#define SILENT "http://silent.example/1.jpg"
#define OTHER "http://other.example/1.jpg"

/* Nobody waits for the pause between two turns: the clock stands still. */
static void pass(struct clock_manual *clock, int64_t ms)
{
    clock_manual_advance(clock, ms * MS_US);
}

static int probe(struct hosts *hosts, const char *url, int64_t *again_us)
{
    return hosts_probe(hosts, url, again_us, NULL);
}

static void a_silent_server_is_asked_by_one_a_minute(void **state)
{
    struct clock_manual clock;
    struct hosts *hosts;
    int64_t again_us;

    (void)state;
    clock_manual_init(&clock, INT64_C(1800000000000000));
    hosts = hosts_new(&clock.base);
    assert_int_equal(probe(hosts, SILENT, &again_us), 0);
    pass(&clock, WEB_HOST_GAP_MS);
    assert_int_equal(probe(hosts, SILENT, &again_us), 0); /* nobody knows yet */
    hosts_probe_end(hosts, SILENT, true);
    hosts_probe_end(hosts, SILENT, true);
    for (int minute = 0; minute < 3; minute++) {
        for (int i = 0; i < 100; i++) {
            assert_int_equal(probe(hosts, SILENT, &again_us), ERR_UNAVAILABLE);
            assert_int_equal(again_us, (int64_t)WEB_HOST_SILENT_MS * MS_US);
        }
        assert_int_equal(hosts_enter(hosts, SILENT, false, NULL), ERR_UNAVAILABLE);
        pass(&clock, WEB_HOST_SILENT_MS);
        assert_int_equal(probe(hosts, SILENT, &again_us), 0);
        pass(&clock, WEB_HOST_GAP_MS);
        assert_int_equal(probe(hosts, SILENT, &again_us), ERR_UNAVAILABLE); /* one is there */
        hosts_probe_end(hosts, SILENT, true);
    }
    pass(&clock, WEB_HOST_SILENT_MS);
    assert_int_equal(probe(hosts, SILENT, &again_us), 0);
    hosts_probe_end(hosts, SILENT, false); /* it is back */
    for (int i = 0; i < WEB_HOST_TURN_COUNT; i++) {
        pass(&clock, WEB_HOST_GAP_MS);
        assert_int_equal(probe(hosts, SILENT, &again_us), 0);
    }
    hosts_free(hosts);
}

/* A server that is only slow is silent to those who have little time, and not to the patient. */
static void the_hasty_do_not_speak_for_the_patient(void **state)
{
    struct clock_manual clock;
    struct hosts *hosts;
    int64_t again_us;

    (void)state;
    clock_manual_init(&clock, INT64_C(1800000000000000));
    hosts = hosts_new(&clock.base);
    assert_int_equal(hosts_enter(hosts, SILENT, false, NULL), 0);
    hosts_leave(hosts, SILENT, true);
    pass(&clock, WEB_HOST_GAP_MS);
    assert_int_equal(hosts_enter(hosts, SILENT, false, NULL), ERR_UNAVAILABLE);
    assert_int_equal(probe(hosts, SILENT, &again_us), 0);
    hosts_probe_end(hosts, SILENT, true);
    pass(&clock, WEB_HOST_GAP_MS);
    assert_int_equal(probe(hosts, SILENT, &again_us), ERR_UNAVAILABLE);
    assert_int_equal(probe(hosts, OTHER, &again_us), 0);
    assert_int_equal(hosts_enter(hosts, SILENT, true, NULL), 0); /* feeds have a pace of theirs */
    hosts_leave(hosts, SILENT, false);
    hosts_probe_end(hosts, OTHER, false);
    hosts_free(hosts);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_silent_server_is_asked_by_one_a_minute),
        cmocka_unit_test(the_hasty_do_not_speak_for_the_patient),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
