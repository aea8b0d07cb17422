/* SPDX-License-Identifier: Apache-2.0 */
/*
 * value_lists.h - the ordinals of attributes with several values: immutable arrays, named by a u32.
 *
 * A code of the column holds the name. Equal arrays are one: documents that have the same values
 * have the same name, so that names are few and small, and whoever counts or filters may do so by
 * name and look each array up once. What a name means does not change while a reader that has seen
 * it stays in its epoch. An array that nobody uses goes back to the free list of its size once no
 * reader can hold it. Sizes are 16, 32, … 512 bytes.
 *
 * Threads: one writer adds; any thread frees (through an epoch); readers get inside an epoch.
 */
#ifndef TORG_INDEX_COLUMNS_VALUE_LISTS_H
#define TORG_INDEX_COLUMNS_VALUE_LISTS_H

#include <stdint.h>

#include "index/epoch.h"

struct value_lists;

struct value_lists *value_lists_new(void);
void value_lists_free(struct value_lists *lists); /* NULL is fine */

/* The name of 1 to KEYWORD_VALUES_MAX ordinals, one use of it more. Aborts past 64 GB, as any
 * allocation does. */
uint32_t value_lists_add(struct value_lists *lists, const uint32_t *ordinals, uint32_t count);

/* One use less. For epoch_retire(epoch, value_lists_release, lists, name). */
epoch_free_fn value_lists_release;

/* The array and its length; a name that was never given has length 0. */
const uint32_t *value_lists_get(const struct value_lists *lists, uint32_t name, uint32_t *count);

/* More than every name there is by now. */
uint32_t value_lists_end(const struct value_lists *lists);

uint64_t value_lists_size(struct value_lists *lists); /* bytes of memory */

#endif
