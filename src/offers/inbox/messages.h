/* SPDX-License-Identifier: Apache-2.0 */
/*
 * messages.h - what buyers write to sellers, and how often they asked for phones, in the store.
 *
 *   SendMessage ─► topic seller-messages ─► messages_apply (by inbox.h) ─► ListMessages
 *
 * A message has an id of its own: one that comes again changes nothing. Those older than
 * MESSAGE_LIFE_DAYS are removed by the worker: they name people.
 *
 * Threads: any; functions block on the store.
 */
#ifndef TORG_OFFERS_INBOX_MESSAGES_H
#define TORG_OFFERS_INBOX_MESSAGES_H

#include "offers/change/offers.h"
#include "torg/v1/contact.pb-c.h"

/* Everything wrong with it, by field; how much that was. */
size_t message_check(const Torg__V1__SellerMessage *message, struct violations *violations);

/* A message that was checked; *is_new: it was not there. */
int messages_apply(const struct offers *offers, const Torg__V1__SellerMessage *message,
                   bool *is_new, struct err *err);

/* Removes up to max of those that are too old. */
int messages_forget(const struct offers *offers, size_t max, int64_t *forgotten, struct err *err);

struct message_place {
    int64_t sent_us;
    int64_t id;
};

extern const struct message_place messages_start; /* before the newest */

/* The next of the seller's after the place, newest first, which moves on. */
int messages_list(const struct offers *offers, const char *seller, struct message_place *place,
                  size_t max, struct arena *arena, Torg__V1__SellerMessage **list, size_t *count,
                  struct err *err);

/* One more reveal of the offer's phones; and all of the seller, which are kept as one number. */
int reveals_add(const struct offers *offers, const char *seller, offerid id, struct err *err);
int reveals_count(const struct offers *offers, const char *seller, int64_t *count, struct err *err);

#endif
