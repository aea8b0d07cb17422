/* SPDX-License-Identifier: Apache-2.0 */
/*
 * list.h - from the best of a stage to its page: second phase, cap, cut, cursor.
 *
 * A capped page may need more hits than were kept; list_page then says that the stage is to be
 * walked again with more room.
 */
#ifndef TORG_QUERY_RUN_LIST_H
#define TORG_QUERY_RUN_LIST_H

#include "query/run/cursor.h"
#include "query/run/stage.h"

struct list {
    struct stage *stage;
    uint64_t hash;
    bool has_cursor;
    struct page_cursor cursor;
    struct ranked last; /* of the cursor: the page before ended here */
    uint32_t count_max; /* hits to keep in the coming walk */
};

int list_make(struct list *list, struct stage *stage, const struct query_plan *plan,
              struct err *err);

/* Begins a walk of the stage. */
int list_begin(struct list *list, bool counts, struct err *err);

/* Fills hits and cursor of the answer, or *again: walk once more. */
int list_page(struct list *list, struct query_answer *answer, bool *again, struct err *err);

#endif
