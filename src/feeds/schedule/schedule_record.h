/* SPDX-License-Identifier: Apache-2.0 */
/* schedule_record.h - a row of feed_schedule, only for schedule.c and schedule_run.c. */
#ifndef TORG_FEEDS_SCHEDULE_SCHEDULE_RECORD_H
#define TORG_FEEDS_SCHEDULE_SCHEDULE_RECORD_H

#include "feeds/schedule/schedule.h"

struct schedule_record {
    Torg__V1__FeedSchedule *message; /* NULL: there is none */
    int64_t due_us;                  /* 0: never */
    const char *etag;
    const char *modified;
    int64_t content_hash;
    int64_t applied_us;
    int64_t last_task_id;
    int64_t open_task_id;
    int64_t open_hash;
    enum language language;
};

int schedule_record_find(struct store_tx *tx, const struct feed_key *key, struct arena *arena,
                         struct schedule_record *record, struct err *err);
int schedule_record_put(struct store_tx *tx, const struct feed_key *key,
                        const struct schedule_record *record, struct arena *arena, struct err *err);
/* The next run takes the file, whatever it is. */
void schedule_record_forget_file(struct schedule_record *record);

#endif
