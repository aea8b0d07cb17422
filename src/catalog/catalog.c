/* SPDX-License-Identifier: Apache-2.0 */
/* catalog.c - see catalog.h; a loaded catalogue's life, and looking things up in it. */
#include "catalog/catalog.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/object.h"
#include "catalog/catalog_parts.h"

struct catalog *catalog_ref(struct catalog *catalog)
{
    object_check(catalog, CATALOG_MAGIC);
    assert(atomic_load_explicit(&catalog->refs, memory_order_relaxed) > 0);
    atomic_fetch_add_explicit(&catalog->refs, 1, memory_order_relaxed);
    return catalog;
}

void catalog_unref(struct catalog *catalog)
{
    if (!catalog)
        return;
    object_check(catalog, CATALOG_MAGIC);
    if (atomic_fetch_sub_explicit(&catalog->refs, 1, memory_order_acq_rel) > 1)
        return;
    arena_free(catalog->arena);
    object_end(catalog, CATALOG_MAGIC);
    free(catalog);
}

int64_t catalog_version(const struct catalog *catalog)
{
    object_check(catalog, CATALOG_MAGIC);
    return catalog->version;
}

void catalog_set_version(struct catalog *catalog, int64_t version)
{
    object_check(catalog, CATALOG_MAGIC);
    assert(catalog->refs == 1);
    catalog->version = version;
}

const Torg__V1__Catalog *catalog_message(const struct catalog *catalog)
{
    object_check(catalog, CATALOG_MAGIC);
    return catalog->message;
}

const struct category *category_find(const struct catalog *catalog, const char *id)
{
    object_check(catalog, CATALOG_MAGIC);
    return id_table_find(&catalog->category_ids, id);
}

const struct attribute *attribute_find(const struct category *category, const char *id)
{
    for (size_t i = 0; i < category->attribute_count; i++) {
        if (strcmp(category->attributes[i]->id, id) == 0)
            return category->attributes[i];
    }
    return NULL;
}

const struct attribute_option *option_find(const struct attribute *attribute, const char *id)
{
    const struct attribute_option *option = id_table_find(&attribute->definition->options, id);

    if (option && attribute->allowed && !attribute->allowed[option->place])
        return NULL;
    return option;
}

const struct attribute_unit *unit_find(const struct attribute *attribute, const char *id)
{
    for (size_t i = 0; i < attribute->unit_count; i++) {
        if (strcmp(attribute->units[i].id, id) == 0)
            return &attribute->units[i];
    }
    return NULL;
}

const struct category *const *catalog_categories(const struct catalog *catalog, size_t *count)
{
    object_check(catalog, CATALOG_MAGIC);
    *count = catalog->category_count;
    return catalog->categories;
}

const struct category *const *catalog_top(const struct catalog *catalog, size_t *count)
{
    object_check(catalog, CATALOG_MAGIC);
    *count = catalog->top_count;
    return catalog->top;
}

size_t catalog_attribute_count(const struct catalog *catalog)
{
    object_check(catalog, CATALOG_MAGIC);
    return catalog->message->n_attributes;
}

const struct category **category_path(const struct category *category, struct arena *arena)
{
    const struct category **path = arena_array(arena, category->depth, sizeof(path[0]));

    for (const struct category *at = category; at; at = at->parent)
        path[at->depth - 1] = at;
    return path;
}

char *category_path_text(const struct category *category, struct arena *arena)
{
    const struct category **path = category_path(category, arena);
    char *text = arena_strdup(arena, path[0]->id);

    for (size_t i = 1; i < category->depth; i++)
        text = arena_printf(arena, "%s/%s", text, path[i]->id);
    return text;
}

/* --- attributes of several categories --- */

/* An attribute found in the set, and in how many of its categories. */
struct found {
    const struct attribute *attribute;
    size_t category_count;
};

static size_t gather(const struct category *const *categories, size_t category_count,
                     struct id_table *ids, struct found *found)
{
    size_t count = 0;

    for (size_t i = 0; i < category_count; i++) {
        for (size_t j = 0; j < categories[i]->attribute_count; j++) {
            const struct attribute *attribute = categories[i]->attributes[j];
            struct found *there = id_table_add(ids, attribute->id, &found[count]);

            if (there) {
                there->category_count++;
                continue;
            }
            found[count++] = (struct found){attribute, 1};
        }
    }
    return count;
}

const struct attribute **catalog_attributes_of(const struct category *const *categories,
                                               size_t category_count, bool common,
                                               struct arena *arena, size_t *count)
{
    const struct attribute **attributes;
    struct found *found;
    struct id_table ids;
    size_t room = 1;
    size_t found_count;

    for (size_t i = 0; i < category_count; i++)
        room += categories[i]->attribute_count;
    found = arena_array(arena, room, sizeof(found[0]));
    id_table_init(&ids, room, arena);
    found_count = gather(categories, category_count, &ids, found);
    attributes = arena_array(arena, found_count + 1, sizeof(attributes[0]));
    *count = 0;
    for (size_t i = 0; i < found_count; i++) {
        if (!common || found[i].category_count == category_count)
            attributes[(*count)++] = found[i].attribute;
    }
    return attributes;
}

/* --- languages --- */

static bool names_language(struct bytes word, const char *name)
{
    return word.size >= 2 && strncasecmp((const char *)word.data, name, 2) == 0 &&
           (word.size == 2 || word.data[2] == '-' || word.data[2] == '_');
}

enum language language_of(struct bytes text)
{
    size_t start = 0;

    /* In the client's order; weights are not read: clients list the best first. */
    for (size_t i = 0; i <= text.size; i++) {
        struct bytes word;

        if (i < text.size && !strchr(",; ", text.data[i]))
            continue;
        word = bytes_make(text.data + start, i - start);
        if (names_language(word, "en"))
            return LANGUAGE_EN;
        if (names_language(word, "ru"))
            return LANGUAGE_RU;
        start = i + 1;
    }
    return LANGUAGE_RU;
}
