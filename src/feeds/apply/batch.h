/* SPDX-License-Identifier: Apache-2.0 */
/*
 * batch.h - some rows of one task, applied in one transaction.
 *
 * A batch reads what is there (one snapshot), decides row by row and builds the offers on the
 * caller's thread (decide.c), and writes on condition that nothing it read has changed; who
 * was outrun reads again. So a row that is refused harms no other, and the store's writer only
 * writes. Nothing but apply.c, end.c and decide.c includes this.
 */
#ifndef TORG_FEEDS_APPLY_BATCH_H
#define TORG_FEEDS_APPLY_BATCH_H

#include "base/object.h"
#include "feeds/bounds.h"
#include "feeds/tasks/rows.h"
#include "offers/change/external_item.h"
#include "offers/change/moderation.h"
#include "offers/change/offer_save.h"

enum feed_row_kind {
    FEED_ROW_UPSERT,
    FEED_ROW_DELETE, /* a row that asks for it: at the end of the task, too */
    FEED_ROW_ABSENT, /* the feed no longer has it: deleted at the end of the task */
    FEED_ROW_AWAY,   /* a row has called it not available: withdrawn at the end of the task */
};

struct feed_batch_row {
    /* What came; the external id is never empty unless the row is refused for it. */
    enum feed_row_kind kind;
    int64_t number; /* of what is absent or away: found with its name */
    int64_t line;   /* of its file; 0: not known */
    const char *external_id;
    uint64_t event_hash;
    Torg__V1__OfferContent *content; /* of an upsert that is not refused by its sender */
    bool is_unavailable;             /* an upsert of what cannot be had now */
    struct violations problems;      /* with any of these the row is refused */
    struct violations notes;
    size_t sent_problem_count; /* of the sender: those of a try come after them */
    size_t sent_note_count;
    struct feed_batch_row *heir; /* the next row of the same name, which counts instead */

    /* What was there. */
    struct feed_record kept;
    Torg__V1__FeedReportRow *kept_told; /* its detail; NULL: it has none */
    struct external_item item;
    Torg__V1__Offer *before;     /* of the item; a deleted one with the ban of the newest opinion */
    struct opinion_seen opinion; /* on a deleted one */

    /* What becomes of it. */
    struct feed_batch_row *counts; /* of the name, from here on; NULL: none could be used */
    bool is_settled;               /* applied before: nothing to do */
    bool touches;                  /* the item is written, with or without its offer */
    bool withdraws;                /* (of a dry run: would) what can be seen, for the feed */
    bool saves;                    /* the offer is */
    struct external_item item_after;
    struct feed_record record;
    struct offer_save save;
};

enum { FEED_BATCH_MAGIC = OBJECT_MAGIC('f', 'b', 'a', 't') };

struct feed_batch {
    uint32_t magic;
    const struct offers *offers;
    const struct feed_key *key;
    enum language language; /* of reasons */
    enum feed_state state;  /* the task has to be in */
    struct arena *arena;    /* of the batch */
    struct feed_task task;
    struct feed_batch_row rows[FEED_BATCH_COUNT];
    size_t count;
    bool outrun;
};

/* Applies the rows. Of those with the same external id the last that is not refused counts: the
 * others are told of it. ERR_PRECONDITION: the task is in another state, or a later one has ended.
 */
int feed_batch_run(struct feed_batch *batch, struct err *err);

/* What becomes of a row by what was there, after those behind it; fails only when nobody could tell
 * (no catalogue). */
int feed_row_decide(struct feed_batch *batch, struct feed_batch_row *row, struct err *err);

/* What a seller would take for a change: what he says, and the status; not the states of photos. */
uint64_t feed_state_hash(const Torg__V1__Offer *offer, struct arena *arena);

#endif
