/* SPDX-License-Identifier: Apache-2.0 */
/* experiment.c - see experiment.h. */
#include "model/experiment.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/hash.h"

enum { ID_DIGITS = 8, SEED_DIGITS = 16 };

struct experiment experiment_of(const char *formula_a, const char *formula_b)
{
    uint64_t hash = hash64_seeded(bytes_of(formula_b), hash64(bytes_of(formula_a)));

    return (struct experiment){.formulas = {formula_a, formula_b}, .id = (uint32_t)hash};
}

enum experiment_side experiment_side_at(uint64_t seed, uint32_t place)
{
    const uint32_t pair = place / 2;
    bool is_b_first = hash64_seeded(bytes_make(&pair, sizeof(pair)), seed) & 1;

    return is_b_first == (place % 2 == 0) ? EXPERIMENT_B : EXPERIMENT_A;
}

void experiment_list_name(const struct experiment *experiment, uint64_t seed,
                          char name[EXPERIMENT_LIST_SIZE])
{
    snprintf(name, EXPERIMENT_LIST_SIZE, "x%08" PRIx32 "%016" PRIx64, experiment->id, seed);
}

static bool read_hex(const char *text, int digits, uint64_t *value)
{
    static const char known[] = "0123456789abcdef";

    *value = 0;
    for (int i = 0; i < digits; i++) {
        const char *digit = text[i] ? strchr(known, text[i]) : NULL;

        if (!digit)
            return false;
        *value = *value * 16 + (uint64_t)(digit - known);
    }
    return true;
}

bool experiment_list_read(const struct experiment *experiment, const char *name, uint64_t *seed)
{
    uint64_t id;
    char after;

    if (name[0] != 'x' || !read_hex(name + 1, ID_DIGITS, &id) || id != experiment->id ||
        !read_hex(name + 1 + ID_DIGITS, SEED_DIGITS, seed))
        return false;
    after = name[1 + ID_DIGITS + SEED_DIGITS];
    return !after || after == '.';
}
