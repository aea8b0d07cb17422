/* SPDX-License-Identifier: Apache-2.0 */
/* run.c - see run.h. */
#include "feeds/schedule/run.h"

#include "base/hash.h"
#include "codec/message.h"
#include "feeds/apply/file.h"
#include "feeds/bounds.h"

#define OUTCOME(name) TORG__V1__FEED_RUN__OUTCOME__##name

struct run {
    const struct feed_runner *runner;
    struct feed_due *due;
    struct arena *arena;
    struct feed_fetched fetched;
    struct feed_run_result result;
};

/* The fault is the address's or the file's: nobody else can mend it. */
static bool is_of_file(int rc)
{
    return rc == ERR_INVALID || rc == ERR_LIMIT || rc == ERR_PRECONDITION;
}

/* That of a fetch is the address's unless we were asked to stop or our disk is to blame. */
static bool is_of_address(int rc)
{
    return is_of_file(rc) || err_is_passing(rc) || rc == ERR_NOT_FOUND || rc == ERR_DENIED;
}

static void note_failure(struct run *run, const struct err *err)
{
    run->result.outcome = OUTCOME(FAILED);
    run->result.reason = arena_strdup(run->arena, err->text);
}

static int choose_task(void *arg, struct feed_key *key, struct err *err)
{
    struct run *run = arg;
    int rc = feed_schedule_open_task(run->runner->offers, run->due, run->result.content_hash,
                                     run->arena, err);

    *key = run->due->key;
    return rc;
}

static int apply(struct run *run, struct err *err)
{
    const struct feed_runner *runner = run->runner;
    const struct feed_file file = {.offers = runner->offers,
                                   .language = run->due->language,
                                   .key = run->due->key,
                                   .content = run->fetched.content,
                                   .end_is_unknown = run->fetched.end_is_unknown,
                                   .reading = run->due->reading,
                                   .patience = runner->patience,
                                   .is_left = runner->is_left,
                                   .is_left_arg = runner->is_left_arg,
                                   .choose_task = choose_task,
                                   .choose_task_arg = run,
                                   .size_max = (uint64_t)FEED_FILE_MB_MAX << 20,
                                   .row_count_max = FEED_ROW_COUNT_MAX};
    Torg__V1__ImportFeedFileResponse *answer = MESSAGE_NEW(import_feed_file_response, run->arena);
    int rc = feed_file_import(&file, run->arena, answer, err);

    if (runner->is_left && runner->is_left(runner->is_left_arg))
        return err_set(err, ERR_CANCELLED, "the feed was left");
    if (is_of_file(rc)) {
        note_failure(run, err);
        return 0;
    }
    if (rc)
        return rc;
    run->result.task = answer->task;
    run->result.reason = answer->broken;
    run->result.categories_time = answer->categories_time;
    if (answer->task->state == TORG__V1__FEED_TASK__STATE__HELD)
        run->result.outcome = OUTCOME(HELD);
    else if (answer->task->state == TORG__V1__FEED_TASK__STATE__ENDING)
        return err_set(err, ERR_CANCELLED, "the feed was left");
    else
        run->result.outcome = OUTCOME(APPLIED);
    return 0;
}

/* What the server gave, against what was taken last. */
static int apply_if_changed(struct run *run, struct err *err)
{
    const struct feed_fetched *fetched = &run->fetched;
    uint64_t hash;

    if (fetched->is_unchanged) {
        run->result.outcome = OUTCOME(UNCHANGED);
        return 0;
    }
    hash = hash64(fetched->content);
    run->result.content_hash = hash ? hash : 1; /* 0 is of no file */
    run->result.size = (int64_t)fetched->content.size;
    run->result.etag = fetched->etag;
    run->result.modified = fetched->modified;
    if (run->result.content_hash == run->due->content_hash) {
        run->result.outcome = OUTCOME(UNCHANGED);
        return 0;
    }
    return apply(run, err);
}

int feed_run(const struct feed_runner *runner, struct feed_due *due, struct arena *arena,
             Torg__V1__FeedSchedule **schedule, struct err *err)
{
    struct run run = {.runner = runner,
                      .due = due,
                      .arena = arena,
                      .result = {.begin_us = clock_wall_us(runner->offers->clock), .reason = ""}};
    int rc = runner->fetch(runner->fetch_arg, due->address, due->etag, due->modified, arena,
                           &run.fetched, err);

    *schedule = NULL;
    if (is_of_address(rc)) {
        note_failure(&run, err);
        rc = 0;
    } else if (!rc) {
        rc = apply_if_changed(&run, err);
    }
    feed_fetched_release(&run.fetched);
    return rc ? rc : feed_schedule_end_run(runner->offers, due, &run.result, arena, schedule, err);
}
