/* SPDX-License-Identifier: Apache-2.0 */
/* category_digest.c - see category_digest.h. */
#include "documents/category_digest.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"

/* A text behind what is there: its end counts, so "ab", "c" is not "a", "bc". */
static uint64_t with_text(uint64_t digest, const char *text)
{
    return hash64_seeded(bytes_make(text, strlen(text) + 1), digest);
}

static uint64_t with_number(uint64_t digest, int64_t number)
{
    return hash64_seeded(bytes_make(&number, sizeof(number)), digest);
}

static uint64_t with_name(uint64_t digest, const struct local_text *name)
{
    for (size_t i = 0; i < LANGUAGE_COUNT; i++)
        digest = with_text(digest, name->in[i]);
    return digest;
}

/* A document has them in their order. */
static uint64_t with_synonyms(uint64_t digest, const Torg__V1__LocalWords *synonyms)
{
    for (size_t i = 0; synonyms && i < synonyms->n_ru; i++)
        digest = with_text(digest, synonyms->ru[i]);
    for (size_t i = 0; synonyms && i < synonyms->n_en; i++)
        digest = with_text(digest, synonyms->en[i]);
    return digest;
}

static uint64_t option_digest(const struct attribute_option *option)
{
    uint64_t digest = 0;

    for (; option; option = option->parent)
        digest = with_name(with_text(digest, option->id), &option->name);
    return digest;
}

/* Sums where the order of things is not in a document. */
static uint64_t attribute_digest(const struct attribute *attribute)
{
    bool is_list = attribute->filter == TORG__V1__ATTRIBUTE__FILTER__LIST &&
                   attribute->type != TORG__V1__ATTRIBUTE__TYPE__OPTION &&
                   attribute->type != TORG__V1__ATTRIBUTE__TYPE__OPTIONS;
    bool is_decimal = attribute->type == TORG__V1__ATTRIBUTE__TYPE__DECIMAL;
    uint64_t digest = with_text(1, attribute->id);
    uint64_t sum = 0;

    digest = with_number(digest, attribute->type);
    digest = with_number(digest, is_list);
    digest = with_number(digest, is_decimal ? attribute->digits : 0);
    for (size_t i = 0; i < attribute->option_count; i++)
        sum += option_digest(attribute->options[i]);
    for (size_t i = 0; i < attribute->unit_count; i++)
        sum += with_number(with_text(2, attribute->units[i].id),
                           attribute->units[i].factor.millionths);
    return with_number(digest, (int64_t)sum);
}

/* Those that say which fields a document has. */
static int64_t special_filters(const struct category *category)
{
    static const Torg__V1__Category__Filter list[] = {
        TORG__V1__CATEGORY__FILTER__DELIVERY, TORG__V1__CATEGORY__FILTER__SALARY,
        TORG__V1__CATEGORY__FILTER__SELLER_KIND, TORG__V1__CATEGORY__FILTER__EXCHANGE};
    int64_t bits = 0;

    for (size_t i = 0; i < ARRAY_COUNT(list); i++)
        bits |= (int64_t)category_has_filter(category, list[i]) << i;
    return bits;
}

uint64_t category_digest(const struct catalog *catalog, const struct category *category)
{
    uint64_t digest = with_text(3, catalog_currency(catalog));
    uint64_t sum = 0;

    for (const struct category *above = category; above; above = above->parent)
        digest = with_synonyms(with_name(with_text(digest, above->id), &above->name),
                               above->message->synonyms);
    digest = with_number(digest, special_filters(category));
    for (size_t i = 0; i < category->attribute_count; i++)
        sum += attribute_digest(category->attributes[i]);
    return with_number(digest, (int64_t)sum);
}

static void add(struct category_ids *ids, const char *id, struct arena *arena)
{
    ids->list = mem_grow(ids->list, ids->count + 1, sizeof(*ids->list), &ids->room);
    ids->list[ids->count++] = arena_strdup(arena, id);
}

void category_ids_add_changed(struct category_ids *ids, const struct catalog *before,
                              const struct catalog *after, struct arena *arena)
{
    size_t count = 0;
    const struct category *const *list = catalog_categories(after, &count);

    for (size_t i = 0; i < count; i++) {
        const struct category *old = before ? category_find(before, list[i]->id) : NULL;

        if (!old || category_digest(before, old) != category_digest(after, list[i]))
            add(ids, list[i]->id, arena);
    }
    if (!before)
        return;
    list = catalog_categories(before, &count);
    for (size_t i = 0; i < count; i++) {
        if (!category_find(after, list[i]->id))
            add(ids, list[i]->id, arena);
    }
}

static int compare_ids(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

void category_ids_settle(struct category_ids *ids)
{
    size_t kept = 0;

    if (!ids->count)
        return;
    qsort(ids->list, ids->count, sizeof(*ids->list), compare_ids);
    for (size_t i = 1; i < ids->count; i++) {
        if (strcmp(ids->list[kept], ids->list[i]) != 0)
            ids->list[++kept] = ids->list[i];
    }
    ids->count = kept + 1;
}

void category_ids_release(struct category_ids *ids)
{
    free(ids->list);
    *ids = (struct category_ids){0};
}
