/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stage.h - the state a stage keeps with an offer, as its row of kind 'stage/NAME'.
 *
 * Opaque, changed by compare and set on its own revision. The offer's row is not written, so a
 * stage never gets in a seller's way.
 */
#ifndef TORG_OFFERS_INBOX_STAGE_H
#define TORG_OFFERS_INBOX_STAGE_H

#include "offers/change/offers.h"
#include "torg/v1/stage.pb-c.h"

/* ERR_INVALID tells the rule. */
int stage_check_name(const char *name, struct err *err);

/* ERR_NOT_FOUND when nothing is kept. */
int stage_get(const struct offers *offers, offerid id, const char *stage, struct arena *arena,
              Torg__V1__StageState *state, struct err *err);
/* ERR_CONFLICT when the kept revision is another; ERR_NOT_FOUND when there is no such offer. */
/* actor: who changes it, for the audit log; NULL: nobody whom that is about. */
int stage_put(const struct offers *offers, const char *actor, offerid id, const char *stage,
              int64_t expected_revision, struct bytes value, struct arena *arena,
              Torg__V1__StageState *state, struct err *err);

#endif
