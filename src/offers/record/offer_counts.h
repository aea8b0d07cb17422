/* SPDX-License-Identifier: Apache-2.0 */
/*
 * offer_counts.h - what the cabinet lists and counts, and how a change of an offer changes it.
 */
#ifndef TORG_OFFERS_RECORD_OFFER_COUNTS_H
#define TORG_OFFERS_RECORD_OFFER_COUNTS_H

#include <stdbool.h>
#include <stdint.h>

#include "offers/record/offer_id.h"
#include "offers/record/offer_status.h"
#include "store/store.h"
#include "torg/v1/cabinet.pb-c.h"

enum {
    PRESET_ALL = TORG__V1__CABINET__PRESET__ALL,
    PRESET_DELETED = 100, /* kept for recounts and revivals; no client can name it */
    TOTAL_ROW_COUNT = 10, /* an offer counts in the row of its id % this */
    TOTAL_NAME_SIZE = 16, /* of the longest counter's name */
};

/* Every list that an offer can be in, in their order; the same for SQL. */
enum { PRESET_ID_COUNT = 8 };
extern const int64_t preset_ids[PRESET_ID_COUNT];
#define PRESET_IDS_SQL "1, 2, 3, 4, 5, 6, 8, 100"

/* The preset of a status, besides "all". */
int64_t preset_of(enum offer_status status);
/* Whether it is in the list "all". */
bool status_is_listed(enum offer_status status);
/* "money:RUB" */
void money_counter(const char *currency, char name[TOTAL_NAME_SIZE]);

/* An offer before and after; OFFER_NONE: it did not exist. */
struct offer_step {
    const char *seller;
    uint32_t shard;
    offerid id;
    int64_t created_us;
    enum offer_status before;
    enum offer_status after;
    const Torg__V1__Price *earned; /* of a first sale with a price; else NULL */
    bool first_sale;
};

/* Lists, their counts, totals. Statements touch rows in the order of their keys: no deadlocks. */
int offer_counts_apply(struct store_tx *tx, const struct offer_step *step, struct err *err);

#endif
