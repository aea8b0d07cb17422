/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recomposer.c - documents follow the catalogue: on SQLite with topics in files, and on PostgreSQL
 * with Kafka, whose topics all cases share: only documents of the case's own offers are looked at.
 */
#include "contract/offers_fixture.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/memory.h"
#include "catalog/versions.h"
#include "codec/message.h"
#include "contract/composed.h"
#include "contract/topics_place.h"
#include "documents/composer.h"
#include "documents/recompose_mark.h"
#include "documents/recomposer.h"
#include "model/bounds.h"
#include "model/offer_fields.h"
#include "model/topics.h"
#include "offers/record/offer_scan.h"
#include "patience.h"
#include "stage/parked.h"
#include "torg/v1/document.pb-c.h"

enum { WAIT_MS = PATIENCE_MS, OFFER_COUNT = 20, HOUR_S = 3600 };

struct scene {
    struct offers_place place;
    char dir[TEST_DIR_SIZE];
    struct topics *topics;
    struct coord *coord;
    struct recomposer_options options;
    struct recomposer *recomposer;
    pthread_mutex_t lock;    /* guards current */
    struct catalog *current; /* in use */
    atomic_int look_count;   /* how often the recomposer has asked which */
    atomic_int pages_left;   /* then reading fails; below 0: never */
    offerid swollen;         /* the page has it with a text that no document takes; 0: none */
    offerid bikes[OFFER_COUNT];
    offerid books[OFFER_COUNT];
    struct composed composed;
};

/* --- the scene --- */

static struct catalog *catalog_of(void *arg)
{
    struct scene *scene = arg;
    struct catalog *catalog;

    atomic_fetch_add(&scene->look_count, 1);
    pthread_mutex_lock(&scene->lock);
    catalog = catalog_ref(scene->current);
    pthread_mutex_unlock(&scene->lock);
    return catalog;
}

static int page_of(void *arg, const char *category, int64_t after, size_t max, struct arena *arena,
                   struct recompose_page *page, struct err *err)
{
    struct scene *scene = arg;
    struct offer_scan scan;
    int rc;

    if (atomic_load(&scene->pages_left) == 0)
        return err_set(err, ERR_UNAVAILABLE, "no page is given");
    rc = offer_scan_page(scene->place.store, category, after, max, arena, &scan, err);
    *page = (struct recompose_page){.offers = scan.offers,
                                    .count = scan.count,
                                    .damaged_count = scan.damaged_count,
                                    .last = scan.last};
    for (size_t i = 0; i < scan.count && !rc && scene->swollen; i++)
        if (id_of(scan.offers[i]->id) == scene->swollen)
            scan.offers[i]->content->description =
                arena_printf(arena, "%0*d", DOCUMENT_TEXT_SIZE_MAX + 1, 0);
    if (scan.count && atomic_load(&scene->pages_left) > 0)
        atomic_fetch_sub(&scene->pages_left, 1);
    return rc;
}

static int count_of(void *arg, const char *category, int64_t *count, struct err *err)
{
    struct scene *scene = arg;

    return offer_scan_count(scene->place.store, category, count, err);
}

/* In use from now on, as another version. With a name of bikes or books NULL there is no such
 * category. */
static int64_t apply(struct scene *scene, const char *bikes, const char *books)
{
    struct arena *arena = arena_new();
    struct catalog *catalog, *stored;
    struct buf json = BUF_INIT(4096);
    int64_t version = 0;
    struct err err;

    buf_printf(&json, "{\"attributes\": [{\"id\": \"color\", \"name\": {\"en\": \"Colour\"}, "
                      "\"type\": \"TEXT\"}], \"categories\": [{\"id\": \"other\", \"name\": "
                      "{\"en\": \"Other\"}}");
    if (bikes)
        buf_printf(&json,
                   ", {\"id\": \"bikes\", \"name\": {\"en\": \"%s\"}, \"attributes\": "
                   "[\"color\"]}",
                   bikes);
    if (books)
        buf_printf(&json, ", {\"id\": \"books\", \"name\": {\"en\": \"%s\"}}", books);
    buf_printf(&json, "]}");
    OK(catalog_from_json(buf_bytes(&json), NULL, &catalog, &err));
    OK(versions_add(scene->place.store, catalog, catalog_version(scene->current), "test", 1,
                    &version, &err));
    OK(versions_load(scene->place.store, version, arena, NULL, &stored, &err));
    pthread_mutex_lock(&scene->lock);
    catalog_unref(scene->current);
    scene->current = stored;
    pthread_mutex_unlock(&scene->lock);
    catalog_unref(catalog);
    buf_release(&json);
    arena_free(arena);
    return version;
}

static offerid create(struct scene *scene, const char *category, int number)
{
    struct arena *arena = arena_new();
    Torg__V1__OfferReceipt receipt = TORG__V1__OFFER_RECEIPT__INIT;
    struct author author = author_of("seller", arena);
    struct err err;
    offerid id;

    OK(offers_create(&scene->place.offers, &author, content_of(arena, category, number, 100, "RUB"),
                     &receipt, &err));
    id = id_of(receipt.id);
    arena_free(arena);
    return id;
}

static int set_up(void **state)
{
    static struct scene scenes[2];
    const struct topic_config config = {.partition_count = DOCUMENTS_PARTITION_COUNT};
    struct topic_config found;
    bool servers = case_on_servers(state);
    struct scene *scene = &scenes[servers];
    struct err err;

    memset(scene, 0, sizeof(*scene));
    *state = scene;
    if (servers && (!server_address("postgres") || !server_address("kafka")))
        return 0; /* each test skips */
    assert_true(offers_place_open(&scene->place, servers));
    scene->topics = test_topics_open(scene->dir, servers);
    if (topic_describe(scene->topics, TOPIC_OFFER_UPDATES, &found, &err))
        OK(topic_create(scene->topics, TOPIC_OFFER_UPDATES, &config, &err));
    composed_open(&scene->composed, scene->topics);
    OK(coord_open("memory:recomposer", "one", NULL, &scene->coord, &err));
    pthread_mutex_init(&scene->lock, NULL);
    OK(catalog_from_json(bytes_of("{}"), NULL, &scene->current, &err));
    atomic_store(&scene->pages_left, -1);
    /* Their changes are long over. */
    clock_manual_init(&scene->place.clock,
                      clock_wall_us(clock_system()) - (int64_t)HOUR_S * SECOND_US);
    for (int i = 0; i < OFFER_COUNT; i++) {
        scene->bikes[i] = create(scene, "bikes", i);
        scene->books[i] = create(scene, "books", i);
    }
    scene->options = (struct recomposer_options){.topics = scene->topics,
                                                 .store = scene->place.store,
                                                 .clock = clock_system(),
                                                 .coord = scene->coord,
                                                 .catalog = catalog_of,
                                                 .catalog_arg = scene,
                                                 .page = page_of,
                                                 .count = count_of,
                                                 .offers_arg = scene,
                                                 .page_count = 3,
                                                 .settle_us = 1};
    return 0;
}

static int tear_down(void **state)
{
    struct scene *scene = *state;

    if (!scene->topics)
        return 0;
    recomposer_stop(scene->recomposer);
    coord_close(scene->coord);
    test_topics_close(scene->topics, scene->dir);
    catalog_unref(scene->current);
    pthread_mutex_destroy(&scene->lock);
    offers_place_close(&scene->place);
    return 0;
}

static struct scene *begin(void **state)
{
    struct scene *scene = *state;

    if (!scene->topics)
        skip();
    return scene;
}

static void start(struct scene *scene)
{
    struct err err;

    OK(recomposer_start(&scene->options, &scene->recomposer, &err));
}

static void stop(struct scene *scene)
{
    recomposer_stop(scene->recomposer);
    scene->recomposer = NULL;
}

/* --- looking --- */

/* Documents of these offers, each time they came. */
static size_t count_seen(const struct scene *scene, const offerid *ids)
{
    size_t count = 0;

    for (size_t i = 0; i < scene->composed.seen_count; i++) {
        for (size_t k = 0; k < OFFER_COUNT; k++) {
            char text[OFFER_ID_TEXT_SIZE];

            offer_id_format(ids[k], text);
            count += strcmp(scene->composed.seen[i].pk, text) == 0;
        }
    }
    return count;
}

static struct recompose_mark mark_of(struct scene *scene)
{
    struct recompose_mark mark;
    struct err err;

    OK(recompose_mark_read(scene->place.store, &mark, &err));
    return mark;
}

static void wait_until_done(struct scene *scene, int64_t version)
{
    int64_t done = 0;

    for (int waited = 0; waited < WAIT_MS; waited += 5) {
        done = mark_of(scene).done_version;
        if (done >= version)
            break;
        pause_ms(5);
    }
    assert_int_equal(done, version);
    composed_look(&scene->composed);
}

static void wait_for_pages(struct scene *scene)
{
    for (int waited = 0; waited < WAIT_MS && atomic_load(&scene->pages_left); waited += 5)
        pause_ms(5);
    assert_int_equal(atomic_load(&scene->pages_left), 0);
}

/* The recomposer has looked for work a few times since, and done what it found. */
static void wait_for_looks(struct scene *scene)
{
    int wanted = atomic_load(&scene->look_count) + 3;

    for (int waited = 0; waited < WAIT_MS && atomic_load(&scene->look_count) < wanted; waited += 5)
        pause_ms(5);
    assert_true(atomic_load(&scene->look_count) >= wanted);
    composed_look(&scene->composed);
}

/* All of them came last as documents of this catalogue. */
static void check_all(const struct scene *scene, const offerid *ids, const char *words,
                      int64_t version)
{
    for (int i = 0; i < OFFER_COUNT; i++) {
        const struct composed_document *seen = composed_last(&scene->composed, ids[i]);

        assert_non_null(seen);
        assert_int_equal(seen->is_delete, words == NULL);
        assert_int_equal(seen->modify_us, seen->version + version);
        assert_int_equal(seen->lane, TORG__V1__QUEUE_LANE__NAME__BACKFILL);
        assert_non_null(strstr(seen->words, words ? words : ""));
    }
}

/* --- cases --- */

static void what_a_version_changes_is_composed_anew_and_nothing_else(void **state)
{
    struct scene *scene = begin(state);
    struct arena *arena = arena_new();
    Torg__V1__OfferReceipt receipt = TORG__V1__OFFER_RECEIPT__INIT;
    struct author author = author_of(NULL, arena);
    struct recompose_mark mark;
    struct err err;

    apply(scene, "Bicycles", "Books");
    start(scene);
    wait_until_done(scene, 1);
    check_all(scene, scene->bikes, "Bicycles",
              1); /* what the first version found is composed too */
    check_all(scene, scene->books, "Books", 1);
    OK(offers_move(&scene->place.offers, &author, scene->books[0], 0, MOVE_BAN, &receipt, &err));
    scene->composed.seen_count = 0;
    apply(scene, "Bicycles", "Literature");
    wait_until_done(scene, 2);
    assert_int_equal(count_seen(scene, scene->bikes), 0);
    assert_int_equal(count_seen(scene, scene->books), OFFER_COUNT - 1);
    assert_null(composed_last(&scene->composed,
                              scene->books[0])); /* whatever the catalogue, it is not found */
    scene->books[0] = scene->books[1];
    check_all(scene, scene->books, "Literature", 2);
    mark = mark_of(scene);
    assert_int_equal(mark.target_version, 2);
    assert_int_equal(mark.sent_count, OFFER_COUNT - 1);
    assert_int_equal(mark.offer_count, OFFER_COUNT);
    assert_int_equal(mark.seen_count, OFFER_COUNT);
    arena_free(arena);
}

static void it_goes_on_where_it_was(void **state)
{
    struct scene *scene = begin(state);

    apply(scene, "Bicycles", "Books");
    atomic_store(&scene->pages_left, 4); /* of 3 offers each, in all 14 */
    start(scene);
    wait_for_pages(scene);
    stop(scene);
    assert_true(mark_of(scene).done_version < 1);
    atomic_store(&scene->pages_left, -1);
    start(scene);
    wait_until_done(scene, 1);
    check_all(scene, scene->bikes, "Bicycles", 1);
    check_all(scene, scene->books, "Books", 1);
    /* One page may have come twice: that between the sending and the mark. */
    assert_true(count_seen(scene, scene->bikes) + count_seen(scene, scene->books) <=
                2 * OFFER_COUNT + 3);
    scene->composed.seen_count = 0;
    stop(scene);
    start(scene); /* a version is finished once */
    wait_for_looks(scene);
    assert_int_equal(count_seen(scene, scene->bikes), 0);
}

static void a_newer_version_supersedes_and_keeps_what_is_left(void **state)
{
    struct scene *scene = begin(state);

    apply(scene, "Bicycles", "Books");
    start(scene);
    wait_until_done(scene, 1);
    atomic_store(&scene->pages_left, 2);
    apply(scene, "Bicycles", "Literature");
    wait_for_pages(scene);
    /* Books are as they were at first: what the second has said of some must be taken back. */
    apply(scene, "Cycles", "Books");
    atomic_store(&scene->pages_left, -1);
    wait_until_done(scene, 3);
    check_all(scene, scene->books, "Books", 3);
    check_all(scene, scene->bikes, "Cycles", 3);
}

static void offers_of_a_category_that_is_gone_are_hidden_until_it_is_back(void **state)
{
    struct scene *scene = begin(state);

    apply(scene, "Bicycles", "Books");
    start(scene);
    wait_until_done(scene, 1);
    apply(scene, "Bicycles", NULL);
    wait_until_done(scene, 2);
    check_all(scene, scene->books, NULL, 2);
    check_all(scene, scene->bikes, "Bicycles", 1);
    assert_int_equal(mark_of(scene).hidden_count, OFFER_COUNT);
    apply(scene, "Bicycles", "Books");
    wait_until_done(scene, 3);
    check_all(scene, scene->books, "Books", 3);
}

/* A change that could not be composed must not pass for one that was. */
static void hiding_does_not_speak_for_a_parked_change(void **state)
{
    struct scene *scene = begin(state);
    char id[OFFER_ID_TEXT_SIZE];
    struct parked parked = {.stage = PARKED_BY_COMPOSER,
                            .key = id,
                            .topic = TOPIC_OFFER_UPDATES,
                            .reason = "its category is gone"};
    struct err err;

    offer_id_format(scene->books[0], id);
    OK(parked_add(scene->place.store, &parked, PARKED_NEWEST, &err));
    apply(scene, "Bicycles", "Books");
    start(scene);
    wait_until_done(scene, 1);
    apply(scene, "Bicycles", NULL);
    wait_until_done(scene, 2);
    assert_true(composed_last(&scene->composed, scene->books[0])->is_delete);
    assert_int_equal(composed_last(&scene->composed, scene->books[0])->modify_us -
                         composed_last(&scene->composed, scene->books[0])->version,
                     2 + 1); /* a microsecond older than the change */
    assert_int_equal(composed_last(&scene->composed, scene->books[1])->modify_us -
                         composed_last(&scene->composed, scene->books[1])->version,
                     2);
}

static int fetch(void *arg, const char *offer_id, struct arena *arena, Torg__V1__Offer **offer,
                 struct err *err)
{
    const struct scene *scene = arg;
    const struct reader reader = {.seller = "", .sees_all = true};

    return offers_get(&scene->place.offers, &reader, id_of(offer_id), arena, offer, err);
}

static int64_t count_parked(struct scene *scene)
{
    char id[OFFER_ID_TEXT_SIZE];
    struct store_value params[1];

    offer_id_format(scene->books[0], id);
    params[0] = STORE_V_STRING(id);
    return read_integer_of(scene->place.store,
                           "SELECT COUNT(*) FROM parked WHERE stage = 'composer' AND "
                           "record_key = $1 AND reason LIKE '%shorten it%'",
                           params, 1);
}

/* The composer has it then, among what it could not use itself. */
static void what_cannot_be_composed_anew_is_parked(void **state)
{
    struct scene *scene = begin(state);
    const struct composer_options options = {.topics = scene->topics,
                                             .store = scene->place.store,
                                             .clock = clock_system(),
                                             .catalog = catalog_of,
                                             .catalog_arg = scene,
                                             .fetch = fetch,
                                             .fetch_arg = scene};
    struct composer *composer;
    int waited = 0;
    struct err err;

    scene->swollen = scene->books[0];
    apply(scene, "Bicycles", "Books");
    start(scene);
    wait_until_done(scene, 1);
    assert_int_equal(mark_of(scene).failed_count, 1);
    assert_int_equal(count_parked(scene), 1);
    apply(scene, "Bicycles", "Literature"); /* it is parked already */
    wait_until_done(scene, 2);
    assert_int_equal(mark_of(scene).failed_count, 1);
    assert_int_equal(count_parked(scene), 1);
    stop(scene);
    OK(composer_start(&options, &composer, &err));
    for (; count_parked(scene) && waited < WAIT_MS; waited += 10)
        pause_ms(10);
    composer_stop(composer);
    assert_true(waited < WAIT_MS);
    composed_look(&scene->composed);
    assert_non_null(strstr(composed_last(&scene->composed, scene->books[0])->words, "Literature"));
}

static void a_recent_change_is_not_held_up_by_the_slower_lane(void **state)
{
    struct scene *scene = begin(state);
    offerid recent;

    clock_manual_init(&scene->place.clock, clock_wall_us(clock_system()));
    recent = create(scene, "books", 99);
    scene->options.clock = &scene->place.clock.base; /* recent it stays, however long this takes */
    apply(scene, "Bicycles", "Books");
    start(scene);
    wait_for_looks(scene);
    clock_manual_advance(&scene->place.clock, scene->options.settle_us);
    wait_until_done(scene, 1);
    assert_non_null(composed_last(&scene->composed, recent));
    assert_int_equal(composed_last(&scene->composed, recent)->lane,
                     TORG__V1__QUEUE_LANE__NAME__MAIN);
    assert_int_equal(composed_last(&scene->composed, scene->books[0])->lane,
                     TORG__V1__QUEUE_LANE__NAME__BACKFILL);
}

/* Takes what comes, as the receiver does, until the mark is there. */
static void take_all(struct scene *scene, const char *group, int64_t version)
{
    static const char *const names[] = {TOPIC_DOCUMENTS};
    const struct consumer_options options = {
        .group = group, .topics = names, .topic_count = 1, .start = TOPIC_START_EARLIEST};
    const struct topic_message *messages;
    struct consumer *consumer;
    size_t count;
    struct err err;

    OK(consumer_open(scene->topics, &options, &consumer, &err));
    for (int waited = 0; waited < WAIT_MS && mark_of(scene).done_version < version; waited += 10) {
        int rc = consumer_poll(consumer, 10, &messages, &count, &err);

        if (!rc && count)
            rc = consumer_commit_polled(consumer, &err);
        if (rc && rc != ERR_STALE && !err_is_passing(rc)) /* else they come again */
            fail_msg("%s", err.text);
    }
    consumer_close(consumer);
    assert_int_equal(mark_of(scene).done_version, version);
}

static size_t count_all_seen(const struct scene *scene)
{
    return count_seen(scene, scene->bikes) + count_seen(scene, scene->books);
}

static void one_page_is_on_its_way_at_a_time(void **state)
{
    struct scene *scene = begin(state);
    char group[64];

    snprintf(group, sizeof(group), "taker-%" PRIx64, random_u64());
    scene->options.taker_group = group;
    apply(scene, "Bicycles", "Books");
    start(scene);
    for (int waited = 0; waited < WAIT_MS && count_all_seen(scene) < 3; waited += 5) {
        composed_look(&scene->composed);
        pause_ms(5);
    }
    pause_ms(300);
    composed_look(&scene->composed);
    assert_int_equal(count_all_seen(scene), 3);
    assert_int_equal(mark_of(scene).seen_count, 0); /* not taken: a crash would send it again */
    take_all(scene, group, 1);
    composed_look(&scene->composed);
    check_all(scene, scene->bikes, "Bicycles", 1);
    check_all(scene, scene->books, "Books", 1);
    assert_int_equal(count_seen(scene, scene->bikes), OFFER_COUNT);
    stop(scene);
}

static void an_older_catalogue_has_time_to_leave(void **state)
{
    struct scene *scene = begin(state);

    scene->options.settle_us = (int64_t)HOUR_S * SECOND_US;
    apply(scene, "Bicycles", "Books");
    start(scene);
    wait_for_looks(scene);
    assert_int_equal(count_seen(scene, scene->bikes), 0);
    assert_int_equal(mark_of(scene).target_version, 0);
}

static void who_was_overtaken_moves_nothing(void **state)
{
    struct scene *scene = begin(state);
    struct recompose_mark first = mark_of(scene);
    struct recompose_mark second = first;
    struct err err;

    second.target_version = 1;
    snprintf(second.category, sizeof(second.category), "books");
    OK(recompose_mark_move(scene->place.store, &first, &second, &err));
    assert_int_equal(recompose_mark_move(scene->place.store, &first, &second, &err), ERR_STALE);
    first = second;
    second.offer = 5;
    OK(recompose_mark_move(scene->place.store, &first, &second, &err));
    assert_int_equal(recompose_mark_move(scene->place.store, &first, &second, &err), ERR_STALE);
    assert_int_equal(mark_of(scene).offer, 5);
}

static const struct test_case cases[] = {
    CASE(what_a_version_changes_is_composed_anew_and_nothing_else),
    CASE(it_goes_on_where_it_was),
    CASE(a_newer_version_supersedes_and_keeps_what_is_left),
    CASE(offers_of_a_category_that_is_gone_are_hidden_until_it_is_back),
    CASE(hiding_does_not_speak_for_a_parked_change),
    CASE(what_cannot_be_composed_anew_is_parked),
    CASE(a_recent_change_is_not_held_up_by_the_slower_lane),
    CASE(one_page_is_on_its_way_at_a_time),
    CASE(an_older_catalogue_has_time_to_leave),
    CASE(who_was_overtaken_moves_nothing),
};

int main(int argc, char **argv)
{
    static struct case_list list = {.name = "recomposer", .set_up = set_up, .tear_down = tear_down};

    cases_embedded(&list, cases, ARRAY_COUNT(cases));
    cases_on_servers(&list, cases, ARRAY_COUNT(cases));
    return cases_run(&list, argc, argv);
}
