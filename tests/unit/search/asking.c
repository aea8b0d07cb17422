/* SPDX-License-Identifier: Apache-2.0 */
/* Unit tests of search/asking/asking.h: what visitors are told when searchers fail. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "base/log.h"
#include "base/memory.h"
#include "search/asking/asking.h"

struct failing {
    int code;
    const char *text;
};

static int fail_to_answer(void *arg, const Torg__V1__SearchRequest *request, int64_t deadline_us,
                          struct arena *arena, Torg__V1__SearchResponse *response, struct err *err)
{
    const struct failing *failing = arg;

    (void)request;
    (void)deadline_us;
    (void)arena;
    (void)response;
    return err_set(err, failing->code, "%s", failing->text);
}

static int ask(struct failing *failing, size_t wait_count, struct err *err)
{
    static char *tokens[] = {"AgAAAAE"};
    const struct search search = {
        .clock = clock_system(), .ask = fail_to_answer, .ask_arg = failing};
    struct arena *arena = arena_new();
    struct asking asking = {
        .search = &search, .arena = arena, .wait = tokens, .wait_count = wait_count};
    Torg__V1__QueryStage *stage = count_stage("bicycle", NULL, arena);
    const Torg__V1__StageAnswer *answer;
    int rc = asking_run(&asking, &stage, 1, &answer, err);

    arena_free(arena);
    return rc;
}

static void which_searcher_failed_is_not_told(void **state)
{
    static const struct {
        int code;
        int told;
        size_t wait_count;
        const char *part;
    } cases[] = {
        {ERR_UNAVAILABLE, ERR_UNAVAILABLE, 0, "unavailable at the moment"},
        {ERR_INTERNAL, ERR_UNAVAILABLE, 0, "unavailable at the moment"},
        {ERR_CORRUPT, ERR_UNAVAILABLE, 0, "unavailable at the moment"},
        {ERR_DENIED, ERR_UNAVAILABLE, 0, "unavailable at the moment"},
        {ERR_LIMIT, ERR_LIMIT, 0, "too busy"},
        {ERR_TIMEOUT, ERR_TIMEOUT, 0, "did not answer in time"},
        {ERR_TIMEOUT, ERR_TIMEOUT, 1, "not searchable yet"},
        {ERR_NOT_FOUND, ERR_TIMEOUT, 1, "not searchable yet"}, /* no index, and no empty page */
    };
    struct err err;

    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        struct failing failing = {cases[i].code, "searcher http://10.0.0.7:8080: it is gone"};

        assert_int_equal(ask(&failing, cases[i].wait_count, &err), cases[i].told);
        assert_int_equal(err.code, cases[i].told);
        assert_null(strstr(err.text, "10.0.0.7"));
        assert_non_null(strstr(err.text, cases[i].part));
    }
}

static void what_is_wrong_with_the_request_is_told(void **state)
{
    static const int codes[] = {ERR_INVALID, ERR_PRECONDITION, ERR_RANGE, ERR_UNSUPPORTED};
    struct err err;

    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(codes); i++) {
        struct failing failing = {codes[i], "stages[0].text: a quote is not closed"};

        assert_int_equal(ask(&failing, 0, &err), codes[i]);
        assert_string_equal(err.text, failing.text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(which_searcher_failed_is_not_told),
        cmocka_unit_test(what_is_wrong_with_the_request_is_told),
    };

    log_setup(LOG_FORMAT_JSON, LOG_LEVEL_ERROR, 2);
    return cmocka_run_group_tests_name("search-asking", tests, NULL, NULL);
}
