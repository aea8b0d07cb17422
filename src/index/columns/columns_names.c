/* SPDX-License-Identifier: Apache-2.0 */
/* columns_names.c - the parts of columns.h about names: keywords, the content's hash, sizes. */
#include <assert.h>
#include <string.h>

#include "base/hash.h"
#include "base/object.h"
#include "index/columns/column_parts.h"

static struct column *keyword_column(struct columns *columns, uint16_t field, bool multiple,
                                     struct err *err)
{
    struct column *column = columns_need(columns, field, err);

    if (!column)
        return NULL;
    if (column->dictionary && column->field->multiple == multiple)
        return column;
    err_set(err, ERR_INVALID, "attribute \"%s\" is %s%s, not %skeyword", column->field->name,
            column->field->multiple ? "multiple " : "", field_type_name(column->field->type),
            multiple ? "multiple " : "");
    return NULL;
}

int columns_keyword(struct columns *columns, uint16_t field, struct bytes keyword, int64_t *value,
                    struct err *err)
{
    struct column *column = keyword_column(columns, field, false, err);
    uint32_t ordinal;
    int rc;

    object_check(columns, COLUMNS_MAGIC);
    if (!column)
        return ERR_INVALID;
    rc = dictionary_add(column->dictionary, keyword, &ordinal, err);
    *value = ordinal;
    return rc;
}

/* Puts the ordinal into the ascending list, unless it is there. */
static uint32_t insert(uint32_t *ordinals, uint32_t count, uint32_t ordinal)
{
    uint32_t at = 0;

    while (at < count && ordinals[at] < ordinal)
        at++;
    if (at < count && ordinals[at] == ordinal)
        return count;
    memmove(ordinals + at + 1, ordinals + at, (count - at) * sizeof(ordinals[0]));
    ordinals[at] = ordinal;
    return count + 1;
}

int columns_keywords(struct columns *columns, uint16_t field, const struct bytes *keywords,
                     uint32_t count, int64_t *value, struct err *err)
{
    struct column *column = keyword_column(columns, field, true, err);
    uint32_t ordinals[KEYWORD_VALUES_MAX];
    uint32_t found = 0;
    uint64_t mask = 0;
    uint32_t i;
    int rc;

    object_check(columns, COLUMNS_MAGIC);
    if (!column)
        return ERR_INVALID;
    if (count > KEYWORD_VALUES_MAX)
        return err_set(err, ERR_LIMIT,
                       "attribute \"%s\" with %u values of one document: at most %d",
                       column->field->name, count, KEYWORD_VALUES_MAX);
    for (i = 0; i < count; i++) {
        uint32_t ordinal;

        rc = dictionary_add(column->dictionary, keywords[i], &ordinal, err);
        if (rc)
            return rc;
        found = insert(ordinals, found, ordinal);
        if (!column->lists)
            mask |= UINT64_C(1) << ordinal;
    }
    if (!found)
        *value = COLUMN_NULL;
    else
        *value = column->lists ? value_lists_add(column->lists, ordinals, found) : (int64_t)mask;
    return 0;
}

/* ---- the content's hash ---- */

static uint64_t hash_number(uint64_t hash, uint64_t number)
{
    return hash64_seeded(bytes_make(&number, sizeof(number)), hash);
}

static uint64_t hash_keyword(const struct column *column, uint32_t ordinal)
{
    return hash64(dictionary_name(column->dictionary, ordinal));
}

/* Several values are a set: their hashes are added, so that their order is nothing. */
static uint64_t hash_value(const struct column *column, int64_t value)
{
    uint64_t sum = 0;
    const uint32_t *list;
    uint32_t count;
    uint32_t i;

    if (!column->dictionary)
        return (uint64_t)value;
    if (!column->field->multiple)
        return hash_keyword(column, (uint32_t)value);
    if (!column->lists) {
        for (i = 0; i < KEYWORD_MASK_COUNT_MAX; i++)
            if (value >> i & 1)
                sum += hash_keyword(column, i);
        return sum;
    }
    list = value_lists_get(column->lists, (uint32_t)value, &count);
    for (i = 0; i < count; i++)
        sum += hash_keyword(column, list[i]);
    return sum;
}

static uint64_t hash_column(const struct columns *columns, const struct column *column)
{
    uint64_t name = hash64(bytes_of(column->field->name));
    uint32_t windows = columns_window_count(columns);
    uint64_t sum = 0;
    uint32_t window;
    uint32_t i;

    for (window = 0; window < windows; window++) {
        int64_t values[WINDOW_SIZE];
        struct column_view view;

        column_view(column, window, &view);
        if (view.kind == PAGE_ABSENT)
            continue;
        view_values(&view, values);
        for (i = 0; i < WINDOW_SIZE; i++)
            if (values[i] != COLUMN_NULL)
                sum += hash_number(hash_number(name, window_first(window) + i),
                                   hash_value(column, values[i]));
    }
    return sum;
}

uint64_t columns_hash(const struct columns *columns)
{
    uint32_t fields = schema_count(columns->schema);
    uint64_t sum = 0;
    uint32_t i;

    object_check(columns, COLUMNS_MAGIC);
    for (i = 0; i < fields; i++) {
        const struct column *column = columns_column(columns, i);

        if (column)
            sum += hash_column(columns, column);
    }
    return sum;
}

uint64_t columns_hash_document(const struct columns *columns, docid id)
{
    uint16_t fields[SCHEMA_FIELD_COUNT_MAX];
    int64_t values[SCHEMA_FIELD_COUNT_MAX];
    uint32_t count = columns_list(columns, id, schema_count(columns->schema), fields, values);
    uint64_t sum = 0;

    object_check(columns, COLUMNS_MAGIC);
    for (uint32_t i = 0; i < count; i++) {
        const struct column *column = columns_column(columns, fields[i]);

        sum += hash_number(hash_number(hash64(bytes_of(column->field->name)), id),
                           hash_value(column, values[i]));
    }
    return sum;
}

static void add_branch_size(const struct column_branch *branch, struct columns_size *size)
{
    size->directories += branch ? sizeof(*branch) : 0;
    for (uint32_t i = 0; branch && i < COLUMN_BRANCH_SIZE; i++) {
        const struct column_chunk *chunk = atomic_load(&branch->chunks[i]);

        size->directories += chunk ? sizeof(*chunk) : 0;
        for (uint32_t k = 0; chunk && k < COLUMN_CHUNK_SIZE; k++) {
            const struct page *page = atomic_load(&chunk->slots[k].page);

            if (page && page->kind != PAGE_DENSE)
                size->pages += page_size(page);
        }
    }
}

void columns_size(const struct columns *columns, struct columns_size *size)
{
    uint32_t i;
    uint32_t j;

    object_check(columns, COLUMNS_MAGIC);
    *size = (struct columns_size){.pages = page_pool_size(columns->pool)};
    for (i = 0; i < SCHEMA_FIELD_COUNT_MAX; i++) {
        const struct column *column = columns_column(columns, i);

        if (!column)
            continue;
        size->directories += sizeof(*column);
        size->dictionaries += column->dictionary ? dictionary_size(column->dictionary) : 0;
        size->lists += column->lists ? value_lists_size(column->lists) : 0;
        for (j = 0; j < COLUMN_BRANCH_COUNT; j++)
            add_branch_size(atomic_load(&column->branches[j]), size);
    }
    for (i = 0; i < columns_window_count(columns); i++) {
        const struct window_chunk *chunk = atomic_load(&columns->windows[i >> WINDOW_CHUNK_SHIFT]);

        if (chunk && atomic_load(&chunk->masks[i & (WINDOW_CHUNK_SIZE - 1)]))
            size->directories += sizeof(struct field_masks);
    }
}
