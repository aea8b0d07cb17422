/* SPDX-License-Identifier: Apache-2.0 */
/* offers_feed_schedules.c - feeds by address, on every store: the web server is a function of the
 * test, and the time is the test's. */
#include "contract/feeds_fixture.h"

#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/hash.h"
#include "base/memory.h"
#include "feeds/apply/file.h"
#include "feeds/apply/reading.h"
#include "feeds/bounds.h"
#include "feeds/schedule/run.h"
#include "feeds/tasks/kept_map.h"

#define ADDRESS "https://shop.example/goods.csv"
#define HOUR_S 3600

/* What the server has, and what it was asked. */
struct site {
    const char *content; /* NULL: it does not answer */
    const char *etag;
    char asked[64]; /* the etag it was asked by */
    bool is_left;   /* whoever reads the file has to stop at its next row */
    /* Done while the file is on its way. */
    void (*meanwhile)(struct feed_scene *scene);
    struct feed_scene *scene;
};

static struct site site;

static int set_up(void **state)
{
    static struct feed_scene scene;
    bool postgres = case_on_servers(state);

    *state = feed_scene_open(&scene, postgres) ? &scene : NULL;
    site = (struct site){.etag = "", .scene = &scene};
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

static int fetch(void *arg, const char *address, const char *etag, const char *modified,
                 struct arena *arena, struct feed_fetched *fetched, struct err *err)
{
    struct site *asked = arg;

    (void)arena;
    assert_non_null(address);
    snprintf(asked->asked, sizeof(asked->asked), "%s", etag);
    assert_string_equal(modified, "");
    *fetched = (struct feed_fetched){.etag = asked->etag, .modified = ""};
    if (asked->meanwhile)
        asked->meanwhile(asked->scene);
    if (!asked->content)
        return err_set(err, ERR_UNAVAILABLE, "%s: nobody answers", address);
    if (*etag && strcmp(etag, asked->etag) == 0)
        fetched->is_unchanged = true;
    else
        fetched->content = bytes_of(asked->content);
    return 0;
}

static bool is_left(const void *arg)
{
    return ((const struct site *)arg)->is_left;
}

/* "p1 p2 …" as a CSV file of books. */
static const char *books(struct feed_scene *scene, int count, int price)
{
    struct buf text = BUF_INIT(1 << 16);
    const char *kept;

    buf_put_text(&text, "id;category;title;price\n");
    for (int i = 1; i <= count; i++)
        buf_printf(&text, "p%d;books;Title %d;%d\n", i, price, price);
    kept = arena_strdup(scene->arena, buf_text(&text));
    buf_release(&text);
    return kept;
}

static struct feed_key feed_of(const struct feed_scene *scene)
{
    return key_of(scene, 0);
}

static struct feed_terms wish_of(const char *address, int64_t period_s)
{
    return (struct feed_terms){.address = address, .period_s = period_s, .language = LANGUAGE_EN};
}

static Torg__V1__FeedSchedule *set_read(struct feed_scene *scene, const char *address,
                                        const Torg__V1__FeedReading *reading)
{
    struct feed_terms wish = wish_of(address, HOUR_S);
    struct feed_key key = feed_of(scene);
    struct violations violations = violations_in(scene->arena);
    Torg__V1__FeedSchedule *schedule;
    struct err err = {0};

    wish.reading = reading;
    OK(feed_schedule_set(&scene->place.offers, &key, &wish, &violations, scene->arena, &schedule,
                         &err));
    return schedule;
}

static Torg__V1__FeedSchedule *set(struct feed_scene *scene, const char *address)
{
    return set_read(scene, address, NULL);
}

static Torg__V1__FeedSchedule *get(struct feed_scene *scene)
{
    struct feed_key key = feed_of(scene);
    Torg__V1__FeedSchedule *schedule;
    struct err err = {0};

    OK(feed_schedule_get(&scene->place.offers, &key, scene->arena, &schedule, &err));
    return schedule;
}

/* The one that is due now; false: none is. */
static bool find_due(struct feed_scene *scene, struct feed_due *due)
{
    struct feed_waiting *list;
    struct err err = {0};
    size_t count;

    OK(feed_schedule_waiting(&scene->place.offers, scene->arena, &list, &count, &err));
    for (size_t i = 0; i < count; i++) {
        if (strcmp(list[i].seller, scene->seller) != 0 || strcmp(list[i].feed, scene->feed) != 0)
            continue;
        assert_int_equal(list[i].shard, feed_schedule_shard(scene->seller, scene->feed));
        assert_string_equal(list[i].host, "shop.example");
        OK(feed_schedule_find_due(&scene->place.offers, &list[i], scene->arena, due, &err));
        assert_non_null(due->key.seller);
        return true;
    }
    return false;
}

static int try_run(struct feed_scene *scene, struct feed_due *due, Torg__V1__FeedSchedule **now,
                   struct err *err)
{
    const struct feed_runner runner = {.offers = &scene->place.offers,
                                       .fetch = fetch,
                                       .fetch_arg = &site,
                                       .is_left = is_left,
                                       .is_left_arg = &site,
                                       .patience = for_ever()};

    return feed_run(&runner, due, scene->arena, now, err);
}

/* "APPLIED 3", with the task's number; "FAILED: reason". Something has to be due. */
static const char *run(struct feed_scene *scene)
{
    Torg__V1__FeedSchedule *now;
    const Torg__V1__FeedRun *last;
    const char *name;
    struct feed_due due;
    struct err err = {0};

    assert_true(find_due(scene, &due));
    OK(try_run(scene, &due, &now, &err));
    last = now->runs[0];
    name = protobuf_c_enum_descriptor_get_value(&torg__v1__feed_run__outcome__descriptor,
                                                (int)last->outcome)
               ->name;
    if (last->task_id)
        return arena_printf(scene->arena, "%s %d", name, (int)last->task_id);
    return *last->reason ? arena_printf(scene->arena, "%s: %s", name, last->reason) : name;
}

static void pass(struct feed_scene *scene, int64_t seconds)
{
    clock_manual_advance(&scene->place.clock, seconds * SECOND_US);
}

static void run_now(struct feed_scene *scene, bool again)
{
    struct feed_key key = feed_of(scene);
    Torg__V1__FeedSchedule *schedule;
    struct err err = {0};

    OK(feed_schedule_run(&scene->place.offers, &key, again, scene->arena, &schedule, &err));
}

/* --- cases --- */

static void a_file_is_taken_when_it_is_due_and_has_changed(void **state)
{
    struct feed_scene *scene = start(state);
    struct feed_due due;

    site.content = books(scene, 2, 1);
    site.etag = "\"one\"";
    set(scene, ADDRESS);
    assert_string_equal(run(scene), "APPLIED 1");
    assert_string_equal(site.asked, "");
    assert_string_equal(shown(scene), "p1=1 p2=1");
    assert_false(find_due(scene, &due));
    pass(scene, HOUR_S - 1);
    assert_false(find_due(scene, &due));
    pass(scene, 1);
    assert_string_equal(run(scene), "UNCHANGED"); /* the server says so */
    assert_string_equal(site.asked, "\"one\"");
    pass(scene, HOUR_S);
    site.etag = "\"two\""; /* a server that makes a new tag for the same file */
    assert_string_equal(run(scene), "UNCHANGED");
    pass(scene, HOUR_S);
    assert_string_equal(run(scene), "UNCHANGED");
    assert_string_equal(site.asked, "\"two\"");
    site.content = books(scene, 2, 2);
    site.etag = "\"three\"";
    pass(scene, HOUR_S);
    assert_string_equal(run(scene), "APPLIED 2");
    assert_string_equal(shown(scene), "p1=2 p2=2");
    assert_int_equal(get(scene)->run_count, 5);
    assert_int_equal(get(scene)->n_runs, 5);
    assert_int_equal(get(scene)->runs[0]->counts->updated, 2);
    assert_int_equal(get(scene)->runs[4]->number, 1);
}

static void an_unchanged_file_is_taken_once_a_day_and_when_asked(void **state)
{
    struct feed_scene *scene = start(state);

    site.content = books(scene, 1, 1);
    site.etag = "\"one\"";
    set(scene, ADDRESS);
    assert_string_equal(run(scene), "APPLIED 1");
    run_now(scene, false);
    assert_string_equal(run(scene), "UNCHANGED");
    run_now(scene, true);
    assert_string_equal(run(scene), "APPLIED 2");
    assert_string_equal(site.asked, "");
    pass(scene, FEED_FETCH_AGAIN_S + 1);
    assert_string_equal(run(scene), "APPLIED 3");
    assert_string_equal(site.asked, "");
}

static void failures_are_tried_less_and_less_often_and_then_no_more(void **state)
{
    struct feed_scene *scene = start(state);
    struct feed_key key = feed_of(scene);
    Torg__V1__FeedSchedule *schedule;
    int64_t failing[FEED_FETCH_SHARD_COUNT];
    int64_t stopped[FEED_FETCH_SHARD_COUNT];
    uint32_t shard = feed_schedule_shard(scene->seller, scene->feed);
    int64_t wait_s = FEED_FETCH_RETRY_S;
    struct feed_due due;
    struct err err = {0};

    set(scene, ADDRESS);
    for (int i = 1; i < FEED_FETCH_FAILURE_COUNT_MAX; i++) {
        assert_string_equal(run(scene), "FAILED: " ADDRESS ": nobody answers");
        assert_int_equal(get(scene)->failure_count, i);
        pass(scene, wait_s - 1);
        assert_false(find_due(scene, &due));
        pass(scene, 1);
        wait_s = wait_s * 2 < FEED_FETCH_RETRY_S_MAX ? wait_s * 2 : FEED_FETCH_RETRY_S_MAX;
    }
    run(scene);
    schedule = get(scene);
    assert_int_equal(schedule->state, TORG__V1__FEED_SCHEDULE__STATE__STOPPED);
    assert_string_equal(schedule->reason, ADDRESS ": nobody answers");
    assert_null(schedule->next_time);
    assert_int_equal(schedule->n_runs, FEED_RUN_COUNT_MAX);
    OK(feed_schedule_failing(&scene->place.offers, failing, stopped, &err));
    assert_int_equal(failing[shard], 1);
    assert_int_equal(stopped[shard], 1);
    pass(scene, FEED_PERIOD_S_MAX);
    assert_false(find_due(scene, &due));
    assert_int_equal(
        feed_schedule_run(&scene->place.offers, &key, false, scene->arena, &schedule, &err),
        ERR_PRECONDITION);
    OK(feed_schedule_resume(&scene->place.offers, &key, scene->arena, &schedule, &err));
    site.content = books(scene, 1, 1);
    assert_string_equal(run(scene), "APPLIED 1");
    assert_int_equal(get(scene)->failure_count, 0);
    assert_string_equal(get(scene)->reason, "");
    OK(feed_schedule_failing(&scene->place.offers, failing, stopped, &err));
    assert_int_equal(failing[shard], 0);
}

static void what_is_no_feed_makes_no_task(void **state)
{
    struct feed_scene *scene = start(state);

    site.content = "<html><body>Back soon</body></html>";
    set(scene, ADDRESS);
    assert_memory_equal(run(scene), "FAILED: ", 8);
    assert_int_equal(read_integer(scene->place.store, "SELECT COUNT(*) FROM feed_task"), 0);
}

static void a_file_that_lacks_much_is_held_and_dropped_by_the_next(void **state)
{
    struct feed_scene *scene = start(state);

    site.content = books(scene, 40, 1);
    set(scene, ADDRESS);
    assert_string_equal(run(scene), "APPLIED 1");
    site.content = books(scene, 2, 1);
    pass(scene, HOUR_S);
    assert_string_equal(run(scene), "HELD 2");
    assert_int_equal(get(scene)->runs[0]->hold, TORG__V1__FEED_TASK__HOLD__MASS_DELETION);
    assert_int_equal(get(scene)->failure_count, 0);
    pass(scene, HOUR_S);
    assert_string_equal(run(scene), "UNCHANGED"); /* it waits for a person */
    assert_string_equal(told(scene, get_task(scene, 2)), "HELD MASS_DELETION rows 2 unchanged 2");
    site.content = books(scene, 41, 1);
    pass(scene, HOUR_S);
    assert_string_equal(run(scene), "APPLIED 3");
    assert_int_equal(get_task(scene, 2)->state, FEED_CANCELLED);
}

static void a_run_that_was_killed_is_done_again(void **state)
{
    struct feed_scene *scene = start(state);
    Torg__V1__FeedSchedule *now;
    struct feed_due due;
    struct err err = {0};

    /* In the middle of its rows. */
    site.content = books(scene, 200, 1);
    set(scene, ADDRESS);
    assert_true(find_due(scene, &due));
    site.is_left = true;
    assert_int_equal(try_run(scene, &due, &now, &err), ERR_CANCELLED);
    site.is_left = false;
    assert_int_equal(get(scene)->run_count, 0);
    assert_string_equal(run(scene), "APPLIED 1"); /* the same file: the same task */
    assert_string_equal(told(scene, get_task(scene, 1)), "DONE rows 200 created 200");
    /* With another file when it comes again. */
    site.content = books(scene, 200, 2);
    pass(scene, HOUR_S);
    assert_true(find_due(scene, &due));
    site.is_left = true;
    assert_int_equal(try_run(scene, &due, &now, &err), ERR_CANCELLED);
    site.is_left = false;
    site.content = books(scene, 200, 1); /* as it was taken last, and a row of task 2 is not so */
    assert_string_equal(run(scene), "APPLIED 3");
    assert_int_equal(get_task(scene, 2)->state, FEED_CANCELLED);
    assert_string_equal(item_offer(scene, "p1")->content->title, "Title 1");
}

/* Killed between the end of the task and the outcome. */
static void an_outcome_that_was_not_recorded_is_found_again(void **state)
{
    struct feed_scene *scene = start(state);
    Torg__V1__ImportFeedFileResponse answer = TORG__V1__IMPORT_FEED_FILE_RESPONSE__INIT;
    struct feed_file file = {
        .offers = &scene->place.offers, .language = LANGUAGE_EN, .patience = for_ever()};
    struct feed_due due;
    struct err err = {0};

    site.content = books(scene, 2, 1);
    file.content = bytes_of(site.content);
    set(scene, ADDRESS);
    assert_true(find_due(scene, &due));
    OK(feed_schedule_open_task(&scene->place.offers, &due, hash64(bytes_of(site.content)),
                               scene->arena, &err));
    file.key = due.key;
    OK(feed_file_import(&file, scene->arena, &answer, &err));
    assert_int_equal(answer.task->state, FEED_DONE);
    assert_string_equal(run(scene), "APPLIED 1");
    assert_string_equal(told(scene, get_task(scene, 1)), "DONE rows 2 created 2");
    assert_int_equal(get(scene)->runs[0]->counts->rows, 2);
}

static void a_run_that_was_overtaken_records_nothing(void **state)
{
    struct feed_scene *scene = start(state);
    Torg__V1__FeedSchedule *now;
    struct feed_due slow;
    struct err err = {0};

    site.content = books(scene, 2, 1);
    set(scene, ADDRESS);
    assert_true(find_due(scene, &slow));
    assert_string_equal(run(scene), "APPLIED 1");
    assert_int_equal(try_run(scene, &slow, &now, &err), ERR_STALE);
    assert_int_equal(get(scene)->run_count, 1);
    assert_int_equal(read_integer(scene->place.store, "SELECT COUNT(*) FROM feed_task"), 1);
}

static void pause_it(struct feed_scene *scene)
{
    struct feed_key key = feed_of(scene);
    Torg__V1__FeedSchedule *schedule;
    struct err err = {0};

    OK(feed_schedule_pause(&scene->place.offers, &key, scene->arena, &schedule, &err));
}

static void ask_again(struct feed_scene *scene)
{
    pass(scene, 1);
    run_now(scene, true);
}

static void move_away(struct feed_scene *scene)
{
    pass(scene, 1);
    set(scene, "https://shop.example/other.csv");
}

static void remove_it(struct feed_scene *scene)
{
    struct feed_key key = feed_of(scene);
    Torg__V1__FeedSchedule *schedule;
    struct err err = {0};

    OK(feed_schedule_remove(&scene->place.offers, &key, scene->arena, &schedule, &err));
}

static void what_is_said_while_it_runs_holds_afterwards(void **state)
{
    struct feed_scene *scene = start(state);
    struct feed_key key = feed_of(scene);
    Torg__V1__FeedSchedule *now;
    struct feed_due due;
    struct err err = {0};

    set(scene, ADDRESS); /* asked for again, to be taken whatever it is */
    site.content = books(scene, 2, 1);
    site.meanwhile = ask_again;
    assert_string_equal(run(scene), "APPLIED 1");
    site.meanwhile = NULL;
    assert_string_equal(run(scene), "APPLIED 2");
    pass(scene, HOUR_S); /* paused: what came meanwhile is not taken */
    site.content = books(scene, 2, 2);
    site.meanwhile = pause_it;
    assert_true(find_due(scene, &due));
    assert_int_equal(try_run(scene, &due, &now, &err), ERR_STALE);
    assert_false(find_due(scene, &due));
    assert_string_equal(shown(scene), "p1=1 p2=1");
    OK(feed_schedule_resume(&scene->place.offers, &key, scene->arena, &now, &err));
    site.meanwhile = move_away; /* another address: what came of the old one is not taken */
    assert_true(find_due(scene, &due));
    assert_int_equal(try_run(scene, &due, &now, &err), ERR_STALE);
    site.meanwhile = NULL;
    assert_true(find_due(scene, &due));
    assert_string_equal(due.address, "https://shop.example/other.csv");
    assert_string_equal(due.etag, "");
    site.meanwhile = remove_it;
    assert_int_equal(try_run(scene, &due, &now, &err), ERR_STALE);
    assert_int_equal(feed_schedule_get(&scene->place.offers, &key, scene->arena, &now, &err),
                     ERR_NOT_FOUND);
}

static void check_refused(struct feed_scene *scene, const char *address, int64_t period_s,
                          const char *field)
{
    const struct feed_terms wish = wish_of(address, period_s);
    struct feed_key key = feed_of(scene);
    struct violations violations = violations_in(scene->arena);
    Torg__V1__FeedSchedule *schedule;
    struct err err = {0};

    assert_int_equal(feed_schedule_set(&scene->place.offers, &key, &wish, &violations, scene->arena,
                                       &schedule, &err),
                     ERR_INVALID);
    assert_string_equal(violations.first->field, field);
}

static void addresses_and_periods_are_checked(void **state)
{
    struct feed_scene *scene = start(state);
    char *large = arena_printf(scene->arena, "https://shop.example/%*d", FEED_URL_SIZE_MAX, 1);

    for (char *at = large; *at; at++)
        *at = *at == ' ' ? 'a' : *at;
    check_refused(scene, "", HOUR_S, "address");
    check_refused(scene, "file:///etc/passwd", HOUR_S, "address");
    check_refused(scene, "https:///goods", HOUR_S, "address");
    check_refused(scene, "https://shop.example/my goods", HOUR_S, "address");
    check_refused(scene, "https://me:secret@shop.example/", HOUR_S, "address");
    check_refused(scene, large, HOUR_S, "address");
    check_refused(scene, ADDRESS, FEED_PERIOD_S_MIN - 1, "period_seconds");
    check_refused(scene, ADDRESS, FEED_PERIOD_S_MAX + 1, "period_seconds");
}

static void a_seller_has_so_many_and_sees_his_own(void **state)
{
    struct feed_scene *scene = start(state);
    const struct feed_terms wish = wish_of(ADDRESS, HOUR_S);
    Torg__V1__FeedSchedule *list[FEED_SCHEDULE_COUNT_MAX];
    struct violations violations = violations_in(scene->arena);
    struct feed_key key = feed_of(scene);
    Torg__V1__FeedSchedule *schedule;
    struct err err = {0};
    size_t count;

    for (int i = 0; i < FEED_SCHEDULE_COUNT_MAX; i++) {
        scene->feed = arena_printf(scene->arena, "feed-%02d", i);
        set(scene, ADDRESS);
    }
    set(scene, ADDRESS); /* the last of them again */
    key.feed = "one-more";
    assert_int_equal(feed_schedule_set(&scene->place.offers, &key, &wish, &violations, scene->arena,
                                       &schedule, &err),
                     ERR_LIMIT);
    scene->seller = "other";
    set(scene, ADDRESS);
    OK(feed_schedule_list(&scene->place.offers, "other", scene->arena, list, &count, &err));
    assert_int_equal(count, 1);
    OK(feed_schedule_list(&scene->place.offers, "s", scene->arena, list, &count, &err));
    assert_int_equal(count, FEED_SCHEDULE_COUNT_MAX);
    assert_string_equal(list[0]->feed, "feed-00");
    scene->seller = "s";
    scene->feed = "main";
}

static void categories_are_kept_for_runs_and_make_the_feed_due(void **state)
{
    struct feed_scene *scene = start(state);
    struct feed_key key = feed_of(scene);
    struct bytes map = bytes_of("Novels,books\n");
    Torg__V1__FeedCategories *kept;
    struct feed_due due;
    struct err err = {0};

    site.content = "id;category;title;price\na;Novels;Title 1;1\n";
    set(scene, ADDRESS);
    assert_string_equal(run(scene), "APPLIED 1");
    assert_int_equal(get(scene)->runs[0]->counts->refused, 1);
    assert_null(get(scene)->runs[0]->categories_time);
    OK(kept_map_set(&scene->place.offers, &key, map, scene->arena, &kept, &err));
    assert_string_equal(run(scene), "APPLIED 2"); /* the same file */
    assert_string_equal(shown(scene), "a=1");
    assert_non_null(get(scene)->runs[0]->categories_time);
    OK(kept_map_set(&scene->place.offers, &key, map, scene->arena, &kept, &err));
    assert_false(find_due(scene, &due)); /* nothing new was said */
    OK(kept_map_remove(&scene->place.offers, &key, scene->arena, &kept, &err));
    assert_int_equal(kept->content.len, map.size);
    assert_string_equal(run(scene), "APPLIED 3");
    assert_int_equal(get(scene)->runs[0]->counts->refused, 1);
    assert_int_equal(kept_map_remove(&scene->place.offers, &key, scene->arena, &kept, &err),
                     ERR_NOT_FOUND);
}

static void set_categories(struct feed_scene *scene)
{
    struct feed_key key = feed_of(scene);
    struct err err = {0};

    pass(scene, 1);
    OK(kept_map_set(&scene->place.offers, &key, bytes_of("Novels,books\n"), scene->arena, NULL,
                    &err));
}

static void categories_that_are_set_while_it_runs_count_for_the_next(void **state)
{
    struct feed_scene *scene = start(state);

    site.content = "id;category;title;price\na;Novels;Title 1;1\n";
    set(scene, ADDRESS);
    assert_string_equal(run(scene), "APPLIED 1");
    site.content = "id;category;title;price\na;Novels;Title 2;1\n";
    pass(scene, HOUR_S);
    site.meanwhile = set_categories;
    run(scene);
    site.meanwhile = NULL;
    assert_string_equal(run(scene), "APPLIED 3");
    assert_string_equal(shown(scene), "a=2");
}

/* How a file is read is said once, and a file that has not changed is read anew by it. */
static void what_is_said_of_reading_holds_for_runs(void **state)
{
    struct feed_scene *scene = start(state);
    struct violations violations = violations_in(scene->arena);
    Torg__V1__FeedReading reading = TORG__V1__FEED_READING__INIT;
    struct feed_due due;
    struct err err = {0};

    site.content = "id;category;title;price\np1;Romane;Title;1,999\n";
    site.etag = "\"one\"";
    set(scene, ADDRESS);
    assert_string_equal(run(scene), "APPLIED 1");
    assert_int_equal(get(scene)->runs[0]->counts->refused, 1);
    reading.decimal = (char *)"point";
    reading.category = (char *)"books";
    OK(feed_reading_check(&scene->place.offers, &reading, "reading", &violations, &err));
    set_read(scene, ADDRESS, &reading);
    assert_string_equal(run(scene), "APPLIED 2");
    assert_string_equal(site.asked, "");
    assert_int_equal(get(scene)->runs[0]->counts->created, 1);
    assert_string_equal(get(scene)->reading->decimal, "point");
    set_read(scene, ADDRESS, &reading); /* the same: nothing new to read */
    assert_string_equal(run(scene), "UNCHANGED");
    reading.category = (char *)"";
    set_read(scene, ADDRESS, &reading);
    assert_string_equal(run(scene), "APPLIED 3");
    assert_int_equal(get(scene)->runs[0]->counts->refused, 1);
    assert_false(find_due(scene, &due));
    reading.category = (char *)"nowhere";
    assert_int_equal(
        feed_reading_check(&scene->place.offers, &reading, "reading", &violations, &err),
        ERR_INVALID);
    assert_string_equal(violations.first->field, "reading.category");
    reading.decimal = (char *)"dot";
    assert_int_equal(
        feed_reading_check(&scene->place.offers, &reading, "reading", &violations, &err),
        ERR_INVALID);
    assert_string_equal(violations.last->field, "reading.decimal");
}

/* What no run could open is not remembered. */
static void an_encoding_is_refused_as_runs_would_refuse_it(void **state)
{
    /* known to iconv, which takes any number of such ends */
    static const char longest[] = "windows-1251//TRANSLIT//IGNORE//";
    struct feed_scene *scene = start(state);
    struct violations violations = violations_in(scene->arena);
    Torg__V1__FeedReading reading = TORG__V1__FEED_READING__INIT;
    struct err err = {0};

    assert_int_equal(strlen(longest), FEED_ENCODING_SIZE_MAX + 1);
    reading.encoding = arena_text(scene->arena, bytes_make(longest, FEED_ENCODING_SIZE_MAX));
    OK(feed_reading_check(&scene->place.offers, &reading, "reading", &violations, &err));
    site.content = books(scene, 1, 1);
    set_read(scene, ADDRESS, &reading);
    assert_string_equal(run(scene), "APPLIED 1");
    reading.encoding = (char *)longest;
    assert_int_equal(
        feed_reading_check(&scene->place.offers, &reading, "reading", &violations, &err),
        ERR_INVALID);
    assert_string_equal(violations.first->field, "reading.encoding");
}

/* By any of it: what is left out here is read as before for ever. */
static void another_reading_reads_the_same_file_anew(void **state)
{
    struct feed_scene *scene = start(state);
    Torg__V1__FeedReading reading = TORG__V1__FEED_READING__INIT;
    const struct {
        char **field, *value;
    } said[] = {{&reading.currency, (char *)"USD"},
                {&reading.encoding, (char *)"windows-1251"},
                {&reading.delimiter, (char *)";"},
                {&reading.format, (char *)"csv"}};

    site.content = books(scene, 2, 1);
    site.etag = "\"one\"";
    set(scene, ADDRESS);
    assert_string_equal(run(scene), "APPLIED 1");
    set_read(scene, ADDRESS, &reading); /* which says nothing */
    assert_string_equal(run(scene), "UNCHANGED");
    for (size_t i = 0; i < ARRAY_COUNT(said); i++) {
        *said[i].field = said[i].value;
        set_read(scene, ADDRESS, &reading);
        assert_string_equal(run(scene), arena_printf(scene->arena, "APPLIED %zu", i + 2));
        assert_string_equal(site.asked, "");
        set_read(scene, ADDRESS, &reading);
        assert_string_equal(run(scene), "UNCHANGED");
    }
}

static void categories_of_any_size_are_kept_and_bad_ones_refused(void **state)
{
    struct feed_scene *scene = start(state);
    struct feed_key key = feed_of(scene);
    char *large = arena_zero(scene->arena, FEED_MAP_KEPT_SIZE_MAX + 1);
    struct rng rng = rng_seeded(1);
    Torg__V1__FeedCategories *kept;
    struct bytes whole;
    struct err err = {0};

    OK(kept_map_check(&scene->place.offers, bytes_of("Novels,books\n"), &err));
    for (size_t i = 0; i < FEED_MAP_KEPT_SIZE_MAX; i++) /* the largest, hard to pack */
        large[i] = (char)rng_next(&rng);
    whole = bytes_make(large, FEED_MAP_KEPT_SIZE_MAX);
    OK(kept_map_set(&scene->place.offers, &key, whole, scene->arena, NULL, &err));
    OK(kept_map_find(&scene->place.offers, &key, scene->arena, &kept, &err));
    assert_true(bytes_equal(bytes_make(kept->content.data, kept->content.len), whole));
    assert_int_equal(kept_map_check(&scene->place.offers, bytes_of("Novels,nowhere\n"), &err),
                     ERR_INVALID);
    assert_int_equal(kept_map_set(&scene->place.offers, &key,
                                  bytes_make(large, FEED_MAP_KEPT_SIZE_MAX + 1), scene->arena, NULL,
                                  &err),
                     ERR_LIMIT);
}

static const struct test_case cases[] = {
    CASE(categories_are_kept_for_runs_and_make_the_feed_due),
    CASE(categories_that_are_set_while_it_runs_count_for_the_next),
    CASE(categories_of_any_size_are_kept_and_bad_ones_refused),
    CASE(what_is_said_of_reading_holds_for_runs),
    CASE(an_encoding_is_refused_as_runs_would_refuse_it),
    CASE(another_reading_reads_the_same_file_anew),
    CASE(a_file_is_taken_when_it_is_due_and_has_changed),
    CASE(an_unchanged_file_is_taken_once_a_day_and_when_asked),
    CASE(failures_are_tried_less_and_less_often_and_then_no_more),
    CASE(what_is_no_feed_makes_no_task),
    CASE(a_file_that_lacks_much_is_held_and_dropped_by_the_next),
    CASE(a_run_that_was_killed_is_done_again),
    CASE(an_outcome_that_was_not_recorded_is_found_again),
    CASE(a_run_that_was_overtaken_records_nothing),
    CASE(what_is_said_while_it_runs_holds_afterwards),
    CASE(addresses_and_periods_are_checked),
    CASE(a_seller_has_so_many_and_sees_his_own),
};

int main(int argc, char **argv)
{
    static struct case_list list = {
        .name = "offers-feed-schedules", .set_up = set_up, .tear_down = tear_down};

    cases_on_stores(&list, cases, ARRAY_COUNT(cases));
    return cases_run(&list, argc, argv);
}
