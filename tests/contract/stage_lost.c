/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stage_lost.c - what the reader of stages says of records that retention has deleted, when a
 * broker does what a real one does seldom.
 *
 * The broker is a script: it gives poll after poll what the case says, whatever was there before,
 * and from then on has deleted what the case says. So a case is a few lines, and always the same.
 */
#include "contract/cases.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "contract/place.h"
#include "patience.h"
#include "stage/reader.h"
#include "topic/topic_ops.h"

enum { OFFSET_MAX = 400, STEP_COUNT_MAX = 8, END = OFFSET_MAX };
#define STAGE "watched"

/* A poll; what comes of it are runs of offsets. */
struct step {
    struct {
        uint64_t from, to; /* inclusive */
    } runs[3];
    size_t run_count;
    uint64_t first;      /* kept, since before this poll */
    uint64_t generation; /* of the deal */
    bool fails_seek;     /* those before it */
    bool comes_by_seek;  /* not before one has succeeded */
    uint64_t sought;     /* its offset */
};

struct script {
    struct topics base;
    struct consumer consumer;
    struct clock_manual clock;
    struct step steps[STEP_COUNT_MAX];
    size_t step_count;
    size_t next; /* the reader's thread's, as all below that are not atomic */
    bool was_sought;
    bool is_held; /* nothing taken becomes durable */
    const char *key;
    struct topic_message messages[OFFSET_MAX];
    _Atomic uint64_t first;
    _Atomic uint64_t committed;
    atomic_int refusals[OFFSET_MAX]; /* of each, the next tries that fail */
    atomic_int uses[OFFSET_MAX];
    struct store_place at;
    struct store *store;
    struct topics *topics;
    struct stage_reader *reader;
};

static struct script *opening; /* the script of the broker that is opened next */

static struct script *of_topics(struct topics *topics)
{
    return container_of(topics, struct script, base);
}

static struct script *of_consumer(struct consumer *consumer)
{
    return container_of(consumer, struct script, consumer);
}

/* --- the broker --- */

static int script_open(const char *place, const struct topics_options *options,
                       struct topics **topics, struct err *err)
{
    (void)place;
    (void)options;
    (void)err;
    *topics = &opening->base;
    return 0;
}

static void script_close(struct topics *topics)
{
    (void)topics;
}

static int script_create(struct topics *topics, const char *name, const struct topic_config *config,
                         struct err *err)
{
    (void)topics;
    (void)config;
    return err_set(err, ERR_EXISTS, "topic %s is there", name);
}

static int script_describe(struct topics *topics, const char *name, struct topic_config *config,
                           struct err *err)
{
    (void)topics;
    (void)name;
    (void)err;
    *config = (struct topic_config){.partition_count = 1};
    return 0;
}

static int script_partition_count(struct topics *topics, const char *name, uint32_t *count,
                                  struct err *err)
{
    (void)topics;
    (void)name;
    (void)err;
    *count = 1;
    return 0;
}

static int script_range(struct topics *topics, const char *name, uint32_t partition,
                        uint64_t *first, uint64_t *end, struct err *err)
{
    struct script *script = of_topics(topics);

    (void)name;
    (void)partition;
    (void)err;
    *first = atomic_load(&script->first);
    *end = END;
    return 0;
}

static int script_lag(struct topics *topics, const char *group, const char *name,
                      uint32_t partition, struct topic_lag *lag, struct err *err)
{
    struct script *script = of_topics(topics);

    (void)group;
    (void)name;
    (void)partition;
    (void)err;
    *lag = (struct topic_lag){.first = atomic_load(&script->first),
                              .end = END,
                              .has_committed = true,
                              .committed = atomic_load(&script->committed)};
    return 0;
}

static int script_consumer_open(struct topics *topics, const struct consumer_options *options,
                                struct consumer **consumer, struct err *err)
{
    (void)options;
    (void)err;
    *consumer = &of_topics(topics)->consumer;
    return 0;
}

static void script_consumer_close(struct consumer *consumer)
{
    (void)consumer;
}

static const struct step *step_now(const struct script *script)
{
    return script->next < script->step_count ? &script->steps[script->next] : NULL;
}

static int script_poll(struct consumer *consumer, int timeout_ms,
                       const struct topic_message **messages, size_t *count, struct err *err)
{
    struct script *script = of_consumer(consumer);
    const struct step *step = step_now(script);

    (void)err;
    *messages = script->messages;
    clock_manual_advance(&script->clock, 2 * SECOND_US); /* what waits has waited */
    if (!step || (step->comes_by_seek && !script->was_sought)) {
        pause_ms(timeout_ms < 2 ? timeout_ms : 2);
        return 0;
    }
    for (size_t i = 0; i < step->run_count; i++)
        for (uint64_t offset = step->runs[i].from; offset <= step->runs[i].to; offset++)
            script->messages[(*count)++] =
                (struct topic_message){.topic = STAGE,
                                       .offset = offset,
                                       .key = bytes_of(script->key),
                                       .value = bytes_of("of no matter")};
    script->was_sought = false;
    atomic_store(&script->first, step->first);
    script->next++;
    return 0;
}

static int script_commit(struct consumer *consumer, const struct topic_position *positions,
                         size_t count, struct err *err)
{
    struct script *script = of_consumer(consumer);

    (void)err;
    assert_int_equal(count, 1);
    atomic_store(&script->committed, positions[0].offset);
    return 0;
}

static int script_seek(struct consumer *consumer, const char *topic, uint32_t partition,
                       uint64_t offset, struct err *err)
{
    struct script *script = of_consumer(consumer);
    const struct step *step = step_now(script);

    (void)topic;
    (void)partition;
    if (!step || step->fails_seek)
        return err_set(err, ERR_UNAVAILABLE, "no seek in this step");
    if (step->comes_by_seek && step->sought == offset)
        script->was_sought = true;
    return 0; /* as Kafka, which looks at the offset later */
}

static int script_assignment(struct consumer *consumer, struct topic_position *positions,
                             size_t max, size_t *count, struct err *err)
{
    (void)consumer;
    (void)err;
    assert_true(max > 0);
    positions[0] = (struct topic_position){.topic = STAGE};
    *count = 1;
    return 0;
}

static uint64_t script_generation(struct consumer *consumer)
{
    struct script *script = of_consumer(consumer);

    return script->next ? script->steps[script->next - 1].generation : 0;
}

static const struct topics_ops script_ops = {
    .scheme = "script",
    .open = script_open,
    .close = script_close,
    .create = script_create,
    .describe = script_describe,
    .partition_count = script_partition_count,
    .range = script_range,
    .lag = script_lag,
    .consumer_open = script_consumer_open,
    .consumer_close = script_consumer_close,
    .consumer_poll = script_poll,
    .consumer_commit = script_commit,
    .consumer_seek = script_seek,
    .consumer_assignment = script_assignment,
    .consumer_generation = script_generation,
};

/* --- the stage --- */

static int take(void *arg, const struct topic_message *message, struct arena *arena,
                struct err *err)
{
    struct script *script = arg;

    (void)arena;
    assert_true(message->offset < OFFSET_MAX);
    if (atomic_load(&script->refusals[message->offset]) > 0) {
        atomic_fetch_sub(&script->refusals[message->offset], 1);
        return err_set(err, ERR_INVALID, "is refused");
    }
    atomic_fetch_add(&script->uses[message->offset], 1);
    return 0;
}

static int flush(void *arg, uint32_t partition, bool is_forced, bool *is_flushed, struct err *err)
{
    struct script *script = arg;

    (void)partition;
    (void)err;
    *is_flushed = !script->is_held || is_forced;
    return 0;
}

static const struct stage_reader_handler handler = {.take = take, .flush = flush};

static struct script *open_script(void **state)
{
    struct script *script = mem_zero(sizeof(*script));
    struct err err;

    if (!store_place_open(&script->at, case_on_servers(state), "", &script->store))
        skip();
    opening = script;
    script->key = "a";
    clock_manual_init(&script->clock, INT64_C(1800000000000000));
    topics_add_backend(&script_ops);
    OK(topics_open("script:", NULL, &script->topics, &err));
    return script;
}

static struct step *add(struct script *script, uint64_t first, uint64_t from, uint64_t to)
{
    struct step *step = &script->steps[script->step_count++];

    assert_true(script->step_count <= STEP_COUNT_MAX && to < OFFSET_MAX);
    step->first = first;
    step->runs[step->run_count].from = from;
    step->runs[step->run_count++].to = to;
    return step;
}

static void add_run(struct step *step, uint64_t from, uint64_t to)
{
    step->runs[step->run_count].from = from;
    step->runs[step->run_count++].to = to;
}

static void start(struct script *script, enum parked_order order, bool is_strict)
{
    const struct stage_reader_options options = {.stage = STAGE,
                                                 .topic = STAGE,
                                                 .group = "g",
                                                 .handler = &handler,
                                                 .arg = script,
                                                 .topics = script->topics,
                                                 .store = script->store,
                                                 .clock = &script->clock.base,
                                                 .order = order,
                                                 .is_strict = is_strict};
    struct err err;

    OK(stage_reader_start(&options, &script->reader, &err));
}

static void close_script(struct script *script)
{
    stage_reader_stop(script->reader);
    topics_close(script->topics);
    topics_add_backend(NULL);
    store_place_close(&script->at, script->store);
    opening = NULL;
    free(script);
}

#define WAIT_UNTIL(script, condition)                                                              \
    do {                                                                                           \
        int waited = 0;                                                                            \
        while (!(condition) && waited < PATIENCE_MS) {                                             \
            clock_manual_advance(&(script)->clock, SECOND_US);                                     \
            pause_ms(5);                                                                           \
            waited += 5;                                                                           \
        }                                                                                          \
        if (!(condition))                                                                          \
            fail_msg("waited for too long: %s", #condition);                                       \
    } while (0)

/* What is parked are `count` rows of lost records, and this is one of them. */
static void check_lost(struct script *script, int count, uint64_t from, uint64_t last)
{
    char sql[300];

    assert_int_equal(read_integer(script->store, "SELECT COUNT(*) FROM parked"), count);
    snprintf(sql, sizeof(sql),
             "SELECT COUNT(*) FROM parked WHERE record_key = 'records that were lost, partition 0 "
             "from %d' AND reason LIKE '%d records of %%, offsets %d to %d, were deleted %%'",
             (int)from, (int)(last - from + 1), (int)from, (int)last);
    assert_int_equal(read_integer(script->store, sql), 1);
}

static void check_used(struct script *script, uint64_t from, uint64_t last)
{
    for (uint64_t offset = from; offset <= last; offset++)
        if (!atomic_load(&script->uses[offset]))
            fail_msg("%d was not used", (int)offset);
}

/* --- cases --- */

/* What was fetched ahead comes with what follows behind the gap. */
static void a_gap_inside_a_poll_is_told(void **state)
{
    struct script *script = open_script(state);
    struct step *step;

    add(script, 0, 0, 9);
    step = add(script, 301, 10, 20);
    add_run(step, 301, 310);
    start(script, PARKED_ASIDE, false);
    WAIT_UNTIL(script, atomic_load(&script->committed) == 311);
    check_lost(script, 1, 21, 300);
    check_used(script, 0, 20);
    check_used(script, 301, 310);
    close_script(script);
}

/* As the ends of transactions leave them. */
static void a_gap_that_nothing_was_in_is_none(void **state)
{
    struct script *script = open_script(state);
    struct step *step = add(script, 0, 0, 9);

    add_run(step, 11, 19);
    add_run(step, 21, 29);
    add(script, 5, 31, 39);
    start(script, PARKED_ASIDE, false);
    WAIT_UNTIL(script, atomic_load(&script->committed) == 40);
    assert_int_equal(read_integer(script->store, "SELECT COUNT(*) FROM parked"), 0);
    close_script(script);
}

/* The record that was waited for comes, and behind it the gap. */
static void a_gap_behind_what_was_waited_for_is_told(void **state)
{
    struct script *script = open_script(state);
    struct step *step;

    atomic_store(&script->refusals[5], 1);
    add(script, 0, 0, 5);
    step = add(script, 301, 5, 20);
    step->comes_by_seek = true;
    step->sought = 5;
    add_run(step, 301, 310);
    start(script, PARKED_ASIDE, true);
    WAIT_UNTIL(script, atomic_load(&script->committed) == 311);
    check_lost(script, 1, 21, 300);
    check_used(script, 0, 20);
    close_script(script);
}

/* A way back of earlier says nothing of the next one. */
static void what_comes_while_the_way_back_fails_is_not_skipped_to(void **state)
{
    struct script *script = open_script(state);
    struct step *step;

    atomic_store(&script->refusals[50], 1);
    atomic_store(&script->refusals[60], 1);
    add(script, 0, 0, 50);
    step = add(script, 0, 50, 60);
    step->comes_by_seek = true;
    step->sought = 50;
    add(script, 80, 100, 110)->fails_seek = true;
    step = add(script, 80, 80, 110);
    step->comes_by_seek = true;
    step->sought = 60;
    start(script, PARKED_ASIDE, true);
    WAIT_UNTIL(script, atomic_load(&script->committed) == 111);
    check_used(script, 80, 110);
    check_lost(script, 1, 60, 79);
    close_script(script);
}

/* Some are gone, but what came is not the first of those that are left. */
static void what_is_left_of_what_was_waited_for_is_used(void **state)
{
    struct script *script = open_script(state);
    struct step *step;

    atomic_store(&script->refusals[60], 1);
    add(script, 0, 0, 60);
    step = add(script, 80, 100, 110);
    step->comes_by_seek = true;
    step->sought = 60;
    step = add(script, 80, 80, 110);
    step->comes_by_seek = true;
    step->sought = 80;
    start(script, PARKED_ASIDE, true);
    WAIT_UNTIL(script, atomic_load(&script->committed) == 111);
    check_used(script, 80, 110);
    check_lost(script, 1, 60, 79);
    close_script(script);
}

/* Where the topic begins there need not be a record: nothing waits for one. */
static void a_beginning_without_a_record_is_passed(void **state)
{
    struct script *script = open_script(state);
    struct step *step;

    atomic_store(&script->refusals[60], 1);
    add(script, 0, 0, 60);
    step = add(script, 80, 100, 110);
    step->comes_by_seek = true;
    step->sought = 60;
    step = add(script, 80, 100, 110);
    step->comes_by_seek = true;
    step->sought = 80;
    start(script, PARKED_ASIDE, true);
    WAIT_UNTIL(script, atomic_load(&script->committed) == 111);
    check_used(script, 100, 110);
    check_lost(script, 1, 60, 79);
    close_script(script);
}

/* Whatever a record's key says, it is one; and the row that has this key stays. */
static void a_record_may_have_the_key_of_a_row_of_lost_ones(void **state)
{
    const enum parked_order orders[] = {PARKED_IN_ORDER, PARKED_NEWEST, PARKED_ASIDE};

    for (size_t i = 0; i < ARRAY_COUNT(orders); i++) {
        struct script *script = open_script(state);

        script->key = "records that were lost, partition 0 from 3";
        add(script, 0, 0, 2);
        add(script, 10, 10, 12);
        atomic_store(&script->refusals[10], 2);
        atomic_store(&script->refusals[11], 2);
        atomic_store(&script->refusals[12], 2);
        start(script, orders[i], false);
        WAIT_UNTIL(script, atomic_load(&script->committed) == 13);
        WAIT_UNTIL(script, atomic_load(&script->uses[12]) == 1);
        WAIT_UNTIL(script, read_integer(script->store, "SELECT COUNT(*) FROM parked") == 1);
        if (orders[i] != PARKED_NEWEST)
            check_used(script, 10, 12);
        check_lost(script, 1, 3, 9);
        close_script(script);
    }
}

/* Dealt anew, and it stayed here: what was taken of it, and is not committed, is not lost. */
static void what_was_taken_before_a_deal_is_not_lost(void **state)
{
    struct script *script = open_script(state);

    script->is_held = true;
    add(script, 0, 0, 4);
    add(script, 7, 7, 9)->generation = 1;
    start(script, PARKED_ASIDE, false);
    WAIT_UNTIL(script, atomic_load(&script->uses[9]) == 1);
    assert_int_equal(atomic_load(&script->committed), 0);
    check_lost(script, 1, 5, 6);
    close_script(script);
}

static const struct test_case cases[] = {
    CASE(a_gap_inside_a_poll_is_told),
    CASE(a_gap_that_nothing_was_in_is_none),
    CASE(a_gap_behind_what_was_waited_for_is_told),
    CASE(what_comes_while_the_way_back_fails_is_not_skipped_to),
    CASE(what_is_left_of_what_was_waited_for_is_used),
    CASE(a_beginning_without_a_record_is_passed),
    CASE(a_record_may_have_the_key_of_a_row_of_lost_ones),
    CASE(what_was_taken_before_a_deal_is_not_lost),
};

int main(int argc, char **argv)
{
    static struct case_list list = {.name = "stage-lost"};

    cases_on_stores(&list, cases, ARRAY_COUNT(cases));
    return cases_run(&list, argc, argv);
}
