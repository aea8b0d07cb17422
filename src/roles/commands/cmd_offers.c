/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_offers.c - torg offers counters. */
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "base/object.h"
#include "offers/lists/counters.h"
#include "roles/commands/desk.h"
#include "roles/commands/print.h"

enum { POSITION_SIZE = 128 };

struct telling {
    bool json;
    bool shows_progress;
    char position[POSITION_SIZE]; /* of the last answer */
    int64_t left_count;           /* differences that were not put right */
    bool done;
};

static void print_difference(const Torg__V1__CounterDifference *one)
{
    const char *fixed = one->fixed ? ": fixed" : "";

    switch (one->kind) {
    case DIFFERENCE(MISSING_IN_LIST):
        printf("seller %s: the list %s lacks offer %s%s\n", one->seller, one->name, one->offer_id,
               fixed);
        break;
    case DIFFERENCE(EXTRA_IN_LIST):
        printf("seller %s: the list %s has offer %s, which does not belong there%s\n", one->seller,
               one->name, one->offer_id, fixed);
        break;
    case DIFFERENCE(COUNT):
        printf("seller %s: the count %s was %" PRId64 ", is %" PRId64 "%s\n", one->seller,
               one->name, one->was, one->is, fixed);
        break;
    case DIFFERENCE(TOTAL):
        printf("seller %s: the total %s (row %d) was %" PRId64 ", is %" PRId64 "%s\n", one->seller,
               one->name, one->row, one->was, one->is, fixed);
        break;
    default:
        printf("%s%s%s%s%s cannot be read: what depends on it cannot be recounted\n",
               *one->seller ? "seller " : "", one->seller, *one->seller ? ": " : "",
               *one->offer_id ? "offer " : one->name, one->offer_id);
    }
}

static void print_end(const Torg__V1__VerifyCountersResponse *answer)
{
    printf("%" PRId64 " offers, %" PRId64 " sellers: %" PRId64 " differences, %" PRId64 " fixed\n",
           answer->offer_count, answer->seller_count, answer->difference_count,
           answer->fixed_count);
}

static int take_answer(void *arg, const ProtobufCMessage *message, struct err *err)
{
    const Torg__V1__VerifyCountersResponse *answer =
        (const Torg__V1__VerifyCountersResponse *)message;
    struct telling *telling = arg;

    (void)err;
    snprintf(telling->position, sizeof(telling->position), "%s", answer->position);
    telling->left_count = answer->difference_count - answer->fixed_count;
    telling->done = answer->done;
    if (telling->shows_progress)
        fprintf(stderr, "\r\033[K"); /* what was told of the progress makes room */
    if (telling->json)
        print_json(message);
    for (size_t i = 0; i < answer->n_differences && !telling->json; i++)
        print_difference(answer->differences[i]);
    if (answer->done && !telling->json)
        print_end(answer);
    fflush(stdout);
    if (telling->shows_progress && !answer->done)
        fprintf(stderr, "%" PRId64 " offers, %" PRId64 " sellers, %" PRId64 " differences; at %s",
                answer->offer_count, answer->seller_count, answer->difference_count,
                answer->position);
    return 0;
}

enum exit_code cmd_offers_counters(const struct invocation *invocation)
{
    Torg__V1__VerifyCountersRequest request = TORG__V1__VERIFY_COUNTERS_REQUEST__INIT;
    const char *seller = invocation_option(invocation, "seller");
    const char *from = invocation_option(invocation, "from");
    struct telling telling = {.json = invocation->json, .shows_progress = isatty(STDERR_FILENO)};
    struct desk desk;
    struct err err;
    int rc;

    object_check(invocation, INVOCATION_MAGIC);
    request.fix = invocation_option(invocation, "fix") != NULL;
    request.seller = (char *)(seller ? seller : "");
    request.position = (char *)(from ? from : "");
    if (!request.fix && !invocation_option(invocation, "verify")) {
        complain("use --verify to recount, and --fix to correct what differs");
        return EXIT_USAGE;
    }
    if (desk_open(invocation, false, &desk, &err))
        return fail(&err);
    rc = desk_stream(&desk, &torg__v1__counters_service__descriptor, "VerifyCounters",
                     &request.base, take_answer, &telling, &err);
    if (!rc && !telling.done)
        rc = err_set(&err, ERR_UNAVAILABLE, "the server ended the answer before its end");
    desk_close(&desk);
    if (rc && *telling.position)
        complain("it was at %s: continue with --from %s", telling.position, telling.position);
    if (rc)
        return fail(&err);
    return telling.left_count ? EXIT_FAILED : EXIT_OK;
}
