/* SPDX-License-Identifier: Apache-2.0 */
/* offers_feeds.c - feeds applied to offers, on every store. */
#include "contract/feeds_fixture.h"

#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/memory.h"
#include "feeds/apply/apply.h"
#include "feeds/apply/undo.h"
#include "feeds/bounds.h"
#include "offers/bounds.h"
#include "offers/change/photos.h"

enum { HELD_COUNT = 11 }; /* one more than the guard's least */

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

static int64_t offer_changes(struct feed_scene *scene)
{
    return read_integer(scene->place.store, "SELECT COUNT(*) FROM queue");
}

/* "p1=1 p2=1 …" from `from` to `to`. */
static const char *many(struct feed_scene *scene, int from, int to)
{
    struct buf text = BUF_INIT(1 << 20);
    const char *kept;

    for (int i = from; i <= to; i++)
        buf_printf(&text, "%sp%d=1", i > from ? " " : "", i);
    kept = arena_strdup(scene->arena, buf_text(&text));
    buf_release(&text);
    return kept;
}

/* --- rows --- */

static void rows_create_update_and_leave_alone(void **state)
{
    struct feed_scene *scene = start(state);
    int64_t changes;
    const char *id;

    assert_string_equal(told(scene, run_task(scene, 1, "a=1 b=2 c=3")), "DONE rows 3 created 3");
    assert_string_equal(shown(scene), "a=1 b=2 c=3");
    assert_string_equal(report(scene, 1), "1 a CREATED; 2 b CREATED; 3 c CREATED");
    id = item_offer(scene, "b")->id;
    changes = offer_changes(scene);
    assert_string_equal(told(scene, run_task(scene, 2, "a=1 b=5 c=3")),
                        "DONE rows 3 updated 1 unchanged 2");
    assert_string_equal(shown(scene), "a=1 b=5 c=3");
    assert_string_equal(item_offer(scene, "b")->id, id);
    assert_int_equal(item_offer(scene, "b")->revision, 2);
    assert_int_equal(item_offer(scene, "a")->revision, 1);
    assert_int_equal(offer_changes(scene), changes + 1); /* nothing is written for the others */
}

static void what_the_feed_no_longer_has_is_deleted(void **state)
{
    struct feed_scene *scene = start(state);

    run_task(scene, 1, "a=1 b=2 c=3");
    assert_string_equal(told(scene, run_task(scene, 5, "b=2 d=4")),
                        "DONE rows 2 created 1 unchanged 1 deleted 2");
    assert_string_equal(shown(scene), "b=2 d=4");
    assert_string_equal(report(scene, 5), "1 b UNCHANGED; 2 d CREATED; - a DELETED; - c DELETED");
    assert_int_equal(item_offer(scene, "a")->status, TORG__V1__OFFER__STATUS__DELETED);
}

static void a_row_is_refused_alone_and_its_offer_stays(void **state)
{
    struct feed_scene *scene = start(state);

    run_task(scene, 1, "a=1 b=2");
    assert_string_equal(told(scene, run_task(scene, 2, "x=? a=? b=3")),
                        "DONE rows 3 updated 1 refused 2");
    assert_string_equal(told(scene, run_task(scene, 2, "x=? a=? b=3")), /* and again */
                        "DONE rows 3 updated 1 refused 2");
    assert_string_equal(shown(scene), "a=1 b=3"); /* a is in the feed, though refused */
    assert_string_equal(report(scene, 2),
                        "1 x REFUSED content.title; 2 a REFUSED content.title; 3 b UPDATED");
}

static void a_row_has_all_reasons(void **state)
{
    struct feed_scene *scene = start(state);
    struct feed_key key = key_of(scene, 1);
    size_t count;
    Torg__V1__FeedEvent **events = events_of(scene, "a=?", 0, &count);
    struct feed_task task;
    struct err err = {0};

    events[0]->upsert->content->price->currency = arena_strdup(scene->arena, "ZZZ");
    OK(feed_task_open(&scene->place.offers, &key, FEED_REAL, scene->arena, &task, &err));
    OK(feed_apply_rows(&scene->place.offers, &key, LANGUAGE_EN, events, count, &err));
    assert_string_equal(report(scene, 1), "1 a REFUSED content.title content.price.currency");
}

static void an_item_without_an_id_is_known_by_its_content(void **state)
{
    struct feed_scene *scene = start(state);
    const char *first;

    assert_string_equal(told(scene, run_task(scene, 1, "=1 =2")), "DONE rows 2 created 2");
    first = shown(scene);
    assert_string_equal(told(scene, run_task(scene, 2, "=2 =1")), "DONE rows 2 unchanged 2");
    assert_string_equal(shown(scene), first);
    assert_string_equal(told(scene, run_task(scene, 3, "=1 =3")),
                        "DONE rows 2 created 1 unchanged 1 deleted 1");
}

static void a_ban_stays(void **state)
{
    struct feed_scene *scene = start(state);

    run_task(scene, 1, "a=1 b=1");
    move_item(scene, "a", MOVE_BAN);
    assert_string_equal(told(scene, run_task(scene, 2, "a=2 b=1")),
                        "DONE rows 2 unchanged 1 banned 1");
    assert_string_equal(shown(scene), "a=2:BANNED b=1");
    assert_string_equal(told(scene, run_task(scene, 3, "b=1")),
                        "DONE rows 1 unchanged 1 deleted 1");
    assert_string_equal(told(scene, run_task(scene, 4, "a=3 b=1")),
                        "DONE rows 2 unchanged 1 banned 1"); /* revived, and still banned */
    assert_string_equal(shown(scene), "a=3:BANNED b=1");
}

static void other_statuses_stay_and_the_expired_comes_back(void **state)
{
    struct feed_scene *scene = start(state);

    run_task(scene, 1, "a=1 b=1 c=1");
    move_item(scene, "a", MOVE_WITHDRAW);
    move_item(scene, "b", MOVE_SELL_ON_SITE);
    move_item(scene, "c", MOVE_EXPIRE);
    assert_string_equal(told(scene, run_task(scene, 2, "a=2 b=2 c=1")),
                        "DONE rows 3 updated 2 unchanged 1");
    assert_string_equal(shown(scene), "a=2:WITHDRAWN b=1:SOLD_ON_SITE c=1");
    assert_string_equal(report(scene, 2),
                        "1 a UPDATED; 2 b UNCHANGED (the offer is SOLD_ON_SITE and stays so); "
                        "3 c UPDATED (the offer had expired and is prolonged)");
}

static void what_is_not_available_is_withdrawn_and_comes_back(void **state)
{
    struct feed_scene *scene = start(state);
    const char *id;

    assert_string_equal(told(scene, run_task(scene, 1, "a=1 b=1! c=1")), "DONE rows 3 created 3");
    assert_string_equal(shown(scene), "a=1 b=1:WITHDRAWN c=1");
    assert_int_equal(item_offer(scene, "b")->revision, 1);
    id = item_offer(scene, "a")->id;
    move_item(scene, "c", MOVE_EXPIRE);
    assert_string_equal(told(scene, run_task(scene, 2, "a=2! b=1! c=1!")),
                        "DONE rows 3 updated 2 unchanged 1 withdrawn 1");
    assert_string_equal(shown(scene), "a=2:WITHDRAWN b=1:WITHDRAWN c=1:WITHDRAWN");
    assert_string_equal(report(scene, 2), "1 a UPDATED (is not available: the offer is withdrawn); "
                                          "2 b UNCHANGED; "
                                          "3 c UPDATED (is not available: the offer is withdrawn)");
    assert_string_equal(told(scene, run_task(scene, 3, "a=3 b=1 c=1!")),
                        "DONE rows 3 updated 2 unchanged 1");
    assert_string_equal(shown(scene), "a=3 b=1 c=1:WITHDRAWN");
    assert_string_equal(item_offer(scene, "a")->id, id);
    undo(scene, 3);
    assert_string_equal(shown(scene), "a=2:WITHDRAWN b=1:WITHDRAWN c=1:WITHDRAWN");
    run_task(scene, 4, "a=2 b=1 c=1"); /* undone, they are still the feed's to bring back */
    assert_string_equal(shown(scene), "a=2 b=1 c=1");
}

static void a_sellers_hand_counts_above_his_feed(void **state)
{
    struct feed_scene *scene = start(state);

    run_task(scene, 1, "a=1! b=1 c=1! d=1");
    move_item(scene, "a", MOVE_REPUBLISH);
    move_item(scene, "b", MOVE_WITHDRAW);
    move_item(scene, "c", MOVE_REPUBLISH); /* and thinks again */
    move_item(scene, "c", MOVE_WITHDRAW);
    move_item(scene, "d", MOVE_SELL_ELSEWHERE);
    run_task(scene, 2, "a=1! b=1! c=1! d=1!");
    assert_string_equal(shown(scene), "a=1 b=1:WITHDRAWN c=1:WITHDRAWN d=1:SOLD_ELSEWHERE");
    run_task(scene, 3, "a=1 b=1 c=1 d=1");
    assert_string_equal(shown(scene), "a=1 b=1:WITHDRAWN c=1:WITHDRAWN d=1:SOLD_ELSEWHERE");
    run_task(scene, 4, "a=1! b=1 c=1 d=1"); /* it was available meanwhile: the feed's word is new */
    assert_string_equal(shown(scene),
                        "a=1:WITHDRAWN b=1:WITHDRAWN c=1:WITHDRAWN d=1:SOLD_ELSEWHERE");
}

static void availability_shakes_off_no_ban(void **state)
{
    struct feed_scene *scene = start(state);
    const char *id;

    run_task(scene, 1, "a=1! b=1");
    id = item_offer(scene, "a")->id;
    assert_true(judge(scene, id, item_offer(scene, "a")->revision, true));
    assert_string_equal(told(scene, run_task(scene, 2, "a=2 b=1")),
                        "DONE rows 2 unchanged 1 banned 1");
    assert_string_equal(shown(scene), "a=2:BANNED b=1");
    run_task(scene, 3, "a=2! b=1");
    assert_string_equal(shown(scene), "a=2:BANNED b=1");
    run_task(scene, 4, "b=1"); /* deleted, and back */
    run_task(scene, 5, "a=2! b=1");
    assert_string_equal(shown(scene), "a=2:BANNED b=1");
    assert_true(judge(scene, id, item_offer(scene, "a")->revision, false));
    run_task(scene, 6, "a=2! b=1");
    assert_string_equal(shown(scene), "a=2:WITHDRAWN b=1");
    run_task(scene, 7, "a=2 b=1");
    assert_string_equal(shown(scene), "a=2 b=1");
}

static void a_row_may_delete(void **state)
{
    struct feed_scene *scene = start(state);

    run_task(scene, 1, "a=1 b=1");
    assert_string_equal(told(scene, run_task(scene, 2, "a=1 -b -z")),
                        "DONE rows 3 unchanged 2 deleted 1");
    assert_string_equal(shown(scene), "a=1");
    assert_string_equal(report(scene, 2),
                        "1 a UNCHANGED; 2 b DELETED; 3 z UNCHANGED (there is no such offer)");
}

static void of_two_rows_with_one_id_the_later_holds(void **state)
{
    struct feed_scene *scene = start(state);

    assert_string_equal(told(scene, run_task(scene, 1, "a=1 b=1 a=2")),
                        "DONE rows 3 created 2 unchanged 1");
    assert_string_equal(shown(scene), "a=2 b=1");
    assert_string_equal(told(scene, undo(scene, 1)),
                        "UNDONE rows 3 created 2 unchanged 1 undone 2");
    assert_string_equal(shown(scene), "");
}

/* --- order of tasks, repeats --- */

static void what_a_later_task_has_touched_is_left(void **state)
{
    struct feed_scene *scene = start(state);
    struct err err = {0};

    run_task(scene, 1, "a=1 b=1 c=1");
    OK(try_rows(scene, 3, "a=3", 0, &err));
    OK(try_rows(scene, 2, "a=2 b=2 d=2", 0, &err));
    assert_string_equal(report(scene, 2), "1 a LEFT; 2 b UPDATED; 3 d CREATED");
    assert_string_equal(shown(scene), "a=3 b=2 c=1 d=2");
    OK(try_end(scene, 2, 3, NULL, &err));
    assert_string_equal(shown(scene), "a=3 b=2 d=2");
    OK(try_end(scene, 3, 1, NULL, &err));
    assert_string_equal(shown(scene), "a=3");
}

static void a_task_older_than_one_that_ended_is_refused(void **state)
{
    struct feed_scene *scene = start(state);
    struct err err = {0};

    OK(try_rows(scene, 4, "x=1", 0, &err)); /* opened, and too slow */
    run_task(scene, 5, "a=1 x=1");
    assert_int_equal(try_rows(scene, 3, "b=1", 0, &err), ERR_PRECONDITION);
    assert_int_equal(try_rows(scene, 4, "x=1 b=1", 0, &err), ERR_PRECONDITION);
    assert_non_null(strstr(err.text, "task 5 has ended"));
    assert_int_equal(try_end(scene, 4, 1, NULL, &err), ERR_PRECONDITION);
    assert_string_equal(shown(scene), "a=1 x=1");
}

static void a_task_sent_again_changes_nothing(void **state)
{
    struct feed_scene *scene = start(state);
    struct err err = {0};
    int64_t changes;

    run_task(scene, 1, "z=1 a=1");
    OK(try_rows(scene, 2, "a=2 b=1", 0, &err)); /* and the connection breaks */
    changes = offer_changes(scene);
    move_item(scene, "a", MOVE_WITHDRAW); /* what the seller does meanwhile is not undone by it */
    assert_string_equal(told(scene, run_task(scene, 2, "a=2 b=1 c=1")),
                        "DONE rows 3 created 2 updated 1 deleted 1");
    assert_int_equal(offer_changes(scene), changes + 3); /* withdrawn, c, z */
    assert_string_equal(told(scene, run_task(scene, 2, "a=2 b=1 c=1")),
                        "DONE rows 3 created 2 updated 1 deleted 1");
    assert_int_equal(offer_changes(scene), changes + 3);
    assert_string_equal(shown(scene), "a=2:WITHDRAWN b=1 c=1");
    /* A row that was not there before is not taken by a task that is over. */
    assert_int_equal(try_rows(scene, 2, "a=2 b=1 c=1 d=1", 0, &err), ERR_PRECONDITION);
}

/* Between the reading and the writing of a call's rows another one brings a=1 b=2, and the end. */
static struct offers others;
static int64_t others_task;

static struct catalog *bring_them_first(void *arg)
{
    struct feed_scene *scene = arg;

    scene->place.offers = others;
    run_task(scene, others_task, "a=1 b=2");
    return others.catalog(others.catalog_arg);
}

static int try_rows_late(struct feed_scene *scene, int64_t task_id, const char *rows,
                         struct err *err)
{
    others = scene->place.offers;
    others_task = task_id;
    scene->place.offers.catalog = bring_them_first;
    scene->place.offers.catalog_arg = scene;
    return try_rows(scene, task_id, rows, 0, err);
}

static void rows_sent_again_beside_the_first_call_are_no_fault(void **state)
{
    struct feed_scene *scene = start(state);
    struct err err = {0};

    OK(try_rows_late(scene, 1, "a=1 b=2", &err));
    assert_string_equal(told(scene, get_task(scene, 1)), "DONE rows 2 created 2");
    assert_int_equal(try_rows_late(scene, 2, "a=1 b=3", &err), ERR_PRECONDITION);
    assert_string_equal(err.text, "task 2 of the feed \"main\" is DONE, not RUNNING");
    assert_string_equal(shown(scene), "a=1 b=2");
}

static void a_row_repeated_with_other_content_is_applied(void **state)
{
    struct feed_scene *scene = start(state);
    struct err err = {0};

    run_task(scene, 1, "a=1");
    OK(try_rows(scene, 2, "a=2 b=2", 0, &err));
    assert_string_equal(told(scene, run_task(scene, 2, "a=3 b=3")),
                        "DONE rows 2 created 1 updated 1");
    assert_string_equal(shown(scene), "a=3 b=3");
    undo(scene, 2);
    assert_string_equal(shown(scene), "a=1"); /* not a=2 */
}

static void an_id_that_none_could_follow_is_refused(void **state)
{
    static const int64_t now_ns = INT64_C(1800000000000000) * 1000;
    static const int64_t day_ns = INT64_C(86400) * 1000 * 1000 * 1000;
    struct feed_scene *scene = start(state);
    struct err err = {0};

    run_task(scene, 1, "a=1");
    assert_int_equal(try_rows(scene, INT64_MAX, "a=2", 0, &err), ERR_INVALID);
    assert_non_null(strstr(err.text, "task_id: 9223372036854775807 is too large: the limit is "));
    assert_int_equal(try_rows(scene, now_ns + day_ns + 1, "a=2", 0, &err), ERR_INVALID);
    run_task(scene, 2, "a=2"); /* goes on as it was */
    run_task(scene, now_ns, "a=3");
    run_task(scene, now_ns + day_ns, "a=4");
    clock_manual_advance(&scene->place.clock, 1);
    run_task(scene, now_ns + day_ns + 1, "a=5");
    assert_string_equal(shown(scene), "a=5");
}

/* --- the guard --- */

/* Which offers a held task would delete; none is told without its title and id. */
static const char *doomed(struct feed_scene *scene, int64_t task_id)
{
    struct feed_key key = key_of(scene, task_id);
    struct feed_task task = {.message = get_task(scene, task_id)};
    const char *text = "";
    struct err err = {0};

    OK(feed_end_tell_items(&scene->place.offers, &key, scene->arena, &task, &err));
    for (size_t i = 0; i < task.message->n_first_to_delete; i++) {
        const Torg__V1__FeedItem *item = task.message->first_to_delete[i];

        assert_string_equal(item->title, "thing 1");
        assert_string_equal(item->offer_id, item_offer(scene, item->external_id)->id);
        text = arena_printf(scene->arena, "%s%s%s", text, *text ? " " : "", item->external_id);
    }
    return text;
}

static void so_many_doomed_offers_are_told(void **state)
{
    struct feed_scene *scene = start(state);
    struct feed_key key = key_of(scene, 2);
    struct feed_task task;
    struct err err = {0};

    run_task(scene, 1, many(scene, 1, 40));
    task.message = run_task(scene, 2, "p1=1");
    OK(feed_end_tell_items(&scene->place.offers, &key, scene->arena, &task, &err));
    assert_int_equal(task.message->to_delete, 39);
    assert_int_equal(task.message->n_first_to_delete, FEED_HELD_ITEM_COUNT);
}

static void mass_deletion_is_held_until_confirmed(void **state)
{
    struct feed_scene *scene = start(state);
    Torg__V1__FeedTask *task;

    run_task(scene, 1, many(scene, 1, 30));
    task = run_task(scene, 2, many(scene, HELD_COUNT + 1, 30));
    assert_string_equal(told(scene, task), "HELD MASS_DELETION rows 19 unchanged 19");
    assert_int_equal(task->to_delete, HELD_COUNT);
    assert_int_equal(task->had, 30);
    assert_int_equal(get_task(scene, 2)->state, FEED_HELD);
    assert_string_equal(doomed(scene, 2),
                        "p1 p10 p11 p2 p3 p4 p5 p6 p7 p8 p9"); /* with their titles */
    assert_string_equal(told(scene, confirm(scene, 2)),
                        "DONE MASS_DELETION rows 19 unchanged 19 deleted 11");
    assert_string_equal(doomed(scene, 2), "");
    /* Ten of nineteen are half of it, and few enough. */
    assert_string_equal(told(scene, run_task(scene, 3, many(scene, 22, 30))),
                        "DONE rows 9 unchanged 9 deleted 10");
}

static const char *deletions(struct feed_scene *scene, int first, int last)
{
    struct buf text = BUF_INIT(1 << 16);
    const char *kept;

    for (int i = first; i <= last; i++)
        buf_printf(&text, "%s-p%d", i == first ? "" : " ", i);
    kept = arena_strdup(scene->arena, buf_text(&text));
    buf_release(&text);
    return kept;
}

static void rows_that_delete_are_guarded_too(void **state)
{
    struct feed_scene *scene = start(state);
    struct feed_key key = key_of(scene, 2);
    struct feed_task task;
    struct err err = {0};

    run_task(scene, 1, many(scene, 1, 40));
    OK(feed_task_open(&scene->place.offers, &key, FEED_DRY_RUN, scene->arena, &task, &err));
    assert_string_equal(told(scene, run_task(scene, 2, deletions(scene, 1, 40))),
                        "DONE MASS_DELETION rows 40 deleted 40"); /* what would be held */
    task.message = run_task(scene, 3, deletions(scene, 1, 40));
    assert_string_equal(told(scene, task.message), "HELD MASS_DELETION rows 40 unchanged 40");
    assert_int_equal(task.message->to_delete, 40);
    assert_int_equal(task.message->had, 40);
    assert_int_equal(item_offer(scene, "p1")->status, TORG__V1__OFFER__STATUS__ACTIVE);
    assert_string_equal(told(scene, confirm(scene, 3)), "DONE MASS_DELETION rows 40 deleted 40");
    assert_string_equal(shown(scene), "");
    assert_string_equal(told(scene, undo(scene, 3)),
                        "UNDONE MASS_DELETION rows 40 deleted 40 undone 40");
    assert_int_equal(item_offer(scene, "p1")->status, TORG__V1__OFFER__STATUS__ACTIVE);
    /* Six by rows and seven that are not there: together they are too many. */
    task.message =
        run_task(scene, 4,
                 arena_printf(scene->arena, "%s %s", many(scene, 1, 27), deletions(scene, 28, 33)));
    assert_string_equal(told(scene, task.message), "HELD MASS_DELETION rows 33 unchanged 33");
    assert_int_equal(task.message->to_delete, 13);
}

/* Rows that call p<first> to p<last> not available. */
static const char *many_away(struct feed_scene *scene, int first, int last)
{
    struct buf text = BUF_INIT(1 << 16);
    const char *kept;

    for (int i = first; i <= last; i++)
        buf_printf(&text, "%sp%d=1!", i == first ? "" : " ", i);
    kept = arena_strdup(scene->arena, buf_text(&text));
    buf_release(&text);
    return kept;
}

static int count_shown(struct feed_scene *scene, const char *status)
{
    const char *text = shown(scene);
    int count = 0;

    for (text = strstr(text, status); text; text = strstr(text + 1, status))
        count++;
    return count;
}

static void mass_withdrawal_is_held_until_confirmed(void **state)
{
    struct feed_scene *scene = start(state);
    struct feed_key key = key_of(scene, 3);
    struct feed_task task;
    struct err err = {0};

    run_task(scene, 1, many(scene, 1, 30));
    key.task_id = 2;
    OK(feed_task_open(&scene->place.offers, &key, FEED_DRY_RUN, scene->arena, &task, &err));
    task.message = run_task(scene, 2, many_away(scene, 1, 30));
    assert_string_equal(told(scene, task.message),
                        "DONE MASS_WITHDRAWAL rows 30 updated 30 withdrawn 30");
    assert_int_equal(task.message->to_withdraw, 30);
    assert_int_equal(count_shown(scene, "WITHDRAWN"), 0);
    task.message = run_task(scene, 3, many_away(scene, 1, 30));
    assert_string_equal(told(scene, task.message), "HELD MASS_WITHDRAWAL rows 30 unchanged 30");
    assert_int_equal(task.message->to_withdraw, 30);
    assert_int_equal(task.message->to_delete, 0);
    assert_int_equal(task.message->had, 30);
    assert_int_equal(count_shown(scene, "WITHDRAWN"), 0);
    key.task_id = 3;
    OK(feed_end_tell_items(&scene->place.offers, &key, scene->arena, &task, &err));
    assert_int_equal(task.message->n_first_to_withdraw, FEED_HELD_ITEM_COUNT);
    assert_string_equal(task.message->first_to_withdraw[0]->external_id, "p1");
    assert_string_equal(task.message->first_to_withdraw[0]->title, "thing 1");
    assert_string_equal(told(scene, confirm(scene, 3)),
                        "DONE MASS_WITHDRAWAL rows 30 updated 30 withdrawn 30");
    assert_int_equal(count_shown(scene, "WITHDRAWN"), 30);
    undo(scene, 3);
    assert_int_equal(count_shown(scene, "WITHDRAWN"), 0);
}

static void what_was_away_before_is_no_loss(void **state)
{
    struct feed_scene *scene = start(state);

    run_task(scene, 1, many(scene, 1, 40));
    assert_string_equal(
        told(scene, run_task(scene, 2,
                             arena_printf(scene->arena, "%s %s", many_away(scene, 1, 10),
                                          many(scene, 11, 40)))),
        "DONE rows 40 updated 10 unchanged 30 withdrawn 10");
    /* Eleven of the thirty that are offered: a quarter of the feed, and a third of what is seen. */
    assert_string_equal(
        told(scene, run_task(scene, 3,
                             arena_printf(scene->arena, "%s %s", many_away(scene, 1, 21),
                                          many(scene, 22, 40)))),
        "HELD MASS_WITHDRAWAL rows 40 unchanged 40");
    assert_int_equal(get_task(scene, 3)->to_withdraw, 11);
    /* The next one decides anew. */
    assert_string_equal(
        told(scene, run_task(scene, 4,
                             arena_printf(scene->arena, "%s %s", many_away(scene, 1, 12),
                                          many(scene, 13, 40)))),
        "DONE rows 40 updated 2 unchanged 38 withdrawn 2");
    assert_int_equal(count_shown(scene, "WITHDRAWN"), 12);
    assert_string_equal(told(scene, run_task(scene, 5, many(scene, 13, 40))),
                        "DONE rows 28 unchanged 28 deleted 12");
}

static void a_row_says_that_it_is_available_after_all(void **state)
{
    struct feed_scene *scene = start(state);
    struct err err = {0};
    Torg__V1__FeedTask *task;

    run_task(scene, 1, "a=1 b=1 c=1");
    OK(try_rows(scene, 2, "a=1! b=2! c=1!", 0, &err));
    assert_string_equal(shown(scene), "a=1 b=2 c=1");
    assert_string_equal(report(scene, 2),
                        "1 a UNCHANGED (is not available: the offer is withdrawn at the end of the "
                        "task); 2 b UPDATED (is not available: the offer is withdrawn at the end "
                        "of the task); 3 c UNCHANGED (is not available: the offer is withdrawn at "
                        "the end of the task)");
    OK(try_rows(scene, 2, "a=1 c=?", 3, &err)); /* what is refused changes nothing */
    OK(try_end(scene, 2, 5, &task, &err));
    assert_string_equal(told(scene, task),
                        "DONE rows 5 updated 1 unchanged 3 refused 1 withdrawn 2");
    assert_string_equal(shown(scene), "a=1 b=2:WITHDRAWN c=1:WITHDRAWN");
    assert_string_equal(told(scene, undo(scene, 2)),
                        "UNDONE rows 5 updated 1 unchanged 3 refused 1 undone 2 withdrawn 2");
    assert_string_equal(shown(scene), "a=1 b=1 c=1");
}

static void a_row_takes_a_deletion_back(void **state)
{
    struct feed_scene *scene = start(state);

    run_task(scene, 1, "a=1 b=1");
    assert_string_equal(told(scene, run_task(scene, 2, "-a -b a=2")),
                        "DONE rows 3 updated 1 unchanged 1 deleted 1");
    assert_string_equal(shown(scene), "a=2");
}

static void empty_and_cut_short_feeds_are_held(void **state)
{
    struct feed_scene *scene = start(state);
    struct feed_key key = key_of(scene, 4);
    Torg__V1__FeedTask *task;
    struct feed_task cut;
    struct err err = {0};

    assert_string_equal(told(scene, run_task(scene, 1, "")), "DONE"); /* nothing to lose */
    run_task(scene, 2, "a=1 b=1");
    assert_string_equal(told(scene, run_task(scene, 3, "")), "HELD EMPTY");
    OK(try_rows(scene, 4, "a=1", 0, &err));
    OK(try_end(scene, 4, 2, &task, &err));
    assert_string_equal(told(scene, task), "HELD COUNT_DIFFERS rows 1 unchanged 1");
    OK(try_rows(scene, 4, "a=1 b=2", 0, &err)); /* the rest comes after all */
    OK(feed_end_cut(&scene->place.offers, &key, scene->arena, &cut, &err));
    assert_string_equal(told(scene, cut.message), "HELD CUT_SHORT rows 2 updated 1 unchanged 1");
    assert_int_equal(cut.message->to_delete, 0);
    OK(try_rows(scene, 4, "a=1 b=2", 0, &err));
    OK(try_end(scene, 4, 2, &task, &err));
    assert_string_equal(told(scene, task), "DONE rows 2 updated 1 unchanged 1");
    assert_string_equal(told(scene, run_task(scene, 5, "x=?")), "HELD EMPTY rows 1 refused 1");
    assert_string_equal(shown(scene), "a=1 b=2");
}

static void a_held_task_can_be_dropped(void **state)
{
    struct feed_scene *scene = start(state);
    struct feed_key key = key_of(scene, 2);
    struct feed_task task;
    struct err err = {0};

    run_task(scene, 1, many(scene, 1, 20));
    run_task(scene, 2, "p1=2 n=1");
    OK(feed_task_move(&scene->place.offers, &key, FEED_HELD, FEED_CANCELLED, scene->arena, &task,
                      &err));
    assert_int_equal(try_rows(scene, 2, "p1=2 n=1", 0, &err), ERR_PRECONDITION);
    assert_string_equal(told(scene, undo(scene, 2)),
                        "UNDONE MASS_DELETION rows 2 created 1 updated 1 undone 2");
    assert_string_equal(shown(scene),
                        "p1=1 p10=1 p11=1 p12=1 p13=1 p14=1 p15=1 p16=1 p17=1 p18=1 p19=1 p2=1 "
                        "p20=1 p3=1 p4=1 p5=1 p6=1 p7=1 p8=1 p9=1");
}

static void deletion_goes_on_where_it_stopped(void **state)
{
    struct feed_scene *scene = start(state);
    const struct feed_patience none = {.clock = clock_system(), .until_us = 0};
    struct feed_key key = key_of(scene, 2);
    Torg__V1__FeedEnd end = TORG__V1__FEED_END__INIT;
    struct feed_task task;
    struct err err = {0};
    int steps = 0;

    scene->rules.guard_percent = 100;
    run_task(scene, 1, many(scene, 1, 3 * FEED_BATCH_COUNT));
    OK(try_rows(scene, 2, "a=1", 0, &err));
    end.row_count = 1;
    OK(feed_end(&scene->place.offers, &key, &end, &none, scene->arena, &task, &err));
    assert_int_equal(task.message->state, FEED_ENDING);
    assert_int_equal(task.message->counts->deleted, FEED_BATCH_COUNT);
    while (task.message->state == TORG__V1__FEED_TASK__STATE__ENDING && steps++ < 10) {
        /* What a task does that begins meanwhile is not deleted. */
        if (steps == 1)
            OK(try_rows(scene, 3, "p99=3", 0, &err));
        OK(feed_end(&scene->place.offers, &key, &end, &none, scene->arena, &task, &err));
    }
    assert_string_equal(told(scene, task.message), "DONE rows 1 created 1 deleted 191");
    assert_string_equal(shown(scene), "a=1 p99=3");
}

static void a_dry_run_tells_and_changes_nothing(void **state)
{
    struct feed_scene *scene = start(state);
    struct feed_key key = key_of(scene, 7);
    int64_t changes;
    struct feed_task task;
    struct err err = {0};

    run_task(scene, 1, "a=1 b=1 c=1 d=1");
    changes = offer_changes(scene);
    OK(feed_task_open(&scene->place.offers, &key, FEED_DRY_RUN, scene->arena, &task, &err));
    assert_string_equal(told(scene, run_task(scene, 7, "a=1 b=2 e=1 f=? -d")),
                        "DONE rows 5 created 1 updated 1 unchanged 1 refused 1 deleted 2");
    assert_string_equal(report(scene, 7),
                        "1 a UNCHANGED; 2 b UPDATED; 3 e CREATED; 4 f REFUSED content.title; "
                        "5 d DELETED; - c DELETED");
    assert_string_equal(shown(scene), "a=1 b=1 c=1 d=1");
    assert_int_equal(offer_changes(scene), changes);
    assert_int_equal(feed_undo(&scene->place.offers, &key, for_ever(), scene->arena, &task, &err),
                     ERR_PRECONDITION);
    assert_int_equal(
        feed_task_open(&scene->place.offers, &key, FEED_REAL, scene->arena, &task, &err),
        ERR_PRECONDITION);
    assert_string_equal(told(scene, run_task(scene, 2, "a=1 b=1 c=1 d=1")),
                        "DONE rows 4 unchanged 4"); /* it has ended nothing */
}

/* --- undo and revival --- */

static void a_task_is_undone(void **state)
{
    struct feed_scene *scene = start(state);
    const char *before;
    const char *id;

    run_task(scene, 1, "a=1 b=1 c=1 d=1 e=1");
    move_item(scene, "c", MOVE_WITHDRAW);
    move_item(scene, "d", MOVE_EXPIRE);
    before = shown(scene);
    id = item_offer(scene, "c")->id;
    assert_string_equal(told(scene, run_task(scene, 2, "a=2 d=1 -e n=1")),
                        "DONE rows 4 created 1 updated 2 deleted 3");
    assert_string_equal(shown(scene), "a=2 d=1 n=1");
    assert_string_equal(told(scene, undo(scene, 2)),
                        "UNDONE rows 4 created 1 updated 2 deleted 3 undone 6");
    assert_string_equal(shown(scene), before);
    assert_string_equal(item_offer(scene, "c")->id, id);
    assert_string_equal(told(scene, undo(scene, 2)), /* asked again */
                        "UNDONE rows 4 created 1 updated 2 deleted 3 undone 6");
    assert_string_equal(told(scene, run_task(scene, 3, "a=1 n=2")),
                        "DONE rows 2 unchanged 1 deleted 4 revived 1");
}

static void what_was_touched_since_is_not_undone(void **state)
{
    struct feed_scene *scene = start(state);
    struct err err = {0};

    run_task(scene, 1, "a=1 b=1 c=1 d=1 e=1");
    run_task(scene, 2, "a=2 b=2 c=2 n=1 m=1 o=1");
    move_item(scene, "a", MOVE_WITHDRAW);
    move_item(scene, "n", MOVE_BAN);
    OK(try_rows(scene, 3, "b=2 c=3 m=1 d=4", 0, &err));
    undo(scene, 2);
    assert_string_equal(report(scene, 2),
                        "1 a UPDATED left: it has been changed since; "
                        "2 b UPDATED left: task 3 has had it since; "
                        "3 c UPDATED left: task 3 has had it since; "
                        "4 n CREATED left: it has been changed since; "
                        "5 m CREATED left: task 3 has had it since; 6 o CREATED undone; "
                        "- d DELETED left: task 3 has had it since; - e DELETED undone");
    assert_string_equal(shown(scene), "a=2:WITHDRAWN b=2 c=3 d=4 e=1 m=1 n=1:BANNED");
}

static int mark_twice(struct store_tx *tx, void *arg, struct err *err)
{
    struct feed_scene *scene = arg;
    struct feed_key key = key_of(scene, 1);
    struct feed_record record;
    struct feed_task task;
    int rc = feed_task_find(tx, &key, scene->arena, &task, err);

    if (!rc)
        rc = feed_rows_find(tx, task.no, 1, "a", scene->arena, &record, err);
    for (int i = 0; i < 2 && !rc; i++) {
        bool outrun;

        rc = feed_rows_mark_undone(tx, task.no, &record, TORG__V1__FEED_REPORT_ROW__UNDO__UNDO_LEFT,
                                   BYTES_EMPTY, &outrun, err);
        if (!rc)
            assert_int_equal(outrun, i > 0);
    }
    return rc;
}

/* Two that undo one task: the second counts nothing again. */
static void a_row_is_undone_once(void **state)
{
    struct feed_scene *scene = start(state);
    struct err err = {0};

    run_task(scene, 1, "a=1");
    OK(store_write(scene->place.store, mark_twice, scene, &err));
}

static void undo_has_its_time(void **state)
{
    struct feed_scene *scene = start(state);
    struct feed_key key = key_of(scene, 1);
    struct feed_task task;
    struct err err = {0};

    run_task(scene, 1, "a=1");
    clock_manual_advance(&scene->place.clock, scene->rules.undo_us + 1);
    assert_int_equal(feed_undo(&scene->place.offers, &key, for_ever(), scene->arena, &task, &err),
                     ERR_PRECONDITION);
    assert_string_equal(shown(scene), "a=1");
}

static void an_item_that_comes_back_is_revived(void **state)
{
    struct feed_scene *scene = start(state);
    const char *id;

    run_task(scene, 1, "a=1 b=1");
    id = item_offer(scene, "a")->id;
    run_task(scene, 2, "b=1");
    clock_manual_advance(&scene->place.clock, scene->rules.revive_us - 1000);
    assert_string_equal(told(scene, run_task(scene, 3, "a=2 b=1")),
                        "DONE rows 2 unchanged 1 revived 1");
    assert_string_equal(item_offer(scene, "a")->id, id);
    assert_string_equal(shown(scene), "a=2 b=1");
    run_task(scene, 4, "b=1");
    clock_manual_advance(&scene->place.clock, scene->rules.revive_us + 1000);
    assert_string_equal(told(scene, run_task(scene, 5, "a=2 b=1")),
                        "DONE rows 2 created 1 unchanged 1");
    assert_string_not_equal(item_offer(scene, "a")->id, id);
}

/* --- whose --- */

static void offers_made_by_hand_are_matched(void **state)
{
    struct feed_scene *scene = start(state);
    Torg__V1__OfferReceipt receipt = TORG__V1__OFFER_RECEIPT__INIT;
    struct author author = author_of("s", scene->arena);
    Torg__V1__OfferContent *content = content_of(scene->arena, "books", 9, 100, "RUB");
    struct err err = {0};

    content->external_id = arena_strdup(scene->arena, "a");
    OK(offers_create(&scene->place.offers, &author, content, &receipt, &err));
    assert_string_equal(told(scene, run_task(scene, 1, "b=1")), "DONE rows 1 created 1");
    assert_string_equal(shown(scene), "a=9 b=1"); /* of no feed: not deleted */
    assert_string_equal(told(scene, run_task(scene, 2, "a=9 b=1")), "DONE rows 2 unchanged 2");
    assert_string_equal(told(scene, run_task(scene, 3, "b=1")),
                        "DONE rows 1 unchanged 1 deleted 1"); /* it was the feed's */
    content = content_of(scene->arena, "books", 8, 100, "RUB");
    content->external_id = arena_strdup(scene->arena, "a");
    OK(offers_create(&scene->place.offers, &author, content, &receipt, &err));
    assert_string_equal(shown(scene), "a=8 b=1"); /* the name was free */
}

static void a_name_that_is_changed_by_hand_leaves_the_feed(void **state)
{
    struct feed_scene *scene = start(state);
    Torg__V1__OfferReceipt receipt = TORG__V1__OFFER_RECEIPT__INIT;
    struct author author = author_of("s", scene->arena);
    Torg__V1__OfferContent *content = content_of(scene->arena, "books", 2, 100, "RUB");
    Torg__V1__Offer *offer;
    struct err err = {0};

    run_task(scene, 1, "a=1 b=1");
    offer = item_offer(scene, "a");
    content->external_id = arena_strdup(scene->arena, "mine");
    OK(offers_update(&scene->place.offers, &author, id_of(offer->id), offer->revision, content,
                     &receipt, &err));
    assert_string_equal(told(scene, run_task(scene, 2, "a=1")), "DONE rows 1 created 1 deleted 1");
    assert_string_equal(shown(scene), "a=1 mine=2");
}

static Torg__V1__OfferContent *named_content(struct feed_scene *scene, int number, const char *name)
{
    Torg__V1__OfferContent *content = content_of(scene->arena, "books", number, 100, "RUB");

    content->external_id = arena_strdup(scene->arena, name);
    return content;
}

static void a_name_is_not_taken_twice(void **state)
{
    struct feed_scene *scene = start(state);
    const struct offers *offers = &scene->place.offers;
    Torg__V1__OfferReceipt first = TORG__V1__OFFER_RECEIPT__INIT;
    Torg__V1__OfferReceipt other = TORG__V1__OFFER_RECEIPT__INIT;
    Torg__V1__OfferReceipt third = TORG__V1__OFFER_RECEIPT__INIT;
    struct author author = author_of("s", scene->arena);
    struct author stranger = author_of("t", scene->arena);
    int64_t changes;
    struct err err = {0};

    OK(offers_create(offers, &author, named_content(scene, 1, "a"), &first, &err));
    OK(offers_create(offers, &author, named_content(scene, 2, "b"), &other, &err));
    changes = offer_changes(scene);
    assert_int_equal(offers_create(offers, &author, named_content(scene, 3, "a"), &third, &err),
                     ERR_EXISTS);
    assert_non_null(strstr(err.text, first.id)); /* whose it is */
    assert_int_equal(offers_update(offers, &author, id_of(other.id), 1,
                                   named_content(scene, 3, "a"), &third, &err),
                     ERR_EXISTS);
    assert_non_null(strstr(err.text, first.id));
    assert_int_equal(offer_changes(scene), changes); /* nothing of it stays */
    assert_string_equal(shown(scene), "a=1 b=2");
    OK(offers_update(offers, &author, id_of(first.id), 1, named_content(scene, 4, "a"), &third,
                     &err)); /* its own */
    OK(offers_create(offers, &stranger, named_content(scene, 5, "a"), &third, &err));
    /* What is deleted does not keep its name, and a feed does not bring it back beside the new. */
    OK(offers_move(offers, &author, id_of(first.id), 0, MOVE_DELETE, &third, &err));
    OK(offers_update(offers, &author, id_of(other.id), 1, named_content(scene, 6, "a"), &third,
                     &err));
    assert_string_equal(told(scene, run_task(scene, 1, "a=7")), "DONE rows 1 updated 1");
    assert_string_equal(shown(scene), "a=7");
    assert_string_equal(item_offer(scene, "a")->id, other.id);
}

/* Of rows with one id the last good one is written, once; the others are told of it. */
static void rows_of_one_name_are_one_change(void **state)
{
    struct feed_scene *scene = start(state);
    int64_t changes;

    run_task(scene, 1, "a=1");
    changes = offer_changes(scene);
    assert_string_equal(told(scene, run_task(scene, 2, "a=2 a=3 a=4 b=? a=5 a=? b=?")),
                        "DONE rows 7 updated 1 unchanged 3 refused 3");
    assert_string_equal(report(scene, 2),
                        "1 a UNCHANGED (row 5 has the same id and counts instead); "
                        "2 a UNCHANGED (row 5 has the same id and counts instead); "
                        "3 a UNCHANGED (row 5 has the same id and counts instead); "
                        "4 b REFUSED content.title; 5 a UPDATED; "
                        "6 a REFUSED content.title; 7 b REFUSED content.title");
    assert_int_equal(offer_changes(scene), changes + 1);
    assert_string_equal(shown(scene), "a=5");
    undo(scene, 2);
    assert_string_equal(shown(scene), "a=1");
}

/* Sent again, the first with other content, and a third behind the second, which is as it was. */
static void a_row_that_is_settled_hides_none_behind_it(void **state)
{
    struct feed_scene *scene = start(state);
    struct err err = {0};

    OK(try_rows(scene, 1, "a=1 a=2", 0, &err));
    OK(try_rows(scene, 1, "a=3 a=2 a=4", 0, &err));
    assert_string_equal(told(scene, get_task(scene, 1)),
                        "RUNNING rows 3 created 1 updated 1 unchanged 1");
    assert_non_null(strstr(report(scene, 1), "1 a UNCHANGED (row 3 has the same id"));
    assert_string_equal(shown(scene), "a=4");
}

static void feeds_of_a_seller_do_not_meet(void **state)
{
    struct feed_scene *scene = start(state);

    run_task(scene, 1, "a=1 b=1");
    scene->feed = "other";
    assert_string_equal(told(scene, run_task(scene, 1, "b=2 c=1")),
                        "DONE rows 2 created 1 refused 1");
    assert_string_equal(report(scene, 1), "1 b REFUSED external_id; 2 c CREATED");
    assert_string_equal(shown(scene), "a=1 b=1 c=1");
    scene->feed = "main";
    run_task(scene, 2, "a=1");
    scene->feed = "other";
    assert_string_equal(told(scene, run_task(scene, 2, "b=2 c=1")), /* now it is free */
                        "DONE rows 2 unchanged 1 revived 1");
}

static void sellers_do_not_meet(void **state)
{
    struct feed_scene *scene = start(state);

    run_task(scene, 1, "a=1 b=1");
    scene->seller = "t";
    assert_string_equal(told(scene, run_task(scene, 1, "a=2")), "DONE rows 1 created 1");
    assert_string_equal(told(scene, run_task(scene, 2, "a=2")), "DONE rows 1 unchanged 1");
    scene->seller = "s";
    assert_string_equal(shown(scene), "a=1 b=1");
}

struct noting {
    struct feed_scene *scene;
    const char *url;
    const char *reason;
};

static int note_photo(struct store_tx *tx, void *arg, struct err *err)
{
    struct noting *noting = arg;
    Torg__V1__Offer offer = TORG__V1__OFFER__INIT;
    Torg__V1__OfferContent content = TORG__V1__OFFER_CONTENT__INIT;

    content.external_id = (char *)"a";
    offer.seller = (char *)noting->scene->seller;
    offer.content = &content;
    return feed_rows_note_photo(tx, &offer, noting->url, noting->reason, noting->scene->arena, err);
}

static void failed_photos_are_told_in_the_report(void **state)
{
    struct feed_scene *scene = start(state);
    struct noting noting = {
        .scene = scene, .url = "https://x/1", .reason = "404; it is tried again"};
    struct err err = {0};

    run_task(scene, 1, "a=1 b=1");
    OK(store_write(scene->place.store, note_photo, &noting, &err));
    OK(store_write(scene->place.store, note_photo, &noting, &err)); /* told once */
    noting.url = "https://x/2";
    OK(store_write(scene->place.store, note_photo, &noting, &err));
    noting.url = "https://x/1"; /* for good */
    noting.reason = "404";
    OK(store_write(scene->place.store, note_photo, &noting, &err));
    assert_string_equal(report(scene, 1), "1 a CREATED photo https://x/2: 404; it is tried again "
                                          "photo https://x/1: 404; 2 b CREATED");
    noting.url = "https://x/2"; /* it could be had after all */
    noting.reason = NULL;
    OK(store_write(scene->place.store, note_photo, &noting, &err));
    OK(store_write(scene->place.store, note_photo, &noting, &err));
    assert_string_equal(report(scene, 1), "1 a CREATED photo https://x/1: 404; 2 b CREATED");
    noting.url = "https://x/1";
    OK(store_write(scene->place.store, note_photo, &noting, &err));
    assert_string_equal(report(scene, 1), "1 a CREATED; 2 b CREATED");
}

static const Torg__V1__Photo *photo_of(struct feed_scene *scene)
{
    return item_offer(scene, "a")->content->photos[0];
}

static void answer_failed(struct feed_scene *scene)
{
    Torg__V1__PhotoResult result = TORG__V1__PHOTO_RESULT__INIT;
    Torg__V1__PhotoResult__Item item = TORG__V1__PHOTO_RESULT__ITEM__INIT;
    Torg__V1__PhotoResult__Item *items[] = {&item};
    struct err err = {0};
    bool changed;

    result.offer_id = item_offer(scene, "a")->id;
    result.revision = photo_of(scene)->request_revision;
    result.photos = items;
    result.n_photos = 1;
    item.url = photo_of(scene)->source_url;
    item.attempt = 1;
    item.state = TORG__V1__PHOTO__STATE__FAILED;
    item.reason = (char *)"404 Not Found";
    OK(photos_apply(&scene->place.offers, &result, scene->arena, &changed, &err));
    assert_true(changed);
}

/* A shop's pictures are often there a day after its list. */
static void a_row_that_stays_asks_again_for_a_photo_that_had_failed(void **state)
{
    struct feed_scene *scene = start(state);

    run_task(scene, 1, "a=1@");
    answer_failed(scene);
    clock_manual_advance(&scene->place.clock, (int64_t)(PHOTO_ASK_AGAIN_S - 60) * SECOND_US);
    assert_string_equal(told(scene, run_task(scene, 2, "a=1@")), "DONE rows 1 unchanged 1");
    assert_int_equal(photo_of(scene)->state, TORG__V1__PHOTO__STATE__FAILED);
    clock_manual_advance(&scene->place.clock, 61 * SECOND_US);
    assert_string_equal(told(scene, run_task(scene, 3, "a=1@")), "DONE rows 1 updated 1");
    assert_int_equal(photo_of(scene)->state, TORG__V1__PHOTO__STATE__WAITING);
    assert_int_equal(photo_of(scene)->request_revision, item_offer(scene, "a")->revision);
    assert_string_equal(told(scene, run_task(scene, 4, "a=1@")), "DONE rows 1 unchanged 1");
    answer_failed(scene);
    assert_string_equal(told(scene, run_task(scene, 5, "a=1@")), "DONE rows 1 unchanged 1");
}

static void tasks_are_listed_newest_first(void **state)
{
    struct feed_scene *scene = start(state);
    struct feed_key key = key_of(scene, 1);
    Torg__V1__FeedTask *tasks[2];
    struct err err = {0};
    size_t count;

    for (int i = 1; i <= 3; i++)
        run_task(scene, 10 * i, "a=1");
    OK(feed_task_list(&scene->place.offers, &key, INT64_MAX, 2, scene->arena, tasks, &count, &err));
    assert_int_equal(count, 2);
    assert_int_equal(tasks[0]->task_id, 30);
    OK(feed_task_list(&scene->place.offers, &key, tasks[1]->task_id, 2, scene->arena, tasks, &count,
                      &err));
    assert_int_equal(count, 1);
    assert_int_equal(tasks[0]->task_id, 10);
}

/* --- the list of cases --- */

static const struct test_case cases[] = {
    CASE(rows_create_update_and_leave_alone),
    CASE(what_the_feed_no_longer_has_is_deleted),
    CASE(a_row_is_refused_alone_and_its_offer_stays),
    CASE(a_row_has_all_reasons),
    CASE(an_item_without_an_id_is_known_by_its_content),
    CASE(a_ban_stays),
    CASE(other_statuses_stay_and_the_expired_comes_back),
    CASE(what_is_not_available_is_withdrawn_and_comes_back),
    CASE(a_sellers_hand_counts_above_his_feed),
    CASE(availability_shakes_off_no_ban),
    CASE(a_row_may_delete),
    CASE(of_two_rows_with_one_id_the_later_holds),
    CASE(what_a_later_task_has_touched_is_left),
    CASE(a_task_older_than_one_that_ended_is_refused),
    CASE(a_task_sent_again_changes_nothing),
    CASE(rows_sent_again_beside_the_first_call_are_no_fault),
    CASE(a_row_repeated_with_other_content_is_applied),
    CASE(mass_deletion_is_held_until_confirmed),
    CASE(so_many_doomed_offers_are_told),
    CASE(an_id_that_none_could_follow_is_refused),
    CASE(rows_that_delete_are_guarded_too),
    CASE(mass_withdrawal_is_held_until_confirmed),
    CASE(what_was_away_before_is_no_loss),
    CASE(a_row_says_that_it_is_available_after_all),
    CASE(a_row_takes_a_deletion_back),
    CASE(empty_and_cut_short_feeds_are_held),
    CASE(a_held_task_can_be_dropped),
    CASE(deletion_goes_on_where_it_stopped),
    CASE(a_dry_run_tells_and_changes_nothing),
    CASE(a_task_is_undone),
    CASE(what_was_touched_since_is_not_undone),
    CASE(undo_has_its_time),
    CASE(a_row_is_undone_once),
    CASE(an_item_that_comes_back_is_revived),
    CASE(offers_made_by_hand_are_matched),
    CASE(a_name_that_is_changed_by_hand_leaves_the_feed),
    CASE(a_name_is_not_taken_twice),
    CASE(rows_of_one_name_are_one_change),
    CASE(a_row_that_is_settled_hides_none_behind_it),
    CASE(feeds_of_a_seller_do_not_meet),
    CASE(sellers_do_not_meet),
    CASE(failed_photos_are_told_in_the_report),
    CASE(a_row_that_stays_asks_again_for_a_photo_that_had_failed),
    CASE(tasks_are_listed_newest_first),
};

int main(int argc, char **argv)
{
    static struct case_list list = {
        .name = "offers-feeds", .set_up = set_up, .tear_down = tear_down};

    cases_on_stores(&list, cases, ARRAY_COUNT(cases));
    return cases_run(&list, argc, argv);
}
