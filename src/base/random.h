/* SPDX-License-Identifier: Apache-2.0 */
/*
 * random.h - unguessable bytes from the system, and a repeatable sequence from a seed.
 *
 * Secrets and ids take random_fill. Tests, spreading and jitter take struct rng.
 */
#ifndef TORG_BASE_RANDOM_H
#define TORG_BASE_RANDOM_H

#include <stddef.h>
#include <stdint.h>

/* Fills from the system's generator; aborts if there is none. */
void random_fill(void *to, size_t size);
uint64_t random_u64(void);

struct rng {
    uint64_t state;
};

static inline struct rng rng_seeded(uint64_t seed)
{
    return (struct rng){seed};
}

uint64_t rng_next(struct rng *rng);
uint64_t rng_below(struct rng *rng, uint64_t bound); /* 0 ≤ result < bound; bound > 0 */

#endif
