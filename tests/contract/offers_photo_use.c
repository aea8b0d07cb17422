/* SPDX-License-Identifier: Apache-2.0 */
/*
 * offers_photo_use.c - who refers to photos, who may see them, and what is swept: offers, drafts
 * and the ledger together, on both stores.
 */
#include "contract/offers_fixture.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "codec/message.h"
#include "offers/change/moderation.h"
#include "offers/change/photos.h"
#include "offers/inbox/likeness.h"
#include "offers/inbox/stage.h"
#include "offers/record/offer_record.h"
#include "offers/record/photo_use.h"
#include "photos/ledger.h"
#include "photos/source.h"

#define STEM_A "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define STEM_B "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
#define STEM_C "cccccccccccccccccccccccccccccccccccccccc"
#define STEM_D "dddddddddddddddddddddddddddddddddddddddd"
#define REST "cccccccccccccccccccccccc"
#define OTHER_REST "000000000000000000000000"

enum { KEEP_S = 3600 };

struct scene {
    struct offers_place place;
    struct blob *blob;
    struct ledger ledger;
    struct arena *arena;
};

static int set_up(void **state)
{
    bool servers = case_on_servers(state);
    struct scene *scene = mem_zero(sizeof(*scene));
    struct err err;

    *state = scene;
    if (!offers_place_open(&scene->place, servers))
        return 0;
    scene->arena = arena_new();
    OK(blob_open("memory:", &scene->blob, &err));
    scene->ledger = (struct ledger){
        .store = scene->place.store, .blob = scene->blob, .clock = scene->place.offers.clock};
    return 0;
}

static int tear_down(void **state)
{
    struct scene *scene = *state;

    if (scene->arena) {
        blob_close(scene->blob);
        arena_free(scene->arena);
        offers_place_close(&scene->place);
    }
    free(scene);
    return 0;
}

static struct scene *start(void **state)
{
    struct scene *scene = *state;

    if (!scene->arena)
        skip();
    return scene;
}

/* --- acting --- */

/* As the intake does: the row, then the blobs. The key of its one picture. */
static const char *develop(struct scene *scene, const char *stem, const char *seller)
{
    const char *forms = seller ? "up:" REST " 240.jpg" : "240.jpg";
    const char *name;
    int64_t made_ms;
    struct err err;

    OK(ledger_enter(&scene->ledger, bytes_of(stem), forms, seller, scene->arena, &made_ms, &err));
    name = ledger_blob_name(bytes_of(stem), made_ms, bytes_of("240.jpg"), scene->arena);
    OK(blob_put(scene->blob, name, bytes_of("picture"), &err));
    if (seller)
        OK(blob_put(scene->blob,
                    ledger_blob_name(bytes_of(stem), made_ms, bytes_of("up:" REST), scene->arena),
                    bytes_of("file"), &err));
    return name + strlen("photos/");
}

static void wait_s(struct scene *scene, int64_t seconds)
{
    clock_manual_advance(&scene->place.clock, seconds * SECOND_US);
}

static size_t sweep(struct scene *scene)
{
    struct ledger_swept swept;
    struct err err;
    bool more;

    OK(ledger_sweep(&scene->ledger, (int64_t)KEEP_S * SECOND_US, 10, &swept, &more, &err));
    assert_false(more);
    return swept.photo_count;
}

static size_t blob_count(struct scene *scene)
{
    struct blob_page page;
    struct err err;

    OK(blob_list(scene->blob, "", "", 100, scene->arena, &page, &err));
    return page.count;
}

static bool sees(struct scene *scene, const char *seller, const char *key)
{
    struct err err;
    bool may;

    OK(ledger_may_see(&scene->ledger, key, seller, &may, &err));
    return may;
}

static Torg__V1__OfferContent *content_with(struct scene *scene, const char *url)
{
    Torg__V1__OfferContent *content = content_of(scene->arena, "books", 1, 100, "RUB");

    content->photos = arena_array(scene->arena, 1, sizeof(*content->photos));
    content->photos[0] = MESSAGE_NEW(photo, scene->arena);
    content->photos[0]->source_url = arena_strdup(scene->arena, url);
    content->n_photos = *url ? 1 : 0;
    return content;
}

static offerid create_as(struct scene *scene, const char *seller, const char *url)
{
    Torg__V1__OfferReceipt receipt = TORG__V1__OFFER_RECEIPT__INIT;
    struct author author = author_of(seller, scene->arena);
    struct err err;

    OK(offers_create(&scene->place.offers, &author, content_with(scene, url), &receipt, &err));
    return id_of(receipt.id);
}

static offerid create(struct scene *scene, const char *url)
{
    return create_as(scene, "s", url);
}

static Torg__V1__Offer *offer_of(struct scene *scene, offerid id)
{
    const struct reader reader = {.sees_all = true};
    Torg__V1__Offer *offer;
    struct err err;

    OK(offers_get(&scene->place.offers, &reader, id, scene->arena, &offer, &err));
    return offer;
}

static int update(struct scene *scene, offerid id, int64_t revision, const char *url)
{
    Torg__V1__OfferReceipt receipt = TORG__V1__OFFER_RECEIPT__INIT;
    struct author author = author_of("s", scene->arena);
    struct err err;

    return offers_update(&scene->place.offers, &author, id, revision, content_with(scene, url),
                         &receipt, &err);
}

static void move(struct scene *scene, offerid id, enum offer_move how)
{
    Torg__V1__OfferReceipt receipt = TORG__V1__OFFER_RECEIPT__INIT;
    struct author author = author_of(NULL, scene->arena);
    struct err err;

    OK(offers_move(&scene->place.offers, &author, id, 0, how, &receipt, &err));
}

/* The offer's photo is ready, with this key. */
static void answer_as(struct scene *scene, offerid id, const char *key, uint64_t look)
{
    Torg__V1__Offer *offer = offer_of(scene, id);
    Torg__V1__PhotoResult *result = MESSAGE_NEW(photo_result, scene->arena);
    Torg__V1__PhotoResult__Item *item = MESSAGE_NEW(photo_result__item, scene->arena);
    struct err err;
    bool changed;

    result->offer_id = offer->id;
    result->revision = offer->content->photos[0]->request_revision;
    result->photos = &item;
    result->n_photos = 1;
    item->url = offer->content->photos[0]->source_url;
    item->attempt = 1;
    item->state = TORG__V1__PHOTO__STATE__READY;
    item->hash.data = (uint8_t *)"hash";
    item->hash.len = 4;
    item->look = look;
    item->sizes = arena_array(scene->arena, 1, sizeof(*item->sizes));
    item->sizes[item->n_sizes++] = MESSAGE_NEW(photo_size, scene->arena);
    item->sizes[0]->key = arena_strdup(scene->arena, key);
    item->sizes[0]->width = item->sizes[0]->height = item->sizes[0]->size = 240;
    OK(photos_apply(&scene->place.offers, result, scene->arena, &changed, &err));
    assert_true(changed);
}

static void answer(struct scene *scene, offerid id, const char *key)
{
    answer_as(scene, id, key, 0);
}

/* --- the cases --- */

static void a_photo_is_seen_while_its_offer_is(void **state)
{
    struct scene *scene = start(state);
    const char *key = develop(scene, STEM_A, NULL);
    offerid id = create(scene, "https://x.example/a");

    assert_false(sees(scene, NULL, key));
    assert_false(sees(scene, "s", key));
    assert_true(sees(scene, "", key));
    answer(scene, id, key);
    assert_true(sees(scene, NULL, key));
    move(scene, id, MOVE_WITHDRAW);
    assert_false(sees(scene, NULL, key));
    assert_false(sees(scene, "another", key));
    assert_true(sees(scene, "s", key));
    move(scene, id, MOVE_REPUBLISH);
    assert_true(sees(scene, NULL, key));
    move(scene, id, MOVE_BAN);
    assert_false(sees(scene, NULL, key));
    move(scene, id, MOVE_UNBAN);
    assert_true(sees(scene, NULL, key));
    move(scene, id, MOVE_DELETE);
    assert_false(sees(scene, NULL, key));
    assert_false(sees(scene, "s", key));
}

/* Its content names no photo any more. */
static void photos_of_a_damaged_offer_are_banned_with_it(void **state)
{
    struct scene *scene = start(state);
    const char *key = develop(scene, STEM_A, NULL);
    offerid id = create(scene, "https://x.example/a");
    Torg__V1__GiveOpinionResponse told = TORG__V1__GIVE_OPINION_RESPONSE__INIT;
    Torg__V1__ModerationOpinion opinion = TORG__V1__MODERATION_OPINION__INIT;
    char *reasons[] = {"counterfeit"};
    struct err err;

    answer(scene, id, key);
    opinion.offer_id = offer_id_text(scene->arena, id);
    opinion.revision = 1;
    opinion.verdict = TORG__V1__MODERATION_OPINION__VERDICT__BAN;
    opinion.reasons = reasons;
    opinion.n_reasons = 1;
    exec(scene->place.store, scene->place.postgres
                                 ? "UPDATE offer SET body = '\\x00ff'::bytea WHERE kind = 'offer'"
                                 : "UPDATE offer SET body = X'00FF' WHERE kind = 'offer'");
    assert_true(sees(scene, NULL, key));
    OK(moderation_apply(&scene->place.offers, NULL, &opinion, scene->arena, &told, &err));
    assert_true(told.applied);
    assert_false(sees(scene, NULL, key));
    assert_true(sees(scene, "s", key));
    wait_s(scene, 2 * KEEP_S);
    assert_int_equal(sweep(scene), 0); /* the damaged bytes are kept, and what they name */
}

static void what_nobody_refers_to_is_swept_after_a_time(void **state)
{
    struct scene *scene = start(state);
    const char *key = develop(scene, STEM_A, NULL);
    offerid first = create(scene, "https://x.example/a");
    offerid second = create(scene, "https://x.example/b");

    answer(scene, first, key);
    answer(scene, second, key);
    wait_s(scene, 2 * KEEP_S);
    assert_int_equal(sweep(scene), 0);
    move(scene, first, MOVE_DELETE);
    wait_s(scene, 2 * KEEP_S);
    assert_int_equal(sweep(scene), 0); /* the second has it */
    assert_int_equal(update(scene, second, 2, ""), 0);
    assert_int_equal(sweep(scene), 0);
    wait_s(scene, KEEP_S + 1);
    assert_int_equal(sweep(scene), 1);
    assert_int_equal(blob_count(scene), 0);
    assert_int_equal(read_integer(scene->place.store, "SELECT COUNT(*) FROM photo"), 0);
    assert_int_equal(read_integer(scene->place.store, "SELECT COUNT(*) FROM photo_use"), 0);
    assert_int_equal(read_integer(scene->place.store, "SELECT COUNT(*) FROM photo_trash"), 0);
}

static void an_upload_is_kept_while_a_draft_names_it(void **state)
{
    struct scene *scene = start(state);
    const char *key = develop(scene, STEM_A, "s");
    struct author author = author_of("s:s", scene->arena);
    struct author seller = author_of("s", scene->arena);
    Torg__V1__OfferReceipt receipt = TORG__V1__OFFER_RECEIPT__INIT;
    struct draft *draft;
    struct draft saved;
    struct err err;

    develop(scene, STEM_B, "s"); /* in no draft */
    assert_true(sees(scene, "s", key));
    assert_false(sees(scene, NULL, key));
    OK(draft_open(&scene->place.offers, "s:s", NULL, "books", scene->arena, &draft, &err));
    OK(draft_save(&scene->place.offers, &author, draft->id, 0,
                  content_with(scene, "upload:" STEM_A REST), &saved, &err));
    wait_s(scene, 2 * KEEP_S);
    assert_int_equal(sweep(scene), 1);
    assert_int_equal(blob_count(scene), 2);
    OK(draft_publish(&scene->place.offers, &seller, draft->id, 0, &receipt, &err));
    wait_s(scene, 2 * KEEP_S);
    assert_int_equal(sweep(scene), 0);
    move(scene, id_of(receipt.id), MOVE_DELETE);
    OK(draft_open(&scene->place.offers, "s:s", NULL, "books", scene->arena, &draft, &err));
    OK(draft_save(&scene->place.offers, &author, draft->id, 0,
                  content_with(scene, "upload:" STEM_A REST), &saved, &err));
    OK(draft_discard(&scene->place.offers, &author, draft->id, &err));
    wait_s(scene, KEEP_S + 1);
    assert_int_equal(sweep(scene), 1);
    assert_int_equal(blob_count(scene), 0);
}

/* The stem stands in every public address of a picture. */
static void an_address_shows_nobody_what_he_has_not_uploaded(void **state)
{
    struct scene *scene = start(state);
    const char *key = develop(scene, STEM_A, "s");
    const char *addresses[] = {"upload:" STEM_A OTHER_REST, "upload:" STEM_A REST};
    struct author author = author_of("s:another", scene->arena);
    offerid id = create(scene, "upload:" STEM_A REST);
    struct draft *draft;
    struct draft saved;
    struct err err;

    assert_false(sees(scene, NULL, key)); /* it waits for an answer */
    answer(scene, id, key);
    assert_true(sees(scene, NULL, key));
    move(scene, id, MOVE_BAN);
    assert_false(sees(scene, NULL, key));
    OK(draft_open(&scene->place.offers, "s:another", NULL, "books", scene->arena, &draft, &err));
    for (size_t i = 0; i < ARRAY_COUNT(addresses); i++) {
        OK(draft_save(&scene->place.offers, &author, draft->id, 0,
                      content_with(scene, addresses[i]), &saved, &err));
        assert_false(sees(scene, "another", key));
        offerid theirs = create_as(scene, "another", addresses[i]);
        assert_false(sees(scene, "another", key));
        assert_false(sees(scene, NULL, key));
        move(scene, theirs, MOVE_WITHDRAW);
        move(scene, theirs, MOVE_REPUBLISH);
        assert_false(sees(scene, NULL, key));
    }
    assert_true(sees(scene, "s", key));
    move(scene, id, MOVE_DELETE);
    wait_s(scene, KEEP_S + 1);
    assert_int_equal(sweep(scene), 1); /* no other keeps it */
}

/* His own is kept for him while it waits, and shown when it is ready. */
static void an_upload_that_waits_is_kept_and_not_shown(void **state)
{
    struct scene *scene = start(state);
    const char *key = develop(scene, STEM_A, "s");
    offerid id = create(scene, "upload:" STEM_A REST);

    wait_s(scene, KEEP_S + 1);
    assert_int_equal(sweep(scene), 0);
    assert_int_equal(offer_of(scene, id)->status, TORG__V1__OFFER__STATUS__ACTIVE);
    assert_false(sees(scene, NULL, key));
    move(scene, id, MOVE_WITHDRAW);
    move(scene, id, MOVE_REPUBLISH);
    assert_false(sees(scene, NULL, key));
    answer(scene, id, key);
    assert_true(sees(scene, NULL, key));
    move(scene, id, MOVE_WITHDRAW);
    assert_false(sees(scene, NULL, key));
    move(scene, id, MOVE_REPUBLISH);
    assert_true(sees(scene, NULL, key));
}

static void who_is_killed_in_the_middle_leaves_no_orphan(void **state)
{
    struct scene *scene = start(state);
    const char *old = develop(scene, STEM_A, NULL);
    const char *key;
    struct err err;

    /* Thrown away, and then killed: the row is trash, the blob is there. */
    exec(scene->place.store, "INSERT INTO photo_trash (photo, made_ms, forms) "
                             "SELECT photo, made_ms, forms FROM photo");
    exec(scene->place.store, "DELETE FROM photo");
    wait_s(scene, 1);
    key = develop(scene, STEM_A, NULL); /* comes again before the trash is emptied */
    assert_string_not_equal(key, old);
    assert_int_equal(blob_count(scene), 2);
    assert_int_equal(sweep(scene), 1);
    assert_int_equal(blob_count(scene), 1);
    OK(blob_delete(scene->blob, arena_printf(scene->arena, "photos/%s", key), &err));
    assert_int_equal(blob_count(scene), 0); /* what is left is the new one */
}

static void what_cannot_be_deleted_keeps_nothing_else(void **state)
{
    struct scene *scene = start(state);
    struct ledger_swept swept;
    struct err err;
    bool more;

    develop(scene, STEM_B, NULL);
    develop(scene, STEM_C, NULL);
    exec(scene->place.store, "INSERT INTO photo_trash (photo, made_ms, forms) "
                             "VALUES ('" STEM_A "', 1, '/../x'), ('" STEM_A "', 2, '/../x')");
    wait_s(scene, KEEP_S + 1);
    for (int i = 0; i < 3; i++) { /* two at a time: as many as there are of these */
        int rc = ledger_sweep(&scene->ledger, (int64_t)KEEP_S * SECOND_US, 2, &swept, &more, &err);

        assert_int_equal(rc, ERR_INVALID);
        assert_int_equal(swept.photo_count, i ? 0 : 2);
    }
    assert_int_equal(blob_count(scene), 0);
    assert_int_equal(read_integer(scene->place.store, "SELECT COUNT(*) FROM photo_trash"), 2);
}

static void a_swept_photo_that_is_answered_late_is_asked_for_again(void **state)
{
    struct scene *scene = start(state);
    const char *key = develop(scene, STEM_A, NULL);
    offerid id = create(scene, "https://x.example/a");
    const Torg__V1__Photo *photo;

    wait_s(scene, KEEP_S + 1);
    assert_int_equal(sweep(scene), 1);
    answer(scene, id, key);
    photo = offer_of(scene, id)->content->photos[0];
    assert_int_equal(photo->state, TORG__V1__PHOTO__STATE__WAITING);
    assert_int_equal(photo->request_revision, 2);
    answer(scene, id, develop(scene, STEM_A, NULL));
    photo = offer_of(scene, id)->content->photos[0];
    assert_int_equal(photo->state, TORG__V1__PHOTO__STATE__READY);
}

static void a_damaged_note_of_an_address_is_as_good_as_none(void **state)
{
    struct scene *scene = start(state);
    Torg__V1__PhotoResult__Item *item = MESSAGE_NEW(photo_result__item, scene->arena);
    struct fetch_state told = {.etag = "one", .modified = ""};
    Torg__V1__PhotoResult__Item *known;
    struct err err;

    item->sizes = arena_array(scene->arena, 1, sizeof(*item->sizes));
    item->sizes[item->n_sizes++] = MESSAGE_NEW(photo_size, scene->arena);
    item->sizes[0]->key = arena_strdup(scene->arena, STEM_A "-1-240.jpg");
    OK(source_keep(scene->place.store, "https://x.example/a", &told, item, &err));
    OK(source_find(scene->place.store, "https://x.example/a", scene->arena, &told, &known, &err));
    assert_string_equal(known->sizes[0]->key, STEM_A "-1-240.jpg");
    OK(store_write_one(scene->place.store, "UPDATE photo_source SET body = $1",
                       STORE_WITH(STORE_V_BLOB(bytes_of("\xff\xff"))), NULL, &err));
    OK(source_find(scene->place.store, "https://x.example/a", scene->arena, &told, &known, &err));
    assert_null(known);
    assert_string_equal(told.etag, ""); /* so that the whole file is asked for */
}

static void offers_of_before_are_listed(void **state)
{
    struct scene *scene = start(state);
    const char *key = develop(scene, STEM_A, NULL);
    offerid id = create(scene, "https://x.example/a");
    struct err err;
    bool more = true;

    answer(scene, id, key);
    create(scene, "");
    exec(scene->place.store, "DELETE FROM photo_use");
    exec(scene->place.store, "UPDATE photo_listing SET last_id = 0");
    scene->ledger.is_listed = false;
    assert_true(sees(scene, NULL, key)); /* until it is known who refers to what */
    wait_s(scene, 2 * KEEP_S);
    assert_int_equal(sweep(scene), 0);
    while (more)
        OK(photo_use_list_old(scene->place.store, 1, &more, &err));
    assert_int_equal(read_integer(scene->place.store, "SELECT last_id FROM photo_listing"), -1);
    assert_int_equal(read_integer(scene->place.store, "SELECT COUNT(*) FROM photo_use"), 1);
    assert_true(sees(scene, NULL, key));
    assert_false(sees(scene, NULL, "other"));
}

/* Answers, and looks where else the photo stands; the state's value, "" for none. */
static const char *likeness_of(struct scene *scene, offerid id, const char *stem, uint64_t look)
{
    Torg__V1__StageState state = TORG__V1__STAGE_STATE__INIT;
    const char *key = develop(scene, stem, NULL);
    Torg__V1__PhotoResult result = TORG__V1__PHOTO_RESULT__INIT;
    struct err err;
    int rc;

    answer_as(scene, id, key, look);
    result.offer_id = offer_id_text(scene->arena, id);
    OK(likeness_note(&scene->place.offers, &result, scene->arena, &err));
    OK(likeness_note(&scene->place.offers, &result, scene->arena, &err)); /* again: the same */
    rc = stage_get(&scene->place.offers, id, LIKENESS_STAGE, scene->arena, &state, &err);
    assert_true(rc == 0 || rc == ERR_NOT_FOUND);
    return rc ? "" : arena_text(scene->arena, bytes_make(state.value.data, state.value.len));
}

static void the_same_photo_in_other_offers_is_told(void **state)
{
    struct scene *scene = start(state);
    uint64_t look = 0x0123456789abcdef;
    offerid first = create(scene, "https://x.example/a");
    offerid second = create_as(scene, "s", "https://x.example/b");
    offerid third = create_as(scene, "another", "https://x.example/c");
    offerid fourth = create_as(scene, "third", "https://x.example/d");
    offerid fifth = create_as(scene, "third", "https://x.example/e");

    assert_string_equal(likeness_of(scene, first, STEM_A, look), "");
    assert_string_equal(
        likeness_of(scene, second, STEM_A, look),
        "{\"photos\":[{\"url\":\"https://x.example/b\",\"offers\":2,\"sellers\":1}]}");
    /* Saved anew by another: three bits differ. */
    assert_string_equal(
        likeness_of(scene, third, STEM_B, look ^ (1ull << 63 | 1ull << 40 | 1)),
        "{\"photos\":[{\"url\":\"https://x.example/c\",\"offers\":3,\"sellers\":2}]}");
    assert_string_equal(likeness_of(scene, fourth, STEM_C, ~look), "");
    assert_string_equal(likeness_of(scene, fifth, STEM_D, 0), ""); /* of one colour */
}

static void a_result_outruns_no_edit(void **state)
{
    struct scene *scene = start(state);
    offerid id = create(scene, "https://x.example/a");

    answer(scene, id, "foreign-1");
    assert_int_equal(offer_of(scene, id)->revision, 2);
    assert_int_equal(update(scene, id, 1, "https://x.example/a"), 0); /* read before the result */
    assert_int_equal(offer_of(scene, id)->content->photos[0]->state, TORG__V1__PHOTO__STATE__READY);
    assert_int_equal(update(scene, id, 2, "https://x.example/a"), ERR_CONFLICT);
    assert_int_equal(update(scene, id, 4, "https://x.example/a"), ERR_CONFLICT);
    move(scene, id, MOVE_WITHDRAW);
    assert_int_equal(update(scene, id, 3, "https://x.example/a"), ERR_CONFLICT);
    assert_int_equal(update(scene, id, 4, "https://x.example/a"), 0);
}

/* The worker saw it waiting too long; then its photo came, and it is on sale. */
static void a_result_outruns_a_worker(void **state)
{
    struct scene *scene = start(state);
    struct author worker = author_of(NULL, scene->arena);
    offerid id = create(scene, "https://x.example/a");
    Torg__V1__OfferReceipt receipt = TORG__V1__OFFER_RECEIPT__INIT;
    struct err err;

    answer(scene, id, "foreign-1");
    assert_int_equal(offers_move(&scene->place.offers, &worker, id, 1, MOVE_EXPIRE, &receipt, &err),
                     ERR_CONFLICT);
    assert_int_equal(offer_of(scene, id)->revision, 2);
}

/* --- the list of cases --- */

static const struct test_case cases[] = {
    CASE(a_photo_is_seen_while_its_offer_is),
    CASE(photos_of_a_damaged_offer_are_banned_with_it),
    CASE(what_nobody_refers_to_is_swept_after_a_time),
    CASE(an_upload_is_kept_while_a_draft_names_it),
    CASE(an_address_shows_nobody_what_he_has_not_uploaded),
    CASE(an_upload_that_waits_is_kept_and_not_shown),
    CASE(who_is_killed_in_the_middle_leaves_no_orphan),
    CASE(what_cannot_be_deleted_keeps_nothing_else),
    CASE(a_swept_photo_that_is_answered_late_is_asked_for_again),
    CASE(a_damaged_note_of_an_address_is_as_good_as_none),
    CASE(offers_of_before_are_listed),
    CASE(the_same_photo_in_other_offers_is_told),
    CASE(a_result_outruns_no_edit),
    CASE(a_result_outruns_a_worker),
};

int main(int argc, char **argv)
{
    static struct case_list list = {
        .name = "offers-photo_use", .set_up = set_up, .tear_down = tear_down};

    cases_on_stores(&list, cases, ARRAY_COUNT(cases));
    return cases_run(&list, argc, argv);
}
