/* SPDX-License-Identifier: Apache-2.0 */
/* offers_feed_events.c - feeds that come by the topic, and the keeping of tasks, on every store. */
#include "contract/feeds_fixture.h"

#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/memory.h"
#include "codec/message.h"
#include "feeds/apply/events.h"
#include "feeds/apply/keep.h"
#include "feeds/apply/undo.h"
#include "feeds/bounds.h"
#include "model/bounds.h"
#include "model/topics.h"
#include "patience.h"

enum { WAIT_MS = PATIENCE_MS, MANY_COUNT = 600 };

struct topic_scene {
    struct feed_scene feeds;
    struct topics *topics;
    struct feed_events *events;
};

static int set_up(void **state)
{
    static struct topic_scene scene;
    bool postgres = case_on_servers(state);
    struct err err = {0};

    memset(&scene, 0, sizeof(scene));
    *state = NULL;
    if (!feed_scene_open(&scene.feeds, postgres))
        return 0;
    OK(topics_open("memory:", NULL, &scene.topics, &err));
    *state = &scene;
    return 0;
}

static int tear_down(void **state)
{
    struct topic_scene *scene = *state;

    if (!scene)
        return 0;
    feed_events_stop(scene->events);
    topics_close(scene->topics);
    check_items(&scene->feeds);
    feed_scene_close(&scene->feeds);
    return 0;
}

static struct topic_scene *start(void **state)
{
    if (!*state)
        skip();
    return *state;
}

static void run_worker(struct topic_scene *scene)
{
    struct err err = {0};

    OK(feed_events_start(&scene->feeds.place.offers, scene->topics, &scene->events, &err));
}

static void stop_worker(struct topic_scene *scene)
{
    feed_events_stop(scene->events);
    scene->events = NULL;
}

static void produce(struct topic_scene *scene, struct bytes value)
{
    const struct topic_record record = {.key = bytes_of("s/main"), .value = value};
    struct err err = {0};

    OK(topic_produce(scene->topics, TOPIC_FEED_EVENTS, &record, 1, NULL, &err));
}

static void produce_event(struct topic_scene *scene, int64_t task_id, Torg__V1__FeedEvent *event)
{
    struct buf wire = BUF_INIT(1 << 20);

    event->seller = (char *)scene->feeds.seller;
    event->feed = (char *)scene->feeds.feed;
    event->task_id = task_id;
    message_encode(&event->base, &wire);
    produce(scene, buf_bytes(&wire));
    buf_release(&wire);
}

static void produce_task(struct topic_scene *scene, int64_t task_id, const char *rows)
{
    Torg__V1__FeedEvent end = TORG__V1__FEED_EVENT__INIT;
    Torg__V1__FeedEnd last = TORG__V1__FEED_END__INIT;
    size_t count;
    Torg__V1__FeedEvent **events = events_of(&scene->feeds, rows, 0, &count);

    for (size_t i = 0; i < count; i++)
        produce_event(scene, task_id, events[i]);
    end.event_case = TORG__V1__FEED_EVENT__EVENT_END;
    end.end = &last;
    last.row_count = (int64_t)count;
    produce_event(scene, task_id, &end);
}

/* Records of the topic that are not committed yet. */
static uint64_t lag(struct topic_scene *scene)
{
    uint64_t sum = 0;
    struct err err = {0};

    for (uint32_t i = 0; i < STAGE_PARTITION_COUNT; i++) {
        struct topic_lag one;

        OK(topic_lag(scene->topics, "offers-feeds", TOPIC_FEED_EVENTS, i, &one, &err));
        sum += one.lag;
    }
    return sum;
}

static void wait_a_step(int64_t until_us)
{

    if (clock_mono_us(clock_system()) > until_us)
        fail_msg("waited for too long");
    pause_ms(2);
}

static void wait_until_read(struct topic_scene *scene)
{
    int64_t until_us = clock_mono_us(clock_system()) + (int64_t)WAIT_MS * MS_US;

    while (lag(scene))
        wait_a_step(until_us);
}

static const char *many(struct topic_scene *scene, int count)
{
    struct buf text = BUF_INIT(1 << 20);
    const char *kept;

    for (int i = 0; i < count; i++)
        buf_printf(&text, "%sp%d=1", i ? " " : "", i);
    kept = arena_strdup(scene->feeds.arena, buf_text(&text));
    buf_release(&text);
    return kept;
}

/* --- the topic --- */

static void feeds_come_by_the_topic(void **state)
{
    struct topic_scene *scene = start(state);
    struct feed_scene *feeds = &scene->feeds;

    run_worker(scene);
    produce_task(scene, 1, "a=1 b=1 c=?");
    produce(scene, bytes_of("\xff no message"));
    produce_task(scene, 3, "a=2 d=1");
    produce_task(scene, 2, "a=9"); /* too late: passed over */
    wait_until_read(scene);
    assert_string_equal(told(feeds, get_task(feeds, 1)), "DONE rows 3 created 2 refused 1");
    assert_string_equal(told(feeds, get_task(feeds, 3)),
                        "DONE rows 2 created 1 updated 1 deleted 1");
    assert_string_equal(shown(feeds), "a=2 d=1");
    produce_task(scene, 3, "a=2 d=1"); /* delivered twice */
    wait_until_read(scene);
    assert_string_equal(told(feeds, get_task(feeds, 3)),
                        "DONE rows 2 created 1 updated 1 deleted 1");
    assert_int_equal(item_offer(feeds, "a")->revision, 2);
}

static void a_lost_record_holds_the_task(void **state)
{
    struct topic_scene *scene = start(state);
    Torg__V1__FeedEvent bad = TORG__V1__FEED_EVENT__INIT;
    Torg__V1__FeedUpsert upsert = TORG__V1__FEED_UPSERT__INIT;

    run_worker(scene);
    produce_task(scene, 1, "a=1 b=1");
    wait_until_read(scene);
    bad.event_case = TORG__V1__FEED_EVENT__EVENT_UPSERT; /* without its number */
    bad.upsert = &upsert;
    produce_event(scene, 2, &bad);
    produce_task(scene, 2, "");
    produce_task(scene, 4, "a=1");
    wait_until_read(scene);
    assert_string_equal(told(&scene->feeds, get_task(&scene->feeds, 2)), "HELD EMPTY");
    assert_string_equal(shown(&scene->feeds), "a=1");
}

/* Somewhere in the middle, unless it came to its end before the stop came. */
static void check_stopped(struct topic_scene *scene, int64_t task_id)
{
    int state = (int)get_task(&scene->feeds, task_id)->state;

    if (state == FEED_DONE) {
        print_message("# the task was done before the worker was stopped\n");
        return;
    }
    assert_int_equal(state, FEED_ENDING);
    assert_true(lag(scene) > 0);
}

static void an_end_is_committed_when_nothing_is_left(void **state)
{
    struct topic_scene *scene = start(state);
    struct feed_scene *feeds = &scene->feeds;
    int64_t until_us;
    int seen = 0;

    feeds->rules.guard_percent = 100;
    feeds->rules.slice_us = 0; /* a few deletions a poll */
    run_task(feeds, 1, many(scene, MANY_COUNT));
    run_worker(scene);
    produce_task(scene, 2, "a=1");
    until_us = clock_mono_us(clock_system()) + (int64_t)WAIT_MS * MS_US;
    for (;;) {
        struct feed_key key = key_of(feeds, 2);
        uint64_t left = lag(scene); /* before: the task only goes on */
        struct feed_task task;
        struct err err = {0};
        int rc = feed_task_get(&feeds->place.offers, &key, feeds->arena, &task, &err);

        if (!rc && task.message->state == TORG__V1__FEED_TASK__STATE__DONE)
            break;
        assert_true(left > 0 || rc);
        if (!rc && task.message->counts->deleted && seen++ == 0)
            stop_worker(scene); /* in the middle of it */
        if (seen == 1 && !scene->events) {
            check_stopped(scene, 2);
            run_worker(scene);
        }
        wait_a_step(until_us);
    }
    wait_until_read(scene);
    assert_string_equal(told(feeds, get_task(feeds, 2)), "DONE rows 1 created 1 deleted 600");
    assert_string_equal(shown(feeds), "a=1");
}

/* --- keeping --- */

static struct feed_kept keep(struct feed_scene *feeds)
{
    static const atomic_bool stopping;
    struct feed_kept kept = {0};
    struct err err = {0};

    OK(feed_keep(&feeds->place.offers, &stopping, &kept, &err));
    return kept;
}

static void what_nobody_drives_is_gone_on_with(void **state)
{
    struct topic_scene *scene = start(state);
    struct feed_scene *feeds = &scene->feeds;
    const struct feed_patience none = {.clock = clock_system(), .until_us = 0};
    struct feed_key key = key_of(feeds, 2);
    Torg__V1__FeedEnd end = TORG__V1__FEED_END__INIT;
    struct feed_task task;
    struct err err = {0};

    feeds->rules.guard_percent = 100;
    run_task(feeds, 1, many(scene, 2 * FEED_BATCH_COUNT));
    OK(try_rows(feeds, 2, "a=1", 0, &err));
    end.row_count = 1;
    OK(feed_end(&feeds->place.offers, &key, &end, &none, feeds->arena, &task, &err));
    assert_int_equal(task.message->state, FEED_ENDING);
    assert_int_equal(keep(feeds).resumed, 0); /* its driver may live */
    clock_manual_advance(&feeds->place.clock, (int64_t)(FEED_RESUME_S + 1) * SECOND_US);
    assert_int_equal(keep(feeds).resumed, 1);
    assert_string_equal(told(feeds, get_task(feeds, 2)), "DONE rows 1 created 1 deleted 128");
    OK(feed_task_move(&feeds->place.offers, &key, FEED_DONE, FEED_UNDOING, feeds->arena, &task,
                      &err));
    clock_manual_advance(&feeds->place.clock, (int64_t)(FEED_RESUME_S + 1) * SECOND_US);
    assert_int_equal(keep(feeds).resumed, 1);
    assert_string_equal(told(feeds, get_task(feeds, 2)),
                        "UNDONE rows 1 created 1 deleted 128 undone 129");
}

static void the_silent_is_held_and_the_held_is_dropped(void **state)
{
    struct topic_scene *scene = start(state);
    struct feed_scene *feeds = &scene->feeds;
    struct err err = {0};

    run_task(feeds, 1, "a=1 b=1");
    OK(try_rows(feeds, 2, "a=1", 0, &err));
    assert_int_equal(keep(feeds).held, 0);
    clock_manual_advance(&feeds->place.clock, feeds->rules.idle_us + 1);
    assert_int_equal(keep(feeds).held, 1);
    assert_string_equal(told(feeds, get_task(feeds, 2)), "HELD CUT_SHORT rows 1 unchanged 1");
    assert_int_equal(get_task(feeds, 2)->to_delete, 1); /* b: confirming must not surprise */
    assert_int_equal(get_task(feeds, 2)->had, 2);
    OK(try_rows(feeds, 2, "a=1 b=1", 0, &err)); /* it goes on all the same */
    assert_string_equal(told(feeds, get_task(feeds, 2)), "RUNNING rows 2 unchanged 2");
    clock_manual_advance(&feeds->place.clock, feeds->rules.idle_us + 1);
    assert_int_equal(keep(feeds).held, 1);
    clock_manual_advance(&feeds->place.clock, feeds->rules.report_us + 1);
    assert_int_equal(keep(feeds).dropped, 1);
    assert_string_equal(told(feeds, get_task(feeds, 2)), "CANCELLED CUT_SHORT rows 2 unchanged 2");
    assert_string_equal(shown(feeds), "a=1 b=1");
}

/* Its body cannot be read: it is told, and neither other tasks nor old reports wait for it. */
static void a_damaged_task_keeps_nobody_waiting(void **state)
{
    struct topic_scene *scene = start(state);
    struct feed_scene *feeds = &scene->feeds;
    struct err err = {0};

    run_task(feeds, 1, "a=1 b=1");
    OK(try_rows(feeds, 2, "a=1", 0, &err));
    exec(feeds->place.store,
         case_on_servers(state)
             ? "UPDATE feed_task SET body = CAST('no' AS BYTEA) WHERE task_id = 2"
             : "UPDATE feed_task SET body = CAST('no' AS BLOB) WHERE task_id = 2");
    clock_manual_advance(&feeds->place.clock, SECOND_US);
    OK(try_rows(feeds, 3, "a=1", 0, &err));
    clock_manual_advance(&feeds->place.clock, feeds->rules.idle_us + SECOND_US);
    {
        struct feed_kept kept = keep(feeds);

        assert_int_equal(kept.failed, 1);
        assert_int_equal(kept.held, 1);
    }
    assert_string_equal(told(feeds, get_task(feeds, 3)), "HELD CUT_SHORT rows 1 unchanged 1");
    assert_int_equal(keep(feeds).failed, 0); /* it comes again when it is due again */
    clock_manual_advance(&feeds->place.clock, feeds->rules.report_us + SECOND_US);
    {
        struct feed_kept kept = keep(feeds);

        assert_int_equal(kept.failed, 1);
        assert_int_equal(kept.forgotten, 2);
    }
}

static void old_reports_and_names_go(void **state)
{
    struct topic_scene *scene = start(state);
    struct feed_scene *feeds = &scene->feeds;

    run_task(feeds, 1, "a=1 b=1");
    run_task(feeds, 2, "a=1");
    assert_int_equal(keep(feeds).forgotten, 0);
    clock_manual_advance(&feeds->place.clock, feeds->rules.report_us + SECOND_US);
    assert_int_equal(keep(feeds).forgotten, 4); /* a b; a b */
    assert_string_equal(report(feeds, 1), "");
    assert_string_equal(told(feeds, get_task(feeds, 2)), "DONE rows 1 unchanged 1 deleted 1");
    clock_manual_advance(&feeds->place.clock, feeds->rules.revive_us);
    assert_int_equal(keep(feeds).forgotten, 1); /* the name b */
    assert_null(item_offer(feeds, "b"));
    for (int i = 0; i < FEED_REPORT_COUNT_MAX + 2; i++)
        run_task(feeds, 10 + i, "a=1");
    assert_int_equal(keep(feeds).forgotten, 2); /* crowded out */
    assert_string_equal(report(feeds, 11), "");
    assert_string_equal(report(feeds, 12), "1 a UNCHANGED");
}

/* A feed by address has up to 288 tasks a day, for years. */
static void old_tasks_go(void **state)
{
    struct topic_scene *scene = start(state);
    struct feed_scene *feeds = &scene->feeds;

    run_task(feeds, 1, "a=1");
    run_task(feeds, 2, "a=1 b=1");
    exec(feeds->place.store,
         "WITH RECURSIVE more(id) AS (SELECT 3 UNION ALL SELECT id + 1 FROM more WHERE id < 1102) "
         "INSERT INTO feed_task (seller_id, feed_id, task_id, no, state, updated_us, forget_us, "
         "body) SELECT seller_id, feed_id, more.id, 1000 + more.id, state, updated_us, 0, body "
         "FROM feed_task, more WHERE task_id = 1");
    clock_manual_advance(&feeds->place.clock, feeds->rules.report_us + SECOND_US);
    assert_int_equal(keep(feeds).forgotten, 3);
    assert_int_equal(read_integer(feeds->place.store, "SELECT COUNT(*) FROM feed_task"),
                     FEED_TASK_KEPT_COUNT);
    assert_int_equal(read_integer(feeds->place.store, "SELECT MAX(task_id) FROM feed_task"), 1102);
    assert_string_equal(told(feeds, run_task(feeds, 2000, "a=2")),
                        "DONE rows 1 updated 1 deleted 1");
}

/* Nothing could be given back, so nothing may be told to be undone. */
static void what_has_no_report_is_not_undone(void **state)
{
    struct topic_scene *scene = start(state);
    struct feed_scene *feeds = &scene->feeds;
    struct feed_key key = key_of(feeds, 2);
    struct feed_task task;
    struct err err = {0};

    run_task(feeds, 1, "a=1 b=1");
    run_task(feeds, 2, "a=1");
    for (int i = 0; i < FEED_REPORT_COUNT_MAX; i++)
        run_task(feeds, 3 + i, "a=1");
    keep(feeds);
    assert_string_equal(report(feeds, 2), "");
    assert_int_equal(feed_undo(&feeds->place.offers, &key, for_ever(), feeds->arena, &task, &err),
                     ERR_PRECONDITION);
    assert_non_null(strstr(err.text, "report"));
    assert_string_equal(told(feeds, get_task(feeds, 2)), "DONE rows 1 unchanged 1 deleted 1");
}

static void a_long_report_goes_by_chunks(void **state)
{
    struct topic_scene *scene = start(state);
    struct feed_scene *feeds = &scene->feeds;

    feeds->rules.guard_percent = 100;
    run_task(feeds, 1, many(scene, FEED_FORGET_COUNT + 10));
    run_task(feeds, 2, "a=1"); /* as many that are gone */
    clock_manual_advance(&feeds->place.clock, feeds->rules.report_us + SECOND_US);
    assert_int_equal(keep(feeds).forgotten, 2 * (FEED_FORGET_COUNT + 10) + 1);
    assert_string_equal(report(feeds, 2), "");
}

/* --- the list of cases --- */

static const struct test_case cases[] = {
    CASE(feeds_come_by_the_topic),
    CASE(a_lost_record_holds_the_task),
    CASE(old_tasks_go),
    CASE(what_has_no_report_is_not_undone),
    CASE(an_end_is_committed_when_nothing_is_left),
    CASE(what_nobody_drives_is_gone_on_with),
    CASE(the_silent_is_held_and_the_held_is_dropped),
    CASE(a_damaged_task_keeps_nobody_waiting),
    CASE(old_reports_and_names_go),
    CASE(a_long_report_goes_by_chunks),
};

int main(int argc, char **argv)
{
    static struct case_list list = {
        .name = "offers-feed_events", .set_up = set_up, .tear_down = tear_down};

    cases_on_stores(&list, cases, ARRAY_COUNT(cases));
    return cases_run(&list, argc, argv);
}
