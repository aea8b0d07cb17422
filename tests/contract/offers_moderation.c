/* SPDX-License-Identifier: Apache-2.0 */
/* offers_moderation.c - opinions of moderators, and states of stages, on every store. */
#include "contract/offers_fixture.h"

#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "codec/message.h"
#include "model/identity.h"
#include "model/topics.h"
#include "offers/bounds.h"
#include "offers/change/damaged_offer.h"
#include "offers/change/moderation.h"
#include "offers/inbox/inbox.h"
#include "offers/inbox/stage.h"
#include "offers/record/offer_counts.h"
#include "patience.h"
#include "store/store_fault.h"

enum { WAIT_MS = PATIENCE_MS, TRANSACTION_COUNT_MAX = 20, STATEMENT_COUNT_MAX = 100 };
enum { BAN = TORG__V1__MODERATION_OPINION__VERDICT__BAN };
enum { PASS = TORG__V1__MODERATION_OPINION__VERDICT__PASS };

struct scene {
    struct offers_place place;
    struct arena *arena;
    char id_text[OFFER_ID_TEXT_SIZE];
    offerid id; /* an offer of the seller "s" */
};

static int set_up(void **state)
{
    static struct scene scene;
    Torg__V1__OfferReceipt receipt = TORG__V1__OFFER_RECEIPT__INIT;
    bool postgres = case_on_servers(state);
    struct author author;
    struct err err;

    memset(&scene, 0, sizeof(scene));
    *state = &scene;
    if (!offers_place_open_as(&scene.place, postgres, "fault:"))
        return 0;
    scene.arena = arena_new();
    author = author_of("s", scene.arena);
    OK(offers_create(&scene.place.offers, &author, content_of(scene.arena, "books", 0, 1, "RUB"),
                     &receipt, &err));
    snprintf(scene.id_text, sizeof(scene.id_text), "%s", receipt.id);
    scene.id = id_of(receipt.id);
    return 0;
}

static int tear_down(void **state)
{
    struct scene *scene = *state;

    if (scene->place.store)
        arena_free(scene->arena);
    offers_place_close(&scene->place);
    return 0;
}

static struct scene *start(void **state)
{
    struct scene *scene = *state;

    if (!scene->place.store)
        skip();
    return scene;
}

static Torg__V1__ModerationOpinion opinion_of(struct scene *scene, int64_t revision, int verdict)
{
    static char *reasons[] = {"counterfeit"};
    Torg__V1__ModerationOpinion opinion = TORG__V1__MODERATION_OPINION__INIT;

    opinion.offer_id = scene->id_text;
    opinion.revision = revision;
    opinion.verdict = (Torg__V1__ModerationOpinion__Verdict)verdict;
    opinion.reasons = reasons;
    opinion.n_reasons = verdict == BAN;
    return opinion;
}

/* Whether it was applied; *moved: the offer has changed. */
static bool give(struct scene *scene, int64_t revision, int verdict, bool *moved)
{
    const Torg__V1__ModerationOpinion opinion = opinion_of(scene, revision, verdict);
    Torg__V1__GiveOpinionResponse answer = TORG__V1__GIVE_OPINION_RESPONSE__INIT;
    struct err err;

    OK(moderation_apply(&scene->place.offers, NULL, &opinion, scene->arena, &answer, &err));
    *moved = answer.receipt != NULL;
    return answer.applied;
}

static Torg__V1__Offer *offer_of(struct scene *scene)
{
    const struct reader reader = {.sees_all = true};
    Torg__V1__Offer *offer;
    struct err err;

    OK(offers_get(&scene->place.offers, &reader, scene->id, scene->arena, &offer, &err));
    return offer;
}

static void move(struct scene *scene, enum offer_move how)
{
    Torg__V1__OfferReceipt receipt = TORG__V1__OFFER_RECEIPT__INIT;
    struct author author = author_of("s", scene->arena);
    struct err err;

    OK(offers_move(&scene->place.offers, &author, scene->id, 0, how, &receipt, &err));
}

/* As place_recount, which asks for a queue row for each revision of rows of kind offer alone. */
static void check(struct scene *scene, enum offer_status status, int64_t revision)
{
    Torg__V1__Offer *offer = offer_of(scene);

    assert_int_equal(offer->status, status);
    assert_int_equal(offer->revision, revision);
    place_recount(&scene->place);
}

static void a_ban_and_its_end_are_changes_of_the_offer(void **state)
{
    struct scene *scene = start(state);
    Torg__V1__Moderation *kept;
    struct err err;
    bool moved;

    assert_int_equal(moderation_get(&scene->place.offers, scene->id, scene->arena, &kept, &err),
                     ERR_NOT_FOUND);
    assert_true(give(scene, 5, BAN, &moved));
    assert_true(moved);
    check(scene, OFFER_BANNED, 2);
    OK(moderation_get(&scene->place.offers, scene->id, scene->arena, &kept, &err));
    assert_int_equal(kept->opinion->revision, 5);
    assert_string_equal(kept->opinion->reasons[0], "counterfeit");
    assert_true(give(scene, 6, PASS, &moved));
    assert_true(moved);
    check(scene, OFFER_ACTIVE, 3);
}

/* Rows of the cabinet that are missing, or where they do not belong. */
static void no_damage_of_the_cabinet_shields_an_offer(void **state)
{
    static const char *const damages[] = {
        "DELETE FROM user_offer_presets",
        "UPDATE user_offer_presets SET preset_id = 5 WHERE preset_id = 2",
        "DELETE FROM user_offer_presets_count",
        "DELETE FROM user_total_counters",
    };
    struct scene *scene = start(state);
    int64_t revision = 0;
    bool moved;

    for (size_t i = 0; i < ARRAY_COUNT(damages); i++) {
        exec(scene->place.store, damages[i]);
        assert_true(give(scene, ++revision, BAN, &moved));
        assert_true(moved);
        assert_int_equal(offer_of(scene)->status, OFFER_BANNED);
        assert_int_equal(read_integer(scene->place.store, "SELECT COUNT(*) FROM user_offer_presets "
                                                          "WHERE preset_id = 5"),
                         1);
        assert_true(give(scene, ++revision, PASS, &moved));
        assert_int_equal(offer_of(scene)->status, OFFER_ACTIVE);
    }
}

static int write_damage(struct store_tx *tx, void *arg, struct err *err)
{
    const struct scene *scene = arg;

    return store_exec(tx, "UPDATE offer SET body = $2 WHERE id = $1 AND kind = 'offer'",
                      STORE_WITH(STORE_V_INT(scene->id), STORE_V_BLOB(bytes_of("?"))), NULL, err);
}

static void damage_body(struct scene *scene)
{
    struct err err;

    OK(store_write(scene->place.store, write_damage, scene, &err));
}

static void check_status(struct scene *scene, enum offer_status status, int64_t revision)
{
    Torg__V1__Offer *offer = offer_of(scene);

    assert_int_equal(offer->status, status);
    assert_int_equal(offer->revision, revision);
}

/* In this list of the seller and that of all, and in no other. */
static void expect_counted(struct scene *scene, int64_t preset)
{
    char sql[200];

    snprintf(sql, sizeof(sql),
             "SELECT COUNT(*) FROM user_offer_presets_count WHERE counter = CASE WHEN preset_id IN "
             "(%d, %jd) THEN 0 ELSE 1 END",
             (int)PRESET_ALL, (intmax_t)preset);
    assert_int_equal(read_integer(scene->place.store, sql), 0);
    snprintf(sql, sizeof(sql),
             "SELECT COUNT(*) FROM user_offer_presets WHERE preset_id IN (%d, %jd)",
             (int)PRESET_ALL, (intmax_t)preset);
    assert_int_equal(read_integer(scene->place.store, sql), 2);
}

/* It is taken down as any other, counted where it belongs, and its seller may write it anew. */
static void a_damaged_offer_can_be_banned(void **state)
{
    struct scene *scene = start(state);
    struct author author = author_of("s", scene->arena);
    Torg__V1__OfferReceipt receipt = TORG__V1__OFFER_RECEIPT__INIT;
    struct err err;
    bool moved;

    damage_body(scene);
    assert_true(give(scene, 1, BAN, &moved));
    assert_true(moved);
    check_status(scene, OFFER_BANNED, 2);
    expect_counted(scene, TORG__V1__CABINET__PRESET__BANNED);
    assert_int_equal(
        read_integer(scene->place.store, "SELECT COUNT(*) FROM queue WHERE urgent > 0"), 1);
    assert_int_equal(
        read_integer(scene->place.store, "SELECT COUNT(*) FROM offer WHERE kind = 'damaged'"), 1);
    assert_string_equal(offer_of(scene)->seller, "s");
    OK(offers_update(&scene->place.offers, &author, scene->id, 2,
                     content_of(scene->arena, "books", 0, 1, "RUB"), &receipt, &err));
    assert_true(give(scene, 2, PASS, &moved));
    assert_int_equal(offer_of(scene)->status, OFFER_WITHDRAWN); /* who knows what it was */
}

/* Its content without the name has not given that up. */
static void a_damaged_offer_keeps_its_external_id(void **state)
{
    struct scene *scene = start(state);
    struct author author = author_of("s", scene->arena);
    Torg__V1__OfferReceipt receipt = TORG__V1__OFFER_RECEIPT__INIT;
    Torg__V1__OfferContent *content = content_of(scene->arena, "books", 0, 1, "RUB");
    struct err err;
    bool moved;

    content->external_id = arena_strdup(scene->arena, "a");
    OK(offers_update(&scene->place.offers, &author, scene->id, 1, content, &receipt, &err));
    damage_body(scene);
    assert_true(give(scene, 1, BAN, &moved));
    assert_string_equal(offer_of(scene)->content->external_id, "");
    assert_int_equal(offers_create(&scene->place.offers, &author, content, &receipt, &err),
                     ERR_EXISTS);
    OK(offers_update(&scene->place.offers, &author, scene->id, 3, content, &receipt, &err));
    assert_string_equal(offer_of(scene)->content->external_id, "a");
    assert_int_equal(
        read_integer(scene->place.store, "SELECT COUNT(*) FROM feed WHERE external_id = 'a'"), 1);
}

static void a_damaged_offer_of_nobody_can_be_banned(void **state)
{
    struct scene *scene = start(state);
    bool moved;

    damage_body(scene);
    exec(scene->place.store, "DELETE FROM user_offer_presets");
    assert_true(give(scene, 1, BAN, &moved));
    assert_true(moved);
    check_status(scene, OFFER_BANNED, 2);
    assert_false(identity_is_name(bytes_of(offer_of(scene)->seller))); /* no seller's, ever */
    assert_true(give(scene, 2, PASS, &moved));
}

static void a_damaged_offer_that_is_deleted_stays_so(void **state)
{
    struct scene *scene = start(state);
    bool moved;

    move(scene, MOVE_DELETE);
    damage_body(scene);
    assert_true(give(scene, 1, BAN, &moved));
    assert_false(moved);
    check_status(scene, OFFER_DELETED, 2);
}

static void expect_damaged(struct scene *scene)
{
    const struct reader reader = {.sees_all = true};
    Torg__V1__Offer *offer;
    struct err err;

    assert_int_equal(
        offers_get(&scene->place.offers, &reader, scene->id, scene->arena, &offer, &err),
        ERR_CORRUPT);
    assert_int_equal(
        read_integer(scene->place.store, "SELECT COUNT(*) FROM offer WHERE kind = 'damaged'"), 0);
}

/* It would end the ban otherwise. */
static void a_stale_ban_leaves_a_damaged_offer_banned(void **state)
{
    struct scene *scene = start(state);
    struct author author = author_of("s", scene->arena);
    Torg__V1__OfferReceipt receipt = TORG__V1__OFFER_RECEIPT__INIT;
    struct err err;
    bool moved;

    assert_true(give(scene, 5, BAN, &moved));
    damage_body(scene);
    assert_false(give(scene, 5, BAN, &moved));
    assert_false(give(scene, 4, BAN, &moved));
    expect_damaged(scene);
    expect_counted(scene, TORG__V1__CABINET__PRESET__BANNED);
    assert_int_equal(
        offers_move(&scene->place.offers, &author, scene->id, 0, MOVE_REPUBLISH, &receipt, &err),
        ERR_CORRUPT);
    assert_true(give(scene, 6, BAN, &moved));
    check_status(scene, OFFER_BANNED, 3);
    expect_counted(scene, TORG__V1__CABINET__PRESET__BANNED);
    assert_false(give(scene, 6, BAN, &moved));
    check_status(scene, OFFER_BANNED, 3);
    assert_true(give(scene, 7, PASS, &moved));
    check_status(scene, OFFER_WITHDRAWN, 4);
}

/* What buyers see of it goes on until somebody decides anew. */
static void a_stale_ban_does_not_touch_a_damaged_offer(void **state)
{
    struct scene *scene = start(state);
    bool moved;

    assert_true(give(scene, 1, BAN, &moved));
    assert_true(give(scene, 2, PASS, &moved));
    damage_body(scene);
    assert_false(give(scene, 1, BAN, &moved));
    assert_false(moved);
    expect_damaged(scene);
    expect_counted(scene, TORG__V1__CABINET__PRESET__ACTIVE);
    assert_int_equal(read_integer(scene->place.store, "SELECT COUNT(*) FROM queue"), 3);
}

static int try_ban(struct scene *scene)
{
    const Torg__V1__ModerationOpinion opinion = opinion_of(scene, 1, BAN);
    Torg__V1__GiveOpinionResponse answer = TORG__V1__GIVE_OPINION_RESPONSE__INIT;
    struct err err;

    return moderation_apply(&scene->place.offers, NULL, &opinion, scene->arena, &answer, &err);
}

/* Whichever of its transactions is the first that fails: half of it is never there. */
static void a_damaged_offer_is_banned_wholly_or_not_at_all(void **state)
{
    struct scene *scene = start(state);
    unsigned count = 0;

    damage_body(scene);
    store_fault_arm(scene->place.store, STORE_FAULT_COMMIT, count, 1);
    while (try_ban(scene)) {
        store_fault_arm(scene->place.store, STORE_FAULT_COMMIT, 0, 0);
        expect_damaged(scene);
        assert_true(++count < TRANSACTION_COUNT_MAX);
        store_fault_arm(scene->place.store, STORE_FAULT_COMMIT, count, 1);
    }
    store_fault_arm(scene->place.store, STORE_FAULT_COMMIT, 0, 0);
    assert_true(count > 0);
    check_status(scene, OFFER_BANNED, 2);
    expect_counted(scene, TORG__V1__CABINET__PRESET__BANNED);
}

/* All lists are searched for its seller, and there may be too many. Nothing else may fail so. */
static void a_damaged_offer_is_banned_though_its_seller_is_not_found_in_time(void **state)
{
    struct scene *scene = start(state);
    unsigned count = 0;
    int rc = ERR_TIMEOUT;

    damage_body(scene);
    for (; rc == ERR_TIMEOUT && count < STATEMENT_COUNT_MAX; count++) {
        store_fault_arm(scene->place.store, STORE_FAULT_TIMEOUT, count, 1);
        rc = try_ban(scene);
        store_fault_arm(scene->place.store, STORE_FAULT_TIMEOUT, 0, 0);
        if (rc)
            expect_damaged(scene);
    }
    assert_int_equal(rc, 0);
    check_status(scene, OFFER_BANNED, 2);
    assert_string_equal(offer_of(scene)->seller, DAMAGED_OFFER_SELLER);
}

/* Only what takes it down may do without what it says. */
static void a_damaged_offer_is_not_shown_by_an_opinion(void **state)
{
    struct scene *scene = start(state);
    const Torg__V1__ModerationOpinion opinion = opinion_of(scene, 2, PASS);
    Torg__V1__GiveOpinionResponse answer = TORG__V1__GIVE_OPINION_RESPONSE__INIT;
    struct err err;
    bool moved;

    assert_true(give(scene, 1, BAN, &moved));
    damage_body(scene);
    assert_int_equal(
        moderation_apply(&scene->place.offers, NULL, &opinion, scene->arena, &answer, &err),
        ERR_CORRUPT);
    assert_false(answer.applied);
}

static void a_stale_opinion_changes_nothing(void **state)
{
    struct scene *scene = start(state);
    Torg__V1__Moderation *kept;
    struct err err;
    bool moved;

    assert_true(give(scene, 5, PASS, &moved));
    assert_false(moved);
    assert_false(give(scene, 4, BAN, &moved));
    assert_false(moved);
    assert_false(give(scene, 5, BAN, &moved));
    check(scene, OFFER_ACTIVE, 1);
    assert_true(give(scene, 6, BAN, &moved));
    assert_false(give(scene, 6, BAN, &moved)); /* it came twice */
    assert_false(give(scene, 5, PASS, &moved));
    check(scene, OFFER_BANNED, 2);
    OK(moderation_get(&scene->place.offers, scene->id, scene->arena, &kept, &err));
    assert_int_equal(kept->opinion->revision, 6);
}

static void an_opinion_that_moves_nothing_is_kept(void **state)
{
    struct scene *scene = start(state);
    bool moved;

    assert_true(give(scene, 1, BAN, &moved));
    assert_true(give(scene, 2, BAN, &moved)); /* other reasons */
    assert_false(moved);
    check(scene, OFFER_BANNED, 2);
    move(scene, MOVE_DELETE);
    assert_true(give(scene, 3, PASS, &moved));
    assert_false(moved);
    check(scene, OFFER_DELETED, 3);
}

/* Whatever its seller made of it before: once banned, none of his moves shows it again. */
static void no_move_of_the_seller_ends_a_ban(void **state)
{
    static const enum offer_move before[] = {MOVE_UPDATE /* none */, MOVE_WITHDRAW, MOVE_EXPIRE,
                                             MOVE_SELL_ON_SITE, MOVE_SELL_ELSEWHERE};
    struct scene *scene = start(state);
    int64_t revision = 0;
    bool moved;

    for (size_t i = 0; i < ARRAY_COUNT(before); i++) {
        struct author author = author_of("s", scene->arena);
        Torg__V1__OfferReceipt receipt = TORG__V1__OFFER_RECEIPT__INIT;
        enum offer_status was;
        struct err err;

        if (before[i] != MOVE_UPDATE)
            move(scene, before[i]);
        was = (enum offer_status)offer_of(scene)->status;
        assert_true(give(scene, ++revision, BAN, &moved) && moved);
        for (int how = MOVE_PROLONG; how < MOVE_DELETE; how++)
            assert_int_equal(offers_move(&scene->place.offers, &author, scene->id, 0,
                                         (enum offer_move)how, &receipt, &err),
                             ERR_PRECONDITION);
        OK(offers_update(&scene->place.offers, &author, scene->id, offer_of(scene)->revision,
                         content_of(scene->arena, "books", 1, 1, "RUB"), &receipt, &err));
        assert_int_equal(receipt.status, OFFER_BANNED);
        assert_true(give(scene, ++revision, PASS, &moved) && moved);
        assert_int_equal(offer_of(scene)->status, was);
        if (was != OFFER_ACTIVE)
            move(scene, was == OFFER_EXPIRED ? MOVE_PROLONG : MOVE_REPUBLISH);
    }
    place_recount(&scene->place);
}

static void wrong_opinions_are_told_by_field(void **state)
{
    struct scene *scene = start(state);
    Torg__V1__ModerationOpinion opinion = TORG__V1__MODERATION_OPINION__INIT;
    Torg__V1__GiveOpinionResponse answer = TORG__V1__GIVE_OPINION_RESPONSE__INIT;
    struct violations violations = violations_in(scene->arena);
    char nobody[OFFER_ID_TEXT_SIZE];
    struct err err;

    assert_int_equal(opinion_check(&opinion, &violations), 3); /* offer_id, revision, verdict */
    opinion = opinion_of(scene, 1, BAN);
    assert_int_equal(opinion_check(&opinion, &violations), 0);
    opinion.n_reasons = 0;
    assert_int_equal(opinion_check(&opinion, &violations), 1);
    opinion.n_reasons = 1;
    offer_id_format(offer_id_make(1), nobody);
    opinion.offer_id = nobody;
    assert_int_equal(
        moderation_apply(&scene->place.offers, NULL, &opinion, scene->arena, &answer, &err),
        ERR_NOT_FOUND);
}

/* --- by the topic --- */

static void produce(struct topics *topics, struct scene *scene, struct bytes value)
{
    const struct topic_record record = {.key = bytes_of(scene->id_text), .value = value};
    struct err err;

    OK(topic_produce(topics, TOPIC_OPINIONS, &record, 1, NULL, &err));
}

static void produce_opinion(struct topics *topics, struct scene *scene, int64_t revision,
                            int verdict)
{
    const Torg__V1__ModerationOpinion opinion = opinion_of(scene, revision, verdict);
    struct buf wire = BUF_INIT(1024);

    message_encode(&opinion.base, &wire);
    produce(topics, scene, buf_bytes(&wire));
    buf_release(&wire);
}

static void opinions_come_by_the_topic(void **state)
{
    struct scene *scene = start(state);
    int64_t until = clock_mono_us(clock_system()) + (int64_t)WAIT_MS * MS_US;
    struct inbox *opinions;
    struct topics *topics;
    struct err err;

    OK(topics_open("memory:", NULL, &topics, &err));
    OK(inbox_start_opinions(&scene->place.offers, topics, &opinions, &err));
    produce(topics, scene, bytes_of("\xff no message"));
    produce_opinion(topics, scene, 2, BAN);
    produce_opinion(topics, scene, 1, PASS);
    produce_opinion(topics, scene, 3, PASS);
    produce_opinion(topics, scene, 4, BAN);
    while (offer_of(scene)->revision < 4 && clock_mono_us(clock_system()) < until)
        pause_ms(10);
    inbox_stop(opinions);
    topics_close(topics);
    check(scene, OFFER_BANNED, 4);
}

/* --- stages --- */

static int put(struct scene *scene, const char *stage, int64_t expected, const char *value)
{
    Torg__V1__StageState state = TORG__V1__STAGE_STATE__INIT;
    struct err err;

    return stage_put(&scene->place.offers, NULL, scene->id, stage, expected, bytes_of(value),
                     scene->arena, &state, &err);
}

static void a_stage_keeps_its_state_by_compare_and_set(void **state)
{
    struct scene *scene = start(state);
    Torg__V1__StageState kept = TORG__V1__STAGE_STATE__INIT;
    struct err err;

    assert_int_equal(stage_get(&scene->place.offers, scene->id, "spell", scene->arena, &kept, &err),
                     ERR_NOT_FOUND);
    assert_int_equal(put(scene, "spell", 1, "x"), ERR_CONFLICT);
    assert_int_equal(put(scene, "spell", 0, "one"), 0);
    assert_int_equal(put(scene, "spell", 0, "again"), ERR_CONFLICT);
    assert_int_equal(put(scene, "spell", 1, "two"), 0);
    assert_int_equal(put(scene, "other", 0, "mine"), 0);
    OK(stage_get(&scene->place.offers, scene->id, "spell", scene->arena, &kept, &err));
    assert_int_equal(kept.revision, 2);
    assert_true(bytes_equal_text(bytes_make(kept.value.data, kept.value.len), "two"));
    assert_int_equal(stage_put(&scene->place.offers, NULL, offer_id_make(1), "spell", 0,
                               bytes_of("x"), scene->arena, &kept, &err),
                     ERR_NOT_FOUND);
    check(scene, OFFER_ACTIVE, 1); /* the offer knows nothing of it */
    assert_int_equal(read_integer(scene->place.store, "SELECT COUNT(*) FROM queue"), 1);
}

static void names_and_sizes_of_stages_have_limits(void **state)
{
    struct scene *scene = start(state);
    static uint8_t large[STAGE_VALUE_SIZE_MAX + 1];
    Torg__V1__StageState kept = TORG__V1__STAGE_STATE__INIT;
    struct err err;

    assert_int_equal(stage_check_name("spell-2", &err), 0);
    assert_int_equal(stage_check_name("", &err), ERR_INVALID);
    assert_int_equal(stage_check_name("a/b", &err), ERR_INVALID);
    assert_int_equal(stage_check_name("Spell", &err), ERR_INVALID);
    assert_int_equal(stage_put(&scene->place.offers, NULL, scene->id, "spell", 0,
                               bytes_make(large, sizeof(large)), scene->arena, &kept, &err),
                     ERR_LIMIT);
    OK(stage_put(&scene->place.offers, NULL, scene->id, "spell", 0,
                 bytes_make(large, sizeof(large) - 1), scene->arena, &kept, &err));
}

/* --- the list of cases --- */

static const struct test_case cases[] = {
    CASE(no_damage_of_the_cabinet_shields_an_offer),
    CASE(a_damaged_offer_can_be_banned),
    CASE(a_damaged_offer_keeps_its_external_id),
    CASE(a_damaged_offer_of_nobody_can_be_banned),
    CASE(a_damaged_offer_that_is_deleted_stays_so),
    CASE(a_damaged_offer_is_not_shown_by_an_opinion),
    CASE(a_stale_ban_leaves_a_damaged_offer_banned),
    CASE(a_stale_ban_does_not_touch_a_damaged_offer),
    CASE(a_damaged_offer_is_banned_wholly_or_not_at_all),
    CASE(a_damaged_offer_is_banned_though_its_seller_is_not_found_in_time),
    CASE(a_ban_and_its_end_are_changes_of_the_offer),
    CASE(a_stale_opinion_changes_nothing),
    CASE(an_opinion_that_moves_nothing_is_kept),
    CASE(no_move_of_the_seller_ends_a_ban),
    CASE(wrong_opinions_are_told_by_field),
    CASE(opinions_come_by_the_topic),
    CASE(a_stage_keeps_its_state_by_compare_and_set),
    CASE(names_and_sizes_of_stages_have_limits),
};

int main(int argc, char **argv)
{
    static struct case_list list = {
        .name = "offers-moderation", .set_up = set_up, .tear_down = tear_down};

    cases_on_stores(&list, cases, ARRAY_COUNT(cases));
    return cases_run(&list, argc, argv);
}
