/* SPDX-License-Identifier: Apache-2.0 */
/* keys.c - see keys.h. */
#include "registry/receiving/keys.h"

#include "base/hash.h"

uint32_t *keys_first_places(const struct bytes *keys, size_t count, struct arena *arena)
{
    uint32_t *places = arena_array(arena, count + 1, sizeof(*places));
    uint32_t mask = 1;
    uint32_t *slots;

    while (mask < 2 * count)
        mask *= 2;
    slots = arena_array(arena, mask, sizeof(*slots));
    mask--;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t at = (uint32_t)hash64(keys[i]) & mask;

        while (slots[at] && !bytes_equal(keys[slots[at] - 1], keys[i]))
            at = (at + 1) & mask;
        if (!slots[at])
            slots[at] = i + 1;
        places[i] = slots[at] - 1;
    }
    return places;
}
