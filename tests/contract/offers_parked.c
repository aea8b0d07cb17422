/* SPDX-License-Identifier: Apache-2.0 */
/*
 * offers_parked.c - what offers are sent by topics and cannot use: opinions, results of photos,
 * events of feeds. Each is parked with its reason, and used when it is replayed after the cause has
 * gone; on every store.
 */
#include "contract/feeds_fixture.h"

#include <string.h>

#include "base/buf.h"
#include "base/memory.h"
#include "codec/message.h"
#include "feeds/apply/events.h"
#include "model/topics.h"
#include "offers/inbox/inbox.h"
#include "offers/record/offer_record.h"
#include "patience.h"
#include "stage/parked.h"
#include "topic/topic.h"
#include "torg/v1/moderation.pb-c.h"
#include "torg/v1/photo.pb-c.h"

struct scene {
    struct feed_scene feeds;
    struct topics *topics;
    struct inbox *inbox;
    struct feed_events *events;
    const char *id; /* the offer of the item a, which has a photo */
};

static int set_up(void **state)
{
    static struct scene scene;
    bool postgres = case_on_servers(state);
    struct err err = {0};

    memset(&scene, 0, sizeof(scene));
    *state = NULL;
    if (!feed_scene_open(&scene.feeds, postgres))
        return 0;
    OK(topics_open("memory:", NULL, &scene.topics, &err));
    run_task(&scene.feeds, 1, "a=1");
    scene.id = item_offer(&scene.feeds, "a")->id;
    *state = &scene;
    return 0;
}

static int tear_down(void **state)
{
    struct scene *scene = *state;

    if (!scene)
        return 0;
    inbox_stop(scene->inbox);
    feed_events_stop(scene->events);
    topics_close(scene->topics);
    feed_scene_close(&scene->feeds);
    return 0;
}

static struct scene *start(void **state)
{
    if (!*state)
        skip();
    return *state;
}

/* --- acting --- */

static void produce(struct scene *scene, const char *topic, const char *key, struct bytes value)
{
    const struct topic_record record = {.key = bytes_of(key), .value = value};
    struct err err = {0};

    OK(topic_produce(scene->topics, topic, &record, 1, NULL, &err));
}

static void produce_message(struct scene *scene, const char *topic, const char *key,
                            const ProtobufCMessage *message)
{
    struct buf wire = BUF_INIT(64 << 10);

    message_encode(message, &wire);
    produce(scene, topic, key, buf_bytes(&wire));
    buf_release(&wire);
}

static void damage(struct scene *scene)
{
    struct store *store = scene->feeds.place.store;

    exec(store, "INSERT INTO offer (id, kind, shard_id, revision, updated_us, expires_us, body) "
                "SELECT id, 'copy', shard_id, revision, updated_us, 0, body FROM offer "
                "WHERE kind = 'offer'");
    exec(store, "UPDATE offer SET body = SUBSTR(body, 1, 5) WHERE kind = 'offer'");
}

static void repair(struct scene *scene)
{
    struct store *store = scene->feeds.place.store;

    exec(store, "UPDATE offer SET body = (SELECT copy.body FROM offer AS copy WHERE "
                "copy.id = offer.id AND copy.kind = 'copy') WHERE kind = 'offer'");
    exec(store, "DELETE FROM offer WHERE kind = 'copy'");
}

struct replaying {
    struct scene *scene;
    const char *stage;
    const char *key;
    int64_t count;
};

static int hurry(struct store_tx *tx, void *arg, struct err *err)
{
    struct replaying *replaying = arg;

    return parked_hurry(tx, replaying->stage, replaying->key,
                        clock_wall_us(&replaying->scene->feeds.place.clock.base), &replaying->count,
                        err);
}

static void replay(struct scene *scene, const char *stage, const char *key)
{
    struct replaying replaying = {.scene = scene, .stage = stage, .key = key};
    struct err err = {0};

    OK(store_write(scene->feeds.place.store, hurry, &replaying, &err));
    assert_int_equal(replaying.count, 1);
}

/* --- looking --- */

/* Until so many are parked by the stage, in the time of the stage's own clock. */
static void wait_for_parked(struct scene *scene, const char *stage, int64_t wanted)
{
    int64_t until_us = clock_mono_us(clock_system()) + (int64_t)PATIENCE_MS * MS_US;
    struct parked_total total = {.count = -1};
    struct err err = {0};

    while (total.count != wanted) {
        if (clock_mono_us(clock_system()) > until_us)
            fail_msg("%s has parked %d, wanted %d", stage, (int)total.count, (int)wanted);
        clock_manual_advance(&scene->feeds.place.clock, 100 * MS_US);
        pause_ms(5);
        OK(parked_total(scene->feeds.place.store, stage, &total, &err));
    }
}

static void expect_parked(struct scene *scene, const char *stage, const char *key,
                          const char *reason)
{
    struct parked *list;
    size_t count;
    struct err err = {0};

    OK(parked_of_key(scene->feeds.place.store, stage, key, 10, scene->feeds.arena, &list, &count,
                     &err));
    assert_int_equal(count, 1);
    if (!strstr(list[0].reason, reason))
        fail_msg("%s %s is parked for: %s", stage, key, list[0].reason);
}

static void expect_no_message(struct scene *scene, const char *stage, const char *topic)
{
    produce(scene, topic, "somebody", bytes_of("\xff no message"));
    wait_for_parked(scene, stage, 1);
    expect_parked(scene, stage, "somebody", "");
}

/* --- cases --- */

static void an_opinion_that_cannot_be_used_is_parked(void **state)
{
    struct scene *scene = start(state);
    Torg__V1__ModerationOpinion opinion = TORG__V1__MODERATION_OPINION__INIT;
    char *reasons[] = {(char *)"counterfeit"};
    char nobody[OFFER_ID_TEXT_SIZE];
    struct err err = {0};

    offer_id_format(offer_id_make(1), nobody);
    OK(inbox_start_opinions(&scene->feeds.place.offers, scene->topics, &scene->inbox, &err));
    expect_no_message(scene, PARKED_BY_OPINIONS, TOPIC_OPINIONS);
    opinion.revision = 1;
    opinion.verdict = TORG__V1__MODERATION_OPINION__VERDICT__BAN;
    opinion.offer_id = nobody;
    produce_message(scene, TOPIC_OPINIONS, nobody, &opinion.base);
    wait_for_parked(scene, PARKED_BY_OPINIONS, 2);
    expect_parked(scene, PARKED_BY_OPINIONS, nobody, "reasons: expected 1 to 20 for a ban");
    opinion.reasons = reasons;
    opinion.n_reasons = 1;
    produce_message(scene, TOPIC_OPINIONS, "unknown", &opinion.base);
    wait_for_parked(scene, PARKED_BY_OPINIONS, 3);
    expect_parked(scene, PARKED_BY_OPINIONS, "unknown", "there is no offer");
    damage(scene);
    opinion.verdict = TORG__V1__MODERATION_OPINION__VERDICT__PASS; /* a ban needs no body */
    opinion.n_reasons = 0;
    opinion.offer_id = (char *)scene->id;
    produce_message(scene, TOPIC_OPINIONS, scene->id, &opinion.base);
    wait_for_parked(scene, PARKED_BY_OPINIONS, 4);
    expect_parked(scene, PARKED_BY_OPINIONS, scene->id, "cannot be read");
    repair(scene);
    replay(scene, PARKED_BY_OPINIONS, scene->id);
    wait_for_parked(scene, PARKED_BY_OPINIONS, 3);
    assert_null(strstr(shown(&scene->feeds), "BANNED"));
}

static void a_photo_result_that_cannot_be_used_is_parked(void **state)
{
    struct scene *scene = start(state);
    Torg__V1__PhotoResult result = TORG__V1__PHOTO_RESULT__INIT;
    Torg__V1__PhotoResult__Item item = TORG__V1__PHOTO_RESULT__ITEM__INIT;
    Torg__V1__PhotoResult__Item *items[] = {&item};
    char nobody[OFFER_ID_TEXT_SIZE];
    struct err err = {0};

    offer_id_format(offer_id_make(1), nobody);
    OK(inbox_start_photos(&scene->feeds.place.offers, scene->topics, &scene->inbox, &err));
    expect_no_message(scene, PARKED_BY_PHOTOS, TOPIC_PHOTO_RESULTS);
    result.offer_id = nobody;
    produce_message(scene, TOPIC_PHOTO_RESULTS, "empty", &result.base);
    wait_for_parked(scene, PARKED_BY_PHOTOS, 2);
    expect_parked(scene, PARKED_BY_PHOTOS, "empty", "expected");
    result.revision = 1;
    result.photos = items;
    result.n_photos = 1;
    item.url = (char *)"https://x.example/a";
    item.attempt = 1;
    item.state = TORG__V1__PHOTO__STATE__FAILED;
    item.reason = (char *)"answered 404";
    produce_message(scene, TOPIC_PHOTO_RESULTS, "unknown", &result.base);
    wait_for_parked(scene, PARKED_BY_PHOTOS, 3);
    expect_parked(scene, PARKED_BY_PHOTOS, "unknown", "there is no offer");
    damage(scene);
    result.offer_id = (char *)scene->id;
    produce_message(scene, TOPIC_PHOTO_RESULTS, scene->id, &result.base);
    wait_for_parked(scene, PARKED_BY_PHOTOS, 4);
    expect_parked(scene, PARKED_BY_PHOTOS, scene->id, "cannot be read");
    repair(scene);
    replay(scene, PARKED_BY_PHOTOS, scene->id);
    wait_for_parked(scene, PARKED_BY_PHOTOS, 3); /* used: of a photo that the offer has not */
}

static void produce_row(struct scene *scene, int64_t task_id, const char *key, const char *row)
{
    size_t count;
    Torg__V1__FeedEvent **events = events_of(&scene->feeds, row, 0, &count);

    events[0]->seller = (char *)scene->feeds.seller;
    events[0]->feed = (char *)scene->feeds.feed;
    events[0]->task_id = task_id;
    produce_message(scene, TOPIC_FEED_EVENTS, key, &events[0]->base);
}

static void a_feed_event_that_cannot_be_used_is_parked(void **state)
{
    struct scene *scene = start(state);
    Torg__V1__FeedEvent event = TORG__V1__FEED_EVENT__INIT;
    struct err err = {0};

    OK(feed_events_start(&scene->feeds.place.offers, scene->topics, &scene->events, &err));
    expect_no_message(scene, PARKED_BY_FEEDS, TOPIC_FEED_EVENTS);
    produce_message(scene, TOPIC_FEED_EVENTS, "nobody/main", &event.base);
    wait_for_parked(scene, PARKED_BY_FEEDS, 2);
    expect_parked(scene, PARKED_BY_FEEDS, "nobody/main", "");
    damage(scene);
    produce_row(scene, 2, "s/main", "a=2");
    wait_for_parked(scene, PARKED_BY_FEEDS, 3);
    expect_parked(scene, PARKED_BY_FEEDS, "s/main", "cannot be read");
    repair(scene);
    replay(scene, PARKED_BY_FEEDS, "s/main");
    wait_for_parked(scene, PARKED_BY_FEEDS, 2);
    assert_string_equal(shown(&scene->feeds), "a=2");
}

/* --- the list of cases --- */

static const struct test_case cases[] = {
    CASE(an_opinion_that_cannot_be_used_is_parked),
    CASE(a_photo_result_that_cannot_be_used_is_parked),
    CASE(a_feed_event_that_cannot_be_used_is_parked),
};

int main(int argc, char **argv)
{
    static struct case_list list = {
        .name = "offers-parked", .set_up = set_up, .tear_down = tear_down};

    cases_on_stores(&list, cases, ARRAY_COUNT(cases));
    return cases_run(&list, argc, argv);
}
