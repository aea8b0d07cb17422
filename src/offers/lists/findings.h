/* SPDX-License-Identifier: Apache-2.0 */
/*
 * findings.h - the differences that a check of lists and counters found, as messages.
 *
 * A transaction may be run again: it notes findings->count at its beginning and returns to it.
 */
#ifndef TORG_OFFERS_LISTS_FINDINGS_H
#define TORG_OFFERS_LISTS_FINDINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "offers/record/offer_id.h"
#include "store/store.h"
#include "torg/v1/counters.pb-c.h"

#define DIFFERENCE(name) TORG__V1__COUNTER_DIFFERENCE__KIND__##name

/* Who checks, and what he may do; shared by the parts of a check. */
struct checking {
    struct store *store; /* borrowed, as the rest */
    bool fix;
    const char *principal; /* for the audit log */
    int64_t now_us;
};

struct findings {
    struct arena *arena;
    Torg__V1__CounterDifference **list;
    size_t count;
    size_t room;
};

/* A new one at the end; texts are copied. */
Torg__V1__CounterDifference *findings_add(struct findings *findings,
                                          Torg__V1__CounterDifference__Kind kind,
                                          const char *seller, const char *name);
/* The same for a row of a list. */
void findings_add_row(struct findings *findings, Torg__V1__CounterDifference__Kind kind,
                      const char *seller, int64_t preset, offerid id);

/* "ACTIVE"; "DELETED" for the list that nobody can ask for. */
const char *preset_name(int64_t preset);

/* Those from `first` on have been put right: marks them so and records it for the operators, in the
 * transaction that did it. */
int findings_fixed(struct store_tx *tx, const struct checking *checking, struct findings *findings,
                   size_t first, struct err *err);

#endif
