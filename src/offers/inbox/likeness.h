/* SPDX-License-Identifier: Apache-2.0 */
/*
 * likeness.h - where else a photo is used: for moderators, who look for copied offers.
 *
 * A photo's look (Photo.look) has 64 bits, of which photos that look alike differ in few. Each of
 * its four bands of 16 bits is a row of photo_look: two looks that differ in three bits or fewer
 * share a band, and are found by it. What is found is the state that the stage "photos" keeps with
 * the offer, as of its newest result: {"photos": [{"url": ..., "offers": 3, "sellers": 2}]}, only
 * those that are in other offers, too.
 */
#ifndef TORG_OFFERS_INBOX_LIKENESS_H
#define TORG_OFFERS_INBOX_LIKENESS_H

#include "offers/change/offers.h"
#include "torg/v1/photo.pb-c.h"

#define LIKENESS_STAGE "photos"

/* After the result was applied. May be run again. */
int likeness_note(const struct offers *offers, const Torg__V1__PhotoResult *result,
                  struct arena *arena, struct err *err);

#endif
