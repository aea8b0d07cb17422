/* SPDX-License-Identifier: Apache-2.0 */
/*
 * task.h - one sending of a feed: its state, its counts, and who may still change it.
 *
 *      RUNNING ── end ──► ENDING ── nothing left to delete ──► DONE ──┐
 *        ▲  │ guard         ▲                                         ├─ undo ─► UNDOING ─► UNDONE
 *   rows │  ▼               │                                         │
 *        └─ HELD ─ confirm ─┘ ── cancel ──► CANCELLED ────────────────┘
 *
 * A dry run ends RUNNING → DONE. Every step is one transaction that looks at the state before it
 * writes, so a process that dies leaves a task in one of these states, and anyone can go on: who
 * sends it again, the topic that delivers its end again, or the worker (keep.h).
 */
#ifndef TORG_FEEDS_TASKS_TASK_H
#define TORG_FEEDS_TASKS_TASK_H

#include "offers/change/offers.h"
#include "torg/v1/feed.pb-c.h"

enum feed_state {
    FEED_RUNNING = TORG__V1__FEED_TASK__STATE__RUNNING,
    FEED_HELD = TORG__V1__FEED_TASK__STATE__HELD,
    FEED_ENDING = TORG__V1__FEED_TASK__STATE__ENDING,
    FEED_DONE = TORG__V1__FEED_TASK__STATE__DONE,
    FEED_CANCELLED = TORG__V1__FEED_TASK__STATE__CANCELLED,
    FEED_UNDOING = TORG__V1__FEED_TASK__STATE__UNDOING,
    FEED_UNDONE = TORG__V1__FEED_TASK__STATE__UNDONE,
};

struct feed_key {
    const char *seller;
    const char *feed;
    int64_t task_id;
    const char *actor; /* who moves it, for the audit log; NULL: a driver of ours */
};

struct feed_task {
    int64_t no;                  /* 0: there is none */
    Torg__V1__FeedTask *message; /* with its counts; NULL: there is none */
};

const struct feed_rules *feed_rules_of(const struct offers *offers);

/* ERR_INVALID, told of its field: a seller or a name that is none, a task_id below 1. An empty name
 * is "main". */
int feed_key_check(struct feed_key *key, struct violations *violations, struct err *err);

/* --- inside transactions --- */

int feed_task_find(struct store_tx *tx, const struct feed_key *key, struct arena *arena,
                   struct feed_task *task, struct err *err);
/* A new one, RUNNING; ERR_PRECONDITION when a later one has ended. */
int feed_task_add(struct store_tx *tx, const struct offers *offers, const struct feed_key *key,
                  bool dry_run, struct arena *arena, struct feed_task *task, struct err *err);
/* Writes its state and counts, with the time of now. */
int feed_task_put(struct store_tx *tx, const struct offers *offers, struct feed_task *task,
                  struct arena *arena, struct err *err);
/* ERR_PRECONDITION when a task later than this has ended. */
int feed_task_check_newest(struct store_tx *tx, const struct feed_key *key, struct err *err);
/* No older task may begin or go on from here. */
int feed_task_mark_ended(struct store_tx *tx, const struct feed_key *key, struct err *err);

/* --- by themselves --- */

enum feed_wish { FEED_AS_IT_IS, FEED_REAL, FEED_DRY_RUN };

/* Makes the task if it is not there (FEED_AS_IT_IS: a real one), and lets a HELD one go on.
 * ERR_PRECONDITION: it was cancelled or undone, a later one has ended, or it is (not) a dry run.
 * One that has ended is opened too: its rows may come again. */
int feed_task_open(const struct offers *offers, const struct feed_key *key, enum feed_wish wish,
                   struct arena *arena, struct feed_task *task, struct err *err);
/* ERR_NOT_FOUND when there is none. */
int feed_task_get(const struct offers *offers, const struct feed_key *key, struct arena *arena,
                  struct feed_task *task, struct err *err);
/* Tasks of a feed with a task_id below `before`, the newest first. */
int feed_task_list(const struct offers *offers, const struct feed_key *key, int64_t before,
                   size_t max, struct arena *arena, Torg__V1__FeedTask **tasks, size_t *count,
                   struct err *err);
/* Those of all sellers that are RUNNING, HELD, ENDING or UNDOING, the longest silent first. */
int feed_task_list_busy(struct store *store, size_t max, struct arena *arena,
                        Torg__V1__FeedTask **tasks, size_t *count, struct err *err);
/* From one state to another but HELD, if it still is in it; *task is what it is now. */
int feed_task_move(const struct offers *offers, const struct feed_key *key, enum feed_state from,
                   enum feed_state to, struct arena *arena, struct feed_task *task,
                   struct err *err);

const char *feed_state_name(enum feed_state state); /* "RUNNING" */

#endif
