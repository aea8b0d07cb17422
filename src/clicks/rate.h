/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rate.h - a rate of clicks that can be compared: corrected by position, smoothed by category.
 *
 * A show far down is looked at by few, so it counts for less: by 1 / log2(1 + position), about what
 * eyes do on lists. An offer that few have looked at has its category's rate; with each look its
 * own counts for more:
 *
 *     rate = (clicks + RATE_PRIOR_LOOKS × category's rate) / (looks + RATE_PRIOR_LOOKS)
 */
#ifndef TORG_CLICKS_RATE_H
#define TORG_CLICKS_RATE_H

#include <stdint.h>

enum { RATE_UNIT = 1000000 }; /* looks and rates are told in millionths */

/* How much a show at this position counts, in millionths; 0 (in no list) as the first. */
int64_t rate_look(uint32_t position);

struct rate_counts {
    int64_t clicks;
    int64_t looks; /* millionths */
};
/* In millionths, 0 to RATE_UNIT, as the category's is. */
int64_t rate_of(const struct rate_counts *offer, const struct rate_counts *category);

/* That rate by the category's, in millionths: RATE_UNIT of an offer that is clicked as others are,
 * and where nobody has clicked yet; at most RATE_APPEAL_MAX times as much. */
int64_t rate_appeal(const struct rate_counts *offer, const struct rate_counts *category);

#endif
