/* SPDX-License-Identifier: Apache-2.0 */
/*
 * offers_photos.c - photos asked for, answered, waited for: on SQLite with topics in files, and on
 * PostgreSQL with Kafka.
 *
 * Kafka's topics are shared by all cases: only requests of offers in the test's own schema are
 * looked at, and results of others' offers are passed by.
 */
#include "codec/moment.h"
#include "contract/offers_fixture.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "codec/message.h"
#include "contract/topics_place.h"
#include "model/bounds.h"
#include "model/topics.h"
#include "offers/bounds.h"
#include "offers/change/moderation.h"
#include "offers/change/offer_save.h"
#include "offers/change/photos.h"
#include "offers/inbox/inbox.h"
#include "offers/outbox/expiry.h"
#include "offers/outbox/export.h"
#include "offers/record/offer_record.h"
#include "patience.h"
#include "topic/bounds.h"
#include "torg/v1/cabinet.pb-c.h"

enum { WAIT_MS = PATIENCE_MS, REQUEST_COUNT_MAX = 100 };

struct scene {
    struct offers_place place;
    char dir[TEST_DIR_SIZE];
    struct topics *topics;
    struct topic_faults *faults;
    struct exporter exporter;
    struct coord_shard all[OFFER_SHARD_COUNT];
    uint64_t begin[TOPIC_PARTITION_COUNT_MAX]; /* of the requests */
    struct inbox *inbox;
    struct arena *arena;
    atomic_bool has_catalog; /* false: none is in use */
};

/* --- the scene --- */

static struct catalog *give_catalog(void *arg)
{
    struct scene *scene = arg;

    return scene->has_catalog ? catalog_ref(scene->place.catalog) : NULL;
}

static uint32_t partition_count(struct scene *scene)
{
    struct topic_config config;
    struct err err;

    OK(topic_describe(scene->topics, TOPIC_PHOTO_REQUESTS, &config, &err));
    return config.partition_count;
}

static int set_up(void **state)
{
    static struct scene scenes[2];
    bool servers = case_on_servers(state);
    struct scene *scene = &scenes[servers];
    uint64_t first;
    struct err err;

    memset(scene, 0, sizeof(*scene));
    *state = scene;
    if (servers && (!server_address("postgres") || !server_address("kafka")))
        return 0; /* each test skips */
    assert_true(offers_place_open(&scene->place, servers));
    scene->has_catalog = true;
    scene->place.offers.catalog = give_catalog;
    scene->place.offers.catalog_arg = scene;
    scene->arena = arena_new();
    scene->topics = test_topics_open(scene->dir, servers);
    scene->faults = topics_faults(scene->topics);
    OK(exporter_init(&scene->exporter, &scene->place.offers, scene->topics, NULL, &err));
    for (uint32_t i = 0; i < OFFER_SHARD_COUNT; i++)
        scene->all[i] = (struct coord_shard){.shard = i, .ticket = 1};
    for (uint32_t p = 0; p < partition_count(scene); p++)
        OK(topic_range(scene->topics, TOPIC_PHOTO_REQUESTS, p, &first, &scene->begin[p], &err));
    return 0;
}

static int tear_down(void **state)
{
    struct scene *scene = *state;

    if (!scene->topics)
        return 0;
    inbox_stop(scene->inbox);
    test_topics_close(scene->topics, scene->dir);
    arena_free(scene->arena);
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

/* --- acting --- */

/* Photos by single letters: "ab" are two of them. */
static Torg__V1__OfferContent *content_with(struct scene *scene, const char *category,
                                            const char *photos)
{
    Torg__V1__OfferContent *content = content_of(scene->arena, category, 1, 100, "RUB");

    content->n_photos = strlen(photos);
    content->photos = arena_array(scene->arena, content->n_photos, sizeof(*content->photos));
    for (size_t i = 0; i < content->n_photos; i++) {
        content->photos[i] =
            (Torg__V1__Photo *)message_new(&torg__v1__photo__descriptor, scene->arena);
        content->photos[i]->source_url =
            arena_printf(scene->arena, "https://x.example/%c", photos[i]);
    }
    return content;
}

static offerid create(struct scene *scene, const char *category, const char *photos)
{
    Torg__V1__OfferReceipt receipt = TORG__V1__OFFER_RECEIPT__INIT;
    struct author author = author_of("s", scene->arena);
    struct err err;

    OK(offers_create(&scene->place.offers, &author, content_with(scene, category, photos), &receipt,
                     &err));
    return id_of(receipt.id);
}

static Torg__V1__Offer *offer_of(struct scene *scene, offerid id)
{
    const struct reader reader = {.sees_all = true};
    Torg__V1__Offer *offer;
    struct err err;

    OK(offers_get(&scene->place.offers, &reader, id, scene->arena, &offer, &err));
    return offer;
}

static void update(struct scene *scene, offerid id, const char *category, const char *photos)
{
    Torg__V1__OfferReceipt receipt = TORG__V1__OFFER_RECEIPT__INIT;
    struct author author = author_of("s", scene->arena);
    struct err err;

    OK(offers_update(&scene->place.offers, &author, id, offer_of(scene, id)->revision,
                     content_with(scene, category, photos), &receipt, &err));
}

static void move(struct scene *scene, offerid id, enum offer_move how)
{
    Torg__V1__OfferReceipt receipt = TORG__V1__OFFER_RECEIPT__INIT;
    struct author author = author_of(NULL, scene->arena);
    struct err err;

    OK(offers_move(&scene->place.offers, &author, id, 0, how, &receipt, &err));
}

static void export_all(struct scene *scene)
{
    size_t count = 1;
    struct err err;

    while (count)
        OK(exporter_round(&scene->exporter, scene->all, OFFER_SHARD_COUNT, &count, &err));
}

/* An answer for one photo: ready with this content, or failed where that is "". */
static Torg__V1__PhotoResult *result_of(struct scene *scene, offerid id, int64_t revision,
                                        char photo, int attempt, const char *hash)
{
    Torg__V1__PhotoResult *result =
        (Torg__V1__PhotoResult *)message_new(&torg__v1__photo_result__descriptor, scene->arena);
    Torg__V1__PhotoResult__Item *item = (Torg__V1__PhotoResult__Item *)message_new(
        &torg__v1__photo_result__item__descriptor, scene->arena);

    result->offer_id = offer_id_text(scene->arena, id);
    result->revision = revision;
    result->photos = arena_array(scene->arena, 1, sizeof(item));
    result->photos[result->n_photos++] = item;
    item->url = arena_printf(scene->arena, "https://x.example/%c", photo);
    item->attempt = attempt;
    item->state = *hash ? TORG__V1__PHOTO__STATE__READY : TORG__V1__PHOTO__STATE__FAILED;
    if (!*hash) {
        item->reason = arena_strdup(scene->arena, "answered 404");
        return result;
    }
    item->hash.data = (uint8_t *)arena_strdup(scene->arena, hash);
    item->hash.len = strlen(hash);
    item->sizes = arena_array(scene->arena, 1, sizeof(*item->sizes));
    item->sizes[item->n_sizes++] =
        (Torg__V1__PhotoSize *)message_new(&torg__v1__photo_size__descriptor, scene->arena);
    item->sizes[0]->key = arena_printf(scene->arena, "photos/%s", hash);
    item->sizes[0]->width = item->sizes[0]->height = item->sizes[0]->size = 640;
    return result;
}

static bool apply(struct scene *scene, const Torg__V1__PhotoResult *result)
{
    struct violations violations = violations_in(scene->arena);
    struct err err;
    bool changed;

    assert_int_equal(photo_result_check(result, &violations), 0);
    OK(photos_apply(&scene->place.offers, result, scene->arena, &changed, &err));
    return changed;
}

static bool answer(struct scene *scene, offerid id, int64_t revision, char photo, int attempt,
                   const char *hash)
{
    return apply(scene, result_of(scene, id, revision, photo, attempt, hash));
}

/* --- looking --- */

/* What was asked for the offer since the test began, in order: "1:0a,1b 3:1c" is revision 1 with
 * two photos and their places, then revision 3 with one. */
static const char *asked(struct scene *scene, offerid id)
{
    char *text = arena_strdup(scene->arena, "");
    const char *name = offer_id_text(scene->arena, id);
    struct err err;

    for (uint32_t p = 0; p < partition_count(scene); p++) {
        uint64_t first, end, at = scene->begin[p];

        OK(topic_range(scene->topics, TOPIC_PHOTO_REQUESTS, p, &first, &end, &err));
        while (at < end) {
            const struct topic_message *messages;
            size_t count;

            OK(topic_read(scene->topics, TOPIC_PHOTO_REQUESTS, p, at, REQUEST_COUNT_MAX, WAIT_MS,
                          scene->arena, &messages, &count, &err));
            for (size_t i = 0; i < count; i++) {
                Torg__V1__PhotoRequest *request;
                ProtobufCMessage *decoded;

                at = messages[i].offset + 1;
                OK(message_decode(messages[i].value, &torg__v1__photo_request__descriptor,
                                  scene->arena, &decoded, &err));
                request = (Torg__V1__PhotoRequest *)decoded;
                assert_true(bytes_equal_text(messages[i].key, request->offer_id));
                if (strcmp(request->offer_id, name) != 0)
                    continue;
                text = arena_printf(scene->arena, "%s%s%" PRId64, text, *text ? " " : "",
                                    request->revision);
                for (size_t j = 0; j < request->n_photos; j++)
                    text = arena_printf(scene->arena, "%s%c%u%s", text, j ? ',' : ':',
                                        request->photos[j]->position,
                                        strrchr(request->photos[j]->url, '/') + 1);
            }
        }
    }
    return text;
}

static void check(struct scene *scene, offerid id, enum offer_status status, int64_t revision)
{
    Torg__V1__Offer *offer = offer_of(scene, id);

    assert_string_equal(offer_status_name((enum offer_status)offer->status),
                        offer_status_name(status));
    assert_int_equal(offer->revision, revision);
}

/* As place_recount, which asks for a queue row of each change: nothing may be exported before. */
static int64_t count_preset(struct scene *scene, int64_t preset)
{
    const struct store_value params[] = {STORE_V_INT(preset)};

    place_recount(&scene->place);
    return read_integer_of(scene->place.store,
                           "SELECT COALESCE(MAX(counter), 0) FROM user_offer_presets_count WHERE "
                           "seller_id = 's' AND preset_id = $1",
                           params, 1);
}

static size_t look_at_due(struct scene *scene)
{
    struct expiry_cursor cursor = {0};
    size_t moved;
    struct err err;
    bool more;

    OK(expiry_step(&scene->place.offers, seller_shard("s"), &cursor, &moved, &more, &err));
    return moved;
}

static void wait_for_revision(struct scene *scene, offerid id, int64_t revision)
{
    int64_t until = clock_mono_us(clock_system()) + (int64_t)WAIT_MS * MS_US;

    while (offer_of(scene, id)->revision < revision) {
        if (clock_mono_us(clock_system()) > until)
            fail_msg("revision %" PRId64 " of %" PRId64, offer_of(scene, id)->revision, revision);
        pause_ms(10);
    }
}

/* --- asking --- */

static void new_addresses_are_asked_for_and_no_others(void **state)
{
    struct scene *scene = start(state);
    offerid id = create(scene, "books", "ab");

    export_all(scene);
    assert_string_equal(asked(scene, id), "1:0a,1b");
    update(scene, id, "books", "ab"); /* other text, the same photos */
    move(scene, id, MOVE_WITHDRAW);
    update(scene, id, "books", "bca");
    export_all(scene);
    assert_string_equal(asked(scene, id), "1:0a,1b 4:1c");
    update(scene, id, "books", "c");
    update(scene, id, "books", "ca"); /* it was away: what it shows may be another */
    export_all(scene);
    assert_string_equal(asked(scene, id), "1:0a,1b 4:1c 6:1a");
}

static void one_address_twice_is_asked_for_once(void **state)
{
    struct scene *scene = start(state);
    offerid id = create(scene, "rings", "aab");

    export_all(scene);
    assert_string_equal(asked(scene, id), "1:0a,2b");
    assert_true(answer(scene, id, 1, 'a', 1, "h"));
    assert_int_equal(offer_of(scene, id)->content->photos[1]->state, TORG__V1__PHOTO__STATE__READY);
}

/* The queue's row stays until everything it asked for was acknowledged. */
static void a_request_is_sent_until_it_is_acknowledged(void **state)
{
    struct scene *scene = start(state);
    offerid id = create(scene, "books", "a");
    size_t count;
    struct err err;

    for (int i = 0; i < 3; i++) { /* each of the three records of the change fails once */
        atomic_store(&scene->faults->fail_produce, 1);
        assert_int_equal(
            exporter_round(&scene->exporter, scene->all, OFFER_SHARD_COUNT, &count, &err),
            ERR_UNAVAILABLE);
        assert_int_equal(read_integer(scene->place.store, "SELECT COUNT(*) FROM queue"), 1);
    }
    export_all(scene);
    assert_true(strstr(asked(scene, id), "1:0a") != NULL);
}

static void what_is_gone_or_known_is_not_asked_for(void **state)
{
    struct scene *scene = start(state);
    offerid replaced = create(scene, "books", "a");
    offerid deleted = create(scene, "books", "a");
    offerid answered = create(scene, "books", "a");

    update(scene, replaced, "books", "b");
    move(scene, deleted, MOVE_DELETE);
    assert_true(answer(scene, answered, 1, 'a', 1, "h"));
    export_all(scene);
    assert_string_equal(asked(scene, replaced), "2:0b");
    assert_string_equal(asked(scene, deleted), "");
    assert_string_equal(asked(scene, answered), "");
    assert_false(answer(scene, deleted, 1, 'a', 1, "h"));
    move(scene, deleted, MOVE_REVIVE); /* its results were not taken: it asks again */
    export_all(scene);
    assert_string_equal(asked(scene, deleted), "3:0a");
    assert_false(answer(scene, deleted, 1, 'a', 2, "h"));
    assert_true(answer(scene, deleted, 3, 'a', 1, "h"));
}

/* --- answers --- */

static void an_answer_is_one_ordinary_change(void **state)
{
    struct scene *scene = start(state);
    offerid id = create(scene, "books", "ab");
    Torg__V1__PhotoResult *both = result_of(scene, id, 1, 'a', 1, "h1");
    Torg__V1__PhotoResult *second = result_of(scene, id, 1, 'b', 1, "");
    Torg__V1__PhotoResult__Item *items[] = {both->photos[0], second->photos[0]};
    struct photo_failure *failures;
    const Torg__V1__Photo *photo;
    size_t count;
    struct err err;

    both->photos = items;
    both->n_photos = 2;
    assert_true(apply(scene, both));
    check(scene, id, OFFER_ACTIVE, 2);
    assert_int_equal(count_preset(scene, TORG__V1__CABINET__PRESET__ACTIVE), 1);
    photo = offer_of(scene, id)->content->photos[0];
    assert_int_equal(photo->state, TORG__V1__PHOTO__STATE__READY);
    assert_string_equal(photo->sizes[0]->key, "photos/h1");
    OK(photos_failed(&scene->place.offers, &id, 1, scene->arena, &failures, &count, &err));
    assert_int_equal(count, 1);
    assert_true(failures[0].offer == id);
    assert_string_equal(failures[0].url, "https://x.example/b");
    assert_string_equal(failures[0].reason, "answered 404");
    update(scene, id, "books", "ba"); /* what is known stays known */
    photo = offer_of(scene, id)->content->photos[0];
    assert_int_equal(photo->state, TORG__V1__PHOTO__STATE__FAILED);
    assert_string_equal(offer_of(scene, id)->content->photos[1]->sizes[0]->key, "photos/h1");
}

static void what_is_no_news_writes_nothing(void **state)
{
    struct scene *scene = start(state);
    offerid id = create(scene, "books", "a");

    assert_false(answer(scene, id, 1, 'z', 1, "h")); /* no photo of this offer */
    assert_false(answer(scene, id, 2, 'a', 1, "h")); /* no request of this photo */
    assert_true(answer(scene, id, 1, 'a', 2, ""));
    assert_false(answer(scene, id, 1, 'a', 2, ""));  /* again */
    assert_false(answer(scene, id, 1, 'a', 1, "h")); /* late */
    assert_false(answer(scene, id, 1, 'a', 3, ""));  /* the same failure */
    check(scene, id, OFFER_ACTIVE, 2);
    assert_true(answer(scene, id, 1, 'a', 4, "h"));
    assert_false(answer(scene, id, 1, 'a', 5, "h")); /* the same content */
    assert_false(answer(scene, id, 1, 'a', 6, ""));  /* what we have is good */
    check(scene, id, OFFER_ACTIVE, 3);
    assert_true(answer(scene, id, 1, 'a', 7, "other"));
    check(scene, id, OFFER_ACTIVE, 4);
    place_recount(&scene->place);
}

static char last_told[200]; /* of the hook below: "…/a: answered 404" */

static int remember(struct store_tx *tx, const Torg__V1__Offer *offer, const char *url,
                    const char *reason, struct arena *arena, struct err *err)
{
    (void)tx;
    (void)offer;
    (void)arena;
    (void)err;
    snprintf(last_told, sizeof(last_told), "%s: %s", strrchr(url, '/') + 1, reason ? reason : "-");
    return 0;
}

static const char *told_by(struct scene *scene, const Torg__V1__PhotoResult *result)
{
    last_told[0] = 0;
    assert_true(apply(scene, result));
    return last_told;
}

static void who_reports_failures_is_told_how_they_end(void **state)
{
    struct scene *scene = start(state);
    offerid id = create(scene, "books", "ab");
    Torg__V1__PhotoResult *other;

    scene->place.offers.note_photo_failure = remember;
    assert_string_equal(told_by(scene, result_of(scene, id, 1, 'a', 1, "")), "a: answered 404");
    other = result_of(scene, id, 1, 'a', 2, "");
    other->photos[0]->reason = arena_strdup(scene->arena, "answered 500");
    assert_string_equal(told_by(scene, other), "a: answered 500");
    assert_string_equal(told_by(scene, result_of(scene, id, 1, 'b', 1, "h")), "");
    assert_string_equal(told_by(scene, result_of(scene, id, 1, 'a', 3, "h")), "a: -");
    id = create(scene, "books", "c"); /* and of one that is asked for again in between */
    assert_string_equal(told_by(scene, result_of(scene, id, 1, 'c', 1, "")), "c: answered 404");
    clock_manual_advance(&scene->place.clock, 70 * SECOND_US);
    update(scene, id, "books", "c");
    assert_string_equal(told_by(scene, result_of(scene, id, 3, 'c', 1, "h")), "c: -");
}

static void a_photo_without_room_is_told_to_have_failed(void **state)
{
    enum { LETTER_COUNT = 25500 }; /* of four bytes: some 250 are left */
    struct scene *scene = start(state);
    Torg__V1__OfferContent *content = content_with(scene, "rings", "a");
    Torg__V1__OfferReceipt receipt = TORG__V1__OFFER_RECEIPT__INIT;
    struct author author = author_of("s", scene->arena);
    Torg__V1__PhotoSize *sizes[PHOTO_SIZE_COUNT_MAX];
    Torg__V1__PhotoResult *result;
    struct err err;
    offerid id;

    content->description = arena_zero(scene->arena, 4 * LETTER_COUNT + 1);
    for (size_t i = 0; i < LETTER_COUNT; i++)
        memcpy(content->description + 4 * i, "\xf0\x9f\x93\xb7", 4);
    OK(offers_create(&scene->place.offers, &author, content, &receipt, &err));
    id = id_of(receipt.id);
    result = result_of(scene, id, 1, 'a', 1, "h");
    result->photos[0]->sizes[0]->key = arena_printf(scene->arena, "%0*d", PHOTO_KEY_SIZE_MAX, 0);
    for (size_t i = 0; i < PHOTO_SIZE_COUNT_MAX; i++)
        sizes[i] = result->photos[0]->sizes[0];
    result->photos[0]->sizes = sizes;
    result->photos[0]->n_sizes = PHOTO_SIZE_COUNT_MAX;
    assert_true(apply(scene, result));
    check(scene, id, OFFER_WAITING, 2);
    assert_int_equal(offer_of(scene, id)->content->photos[0]->state,
                     TORG__V1__PHOTO__STATE__FAILED);
    assert_non_null(strstr(offer_of(scene, id)->content->photos[0]->reason, "no room"));
    assert_false(apply(scene, result));
}

/* Whose content takes all that its seller may use, to the byte. */
static offerid create_largest(struct scene *scene, const char *category, const char *photos)
{
    Torg__V1__OfferContent *content = content_with(scene, category, photos);
    Torg__V1__OfferReceipt receipt = TORG__V1__OFFER_RECEIPT__INIT;
    struct author author = author_of("s", scene->arena);
    size_t size = OFFER_SIZE_MAX;
    int rc = ERR_LIMIT;
    struct err err;

    content->description = arena_zero(scene->arena, OFFER_SIZE_MAX + 1);
    for (size_t i = 0; i < OFFER_SIZE_MAX; i += 4)
        memcpy(content->description + i, "\xf0\x9f\x93\xb7", 4);
    while (rc == ERR_LIMIT) {
        size_t rest = --size % 4;

        memcpy(content->description + size - rest, "aaa", rest);
        content->description[size] = 0;
        rc = offers_create(&scene->place.offers, &author, content, &receipt, &err);
    }
    if (rc)
        fail_msg("%s", err.text);
    return id_of(receipt.id);
}

static void judge(struct scene *scene, offerid id, int64_t revision, bool ban)
{
    static char *reasons[] = {"counterfeit"};
    Torg__V1__GiveOpinionResponse answer = TORG__V1__GIVE_OPINION_RESPONSE__INIT;
    Torg__V1__ModerationOpinion opinion = TORG__V1__MODERATION_OPINION__INIT;
    struct err err;

    opinion.offer_id = offer_id_text(scene->arena, id);
    opinion.revision = revision;
    opinion.verdict = ban ? TORG__V1__MODERATION_OPINION__VERDICT__BAN
                          : TORG__V1__MODERATION_OPINION__VERDICT__PASS;
    opinion.reasons = reasons;
    opinion.n_reasons = ban;
    OK(moderation_apply(&scene->place.offers, NULL, &opinion, scene->arena, &answer, &err));
    assert_true(answer.applied);
}

/* What others do to an offer has room of its own, which no text can fill. */
static void the_largest_offer_is_banned_like_any(void **state)
{
    struct scene *scene = start(state);
    Torg__V1__PhotoResult *result;
    offerid id = create_largest(scene, "books", "abc");

    judge(scene, id, 1, true);
    check(scene, id, OFFER_BANNED, 2);
    judge(scene, id, 2, false);
    check(scene, id, OFFER_ACTIVE, 3);
    for (const char *photo = "abc"; *photo; photo++) {
        result = result_of(scene, id, 1, *photo, INT32_MAX, "");
        result->photos[0]->reason = arena_printf(scene->arena, "%0*d", PHOTO_REASON_SIZE_MAX, 0);
        assert_true(apply(scene, result));
        assert_non_null(
            strstr(offer_of(scene, id)->content->photos[photo[0] - 'a']->reason, "no room"));
    }
    move(scene, id, MOVE_SELL_ON_SITE);
    move(scene, id, MOVE_REPUBLISH);
    judge(scene, id, 3, true);
    check(scene, id, OFFER_BANNED, 9);
    export_all(scene);
    assert_int_equal(read_integer(scene->place.store, "SELECT COUNT(*) FROM queue"), 0);
}

static void the_largest_offer_is_told_that_nobody_answers(void **state)
{
    struct scene *scene = start(state);
    offerid id = create_largest(scene, "rings", "abc");

    for (int i = 0; i < PHOTO_ASK_COUNT_MAX; i++) {
        clock_manual_advance(&scene->place.clock, (PHOTO_SILENCE_S + 1) * (int64_t)SECOND_US);
        assert_int_equal(look_at_due(scene), 1);
    }
    for (int i = 0; i < 3; i++)
        assert_int_equal(offer_of(scene, id)->content->photos[i]->state,
                         TORG__V1__PHOTO__STATE__FAILED);
}

static void wrong_results_are_told_by_field(void **state)
{
    struct scene *scene = start(state);
    struct violations violations = violations_in(scene->arena);
    offerid id = create(scene, "books", "a");
    Torg__V1__PhotoResult *result = result_of(scene, id, 1, 'a', 1, "h");
    Torg__V1__PhotoResult__Item *twice[] = {result->photos[0], result->photos[0]};
    Torg__V1__PhotoResult empty = TORG__V1__PHOTO_RESULT__INIT;
    struct err err;
    bool changed;

    assert_int_equal(photo_result_check(&empty, &violations), 3); /* offer_id, revision, photos */
    assert_int_equal(photo_result_check(result, &violations), 0);
    result->photos[0]->attempt = 0;
    result->photos[0]->n_sizes = 0;
    result->photos[0]->hash.len = 0;
    assert_int_equal(photo_result_check(result, &violations), 3);
    result = result_of(scene, id, 1, 'a', 1, "h");
    twice[0] = twice[1] = result->photos[0];
    result->photos = twice;
    result->n_photos = 2;
    assert_int_equal(photo_result_check(result, &violations), 1);
    result = result_of(scene, offer_id_make(1), 1, 'a', 1, "h");
    assert_int_equal(photos_apply(&scene->place.offers, result, scene->arena, &changed, &err),
                     ERR_NOT_FOUND);
}

/* --- waiting --- */

static void the_first_ready_photo_shows_the_offer(void **state)
{
    const struct reader anyone = {.seller = ""};
    struct scene *scene = start(state);
    offerid id = create(scene, "rings", "ab");
    Torg__V1__Offer *offer;
    struct err err;

    check(scene, id, OFFER_WAITING, 1);
    assert_int_equal(count_preset(scene, TORG__V1__CABINET__PRESET__WAITING), 1);
    assert_int_equal(count_preset(scene, TORG__V1__CABINET__PRESET__ACTIVE), 0);
    assert_int_equal(offers_get(&scene->place.offers, &anyone, id, scene->arena, &offer, &err),
                     ERR_NOT_FOUND);
    clock_manual_advance(&scene->place.clock, INT64_C(23) * 3600 * SECOND_US);
    assert_int_equal(look_at_due(scene), 0); /* no limit, and no time to live before it is shown */
    assert_true(answer(scene, id, 1, 'b', 1, "h"));
    check(scene, id, OFFER_ACTIVE, 2);
    assert_int_equal(count_preset(scene, TORG__V1__CABINET__PRESET__WAITING), 0);
    assert_int_equal(count_preset(scene, TORG__V1__CABINET__PRESET__ACTIVE), 1);
    OK(offers_get(&scene->place.offers, &anyone, id, scene->arena, &offer, &err));
    assert_true(moment_own_us(offer->expire_time) - moment_own_us(offer->update_time) ==
                INT64_C(30) * 86400 * SECOND_US);
    assert_int_equal(offer_of(scene, create(scene, "rings", ""))->status, OFFER_ACTIVE);
}

/* Deleted by retention while nobody fetched, or dropped by a person: nobody will answer. */
static void a_request_that_was_lost_is_asked_anew_and_then_told(void **state)
{
    struct scene *scene = start(state);
    offerid id = create(scene, "rings", "ab");
    const Torg__V1__Offer *offer;

    for (int64_t asked = 2; asked <= 3; asked++) {
        clock_manual_advance(&scene->place.clock, INT64_C(86399) * SECOND_US);
        assert_int_equal(look_at_due(scene), 0);
        clock_manual_advance(&scene->place.clock, 2 * SECOND_US);
        assert_int_equal(look_at_due(scene), 1);
        check(scene, id, OFFER_WAITING, asked);
        offer = offer_of(scene, id);
        assert_int_equal(offer->content->photos[0]->request_revision, asked);
        assert_int_equal(offer->content->photos[1]->request_revision, asked);
        assert_int_equal(look_at_due(scene), 0);
    }
    clock_manual_advance(&scene->place.clock, INT64_C(86401) * SECOND_US);
    assert_int_equal(look_at_due(scene), 1);
    check(scene, id, OFFER_WAITING, 4);
    offer = offer_of(scene, id);
    assert_int_equal(offer->content->photos[0]->state, TORG__V1__PHOTO__STATE__FAILED);
    assert_non_null(strstr(offer->content->photos[0]->reason, "nobody has fetched it"));
    assert_true(*offer->wait_reason != '\0');
    clock_manual_advance(&scene->place.clock, INT64_C(90) * 86400 * SECOND_US);
    assert_int_equal(look_at_due(scene), 0);
    assert_true(answer(scene, id, 3, 'b', 1, "h")); /* somebody has it after all */
    check(scene, id, OFFER_ACTIVE, 5);
}

static int64_t request_of(struct scene *scene, offerid id)
{
    return offer_of(scene, id)->content->photos[0]->request_revision;
}

static void what_failed_is_asked_again_when_its_seller_saves(void **state)
{
    struct scene *scene = start(state);
    offerid id = create(scene, "rings", "a");

    assert_true(answer(scene, id, 1, 'a', 1, ""));
    assert_true(*offer_of(scene, id)->wait_reason != '\0');
    clock_manual_advance(&scene->place.clock, 50 * SECOND_US);
    update(scene, id, "rings", "a");
    assert_int_equal(request_of(scene, id), 1); /* a minute has not passed */
    clock_manual_advance(&scene->place.clock, 20 * SECOND_US);
    update(scene, id, "rings", "a");
    assert_int_equal(request_of(scene, id), 4);
    check(scene, id, OFFER_WAITING, 4);
    assert_string_equal(offer_of(scene, id)->wait_reason, "");
    assert_false(answer(scene, id, 1, 'a', 9, "h")); /* of the request before */
    assert_true(answer(scene, id, 4, 'a', 1, "h"));
    check(scene, id, OFFER_ACTIVE, 5);
    clock_manual_advance(&scene->place.clock, INT64_C(86400) * SECOND_US);
    update(scene, id, "rings", "a");
    assert_int_equal(request_of(scene, id), 4); /* a ready one is left alone */
}

/* An offer that is shown later without its photo is not kept from that by its being tried again. */
static void another_try_prolongs_no_wait(void **state)
{
    struct scene *scene = start(state);
    offerid id = create(scene, "lamps", "a");

    int64_t wait_s = 60; /* twice as long from try to try */

    for (int64_t revision = 1; revision < 10; revision += 3) {
        assert_true(answer(scene, id, revision, 'a', 1, ""));
        clock_manual_advance(&scene->place.clock, (wait_s - 1) * SECOND_US);
        update(scene, id, "lamps", "a");
        assert_int_equal(request_of(scene, id), revision);
        clock_manual_advance(&scene->place.clock, 2 * SECOND_US);
        update(scene, id, "lamps", "a");
        check(scene, id, OFFER_WAITING, revision + 3);
        wait_s *= 2;
    }
    clock_manual_advance(&scene->place.clock, (601 - 423) * SECOND_US);
    assert_int_equal(look_at_due(scene), 1);
    check(scene, id, OFFER_ACTIVE, 11);
}

static void the_limit_shows_the_offer(void **state)
{
    struct scene *scene = start(state);
    offerid id = create(scene, "lamps", "a");
    offerid failed = create(scene, "lamps", "a");

    assert_true(answer(scene, failed, 1, 'a', 1, ""));
    clock_manual_advance(&scene->place.clock, 599 * SECOND_US);
    assert_int_equal(look_at_due(scene), 0);
    clock_manual_advance(&scene->place.clock, 2 * SECOND_US);
    assert_int_equal(look_at_due(scene), 2);
    check(scene, id, OFFER_ACTIVE, 2);
    check(scene, failed, OFFER_ACTIVE, 3);
    assert_int_equal(look_at_due(scene), 0);
    assert_int_equal(count_preset(scene, TORG__V1__CABINET__PRESET__ACTIVE), 2);
}

static void without_hope_it_stays_with_a_reason(void **state)
{
    struct scene *scene = start(state);
    offerid boat = create(scene, "boats", "a");
    offerid ring = create(scene, "rings", "a");

    assert_true(answer(scene, ring, 1, 'a', 1, ""));
    check(scene, ring, OFFER_WAITING, 2);
    assert_true(*offer_of(scene, ring)->wait_reason != '\0');
    assert_true(answer(scene, boat, 1, 'a', 1, ""));
    assert_string_equal(offer_of(scene, boat)->wait_reason, ""); /* it may be answered better yet */
    clock_manual_advance(&scene->place.clock, 601 * SECOND_US);
    assert_int_equal(look_at_due(scene), 1);
    check(scene, boat, OFFER_WAITING, 3);
    assert_true(*offer_of(scene, boat)->wait_reason != '\0');
    assert_int_equal(look_at_due(scene), 0); /* it is told once */
    update(scene, boat, "boats", "b");
    assert_string_equal(offer_of(scene, boat)->wait_reason, "");
    assert_int_equal(look_at_due(scene), 0); /* its time began anew */
    assert_true(answer(scene, boat, 4, 'b', 1, "h"));
    check(scene, boat, OFFER_ACTIVE, 5);
    update(scene, ring, "books", "a"); /* a category that does not wait */
    check(scene, ring, OFFER_ACTIVE, 3);
    assert_int_equal(count_preset(scene, TORG__V1__CABINET__PRESET__ACTIVE), 2);
}

static void a_ban_outlives_the_wait(void **state)
{
    struct scene *scene = start(state);
    offerid id = create(scene, "lamps", "a");

    move(scene, id, MOVE_BAN);
    clock_manual_advance(&scene->place.clock, 601 * SECOND_US);
    assert_int_equal(look_at_due(scene), 0);
    assert_true(answer(scene, id, 1, 'a', 1, "h"));
    check(scene, id, OFFER_BANNED, 3);
    move(scene, id, MOVE_UNBAN);
    check(scene, id, OFFER_ACTIVE, 4);
    place_recount(&scene->place);
}

/* --- by the topic --- */

static void produce(struct scene *scene, struct bytes value)
{
    const struct topic_record record = {.key = bytes_of("k"), .value = value};
    struct err err;

    OK(topic_produce(scene->topics, TOPIC_PHOTO_RESULTS, &record, 1, NULL, &err));
}

static void produce_result(struct scene *scene, const Torg__V1__PhotoResult *result)
{
    struct buf wire = BUF_INIT(64 << 10);

    message_encode(&result->base, &wire);
    produce(scene, buf_bytes(&wire));
    buf_release(&wire);
}

static void start_inbox(struct scene *scene)
{
    struct err err;

    OK(inbox_start_photos(&scene->place.offers, scene->topics, &scene->inbox, &err));
}

static void stop_inbox(struct scene *scene)
{
    inbox_stop(scene->inbox);
    scene->inbox = NULL;
}

static void results_come_by_the_topic(void **state)
{
    struct scene *scene = start(state);
    offerid id = create(scene, "rings", "ab");

    start_inbox(scene);
    produce(scene, bytes_of("\xff no message"));
    produce_result(scene, result_of(scene, offer_id_make(1), 1, 'a', 1, "h"));
    atomic_store(&scene->faults->duplicate_produce, 1);
    produce_result(scene, result_of(scene, id, 1, 'a', 1, ""));
    produce_result(scene, result_of(scene, id, 1, 'b', 1, "h"));
    wait_for_revision(scene, id, 3);
    stop_inbox(scene);
    check(scene, id, OFFER_ACTIVE, 3);
    place_recount(&scene->place);
}

/* A result that cannot be applied now is not committed: whoever reads next gets it. */
static void a_result_is_committed_after_it_was_applied(void **state)
{
    struct scene *scene = start(state);
    int64_t until = clock_mono_us(clock_system()) + (int64_t)WAIT_MS * MS_US;
    struct counter *errors = metrics_counter("torg_stage_errors_total", "stage=\"photos\"", "");
    uint64_t before = counter_value(errors);
    offerid id = create(scene, "rings", "a");

    start_inbox(scene);
    scene->has_catalog = false; /* a fault that passes: no catalogue is in use */
    produce_result(scene, result_of(scene, id, 1, 'a', 1, "h"));
    while (counter_value(errors) == before && clock_mono_us(clock_system()) < until)
        pause_ms(10);
    stop_inbox(scene);
    assert_true(counter_value(errors) > before);
    check(scene, id, OFFER_WAITING, 1);
    scene->has_catalog = true;
    start_inbox(scene);
    wait_for_revision(scene, id, 2);
    stop_inbox(scene);
    check(scene, id, OFFER_ACTIVE, 2);
}

/* --- the list of cases --- */

static const struct test_case cases[] = {
    CASE(new_addresses_are_asked_for_and_no_others),
    CASE(one_address_twice_is_asked_for_once),
    CASE(a_request_is_sent_until_it_is_acknowledged),
    CASE(what_is_gone_or_known_is_not_asked_for),
    CASE(an_answer_is_one_ordinary_change),
    CASE(what_is_no_news_writes_nothing),
    CASE(who_reports_failures_is_told_how_they_end),
    CASE(a_photo_without_room_is_told_to_have_failed),
    CASE(the_largest_offer_is_banned_like_any),
    CASE(the_largest_offer_is_told_that_nobody_answers),
    CASE(wrong_results_are_told_by_field),
    CASE(the_first_ready_photo_shows_the_offer),
    CASE(a_request_that_was_lost_is_asked_anew_and_then_told),
    CASE(what_failed_is_asked_again_when_its_seller_saves),
    CASE(another_try_prolongs_no_wait),
    CASE(the_limit_shows_the_offer),
    CASE(without_hope_it_stays_with_a_reason),
    CASE(a_ban_outlives_the_wait),
    CASE(results_come_by_the_topic),
    CASE(a_result_is_committed_after_it_was_applied),
};

int main(int argc, char **argv)
{
    static struct case_list list = {
        .name = "offers-photos", .set_up = set_up, .tear_down = tear_down};

    cases_embedded(&list, cases, ARRAY_COUNT(cases));
    cases_on_servers(&list, cases, ARRAY_COUNT(cases));
    return cases_run(&list, argc, argv);
}
