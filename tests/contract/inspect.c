/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inspect.c - checks find each fault that is made, and none where there is none; on every store.
 *
 * Documents go through the real receiver, indexer and searcher's application; the topic is in
 * memory. The index that the checks ask is a list of ours, filled from the topic, in which faults
 * can be made.
 */
#include "contract/store_fixture.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/memory.h"
#include "codec/message.h"
#include "inspect/trace/trace.h"
#include "inspect/verify/rebuild.h"
#include "inspect/verify/verify.h"
#include "model/bounds.h"
#include "model/document_size.h"
#include "registry/clients/epoch_desk.h"
#include "registry/indexing/indexer.h"
#include "registry/receiving/receiver.h"
#include "searcher/replica/apply.h"
#include "store/migrate.h"
#include "topic/topic.h"

enum { SHARD_COUNT = 2, DOC_COUNT = 450, LISTED_MAX = 1000, SETTLE_MS = 60 };

#define CLIENT "shop"
#define KIND(name) TORG__V1__VERIFY_CHECK__KIND__##name
#define STATE(name) TORG__V1__TRACE_STEP__STATE__##name

/* A shard as a searcher has it. */
struct listed {
    struct shard *shard;
    struct applier *applier;
    uint64_t offset;
    Torg__V1__IndexedDocument documents[LISTED_MAX]; /* by number; version 0: none */
};

/* The page, a look that begins to wait, and one when all that waited is there. */
enum { REWRITE_LOOK = 3, REWRITE_VERSION = 9 };

struct world {
    struct fixture *fixture;
    struct arena *arena, *spare;
    struct topics *topics;
    struct clients *clients;
    struct dictionaries *dictionaries;
    struct receiver receiver;
    struct indexer_base base;
    struct indexer *indexers[SHARD_COUNT];
    struct listed listed[SHARD_COUNT];
    struct inspect inspect;
    uint64_t damaged; /* the content that is told instead; 0: the real one */
    const char *damage;
    const char *rewritten; /* between the row and the index, in the look that is to be the last */
    unsigned list_count;
    enum { TRUTH, TOO_MANY, BACKWARDS, IN_CIRCLES, LIE_COUNT } lie; /* of the list of documents */
};

/* --- the index --- */

static int tell_freshness(void *arg, const char *client, struct arena *arena,
                          Torg__V1__Freshness **freshness, struct err *err)
{
    *freshness = (Torg__V1__Freshness *)message_new(&torg__v1__freshness__descriptor, arena);
    (*freshness)->shards = arena_array(arena, SHARD_COUNT, sizeof((*freshness)->shards[0]));
    for (uint32_t i = 0; i < SHARD_COUNT; i++) {
        Torg__V1__ShardFreshness *one =
            (Torg__V1__ShardFreshness *)message_new(&torg__v1__shard_freshness__descriptor, arena);

        one->epoch = 1;
        one->shard = i;
        one->is_ready = true;
        (*freshness)->shards[(*freshness)->n_shards++] = one;
    }
    return 0;
}

/* What a searcher of another version, or somebody else at its address, may answer. */
static void tell_lies(int lie, const Torg__V1__ListIndexedRequest *request, struct arena *arena,
                      Torg__V1__ListIndexedResponse *made)
{
    enum { MANY = 5000 };
    Torg__V1__IndexedDocument **first = made->documents;

    if (lie == TOO_MANY) {
        made->documents = arena_array(arena, MANY, sizeof(first[0]));
        for (made->n_documents = 0; made->n_documents < MANY; made->n_documents++) {
            Torg__V1__IndexedDocument *one = arena_alloc(arena, sizeof(*one));

            torg__v1__indexed_document__init(one);
            one->doc_id = request->from_id + (uint32_t)made->n_documents;
            made->documents[made->n_documents] = one;
        }
    }
    if (lie == BACKWARDS && made->n_documents > 1) {
        Torg__V1__IndexedDocument *swapped = first[0];

        first[0] = first[1];
        first[1] = swapped;
    }
    if (lie == IN_CIRCLES)
        made->next_id = 1;
}

static void put(struct world *world, const char *pk, int64_t version, bool is_alive);
static void index_all(struct world *world);

static int list_documents(void *arg, const char *replica,
                          const Torg__V1__ListIndexedRequest *request, struct arena *arena,
                          Torg__V1__ListIndexedResponse **response, struct err *err)
{
    struct world *world = arg;
    struct listed *listed = &world->listed[request->shard];
    Torg__V1__ListIndexedResponse *made = (Torg__V1__ListIndexedResponse *)message_new(
        &torg__v1__list_indexed_response__descriptor, arena);

    if (world->rewritten && ++world->list_count == REWRITE_LOOK) {
        struct arena *checks = world->arena; /* forgets what is made within a look */

        world->arena = world->spare;
        put(world, world->rewritten, REWRITE_VERSION, true);
        index_all(world);
        world->arena = checks;
    }
    made->documents = arena_array(arena, request->limit, sizeof(made->documents[0]));
    for (uint32_t id = request->from_id; id < LISTED_MAX; id++) {
        if (!listed->documents[id].version)
            continue;
        if (made->n_documents == request->limit) {
            made->next_id = id;
            break;
        }
        made->documents[made->n_documents++] = &listed->documents[id];
    }
    tell_lies(world->lie, request, arena, made);
    *response = made;
    return 0;
}

static int check_shard(void *arg, const char *replica, const Torg__V1__CheckShardRequest *request,
                       struct arena *arena, Torg__V1__CheckShardResponse **response,
                       struct err *err)
{
    struct world *world = arg;
    struct listed *listed = &world->listed[request->shard];
    const struct progress *progress = applier_progress(listed->applier);

    if (request->files && world->damage)
        return err_set(err, ERR_CORRUPT, "%s", world->damage);
    *response = (Torg__V1__CheckShardResponse *)message_new(
        &torg__v1__check_shard_response__descriptor, arena);
    (*response)->doc_count = applier_doc_count(listed->applier);
    (*response)->lanes = arena_array(arena, PROGRESS_LANE_COUNT, sizeof((*response)->lanes[0]));
    for (int i = 0; i < PROGRESS_LANE_COUNT; i++) {
        Torg__V1__LaneFreshness *lane =
            (Torg__V1__LaneFreshness *)message_new(&torg__v1__lane_freshness__descriptor, arena);

        lane->lane = (Torg__V1__QueueLane__Name)i;
        lane->idx = progress->lanes[i];
        (*response)->lanes[(*response)->n_lanes++] = lane;
    }
    if (!request->content)
        return 0;
    (*response)->content = world->damaged;
    return world->damaged ? 0 : shard_hash(listed->shard, &(*response)->content, err);
}

static void note(struct world *world, struct listed *listed, struct bytes value)
{
    const Torg__V1__IndexMessage *message;
    ProtobufCMessage *decoded;
    struct err err;

    assert_int_equal(
        message_decode(value, &torg__v1__index_message__descriptor, world->arena, &decoded, &err),
        0);
    message = (const Torg__V1__IndexMessage *)decoded;
    if (message->kind_case == TORG__V1__INDEX_MESSAGE__KIND_PUT) {
        Torg__V1__IndexedDocument *document = &listed->documents[message->put->doc_id];

        torg__v1__indexed_document__init(document);
        document->doc_id = message->put->doc_id;
        document->pk = message->put->pk;
        document->version = message->put->version;
    }
    if (message->kind_case == TORG__V1__INDEX_MESSAGE__KIND_REMOVE)
        listed->documents[message->remove->doc_id].version = 0;
}

/* What the topic has, into the index. */
static void follow(struct world *world)
{
    const struct topic_message *messages;
    struct err err = {0};
    size_t count;

    for (uint32_t i = 0; i < SHARD_COUNT; i++) {
        struct listed *listed = &world->listed[i];

        do {
            if (topic_read(world->topics, "index." CLIENT ".1", i, listed->offset, 1000, 0,
                           world->arena, &messages, &count, &err))
                fail_msg("%s", err.text);
            for (size_t j = 0; j < count; j++) {
                if (applier_apply(listed->applier, messages[j].value, world->arena, NULL, &err))
                    fail_msg("%s", err.text);
                note(world, listed, messages[j].value);
                listed->offset = messages[j].offset + 1;
            }
        } while (count);
        assert_int_equal(applier_publish(listed->applier, listed->offset, &err), 0);
    }
}

static void send_all(struct world *world)
{
    struct indexer_round round;
    struct err err = {0};

    for (uint32_t i = 0; i < SHARD_COUNT; i++) {
        do {
            if (indexer_round(world->indexers[i], &round, &err))
                fail_msg("%s", err.text);
        } while (round.more || round.element_count || !round.is_settled);
    }
}

static void index_all(struct world *world)
{
    send_all(world);
    follow(world);
}

/* --- documents --- */

static Torg__V1__RawDocument *document_of(struct arena *arena, const char *pk, int64_t version)
{
    Torg__V1__RawDocument *document =
        (Torg__V1__RawDocument *)message_new(&torg__v1__raw_document__descriptor, arena);
    Torg__V1__RawField *title =
        (Torg__V1__RawField *)message_new(&torg__v1__raw_field__descriptor, arena);

    document->pk = arena_strdup(arena, pk);
    document->version = version;
    title->name = arena_strdup(arena, "title");
    title->_text_case = TORG__V1__RAW_FIELD___TEXT_TEXT;
    title->text = arena_printf(arena, "bicycle of %s, issue %" PRId64, pk, version);
    document->fields = arena_array(arena, 1, sizeof(title));
    document->fields[document->n_fields++] = title;
    return document;
}

/* Fills the document up with words to DOCUMENT_SIZE_MAX bytes, and some more. */
static void fill_up(struct arena *arena, Torg__V1__RawDocument *document, size_t more)
{
    static const size_t size = DOCUMENT_TEXT_SIZE_MAX;
    Torg__V1__RawField **fields = arena_array(arena, 3, sizeof(*fields));
    static const char *const names[] = {"", "first", "second"};

    fields[0] = document->fields[0];
    for (int i = 1; i < 3; i++) {
        Torg__V1__RawField *field =
            (Torg__V1__RawField *)message_new(&torg__v1__raw_field__descriptor, arena);

        field->name = (char *)names[i];
        field->_text_case = TORG__V1__RAW_FIELD___TEXT_TEXT;
        field->text = arena_alloc(arena, size + 1);
        for (size_t k = 0; k < size; k++)
            field->text[k] = k % 8 == 7 ? ' ' : (char)('a' + (k * 7 + k / 8) % 26);
        field->text[size] = 0;
        fields[i] = field;
    }
    document->fields = fields;
    document->n_fields = 3;
    fields[2]->text[size - (document_size(document) - DOCUMENT_SIZE_MAX) + more] = 0;
}

static void put(struct world *world, const char *pk, int64_t version, bool is_alive)
{
    Torg__V1__RawDocument *document = document_of(world->arena, pk, version);
    Torg__V1__Verdict **verdicts;
    struct err err = {0};

    if (!is_alive) {
        document->event = TORG__V1__RAW_DOCUMENT__EVENT__DELETE;
        document->n_fields = 0;
    }
    if (receiver_put(&world->receiver, CLIENT, LANE_MAIN, &document, 1, world->arena, &verdicts,
                     &err))
        fail_msg("%s", err.text);
    assert_int_equal(verdicts[0]->kind, TORG__V1__VERDICT__KIND__ACCEPTED);
}

static void pk_of(int number, char pk[32])
{
    snprintf(pk, 32, "doc-%03d", number);
}

static uint32_t shard_of(const char *pk)
{
    return number_key_shard(number_key_hash(bytes_of(pk)), SHARD_COUNT);
}

/* Where the index has the document; NULL: nowhere. */
static Torg__V1__IndexedDocument *indexed(struct world *world, const char *pk)
{
    struct listed *listed = &world->listed[shard_of(pk)];

    for (uint32_t id = 0; id < LISTED_MAX; id++) {
        if (listed->documents[id].version && strcmp(listed->documents[id].pk, pk) == 0)
            return &listed->documents[id];
    }
    return NULL;
}

/* --- the world --- */

static struct world *open_world(void **state)
{
    struct fixture *fixture = start(state); /* which may skip the case */
    struct world *world = mem_zero(sizeof(*world));
    const struct shard_options options = {.epoch = 1};
    struct err err = {0};

    world->fixture = fixture;
    world->arena = arena_new();
    if (store_migrate(world->fixture->store, NULL, &err) ||
        topics_open("memory:", NULL, &world->topics, &err))
        fail_msg("%s", err.text);
    world->clients = clients_new(world->fixture->store, clock_system());
    world->dictionaries = dictionaries_new(world->fixture->store);
    world->receiver = (struct receiver){.store = world->fixture->store,
                                        .intake = intake_new(world->fixture->store),
                                        .clock = clock_system(),
                                        .clients = world->clients,
                                        .dictionaries = world->dictionaries,
                                        .shard_count = SHARD_COUNT,
                                        .tombstone_life_us = INT64_C(3600) * SECOND_US};
    world->base =
        (struct indexer_base){.store = world->fixture->store,
                              .topics = world->topics,
                              .clients = world->clients,
                              .dictionaries = world->dictionaries,
                              .clock = clock_system(),
                              .rules = {.try_count = 3,
                                        .main_weight = 4,
                                        .backfill_weight = 1,
                                        .numbers = {.ttl_us = INT64_C(3600) * SECOND_US}}};
    world->inspect = (struct inspect){.store = world->fixture->store,
                                      .clients = world->clients,
                                      .dictionaries = world->dictionaries,
                                      .clock = clock_system(),
                                      .door = {tell_freshness, list_documents, check_shard, world},
                                      .rebuilds = rebuilds_new()};
    for (uint32_t i = 0; i < SHARD_COUNT; i++) {
        world->indexers[i] = indexer_new(&world->base, CLIENT, i, 1, NULL);
        if (shard_open(&options, &world->listed[i].shard, &err) ||
            applier_new(world->listed[i].shard, &world->listed[i].applier, &err))
            fail_msg("%s", err.text);
    }
    return world;
}

static void close_world(struct world *world)
{
    for (uint32_t i = 0; i < SHARD_COUNT; i++) {
        indexer_free(world->indexers[i]);
        applier_free(world->listed[i].applier);
        shard_close(world->listed[i].shard);
    }
    intake_free(world->receiver.intake);
    rebuilds_free(world->inspect.rebuilds);
    dictionaries_free(world->dictionaries);
    clients_free(world->clients);
    topics_close(world->topics);
    arena_free(world->arena);
    free(world);
}

/* Documents of several versions, some deleted, all indexed. */
static struct world *filled_world(void **state)
{
    struct world *world = open_world(state);
    char pk[32];

    for (int i = 0; i < DOC_COUNT; i++) {
        pk_of(i, pk);
        put(world, pk, 1, true);
        if (i % 3 == 0)
            put(world, pk, 2, i % 9 != 0);
    }
    index_all(world);
    return world;
}

/* --- running the checks --- */

struct told {
    uint64_t checked[6], findings, waiting, parked, fixed;
    int kind;         /* of the last finding */
    const char *pk;   /* likewise; in the world's arena */
    const char *text; /* likewise */
};

static void run_check(struct world *world, Torg__V1__VerifyCheck *check, bool fix,
                      struct told *told)
{
    Torg__V1__VerifyStepRequest request = TORG__V1__VERIFY_STEP_REQUEST__INIT;

    request.check = check;
    request.fix = fix;
    request.settle_ms = SETTLE_MS;
    do {
        Torg__V1__VerifyStepResponse *response = (Torg__V1__VerifyStepResponse *)message_new(
            &torg__v1__verify_step_response__descriptor, world->arena);
        struct err err = {0};

        if (verify_step(&world->inspect, &request, "tester", world->arena, response, &err))
            fail_msg("check %d: %s", (int)check->kind, err.text);
        told->checked[check->kind] += response->checked_count;
        told->findings += response->finding_count;
        told->waiting += response->waiting_count;
        told->parked += response->parked_count;
        for (size_t i = 0; i < response->n_findings; i++) {
            told->kind = (int)check->kind;
            told->pk = response->findings[i]->pk;
            told->text = response->findings[i]->text;
            told->fixed += response->findings[i]->is_fixed;
        }
        request.cursor = response->cursor;
    } while (request.cursor.len);
}

static struct told verify(struct world *world, bool fix)
{
    Torg__V1__PlanVerifyRequest request = TORG__V1__PLAN_VERIFY_REQUEST__INIT;
    Torg__V1__VerifyPlan plan = TORG__V1__VERIFY_PLAN__INIT;
    struct told told = {.pk = "", .text = ""};
    struct err err = {0};

    request.rebuild = true;
    if (verify_plan(&world->inspect, &request, world->arena, &plan, &err))
        fail_msg("%s", err.text);
    assert_int_equal(plan.n_checks, 6 * SHARD_COUNT);
    for (size_t i = 0; i < plan.n_checks; i++)
        run_check(world, plan.checks[i], fix, &told);
    return told;
}

/* One fault of the kind, of the key, whose text has the part. */
static void expect(struct world *world, int kind, const char *pk, const char *part)
{
    struct told told = verify(world, false);

    if (told.findings != 1 || told.kind != kind || strcmp(told.pk, pk) != 0 ||
        !strstr(told.text, part))
        fail_msg("%" PRIu64 " findings; kind %d, \"%s\": %s; wanted kind %d, \"%s\": %s",
                 told.findings, told.kind, told.pk, told.text, kind, pk, part);
}

static void expect_none(struct world *world)
{
    struct told told = verify(world, false);

    if (told.findings)
        fail_msg("%" PRIu64 " findings; kind %d, \"%s\": %s", told.findings, told.kind, told.pk,
                 told.text);
}

static void run_sql(struct world *world, const char *format, const char *pk)
{
    char sql[512];

    snprintf(sql, sizeof(sql), format, pk);
    exec(world->fixture->store, sql);
}

/* --- cases --- */

static void what_agrees_passes_every_check(void **state)
{
    struct world *world = filled_world(state);
    struct told told = verify(world, false);

    expect_none(world);
    assert_int_equal(told.checked[KIND(REGISTRY)], DOC_COUNT);
    assert_int_equal(told.checked[KIND(CONTENT)], DOC_COUNT);
    assert_int_equal(told.checked[KIND(NUMBERS)], told.checked[KIND(INDEX)]);
    close_world(world);
}

static void documents_on_their_way_are_no_faults(void **state)
{
    struct world *world = filled_world(state);
    Torg__V1__VerifyCheck check = TORG__V1__VERIFY_CHECK__INIT;
    struct told told = {.pk = "", .text = ""};

    put(world, "doc-001", 7, true);
    put(world, "doc-002", 7, false);
    put(world, "new", 1, true);
    check.client = CLIENT;
    check.epoch = 1;
    for (check.shard = 0; check.shard < SHARD_COUNT; check.shard++) {
        for (int kind = KIND(REGISTRY); kind <= KIND(INDEX); kind++) {
            check.kind = (Torg__V1__VerifyCheck__Kind)kind;
            run_check(world, &check, true, &told);
        }
    }
    assert_int_equal(told.findings, 0);
    assert_int_equal(told.checked[KIND(QUEUE)], 3);
    /* the new one has no number; the deleted one is thought to live; two differ in the index */
    assert_int_equal(told.waiting, 4);
    index_all(world);
    expect_none(world);
    close_world(world);
}

/* Sent, acknowledged by the topic, and not read by the searcher yet. */
static void a_searcher_that_is_behind_is_no_fault(void **state)
{
    struct world *world = filled_world(state);
    Torg__V1__VerifyCheck check = TORG__V1__VERIFY_CHECK__INIT;
    struct told told = {.pk = "", .text = ""};

    put(world, "doc-001", 7, true);
    send_all(world);
    check.client = CLIENT;
    check.epoch = 1;
    check.kind = KIND(INDEX);
    check.shard = shard_of("doc-001");
    run_check(world, &check, false, &told);
    assert_int_equal(told.findings, 0);
    assert_int_equal(told.waiting, 1);
    follow(world);
    indexed(world, "doc-001")->version = 1; /* and now it should have it */
    expect(world, KIND(INDEX), "doc-001", "version 1, the registry 7");
    close_world(world);
}

static void faults_of_the_index_are_found(void **state)
{
    struct world *world = filled_world(state);
    Torg__V1__IndexedDocument *one = indexed(world, "doc-001");
    Torg__V1__IndexedDocument kept = *one;
    struct listed *listed = &world->listed[shard_of("doc-001")];

    one->version = 5;
    expect(world, KIND(INDEX), "doc-001", "version 5, the registry 1");
    one->version = 0;
    expect(world, KIND(INDEX), "doc-001", "the index does not have it");
    *one = kept;
    one->pk = arena_strdup(world->arena, "foreign");
    expect(world, KIND(INDEX), "doc-001", "the index has foreign");
    *one = kept;
    listed->documents[LISTED_MAX - 1] = kept;
    listed->documents[LISTED_MAX - 1].doc_id = LISTED_MAX - 1;
    expect(world, KIND(INDEX), "doc-001", "belongs to nobody");
    listed->documents[LISTED_MAX - 1].version = 0;
    assert_null(indexed(world, "doc-000")); /* it was deleted */
    world->damage = "segment 3 has a wrong checksum";
    assert_int_equal(verify(world, false).findings, SHARD_COUNT);
    world->damage = NULL;
    world->damaged = 17;
    assert_int_equal(verify(world, false).kind, KIND(CONTENT));
    world->damaged = 0;
    expect_none(world);
    close_world(world);
}

/* A document that is over has gone from the index, and the registry has not swept it yet. */
static void what_has_just_ended_is_no_fault(void **state)
{
    struct world *world = filled_world(state);
    struct listed *listed = &world->listed[shard_of("brief")];
    Torg__V1__RawDocument *document = document_of(world->arena, "brief", 1);
    int64_t now = clock_wall_us(clock_system()) / SECOND_US;
    Torg__V1__Verdict **verdicts;
    struct clock_manual earlier;
    struct err err = {0};

    document->expire_time = (Google__Protobuf__Timestamp *)message_new(
        &google__protobuf__timestamp__descriptor, world->arena);
    document->expire_time->seconds = now - 1;
    assert_int_equal(receiver_put(&world->receiver, CLIENT, LANE_MAIN, &document, 1, world->arena,
                                  &verdicts, &err),
                     0);
    assert_int_equal(verdicts[0]->kind, TORG__V1__VERDICT__KIND__ACCEPTED);
    clock_manual_init(&earlier, (now - 10) * SECOND_US); /* it was sent before its end */
    world->base.clock = &earlier.base;
    index_all(world);
    world->base.clock = clock_system();
    indexed(world, "brief")->version = 0; /* as the searcher lists it from then on */
    assert_int_equal(shard_expire(listed->shard, now), 1);
    assert_int_equal(applier_publish(listed->applier, listed->offset, &err), 0);
    expect_none(world);
    close_world(world);
}

/* Its answer is looked at before it is believed: no crash, no endless check, and no PASS. */
static void a_searcher_that_lies_is_a_fault(void **state)
{
    struct world *world = filled_world(state);
    Torg__V1__VerifyCheck check = TORG__V1__VERIFY_CHECK__INIT;

    check.kind = KIND(INDEX);
    check.client = CLIENT;
    check.epoch = 1;
    for (int lie = TRUTH; lie < LIE_COUNT; lie++) {
        struct told told = {.pk = "", .text = ""};

        world->lie = lie;
        run_check(world, &check, true, &told);
        assert_int_equal(told.findings, lie == TRUTH ? 0 : 1);
        assert_true(lie == TRUTH || strstr(told.text, "not compared"));
        assert_int_equal(told.fixed, 0);
    }
    close_world(world);
}

static void faults_of_the_store_are_found(void **state)
{
    struct world *world = filled_world(state);
    Torg__V1__VerifyCheck check = TORG__V1__VERIFY_CHECK__INIT;
    struct told told = {.pk = "", .text = ""};

    run_sql(world,
            "UPDATE number_slot SET gone_us = 5 WHERE key = (SELECT key FROM number_slot "
            "WHERE doc_id = 7 AND shard = 1) AND %s",
            "shard = 1");
    assert_int_equal(verify(world, false).kind, KIND(NUMBERS));
    run_sql(world, "UPDATE number_slot SET gone_us = 0 WHERE doc_id = 7 AND shard = %s", "1");
    expect_none(world);
    run_sql(world, "UPDATE registry SET document = document || document WHERE pk = '%s'",
            "doc-004");
    check.client = CLIENT;
    check.shard = shard_of("doc-004");
    run_check(world, &check, false, &told);
    assert_int_equal(told.findings, 1);
    assert_string_equal(told.pk, "doc-004");
    assert_non_null(strstr(told.text, "cannot be read"));
    assert_int_equal(verify(world, false).kind, KIND(CONTENT)); /* the index has it as it was */
    close_world(world);
}

/* The receiver's limit is the only one: what it lets in comes through, to the last byte. */
static void the_largest_document_reaches_the_index(void **state)
{
    struct world *world = filled_world(state);
    Torg__V1__RawDocument *document;
    Torg__V1__Verdict **verdicts;
    struct err err = {0};

    for (int i = 0; i < 2; i++) { /* then it has a byte too many */
        document = document_of(world->arena, "doc-big", 1 + i);
        fill_up(world->arena, document, (size_t)i);
        if (receiver_put(&world->receiver, CLIENT, LANE_MAIN, &document, 1, world->arena, &verdicts,
                         &err))
            fail_msg("%s", err.text);
        assert_int_equal(verdicts[0]->kind,
                         i ? TORG__V1__VERDICT__KIND__INVALID : TORG__V1__VERDICT__KIND__ACCEPTED);
    }
    assert_string_equal(verdicts[0]->reasons[0]->field, "fields");
    assert_non_null(strstr(verdicts[0]->reasons[0]->text, "262145"));
    assert_non_null(strstr(verdicts[0]->reasons[0]->text, "the limit is 262144"));
    index_all(world);
    expect_none(world);
    assert_non_null(indexed(world, "doc-big"));
    close_world(world);
}

/* Its checks cannot be planned: one is left, and tells it. */
static void a_client_that_cannot_be_read_is_a_fault(void **state)
{
    static const char *const asked[] = {"", CLIENT};
    struct world *world = filled_world(state);

    run_sql(world, "UPDATE registry_field SET number = %s", "100000");
    run_sql(world, "UPDATE registry_client SET state_no = state_no + 1 WHERE name = '%s'", CLIENT);
    for (size_t i = 0; i < ARRAY_COUNT(asked); i++) {
        Torg__V1__PlanVerifyRequest request = TORG__V1__PLAN_VERIFY_REQUEST__INIT;
        Torg__V1__VerifyPlan plan = TORG__V1__VERIFY_PLAN__INIT;
        struct told told = {.pk = "", .text = ""};
        struct err err = {0};

        request.client = (char *)asked[i];
        if (verify_plan(&world->inspect, &request, world->arena, &plan, &err))
            fail_msg("%s", err.text);
        assert_int_equal(plan.n_checks, 1);
        run_check(world, plan.checks[0], false, &told);
        assert_int_equal(told.findings, 1);
        assert_non_null(strstr(told.text, CLIENT));
    }
    close_world(world);
}

static void faults_of_the_queue_are_found(void **state)
{
    struct world *world = filled_world(state);
    Torg__V1__VerifyCheck check = TORG__V1__VERIFY_CHECK__INIT;
    struct told told = {.pk = "", .text = ""};

    for (int i = 0; i < 3; i++)
        put(world, "doc-001", 10 + i, true);
    check.client = CLIENT;
    check.kind = KIND(QUEUE);
    check.shard = shard_of("doc-001");
    run_check(world, &check, false, &told);
    assert_int_equal(told.findings, 0);
    assert_int_equal(told.checked[KIND(QUEUE)], 3);
    run_sql(world, "DELETE FROM registry_queue WHERE version = %s", "11");
    run_check(world, &check, false, &told);
    assert_int_equal(told.findings, 1);
    assert_non_null(strstr(told.text, "missing"));
    run_sql(world, "DELETE FROM registry_queue WHERE version >= %s", "10");
    run_check(world, &check, false, &told);
    assert_int_equal(told.findings, 2);
    run_sql(world, "UPDATE registry_offset SET idx = idx + 100 WHERE lane = %s", "0");
    run_check(world, &check, false, &told);
    assert_int_equal(told.findings, 3);
    assert_non_null(strstr(told.text, "past the newest"));
    close_world(world);
}

static void what_differs_is_put_right_by_the_queue(void **state)
{
    struct world *world = filled_world(state);
    Torg__V1__VerifyCheck check = TORG__V1__VERIFY_CHECK__INIT;
    struct told told = {.pk = "", .text = ""};

    indexed(world, "doc-001")->version = 0;
    indexed(world, "doc-003")->version = 1;
    check.client = CLIENT;
    check.epoch = 1;
    check.kind = KIND(INDEX);
    for (check.shard = 0; check.shard < SHARD_COUNT; check.shard++)
        run_check(world, &check, true, &told);
    assert_int_equal(told.findings, 2);
    assert_int_equal(told.fixed, 2);
    assert_int_equal(read_integer(world->fixture->store,
                                  "SELECT COUNT(*) FROM audit WHERE action = 'verify.fix'"),
                     2);
    index_all(world);
    expect_none(world);
    close_world(world);
}

static void a_parked_document_is_told_apart(void **state)
{
    struct world *world = filled_world(state);
    struct told told;

    put(world, "doc-001", 9, true);
    index_all(world);
    indexed(world, "doc-001")->version = 1;
    run_sql(world,
            "INSERT INTO registry_failed (client_id, shard, pk, epoch, version, modify_us, "
            "attempt_count, next_us, first_us, reason) SELECT client_id, %s, pk, epoch, version, "
            "modify_us, 5, 0, 1, 'too long a word' FROM registry WHERE pk = 'doc-001'",
            shard_of("doc-001") ? "1" : "0");
    told = verify(world, false);
    assert_int_equal(told.findings, 0);
    assert_int_equal(told.parked, 1);
    close_world(world);
}

/* Of another write, or refused by searchers of another epoch: it does not tell why this index
 * differs. */
static void what_is_parked_of_another_write_or_epoch_hides_nothing(void **state)
{
    static const struct {
        const char *version, *refused_epoch;
        uint64_t findings, parked;
    } cases[] = {
        {"version - 1", "0", 1, 0}, {"version - 1", "1", 1, 0}, {"version", "2", 1, 0},
        {"version", "1", 0, 1},     {"version", "0", 0, 1},
    };
    struct world *world = filled_world(state);

    put(world, "doc-001", 9, true);
    index_all(world);
    indexed(world, "doc-001")->version = 1;
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        struct told told;

        exec(world->fixture->store,
             arena_printf(world->arena,
                          "INSERT INTO registry_failed (client_id, shard, pk, epoch, version, "
                          "modify_us, attempt_count, next_us, first_us, reason, refused_epoch) "
                          "SELECT client_id, %u, pk, epoch, %s, modify_us, 5, 0, 1, 'too long a "
                          "word', %s FROM registry WHERE pk = 'doc-001'",
                          shard_of("doc-001"), cases[i].version, cases[i].refused_epoch));
        told = verify(world, false);
        if (told.findings != cases[i].findings || told.parked != cases[i].parked)
            fail_msg("case %zu: %" PRIu64 " findings, %" PRIu64 " parked", i, told.findings,
                     told.parked);
        exec(world->fixture->store, "DELETE FROM registry_failed");
    }
    close_world(world);
}

static struct epoch_desk desk_of(const struct world *world)
{
    return (struct epoch_desk){.store = world->fixture->store,
                               .clients = world->clients,
                               .dictionaries = world->dictionaries,
                               .topics = world->topics,
                               .clock = clock_system()};
}

/* An epoch whose title is a point. */
static void start_another_epoch(struct world *world, const struct epoch_desk *desk)
{
    Torg__V1__StartEpochRequest request = TORG__V1__START_EPOCH_REQUEST__INIT;
    Torg__V1__EpochStatus status = TORG__V1__EPOCH_STATUS__INIT;
    Torg__V1__SchemaField title = TORG__V1__SCHEMA_FIELD__INIT;
    Torg__V1__SchemaField *fields[] = {&title};
    struct violations reasons = violations_in(world->arena);
    struct err err = {0};

    title.name = "title";
    title.type = TORG__V1__SCHEMA_FIELD__TYPE__POINT;
    request.fields = fields;
    request.n_fields = 1;
    if (epoch_desk_start(desk, CLIENT, "ann", &request, &reasons, &status, &err))
        fail_msg("%s", err.text);
}

static void give_up_epoch(struct world *world, const struct epoch_desk *desk)
{
    Torg__V1__AbandonEpochRequest abandon = TORG__V1__ABANDON_EPOCH_REQUEST__INIT;
    Torg__V1__EpochStatus status = TORG__V1__EPOCH_STATUS__INIT;
    struct err err = {0};

    if (epoch_desk_abandon(desk, CLIENT, "ann", &abandon, world->arena, &status, &err))
        fail_msg("%s", err.text);
}

/* A document of another epoch is one that the epoch before cannot take. */
static void put_for_another_epoch(struct world *world, const struct epoch_desk *desk,
                                  const char *pk)
{
    Torg__V1__RawDocument *document = document_of(world->arena, pk, 9);
    Torg__V1__Verdict **verdicts;
    struct err err = {0};

    start_another_epoch(world, desk);
    document->epoch = 2;
    document->fields[0]->_text_case = TORG__V1__RAW_FIELD___TEXT__NOT_SET;
    document->fields[0]->point = MESSAGE_NEW(geo_point, world->arena);
    if (receiver_put(&world->receiver, CLIENT, LANE_MAIN, &document, 1, world->arena, &verdicts,
                     &err))
        fail_msg("%s", err.text);
    assert_int_equal(verdicts[0]->kind, TORG__V1__VERDICT__KIND__ACCEPTED);
}

/* It is in no index any more, or in none that is searched, and nobody has consented to that: it is
 * sent once more, and fails. */
static void expect_it_fails(struct world *world)
{
    expect(world, KIND(INDEX), "doc-001", "does not have it");
    assert_int_equal(verify(world, true).fixed, 1);
    index_all(world);
    expect_none(world);
    assert_int_equal(read_integer(world->fixture->store,
                                  "SELECT COUNT(*) FROM registry_failed WHERE pk = 'doc-001' AND "
                                  "reason LIKE '%title%'"),
                     1);
}

static void what_is_left_of_an_epoch_that_was_given_up_is_found(void **state)
{
    struct world *world = filled_world(state);
    const struct epoch_desk desk = desk_of(world);

    put_for_another_epoch(world, &desk, "doc-001");
    index_all(world);
    assert_null(indexed(world, "doc-001"));
    give_up_epoch(world, &desk);
    index_all(world);
    expect_it_fails(world);
    close_world(world);
}

/* That it fits the epoch that is built now helps nobody who searches. */
static void what_is_left_is_found_though_it_fits_the_next_epoch(void **state)
{
    struct world *world = filled_world(state);
    const struct epoch_desk desk = desk_of(world);

    put_for_another_epoch(world, &desk, "doc-001");
    index_all(world);
    give_up_epoch(world, &desk);
    start_another_epoch(world, &desk);
    index_all(world);
    expect_it_fails(world);
    close_world(world);
}

/* --- traces --- */

static const Torg__V1__TraceStep *step_of(struct world *world, const char *pk, size_t place)
{
    Torg__V1__Trace *trace =
        (Torg__V1__Trace *)message_new(&torg__v1__trace__descriptor, world->arena);
    struct err err = {0};

    if (trace_document(&world->inspect, CLIENT, pk, world->arena, trace, &err))
        fail_msg("%s", err.text);
    assert_int_equal(trace->n_steps, 6);
    return trace->steps[place];
}

enum { RECEIVED, QUEUED, NUMBERED, SENT, INDEXED, SEARCHABLE };

static void a_trace_tells_stage_by_stage(void **state)
{
    struct world *world = filled_world(state);

    for (size_t i = RECEIVED; i <= SEARCHABLE; i++)
        assert_int_equal(step_of(world, "doc-001", i)->state, STATE(DONE));
    assert_int_equal(step_of(world, "nobody", RECEIVED)->state, STATE(ABSENT));
    assert_int_equal(step_of(world, "nobody", SEARCHABLE)->state, STATE(ABSENT));
    assert_non_null(strstr(step_of(world, "doc-000", RECEIVED)->text, "deleted"));
    assert_int_equal(step_of(world, "doc-000", SEARCHABLE)->state, STATE(ABSENT));
    put(world, "doc-001", 12, true);
    assert_int_equal(step_of(world, "doc-001", QUEUED)->state, STATE(WAITING));
    assert_non_null(step_of(world, "doc-001", QUEUED)->time);
    assert_int_equal(step_of(world, "doc-001", NUMBERED)->state, STATE(DONE));
    assert_int_equal(step_of(world, "doc-001", SENT)->state, STATE(WAITING));
    assert_non_null(strstr(step_of(world, "doc-001", INDEXED)->text, "has version 1"));
    assert_int_equal(step_of(world, "doc-001", SEARCHABLE)->state, STATE(WAITING));
    index_all(world);
    assert_int_equal(step_of(world, "doc-001", SEARCHABLE)->state, STATE(DONE));
    close_world(world);
}

/* The row is read before the index: the index is ahead of it then, and of nothing else. */
static void a_write_in_the_last_look_is_no_fault(void **state)
{
    struct world *world = filled_world(state);
    Torg__V1__VerifyCheck check = TORG__V1__VERIFY_CHECK__INIT;
    struct told told = {.pk = "", .text = ""};

    put(world, "doc-001", 7, true);
    index_all(world);
    indexed(world, "doc-001")->version = 6;
    check.client = CLIENT;
    check.epoch = 1;
    check.kind = KIND(INDEX);
    check.shard = shard_of("doc-001");
    world->rewritten = "doc-001";
    world->spare = arena_new();
    run_check(world, &check, false, &told);
    assert_true(world->list_count > REWRITE_LOOK);
    assert_int_equal(told.findings, 0);
    arena_free(world->spare);
    close_world(world);
}

static const struct test_case cases[] = {
    CASE(what_agrees_passes_every_check),
    CASE(a_write_in_the_last_look_is_no_fault),
    CASE(documents_on_their_way_are_no_faults),
    CASE(a_searcher_that_is_behind_is_no_fault),
    CASE(faults_of_the_index_are_found),
    CASE(faults_of_the_store_are_found),
    CASE(a_client_that_cannot_be_read_is_a_fault),
    CASE(what_has_just_ended_is_no_fault),
    CASE(a_searcher_that_lies_is_a_fault),
    CASE(the_largest_document_reaches_the_index),
    CASE(faults_of_the_queue_are_found),
    CASE(what_differs_is_put_right_by_the_queue),
    CASE(a_parked_document_is_told_apart),
    CASE(what_is_parked_of_another_write_or_epoch_hides_nothing),
    CASE(what_is_left_of_an_epoch_that_was_given_up_is_found),
    CASE(what_is_left_is_found_though_it_fits_the_next_epoch),
    CASE(a_trace_tells_stage_by_stage),
};

int main(int argc, char **argv)
{
    static const struct backend backends[] = {{.name = "sqlite"},
                                              {.name = "postgres", .postgres = true}};
    static struct case_list list = {.name = "inspect", .set_up = set_up, .tear_down = tear_down};

    for (size_t i = 0; i < ARRAY_COUNT(backends); i++)
        cases_add(&list, cases, ARRAY_COUNT(cases), backends[i].name, &backends[i]);
    return cases_run(&list, argc, argv);
}
