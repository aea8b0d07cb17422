/* SPDX-License-Identifier: Apache-2.0 */
/*
 * key_columns.h - which columns of a table make the key: as given ("a,b"), or those of business_id,
 * offer_id, shop_id, warehouse_id that it has, or pk.
 */
#ifndef TORG_NUMERATOR_KEY_COLUMNS_H
#define TORG_NUMERATOR_KEY_COLUMNS_H

#include "numerator/numerator.h"
#include "numerator/table.h"

struct key_columns {
    const char *names[NUMBER_KEY_PART_MAX]; /* in `text`, or constants */
    uint32_t count;
    char *text; /* owned */
};

/* told: NULL: as the table's names are. To be released in every case. */
int key_columns_find(struct key_columns *keys, const char *told, const struct table_reader *table,
                     struct err *err);
/* Names for keys of so many parts. told: NULL: pk, all four usual names, or key_1, key_2 ... */
int key_columns_name(struct key_columns *keys, const char *told, uint32_t count, struct err *err);
void key_columns_release(struct key_columns *keys);

#endif
