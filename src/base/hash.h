/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hash.h - the one hash function of this program: xxh3, 64 or 128 bits.
 *
 * Shards and partitions are chosen by it, so it is part of stored formats: it never changes.
 * Not for secrets; those use OpenSSL in access/.
 */
#ifndef TORG_BASE_HASH_H
#define TORG_BASE_HASH_H

#include <stdint.h>

#include "base/bytes.h"

uint64_t hash64(struct bytes bytes);
uint64_t hash64_seeded(struct bytes bytes, uint64_t seed);

/* For tables in memory that keep the hash and not what was hashed: with a seed that nobody knows,
 * two keys that look alike are a matter of 128 bits. */
struct hash_pair {
    uint64_t low, high;
};
struct hash_pair hash128_seeded(struct bytes bytes, uint64_t seed);

#endif
