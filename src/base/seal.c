/* SPDX-License-Identifier: Apache-2.0 */
/* seal.c - see seal.h; the hash is that of Aumasson and Bernstein, "SipHash", 2012. */
#include "base/seal.h"

#include "base/endian.h"

struct sip {
    uint64_t v0, v1, v2, v3;
};

static uint64_t turn(uint64_t word, unsigned bits)
{
    return word << bits | word >> (64 - bits);
}

static void run_rounds(struct sip *sip, unsigned count)
{
    while (count--) {
        sip->v0 += sip->v1;
        sip->v2 += sip->v3;
        sip->v1 = turn(sip->v1, 13) ^ sip->v0;
        sip->v3 = turn(sip->v3, 16) ^ sip->v2;
        sip->v0 = turn(sip->v0, 32);
        sip->v2 += sip->v1;
        sip->v0 += sip->v3;
        sip->v1 = turn(sip->v1, 17) ^ sip->v2;
        sip->v3 = turn(sip->v3, 21) ^ sip->v0;
        sip->v2 = turn(sip->v2, 32);
    }
}

static void mix(struct sip *sip, uint64_t word)
{
    sip->v3 ^= word;
    run_rounds(sip, 2);
    sip->v0 ^= word;
}

uint64_t seal_hash(const struct seal *seal, struct bytes bytes)
{
    uint64_t k0 = get_le64(seal->key);
    uint64_t k1 = get_le64(seal->key + 8);
    struct sip sip = {UINT64_C(0x736f6d6570736575) ^ k0, UINT64_C(0x646f72616e646f6d) ^ k1,
                      UINT64_C(0x6c7967656e657261) ^ k0, UINT64_C(0x7465646279746573) ^ k1};
    uint64_t last = (uint64_t)bytes.size << 56;
    size_t at;

    for (at = 0; at + 8 <= bytes.size; at += 8)
        mix(&sip, get_le64(bytes.data + at));
    for (size_t i = at; i < bytes.size; i++)
        last |= (uint64_t)bytes.data[i] << 8 * (i - at);
    mix(&sip, last);
    sip.v2 ^= 0xff;
    run_rounds(&sip, 4);
    return sip.v0 ^ sip.v1 ^ sip.v2 ^ sip.v3;
}

void seal_put(const struct seal *seal, struct buf *bytes)
{
    uint8_t hash[SEAL_SIZE];

    put_le64(hash, seal_hash(seal, buf_bytes(bytes)));
    buf_put_raw(bytes, hash, sizeof(hash));
}

bool seal_check(const struct seal *seal, struct bytes *sealed)
{
    if (sealed->size < SEAL_SIZE)
        return false;
    sealed->size -= SEAL_SIZE;
    return get_le64(sealed->data + sealed->size) == seal_hash(seal, *sealed);
}
