/* SPDX-License-Identifier: Apache-2.0 */
/*
 * events.h - events of visitors, counted by offer and hour.
 *
 *   RecordEvents ── checked ── of which offers? ──> ONE transaction: what came before is left out,
 *                                                   what a robot sends, too; counts
 *
 * Threads: any.
 */
#ifndef TORG_CLICKS_EVENTS_H
#define TORG_CLICKS_EVENTS_H

#include "base/arena.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/violation.h"
#include "model/experiment.h"
#include "store/store.h"
#include "torg/v1/event.pb-c.h"
#include "torg/v1/offer.pb-c.h"

/* What it stands on, all borrowed. */
struct events {
    struct store *store;
    const struct clock *clock;
    /* An offer that visitors see. ERR_NOT_FOUND, ERR_INVALID: there is none of this id. */
    int (*fetch)(void *arg, const char *offer_id, struct arena *arena, Torg__V1__Offer **offer,
                 struct err *err);
    void *fetch_arg;
    const struct experiment *experiment; /* whose lists are credited; NULL: none runs */
};

struct event_sender {
    const char *seller; /* "": a visitor */
    uint64_t address; /* names where a visitor's or a seller's calls come from, which is who he is;
                         0: who calls is trusted to give each visitor a session */
};

/* ERR_INVALID: reasons tell what is wrong, nothing is counted. Durable when it returns 0. */
int events_record(const struct events *events, const struct event_sender *sender,
                  const Torg__V1__RecordEventsRequest *request, struct violations *reasons,
                  uint32_t *counted, struct err *err);

#endif
