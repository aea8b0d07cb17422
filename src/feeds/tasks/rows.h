/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rows.h - what became of each row of a task, as the store keeps it: rows of feed_report.
 *
 * A row is written in the transaction that applies it. It is the report; it tells a row that is
 * sent again from a new one; and it has what undoing needs: the offer as it was, and a hash of what
 * the task made of it, by which a later touch is recognised. Reports go with time (keep.h).
 * Functions that take a transaction are for use inside one.
 */
#ifndef TORG_FEEDS_TASKS_ROWS_H
#define TORG_FEEDS_TASKS_ROWS_H

#include "base/violation.h"
#include "feeds/tasks/task.h"

#define FEED_ROW_GONE INT64_MAX /* the number of an offer that the feed no longer has */

struct feed_record {
    int64_t row; /* 0: there is none */
    const char *external_id;
    uint64_t event_hash;
    offerid offer_id; /* 0: none */
    Torg__V1__FeedReportRow__Outcome outcome;
    Torg__V1__FeedReportRow__Undo undo;
    bool changed;                    /* an offer was written */
    enum offer_status before_status; /* OFFER_NONE: it was created */
    uint64_t after_hash;
    struct bytes before_body; /* empty: the content was not changed */
    struct bytes detail;      /* empty: nothing to tell */
};

/* Where a page ended. */
struct feed_place {
    int64_t row;
    const char *external_id;
};

int feed_rows_find(struct store_tx *tx, int64_t task_no, int64_t row, const char *external_id,
                   struct arena *arena, struct feed_record *record, struct err *err);
/* The last row of the name. */
int feed_rows_find_last(struct store_tx *tx, int64_t task_no, const char *external_id,
                        struct arena *arena, struct feed_record *record, struct err *err);
/* before: as it was found; *outrun: it is no longer so. */
int feed_rows_put(struct store_tx *tx, int64_t task_no, const struct feed_record *before,
                  const struct feed_record *record, bool *outrun, struct err *err);
/* The next ones in their order, of one outcome or of all (0). */
int feed_rows_page(struct store_tx *tx, int64_t task_no, const struct feed_place *after,
                   Torg__V1__FeedReportRow__Outcome outcome, size_t max, struct arena *arena,
                   struct feed_record *records, size_t *count, struct err *err);
/* Those that changed something and are not undone, the last first, before a place. */
int feed_rows_page_back(struct store_tx *tx, int64_t task_no, const struct feed_place *before,
                        size_t max, struct arena *arena, struct feed_record *records, size_t *count,
                        struct err *err);
/* *outrun: it was marked already. */
int feed_rows_mark_undone(struct store_tx *tx, int64_t task_no, const struct feed_record *record,
                          Torg__V1__FeedReportRow__Undo undo, struct bytes detail, bool *outrun,
                          struct err *err);
/* Up to max rows of a task; how many that were. */
int feed_rows_forget(struct store_tx *tx, int64_t task_no, size_t max, int64_t *forgotten,
                     struct err *err);

/* --- what is told of a row --- */

/* problems, notes and a reason why it was not undone (may be NULL), packed; empty for none. */
int feed_detail_pack(const Torg__V1__FeedReportRow *row, struct arena *arena, struct bytes *detail,
                     struct err *err);
int feed_detail_open(struct bytes detail, struct arena *arena, Torg__V1__FeedReportRow **row,
                     struct err *err);
/* A list of problems of the arena, at most FEED_PROBLEM_COUNT_MAX. */
void feed_problems_of(const struct violations *violations, struct arena *arena,
                      Torg__V1__FeedProblem ***list, size_t *count);

/* A page of the report as messages. */
int feed_rows_read(const struct offers *offers, const struct feed_task *task,
                   struct feed_place *place, Torg__V1__FeedReportRow__Outcome outcome, size_t max,
                   struct arena *arena, Torg__V1__FeedReportRow **rows, size_t *count,
                   struct err *err);

/*
 * For the stage of photos: a photo of an offer could not be had, or (reason NULL) could be after
 * all. Notes it in the row by which a feed touched the offer last, if the offer is of a feed and
 * the report is still there.
 */
int feed_rows_note_photo(struct store_tx *tx, const Torg__V1__Offer *offer, const char *url,
                         const char *reason, struct arena *arena, struct err *err);

#endif
