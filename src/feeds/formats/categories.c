/* SPDX-License-Identifier: Apache-2.0 */
/* categories.c - see categories.h. */
#include "feeds/formats/categories.h"

#include <stdlib.h>

#include "base/hash.h"
#include "base/memory.h"
#include "feeds/bounds.h"

enum { PLACE_COUNT = 1 << 16 };

_Static_assert(FEED_CATEGORY_COUNT_MAX <= PLACE_COUNT / 2,
               "the table would be more than half full");

struct feed_category {
    struct bytes id;
    struct bytes parent;
    struct bytes name;
    bool is_cut; /* the name was longer */
};

void feed_categories_init(struct feed_categories *categories)
{
    *categories = (struct feed_categories){.arena = arena_new()};
}

void feed_categories_release(struct feed_categories *categories)
{
    arena_free(categories->arena);
    free(categories->places);
}

/* Where it is, or would be. */
static struct feed_category **find_place(const struct feed_categories *categories, struct bytes id)
{
    size_t place = hash64(id) % PLACE_COUNT;

    while (categories->places[place] && !bytes_equal(categories->places[place]->id, id))
        place = (place + 1) % PLACE_COUNT;
    return &categories->places[place];
}

/* As much of a name as is kept, in whole characters. */
static struct bytes front(struct bytes name)
{
    if (name.size <= FEED_NAME_SIZE_MAX)
        return name;
    name.size = FEED_NAME_SIZE_MAX;
    while (name.size && (name.data[name.size] & 0xc0) == 0x80)
        name.size--;
    return name;
}

bool feed_categories_add(struct feed_categories *categories, struct bytes id, struct bytes parent,
                         struct bytes name)
{
    struct feed_category **place;

    if (!categories->places)
        categories->places = mem_array(PLACE_COUNT, sizeof(struct feed_category *));
    place = find_place(categories, id);
    if (*place)
        return true;
    if (categories->count == FEED_CATEGORY_COUNT_MAX)
        return false;
    *place = arena_zero(categories->arena, sizeof(**place));
    (*place)->id = arena_copy(categories->arena, id);
    (*place)->parent = arena_copy(categories->arena, parent);
    (*place)->is_cut = name.size > FEED_NAME_SIZE_MAX;
    (*place)->name = arena_copy(categories->arena, front(name));
    categories->count++;
    return true;
}

void feed_categories_path(const struct feed_categories *categories, struct bytes id,
                          struct buf *out, bool *is_cut)
{
    const struct feed_category *way[FEED_CATEGORY_DEPTH_MAX];
    size_t depth = 0;

    while (categories->places && id.size && depth < FEED_CATEGORY_DEPTH_MAX) {
        const struct feed_category *category = *find_place(categories, id);

        if (!category)
            break;
        way[depth++] = category;
        *is_cut |= category->is_cut;
        id = category->parent;
    }
    while (depth) {
        buf_put(out, way[--depth]->name);
        if (depth)
            buf_put_byte(out, '/');
    }
}
