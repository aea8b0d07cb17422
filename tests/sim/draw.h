/* SPDX-License-Identifier: Apache-2.0 */
/*
 * draw.h - the simulation's only sources of chance and time.
 *
 * Who draws has a sequence of his own, made of the seed, the life and his name: what another draws
 * does not change what he does. Time is that of base/clock.h, which a runtime may replace.
 */
#ifndef TORG_TESTS_SIM_DRAW_H
#define TORG_TESTS_SIM_DRAW_H

#include <stdbool.h>

#include "base/clock.h"
#include "base/random.h"

static inline struct rng draw_for(uint64_t seed, unsigned life, unsigned who)
{
    struct rng rng = rng_seeded(seed * 1000003 + life * 1009 + who);

    rng_next(&rng);
    return rng;
}

static inline unsigned draw_below(struct rng *rng, unsigned bound)
{
    return (unsigned)rng_below(rng, bound);
}

static inline bool draw_chance(struct rng *rng, unsigned permille)
{
    return draw_below(rng, 1000) < permille;
}

static inline int64_t now_wall_us(void)
{
    return clock_wall_us(clock_system());
}

static inline int64_t now_mono_us(void)
{
    return clock_mono_us(clock_system());
}

static inline void pause_us(int64_t duration_us)
{
    clock_sleep(clock_system(), duration_us);
}

#endif
