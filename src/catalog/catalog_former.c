/* SPDX-License-Identifier: Apache-2.0 */
/*
 * catalog_former.c - where categories were before: see catalog.h.
 *
 * Documents have the path of their category. Those of a category that was moved get another one
 * only when they are composed anew, one by one, so searches look for both meanwhile.
 */
#include <assert.h>
#include <string.h>

#include "catalog/bounds.h"
#include "catalog/catalog_parts.h"

static bool is_same_place(const struct category *one, const struct category *other)
{
    for (; one && other; one = one->parent, other = other->parent)
        if (strcmp(one->id, other->id) != 0)
            return false;
    return !one && !other;
}

static bool has_former(const struct category *category, const char *path)
{
    for (size_t i = 0; i < category->former_count; i++)
        if (strcmp(category->former[i], path) == 0)
            return true;
    return false;
}

void catalog_add_former(struct catalog *catalog, const struct catalog *older)
{
    object_check(catalog, CATALOG_MAGIC);
    assert(catalog->refs == 1);
    for (size_t i = 0; i < catalog->category_count; i++) {
        struct category *category = &catalog->in_file[i];
        const struct category *old = category_find(older, category->id);
        const char *path;

        if (!old || is_same_place(category, old) ||
            category->former_count == CATALOG_FORMER_COUNT_MAX)
            continue;
        path = category_path_text(old, catalog->arena);
        if (has_former(category, path))
            continue;
        category->former[category->former_count++] = path;
        for (const struct category *at = category; at; at = at->parent)
            catalog->in_file[at->place].has_former = true;
    }
}
