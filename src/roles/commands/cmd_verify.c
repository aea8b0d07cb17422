/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_verify.c - torg verify: runs the checks of InspectService, step by step, and reports on
 * each. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/object.h"
#include "codec/message.h"
#include "roles/commands/desk.h"
#include "roles/commands/print.h"
#include "torg/v1/counters.pb-c.h"
#include "torg/v1/inspect.pb-c.h"

enum { SHOWN_COUNT = 10, TEXT_SIZE = 300 };

#define KIND(name) TORG__V1__VERIFY_CHECK__KIND__##name

static const struct {
    const char *name;
    const char *unit;
} kinds[] = {
    [KIND(REGISTRY)] = {"registry", "documents"}, [KIND(NUMBERS)] = {"numbers", "numbers"},
    [KIND(QUEUE)] = {"queue", "elements"},        [KIND(INDEX)] = {"index", "numbers"},
    [KIND(FILES)] = {"files", "shards"},          [KIND(CONTENT)] = {"content", "documents"},
    [KIND(OFFERS)] = {"offers", "offers"},
};

struct shown {
    char pk[256]; /* "": of no document */
    char text[TEXT_SIZE];
    bool is_fixed;
};

/* What became of one kind of check of one client. */
struct tally {
    const char *name;
    const char *unit;
    const char *fixed; /* what was done to mend a fault */
    char client[64];
    bool is_run;
    uint64_t checked_count, finding_count, fixed_count, waiting_count, parked_count;
    struct shown shown[SHOWN_COUNT];
    size_t shown_count;
};

struct verifying {
    const struct invocation *invocation;
    struct desk *desk;
    bool fix;
    bool shows_progress;
    struct tally tallies[ARRAY_COUNT(kinds)];
    uint64_t left_count; /* findings that were not put right */
};

/* --- telling --- */

static void print_tally_json(const struct tally *tally, struct arena *arena)
{
    Torg__V1__VerifyResult result = TORG__V1__VERIFY_RESULT__INIT;

    result.check = (char *)tally->name;
    result.client = (char *)tally->client;
    result.passed = tally->finding_count == tally->fixed_count;
    result.checked_count = tally->checked_count;
    result.finding_count = tally->finding_count;
    result.fixed_count = tally->fixed_count;
    result.waiting_count = tally->waiting_count;
    result.parked_count = tally->parked_count;
    result.findings = arena_array(arena, tally->shown_count + 1, sizeof(result.findings[0]));
    for (size_t i = 0; i < tally->shown_count; i++) {
        Torg__V1__VerifyFinding *finding = MESSAGE_NEW(verify_finding, arena);

        finding->pk = (char *)tally->shown[i].pk;
        finding->text = (char *)tally->shown[i].text;
        finding->is_fixed = tally->shown[i].is_fixed;
        result.findings[result.n_findings++] = finding;
    }
    print_json(&result.base);
}

static void print_tally(const struct tally *tally)
{
    printf("%s  %-9s %-12s %" PRIu64 " %s",
           tally->finding_count == tally->fixed_count ? "PASS" : "FAIL", tally->name,
           *tally->client ? tally->client : "-", tally->checked_count, tally->unit);
    if (tally->waiting_count)
        printf(", %" PRIu64 " on their way", tally->waiting_count);
    if (tally->parked_count)
        printf(", %" PRIu64 " parked (%s)", tally->parked_count,
               strcmp(tally->name, "offers") == 0 ? "torg parked list"
                                                  : "torg queue list --failed");
    if (tally->finding_count)
        printf(", %" PRIu64 " faults", tally->finding_count);
    if (tally->fixed_count)
        printf(", %" PRIu64 " %s", tally->fixed_count, tally->fixed);
    putchar('\n');
    for (size_t i = 0; i < tally->shown_count; i++)
        printf("      %s%s%s%s%s\n", tally->shown[i].pk, *tally->shown[i].pk ? ": " : "",
               tally->shown[i].text, tally->shown[i].is_fixed ? ": " : "",
               tally->shown[i].is_fixed ? tally->fixed : "");
    if (tally->finding_count > tally->shown_count && tally->shown_count)
        printf("      and %" PRIu64 " more\n", tally->finding_count - tally->shown_count);
    fflush(stdout);
}

static void clear_progress(const struct verifying *verifying)
{
    if (verifying->shows_progress)
        fprintf(stderr, "\r\033[K");
}

static void tell_tally(struct verifying *verifying, struct tally *tally)
{
    if (!tally->is_run)
        return;
    clear_progress(verifying);
    if (verifying->invocation->json)
        print_tally_json(tally, verifying->invocation->arena);
    else
        print_tally(tally);
    verifying->left_count += tally->finding_count - tally->fixed_count;
    tally->is_run = false;
}

static void show(struct tally *tally, const char *pk, const char *text, bool is_fixed)
{
    struct shown *shown = &tally->shown[tally->shown_count];

    if (tally->shown_count == SHOWN_COUNT)
        return;
    snprintf(shown->pk, sizeof(shown->pk), "%s", pk);
    snprintf(shown->text, sizeof(shown->text), "%s", text);
    shown->is_fixed = is_fixed;
    tally->shown_count++;
}

/* --- the stages' checks --- */

static void take_step(const struct verifying *verifying, const Torg__V1__VerifyCheck *check,
                      struct tally *tally, const Torg__V1__VerifyStepResponse *response)
{
    tally->checked_count += response->checked_count;
    tally->finding_count += response->finding_count;
    tally->fixed_count += response->fixed_count;
    tally->waiting_count += response->waiting_count;
    tally->parked_count += response->parked_count;
    for (size_t i = 0; i < response->n_findings; i++) {
        const Torg__V1__VerifyFinding *finding = response->findings[i];
        char text[TEXT_SIZE];

        snprintf(text, sizeof(text), "shard %u%s%s: %s", check->shard,
                 *check->replica ? " of " : "", check->replica, finding->text);
        show(tally, finding->pk, text, finding->is_fixed);
    }
    if (verifying->shows_progress)
        fprintf(stderr, "\r\033[K%s of %s, shard %u: %" PRIu64 " %s", tally->name, check->client,
                check->shard, tally->checked_count, tally->unit);
}

static int run_check(struct verifying *verifying, Torg__V1__VerifyCheck *check, struct err *err)
{
    Torg__V1__VerifyStepRequest request = TORG__V1__VERIFY_STEP_REQUEST__INIT;
    struct tally *tally = &verifying->tallies[check->kind];
    struct arena *arena = verifying->invocation->arena;
    uint8_t cursor[512];
    int rc;

    tally->is_run = true;
    request.check = check;
    request.fix = verifying->fix;
    do {
        struct arena_mark mark = arena_mark(arena);
        const Torg__V1__VerifyStepResponse *response;
        ProtobufCMessage *message;

        rc = desk_call(verifying->desk, &torg__v1__inspect_service__descriptor, "VerifyStep",
                       &request.base, &message, err);
        if (rc)
            break;
        response = (const Torg__V1__VerifyStepResponse *)message;
        take_step(verifying, check, tally, response);
        request.cursor.len = response->cursor.len;
        if (response->cursor.len > sizeof(cursor))
            rc = err_set(err, ERR_INTERNAL, "the server answered with a cursor that is too long");
        else if (response->cursor.len)
            memcpy(cursor, response->cursor.data, response->cursor.len);
        request.cursor.data = cursor;
        arena_rewind(arena, mark); /* there may be millions of steps */
    } while (!rc && request.cursor.len);
    return rc ? err_wrap(err, "%s of %s, shard %u", tally->name, check->client, check->shard) : 0;
}

static void begin_client(struct verifying *verifying, const char *client)
{
    for (size_t i = 0; i < ARRAY_COUNT(kinds); i++) {
        struct tally *tally = &verifying->tallies[i];

        *tally =
            (struct tally){.name = kinds[i].name, .unit = kinds[i].unit, .fixed = "queued again"};
        snprintf(tally->client, sizeof(tally->client), "%s", client);
    }
}

static void end_client(struct verifying *verifying)
{
    for (size_t i = 0; i < ARRAY_COUNT(kinds); i++)
        tell_tally(verifying, &verifying->tallies[i]);
}

static int run_plan(struct verifying *verifying, const Torg__V1__VerifyPlan *plan, struct err *err)
{
    int rc = 0;

    for (size_t i = 0; i < plan->n_checks && !rc; i++) {
        Torg__V1__VerifyCheck *check = plan->checks[i];

        if ((unsigned)check->kind >= ARRAY_COUNT(kinds))
            continue; /* of a newer server */
        if (i == 0 || strcmp(plan->checks[i - 1]->client, check->client) != 0) {
            end_client(verifying);
            begin_client(verifying, check->client);
        }
        rc = run_check(verifying, check, err);
    }
    if (!rc)
        end_client(verifying);
    return rc;
}

/* --- the cabinets' counters --- */

static int take_counters(void *arg, const ProtobufCMessage *message, struct err *err)
{
    struct tally *tally = arg;
    const Torg__V1__VerifyCountersResponse *answer =
        (const Torg__V1__VerifyCountersResponse *)message;

    (void)err;
    for (size_t i = 0; i < answer->n_differences; i++) {
        const Torg__V1__CounterDifference *one = answer->differences[i];
        char text[TEXT_SIZE];

        snprintf(text, sizeof(text), "seller %s: %s%s%s (torg offers counters --verify)",
                 one->seller, one->name, *one->offer_id ? ", offer " : "", one->offer_id);
        show(tally, "", text, one->fixed);
    }
    tally->checked_count = (uint64_t)answer->offer_count;
    tally->finding_count = (uint64_t)answer->difference_count;
    tally->fixed_count = (uint64_t)answer->fixed_count;
    return 0;
}

static int run_counters(struct verifying *verifying, struct err *err)
{
    Torg__V1__VerifyCountersRequest request = TORG__V1__VERIFY_COUNTERS_REQUEST__INIT;
    struct tally tally = {.name = "counters", .unit = "offers", .fixed = "fixed", .is_run = true};
    int rc;

    request.fix = verifying->fix;
    rc = desk_stream(verifying->desk, &torg__v1__counters_service__descriptor, "VerifyCounters",
                     &request.base, take_counters, &tally, err);
    if (rc == ERR_UNSUPPORTED)
        return 0; /* the server has not the role offers */
    if (!rc)
        tell_tally(verifying, &tally);
    return rc;
}

static int run(struct verifying *verifying, const Torg__V1__PlanVerifyRequest *request,
               struct err *err)
{
    ProtobufCMessage *plan;
    int rc = desk_call(verifying->desk, &torg__v1__inspect_service__descriptor, "PlanVerify",
                       &request->base, &plan, err);

    if (!rc)
        rc = run_plan(verifying, (const Torg__V1__VerifyPlan *)plan, err);
    if (!rc && !*request->client)
        rc = run_counters(verifying, err);
    return rc;
}

/* What the auditor has seen of the same, for people. */
static void tell_audit(struct verifying *verifying)
{
    Torg__V1__GetAuditRequest request = TORG__V1__GET_AUDIT_REQUEST__INIT;
    ProtobufCMessage *message;
    struct err err;

    if (verifying->invocation->json ||
        desk_call(verifying->desk, &torg__v1__inspect_service__descriptor, "GetAudit",
                  &request.base, &message, &err))
        return;
    print_audit((const Torg__V1__Audit *)message, verifying->invocation->arena);
}

enum exit_code cmd_verify(const struct invocation *invocation)
{
    Torg__V1__PlanVerifyRequest request = TORG__V1__PLAN_VERIFY_REQUEST__INIT;
    const char *client = invocation_option(invocation, "client");
    struct desk desk;
    struct verifying verifying = {.invocation = invocation,
                                  .desk = &desk,
                                  .fix = invocation_option(invocation, "fix") != NULL,
                                  .shows_progress = isatty(STDERR_FILENO)};
    struct err err;
    int rc;

    object_check(invocation, INVOCATION_MAGIC);
    request.client = (char *)(client ? client : "");
    request.rebuild = invocation_option(invocation, "rebuild") != NULL;
    if (desk_open(invocation, false, &desk, &err))
        return fail(&err);
    rc = run(&verifying, &request, &err);
    clear_progress(&verifying);
    if (!rc)
        tell_audit(&verifying);
    desk_close(&desk);
    if (rc == ERR_UNSUPPORTED)
        err_wrap(&err,
                 "this server does not have the role searcher, which answers this: ask one that "
                 "has");
    if (rc)
        return fail(&err);
    return verifying.left_count ? EXIT_FAILED : EXIT_OK;
}
