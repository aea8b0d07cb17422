/* SPDX-License-Identifier: Apache-2.0 */
/*
 * retyped.h - queries that visitors typed after another one had not shown them what they wanted:
 * synonyms are proposed from these (search/synonyms/synonym_proposals.h).
 *
 * Kept are the two texts, with one blank between words, in how many visits, and when last; nothing
 * of who typed them.
 */
#ifndef TORG_CLICKS_RETYPED_H
#define TORG_CLICKS_RETYPED_H

#include "base/violation.h"
#include "store/store.h"
#include "torg/v1/event.pb-c.h"

/* What is wrong with an event of the kind RETYPE, and with these fields of others. */
void retyped_check(const Torg__V1__Event *event, size_t place, struct violations *reasons);

/* Names the two queries, for one visit to count once. */
uint64_t retyped_hash(const Torg__V1__Event *event, uint64_t session);

int retyped_count(struct store_tx *tx, const Torg__V1__Event *event, int64_t hour, struct err *err);

#endif
