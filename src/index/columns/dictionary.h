/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dictionary.h - the values of one keyword attribute, numbered for ever.
 *
 * The first value is ordinal 0, the next 1, …; nothing is renumbered or taken out, so columns and
 * sets hold ordinals only. A dictionary is born with the most values it will hold.
 *
 * Threads: one writer adds; readers find and name without locks, inside an epoch.
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

uint64_t dictionary_size(const struct dictionary *dictionary); /* bytes of memory, writer only */

#endif
