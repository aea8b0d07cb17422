/* SPDX-License-Identifier: Apache-2.0 */
/* feed_print.h - tasks of feeds as people read them, and what the commands of feeds share. */
#ifndef TORG_ROLES_COMMANDS_FEED_PRINT_H
#define TORG_ROLES_COMMANDS_FEED_PRINT_H

#include <stdio.h>

#include "feeds/mapping/mapping.h"
#include "feeds/report/reasons.h"
#include "roles/commands/feed_desk.h"

/* "done", "held" */
const char *feed_task_state_text(const Torg__V1__FeedTask *task, bool is_russian);
/* With blanks behind it up to so many characters. */
const char *feed_padded(const char *text, size_t width, struct arena *arena);

/* Counts, a line each, those that are not 0. */
void feed_print_counts(const Torg__V1__FeedTask *task, bool is_russian);
/* Where the task stands, and which commands may follow. */
void feed_print_state(const Torg__V1__FeedTask *task, bool is_russian, struct arena *arena);
/* Reasons of a task in groups: why rows were refused, and what was left out of others. */
struct feed_groups {
    struct feed_reasons *refused;
    struct feed_reasons *noted; /* NULL: not wanted */
    bool is_russian;
};

/* Gathers those of a task; without notes, refused rows alone are read. */
int feed_groups_read(struct feed_desk *desk, const Torg__V1__FeedTask *task,
                     const struct feed_groups *groups, struct err *err);
void feed_groups_print(const struct feed_groups *groups, FILE *to);

/* Writes the report; the path's end says whether as JSON, CSV or XML, "-" is JSON lines on standard
 * output. outcome 0: all. */
int feed_write_report(struct feed_desk *desk, const Torg__V1__FeedTask *task,
                      Torg__V1__FeedReportRow__Outcome outcome, bool is_russian, const char *path,
                      struct err *err);
/* ERR_INVALID unless the name ends in .json, .csv or .xml. */
int feed_check_report_path(const char *path, struct err *err);

/* What no attribute of the rows' categories is for: kept, and left out. */
void feed_print_unknown(struct feed_mapping *mapping, bool is_russian);
void feed_put_unknown(struct feed_mapping *mapping, struct buf *out); /* members of a JSON object */

/* Until a task that deletes or is being undone has come to its end. */
int feed_wait(struct feed_desk *desk, Torg__V1__FeedTask **task, struct err *err);

/* --- of a command line --- */

/* --language. */
int feed_language(const struct invocation *invocation, bool *is_russian, struct err *err);
/* --seller, which has to be there, and --feed. */
int feed_names(const struct invocation *invocation, char **seller, char **feed, struct err *err);
/* Text that is a task's number: > 0. */
int feed_task_number(const char *what, const char *text, int64_t *number, struct err *err);

#endif
