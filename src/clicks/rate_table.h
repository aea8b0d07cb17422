/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rate_table.h - counts of clicks that were made elsewhere, loaded whole under an epoch.
 *
 *   begin ── add, add, … ── end: ONE transaction ──> in force: click_value ctr_load, ctr_epoch
 *
 * An epoch is the moment up to which its table counts. What a table has of an offer, or of a
 * category, takes the place of what was counted here in hours that began before that moment; hours
 * since are added to it (rater.c). An epoch gives way to a later one alone, so an older push never
 * wins. Until the end nothing of a load is seen; loads that were given up, left alone or replaced
 * are removed some rows at a time.
 *
 * Threads: any.
 */
#ifndef TORG_CLICKS_RATE_TABLE_H
#define TORG_CLICKS_RATE_TABLE_H

#include "base/arena.h"
#include "base/clock.h"
#include "base/violation.h"
#include "store/store.h"
#include "torg/v1/ctr.pb-c.h"

/* What it stands on, all borrowed. */
struct rate_desk {
    struct store *store;
    const struct clock *clock;
    void (*pushed)(void *arg); /* called when another table is in force; may be NULL */
    void *pushed_arg;
};

/* ERR_INVALID: the epoch is no moment of the past; ERR_PRECONDITION: one as late is in force;
 * ERR_LIMIT: as many are loaded as may be at once. who: for the audit log. */
int rate_table_begin(const struct rate_desk *desk, const Torg__V1__BeginCtrPushRequest *request,
                     const char *who, int64_t *load, struct err *err);
/* All of the rows or none. ERR_INVALID: reasons name the row; ERR_PRECONDITION: it is no load on
 * its way (any more). */
int rate_table_add(const struct rate_desk *desk, const Torg__V1__PushCtrRequest *request,
                   struct violations *reasons, struct err *err);
/* Again with the rows of the one in force: 0, and nothing changes, as an answer may be lost.
 * ERR_INVALID: of no rows; ERR_PRECONDITION: it lacks rows, or one as late is in force by now. */
int rate_table_end(const struct rate_desk *desk, const Torg__V1__EndCtrPushRequest *request,
                   const char *who, struct err *err);
int rate_table_list(const struct rate_desk *desk, struct arena *arena,
                    Torg__V1__GetCtrResponse *response, struct err *err);

/* A load that will never be in force (again); load 0: there is none. */
struct rate_dead {
    int64_t load;
    bool was_in_force; /* rates by it were sent: the rater sends others before its rows go */
};
int rate_table_find_dead(const struct rate_desk *desk, struct rate_dead *dead, struct err *err);
/* Removes some of its rows, with the last of them the load. upto: no offers behind this one;
 * BYTES_EMPTY: whichever they are. */
int rate_table_sweep(const struct rate_desk *desk, const struct rate_dead *dead, struct bytes upto,
                     size_t *count, struct err *err);

/* The table in force, as the transaction sees it; load 0: there is none. */
struct rate_table {
    int64_t load;
    int64_t epoch; /* seconds since 1970; 0 without one */
    bool is_sent;
    struct bytes sent_offer; /* in the arena */
};
int rate_table_read(struct store_tx *tx, struct arena *arena, struct rate_table *table,
                    struct err *err);
/* Rates up to this offer are sent, and nobody was faster; is_all: no others are left. */
int rate_table_note_sent(struct store *store, const struct rate_table *table, struct bytes offer,
                         bool is_all, struct err *err);

#endif
