/* SPDX-License-Identifier: Apache-2.0 */
/* drafts.c - which draft is left at login: every case of the specification, none missing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/memory.h"
#include "offers/change/draft.h"

struct row {
    const char *seller; /* its category; NULL: no draft */
    int64_t seller_us;
    const char *visitor;
    int64_t visitor_us;
    const char *wished;
    enum draft_side kept;
    bool is_reset;
};

static const struct row rows[] = {
    /* nobody has one */
    {NULL, 0, NULL, 0, "", DRAFT_OF_NOBODY, false},
    {NULL, 0, NULL, 0, "car", DRAFT_OF_NOBODY, false},
    /* wished, neither is of it: one is emptied, the seller's rather */
    {"dog", 1, "cat", 9, "car", DRAFT_OF_SELLER, true},
    {"dog", 9, "cat", 1, "car", DRAFT_OF_SELLER, true},
    {"dog", 1, NULL, 0, "car", DRAFT_OF_SELLER, true},
    {NULL, 0, "cat", 1, "car", DRAFT_OF_VISITOR, true},
    {"", 1, "", 1, "car", DRAFT_OF_SELLER, true},
    /* wished, exactly one is of it: that one, however old */
    {"car", 1, "cat", 9, "car", DRAFT_OF_SELLER, false},
    {"dog", 9, "car", 1, "car", DRAFT_OF_VISITOR, false},
    {"car", 1, NULL, 0, "car", DRAFT_OF_SELLER, false},
    {NULL, 0, "car", 1, "car", DRAFT_OF_VISITOR, false},
    /* wished, both are: the newer */
    {"car", 1, "car", 9, "car", DRAFT_OF_VISITOR, false},
    {"car", 9, "car", 1, "car", DRAFT_OF_SELLER, false},
    {"car", 5, "car", 5, "car", DRAFT_OF_SELLER, false},
    /* nothing wished: the newer */
    {"dog", 1, "cat", 9, "", DRAFT_OF_VISITOR, false},
    {"dog", 9, "cat", 1, "", DRAFT_OF_SELLER, false},
    {"dog", 5, "cat", 5, "", DRAFT_OF_SELLER, false},
    {"", 1, "cat", 9, "", DRAFT_OF_VISITOR, false},
    {"dog", 1, NULL, 0, "", DRAFT_OF_SELLER, false},
    {NULL, 0, "cat", 1, "", DRAFT_OF_VISITOR, false},
};

static void every_case_is_decided(void **state)
{
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        const struct row *row = &rows[i];
        Torg__V1__OfferContent seller_content = TORG__V1__OFFER_CONTENT__INIT;
        Torg__V1__OfferContent visitor_content = TORG__V1__OFFER_CONTENT__INIT;
        struct draft seller = {.updated_us = row->seller_us, .content = &seller_content};
        struct draft visitor = {.updated_us = row->visitor_us, .content = &visitor_content};
        struct draft_choice choice;

        seller_content.category = (char *)row->seller;
        visitor_content.category = (char *)row->visitor;
        choice =
            draft_choose(row->seller ? &seller : NULL, row->visitor ? &visitor : NULL, row->wished);
        if (choice.kept != row->kept || choice.is_reset != row->is_reset)
            fail_msg("row %zu: side %d, reset %d", i, (int)choice.kept, choice.is_reset);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_case_is_decided)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
