/* SPDX-License-Identifier: Apache-2.0 */
/* status.c - the life of an offer, written out a second time by hand and compared. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "base/memory.h"
#include "offers/record/offer_status.h"

/* Everything that is allowed, as docs/offers.md has it: a row a move, a letter a status before
 * (-: no; else the status after). In the order: draft ACTIVE EXPIRED SOLD_ON_SITE
 * SOLD_ELSEWHERE BANNED WITHDRAWN DELETED WAITING. */
static const char letters[] = "-AESsBWDw";
static const struct {
    enum offer_move move;
    const char *after;
} life[] = {
    {MOVE_PUBLISH, "A--------"},
    {MOVE_UPDATE, "-AE--BW-w"},
    {MOVE_PROLONG, "-AA------"},
    {MOVE_REPUBLISH, "---AA-A--"},
    {MOVE_WITHDRAW, "-WW-----W"},
    {MOVE_SELL_ON_SITE, "-SS---S-S"},
    {MOVE_SELL_ELSEWHERE, "-ss---s-s"},
    {MOVE_DELETE, "-DDDDDD-D"},
    {MOVE_EXPIRE, "-E-------"},
    {MOVE_SHOW, "--------A"},
    {MOVE_BAN, "-BBBB-B-B"},
    {MOVE_UNBAN, "-----W---"},
    {MOVE_REVIVE, "-------A-"},
    {MOVE_PHOTOS, "-AESsBW-w"},
};

static void the_table_is_what_is_documented(void **state)
{
    assert_int_equal(ARRAY_COUNT(life), OFFER_MOVE_COUNT);
    for (size_t i = 0; i < ARRAY_COUNT(life); i++) {
        for (int from = OFFER_NONE; from < OFFER_STATUS_COUNT; from++) {
            enum offer_status to = OFFER_NONE;
            enum offer_status before_ban = from == OFFER_BANNED ? OFFER_WITHDRAWN : OFFER_NONE;
            struct err err;
            int rc = offer_status_move((enum offer_status)from, life[i].move, before_ban, "it", &to,
                                       &err);

            if (life[i].after[from] == '-') {
                assert_int_equal(rc, ERR_PRECONDITION);
            } else {
                assert_int_equal(rc, 0);
                assert_int_equal(letters[to], life[i].after[from]);
            }
        }
    }
}

static void a_refusal_names_both_statuses_and_the_ways_out(void **state)
{
    enum offer_status to;
    struct err err;

    assert_int_equal(
        offer_status_move(OFFER_SOLD_ON_SITE, MOVE_WITHDRAW, OFFER_NONE, "offer 1", &to, &err),
        ERR_PRECONDITION);
    assert_string_equal(err.text, "offer 1 is SOLD_ON_SITE: \"withdraw\" (to WITHDRAWN) is not "
                                  "possible; possible: republish, delete");
}

static void an_unban_gives_back_what_was_there(void **state)
{
    static const enum offer_status before[] = {OFFER_ACTIVE, OFFER_EXPIRED, OFFER_SOLD_ON_SITE,
                                               OFFER_WITHDRAWN, OFFER_WAITING};

    for (size_t i = 0; i < ARRAY_COUNT(before); i++) {
        enum offer_status to = OFFER_NONE;

        assert_int_equal(offer_status_move(OFFER_BANNED, MOVE_UNBAN, before[i], "it", &to, NULL),
                         0);
        assert_int_equal(to, before[i]);
    }
}

static void a_ban_is_not_shaken_off_by_deleting(void **state)
{
    enum offer_status to = OFFER_NONE;

    assert_int_equal(offer_status_move(OFFER_DELETED, MOVE_REVIVE, OFFER_ACTIVE, "it", &to, NULL),
                     0);
    assert_int_equal(to, OFFER_BANNED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_table_is_what_is_documented),
        cmocka_unit_test(a_refusal_names_both_statuses_and_the_ways_out),
        cmocka_unit_test(an_unban_gives_back_what_was_there),
        cmocka_unit_test(a_ban_is_not_shaken_off_by_deleting),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
