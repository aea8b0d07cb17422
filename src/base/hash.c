/* SPDX-License-Identifier: Apache-2.0 */
/* hash.c - see hash.h. The only place that includes xxhash. */
#include "base/hash.h"

#include <xxhash.h>

uint64_t hash64(struct bytes bytes)
{
    return XXH3_64bits(bytes.data, bytes.size);
}

uint64_t hash64_seeded(struct bytes bytes, uint64_t seed)
{
    return XXH3_64bits_withSeed(bytes.data, bytes.size, seed);
}

struct hash_pair hash128_seeded(struct bytes bytes, uint64_t seed)
{
    XXH128_hash_t hash = XXH3_128bits_withSeed(bytes.data, bytes.size, seed);

    return (struct hash_pair){hash.low64, hash.high64};
}
