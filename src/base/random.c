/* SPDX-License-Identifier: Apache-2.0 */
/* random.c - see random.h. The sequence is splitmix64. */
#include "base/random.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/random.h>

void random_fill(void *to, size_t size)
{
    unsigned char *at = to;

    while (size) {
        ssize_t got = getrandom(at, size, 0);

        if (got < 0 && errno != EINTR)
            abort();
        if (got > 0) {
            at += got;
            size -= (size_t)got;
        }
    }
}

uint64_t random_u64(void)
{
    uint64_t value;

    random_fill(&value, sizeof(value));
    return value;
}

uint64_t rng_next(struct rng *rng)
{
    uint64_t z = rng->state += 0x9e3779b97f4a7c15u;

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

uint64_t rng_below(struct rng *rng, uint64_t bound)
{
    assert(bound > 0);
    return rng_next(rng) % bound;
}
