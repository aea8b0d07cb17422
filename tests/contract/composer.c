/* SPDX-License-Identifier: Apache-2.0 */
/*
 * composer.c - changes of offers as documents: on SQLite with topics in files, and on PostgreSQL
 * with Kafka, whose topics all cases share: only documents of the case's own offers are looked at.
 */
#include "contract/offers_fixture.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/memory.h"
#include "base/metrics.h"
#include "codec/message.h"
#include "contract/composed.h"
#include "contract/topics_place.h"
#include "documents/composer.h"
#include "model/bounds.h"
#include "model/topics.h"
#include "offers/bounds.h"
#include "offers/outbox/export.h"
#include "patience.h"
#include "stage/bounds.h"
#include "stage/parked.h"
#include "store/store_fault.h"
#include "topic/bounds.h"
#include "torg/v1/document.pb-c.h"
#include "torg/v1/offer_update.pb-c.h"

enum {
    WAIT_MS = PATIENCE_MS,
    OFFER_COUNT = 40,
    WORDY_SIZE = DOCUMENT_SIZE_MAX + (40 << 10),
    LONG_COUNT = 12
};

struct scene {
    struct offers_place place;
    char dir[TEST_DIR_SIZE];
    struct topics *topics;
    struct topic_faults *faults;
    struct exporter exporter;
    struct coord_shard all[OFFER_SHARD_COUNT];
    struct composer *composer;
    struct composer_options options;
    struct catalog *empty; /* a catalogue without categories */
    atomic_bool is_blind;  /* the composer is given that */
    atomic_bool is_wordy;  /* the newest offer has a text that no document takes */
    atomic_bool is_unsure; /* nobody vouches for the catalogue */
    atomic_int sure_count; /* how often that was asked for */
    offerid tried;         /* the offer that was fetched first, by the composer's thread alone */
    atomic_int tried_count;
    struct composed composed;
};

/* --- the scene --- */

/* Changes that the composer has not dealt with. */
static uint64_t unread_count(struct scene *scene)
{
    struct topic_config config;
    uint64_t sum = 0;
    struct err err;

    OK(topic_describe(scene->topics, TOPIC_OFFER_UPDATES, &config, &err));
    for (uint32_t i = 0; i < config.partition_count; i++) {
        struct topic_lag one;

        OK(topic_lag(scene->topics, COMPOSER_GROUP, TOPIC_OFFER_UPDATES, i, &one, &err));
        sum += one.lag;
    }
    return sum;
}

/* What cases before this one have left unread on Kafka is none of its changes: with another
 * catalogue it would be parked here. */
static void pass_over_all(struct scene *scene)
{
    static const char *const names[] = {TOPIC_OFFER_UPDATES};
    const struct consumer_options options = {
        .group = COMPOSER_GROUP, .topics = names, .topic_count = 1};
    const struct topic_message *messages;
    struct consumer *consumer;
    size_t count;
    struct err err;

    OK(consumer_open(scene->topics, &options, &consumer, &err));
    for (int waited = 0; waited < WAIT_MS && unread_count(scene); waited += 100) {
        if (!consumer_poll(consumer, 100, &messages, &count, &err) && count)
            (void)consumer_commit_polled(consumer, &err); /* refused: they come again */
    }
    consumer_close(consumer);
    assert_int_equal(unread_count(scene), 0);
}

static struct catalog *catalog_of(void *arg)
{
    struct scene *scene = arg;

    return catalog_ref(scene->is_blind ? scene->empty : scene->place.catalog);
}

static char *wordy(struct arena *arena, size_t size)
{
    char *text = arena_alloc(arena, size + 1);

    memset(text, 'w', size);
    text[size] = 0;
    return text;
}

static int fetch(void *arg, const char *offer_id, struct arena *arena, Torg__V1__Offer **offer,
                 struct err *err)
{
    struct scene *scene = arg;
    const struct reader reader = {.seller = "", .sees_all = true};
    offerid id;
    int rc = offer_id_parse(bytes_of(offer_id), &id, err);

    if (!rc)
        rc = offers_get(&scene->place.offers, &reader, id, arena, offer, err);
    if (!rc && !scene->tried)
        scene->tried = id;
    if (!rc && scene->tried == id)
        atomic_fetch_add(&scene->tried_count, 1);
    if (!rc && scene->is_wordy)
        (*offer)->content->description = wordy(arena, WORDY_SIZE);
    return rc;
}

static int set_up(void **state)
{
    static struct scene scenes[2];
    bool servers = case_on_servers(state);
    struct scene *scene = &scenes[servers];
    struct err err;

    memset(scene, 0, sizeof(*scene));
    *state = scene;
    if (servers && (!server_address("postgres") || !server_address("kafka")))
        return 0; /* each test skips */
    assert_true(offers_place_open_as(&scene->place, servers, "fault:"));
    scene->topics = test_topics_open(scene->dir, servers);
    scene->faults = topics_faults(scene->topics);
    composed_open(&scene->composed, scene->topics);
    OK(exporter_init(&scene->exporter, &scene->place.offers, scene->topics, NULL, &err));
    if (unread_count(scene))
        pass_over_all(scene);
    for (uint32_t i = 0; i < OFFER_SHARD_COUNT; i++)
        scene->all[i] = (struct coord_shard){.shard = i, .ticket = 1};
    OK(catalog_from_json(bytes_of("{}"), NULL, &scene->empty, &err));
    scene->options = (struct composer_options){.topics = scene->topics,
                                               .store = scene->place.store,
                                               .clock = clock_system(),
                                               .catalog = catalog_of,
                                               .catalog_arg = scene,
                                               .fetch = fetch,
                                               .fetch_arg = scene};
    return 0;
}

static int tear_down(void **state)
{
    struct scene *scene = *state;

    if (!scene->topics)
        return 0;
    composer_stop(scene->composer);
    test_topics_close(scene->topics, scene->dir);
    catalog_unref(scene->empty);
    offers_place_close(&scene->place);
    return 0;
}

static struct scene *start(void **state)
{
    struct scene *scene = *state;

    if (!scene->topics)
        skip();
    return scene;
}

static void compose(struct scene *scene)
{
    struct err err;

    OK(composer_start(&scene->options, &scene->composer, &err));
}

static void stop(struct scene *scene)
{
    composer_stop(scene->composer);
    scene->composer = NULL;
}

/* --- acting --- */

static offerid create(struct scene *scene, const char *category, int number)
{
    struct arena *arena = arena_new();
    Torg__V1__OfferReceipt receipt = TORG__V1__OFFER_RECEIPT__INIT;
    char seller[16];
    struct author author;
    struct err err;
    offerid id;

    snprintf(seller, sizeof(seller), "seller-%d", number % 7);
    author = author_of(seller, arena);
    OK(offers_create(&scene->place.offers, &author, content_of(arena, category, number, 100, "RUB"),
                     &receipt, &err));
    id = id_of(receipt.id);
    arena_free(arena);
    return id;
}

static void move(struct scene *scene, offerid id, enum offer_move how)
{
    struct arena *arena = arena_new();
    Torg__V1__OfferReceipt receipt = TORG__V1__OFFER_RECEIPT__INIT;
    struct author author = author_of(NULL, arena);
    struct err err;

    OK(offers_move(&scene->place.offers, &author, id, 0, how, &receipt, &err));
    arena_free(arena);
}

/* All changes so far, into the topic. */
static void export_all(struct scene *scene)
{
    size_t count = 0;
    struct err err;

    do
        OK(exporter_round(&scene->exporter, scene->all, OFFER_SHARD_COUNT, &count, &err));
    while (count || scene->exporter.more);
}

static Torg__V1__Offer *get(struct scene *scene, offerid id, struct arena *arena)
{
    const struct reader reader = {.seller = "", .sees_all = true};
    Torg__V1__Offer *offer;
    struct err err;

    OK(offers_get(&scene->place.offers, &reader, id, arena, &offer, &err));
    return offer;
}

/* --- looking --- */

static int64_t version_of(const Torg__V1__Offer *offer)
{
    return offer->update_time->seconds * SECOND_US + offer->update_time->nanos / 1000;
}

/* The newest state of the offer has come. */
static bool has_come(struct scene *scene, offerid id)
{
    struct arena *arena = arena_new();
    int64_t version = version_of(get(scene, id, arena));
    const struct composed_document *seen = composed_last(&scene->composed, id);

    arena_free(arena);
    return seen && seen->version == version;
}

static void wait_for(struct scene *scene, const offerid *ids, size_t count)
{
    size_t i = 0;

    for (int waited = 0; waited < WAIT_MS; waited += 5) {
        composed_look(&scene->composed);
        while (i < count && has_come(scene, ids[i]))
            i++;
        if (i == count)
            return;
        pause_ms(5);
    }
    fail_msg("only %zu of %zu offers have come", i, count);
}

static void wait_for_count(atomic_int *count, int wanted)
{
    for (int waited = 0; waited < WAIT_MS && atomic_load(count) < wanted; waited += 5)
        pause_ms(5);
    assert_true(atomic_load(count) >= wanted);
}

static uint64_t made_count(void)
{
    return counter_value(metrics_counter("torg_composer_documents_total", "event=\"upsert\"", ""));
}

/* The composer has failed so many times more. */
static void wait_for_errors(uint64_t more)
{
    const struct counter *errors =
        metrics_counter("torg_stage_errors_total", "stage=\"composer\"", "");
    uint64_t wanted = counter_value(errors) + more;

    for (int waited = 0; waited < WAIT_MS && counter_value(errors) < wanted; waited += 5)
        pause_ms(5);
    assert_true(counter_value(errors) >= wanted);
}

/* Until the composer has made so many documents, whether sent or not. */
static void wait_for_documents(uint64_t wanted)
{
    for (int waited = 0; waited < WAIT_MS && made_count() < wanted; waited += 5)
        pause_ms(5);
    assert_true(made_count() >= wanted);
}

/* Documents that the composer has left unsent for newer ones. */
static uint64_t superseded_count(void)
{
    return counter_value(metrics_counter("torg_composer_superseded_total", NULL, ""));
}

static void wait_for_superseded(uint64_t wanted)
{
    for (int waited = 0; waited < WAIT_MS && superseded_count() < wanted; waited += 5)
        pause_ms(5);
    assert_true(superseded_count() >= wanted);
}

/* How many documents the largest batch has that one of these offers is in. */
static uint32_t largest_batch(const struct scene *scene, const offerid *ids, size_t count)
{
    const struct composed *composed = &scene->composed;
    uint32_t largest = 0;

    for (size_t i = 0; i < count; i++) {
        const struct composed_document *mine = composed_last(composed, ids[i]);
        uint32_t size = 0;

        for (size_t k = 0; k < composed->seen_count; k++)
            size += composed->seen[k].batch == mine->batch;
        largest = size > largest ? size : largest;
    }
    return largest;
}

static int64_t parked_now(struct scene *scene)
{
    struct parked_total total;
    struct err err;

    OK(parked_total(scene->place.store, PARKED_BY_COMPOSER, &total, &err));
    return total.count;
}

struct putting_off {
    int64_t until_us;
    int64_t count;
};

static int put_off_tx(struct store_tx *tx, void *arg, struct err *err)
{
    struct putting_off *putting = arg;

    return parked_hurry(tx, PARKED_BY_COMPOSER, "", putting->until_us, &putting->count, err);
}

/* Parked ones are tried at this time. */
static void put_off(struct scene *scene, int64_t until_us)
{
    struct putting_off putting = {.until_us = until_us};
    struct err err;

    OK(store_write(scene->place.store, put_off_tx, &putting, &err));
}

/* Whether that version of the document has come before it. */
static bool is_repeat(const struct composed *composed, size_t number)
{
    const struct composed_document *late = &composed->seen[number];

    for (size_t i = 0; i < number; i++) {
        if (strcmp(composed->seen[i].pk, late->pk) == 0 &&
            composed->seen[i].version == late->version)
            return true;
    }
    return false;
}

/* An older version comes behind a newer one only on Kafka, and only again: a member whose
 * heartbeats were late is replaced, and what it had not committed is read once more. */
static void check_versions(const struct scene *scene)
{
    const struct composed *composed = &scene->composed;

    for (size_t i = 0; i < composed->seen_count; i++) {
        for (size_t k = i + 1; k < composed->seen_count; k++) {
            if (strcmp(composed->seen[i].pk, composed->seen[k].pk) == 0)
                assert_true(composed->seen[i].version <= composed->seen[k].version ||
                            (scene->place.postgres && is_repeat(composed, k)));
        }
    }
}

/* Until everything is committed: whoever reads next begins behind it. */
static void wait_for_commits(struct scene *scene)
{
    for (int waited = 0; waited < WAIT_MS && unread_count(scene); waited += 5)
        pause_ms(5);
    assert_int_equal(unread_count(scene), 0);
}

/* --- cases --- */

static void offers_become_documents_and_versions_never_go_back(void **state)
{
    static const enum offer_move moves[] = {MOVE_WITHDRAW, MOVE_SELL_ON_SITE, MOVE_BAN, MOVE_DELETE,
                                            MOVE_SELL_ELSEWHERE};
    struct scene *scene = start(state);
    offerid ids[OFFER_COUNT];

    compose(scene);
    for (int i = 0; i < OFFER_COUNT; i++)
        ids[i] = create(scene, i % 2 ? "books" : "bikes", i);
    export_all(scene);
    wait_for(scene, ids, OFFER_COUNT);
    for (int i = 0; i < OFFER_COUNT; i++) {
        assert_false(composed_last(&scene->composed, ids[i])->is_delete);
        assert_true(composed_last(&scene->composed, ids[i])->field_count >= 7);
    }
    for (int i = 0; i < OFFER_COUNT; i++) {
        if (i % 7 < (int)ARRAY_COUNT(moves))
            move(scene, ids[i], moves[i % 7]);
    }
    export_all(scene);
    wait_for(scene, ids, OFFER_COUNT);
    for (int i = 0; i < OFFER_COUNT; i++) {
        bool was_moved = i % 7 < (int)ARRAY_COUNT(moves);

        assert_int_equal(composed_last(&scene->composed, ids[i])->is_delete, was_moved);
        assert_int_equal(composed_last(&scene->composed, ids[i])->field_count == 0, was_moved);
    }
    check_versions(scene);
    assert_int_equal(parked_now(scene), 0);
}

/* Takedowns go by the lane for emergencies; other changes that hide an offer do not. */
static void takedowns_go_by_the_emergency_lane(void **state)
{
    static const struct {
        enum offer_move move;
        Torg__V1__QueueLane__Name lane;
    } wanted[] = {{MOVE_BAN, TORG__V1__QUEUE_LANE__NAME__EMERGENCY},
                  {MOVE_DELETE, TORG__V1__QUEUE_LANE__NAME__EMERGENCY},
                  {MOVE_WITHDRAW, TORG__V1__QUEUE_LANE__NAME__MAIN}};
    struct scene *scene = start(state);
    offerid ids[ARRAY_COUNT(wanted)];

    compose(scene);
    for (size_t i = 0; i < ARRAY_COUNT(wanted); i++)
        ids[i] = create(scene, "books", (int)i);
    export_all(scene);
    wait_for(scene, ids, ARRAY_COUNT(ids));
    for (size_t i = 0; i < ARRAY_COUNT(wanted); i++) {
        assert_int_equal(composed_last(&scene->composed, ids[i])->lane,
                         TORG__V1__QUEUE_LANE__NAME__MAIN);
        move(scene, ids[i], wanted[i].move);
    }
    export_all(scene);
    wait_for(scene, ids, ARRAY_COUNT(ids));
    for (size_t i = 0; i < ARRAY_COUNT(wanted); i++) {
        assert_true(composed_last(&scene->composed, ids[i])->is_delete);
        assert_int_equal(composed_last(&scene->composed, ids[i])->lane, wanted[i].lane);
    }
}

/* What waits together of an offer is one document, whichever lanes its revisions are for. */
static void of_revisions_that_wait_together_the_newest_is_sent(void **state)
{
    struct scene *scene = start(state);
    offerid shown = create(scene, "books", 1);
    offerid gone = create(scene, "books", 1);
    const offerid both[] = {shown, gone};
    uint64_t before = superseded_count();
    size_t of_shown = 0, of_gone = 0;

    if (scene->place.postgres) /* Kafka gives a poll as many records as it likes */
        skip();
    for (int i = 0; i < 4; i++) {
        move(scene, shown, i % 2 ? MOVE_REPUBLISH : MOVE_SELL_ON_SITE);
        move(scene, gone, i % 2 ? MOVE_UNBAN : MOVE_BAN);
    }
    move(scene, gone, MOVE_DELETE);
    export_all(scene);
    scene->options.batch_us = 60 * SECOND_US; /* the stop sends them */
    compose(scene);
    wait_for_superseded(before + 9);
    stop(scene);
    composed_look(&scene->composed);
    for (size_t i = 0; i < scene->composed.seen_count; i++) {
        const struct composed_document *seen = &scene->composed.seen[i];

        of_shown += strcmp(seen->pk, composed_last(&scene->composed, shown)->pk) == 0;
        of_gone += strcmp(seen->pk, composed_last(&scene->composed, gone)->pk) == 0;
    }
    assert_int_equal(of_shown, 1);
    assert_int_equal(of_gone, 1);
    for (size_t i = 0; i < ARRAY_COUNT(both); i++)
        assert_true(has_come(scene, both[i]));
    assert_false(composed_last(&scene->composed, shown)->is_delete);
    assert_true(composed_last(&scene->composed, gone)->is_delete);
}

static void a_batch_has_so_many_documents(void **state)
{
    struct scene *scene = start(state);
    offerid ids[OFFER_COUNT];
    size_t come = 0;

    scene->options.batch_count = 5;
    scene->options.batch_us = 60 * SECOND_US;
    for (int i = 0; i < OFFER_COUNT; i++)
        ids[i] = create(scene, "books", 0); /* of one seller: one partition or few */
    export_all(scene);
    while (come < OFFER_COUNT) { /* once, unless a change is read twice: a member is replaced */
        uint64_t before = made_count();

        compose(scene);
        wait_for_documents(before + OFFER_COUNT - come);
        stop(scene); /* sends what is left of what it has read */
        composed_look(&scene->composed);
        come = 0;
        for (int k = 0; k < OFFER_COUNT; k++)
            come += has_come(scene, ids[k]);
    }
    assert_int_equal(largest_batch(scene, ids, OFFER_COUNT), 5);
}

/* On Kafka, whose topic other tests read too, a record that has no content; else no record at
 * all. */
static struct bytes bad_record(const struct scene *scene, char *id, struct buf *out)
{
    Torg__V1__OfferUpdate update = TORG__V1__OFFER_UPDATE__INIT;
    Torg__V1__Offer offer = TORG__V1__OFFER__INIT;

    if (!scene->place.postgres)
        return bytes_of("\xff\xff\xff\xff not an offer");
    offer.id = id;
    offer.status = TORG__V1__OFFER__STATUS__ACTIVE;
    update.offer = &offer;
    message_encode(&update.base, out);
    return buf_bytes(out);
}

static void a_record_that_cannot_be_read_is_replaced_by_the_newest_offer(void **state)
{
    struct scene *scene = start(state);
    offerid id = create(scene, "books", 1);
    struct buf wire = BUF_INIT(1024);
    char key[OFFER_ID_TEXT_SIZE];
    struct topic_record record;
    struct err err;

    offer_id_format(id, key);
    record = (struct topic_record){.key = bytes_of(key), .value = bad_record(scene, key, &wire)};
    OK(topic_produce(scene->topics, TOPIC_OFFER_UPDATES, &record, 1, NULL, &err));
    buf_release(&wire);
    compose(scene);
    wait_for(scene, &id, 1);
    assert_false(composed_last(&scene->composed, id)->is_delete);
    assert_int_equal(parked_now(scene), 0);
}

static void what_fails_is_parked_and_passed_by_the_others(void **state)
{
    struct scene *scene = start(state);
    struct arena *arena = arena_new();
    offerid bad = create(scene, "books", 1);
    offerid gone = create(scene, "books", 1);
    struct parked *list;
    size_t count;
    struct err err;

    scene->is_blind = true;
    move(scene, gone, MOVE_WITHDRAW); /* a delete needs no catalogue */
    export_all(scene);
    compose(scene);
    wait_for(scene, &gone, 1);
    for (int waited = 0; waited < WAIT_MS && !parked_now(scene); waited += 5)
        pause_ms(5);
    OK(parked_list(scene->place.store, PARKED_BY_COMPOSER, 0, 10, arena, &list, &count, &err));
    assert_int_equal(count, 1);
    assert_non_null(strstr(list[0].reason, "category \"books\""));
    assert_int_equal(id_of(list[0].key), bad);
    assert_null(composed_last(&scene->composed, bad));
    stop(scene);

    scene->is_blind = false; /* the category is there again: found by itself */
    compose(scene);
    wait_for(scene, &bad, 1);
    for (int waited = 0; waited < WAIT_MS && parked_now(scene); waited += 5)
        pause_ms(5);
    assert_int_equal(parked_now(scene), 0);
    arena_free(arena);
}

/* Larger than a document, and not than a record: the receiver would refuse it. */
static void what_no_receiver_would_take_is_parked(void **state)
{
    static const size_t sizes[] = {WORDY_SIZE, DOCUMENT_TEXT_SIZE_MAX + 1};
    struct scene *scene = start(state);
    struct arena *arena = arena_new();
    struct buf wire = BUF_INIT(TOPIC_VALUE_SIZE_MAX);
    offerid ids[ARRAY_COUNT(sizes)];
    char key[OFFER_ID_TEXT_SIZE];
    struct parked *list;
    struct err err;
    size_t count;

    scene->is_wordy = true;
    for (size_t i = 0; i < ARRAY_COUNT(sizes); i++) {
        Torg__V1__OfferUpdate update = TORG__V1__OFFER_UPDATE__INIT;
        struct topic_record record = {0};

        ids[i] = create(scene, "books", 1);
        offer_id_format(ids[i], key);
        record.key = bytes_of(key);
        update.offer = get(scene, ids[i], arena);
        update.offer->content->description = wordy(arena, sizes[i]);
        buf_reset(&wire);
        message_encode(&update.base, &wire);
        record.value = buf_bytes(&wire);
        OK(topic_produce(scene->topics, TOPIC_OFFER_UPDATES, &record, 1, NULL, &err));
    }
    compose(scene);
    for (int waited = 0; waited < WAIT_MS && parked_now(scene) < 2; waited += 5)
        pause_ms(5);
    OK(parked_list(scene->place.store, PARKED_BY_COMPOSER, 0, 10, arena, &list, &count, &err));
    assert_int_equal(count, ARRAY_COUNT(sizes));
    composed_look(&scene->composed);
    for (size_t i = 0; i < ARRAY_COUNT(sizes); i++) {
        assert_non_null(strstr(list[i].reason, "the limit is"));
        assert_null(composed_last(&scene->composed, ids[i]));
    }
    scene->is_wordy = false; /* the seller has shortened them */
    wait_for(scene, ids, ARRAY_COUNT(sizes));
    buf_release(&wire);
    arena_free(arena);
}

static void a_newer_change_that_can_be_used_ends_the_parking(void **state)
{
    struct scene *scene = start(state);
    offerid id = create(scene, "books", 1);

    scene->is_blind = true;
    export_all(scene);
    compose(scene);
    for (int waited = 0; waited < WAIT_MS && !parked_now(scene); waited += 5)
        pause_ms(5);
    assert_int_equal(parked_now(scene), 1);
    /* Its own time is far away: what ends the parking is the change. */
    put_off(scene, INT64_MAX / 2);
    for (int waited = 0; waited < 3 * READER_RETRY_MS / 2; waited += 50)
        pause_ms(50); /* the composer has looked at what is parked meanwhile */
    move(scene, id, MOVE_WITHDRAW);
    export_all(scene);
    wait_for(scene, &id, 1);
    for (int waited = 0; waited < WAIT_MS && parked_now(scene); waited += 5)
        pause_ms(5);
    assert_int_equal(parked_now(scene), 0);
}

static void strict_holds_the_partition_up_and_keeps_its_order(void **state)
{
    struct scene *scene = start(state);
    offerid ids[8];

    scene->is_blind = true;
    scene->options.is_strict = true;
    for (int i = 0; i < 8; i++)
        ids[i] = create(scene, "books", 0);
    export_all(scene);
    compose(scene);
    wait_for_count(&scene->tried_count, 2); /* and again, some time later */
    composed_look(&scene->composed);
    for (int i = 0; i < 8; i++)
        assert_null(composed_last(&scene->composed, ids[i]));
    assert_int_equal(parked_now(scene), 0);
    scene->is_blind = false;
    wait_for(scene, ids, 8);
}

/* A way back that fails is no leave to go on: what comes behind it waits, too. */
static void strict_goes_back_however_often_that_fails(void **state)
{
    enum { SEEK_COUNT = 10 };
    struct scene *scene = start(state);
    offerid ids[16];

    scene->is_blind = true;
    scene->options.is_strict = true;
    atomic_store(&scene->faults->fail_seek, -1);
    for (int i = 0; i < 8; i++)
        ids[i] = create(scene, "books", 0);
    export_all(scene);
    compose(scene);
    wait_for_errors(2); /* it waits for one, and could not go back to it */
    for (int i = 8; i < 16; i++)
        ids[i] = create(scene, "books", 0);
    export_all(scene);
    scene->is_blind = false;
    wait_for_errors(SEEK_COUNT); /* with each poll it tries to, whatever that has read */
    atomic_store(&scene->faults->fail_seek, 0);
    wait_for(scene, ids, 16);
}

/* What was seen of the offer is that it is gone, and nothing from before. */
static void assert_only_deleted(const struct scene *scene, offerid id)
{
    char text[OFFER_ID_TEXT_SIZE];

    offer_id_format(id, text);
    for (size_t i = 0; i < scene->composed.seen_count; i++) {
        if (strcmp(scene->composed.seen[i].pk, text) == 0)
            assert_true(scene->composed.seen[i].is_delete);
    }
}

static void faults_of_the_topics_lose_nothing(void **state)
{
    struct scene *scene = start(state);
    offerid ids[OFFER_COUNT];

    for (int i = 0; i < OFFER_COUNT; i++)
        ids[i] = create(scene, "books", i);
    export_all(scene);
    atomic_store(&scene->faults->lose_ack, 2);
    atomic_store(&scene->faults->fail_read, 1);
    atomic_store(&scene->faults->fail_commit, 2);
    atomic_store(&scene->faults->lose_commit, 1);
    compose(scene);
    wait_for(scene, ids, OFFER_COUNT);
    assert_int_equal(parked_now(scene), 0);
    wait_for_commits(scene);
    stop(scene);
    scene->composed.seen_count = 0;
    for (int i = 0; i < OFFER_COUNT; i++)
        move(scene, ids[i], MOVE_WITHDRAW);
    export_all(scene);
    compose(scene);
    wait_for(scene, ids, OFFER_COUNT);
    for (int i = 0; i < OFFER_COUNT; i++) /* everything was committed: nothing comes again */
        assert_only_deleted(scene, ids[i]);
}

/* A change of the offer with so long a text that six of them are a batch, and LONG_COUNT more than
 * a record takes. */
static void produce_long(struct scene *scene, offerid id, int64_t later_us)
{
    enum { TEXT_SIZE = 100 << 10 };
    struct arena *arena = arena_new();
    struct buf wire = BUF_INIT(TOPIC_VALUE_SIZE_MAX);
    Torg__V1__OfferUpdate update = TORG__V1__OFFER_UPDATE__INIT;
    struct topic_record record;
    struct err err;

    update.offer = get(scene, id, arena);
    update.offer->update_time->nanos += (int32_t)later_us * 1000;
    update.offer->content->description = arena_alloc(arena, TEXT_SIZE + 1);
    memset(update.offer->content->description, 'a', TEXT_SIZE);
    update.offer->content->description[TEXT_SIZE] = 0;
    message_encode(&update.base, &wire);
    record = (struct topic_record){.key = bytes_of(update.offer->id), .value = buf_bytes(&wire)};
    OK(topic_produce(scene->topics, TOPIC_OFFER_UPDATES, &record, 1, NULL, &err));
    buf_release(&wire);
    arena_free(arena);
}

static void a_stop_while_nothing_can_be_sent_loses_nothing(void **state)
{
    enum { FAIL_COUNT = 5 }; /* at the sixth, and at each behind it up to the tenth */
    struct scene *scene = start(state);
    offerid id = create(scene, "books", 1);
    struct arena *arena = arena_new();
    int64_t version = version_of(get(scene, id, arena)) + LONG_COUNT;
    const struct composed_document *seen = NULL;

    for (int i = 1; i <= LONG_COUNT; i++)
        produce_long(scene, id, i);
    atomic_store(&scene->faults->fail_produce, FAIL_COUNT);
    compose(scene);
    for (int waited = 0; atomic_load(&scene->faults->fail_produce) == FAIL_COUNT; waited++) {
        assert_true(waited < WAIT_MS);
        pause_ms(1);
    }
    stop(scene); /* those that are there go with the last try; the tenth had no room beside them */
    compose(scene);
    for (int waited = 0; waited < WAIT_MS && !(seen && seen->version == version); waited += 5) {
        composed_look(&scene->composed);
        seen = composed_last(&scene->composed, id);
        pause_ms(5);
    }
    assert_non_null(seen);
    assert_int_equal(seen->version, version);
    arena_free(arena);
}

static int64_t sure_us(void *arg)
{
    struct scene *scene = arg;

    atomic_fetch_add(&scene->sure_count, 1);
    return scene->is_unsure ? INT64_MIN / 2 : clock_mono_us(clock_system());
}

static void a_catalogue_that_may_be_old_is_not_used(void **state)
{
    struct scene *scene = start(state);
    offerid id = create(scene, "books", 1);

    scene->options.sure_us = sure_us;
    scene->is_unsure = true;
    export_all(scene);
    compose(scene);
    wait_for_count(&scene->sure_count, 5); /* it has read the change, and waits */
    composed_look(&scene->composed);
    assert_null(composed_last(&scene->composed, id));
    stop(scene); /* it does not wait for ever */
    compose(scene);
    scene->is_unsure = false;
    wait_for(scene, &id, 1);
}

/* The newest state of the offer as a record, though nothing has changed. */
static void produce_again(struct scene *scene, offerid id)
{
    Torg__V1__OfferUpdate update = TORG__V1__OFFER_UPDATE__INIT;
    struct buf wire = BUF_INIT(TOPIC_VALUE_SIZE_MAX);
    struct arena *arena = arena_new();
    struct topic_record record;
    struct err err;

    update.offer = get(scene, id, arena);
    message_encode(&update.base, &wire);
    record = (struct topic_record){.key = bytes_of(update.offer->id), .value = buf_bytes(&wire)};
    store_fault_arm(scene->place.store, STORE_FAULT_BEGIN, 0, UINT_MAX);
    OK(topic_produce(scene->topics, TOPIC_OFFER_UPDATES, &record, 1, NULL, &err));
    buf_release(&wire);
    arena_free(arena);
}

/* The composer has looked at what is parked from its beginning to its end: the gauge is set at both
 * of each look. */
static void wait_for_look(void)
{
    struct gauge *parked = metrics_gauge("torg_parked", "stage=\"composer\"", "");

    for (int i = 0; i < 3; i++) {
        gauge_set(parked, -1);
        for (int waited = 0; waited < WAIT_MS && atomic_load(&parked->value) < 0; waited += 5)
            pause_ms(5);
        assert_true(atomic_load(&parked->value) >= 0);
    }
}

static int64_t parked_until(struct scene *scene)
{
    struct arena *arena = arena_new();
    struct parked *list;
    int64_t next_us;
    struct err err;
    size_t count;

    OK(parked_list(scene->place.store, PARKED_BY_COMPOSER, 0, 1, arena, &list, &count, &err));
    assert_int_equal(count, 1);
    next_us = list[0].next_us;
    arena_free(arena);
    return next_us;
}

/* It is known to be parked, and not tried again: a look that had begun may still put it off. */
static void leave_parked(struct scene *scene)
{
    const int64_t never_us = INT64_MAX / 2;

    do {
        put_off(scene, never_us);
        wait_for_look();
    } while (parked_until(scene) != never_us);
}

/* A store that does not answer for long must not fill the batch with one offer's document: a
 * receiver refuses a batch of too many, with all that is in it. */
static void a_parking_that_cannot_be_ended_yet_sends_nothing_twice(void **state)
{
    struct scene *scene = start(state);
    offerid id = create(scene, "books", 1);
    char key[OFFER_ID_TEXT_SIZE];
    size_t count = 0;

    offer_id_format(id, key);
    scene->is_blind = true;
    export_all(scene);
    compose(scene);
    for (int waited = 0; waited < WAIT_MS && !parked_now(scene); waited += 5)
        pause_ms(5);
    leave_parked(scene);
    scene->is_blind = false;
    produce_again(scene, id); /* and the store is away */
    wait_for_errors(3);
    store_fault_arm(scene->place.store, STORE_FAULT_BEGIN, 0, 0);
    for (int waited = 0; waited < WAIT_MS && parked_now(scene); waited += 5)
        pause_ms(5);
    assert_int_equal(parked_now(scene), 0);
    wait_for(scene, &id, 1);
    stop(scene);
    composed_look(&scene->composed);
    for (size_t i = 0; i < scene->composed.seen_count; i++)
        count += strcmp(scene->composed.seen[i].pk, key) == 0;
    if (scene->place.postgres) /* see check_versions */
        assert_true(count >= 1);
    else
        assert_int_equal(count, 1);
}

/* By who saves offers: at the same moment, and with other partitions. */
static void the_topic_may_be_made_by_another_meanwhile(void **state)
{
    struct scene *scene = start(state);
    offerid id = create(scene, "books", 1);

    export_all(scene);
    atomic_store(&scene->faults->hide_topic, 1);
    compose(scene);
    wait_for(scene, &id, 1);
}

static const struct test_case cases[] = {
    CASE(offers_become_documents_and_versions_never_go_back),
    CASE(takedowns_go_by_the_emergency_lane),
    CASE(of_revisions_that_wait_together_the_newest_is_sent),
    CASE(a_batch_has_so_many_documents),
    CASE(a_record_that_cannot_be_read_is_replaced_by_the_newest_offer),
    CASE(what_fails_is_parked_and_passed_by_the_others),
    CASE(what_no_receiver_would_take_is_parked),
    CASE(a_newer_change_that_can_be_used_ends_the_parking),
    CASE(strict_holds_the_partition_up_and_keeps_its_order),
    CASE(strict_goes_back_however_often_that_fails),
    CASE(faults_of_the_topics_lose_nothing),
    CASE(a_stop_while_nothing_can_be_sent_loses_nothing),
    CASE(a_catalogue_that_may_be_old_is_not_used),
    CASE(a_parking_that_cannot_be_ended_yet_sends_nothing_twice),
    CASE(the_topic_may_be_made_by_another_meanwhile),
};

int main(int argc, char **argv)
{
    static struct case_list list = {.name = "composer", .set_up = set_up, .tear_down = tear_down};

    cases_embedded(&list, cases, ARRAY_COUNT(cases));
    cases_on_servers(&list, cases, ARRAY_COUNT(cases));
    return cases_run(&list, argc, argv);
}
