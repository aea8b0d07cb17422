/* SPDX-License-Identifier: Apache-2.0 */
/*
 * feeds_fixture.h - feeds in tests, as short texts.
 *
 * Rows: "a=1 b=2 -c d=?" are upserts of the items a and b with content number 1 and 2, a row that
 * deletes c, and an upsert of d that the catalogue refuses. "e=1!" is not available, "f=1@" has a
 * photo. Their numbers are 1, 2, … Offers of a seller: "a=1 b=2:BANNED", in order of external
 * ids, without the deleted.
 */
#ifndef TORG_TESTS_CONTRACT_FEEDS_FIXTURE_H
#define TORG_TESTS_CONTRACT_FEEDS_FIXTURE_H

#include "contract/offers_fixture.h"
#include "feeds/apply/end.h"
#include "feeds/tasks/rows.h"
#include "feeds/tasks/rules.h"
#include "feeds/tasks/task.h"

#define OK(call)                                                                                   \
    do {                                                                                           \
        if ((call) != 0)                                                                           \
            fail_msg("%s: %s", #call, err.text);                                                   \
    } while (0)

struct feed_scene {
    struct offers_place place;
    struct feed_rules rules;
    struct arena *arena;
    const char *seller; /* "s" */
    const char *feed;   /* "main" */
};

/* False when the server is missing. */
bool feed_scene_open(struct feed_scene *scene, bool postgres);
void feed_scene_close(struct feed_scene *scene);

struct feed_key key_of(const struct feed_scene *scene, int64_t task_id);
const struct feed_patience *for_ever(void);

/* Events of the texts; the first row has the number first + 1. */
Torg__V1__FeedEvent **events_of(struct feed_scene *scene, const char *rows, int first,
                                size_t *count);
/* Each returns what the core does; the task (may be NULL) is of the scene's arena. */
int try_rows(struct feed_scene *scene, int64_t task_id, const char *rows, int first,
             struct err *err);
int try_end(struct feed_scene *scene, int64_t task_id, int64_t row_count, Torg__V1__FeedTask **task,
            struct err *err);
/* Opens, sends all rows, ends; all has to go well. */
Torg__V1__FeedTask *run_task(struct feed_scene *scene, int64_t task_id, const char *rows);
Torg__V1__FeedTask *get_task(struct feed_scene *scene, int64_t task_id);
Torg__V1__FeedTask *undo(struct feed_scene *scene, int64_t task_id);
Torg__V1__FeedTask *confirm(struct feed_scene *scene, int64_t task_id);

/* "DONE rows 2 created 2": the state, and the counts that are not 0. */
const char *told(struct feed_scene *scene, const Torg__V1__FeedTask *task);
/* "1 a CREATED; 2 b REFUSED content.title; - c DELETED": the report. */
const char *report(struct feed_scene *scene, int64_t task_id);
/* The seller's offers. */
const char *shown(struct feed_scene *scene);

/* Of the item, deleted or not; NULL when there is none. */
Torg__V1__Offer *item_offer(struct feed_scene *scene, const char *external_id);
void move_item(struct feed_scene *scene, const char *external_id, enum offer_move move);
/* An opinion on an offer, deleted or not: a ban or its end. Whether it was applied. */
bool judge(struct feed_scene *scene, const char *offer_id, int64_t revision, bool ban);
/* Rows of the table feed are as they have to be. */
void check_items(struct feed_scene *scene);

#endif
