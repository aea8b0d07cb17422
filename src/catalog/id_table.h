/* SPDX-License-Identifier: Apache-2.0 */
/*
 * id_table.h - finds things by their ids: a hash table filled once, in an arena.
 *
 * Of two things with the same id the first stays. Threads: filled by one, then read by any.
 */
#ifndef TORG_CATALOG_ID_TABLE_H
#define TORG_CATALOG_ID_TABLE_H

#include <stddef.h>

#include "base/arena.h"

struct id_slot {
    const char *id;
    void *value;
};

struct id_table {
    struct id_slot *slots; /* borrowed from the arena */
    size_t mask;
};

void id_table_init(struct id_table *table, size_t count, struct arena *arena);
/* NULL, or what has the id already. No more than `count` may be added. */
void *id_table_add(struct id_table *table, const char *id, void *value);
void *id_table_find(const struct id_table *table, const char *id); /* NULL: none */

#endif
