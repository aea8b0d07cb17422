/* SPDX-License-Identifier: Apache-2.0 */
/* key_columns.c - see key_columns.h. */
#include "numerator/key_columns.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

static const char *const usual[NUMBER_KEY_PART_MAX] = {"business_id", "offer_id", "shop_id",
                                                       "warehouse_id"};

static const char *const unnamed[NUMBER_KEY_PART_MAX] = {"key_1", "key_2", "key_3", "key_4"};

static int take_told(struct key_columns *keys, const char *told, struct err *err)
{
    char *rest;

    rest = keys->text = mem_strdup(told);
    while (rest) {
        const char *name = strsep(&rest, ",");

        if (!name[0] || keys->count == NUMBER_KEY_PART_MAX)
            return err_set(err, ERR_INVALID,
                           "key columns \"%s\": expected 1 to %d names with commas", told,
                           NUMBER_KEY_PART_MAX);
        keys->names[keys->count++] = name;
    }
    return 0;
}

int key_columns_find(struct key_columns *keys, const char *told, const struct table_reader *table,
                     struct err *err)
{
    *keys = (struct key_columns){0};
    if (told)
        return take_told(keys, told, err);
    for (uint32_t i = 0; i < NUMBER_KEY_PART_MAX; i++)
        if (table_has_column(table, usual[i]))
            keys->names[keys->count++] = usual[i];
    if (table_has_column(table, "offer_id"))
        return 0;
    keys->count = 1;
    keys->names[0] = "pk";
    if (table_has_column(table, "pk"))
        return 0;
    return err_set(err, ERR_INVALID,
                   "the offers have neither a column offer_id nor pk: name those of the key");
}

int key_columns_name(struct key_columns *keys, const char *told, uint32_t count, struct err *err)
{
    int rc;

    *keys = (struct key_columns){0};
    if (told) {
        rc = take_told(keys, told, err);
        if (rc == 0 && keys->count != count)
            rc = err_set(err, ERR_INVALID,
                         "the keys have %" PRIu32 " parts, and %" PRIu32 " are named", count,
                         keys->count);
        return rc;
    }
    assert(count <= NUMBER_KEY_PART_MAX);
    for (; keys->count < count; keys->count++)
        keys->names[keys->count] = count == 1                     ? "pk"
                                   : count == NUMBER_KEY_PART_MAX ? usual[keys->count]
                                                                  : unnamed[keys->count];
    return 0;
}

void key_columns_release(struct key_columns *keys)
{
    free(keys->text);
    keys->text = NULL;
}
