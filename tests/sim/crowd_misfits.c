/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crowd_misfits.c - documents whose code is a number to some epochs of their client and a word to
 * others. They are written for the epoch of writers and for the one that is built, which may be
 * given up, or switched to before they are on their way.
 *
 * Whatever operators do, one that was acknowledged is found at its newest version, or is to be
 * found in an epoch that is built or written to, or stands in the list of failed ones with its
 * reason. In half of the seeds some of those who switch and roll back consent to losses: then one
 * may also be left out of the epoch that serves, and its trace says so and why. Once an epoch
 * serves that every code fits, all are found.
 */
#include <stdio.h>
#include <string.h>

#include "codec/message.h"
#include "sim/crowd.h"
#include "torg/v1/document.pb-c.h"
#include "torg/v1/epoch.pb-c.h"
#include "torg/v1/inspect.pb-c.h"
#include "torg/v1/queue.pb-c.h"

/* As what has failed is tried again: a minute, or more. */
enum { MISFIT_SHARE = 4, TRY_COUNT = 900, TRY_US = 200 * MS_US, FAILED_COUNT_MAX = 100 };

typedef Torg__V1__EpochStatus Status;
typedef Torg__V1__RawDocument Raw;

bool misfits_are_on(const struct model *model)
{
    return model->seed % MISFIT_SHARE == 1;
}

bool misfits_may_be_left_out(const struct model *model)
{
    return misfits_are_on(model) && model->seed / MISFIT_SHARE % 2 == 1;
}

static char *pk_of(unsigned number, struct arena *arena)
{
    return arena_printf(arena, "misfit%u", number);
}

/* ---- asking ---- */

/* NULL: there is no answer, or no client yet. */
static const Status *find_epochs(struct actor *actor, struct arena *arena)
{
    Torg__V1__GetEpochsRequest request = TORG__V1__GET_EPOCHS_REQUEST__INIT;
    ProtobufCMessage *answer;
    struct err err;

    request.client = (char *)client_names[0];
    return world_call(actor->crowd->world, &torg__v1__epoch_service__descriptor, "GetEpochs", NULL,
                      &request.base, arena, &answer, &err)
               ? NULL
               : (const Status *)answer;
}

/* 0: none. */
static int64_t built_epoch(const Status *status)
{
    for (size_t i = 0; status && i < status->n_epochs; i++)
        if (status->epochs[i]->state == TORG__V1__INDEX_MAP__EPOCH__STATE__BUILDING)
            return status->epochs[i]->epoch;
    return 0;
}

/* What is kept; NULL: nothing. False: there is no answer. */
static bool read_kept(struct actor *actor, unsigned number, struct arena *arena, const Raw **kept)
{
    Torg__V1__GetDocumentRequest request = TORG__V1__GET_DOCUMENT_REQUEST__INIT;
    ProtobufCMessage *answer;
    struct err err;
    int rc;

    request.client = (char *)client_names[0];
    request.pk = pk_of(number, arena);
    rc = world_call(actor->crowd->world, &torg__v1__document_service__descriptor, "GetDocument",
                    NULL, &request.base, arena, &answer, &err);
    if (rc && rc != ERR_NOT_FOUND && !is_unsure(rc))
        model_fail(actor->crowd->model, NULL, "misfit %u cannot be read: %s", number, err.text);
    *kept = rc ? NULL : ((const Torg__V1__StoredDocument *)answer)->document;
    return !rc || rc == ERR_NOT_FOUND;
}

/* ---- writing ---- */

static bool resolve(struct actor *actor, unsigned number)
{
    struct model *model = actor->crowd->model;
    struct misfit *misfit = &model->misfits[number];
    struct arena *arena = arena_new();
    const Raw *kept;
    int64_t version;
    bool is_told = read_kept(actor, number, arena, &kept);

    version = is_told && kept ? kept->version : 0;
    arena_free(arena);
    if (!is_told)
        return false;
    if (version != misfit->version && version != misfit->asked)
        model_fail(model, NULL, "version %d of misfit %u is kept; %d was acknowledged, %d asked",
                   (int)version, number, (int)misfit->version, (int)misfit->asked);
    model_lock();
    misfit->version = version;
    misfit->asked = 0;
    model_unlock();
    return true;
}

bool misfits_resolve(struct actor *actor)
{
    for (unsigned i = 0; i < MISFIT_COUNT; i++)
        if (actor->crowd->model->misfits[i].asked && !resolve(actor, i))
            return false;
    return true;
}

static Raw *document_of(struct actor *actor, unsigned number, bool is_word, struct arena *arena)
{
    Raw *document = MESSAGE_NEW(raw_document, arena);
    Torg__V1__RawField *serial = MESSAGE_NEW(raw_field, arena);
    Torg__V1__RawField *code = MESSAGE_NEW(raw_field, arena);

    document->pk = pk_of(number, arena);
    document->version = actor->crowd->model->misfits[number].asked;
    document->fields = arena_array(arena, 2, sizeof(document->fields[0]));
    document->n_fields = 2;
    document->fields[0] = serial;
    document->fields[1] = code;
    serial->name = "serial";
    serial->_integer_case = TORG__V1__RAW_FIELD___INTEGER_INTEGER;
    serial->integer = document->version;
    code->name = "code";
    code->_integer_case = TORG__V1__RAW_FIELD___INTEGER_INTEGER;
    code->integer = document->version;
    if (is_word) {
        code->_integer_case = TORG__V1__RAW_FIELD___INTEGER__NOT_SET;
        code->_keyword_case = TORG__V1__RAW_FIELD___KEYWORD_KEYWORD;
        code->keyword = arena_printf(arena, "w%d", (int)document->version);
    }
    return document;
}

/* With the lock. Whether it is right for an epoch that others move is the receiver's to say. */
static void take_verdict(struct model *model, unsigned number, const Torg__V1__Verdict *verdict)
{
    struct misfit *misfit = &model->misfits[number];

    model_step(model, NULL, "misfit %u, version %d: verdict %d %s", number, (int)misfit->asked,
               (int)verdict->kind, verdict->n_reasons ? verdict->reasons[0]->text : "");
    if (verdict->kind == TORG__V1__VERDICT__KIND__UNAVAILABLE)
        return;
    if (verdict->kind == TORG__V1__VERDICT__KIND__ACCEPTED)
        misfit->version = misfit->asked;
    misfit->asked = 0;
}

static void put(struct actor *actor, unsigned number)
{
    struct model *model = actor->crowd->model;
    Torg__V1__QualifiedBatch batch = TORG__V1__QUALIFIED_BATCH__INIT;
    struct arena *arena = arena_new();
    bool is_word = draw_chance(&actor->rng, 500);
    Raw *document;
    ProtobufCMessage *answer;
    struct err err;
    int rc;

    model_lock();
    model->misfits[number].asked = ++model->misfits[number].count;
    model->asked_count++;
    model_unlock();
    document = document_of(actor, number, is_word, arena);
    if (draw_chance(&actor->rng, 600))
        document->epoch = built_epoch(find_epochs(actor, arena));
    model_lock();
    model_step(model, NULL, "misfit %u, version %d, epoch %d: a %s", number, (int)document->version,
               (int)document->epoch, is_word ? "word" : "number");
    model_unlock();
    batch.client = (char *)client_names[0];
    batch.documents = &document;
    batch.n_documents = 1;
    batch.lane = draw_chance(&actor->rng, 300) ? TORG__V1__QUEUE_LANE__NAME__BACKFILL
                                               : TORG__V1__QUEUE_LANE__NAME__MAIN;
    rc = world_call(actor->crowd->world, &torg__v1__document_service__descriptor, "PutDocuments",
                    NULL, &batch.base, arena, &answer, &err);
    if (rc && !is_unsure(rc))
        model_fail(model, NULL, "a right batch was refused: %s", err.text);
    model_lock();
    if (!rc)
        take_verdict(model, number, ((Torg__V1__PutDocumentsResponse *)answer)->verdicts[0]);
    model->unsure_count += rc != 0;
    model_unlock();
    arena_free(arena);
}

void misfit_step(struct actor *actor)
{
    unsigned number = draw_below(&actor->rng, MISFIT_COUNT);

    if (!misfits_are_on(actor->crowd->model))
        return;
    if (draw_chance(&actor->rng, 400))
        epoch_move(actor, 0);
    else if (!actor->crowd->model->misfits[number].asked || resolve(actor, number))
        put(actor, number);
}

/* ---- judging ---- */

static const Torg__V1__ListFailedResponse *list_failed(struct actor *actor, struct arena *arena)
{
    Torg__V1__ListFailedRequest request = TORG__V1__LIST_FAILED_REQUEST__INIT;
    ProtobufCMessage *answer;
    struct err err;

    request.client = (char *)client_names[0];
    request.pk_prefix = "misfit";
    request.page_size = FAILED_COUNT_MAX;
    if (world_call(actor->crowd->world, &torg__v1__queue_service__descriptor, "ListFailed", NULL,
                   &request.base, arena, &answer, &err))
        model_fail(actor->crowd->model, NULL, "ListFailed at rest: %s", err.text);
    return (const Torg__V1__ListFailedResponse *)answer;
}

static bool has_failed(struct actor *actor, unsigned number, int64_t version, struct arena *arena)
{
    const Torg__V1__ListFailedResponse *failed = list_failed(actor, arena);

    for (size_t i = 0; i < failed->n_documents; i++)
        if (strcmp(failed->documents[i]->pk, pk_of(number, arena)) == 0)
            return failed->documents[i]->version == version && *failed->documents[i]->reason;
    return false;
}

/* Not found, since its epoch is not the one that is asked. */
static bool is_to_come(struct actor *actor, unsigned number, struct arena *arena)
{
    const Status *status = find_epochs(actor, arena);
    const Raw *kept = NULL;

    return status && read_kept(actor, number, arena, &kept) && kept &&
           kept->epoch != status->serving_epoch &&
           (kept->epoch == built_epoch(status) || kept->epoch == status->writing_epoch);
}

/* Somebody has consented to that, and who looks is told. */
static bool is_left_out(struct actor *actor, unsigned number, struct arena *arena)
{
    Torg__V1__TraceDocumentRequest request = TORG__V1__TRACE_DOCUMENT_REQUEST__INIT;
    const Torg__V1__Trace *trace;
    ProtobufCMessage *answer;
    struct err err;

    if (!actor->crowd->model->is_loss_accepted)
        return false;
    request.client = (char *)client_names[0];
    request.pk = pk_of(number, arena);
    if (world_call(actor->crowd->world, &torg__v1__inspect_service__descriptor, "TraceDocument",
                   NULL, &request.base, arena, &answer, &err))
        return false;
    trace = (const Torg__V1__Trace *)answer;
    for (size_t i = 0; i < trace->n_steps; i++)
        if (strcmp(trace->steps[i]->stage, "indexed") == 0)
            return trace->steps[i]->state == TORG__V1__TRACE_STEP__STATE__STUCK &&
                   strstr(trace->steps[i]->text, "does not fit epoch");
    return false;
}

/* What is wrong with the first of them; NULL: nothing. must: they fit. */
static const char *find_fault(struct actor *actor, bool must, struct arena *arena)
{
    int64_t shown[MISFIT_COUNT];

    if (!misfits_look(actor, shown))
        return "a search has no whole answer";
    for (unsigned i = 0; i < MISFIT_COUNT; i++) {
        int64_t version = actor->crowd->model->misfits[i].version;

        if (shown[i] == version)
            continue;
        if (must || shown[i])
            return arena_printf(arena, "misfit %u is found at version %d, not %d", i, (int)shown[i],
                                (int)version);
        if (!has_failed(actor, i, version, arena) && !is_to_come(actor, i, arena) &&
            !is_left_out(actor, i, arena))
            return arena_printf(arena,
                                "version %d of misfit %u is neither found, nor to come, nor "
                                "failed, nor told to be left out",
                                (int)version, i);
    }
    return NULL;
}

static void await(struct actor *actor, bool must)
{
    struct arena *arena = arena_new();
    const char *fault = find_fault(actor, must, arena);

    for (unsigned i = 0; fault && i < TRY_COUNT; i++) {
        pause_us(TRY_US);
        arena_reset(arena);
        fault = find_fault(actor, must, arena);
    }
    if (fault)
        model_fail(actor->crowd->model, NULL, "%s: %s", must ? "in an epoch that fits" : "at rest",
                   fault);
    arena_free(arena);
}

/* An epoch in which a code is a word serves, and what has failed is tried again. */
static void heal(struct actor *actor)
{
    const ProtobufCServiceDescriptor *service = &torg__v1__epoch_service__descriptor;
    Torg__V1__AbandonEpochRequest abandon = TORG__V1__ABANDON_EPOCH_REQUEST__INIT;
    Torg__V1__StartEpochRequest start = TORG__V1__START_EPOCH_REQUEST__INIT;
    Torg__V1__SwitchEpochRequest change = TORG__V1__SWITCH_EPOCH_REQUEST__INIT;
    Torg__V1__ReplayFailedRequest replay = TORG__V1__REPLAY_FAILED_REQUEST__INIT;
    Torg__V1__SchemaField code = TORG__V1__SCHEMA_FIELD__INIT;
    Torg__V1__SchemaField *fields[] = {&code};
    struct world *world = actor->crowd->world;
    struct arena *arena = arena_new();
    ProtobufCMessage *answer;
    struct err err;
    int rc;

    abandon.client = start.client = change.client = replay.client = (char *)client_names[0];
    code.name = "code";
    code.type = TORG__V1__SCHEMA_FIELD__TYPE__KEYWORD;
    start.fields = fields;
    start.n_fields = 1;
    replay.all = true;
    world_call(world, service, "AbandonEpoch", NULL, &abandon.base, arena, &answer, &err);
    rc = world_call(world, service, "StartEpoch", NULL, &start.base, arena, &answer, &err);
    for (unsigned i = 0; i < TRY_COUNT && (!i || rc == ERR_PRECONDITION); i++) {
        pause_us(TRY_US);
        rc = world_call(world, service, "SwitchEpoch", NULL, &change.base, arena, &answer, &err);
    }
    actor->crowd->model->switched_us[0] = now_mono_us();
    if (!rc)
        rc = world_call(world, &torg__v1__queue_service__descriptor, "ReplayFailed", NULL,
                        &replay.base, arena, &answer, &err);
    if (rc)
        model_fail(actor->crowd->model, NULL, "an epoch that all codes fit: %s", err.text);
    arena_free(arena);
}

void misfits_judge(struct actor *actor)
{
    bool are_any = false;

    for (unsigned i = 0; i < MISFIT_COUNT; i++)
        are_any = are_any || actor->crowd->model->misfits[i].version;
    if (!are_any)
        return;
    await(actor, false);
    heal(actor);
    await(actor, true);
}
