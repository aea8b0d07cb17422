/* SPDX-License-Identifier: Apache-2.0 */
/*
 * changes.c - an offer's write is followed from the seller to those who search, stage by stage, by
 * its token and by its trace; on every store.
 *
 * Export, composer, receiver and indexer are the real ones, each told when to act; topics are in
 * memory. The searcher is a list of ours, filled from the index topic.
 */
#include "contract/offers_fixture.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "codec/message.h"
#include "documents/composer.h"
#include "inspect/bounds.h"
#include "inspect/trace/change.h"
#include "inspect/trace/trace.h"
#include "model/bounds.h"
#include "model/offer_fields.h"
#include "model/topics.h"
#include "offers/bounds.h"
#include "offers/change/offer_save.h"
#include "offers/outbox/export.h"
#include "patience.h"
#include "registry/indexing/indexer.h"
#include "registry/receiving/receiver.h"
#include "stage/parked.h"
#include "store/store_seal.h"
#include "topic/bounds.h"
#include "topic/topic.h"

enum { WAIT_MS = PATIENCE_MS, LISTED_MAX = 64, LIFE_S = 3600 };

#define STATE(name) TORG__V1__TRACE_STEP__STATE__##name
#define SELLER "alice"

struct world {
    struct offers_place place;
    struct arena *arena;
    struct topics *topics;
    struct exporter exporter;
    struct coord_shard all[OFFER_SHARD_COUNT];
    struct catalog *empty; /* a catalogue without categories */
    bool is_blind;         /* the composer is given that */
    struct composer *composer;
    struct clients *clients;
    struct dictionaries *dictionaries;
    struct receiver receiver;
    struct indexer_base base;
    struct indexer *indexer; /* NULL until there is a client */
    uint64_t received[TOPIC_PARTITION_COUNT_MAX];
    uint64_t followed;                               /* of the index topic */
    Torg__V1__IndexedDocument documents[LISTED_MAX]; /* by number; version 0: none */
    int64_t lanes[LANE_COUNT];
    bool is_far;    /* the searcher is another process's: it is asked for positions alone */
    bool is_silent; /* and that does not answer when it is asked for a document */
    bool is_deaf;   /* the searcher cannot apply what it is sent, and passes it */
    struct inspect inspect;
};

/* --- a searcher --- */

static int tell_freshness(void *arg, const char *client, struct arena *arena,
                          Torg__V1__Freshness **freshness, struct err *err)
{
    struct world *world = arg;
    Torg__V1__ShardFreshness *one =
        (Torg__V1__ShardFreshness *)message_new(&torg__v1__shard_freshness__descriptor, arena);

    (void)client;
    (void)err;
    *freshness = (Torg__V1__Freshness *)message_new(&torg__v1__freshness__descriptor, arena);
    (*freshness)->shards = arena_array(arena, 1, sizeof((*freshness)->shards[0]));
    (*freshness)->shards[(*freshness)->n_shards++] = one;
    one->epoch = 1;
    one->is_ready = true;
    one->replica = (char *)(world->is_far ? "there" : "");
    one->lanes = arena_array(arena, LANE_COUNT, sizeof(one->lanes[0]));
    for (int i = 0; i < LANE_COUNT; i++) {
        one->lanes[i] =
            (Torg__V1__LaneFreshness *)message_new(&torg__v1__lane_freshness__descriptor, arena);
        one->lanes[i]->lane = (Torg__V1__QueueLane__Name)i;
        one->lanes[i]->idx = world->lanes[i];
        one->n_lanes++;
    }
    return 0;
}

static int list_documents(void *arg, const char *replica,
                          const Torg__V1__ListIndexedRequest *request, struct arena *arena,
                          Torg__V1__ListIndexedResponse **response, struct err *err)
{
    struct world *world = arg;

    (void)replica;
    if (world->is_far)
        return err_set(err, ERR_NOT_FOUND, "the shard is not here");
    *response = (Torg__V1__ListIndexedResponse *)message_new(
        &torg__v1__list_indexed_response__descriptor, arena);
    (*response)->documents = arena_array(arena, 1, sizeof((*response)->documents[0]));
    for (uint32_t id = request->from_id; id < LISTED_MAX; id++) {
        if (!world->documents[id].version || (*response)->n_documents)
            continue;
        (*response)->documents[(*response)->n_documents++] = &world->documents[id];
    }
    return 0;
}

static int shows_document(void *arg, const char *replica, const char *client, const char *token,
                          struct arena *arena, bool *is_shown, struct err *err)
{
    const struct world *world = arg;
    struct change change;

    if (world->is_silent)
        return err_set(err, ERR_UNAVAILABLE, "it does not answer");
    assert_string_equal(replica, "there");
    assert_string_equal(client, OFFER_CLIENT);
    assert_int_equal(change_parse(&world->inspect, bytes_of(token), &change, err), 0);
    assert_false(change.is_offer);
    *is_shown = false;
    for (uint32_t id = 0; id < LISTED_MAX; id++)
        *is_shown = *is_shown || world->documents[id].version >= change.document.version;
    return 0;
}

static void apply(struct world *world, const Torg__V1__IndexMessage *message)
{
    if (message->kind_case == TORG__V1__INDEX_MESSAGE__KIND_PUT && !world->is_deaf) {
        Torg__V1__IndexedDocument *document = &world->documents[message->put->doc_id];

        torg__v1__indexed_document__init(document);
        document->doc_id = message->put->doc_id;
        document->pk = message->put->pk;
        document->version = message->put->version;
        document->sent_us = 1000;
        document->shown_us = 2000;
    }
    if (message->kind_case == TORG__V1__INDEX_MESSAGE__KIND_REMOVE)
        world->documents[message->remove->doc_id].version = 0;
    if (message->kind_case == TORG__V1__INDEX_MESSAGE__KIND_PROGRESS) {
        for (size_t i = 0; i < message->progress->n_lanes; i++)
            world->lanes[message->progress->lanes[i]->lane] = message->progress->lanes[i]->idx;
    }
}

/* --- the world --- */

static struct catalog *catalog_of(void *arg)
{
    struct world *world = arg;

    return catalog_ref(world->is_blind ? world->empty : world->place.catalog);
}

static int fetch(void *arg, const char *offer_id, struct arena *arena, Torg__V1__Offer **offer,
                 struct err *err)
{
    const struct world *world = arg;
    const struct reader reader = {.seller = "", .sees_all = true};

    return offers_get(&world->place.offers, &reader, id_of(offer_id), arena, offer, err);
}

static void open_stages(struct world *world)
{
    const struct clock *clock = &world->place.clock.base;
    struct store *store = world->place.store;

    world->clients = clients_new(store, clock);
    world->dictionaries = dictionaries_new(store);
    world->receiver = (struct receiver){.store = store,
                                        .intake = intake_new(store),
                                        .clock = clock,
                                        .clients = world->clients,
                                        .dictionaries = world->dictionaries,
                                        .shard_count = 1,
                                        .tombstone_life_us = LIFE_S * (int64_t)SECOND_US};
    world->base =
        (struct indexer_base){.store = store,
                              .topics = world->topics,
                              .clients = world->clients,
                              .dictionaries = world->dictionaries,
                              .clock = clock,
                              .rules = {.try_count = 3,
                                        .main_weight = 4,
                                        .backfill_weight = 1,
                                        .numbers = {.ttl_us = LIFE_S * (int64_t)SECOND_US}}};
    world->inspect = (struct inspect){.store = store,
                                      .clients = world->clients,
                                      .dictionaries = world->dictionaries,
                                      .clock = clock,
                                      .door = {tell_freshness, list_documents, NULL, world},
                                      .topics = world->topics,
                                      .tombstone_life_us = LIFE_S * (int64_t)SECOND_US};
}

static int set_up(void **state)
{
    bool postgres = case_on_servers(state);
    struct world *world = mem_zero(sizeof(*world));
    struct err err;

    *state = world;
    if (!offers_place_open(&world->place, postgres))
        return 0; /* each test skips */
    world->arena = arena_new();
    OK(topics_open("memory:", NULL, &world->topics, &err));
    OK(exporter_init(&world->exporter, &world->place.offers, world->topics, NULL, &err));
    for (uint32_t i = 0; i < OFFER_SHARD_COUNT; i++)
        world->all[i] = (struct coord_shard){.shard = i, .ticket = 1};
    OK(catalog_from_json(bytes_of("{}"), NULL, &world->empty, &err));
    open_stages(world);
    return 0;
}

static int tear_down(void **state)
{
    struct world *world = *state;

    if (world->arena) {
        composer_stop(world->composer);
        indexer_free(world->indexer);
        intake_free(world->receiver.intake);
        dictionaries_free(world->dictionaries);
        clients_free(world->clients);
        topics_close(world->topics);
        catalog_unref(world->empty);
        offers_place_close(&world->place);
        arena_free(world->arena);
    }
    free(world);
    return 0;
}

static struct world *start(void **state)
{
    struct world *world = *state;

    if (!world->arena)
        skip();
    return world;
}

/* --- the stages act --- */

static Torg__V1__OfferReceipt *create(struct world *world, int number)
{
    Torg__V1__OfferReceipt *receipt =
        (Torg__V1__OfferReceipt *)message_new(&torg__v1__offer_receipt__descriptor, world->arena);
    struct author author = author_of(SELLER, world->arena);
    struct err err;

    OK(offers_create(&world->place.offers, &author,
                     content_of(world->arena, "books", number, 100, "RUB"), receipt, &err));
    return receipt;
}

static Torg__V1__OfferReceipt *move(struct world *world, const char *id, enum offer_move how)
{
    Torg__V1__OfferReceipt *receipt =
        (Torg__V1__OfferReceipt *)message_new(&torg__v1__offer_receipt__descriptor, world->arena);
    struct author author = author_of(NULL, world->arena);
    struct err err;

    OK(offers_move(&world->place.offers, &author, id_of(id), 0, how, receipt, &err));
    return receipt;
}

static void export_all(struct world *world)
{
    size_t count = 0;
    struct err err;

    do
        OK(exporter_round(&world->exporter, world->all, OFFER_SHARD_COUNT, &count, &err));
    while (count || world->exporter.more);
}

/* The composer has dealt with all that was exported. */
static bool is_composed(struct world *world)
{
    for (uint32_t i = 0; i < STAGE_PARTITION_COUNT; i++) {
        struct topic_lag lag;

        if (topic_lag(world->topics, COMPOSER_GROUP, TOPIC_OFFER_UPDATES, i, &lag, NULL) || lag.lag)
            return false;
    }
    return true;
}

static void compose_all(struct world *world)
{
    const struct composer_options options = {.topics = world->topics,
                                             .store = world->place.store,
                                             .clock = clock_system(),
                                             .catalog = catalog_of,
                                             .catalog_arg = world,
                                             .fetch = fetch,
                                             .fetch_arg = world};
    struct err err;
    int waited = 0;

    OK(composer_start(&options, &world->composer, &err));
    for (; !is_composed(world) && waited < WAIT_MS; waited += 2)
        pause_ms(2);
    composer_stop(world->composer);
    world->composer = NULL;
    assert_true(waited < WAIT_MS);
}

/* lane: -1: the batch's own. */
static void receive(struct world *world, struct bytes value, int lane)
{
    const Torg__V1__QualifiedBatch *batch;
    Torg__V1__Verdict **verdicts;
    ProtobufCMessage *decoded;
    struct err err;

    OK(message_decode(value, &torg__v1__qualified_batch__descriptor, world->arena, &decoded, &err));
    batch = (const Torg__V1__QualifiedBatch *)decoded;
    OK(receiver_put(&world->receiver, batch->client,
                    lane < 0 ? (enum lane)batch->lane : (enum lane)lane, batch->documents,
                    batch->n_documents, world->arena, &verdicts, &err));
    assert_int_equal(verdicts[0]->kind, TORG__V1__VERDICT__KIND__ACCEPTED);
}

static void receive_all_by(struct world *world, int lane)
{
    const struct topic_message *messages;
    struct topic_config config;
    size_t count;
    struct err err;

    OK(topic_describe(world->topics, TOPIC_DOCUMENTS, &config, &err));
    for (uint32_t i = 0; i < config.partition_count; i++) {
        OK(topic_read(world->topics, TOPIC_DOCUMENTS, i, world->received[i], 1000, 0, world->arena,
                      &messages, &count, &err));
        for (size_t k = 0; k < count; k++)
            receive(world, messages[k].value, lane);
        world->received[i] += count;
    }
}

static void receive_all(struct world *world)
{
    receive_all_by(world, -1);
}

static void send_all(struct world *world)
{
    struct indexer_round round;
    struct err err;

    if (!world->indexer)
        world->indexer = indexer_new(&world->base, OFFER_CLIENT, 0, 1, NULL);
    do
        OK(indexer_round(world->indexer, &round, &err));
    while (round.more || round.element_count || !round.is_settled);
}

static void follow_all(struct world *world)
{
    const struct topic_message *messages;
    ProtobufCMessage *decoded;
    size_t count;
    struct err err;

    OK(topic_read(world->topics, "index." OFFER_CLIENT ".1", 0, world->followed, 1000, 0,
                  world->arena, &messages, &count, &err));
    for (size_t i = 0; i < count; i++) {
        OK(message_decode(messages[i].value, &torg__v1__index_message__descriptor, world->arena,
                          &decoded, &err));
        apply(world, (const Torg__V1__IndexMessage *)decoded);
    }
    world->followed += count;
}

static void pass_all(struct world *world)
{
    export_all(world);
    compose_all(world);
    receive_all(world);
    send_all(world);
    follow_all(world);
}

/* --- looking --- */

static struct change_progress look(struct world *world, const char *token)
{
    struct change_progress progress;
    struct change change;
    struct err err;

    OK(change_parse(&world->inspect, bytes_of(token), &change, &err));
    OK(change_look(&world->inspect, &change, world->arena, &progress, &err));
    return progress;
}

static Torg__V1__Trace *trace_of(struct world *world, const char *id)
{
    Torg__V1__Trace *trace =
        (Torg__V1__Trace *)message_new(&torg__v1__trace__descriptor, world->arena);
    struct err err;

    OK(trace_offer(&world->inspect, id, world->arena, trace, &err));
    assert_int_equal(trace->n_steps, 9);
    return trace;
}

static const Torg__V1__TraceStep *step_of(const Torg__V1__Trace *trace, const char *stage)
{
    for (size_t i = 0; i < trace->n_steps; i++) {
        if (strcmp(trace->steps[i]->stage, stage) == 0)
            return trace->steps[i];
    }
    fail_msg("the trace has no step %s", stage);
    return NULL;
}

/* The token waits for the stage (CHANGE_STAGE_COUNT: for none), and so does the trace. */
static void expect(struct world *world, const Torg__V1__OfferReceipt *receipt,
                   enum change_stage next)
{
    const Torg__V1__Trace *trace = trace_of(world, receipt->id);
    struct change_progress progress = look(world, receipt->freshness_token);

    assert_int_equal(progress.next, next);
    for (int stage = 0; stage < CHANGE_STAGE_COUNT; stage++) {
        const Torg__V1__TraceStep *step =
            step_of(trace, change_stage_name((enum change_stage)stage));
        bool is_done = step->state == STATE(DONE) ||
                       (step->state == STATE(ABSENT) && stage == CHANGE_SEARCHABLE);

        if (is_done != (stage < (int)next))
            fail_msg("%s waits for %d, and the trace's %s is %d: %s", receipt->id, (int)next,
                     step->stage, (int)step->state, step->text);
    }
}

static void refused(struct world *world, const struct freshness *token, int code)
{
    struct change_progress progress;
    struct change change;
    struct seal seal;
    struct err err = {0};

    OK(store_seal(world->inspect.store, &seal, &err));
    OK(change_parse(&world->inspect, bytes_of(freshness_text(token, &seal, world->arena)), &change,
                    &err));
    assert_int_equal(change_look(&world->inspect, &change, world->arena, &progress, &err), code);
    assert_string_not_equal(err.text, "");
}

/* --- cases --- */

static void a_write_goes_through_all_stages(void **state)
{
    struct world *world = start(state);
    Torg__V1__OfferReceipt *receipt = create(world, 1);

    expect(world, receipt, CHANGE_EXPORTED);
    export_all(world);
    expect(world, receipt, CHANGE_COMPOSED);
    assert_true(step_of(trace_of(world, receipt->id), "exported")->time != NULL);
    compose_all(world);
    expect(world, receipt, CHANGE_RECEIVED);
    assert_true(step_of(trace_of(world, receipt->id), "composed")->time != NULL);
    receive_all(world);
    expect(world, receipt, CHANGE_SENT);
    send_all(world);
    expect(world, receipt, CHANGE_SEARCHABLE);
    follow_all(world);
    expect(world, receipt, CHANGE_STAGE_COUNT);
    assert_false(look(world, receipt->freshness_token).is_hidden);
    assert_int_equal(look(world, receipt->freshness_token).shown_us, 2000);
}

static void what_searchers_have_was_sent(void **state)
{
    struct world *world = start(state);
    Torg__V1__OfferReceipt *receipt = create(world, 1);
    struct indexer_round round;
    struct err err;

    export_all(world);
    compose_all(world);
    receive_all(world);
    world->indexer = indexer_new(&world->base, OFFER_CLIENT, 0, 1, NULL);
    OK(indexer_round(world->indexer, &round, &err));
    assert_int_equal(round.sent_count, 1);
    assert_false(round.is_settled); /* it is not noted yet that it was sent */
    expect(world, receipt, CHANGE_SENT);
    follow_all(world);
    expect(world, receipt, CHANGE_STAGE_COUNT);
}

static void a_newer_write_takes_the_place_of_an_older(void **state)
{
    struct world *world = start(state);
    Torg__V1__OfferReceipt *first = create(world, 1);
    Torg__V1__OfferReceipt *second;
    struct change_progress progress;
    struct change change;
    struct err err;

    pass_all(world);
    OK(change_parse(&world->inspect, bytes_of(first->freshness_token), &change, &err));
    OK(change_look(&world->inspect, &change, world->arena, &progress, &err));
    assert_int_equal(progress.next, CHANGE_STAGE_COUNT);
    assert_false(progress.is_superseded);
    second = move(world, first->id, MOVE_PROLONG);
    /* Who has looked before keeps to what he has seen; who comes now is told of the newer. */
    OK(change_look(&world->inspect, &change, world->arena, &progress, &err));
    assert_int_equal(progress.next, CHANGE_STAGE_COUNT);
    assert_true(progress.is_superseded);
    assert_int_equal(look(world, first->freshness_token).next, CHANGE_EXPORTED);
    expect(world, second, CHANGE_EXPORTED);
    pass_all(world);
    assert_int_equal(look(world, first->freshness_token).next, CHANGE_STAGE_COUNT);
    assert_true(look(world, first->freshness_token).is_superseded);
    expect(world, second, CHANGE_STAGE_COUNT);
}

static void what_is_hidden_has_passed_when_it_is_gone(void **state)
{
    struct world *world = start(state);
    Torg__V1__OfferReceipt *shown = create(world, 1);
    Torg__V1__OfferReceipt *hidden;

    pass_all(world);
    hidden = move(world, shown->id, MOVE_BAN);
    assert_true(look(world, hidden->freshness_token).is_hidden);
    export_all(world);
    compose_all(world);
    receive_all(world);
    send_all(world);
    expect(world, hidden, CHANGE_SEARCHABLE);
    follow_all(world);
    expect(world, hidden, CHANGE_STAGE_COUNT);
    assert_true(look(world, hidden->freshness_token).is_hidden);
    /* The registry forgets that it was deleted; the write has passed all the same. */
    exec(world->place.store, "DELETE FROM registry");
    assert_int_equal(look(world, hidden->freshness_token).next, CHANGE_RECEIVED);
    clock_manual_advance(&world->place.clock, (LIFE_S + 1) * (int64_t)SECOND_US);
    assert_int_equal(look(world, hidden->freshness_token).next, CHANGE_STAGE_COUNT);
    assert_true(look(world, hidden->freshness_token).is_hidden);
}

static void a_parked_offer_is_stuck_and_its_trace_tells_why(void **state)
{
    struct world *world = start(state);
    Torg__V1__OfferReceipt *receipt = create(world, 1);
    const Torg__V1__TraceStep *step;

    world->is_blind = true;
    export_all(world);
    compose_all(world);
    expect(world, receipt, CHANGE_COMPOSED);
    assert_true(look(world, receipt->freshness_token).is_stuck);
    step = step_of(trace_of(world, receipt->id), "composed");
    assert_int_equal(step->state, STATE(STUCK));
    assert_non_null(strstr(step->text, "next retry at 20"));
    /* the record's reason, and that of the newest */
    assert_non_null(strstr(step->text, "Z: offer "));
    assert_non_null(strstr(step->text, "is of category \"books\""));
    world->is_blind = false;
    move(world, receipt->id, MOVE_PROLONG);
    pass_all(world);
    assert_int_equal(look(world, receipt->freshness_token).next, CHANGE_STAGE_COUNT);
}

static void a_refused_document_is_told(void **state)
{
    struct world *world = start(state);
    Torg__V1__OfferReceipt *receipt = create(world, 1);
    const struct parked parked = {.stage = PARKED_BY_RECEIVER,
                                  .key =
                                      arena_printf(world->arena, OFFER_CLIENT "/%s", receipt->id),
                                  .topic = TOPIC_DOCUMENTS,
                                  .reason = "fields[3]: too long"};
    const Torg__V1__TraceStep *step;
    struct err err;

    export_all(world);
    compose_all(world);
    OK(parked_add(world->place.store, &parked, PARKED_NEWEST, &err));
    step = step_of(trace_of(world, receipt->id), "received");
    assert_int_equal(step->state, STATE(STUCK));
    assert_non_null(strstr(step->text, "refused"));
    assert_non_null(strstr(step->text, "too long"));
}

/* A searcher that could not apply a message has passed its position, and shows nothing. */
static void a_position_alone_is_not_believed(void **state)
{
    struct world *world = start(state);
    Torg__V1__OfferReceipt *receipt = create(world, 1);

    world->is_deaf = true;
    pass_all(world);
    assert_int_equal(look(world, receipt->freshness_token).next, CHANGE_SEARCHABLE);
}

static void tokens_of_no_write_are_refused(void **state)
{
    struct world *world = start(state);
    Torg__V1__OfferReceipt *receipt = create(world, 1);
    struct change_token document = {.client_id = 1, .idx = 1};
    struct change_progress progress;
    struct change change;
    struct freshness token, wrong;
    struct seal seal;
    char nobody[OFFER_ID_TEXT_SIZE];
    struct err err;

    OK(store_seal(world->inspect.store, &seal, &err));
    OK(freshness_parse(bytes_of(receipt->freshness_token), &seal, &token, &err));
    wrong = token;
    wrong.revision++;
    refused(world, &wrong, ERR_NOT_FOUND);
    wrong = token;
    wrong.shard = (wrong.shard + 1) % OFFER_SHARD_COUNT;
    refused(world, &wrong, ERR_NOT_FOUND);
    wrong = token;
    wrong.offer = offer_id_make(7);
    refused(world, &wrong, ERR_NOT_FOUND);
    assert_int_equal(change_parse(&world->inspect, bytes_of("bicycle"), &change, &err),
                     ERR_INVALID);
    assert_int_equal(change_parse(&world->inspect, bytes_of(""), &change, &err), ERR_INVALID);
    change = (struct change){.document = document};
    assert_int_equal(change_look(&world->inspect, &change, world->arena, &progress, &err),
                     ERR_NOT_FOUND);
    offer_id_format(wrong.offer, nobody);
    assert_int_equal(trace_of(world, nobody)->steps[0]->state, STATE(ABSENT));
}

/* Tokens of documents begin where they are received. */
static void a_document_is_followed_too(void **state)
{
    struct world *world = start(state);
    struct change change = {.document = {.lane = LANE_MAIN, .shard = 0, .idx = 1}};
    const struct client_view *client;
    struct change_progress progress;
    struct err err;

    create(world, 1);
    export_all(world);
    compose_all(world);
    receive_all(world);
    OK(clients_find(world->clients, OFFER_CLIENT, true, &client, &err));
    change.document.client_id = client->id;
    client_unref(client);
    OK(change_look(&world->inspect, &change, world->arena, &progress, &err));
    assert_int_equal(progress.next, CHANGE_SENT);
    send_all(world);
    OK(change_look(&world->inspect, &change, world->arena, &progress, &err));
    assert_int_equal(progress.next, CHANGE_SEARCHABLE);
    follow_all(world);
    OK(change_look(&world->inspect, &change, world->arena, &progress, &err));
    assert_int_equal(progress.next, CHANGE_STAGE_COUNT);
    change.document.idx = 2;
    assert_int_equal(change_look(&world->inspect, &change, world->arena, &progress, &err),
                     ERR_NOT_FOUND);
    change.document.idx = 1;
    change.document.lane = LANE_FAILED;
    assert_int_equal(change_look(&world->inspect, &change, world->arena, &progress, &err),
                     ERR_NOT_FOUND);
}

static int64_t soon(void)
{
    return clock_mono_us(clock_system()) + 20 * MS_US;
}

static void a_search_waits_for_the_document_of_a_write(void **state)
{
    struct world *world = start(state);
    Torg__V1__OfferReceipt *receipt = create(world, 1);
    struct change_token token = {0};
    char *found;
    struct err err;

    assert_int_equal(change_settle(&world->inspect, receipt->freshness_token, soon(), world->arena,
                                   &found, &err),
                     ERR_TIMEOUT);
    assert_non_null(strstr(err.text, "not exported yet"));
    export_all(world);
    compose_all(world);
    receive_all(world);
    OK(change_settle(&world->inspect, receipt->freshness_token, soon(), world->arena, &found,
                     &err));
    OK(change_token_parse(bytes_of(found), NULL, &token, &err));
    assert_int_equal(token.idx, 1);
    create(world, 2);
    pass_all(world);
    OK(change_settle(&world->inspect, receipt->freshness_token, soon(), world->arena, &found,
                     &err));
    OK(change_token_parse(bytes_of(found), NULL, &token, &err));
    assert_true(token.idx >= 1); /* it was sent: where the lane stands suffices */
    assert_int_equal(world->lanes[LANE_MAIN], token.idx);
    OK(change_settle(&world->inspect, found, soon(), world->arena, &found, &err));
    assert_int_equal(change_settle(&world->inspect, "bicycle", soon(), world->arena, &found, &err),
                     ERR_INVALID);
}

/* It goes by the lane for emergencies: where main stands says nothing of it. */
static void a_takedown_has_passed_when_its_own_lane_has(void **state)
{
    struct world *world = start(state);
    Torg__V1__OfferReceipt *shown = create(world, 1);
    Torg__V1__OfferReceipt *banned;
    char *found;
    struct err err;

    world->is_far = true;
    pass_all(world);
    banned = move(world, shown->id, MOVE_BAN);
    export_all(world);
    compose_all(world);
    receive_all(world);
    assert_int_equal(look(world, banned->freshness_token).next, CHANGE_SENT);
    send_all(world);
    assert_int_equal(look(world, banned->freshness_token).next, CHANGE_SEARCHABLE);
    assert_int_equal(
        change_settle(&world->inspect, banned->freshness_token, soon(), world->arena, &found, &err),
        ERR_TIMEOUT);
    follow_all(world);
    assert_int_equal(look(world, banned->freshness_token).next, CHANGE_STAGE_COUNT);
    OK(change_settle(&world->inspect, banned->freshness_token, soon(), world->arena, &found, &err));
}

/* A process without a searcher asks one that is past it. */
static void nor_is_that_of_a_searcher_elsewhere(void **state)
{
    struct world *world = start(state);
    Torg__V1__OfferReceipt *receipt = create(world, 1);

    world->inspect.door.shows = shows_document;
    world->is_far = world->is_deaf = true;
    pass_all(world);
    assert_int_equal(look(world, receipt->freshness_token).next, CHANGE_SEARCHABLE);
    world->is_silent = true; /* there is nothing better than the position */
    assert_int_equal(look(world, receipt->freshness_token).next, CHANGE_STAGE_COUNT);
    world->is_silent = world->is_deaf = false;
    receipt = move(world, receipt->id, MOVE_PROLONG);
    pass_all(world);
    assert_int_equal(look(world, receipt->freshness_token).next, CHANGE_STAGE_COUNT);
}

/* The recomposer was faster than the composer, whose document is a duplicate then. */
static void what_was_composed_anew_waits_in_its_own_lane(void **state)
{
    struct world *world = start(state);
    Torg__V1__OfferReceipt *shown = create(world, 1);
    Torg__V1__OfferReceipt *back;

    pass_all(world);
    move(world, shown->id, MOVE_WITHDRAW);
    pass_all(world);
    world->is_far = true;
    back = move(world, shown->id, MOVE_REPUBLISH);
    export_all(world);
    compose_all(world);
    receive_all_by(world, LANE_BACKFILL);
    assert_int_equal(look(world, back->freshness_token).next, CHANGE_SENT);
    send_all(world);
    assert_int_equal(look(world, back->freshness_token).next, CHANGE_SEARCHABLE);
    follow_all(world);
    assert_int_equal(look(world, back->freshness_token).next, CHANGE_STAGE_COUNT);
}

static void few_wait_at_once(void **state)
{
    struct world *world = start(state);
    Torg__V1__OfferReceipt *receipt = create(world, 1);
    struct change_progress progress;
    struct change change;
    struct err err;

    OK(change_parse(&world->inspect, bytes_of(receipt->freshness_token), &change, &err));
    atomic_store(&world->inspect.waiter_count, FRESHNESS_WAITER_COUNT_MAX);
    /* told at once, but only while there is time left to wait after the first look */
    assert_int_equal(change_wait(&world->inspect, &change, CHANGE_SEARCHABLE, INT64_MAX, NULL, NULL,
                                 world->arena, &progress, &err),
                     ERR_LIMIT);
    /* what need not wait is told */
    OK(change_wait(&world->inspect, &change, CHANGE_SEARCHABLE, 0, NULL, NULL, world->arena,
                   &progress, &err));
    assert_int_equal(progress.next, CHANGE_EXPORTED);
    atomic_store(&world->inspect.waiter_count, 0);
    OK(change_wait(&world->inspect, &change, CHANGE_SEARCHABLE, soon(), NULL, NULL, world->arena,
                   &progress, &err));
    assert_int_equal(progress.next, CHANGE_EXPORTED);
    assert_int_equal(atomic_load(&world->inspect.waiter_count), 0);
}

/* A change that lies far behind in a long lane costs no more than a bounded look. */
static void a_long_lane_is_looked_through_in_part(void **state)
{
    struct world *world = start(state);
    Torg__V1__OfferReceipt *receipt = create(world, 1);
    struct change_progress progress;

    export_all(world);
    compose_all(world);
    receive_all(world);
    exec(world->place.store, "UPDATE registry_queue SET idx = 20001");
    progress = look(world, receipt->freshness_token);
    assert_int_equal(progress.next, CHANGE_SENT);
    assert_int_equal(progress.document.idx, 20001);
    exec(world->place.store,
         "INSERT INTO registry_queue (client_id, lane, shard, idx, pk, epoch, version, "
         "modify_us, put_us) SELECT client_id, lane, shard, idx + 20000, 'another', epoch, "
         "version, modify_us, put_us FROM registry_queue");
    progress = look(world, receipt->freshness_token);
    assert_int_equal(progress.document.idx, 20001); /* among the first ten thousand that wait */
    exec(world->place.store, "UPDATE registry_queue SET pk = 'one more' WHERE idx = 20001");
    progress = look(world, receipt->freshness_token);
    assert_int_equal(progress.next, CHANGE_SENT);
    assert_int_equal(progress.document.idx, 40001); /* not found: the last */
}

static const struct test_case cases[] = {
    CASE(a_write_goes_through_all_stages),
    CASE(what_searchers_have_was_sent),
    CASE(a_newer_write_takes_the_place_of_an_older),
    CASE(what_is_hidden_has_passed_when_it_is_gone),
    CASE(a_parked_offer_is_stuck_and_its_trace_tells_why),
    CASE(a_refused_document_is_told),
    CASE(a_position_alone_is_not_believed),
    CASE(tokens_of_no_write_are_refused),
    CASE(a_document_is_followed_too),
    CASE(a_search_waits_for_the_document_of_a_write),
    CASE(a_takedown_has_passed_when_its_own_lane_has),
    CASE(nor_is_that_of_a_searcher_elsewhere),
    CASE(what_was_composed_anew_waits_in_its_own_lane),
    CASE(few_wait_at_once),
    CASE(a_long_lane_is_looked_through_in_part),
};

int main(int argc, char **argv)
{
    static struct case_list list = {.name = "changes", .set_up = set_up, .tear_down = tear_down};

    cases_on_stores(&list, cases, ARRAY_COUNT(cases));
    return cases_run(&list, argc, argv);
}
