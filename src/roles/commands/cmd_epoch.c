/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_epoch.c - torg epoch plan, start, status, compare, switch, rollback, abandon, drop. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/object.h"
#include "base/text.h"
#include "codec/json.h"
#include "codec/message.h"
#include "config/bounds.h"
#include "registry/bounds.h"
#include "roles/commands/desk.h"
#include "roles/commands/print.h"
#include "torg/v1/epoch.pb-c.h"
#include "torg/v1/searcher.pb-c.h"

enum {
    SCHEMA_FILE_SIZE_MAX = 4 << 20,
    WAIT_STEP_US = 200 * 1000,
    SHOWN_QUERY_SIZE_MAX = 1 << 10,
};

#define WAIT_MAX_US (INT64_C(24) * 3600 * SECOND_US)

#define EPOCHS (&torg__v1__epoch_service__descriptor)

struct asking {
    const struct invocation *invocation;
    struct desk desk;
    char *client; /* "": the default one; protobuf-c's strings are not const */
};

static int asking_open(const struct invocation *invocation, struct asking *asking, struct err *err)
{
    const char *client = invocation_option(invocation, "client");

    asking->invocation = invocation;
    asking->client = (char *)(client ? client : "");
    return desk_open(invocation, false, &asking->desk, err);
}

/* --- the schema that is asked for --- */

struct wanted {
    Torg__V1__SchemaField **fields;
    size_t count;
};

/* "price=decimal" */
static int take_field(const char *text, struct arena *arena, struct wanted *wanted, struct err *err)
{
    const ProtobufCEnumDescriptor *types = &torg__v1__schema_field__type__descriptor;
    const char *equals = strchr(text, '=');
    const ProtobufCEnumValue *type = NULL;
    Torg__V1__SchemaField *field;
    char name[32];

    if (equals && strlen(equals + 1) < sizeof(name)) {
        snprintf(name, sizeof(name), "%s", equals + 1);
        for (char *c = name; *c; c++)
            *c = *c >= 'a' && *c <= 'z' ? (char)(*c - 'a' + 'A') : *c;
        type = protobuf_c_enum_descriptor_get_value_by_name(types, name);
    }
    if (!type || type->value == 0)
        return err_set(err, ERR_INVALID,
                       "--field=%.80s: expected NAME=TYPE, and a type is text, keyword, keywords, "
                       "integer, decimal, date, boolean, category, point or stored",
                       text);
    field = MESSAGE_NEW(schema_field, arena);
    field->name = arena_text(arena, bytes_make(text, (size_t)(equals - text)));
    field->type = (Torg__V1__SchemaField__Type)type->value;
    wanted->fields[wanted->count++] = field;
    return 0;
}

static int take_file(const char *path, struct arena *arena, struct wanted *wanted, struct err *err)
{
    struct buf content = BUF_INIT(SCHEMA_FILE_SIZE_MAX);
    ProtobufCMessage *message;
    int rc = file_read(path, &content, err);

    if (!rc)
        rc = json_decode(buf_bytes(&content), &torg__v1__schema__descriptor, arena, &message, NULL,
                         err);
    if (!rc) {
        const Torg__V1__Schema *schema = (const Torg__V1__Schema *)message;

        wanted->fields = arena_array(arena, schema->n_fields + ARGUMENT_COUNT_MAX,
                                     sizeof(Torg__V1__SchemaField *));
        for (; wanted->count < schema->n_fields; wanted->count++)
            wanted->fields[wanted->count] = schema->fields[wanted->count];
    } else {
        err_wrap(err, "%s", path);
    }
    buf_release(&content);
    return rc;
}

static int read_wanted(const struct invocation *invocation, struct wanted *wanted, struct err *err)
{
    const char *file = invocation_option(invocation, "schema");
    int rc = 0;

    *wanted = (struct wanted){0};
    wanted->fields = arena_array(invocation->arena, ARGUMENT_COUNT_MAX, sizeof(wanted->fields[0]));
    if (file)
        rc = take_file(file, invocation->arena, wanted, err);
    for (size_t i = 0; i < invocation->option_count && !rc; i++)
        if (strcmp(invocation->options[i].name, "field") == 0)
            rc = take_field(invocation->options[i].value, invocation->arena, wanted, err);
    return rc;
}

static bool read_epoch(const struct invocation *invocation, int64_t *epoch)
{
    const char *text = invocation_option(invocation, "epoch");

    *epoch = 0;
    if (!text || (text_to_i64(bytes_of(text), epoch) && *epoch > 0))
        return true;
    complain("--epoch=%.64s: expected a number, 1 or more", text);
    return false;
}

/* --- plan --- */

static Torg__V1__EpochRefusal *find_refusal(Torg__V1__PlanEpochResponse *all, const char *reason)
{
    for (size_t i = 0; i < all->n_refusals; i++)
        if (strcmp(all->refusals[i]->reason, reason) == 0)
            return all->refusals[i];
    return NULL;
}

static void add_part(Torg__V1__PlanEpochResponse *all, const Torg__V1__PlanEpochResponse *part)
{
    all->checked_count += part->checked_count;
    all->refused_count += part->refused_count;
    for (size_t i = 0; i < part->n_refusals; i++) {
        Torg__V1__EpochRefusal *known = find_refusal(all, part->refusals[i]->reason);

        if (known)
            known->count += part->refusals[i]->count;
        else if (all->n_refusals < PLAN_REASON_COUNT_MAX)
            all->refusals[all->n_refusals++] = part->refusals[i];
    }
}

static int compare_counts(const void *left, const void *right)
{
    const Torg__V1__EpochRefusal *a = *(Torg__V1__EpochRefusal *const *)left;
    const Torg__V1__EpochRefusal *b = *(Torg__V1__EpochRefusal *const *)right;

    return (a->count < b->count) - (a->count > b->count);
}

static int plan_all(struct asking *asking, Torg__V1__PlanEpochRequest *request,
                    Torg__V1__PlanEpochResponse *all, struct err *err)
{
    int rc;

    all->refusals =
        arena_array(asking->invocation->arena, PLAN_REASON_COUNT_MAX, sizeof(all->refusals[0]));
    do {
        const Torg__V1__PlanEpochResponse *part;
        ProtobufCMessage *response;

        rc = desk_call(&asking->desk, EPOCHS, "PlanEpoch", &request->base, &response, err);
        if (rc)
            return rc;
        part = (const Torg__V1__PlanEpochResponse *)response;
        add_part(all, part);
        request->page_token = part->next_page_token;
    } while (*request->page_token);
    if (all->n_refusals > 1)
        qsort(all->refusals, all->n_refusals, sizeof(all->refusals[0]), compare_counts);
    all->done_percent = 100;
    return 0;
}

/* epoch: one that there is, 0: the one that is planned. */
static void print_plan(FILE *out, const Torg__V1__PlanEpochResponse *all, int64_t epoch)
{
    fprintf(out, "%" PRId64 " documents checked, %" PRId64, all->checked_count, all->refused_count);
    if (epoch)
        fprintf(out, " do not fit epoch %" PRId64 "\n", epoch);
    else
        fprintf(out, " would not be in the new epoch\n");
    for (size_t i = 0; i < all->n_refusals; i++) {
        const Torg__V1__EpochRefusal *refusal = all->refusals[i];

        fprintf(out, "%8" PRId64 "  %s\n          such as", refusal->count, refusal->reason);
        for (size_t k = 0; k < refusal->n_sample_pks; k++)
            fprintf(out, "%s %s", k ? "," : "", refusal->sample_pks[k]);
        fprintf(out, "\n");
    }
}

enum exit_code cmd_epoch_plan(const struct invocation *invocation)
{
    Torg__V1__PlanEpochRequest request = TORG__V1__PLAN_EPOCH_REQUEST__INIT;
    Torg__V1__PlanEpochResponse all = TORG__V1__PLAN_EPOCH_RESPONSE__INIT;
    struct asking asking;
    struct wanted wanted;
    struct err err;
    int rc;

    object_check(invocation, INVOCATION_MAGIC);
    if (!read_epoch(invocation, &request.epoch))
        return EXIT_USAGE;
    if (read_wanted(invocation, &wanted, &err) || asking_open(invocation, &asking, &err))
        return fail(&err);
    request.client = asking.client;
    request.fields = wanted.fields;
    request.n_fields = wanted.count;
    rc = plan_all(&asking, &request, &all, &err);
    if (!rc && invocation->json)
        print_json(&all.base);
    else if (!rc)
        print_plan(stdout, &all, request.epoch);
    desk_close(&asking.desk);
    return rc ? fail(&err) : EXIT_OK;
}

/* --- status --- */

static const char *state_name(Torg__V1__IndexMap__Epoch__State state)
{
    static const char *const names[] = {"building", "serving", "kept"};

    return (unsigned)state < ARRAY_COUNT(names) ? names[state] : "?";
}

static void print_shards(const Torg__V1__EpochState *epoch)
{
    printf("\nepoch %" PRId64 "\n%5s %9s %8s %6s %5s %8s %6s %9s  %s\n", epoch->epoch, "SHARD",
           "POURED", "REFUSED", "LATE", "DONE", "BACKFILL", "MAIN", "INDEX", "SEARCHERS");
    for (size_t i = 0; i < epoch->n_shards; i++) {
        const Torg__V1__EpochShard *shard = epoch->shards[i];

        printf("%5u %9" PRId64 " %8" PRId64 " %6" PRId64 " %5s %8" PRId64 " %6" PRId64 " %9" PRIu64
               "  ",
               shard->shard, shard->poured_count, shard->refused_count, shard->late_count,
               shard->is_poured ? "yes" : "no", shard->backfill_end - shard->backfill_offset,
               shard->main_lag, shard->index_end);
        if (shard->knows_searchers)
            printf("%u of %u ready\n", shard->ready_count, shard->searcher_count);
        else
            printf("not known\n");
    }
}

static void print_status(const Torg__V1__EpochStatus *status, struct arena *arena)
{
    const Torg__V1__EpochState *built = NULL;

    printf("client %s: documents are written to epoch %" PRId64 ", searches ask epoch %" PRId64
           "\n\n%5s  %-9s %7s  %7s  %-9s %s\n",
           status->client, status->writing_epoch, status->serving_epoch, "EPOCH", "STATE", "FIELDS",
           "SHARDS", "NUMBERS", "STARTED");
    for (size_t i = 0; i < status->n_epochs; i++) {
        const Torg__V1__EpochState *epoch = status->epochs[i];

        printf("%5" PRId64 "  %-9s %7u  %7zu  %-9s %s\n", epoch->epoch, state_name(epoch->state),
               epoch->field_count, epoch->n_shards, epoch->numbers,
               time_text(epoch->start_time, arena));
        if (epoch->state == TORG__V1__INDEX_MAP__EPOCH__STATE__BUILDING)
            built = epoch;
    }
    if (!built)
        return;
    print_shards(built);
    printf("\n");
    for (size_t i = 0; i < status->n_waits_for; i++)
        printf("waits: %s\n", status->waits_for[i]);
    if (status->is_safe)
        printf("epoch %" PRId64 " has all documents that fit it: torg epoch switch\n",
               built->epoch);
}

static int get_status(struct asking *asking, const Torg__V1__EpochStatus **status, struct err *err)
{
    Torg__V1__GetEpochsRequest request = TORG__V1__GET_EPOCHS_REQUEST__INIT;
    ProtobufCMessage *response = NULL;
    int rc;

    request.client = asking->client;
    rc = desk_call(&asking->desk, EPOCHS, "GetEpochs", &request.base, &response, err);
    *status = (const Torg__V1__EpochStatus *)response;
    return rc;
}

static void show_status(struct asking *asking, const ProtobufCMessage *status)
{
    if (asking->invocation->json)
        print_json(status);
    else
        print_status((const Torg__V1__EpochStatus *)status, asking->invocation->arena);
}

enum exit_code cmd_epoch_status(const struct invocation *invocation)
{
    const Torg__V1__EpochStatus *status;
    struct asking asking;
    struct err err;
    int rc;

    object_check(invocation, INVOCATION_MAGIC);
    if (asking_open(invocation, &asking, &err))
        return fail(&err);
    rc = get_status(&asking, &status, &err);
    if (!rc)
        show_status(&asking, &status->base);
    desk_close(&asking.desk);
    return rc ? fail(&err) : EXIT_OK;
}

/* --- compare --- */

static void print_keys(const char *word, char *const *keys, size_t count)
{
    for (size_t i = 0; i < count; i++)
        printf("%s%s", i ? ", " : word, keys[i]);
    if (count)
        printf("\n");
}

static void print_difference(const Torg__V1__EpochDifference *difference)
{
    struct buf query = BUF_INIT(SHOWN_QUERY_SIZE_MAX);

    json_encode(&difference->query->base, &query);
    printf("\n%s\n", buf_failed(&query) ? "a query too long to be shown" : buf_text(&query));
    buf_release(&query);
    if (*difference->error) {
        printf("  not compared: %s\n", difference->error);
        return;
    }
    printf("  stage %u: %" PRIu64 " found, %" PRIu64 " in the other\n", difference->stage,
           difference->serving_total, difference->other_total);
    print_keys("  gone: ", difference->gone_pks, difference->n_gone_pks);
    print_keys("  new: ", difference->new_pks, difference->n_new_pks);
    if (!difference->n_gone_pks && !difference->n_new_pks)
        printf("  the documents shown are the same, in another order or count\n");
}

static void print_comparison(const Torg__V1__CompareEpochsResponse *response)
{
    printf("epoch %" PRId64 " serves, epoch %" PRId64 " is compared with it\n",
           response->serving_epoch, response->other_epoch);
    if (!response->asked_count) {
        printf("nobody has searched since the searcher began: there is nothing to compare them "
               "by\n");
        return;
    }
    printf("%u of the last queries: %u answered alike, %u differently, %u not by both\n",
           response->asked_count, response->equal_count, response->different_count,
           response->failed_count);
    if (response->left_out_count)
        printf("%u more were left out for lack of time\n", response->left_out_count);
    for (size_t i = 0; i < response->n_differences; i++)
        print_difference(response->differences[i]);
}

enum exit_code cmd_epoch_compare(const struct invocation *invocation)
{
    Torg__V1__CompareEpochsRequest request = TORG__V1__COMPARE_EPOCHS_REQUEST__INIT;
    ProtobufCMessage *response;
    struct asking asking;
    struct err err;
    int rc;

    object_check(invocation, INVOCATION_MAGIC);
    if (!read_epoch(invocation, &request.epoch))
        return EXIT_USAGE;
    if (asking_open(invocation, &asking, &err))
        return fail(&err);
    request.client = asking.client;
    rc = desk_call(&asking.desk, &torg__v1__searcher_service__descriptor, "CompareEpochs",
                   &request.base, &response, &err);
    if (!rc && invocation->json)
        print_json(response);
    else if (!rc)
        print_comparison((const Torg__V1__CompareEpochsResponse *)response);
    desk_close(&asking.desk);
    return rc ? fail(&err) : EXIT_OK;
}

/* --- what changes them --- */

/* Asks for the change, shows what is then, and closes. */
static enum exit_code change(struct asking *asking, const char *method,
                             const ProtobufCMessage *request)
{
    ProtobufCMessage *response;
    struct err err;
    int rc = desk_call(&asking->desk, EPOCHS, method, request, &response, &err);

    if (!rc)
        show_status(asking, response);
    desk_close(&asking->desk);
    return rc ? fail(&err) : EXIT_OK;
}

static bool read_shards(const struct invocation *invocation, uint32_t *count)
{
    const char *text = invocation_option(invocation, "shards");
    uint64_t number = 0;

    *count = 0;
    if (text &&
        (!text_to_u64(bytes_of(text), &number) || number < 1 || number > CLIENT_SHARD_COUNT_MAX)) {
        complain("--shards=%.64s: expected a number from 1 to %d", text, CLIENT_SHARD_COUNT_MAX);
        return false;
    }
    *count = (uint32_t)number;
    return true;
}

static bool read_numbers(const struct invocation *invocation, Torg__V1__StartEpochRequest *request)
{
    const char *by = invocation_option(invocation, "by");

    request->renumber = invocation_option(invocation, "renumber") != NULL;
    request->renumber_by = (char *)(by ? by : "");
    request->renumber_ascending = invocation_option(invocation, "ascending") != NULL;
    if (by && (!*by || !request->renumber))
        complain(*by ? "--by=%.64s: say --renumber, too: documents get other numbers by it"
                     : "--by=%.64s: expected the name of a field",
                 by);
    else if (request->renumber_ascending && !by)
        complain("--ascending: say --by FIELD, too: it is the order of a field");
    else
        return read_shards(invocation, &request->shard_count);
    return false;
}

enum exit_code cmd_epoch_start(const struct invocation *invocation)
{
    Torg__V1__StartEpochRequest request = TORG__V1__START_EPOCH_REQUEST__INIT;
    struct asking asking;
    struct wanted wanted;
    struct err err;

    object_check(invocation, INVOCATION_MAGIC);
    if (!read_numbers(invocation, &request))
        return EXIT_USAGE;
    if (read_wanted(invocation, &wanted, &err) || asking_open(invocation, &asking, &err))
        return fail(&err);
    request.client = asking.client;
    request.fields = wanted.fields;
    request.n_fields = wanted.count;
    return change(&asking, "StartEpoch", &request.base);
}

/* The epoch of the number, or the one in this state; NULL: there is none. */
static const Torg__V1__EpochState *pick_epoch(const Torg__V1__EpochStatus *status, int64_t epoch,
                                              Torg__V1__IndexMap__Epoch__State state)
{
    for (size_t i = 0; i < status->n_epochs; i++)
        if (status->epochs[i]->state == state && (!epoch || status->epochs[i]->epoch == epoch))
            return status->epochs[i];
    return NULL;
}

/* What the epoch that is built still lacks; NULL: nothing, or it is not built, as the switch tells.
 */
static int find_lack(struct asking *asking, int64_t wanted, const char **lack, struct err *err)
{
    const Torg__V1__EpochState *built;
    const Torg__V1__EpochStatus *status;
    int rc = get_status(asking, &status, err);

    *lack = NULL;
    if (rc)
        return rc;
    built = pick_epoch(status, wanted, TORG__V1__INDEX_MAP__EPOCH__STATE__BUILDING);
    if (built && status->n_waits_for)
        *lack = arena_printf(asking->invocation->arena, "epoch %" PRId64 ": %s", built->epoch,
                             status->waits_for[0]);
    return 0;
}

static int refuse_switch(const struct asking *asking, const char *lack, struct err *err)
{
    if (!asking->desk.remote)
        return err_set(err, ERR_PRECONDITION,
                       "%s, and no server runs that could continue: start one, or use --force",
                       lack);
    return err_set(err, ERR_PRECONDITION, "%s: say --wait 1m to wait for it, or --force", lack);
}

/* Until nothing is missing, for at most so long; 0: it is looked once. */
static int await_epoch(struct asking *asking, int64_t epoch, int64_t wait_us, struct err *err)
{
    int64_t deadline_us = clock_mono_us(clock_system()) + wait_us;
    struct arena *arena = asking->invocation->arena;
    bool shows_progress = isatty(STDERR_FILENO);
    const char *lack;
    int rc;

    for (;;) {
        struct arena_mark mark = arena_mark(arena);

        rc = find_lack(asking, epoch, &lack, err);
        if (rc || !lack)
            break;
        if (!asking->desk.remote || clock_mono_us(clock_system()) >= deadline_us) {
            rc = refuse_switch(asking, lack, err);
            break;
        }
        if (shows_progress)
            fprintf(stderr, "\r%.79s\033[K", lack);
        arena_rewind(arena, mark);
        clock_sleep(clock_system(), WAIT_STEP_US);
    }
    if (shows_progress && wait_us)
        fprintf(stderr, "\r\033[K");
    return rc;
}

/* Documents that do not fit the epoch asked for, by their present form; told with their reasons,
 * and to be consented to. */
static int consent(struct asking *asking, int64_t epoch, Torg__V1__IndexMap__Epoch__State state,
                   protobuf_c_boolean *accept_losses, struct err *err)
{
    Torg__V1__PlanEpochRequest request = TORG__V1__PLAN_EPOCH_REQUEST__INIT;
    Torg__V1__PlanEpochResponse all = TORG__V1__PLAN_EPOCH_RESPONSE__INIT;
    const Torg__V1__EpochState *found;
    const Torg__V1__EpochStatus *status;
    int rc = get_status(asking, &status, err);

    found = rc ? NULL : pick_epoch(status, epoch, state);
    if (rc || !found || !found->misfit_count) /* that there is none is told by who moves it */
        return rc;
    request.client = asking->client;
    request.epoch = found->epoch;
    rc = plan_all(asking, &request, &all, err);
    *accept_losses = !rc && ((!all.refused_count && !found->failed_count) ||
                             invocation_option(asking->invocation, "accept-losses") != NULL);
    if (rc || *accept_losses)
        return rc;
    print_plan(stderr, &all, found->epoch);
    if (found->failed_count)
        fprintf(stderr,
                "%8" PRId64 "  could not be sent to it, or applied by its searchers: torg "
                "queue list --failed\n",
                found->failed_count);
    return err_set(err, ERR_PRECONDITION,
                   "%" PRId64 " documents would not be found in epoch %" PRId64
                   ": send them in a form that fits it, or say --accept-losses",
                   all.refused_count + found->failed_count, found->epoch);
}

static bool read_wait(const struct invocation *invocation, int64_t *wait_us)
{
    const char *text = invocation_option(invocation, "wait");

    *wait_us = 0;
    if (!text ||
        (text_to_duration(bytes_of(text), wait_us) && *wait_us >= 0 && *wait_us <= WAIT_MAX_US))
        return true;
    complain("--wait=%.64s: expected a duration such as 30s or 5m, at most 24h", text);
    return false;
}

enum exit_code cmd_epoch_switch(const struct invocation *invocation)
{
    Torg__V1__SwitchEpochRequest request = TORG__V1__SWITCH_EPOCH_REQUEST__INIT;
    struct asking asking;
    int64_t wait_us;
    struct err err;

    object_check(invocation, INVOCATION_MAGIC);
    if (!read_epoch(invocation, &request.epoch) || !read_wait(invocation, &wait_us))
        return EXIT_USAGE;
    request.force = invocation_option(invocation, "force") != NULL;
    if (asking_open(invocation, &asking, &err))
        return fail(&err);
    request.client = asking.client;
    if ((!request.force && await_epoch(&asking, request.epoch, wait_us, &err)) ||
        consent(&asking, request.epoch, TORG__V1__INDEX_MAP__EPOCH__STATE__BUILDING,
                &request.accept_losses, &err)) {
        desk_close(&asking.desk);
        return fail(&err);
    }
    return change(&asking, "SwitchEpoch", &request.base);
}

enum exit_code cmd_epoch_rollback(const struct invocation *invocation)
{
    Torg__V1__RollbackEpochRequest request = TORG__V1__ROLLBACK_EPOCH_REQUEST__INIT;
    struct asking asking;
    struct err err;

    object_check(invocation, INVOCATION_MAGIC);
    if (!read_epoch(invocation, &request.epoch))
        return EXIT_USAGE;
    if (asking_open(invocation, &asking, &err))
        return fail(&err);
    request.client = asking.client;
    if (consent(&asking, request.epoch, TORG__V1__INDEX_MAP__EPOCH__STATE__KEPT,
                &request.accept_losses, &err)) {
        desk_close(&asking.desk);
        return fail(&err);
    }
    return change(&asking, "RollbackEpoch", &request.base);
}

/* The client and the epoch are all that the request says. */
static enum exit_code change_named(const struct invocation *invocation, const char *method,
                                   const ProtobufCMessage *request, char **client, int64_t *epoch)
{
    struct asking asking;
    struct err err;

    object_check(invocation, INVOCATION_MAGIC);
    if (!read_epoch(invocation, epoch))
        return EXIT_USAGE;
    if (asking_open(invocation, &asking, &err))
        return fail(&err);
    *client = asking.client;
    return change(&asking, method, request);
}

enum exit_code cmd_epoch_abandon(const struct invocation *invocation)
{
    Torg__V1__AbandonEpochRequest request = TORG__V1__ABANDON_EPOCH_REQUEST__INIT;

    return change_named(invocation, "AbandonEpoch", &request.base, &request.client, &request.epoch);
}

enum exit_code cmd_epoch_drop(const struct invocation *invocation)
{
    Torg__V1__DropEpochRequest request = TORG__V1__DROP_EPOCH_REQUEST__INIT;

    return change_named(invocation, "DropEpoch", &request.base, &request.client, &request.epoch);
}
