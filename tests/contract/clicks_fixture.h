/* SPDX-License-Identifier: Apache-2.0 */
/* clicks_fixture.h - events of visitors, the rater, and the registry that takes what it sends. */
#ifndef TORG_TESTS_CONTRACT_CLICKS_FIXTURE_H
#define TORG_TESTS_CONTRACT_CLICKS_FIXTURE_H

#include "clicks/events.h"
#include "clicks/rater.h"
#include "contract/indexer_fixture.h"

extern struct index_place place;
extern struct events events;
extern struct rater_options rater;

void begin(void **state);

/* *counted of one event; record and click come from a front end that names its visitors. */
uint32_t record_from(const struct event_sender *sender, const char *session,
                     Torg__V1__Event__Kind kind, const char *offer, const char *id,
                     uint32_t position);
uint32_t record(const char *session, const char *seller, Torg__V1__Event__Kind kind,
                const char *offer, const char *id, uint32_t position);
uint32_t click(const char *session, const char *offer, const char *id);

/* The field changes in the topic, taken by the receiver. */
void receive(void);
/* A side field of a document; -1: it has none. */
double in_registry(const char *pk, const char *field);

#endif
