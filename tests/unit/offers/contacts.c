/* SPDX-License-Identifier: Apache-2.0 */
/* contacts.c - how many contacts an hour has for each caller, compared with a naive count; and what
 * a message must have. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/random.h"
#include "offers/inbox/contact_limit.h"
#include "offers/inbox/messages.h"

enum { CALLER_COUNT = 50, STEP_COUNT = 20000, PER_HOUR = 5 };

static void each_caller_has_so_many_an_hour(void **state)
{
    struct contact_limit *limit = mem_zero(sizeof(*limit));
    int64_t begun_us[CALLER_COUNT] = {0}, count[CALLER_COUNT] = {0}, now_us = 1, wait_s;
    uint64_t seed = 20261118;
    struct rng rng = rng_seeded(seed);

    (void)state;
    print_message("# seed %ju\n", (uintmax_t)seed);
    contact_limit_init(limit, PER_HOUR);
    for (int i = 0; i < STEP_COUNT; i++) {
        size_t who = rng_below(&rng, CALLER_COUNT);
        bool taken;

        now_us += (int64_t)rng_below(&rng, 60 * (uint64_t)SECOND_US);
        if (!count[who] || now_us - begun_us[who] >= 3600 * (int64_t)SECOND_US) {
            begun_us[who] = now_us;
            count[who] = 0;
        }
        taken =
            contact_limit_take(limit, (who + 1) * UINT64_C(0x9e3779b97f4a7c15), now_us, &wait_s);
        assert_int_equal(taken, count[who] < PER_HOUR);
        count[who] += taken;
        assert_true(taken ? wait_s == 0 : wait_s > 0 && wait_s <= 3600);
    }
    contact_limit_release(limit);
    free(limit);
}

static void many_callers_do_not_make_it_grow(void **state)
{
    struct contact_limit *limit = mem_zero(sizeof(*limit));
    int64_t wait_s;

    (void)state;
    contact_limit_init(limit, 1);
    for (uint64_t i = 0; i < 100000; i++)
        assert_true(contact_limit_take(limit, i << 1, (int64_t)i + 1, &wait_s));
    assert_false(contact_limit_take(limit, 99999 << 1, 100001, &wait_s)); /* the newest is known */
    contact_limit_release(limit);
    contact_limit_init(limit, 0);
    for (int i = 0; i < 100; i++)
        assert_true(contact_limit_take(limit, 7, 1, &wait_s));
    contact_limit_release(limit);
    free(limit);
}

static size_t faults_with(char *reply_to)
{
    Google__Protobuf__Timestamp time = GOOGLE__PROTOBUF__TIMESTAMP__INIT;
    Torg__V1__SellerMessage message = TORG__V1__SELLER_MESSAGE__INIT;
    struct arena *arena = arena_new();
    struct violations violations = violations_in(arena);
    size_t count;

    message.seller = "s";
    message.offer_id = "6249-6043-6262-0708";
    message.text = "Is it still there?";
    message.time = &time;
    message.id = 1;
    message.reply_to = reply_to;
    count = message_check(&message, &violations);
    arena_free(arena);
    return count;
}

static void a_message_can_be_answered(void **state)
{
    static char *const good[] = {"+79001234567",    "8 (900) 123-45-67", "2-12-34",
                                 "ann@example.org", "ann@пример.рф",     "@ann"};
    static char *const bad[] = {"",        " ",
                                "ann",     "1234",
                                "call me", "javascript:alert(1)",
                                "ann@",    "ann@ ",
                                "+7 900",  "123456789012345678901"};

    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(good); i++)
        assert_int_equal(faults_with(good[i]), 0);
    for (size_t i = 0; i < ARRAY_COUNT(bad); i++)
        assert_int_equal(faults_with(bad[i]), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_caller_has_so_many_an_hour),
        cmocka_unit_test(many_callers_do_not_make_it_grow),
        cmocka_unit_test(a_message_can_be_answered),
    };

    return cmocka_run_group_tests_name("offers-contacts", tests, NULL, NULL);
}
