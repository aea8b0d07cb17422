/* SPDX-License-Identifier: Apache-2.0 */
/* fronts.h: how long a searcher of another process is waited for, and whose answer counts. */
#include "searcher/front/fronts.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "codec/message.h"
#include "searcher/bounds.h"
#include "searcher/front/gather.h"

static void a_silent_one_does_not_hold_its_callers(void **state)
{
    Torg__V1__SearchRequest request = TORG__V1__SEARCH_REQUEST__INIT;

    (void)state;
    assert_int_equal(fronts_patience_ms(&request, 60000, false), SEARCHER_SILENCE_MS_MAX);
    assert_int_equal(fronts_patience_ms(&request, 60000, true), 60000);
    assert_int_equal(fronts_patience_ms(&request, 100, false), 50);
    assert_int_equal(fronts_patience_ms(&request, 1, false), 1);
}

static void who_waits_for_a_write_gets_half_of_the_time(void **state)
{
    char *tokens[] = {"t"};
    Torg__V1__SearchRequest request = TORG__V1__SEARCH_REQUEST__INIT;

    (void)state;
    request.wait = tokens;
    request.n_wait = 1;
    assert_int_equal(fronts_patience_ms(&request, 60000, false), 30000);
}

static void a_silent_replica_does_not_hold_them_either(void **state)
{
    (void)state;
    assert_int_equal(gather_patience_us(60000 * MS_US, false), SEARCHER_SILENCE_MS_MAX * MS_US);
    assert_int_equal(gather_patience_us(60000 * MS_US, true), 15000 * MS_US);
    assert_int_equal(gather_patience_us(1000 * MS_US, false), 250 * MS_US);
    assert_int_equal(gather_patience_us(8 * MS_US, false), SEARCHER_HEDGE_MS_MIN * MS_US);
}

/* ---- old states ---- */

/* Two searchers: how old what they answer is; 0: it is caught up. Below 0: nothing is answered. */
static int64_t ages[2];
static unsigned asked[2];

static int call(void *arg, const char *url, const char *method, struct bytes request,
                int64_t timeout_ms, struct buf *answer, struct err *err)
{
    Torg__V1__SearchResponse response = TORG__V1__SEARCH_RESPONSE__INIT;
    Torg__V1__QueryAnswer found = TORG__V1__QUERY_ANSWER__INIT;
    Torg__V1__Freshness freshness = TORG__V1__FRESHNESS__INIT;
    unsigned which = url[strlen(url) - 1] == '1';
    struct arena *arena = arena_new();
    ProtobufCMessage *message = NULL;
    int rc = 0;

    (void)arg;
    (void)timeout_ms;
    if (strcmp(method, "Search") != 0) {
        message_encode(&freshness.base, answer);
    } else {
        asked[which]++;
        rc = message_decode(request, &torg__v1__search_request__descriptor, arena, &message, err);
        assert_int_equal(rc, 0);
        if (ages[which] < 0 ||
            ages[which] > ((const Torg__V1__SearchRequest *)message)->old_max_seconds)
            rc = err_set(err, ERR_UNAVAILABLE, "it is not ready");
        response.answer = &found;
        response.old_seconds = (uint64_t)ages[which];
        if (!rc)
            message_encode(&response.base, answer);
    }
    arena_free(arena);
    return rc;
}

static void forget(void *arg)
{
    (void)arg;
}

static int ask_both(int64_t first, int64_t second, uint32_t old_max, uint64_t *old_seconds)
{
    static const char *const urls[] = {"http://0", "http://1"};
    const struct peers_options options = {
        .urls = urls, .count = 2, .caller = {call, forget, NULL}, .clock = clock_system()};
    Torg__V1__SearchRequest request = TORG__V1__SEARCH_REQUEST__INIT;
    Torg__V1__SearchResponse response = TORG__V1__SEARCH_RESPONSE__INIT;
    Torg__V1__Query query = TORG__V1__QUERY__INIT;
    struct arena *arena = arena_new();
    struct peers *peers;
    struct err err = {0};
    int rc;

    ages[0] = first;
    ages[1] = second;
    asked[0] = asked[1] = 0;
    request.query = &query;
    request.old_max_seconds = old_max;
    assert_int_equal(peers_open(&options, &peers, &err), 0);
    rc = fronts_search(peers, &request, INT64_MAX / 2, arena, &response, &err);
    *old_seconds = response.old_seconds;
    peers_close(peers);
    arena_free(arena);
    return rc;
}

/* Whichever of them comes first. */
static void an_old_answer_gives_way_to_one_that_is_caught_up(void **state)
{
    uint64_t old_seconds;

    (void)state;
    for (int i = 0; i < 4; i++) {
        assert_int_equal(ask_both(i % 2 ? 60 : 0, i % 2 ? 0 : 60, 3600, &old_seconds), 0);
        assert_int_equal(old_seconds, 0);
    }
    assert_int_equal(ask_both(60, -1, 3600, &old_seconds), 0);
    assert_int_equal(old_seconds, 60);
    assert_int_equal(ask_both(-1, 60, 3600, &old_seconds), 0);
    assert_int_equal(old_seconds, 60);
    assert_int_equal(asked[0], 1);
    assert_int_equal(asked[1], 1);
    assert_int_equal(ask_both(60, 70, 0, &old_seconds), ERR_UNAVAILABLE);
    assert_int_equal(ask_both(60, 70, 30, &old_seconds), ERR_UNAVAILABLE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_silent_one_does_not_hold_its_callers),
        cmocka_unit_test(who_waits_for_a_write_gets_half_of_the_time),
        cmocka_unit_test(a_silent_replica_does_not_hold_them_either),
        cmocka_unit_test(an_old_answer_gives_way_to_one_that_is_caught_up),
    };

    return cmocka_run_group_tests_name("fronts", tests, NULL, NULL);
}
