/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file.h - a feed file that came whole, as a task: what `torg feed import` does, in one call.
 *
 *     bytes ──► gunzip ──► feed_reader ──► feed_mapping (by the catalogue) ──► feed_intake
 *
 * The first row is read before the task is opened: what is no feed makes no task. A file that
 * breaks later, or whose sender leaves, ends its task as cut short, so it is held.
 */
#ifndef TORG_FEEDS_APPLY_FILE_H
#define TORG_FEEDS_APPLY_FILE_H

#include "feeds/apply/end.h"

struct feed_file {
    const struct offers *offers;
    enum language language; /* of reasons */
    struct feed_key key;
    bool dry_run;
    struct bytes content;
    bool end_is_unknown; /* it came from who could not tell where it ends: it may have been cut */
    struct bytes categories; /* see category_map.h: kept for the feed; empty: those that are kept */
    const Torg__V1__FeedReading *reading; /* NULL: as nobody has said anything */
    const struct feed_patience *patience; /* of the deletions at its end */
    bool (*is_left)(const void *arg);     /* the sender is gone: asked at each row */
    const void *is_left_arg;
    /* Chooses the task once the first row is known; NULL: the key has it. */
    int (*choose_task)(void *arg, struct feed_key *key, struct err *err);
    void *choose_task_arg;
    bool tells_categories; /* in the answer: those of the file, with proposals */
    uint64_t size_max;     /* unpacked; 0: FEED_CALL_FILE_SIZE_MAX */
    uint64_t row_count_max;
};

/* ERR_INVALID, ERR_LIMIT: it is no feed. The answer is in the arena. */
int feed_file_import(const struct feed_file *file, struct arena *arena,
                     Torg__V1__ImportFeedFileResponse *response, struct err *err);

#endif
