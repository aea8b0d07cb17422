/* SPDX-License-Identifier: Apache-2.0 */
/* id_table.c - see id_table.h. */
#include "catalog/id_table.h"

#include <string.h>

#include "base/hash.h"

void id_table_init(struct id_table *table, size_t count, struct arena *arena)
{
    size_t slot_count = 4;

    while (slot_count < count * 2) /* at most half full: a search ends soon, and ends */
        slot_count *= 2;
    table->slots = arena_array(arena, slot_count, sizeof(table->slots[0]));
    table->mask = slot_count - 1;
}

static struct id_slot *slot_of(const struct id_table *table, const char *id)
{
    size_t place = hash64(bytes_of(id)) & table->mask;

    while (table->slots[place].id && strcmp(table->slots[place].id, id) != 0)
        place = (place + 1) & table->mask;
    return &table->slots[place];
}

void *id_table_add(struct id_table *table, const char *id, void *value)
{
    struct id_slot *slot = slot_of(table, id);

    if (slot->id)
        return slot->value;
    slot->id = id;
    slot->value = value;
    return NULL;
}

void *id_table_find(const struct id_table *table, const char *id)
{
    return table->slots ? slot_of(table, id)->value : NULL;
}
