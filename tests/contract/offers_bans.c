/* SPDX-License-Identifier: Apache-2.0 */
/* offers_bans.c - opinions on offers that feeds and undos bring back, on every store. */
#include "codec/moment.h"
#include "contract/feeds_fixture.h"

#include <string.h>

#include "base/memory.h"
#include "feeds/apply/keep.h"
#include "offers/record/offer_record.h"

static int set_up(void **state)
{
    static struct feed_scene scene;
    bool postgres = case_on_servers(state);

    *state = feed_scene_open(&scene, postgres) ? &scene : NULL;
    return 0;
}

static int tear_down(void **state)
{
    struct feed_scene *scene = *state;

    if (scene) {
        check_items(scene);
        feed_scene_close(scene);
    }
    return 0;
}

static struct feed_scene *start(void **state)
{
    if (!*state)
        skip();
    return *state;
}

static const char *id_named(struct feed_scene *scene, const char *name)
{
    return item_offer(scene, name)->id;
}

static void keep(struct feed_scene *scene)
{
    const atomic_bool stopping = false;
    struct feed_kept kept = {0};
    struct err err = {0};

    OK(feed_keep(&scene->place.offers, &stopping, &kept, &err));
}

/* --- by a feed --- */

static void a_ban_of_a_deleted_offer_holds_when_a_feed_brings_it_back(void **state)
{
    struct feed_scene *scene = start(state);
    const char *id;

    run_task(scene, 1, "a=1 b=1");
    id = id_named(scene, "a");
    run_task(scene, 2, "b=1");
    assert_true(judge(scene, id, 1, true));
    assert_int_equal(item_offer(scene, "a")->status, OFFER_DELETED);
    assert_string_equal(told(scene, run_task(scene, 3, "a=2 b=1")),
                        "DONE rows 2 unchanged 1 banned 1");
    assert_string_equal(shown(scene), "a=2:BANNED b=1");
    assert_string_equal(id_named(scene, "a"), id);
    assert_true(judge(scene, id, 2, false)); /* it is shown, and lives from now on */
    assert_string_equal(shown(scene), "a=2 b=1");
    assert_true(moment_own_us(item_offer(scene, "a")->expire_time) >
                clock_wall_us(&scene->place.clock.base));
}

static void the_newest_opinion_on_a_deleted_offer_holds(void **state)
{
    struct feed_scene *scene = start(state);
    const char *a, *b, *c;

    run_task(scene, 1, "a=1 b=1 c=1 z=1");
    a = id_named(scene, "a");
    b = id_named(scene, "b");
    c = id_named(scene, "c");
    assert_true(judge(scene, a, 1, true));
    run_task(scene, 2, "z=1");
    assert_true(judge(scene, a, 2, false)); /* banned before, and no longer */
    assert_true(judge(scene, b, 3, true));
    assert_true(judge(scene, b, 4, false));
    assert_true(judge(scene, c, 6, true));
    assert_false(judge(scene, c, 5, false)); /* it comes late */
    assert_string_equal(told(scene, run_task(scene, 3, "a=1 b=1 c=1 z=1")),
                        "DONE rows 4 unchanged 1 banned 1 revived 2");
    assert_string_equal(shown(scene), "a=1 b=1 c=1:BANNED z=1");
    assert_int_equal(item_offer(scene, "a")->status_before_ban, OFFER_NONE);
}

/* A feed may delete a hundred thousand at once: those must not stand before a moderator's ban. */
static void a_ban_overtakes_and_what_a_feed_deletes_does_not(void **state)
{
    struct feed_scene *scene = start(state);

    run_task(scene, 1, "a=1 b=1 c=1");
    run_task(scene, 2, "b=1 c=1");
    undo(scene, 1);
    assert_int_equal(
        read_integer(scene->place.store, "SELECT COUNT(*) FROM queue WHERE urgent > 0"), 0);
    run_task(scene, 3, "a=1 b=1 c=1");
    assert_true(judge(scene, id_named(scene, "a"), 1, true));
    move_item(scene, "b", MOVE_DELETE);
    move_item(scene, "c", MOVE_WITHDRAW);
    assert_int_equal(
        read_integer(scene->place.store, "SELECT COUNT(*) FROM queue WHERE urgent > 0"), 2);
}

static Torg__V1__OfferContent *content_named(struct feed_scene *scene, const char *name)
{
    Torg__V1__OfferContent *content = content_of(scene->arena, "books", 1, 100, "RUB");

    content->external_id = (char *)name;
    return content;
}

static int publish(struct feed_scene *scene, const char *name, struct err *err)
{
    struct author author = author_of(scene->seller, scene->arena);
    Torg__V1__OfferReceipt receipt = TORG__V1__OFFER_RECEIPT__INIT;

    return offers_create(&scene->place.offers, &author, content_named(scene, name), &receipt, err);
}

static int rename_to(struct feed_scene *scene, const char *from, const char *to, struct err *err)
{
    struct author author = author_of(scene->seller, scene->arena);
    Torg__V1__OfferReceipt receipt = TORG__V1__OFFER_RECEIPT__INIT;
    const Torg__V1__Offer *offer = item_offer(scene, from);

    return offers_update(&scene->place.offers, &author, id_of(offer->id), offer->revision,
                         content_named(scene, to), &receipt, err);
}

/* Neither by hand under its name, nor under its name when it has got another. */
static void a_banned_offer_keeps_its_name(void **state)
{
    struct feed_scene *scene = start(state);
    struct err err = {0};
    const char *id;

    run_task(scene, 1, "a=1 b=1 c=1");
    id = id_named(scene, "a");
    assert_true(judge(scene, id, 1, true));
    assert_int_equal(rename_to(scene, "a", "x", &err), ERR_PRECONDITION);
    assert_non_null(strstr(err.text, "content.external_id"));
    assert_int_equal(rename_to(scene, "a", "", &err), ERR_PRECONDITION);
    OK(rename_to(scene, "a", "a", &err));
    assert_int_equal(publish(scene, "a", &err), ERR_EXISTS);
    move_item(scene, "a", MOVE_DELETE);
    move_item(scene, "b", MOVE_DELETE);
    assert_int_equal(publish(scene, "a", &err), ERR_PRECONDITION);
    assert_non_null(strstr(err.text, id));
    assert_int_equal(rename_to(scene, "c", "a", &err), ERR_PRECONDITION);
    OK(publish(scene, "b", &err)); /* nobody has banned that one */
    clock_manual_advance(&scene->place.clock, 2 * scene->rules.revive_us);
    keep(scene);
    assert_int_equal(publish(scene, "a", &err), ERR_PRECONDITION);
    assert_true(judge(scene, id, 2, false));
    OK(publish(scene, "a", &err));
}

/* As another offer, with another id, it would be rid of its ban. */
static void a_banned_item_that_comes_back_late_is_the_same_offer(void **state)
{
    struct feed_scene *scene = start(state);
    const char *before, *after, *passed;

    run_task(scene, 1, "a=1 b=1 c=1 z=1");
    before = id_named(scene, "a");
    after = id_named(scene, "b");
    passed = id_named(scene, "c");
    assert_true(judge(scene, before, 1, true));
    run_task(scene, 2, "z=1");
    assert_true(judge(scene, after, 1, true));
    assert_true(judge(scene, passed, 1, true));
    clock_manual_advance(&scene->place.clock, 2 * scene->rules.revive_us);
    keep(scene);
    assert_true(judge(scene, passed, 2, false));
    run_task(scene, 3, "a=2 b=2 c=2 z=1");
    assert_string_equal(shown(scene), "a=2:BANNED b=2:BANNED c=2 z=1");
    assert_string_equal(id_named(scene, "a"), before);
    assert_string_equal(id_named(scene, "b"), after);
    assert_string_not_equal(id_named(scene, "c"), passed); /* it has been gone for too long */
}

static void a_ban_finds_a_name_that_is_forgotten(void **state)
{
    struct feed_scene *scene = start(state);
    const char *banned, *taken;

    run_task(scene, 1, "a=1 b=1 c=1 z=1");
    banned = id_named(scene, "a");
    taken = id_named(scene, "b");
    assert_true(judge(scene, id_named(scene, "c"), 1, false));
    run_task(scene, 2, "z=1");
    clock_manual_advance(&scene->place.clock, 2 * scene->rules.revive_us);
    keep(scene);
    assert_null(item_offer(scene, "a"));
    assert_null(item_offer(scene, "c"));
    run_task(scene, 3, "b=2 z=1");
    assert_true(judge(scene, banned, 1, true));
    assert_true(judge(scene, taken, 1, true)); /* its name is another offer's */
    run_task(scene, 4, "a=2 b=2 c=2 z=1");
    assert_string_equal(shown(scene), "a=2:BANNED b=2 c=2 z=1");
    assert_string_equal(id_named(scene, "a"), banned);
}

/* --- by an undo --- */

static void an_undo_obeys_the_newest_opinion(void **state)
{
    struct feed_scene *scene = start(state);
    const char *banned, *passed, *withdrawn;

    run_task(scene, 1, "a=1 b=1 c=1 z=1");
    banned = id_named(scene, "a");
    passed = id_named(scene, "b");
    withdrawn = id_named(scene, "c");
    move_item(scene, "c", MOVE_WITHDRAW);
    assert_true(judge(scene, passed, 1, true));
    assert_true(judge(scene, withdrawn, 1, true));
    run_task(scene, 2, "z=1");
    assert_true(judge(scene, banned, 1, true));
    assert_true(judge(scene, passed, 2, false));
    assert_true(judge(scene, withdrawn, 2, false));
    assert_string_equal(told(scene, undo(scene, 2)),
                        "UNDONE rows 1 unchanged 1 deleted 3 undone 3");
    assert_string_equal(shown(scene), "a=1:BANNED b=1 c=1:WITHDRAWN z=1");
    assert_true(judge(scene, banned, 2, false));
    assert_string_equal(shown(scene), "a=1 b=1 c=1:WITHDRAWN z=1");
}

/* The record of a row keeps the status before its first change, which a ban may have followed. */
static void an_undo_of_a_row_sent_twice_keeps_the_ban(void **state)
{
    struct feed_scene *scene = start(state);
    struct err err = {0};

    run_task(scene, 1, "a=1 z=1");
    OK(try_rows(scene, 2, "a=2 z=1", 0, &err));
    assert_true(judge(scene, id_named(scene, "a"), 1, true));
    OK(try_rows(scene, 2, "-a z=1", 0, &err));
    OK(try_end(scene, 2, 2, NULL, &err));
    undo(scene, 2);
    assert_string_equal(shown(scene), "a=1:BANNED z=1");
}

/* --- at the same time --- */

struct race {
    struct feed_scene *scene;
    struct catalog *(*catalog)(void *arg);
    void *catalog_arg;
    const char *id;
    int64_t revision;
};

/* Asked for after what is there was read, and before the change is written. */
static struct catalog *ban_meanwhile(void *arg)
{
    struct race *race = arg;

    if (race->id) {
        const char *id = race->id;

        race->id = NULL;
        assert_true(judge(race->scene, id, race->revision, true));
    }
    return race->catalog(race->catalog_arg);
}

static void race_with(struct race *race, const char *id, int64_t revision)
{
    struct offers *offers = &race->scene->place.offers;

    race->catalog = offers->catalog;
    race->catalog_arg = offers->catalog_arg;
    race->id = id;
    race->revision = revision;
    offers->catalog = ban_meanwhile;
    offers->catalog_arg = race;
}

static void race_end(struct race *race)
{
    struct offers *offers = &race->scene->place.offers;

    assert_null(race->id);
    offers->catalog = race->catalog;
    offers->catalog_arg = race->catalog_arg;
}

static void a_ban_that_comes_during_the_change_holds(void **state)
{
    struct feed_scene *scene = start(state);
    struct race race = {.scene = scene};
    const char *id;

    run_task(scene, 1, "a=1 z=1");
    id = id_named(scene, "a");
    run_task(scene, 2, "z=1");
    race_with(&race, id, 1);
    run_task(scene, 3, "a=1");
    race_end(&race);
    assert_string_equal(shown(scene), "a=1:BANNED");
    assert_true(judge(scene, id, 2, false));
    run_task(scene, 4, "z=1");
    race_with(&race, id, 3);
    undo(scene, 4);
    race_end(&race);
    assert_string_equal(shown(scene), "a=1:BANNED");
}

/* --- the list of cases --- */

static const struct test_case cases[] = {
    CASE(a_ban_of_a_deleted_offer_holds_when_a_feed_brings_it_back),
    CASE(the_newest_opinion_on_a_deleted_offer_holds),
    CASE(a_ban_overtakes_and_what_a_feed_deletes_does_not),
    CASE(a_banned_offer_keeps_its_name),
    CASE(a_banned_item_that_comes_back_late_is_the_same_offer),
    CASE(a_ban_finds_a_name_that_is_forgotten),
    CASE(an_undo_obeys_the_newest_opinion),
    CASE(an_undo_of_a_row_sent_twice_keeps_the_ban),
    CASE(a_ban_that_comes_during_the_change_holds),
};

int main(int argc, char **argv)
{
    static struct case_list list = {
        .name = "offers-bans", .set_up = set_up, .tear_down = tear_down};

    cases_on_stores(&list, cases, ARRAY_COUNT(cases));
    return cases_run(&list, argc, argv);
}
