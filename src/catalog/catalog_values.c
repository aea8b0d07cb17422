/* SPDX-License-Identifier: Apache-2.0 */
/*
 * catalog_values.c - whether words of a text name a value of an attribute ("синие", "дизель").
 *
 * Names of all options, in all languages, as their words' roots: a sorted list of hashes. Two names
 * of one hash are taken for each other, which only weighs a word a little more than another.
 */
#include <stdlib.h>

#include "base/buf.h"
#include "base/hash.h"
#include "base/object.h"
#include "catalog/bounds.h"
#include "catalog/catalog_parts.h"
#include "catalog/words.h"

/* Of the words' roots, one blank between them; *count: how many words there are. */
static uint64_t hash_name(struct bytes name, struct arena *arena, size_t *count)
{
    const char *rest = words_fold(name, arena);
    uint64_t hash = 0;
    struct bytes word;

    *count = 0;
    while (words_next(&rest, &word)) {
        hash = hash64_seeded(words_root(word), hash);
        ++*count;
    }
    return hash;
}

static bool is_number(const char *name)
{
    return name[strspn(name, "0123456789.,-/ ")] == '\0';
}

static int compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

static void add_values(const struct loading *loading, const struct attribute *attribute)
{
    struct catalog *catalog = loading->catalog;

    for (size_t i = 0; i < attribute->option_count; i++) {
        for (int language = 0; language < LANGUAGE_COUNT; language++) {
            const char *name = attribute->options[i]->name.in[language];
            struct arena_mark mark = arena_mark(loading->arena);
            size_t count;
            uint64_t hash = hash_name(bytes_of(name), loading->arena, &count);

            arena_rewind(loading->arena, mark);
            if (count && count <= CATALOG_VALUE_WORD_MAX && !is_number(name))
                catalog->values[catalog->value_count++] = hash;
        }
    }
}

void loading_index_values(struct loading *loading)
{
    struct catalog *catalog = loading->catalog;
    size_t count = 0;

    for (size_t i = 0; i < catalog->message->n_attributes; i++)
        count += catalog->definitions[i].attribute.option_count;
    catalog->values = arena_array(loading->arena, LANGUAGE_COUNT * count + 1, sizeof(uint64_t));
    for (size_t i = 0; i < catalog->message->n_attributes; i++)
        add_values(loading, &catalog->definitions[i].attribute);
    qsort(catalog->values, catalog->value_count, sizeof(uint64_t), compare);
}

bool catalog_has_value(const struct catalog *catalog, struct bytes text, struct arena *arena)
{
    size_t count;
    uint64_t hash;

    object_check(catalog, CATALOG_MAGIC);
    hash = hash_name(text, arena, &count);
    return count && bsearch(&hash, catalog->values, catalog->value_count, sizeof(hash), compare);
}
