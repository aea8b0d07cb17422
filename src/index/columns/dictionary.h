/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dictionary.h - the values of one keyword attribute, numbered for ever.
 *
 * The first value is ordinal 0, the next 1, …; nothing is renumbered or taken out, so columns and
 * sets hold ordinals only. A dictionary is born with the most values it will hold.
 *
 * Threads: one writer adds; readers find and name without locks, inside an epoch. Who needs a new
 * order of names makes it under a lock.
 */
#ifndef TORG_INDEX_COLUMNS_DICTIONARY_H
#define TORG_INDEX_COLUMNS_DICTIONARY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/err.h"
#include "index/epoch.h"

#define ORDINAL_NONE UINT32_MAX

struct dictionary;

/* name: of the attribute, for errors; copied. The epoch is borrowed. */
struct dictionary *dictionary_new(struct epoch *epoch, const char *name, uint32_t count_max);
void dictionary_free(struct dictionary *dictionary); /* NULL is fine */

/* The value's ordinal, given now if it is new. ERR_LIMIT, naming the attribute, when it is full or
 * the value too long. */
int dictionary_add(struct dictionary *dictionary, struct bytes value, uint32_t *ordinal,
                   struct err *err);

uint32_t dictionary_find(const struct dictionary *dictionary, struct bytes value); /* or NONE */
uint32_t dictionary_count(const struct dictionary *dictionary);

/* ordinal < count. Valid as long as the dictionary. */
struct bytes dictionary_name(const struct dictionary *dictionary, uint32_t ordinal);

/* Sets the bit of each ordinal below bit_count whose value is the path or lies under it:
 * "cars" has "cars" and "cars/audi", not "carsharing". Returns how many. */
uint32_t dictionary_subtree(const struct dictionary *dictionary, struct bytes path, uint64_t *bits,
                            uint32_t bit_count);

/* The order of names. */
struct dictionary_order {
    uint32_t count;
    uint32_t *ranks;    /* by ordinal */
    uint32_t *ordinals; /* by rank */
};

/* Of all values that there are by now. The last one is kept, and values that came since are sorted
 * into it: an attribute that is never asked for has none. Inside an epoch, valid until its end. */
const struct dictionary_order *dictionary_order(struct dictionary *dictionary);

uint64_t dictionary_size(const struct dictionary *dictionary); /* bytes of memory, writer only */

#endif
