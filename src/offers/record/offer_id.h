/* SPDX-License-Identifier: Apache-2.0 */
/*
 * offer_id.h - the number of an offer: sixteen digits that a support desk can take by phone.
 *
 *     4721-0985-1360-2278      fifteen random digits (the first is not 0) and a check digit
 *
 * The check digit is Damm's: it detects every wrong digit and every swap of two neighbours, so a
 * typo can be distinguished from an offer that does not exist. The numbers are drawn from the
 * system's random generator: knowing some reveals nothing about others.
 */
#ifndef TORG_OFFERS_RECORD_OFFER_ID_H
#define TORG_OFFERS_RECORD_OFFER_ID_H

#include <stdint.h>

#include "base/bytes.h"
#include "base/err.h"

typedef int64_t offerid; /* as stored; 0 is none */

enum { OFFER_ID_TEXT_SIZE = 20 };

/* The id with these random bits; every 2^64-th part of them gives each id nearly alike. */
offerid offer_id_make(uint64_t random);

/* "4721-0985-1360-2278" */
void offer_id_format(offerid id, char text[OFFER_ID_TEXT_SIZE]);

/* Dashes and blanks between digits are skipped. ERR_INVALID says what is wrong: the form, or the
 * check digit, which means a typo. */
int offer_id_parse(struct bytes text, offerid *id, struct err *err);

#endif
