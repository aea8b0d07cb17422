/* SPDX-License-Identifier: Apache-2.0 */
/* rate.c - see rate.h. */
#include "clicks/rate.h"

#include <math.h>

#include "clicks/bounds.h"

int64_t rate_look(uint32_t position)
{
    return llround(RATE_UNIT / log2(1.0 + (position ? position : 1)));
}

int64_t rate_appeal(const struct rate_counts *offer, const struct rate_counts *category)
{
    const struct rate_counts unseen = {0};
    int64_t usual = rate_of(&unseen, category);
    double appeal = usual ? (double)rate_of(offer, category) / (double)usual : 1;

    return llround((appeal > RATE_APPEAL_MAX ? RATE_APPEAL_MAX : appeal) * RATE_UNIT);
}

/* Clicks without looks, by which a category's would be more than one, lift nobody. */
static double prior_of(const struct rate_counts *category)
{
    double prior = (double)category->clicks * RATE_UNIT /
                   ((double)category->looks + (double)RATE_PRIOR_LOOKS * RATE_UNIT);

    return prior > 1 ? 1 : prior;
}

int64_t rate_of(const struct rate_counts *offer, const struct rate_counts *category)
{
    double looks = (double)offer->looks / RATE_UNIT;
    double rate = ((double)offer->clicks + RATE_PRIOR_LOOKS * prior_of(category)) /
                  (looks + RATE_PRIOR_LOOKS);

    return rate >= 1 ? RATE_UNIT : llround(rate * RATE_UNIT);
}
