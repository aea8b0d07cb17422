/* SPDX-License-Identifier: Apache-2.0 */
/* receiver.c - see receiver.h: rounds of checking and accepting. */
#include "registry/receiving/receiver.h"

#include <assert.h>
#include <inttypes.h>
#include <pthread.h>

#include "base/bounds.h"
#include "base/log.h"
#include "base/log_pace.h"
#include "base/memory.h"
#include "base/metrics.h"
#include "codec/message.h"
#include "model/change_token.h"
#include "registry/bounds.h"
#include "registry/receiving/accept.h"
#include "registry/receiving/document.h"
#include "store/store_seal.h"

struct batch {
    const struct receiver *receiver;
    const char *client;
    enum lane lane;
    struct candidate *candidates;
    size_t count;
    struct candidate **round; /* of them, those of this round */
    size_t round_count;
    int64_t client_id;
    bool has_accepted;
    bool has_refused; /* the last check did */
    bool is_refused;  /* the client cannot be made, or read */
    struct seal seal; /* of tokens */
    struct arena *arena;
};

/* --- checking --- */

static int pack(struct batch *batch, const struct client_view *client, struct candidate *candidate,
                struct err *err)
{
    int rc;

    if (candidate->row.packed.size)
        return 0;
    rc = row_pack(batch->receiver->dictionaries, client->id, candidate->document, batch->arena,
                  &candidate->row, err);
    if (!client->id)
        candidate->row.packed = BYTES_EMPTY; /* once more when there is a client */
    if (candidate->row.status == ROW_TOMBSTONE)
        candidate->row.expires_us =
            clock_wall_us(batch->receiver->clock) + batch->receiver->tombstone_life_us;
    return rc;
}

static void decide(struct candidate *candidate, Torg__V1__Verdict__Kind kind)
{
    candidate->is_decided = true;
    candidate->kind = kind;
}

/* A field that would join an epoch would join those that began after it, too (schema_grow). */
static void expect_field(struct batch *batch, const struct client_view *client,
                         const struct new_field *field, struct new_fields *before)
{
    struct bytes name = bytes_of(field->field.name);

    for (uint32_t i = 0; i < client->epoch_count; i++) {
        const struct epoch_view *epoch = &client->epochs[i];
        struct new_field expected = *field;

        expected.epoch = epoch->epoch;
        if (epoch->epoch >= field->epoch && !epoch_find_field(epoch, name) &&
            !new_fields_find(before, epoch->epoch, name, field->hash))
            new_fields_add(before, &expected, batch->arena);
    }
}

/* False: it has to wait for those before it. */
static bool check(struct batch *batch, const struct client_view *client,
                  struct candidate *candidate, struct new_fields *before)
{
    const struct row packed = candidate->row;
    struct document_check check = {
        .client = client, .before = before, .reasons = &candidate->reasons, .arena = batch->arena};
    struct err err;

    candidate->reasons = violations_in(batch->arena);
    document_check(&check, candidate->document, candidate->resolved_epoch, &candidate->row);
    if (packed.packed.size) {
        candidate->row.packed = packed.packed;
        candidate->row.dictionary = packed.dictionary;
        candidate->row.content = packed.content;
        candidate->row.expires_us = packed.expires_us;
    }
    if (!candidate->reasons.count && !check.is_too_old && check.waits)
        return false;
    if (!candidate->reasons.count && !check.is_too_old && pack(batch, client, candidate, &err))
        violations_add(&candidate->reasons, "fields", "%s", err.text);
    if (candidate->reasons.count) {
        decide(candidate, TORG__V1__VERDICT__KIND__INVALID);
    } else if (check.is_too_old) {
        violations_add(&candidate->reasons, "epoch",
                       "%" PRId64 " is over: the client's is %" PRId64, candidate->document->epoch,
                       client->writing_epoch);
        decide(candidate, TORG__V1__VERDICT__KIND__EPOCH_TOO_OLD);
    } else {
        candidate->checked_epoch =
            candidate->resolved_epoch ? candidate->resolved_epoch : check.epoch->epoch;
        candidate->added = check.added;
        for (uint32_t i = 0; i < check.added.count; i++)
            expect_field(batch, client, &check.added.list[i], before);
        batch->round[batch->round_count++] = candidate;
    }
    return true;
}

/* Fills the round with what is right and can be decided together. */
static void check_round(struct batch *batch, const struct client_view *client)
{
    struct new_fields before = {0};
    bool goes_on = true;

    batch->round_count = 0;
    batch->has_refused = false;
    for (size_t i = 0; i < batch->count && goes_on; i++) {
        struct candidate *candidate = &batch->candidates[i];

        if (candidate->is_decided)
            continue;
        goes_on = check(batch, client, candidate, &before);
        batch->has_refused = batch->has_refused || candidate->is_decided;
    }
}

/* --- accepting --- */

int receiver_obtain(const struct receiver *receiver, const char *client,
                    const struct client_view **view, struct err *err)
{
    struct err told;
    bool made;
    int rc = clients_obtain(receiver->clients, client, receiver->shard_count, view, &made, err);

    assert(receiver->store && receiver->clock && receiver->clients);
    if (!rc && made)
        queue_bell_call(receiver->bell);
    if (!rc && made && receiver->coord &&
        clients_announce(receiver->clients, receiver->coord, &told))
        log_warn("a new client could not be announced yet", LOG_TEXT("client", client),
                 LOG_TEXT("error", told.text));
    return rc;
}

/* A refusal must not come of an old view: an epoch may have begun since. */
static int check_refused(struct batch *batch, const struct client_view **client, struct err *err)
{
    const struct client_view *newest;
    int rc = clients_find(batch->receiver->clients, batch->client, true, &newest, err);

    if (rc)
        return rc;
    for (size_t i = 0; i < batch->count && newest->state_no != (*client)->state_no; i++) {
        struct candidate *candidate = &batch->candidates[i];

        if (candidate->is_decided && candidate->kind == TORG__V1__VERDICT__KIND__INVALID)
            candidate->is_decided = false;
    }
    if (newest->state_no != (*client)->state_no)
        check_round(batch, newest);
    client_unref(*client);
    *client = newest;
    return 0;
}

/* Fills the round with what is right, by the newest view if one is refused; a client that is not
 * there is made when it has a right document. */
static int begin_round(struct batch *batch, bool fresh, const struct client_view **client,
                       struct err *err)
{
    const struct receiver *receiver = batch->receiver;
    const struct client_view unborn = client_unborn();
    int rc = clients_find(receiver->clients, batch->client, fresh, client, err);

    if (!rc) {
        check_round(batch, *client);
        return batch->has_refused && !fresh ? check_refused(batch, client, err) : 0;
    }
    batch->is_refused = rc == ERR_CORRUPT; /* to wait for it would keep others' documents waiting */
    if (rc != ERR_NOT_FOUND)
        return rc;
    check_round(batch, &unborn);
    if (!batch->round_count)
        return 0;
    rc = receiver_obtain(receiver, batch->client, client, err);
    batch->is_refused = rc == ERR_LIMIT;
    if (!rc)
        check_round(batch, *client);
    return rc;
}

/* One round; *is_outrun: the client has changed meanwhile, nothing was decided. */
static int run_round(struct batch *batch, bool fresh, bool *has_grown, bool *is_outrun,
                     struct err *err)
{
    struct acceptance acceptance = {.lane = batch->lane, .list = batch->round};
    const struct client_view *client = NULL;
    int rc;

    batch->round_count = 0;
    rc = begin_round(batch, fresh, &client, err);
    acceptance.client = client;
    acceptance.count = batch->round_count;
    acceptance.now_us = clock_wall_us(batch->receiver->clock);
    if (!rc && batch->round_count)
        rc = intake_accept(batch->receiver->intake, &acceptance, err);
    *has_grown = acceptance.has_grown;
    for (size_t i = 0; i < batch->round_count && rc; i++)
        batch->round[i]->is_decided = false; /* what a run that was rolled back has said */
    for (size_t i = 0; i < batch->round_count && !rc; i++)
        batch->has_accepted = batch->has_accepted || batch->round[i]->idx;
    if (client)
        batch->client_id = client->id;
    *is_outrun = rc == ERR_CONFLICT && acceptance.is_outrun;
    client_unref(client);
    return *is_outrun ? 0 : rc;
}

static bool is_all_decided(const struct batch *batch)
{
    for (size_t i = 0; i < batch->count; i++) {
        if (!batch->candidates[i].is_decided)
            return false;
    }
    return true;
}

/* Until all are decided: a round more when the schema has to grow first, or somebody was faster. */
static int run_rounds(struct batch *batch, struct err *err)
{
    unsigned outrun_count = 0;
    bool fresh = false;
    bool is_outrun;
    bool has_grown;
    int rc = store_seal(batch->receiver->store, &batch->seal, err);

    while (!rc && !is_all_decided(batch)) {
        rc = run_round(batch, fresh, &has_grown, &is_outrun, err);
        outrun_count += is_outrun;
        fresh = is_outrun || has_grown;
        if (outrun_count == DOCUMENT_ATTEMPT_COUNT_MAX)
            rc = ERR_CONFLICT;
    }
    return rc;
}

/* What could not be decided is to be sent again. */
static void give_up(struct batch *batch, int rc, const struct err *err)
{
    static struct log_pace pace; /* of all clients: it is one store */

    if (log_pace_is_due(&pace, err))
        log_warn("documents could not be decided on", LOG_TEXT("client", batch->client),
                 LOG_TEXT("code", err_name(rc)), LOG_TEXT("error", err->text));
    for (size_t i = 0; i < batch->count; i++) {
        struct candidate *candidate = &batch->candidates[i];

        if (candidate->is_decided)
            continue;
        candidate->reasons = violations_in(batch->arena);
        violations_add(&candidate->reasons, "", "%s: send it again", err->text);
        decide(candidate, TORG__V1__VERDICT__KIND__UNAVAILABLE);
    }
}

/* --- verdicts --- */

static Torg__V1__Reason *reason_message(const char *field, const char *text, struct arena *arena)
{
    Torg__V1__Reason *reason = MESSAGE_NEW(reason, arena);

    reason->field = (char *)field;
    reason->text = (char *)text;
    return reason;
}

Torg__V1__Verdict *verdict_new(const char *pk, Torg__V1__Verdict__Kind kind,
                               const struct violations *violations, struct arena *arena)
{
    Torg__V1__Verdict *verdict = MESSAGE_NEW(verdict, arena);
    size_t listed =
        violations->count < VIOLATION_COUNT_MAX ? violations->count : VIOLATION_COUNT_MAX;

    verdict->pk = (char *)pk;
    verdict->kind = kind;
    verdict->reasons = arena_array(arena, listed + 1, sizeof(Torg__V1__Reason *));
    for (const struct violation *one = violations->first; one; one = one->next)
        verdict->reasons[verdict->n_reasons++] = reason_message(one->field, one->reason, arena);
    if (violations->count > listed)
        verdict->reasons[verdict->n_reasons++] = reason_message(
            "", arena_printf(arena, "and %zu more", violations->count - listed), arena);
    return verdict;
}

static void tell_kept(struct candidate *candidate, struct arena *arena)
{
    char modified[CLOCK_TEXT_SIZE];

    clock_format(candidate->kept.modify_us, modified);
    candidate->reasons = violations_in(arena);
    violations_add(&candidate->reasons, "version",
                   "what is kept is not older: epoch %" PRId64 ", version %" PRId64 ", modified %s",
                   candidate->kept.epoch, candidate->kept.version, modified);
}

static Torg__V1__Verdict *verdict_message(const struct batch *batch, struct candidate *candidate)
{
    Torg__V1__Verdict *verdict;

    if (candidate->kind == TORG__V1__VERDICT__KIND__STALE)
        tell_kept(candidate, batch->arena);
    verdict =
        verdict_new(candidate->document->pk, candidate->kind, &candidate->reasons, batch->arena);
    if (candidate->kind == TORG__V1__VERDICT__KIND__ACCEPTED) {
        const struct change_token token = {.client_id = batch->client_id,
                                           .lane = batch->lane,
                                           .shard = candidate->shard,
                                           .idx = candidate->idx,
                                           .version = candidate->order.version,
                                           .hash = candidate->row.hash};

        verdict->token = change_token_text(&token, &batch->seal, batch->arena);
    }
    return verdict;
}

/* Of all receivers of the process. */
static struct {
    pthread_once_t once;
    struct counter *documents[TORG__V1__VERDICT__KIND__UNAVAILABLE + 1]; /* by kind of verdict */
    struct histogram *duration;
} figures = {.once = PTHREAD_ONCE_INIT};

static void make_figures(void)
{
    static const char *const labels[] = {"verdict=\"none\"",       "verdict=\"accepted\"",
                                         "verdict=\"duplicate\"",  "verdict=\"stale\"",
                                         "verdict=\"invalid\"",    "verdict=\"epoch_too_old\"",
                                         "verdict=\"unavailable\""};

    for (size_t i = TORG__V1__VERDICT__KIND__ACCEPTED; i < ARRAY_COUNT(labels); i++)
        figures.documents[i] = metrics_counter("torg_registry_documents_total", labels[i],
                                               "Documents that were sent, by verdict.");
    figures.duration = metrics_histogram("torg_registry_put_seconds", NULL,
                                         "Time from a batch of documents to its verdicts.");
}

static void count_verdicts(const struct batch *batch, int64_t began_us)
{
    pthread_once(&figures.once, make_figures);
    for (size_t i = 0; i < batch->count; i++)
        counter_add(figures.documents[batch->candidates[i].kind], 1);
    histogram_add(figures.duration, clock_mono_us(batch->receiver->clock) - began_us);
}

static int check_call(const char *client, size_t count, struct err *err)
{
    if (count < 1 || count > DOCUMENT_BATCH_COUNT_MAX)
        return err_set(err, ERR_INVALID, "documents: %zu of them; expected 1 to %d", count,
                       DOCUMENT_BATCH_COUNT_MAX);
    return client_check_name(client, err);
}

/* Once for each run of documents of one shard. */
static void ring(const struct batch *batch)
{
    const struct candidate *before = NULL;

    for (size_t i = 0; i < batch->count; i++) {
        const struct candidate *candidate = &batch->candidates[i];

        if (!candidate->idx || (before && before->shard == candidate->shard))
            continue;
        queue_bell_ring(batch->receiver->bell, batch->client_id, candidate->shard);
        before = candidate;
    }
}

int receiver_put(const struct receiver *receiver, const char *client, enum lane lane,
                 Torg__V1__RawDocument *const *documents, size_t count, struct arena *arena,
                 Torg__V1__Verdict ***verdicts, struct err *err)
{
    struct batch batch = {
        .receiver = receiver, .client = client, .lane = lane, .count = count, .arena = arena};
    int64_t began_us = clock_mono_us(receiver->clock);
    int rc = check_call(client, count, err);

    assert(receiver->store && receiver->clock && receiver->clients);
    if (rc)
        return rc;
    batch.candidates = arena_array(arena, count, sizeof(*batch.candidates));
    batch.round = arena_array(arena, count, sizeof(struct candidate *));
    for (size_t i = 0; i < count; i++)
        batch.candidates[i].document = documents[i];
    rc = run_rounds(&batch, err);
    if (rc && batch.is_refused)
        return rc;
    if (rc)
        give_up(&batch, rc, err);
    if (batch.has_accepted)
        ring(&batch);
    *verdicts = arena_array(arena, count, sizeof(Torg__V1__Verdict *));
    for (size_t i = 0; i < count; i++)
        (*verdicts)[i] = verdict_message(&batch, &batch.candidates[i]);
    count_verdicts(&batch, began_us);
    return 0;
}
