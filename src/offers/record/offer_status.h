/* SPDX-License-Identifier: Apache-2.0 */
/*
 * offer_status.h - the life of an offer: one table of who may move it from which status to which.
 *
 * The caller is not checked here: a service lets its callers ask only for their own moves. Whether
 * an offer that the table makes ACTIVE is shown at once, or is WAITING for a photo first, is the
 * category's to say (offer_wait.h).
 */
#ifndef TORG_OFFERS_RECORD_OFFER_STATUS_H
#define TORG_OFFERS_RECORD_OFFER_STATUS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "torg/v1/offer.pb-c.h"

enum offer_status { /* as in the message; 0 = it does not exist yet */
                    OFFER_NONE = 0,
                    OFFER_ACTIVE = TORG__V1__OFFER__STATUS__ACTIVE,
                    OFFER_EXPIRED = TORG__V1__OFFER__STATUS__EXPIRED,
                    OFFER_SOLD_ON_SITE = TORG__V1__OFFER__STATUS__SOLD_ON_SITE,
                    OFFER_SOLD_ELSEWHERE = TORG__V1__OFFER__STATUS__SOLD_ELSEWHERE,
                    OFFER_BANNED = TORG__V1__OFFER__STATUS__BANNED,
                    OFFER_WITHDRAWN = TORG__V1__OFFER__STATUS__WITHDRAWN,
                    OFFER_DELETED = TORG__V1__OFFER__STATUS__DELETED,
                    OFFER_WAITING = TORG__V1__OFFER__STATUS__WAITING, /* for a photo */
                    OFFER_STATUS_COUNT,
};

enum offer_move {                 /* the sellers' first */
                  MOVE_PUBLISH,   /* a draft or a new offer */
                  MOVE_UPDATE,    /* other content, same status */
                  MOVE_PROLONG,   /* seller: a new time to live */
                  MOVE_REPUBLISH, /* seller: back from withdrawn or sold */
                  MOVE_WITHDRAW,
                  MOVE_SELL_ON_SITE,
                  MOVE_SELL_ELSEWHERE,
                  MOVE_DELETE,
                  MOVE_EXPIRE, /* worker */
                  MOVE_SHOW,   /* worker: it has waited for a photo long enough */
                  MOVE_BAN,    /* moderator */
                  MOVE_UNBAN,  /* moderator: back to what it was */
                  MOVE_REVIVE, /* feed: a deleted item has come back */
                  MOVE_PHOTOS, /* worker: results of photos, same status */
                  OFFER_MOVE_COUNT,
};

/* 0 and the status after it; ERR_PRECONDITION names both statuses and what is possible.
 * before_ban is what an unban, or the revival of a banned one, gives back (OFFER_NONE: not
 * banned). name is how the offer is called in the text. */
int offer_status_move(enum offer_status from, enum offer_move move, enum offer_status before_ban,
                      const char *name, enum offer_status *to, struct err *err);

/* False of a number that no version of ours has stored. */
bool offer_status_is_known(int status);
bool offer_move_is_sellers(enum offer_move move);
bool offer_status_allows(enum offer_status from, enum offer_move move);
const char *offer_status_name(enum offer_status status); /* "ACTIVE"; "draft" for none */
const char *offer_move_name(enum offer_move move);       /* "prolong" */

#endif
