/* SPDX-License-Identifier: Apache-2.0 */
/*
 * row.h - one offer as a feed file has it, whatever the format of the file.
 *
 * Made by a feed_reader and its until the next row is asked for. Texts are valid UTF-8 without
 * control characters, trimmed, and end with a terminator that is not counted. Nothing is known here
 * of the catalogue: category and attributes are as the seller names them.
 */
#ifndef TORG_FEEDS_FORMATS_ROW_H
#define TORG_FEEDS_FORMATS_ROW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/violation.h"

enum feed_condition {
    FEED_CONDITION_UNKNOWN,
    FEED_CONDITION_NEW,
    FEED_CONDITION_USED,
    FEED_CONDITION_BROKEN, /* to be repaired, or for parts */
};

struct feed_attribute {
    struct bytes name;
    struct bytes value;
    struct bytes unit; /* mostly empty */
};

struct feed_row {
    uint64_t number; /* 1, 2, … among the rows of the file */
    uint64_t line;   /* where it begins, from 1 */

    struct bytes external_id; /* never empty: without one in the file, made of the content */
    struct bytes category_id; /* either may be empty */
    struct bytes category;    /* a name, or a path: "Электроника/Телефоны" */
    struct bytes title;
    struct bytes description; /* plain text with line breaks */
    struct bytes url;

    int64_t price; /* in the currency's smallest unit; see has_price */
    int64_t old_price;
    const struct bytes *photos; /* http and https URLs */
    size_t photo_count;
    struct bytes address;
    double latitude; /* see has_point */
    double longitude;
    struct bytes contact_name;
    const struct bytes *phones; /* as +79001234567 */
    size_t phone_count;
    struct bytes email;
    const struct feed_attribute *attributes; /* in the file's order */
    size_t attribute_count;

    struct violations problems; /* with any of these the row is to be refused */
    struct violations notes;    /* what was left out of a row that is good without it */

    enum feed_condition condition;
    char currency[4]; /* ISO 4217; "" without a price */
    char decimal;     /* before fractions, as the reader was told; 0: not told */
    bool id_from_content;
    bool has_price;
    bool has_old_price;
    bool has_point;
    bool available; /* true unless the file says otherwise */
    bool deleted;   /* the file asks to delete it; only the id counts then */
};

enum { FEED_HASH_SIZE = 33 };

/*
 * 32 hexadecimal digits and a terminator, of everything that describes the thing; not of the row's
 * place in the file, its id, or whether it is available or deleted. The order of attributes does
 * not count, that of photos does. Part of stored data (ids made of it): it never changes.
 */
void feed_row_hash(const struct feed_row *row, char hash[FEED_HASH_SIZE]);

const char *feed_condition_name(enum feed_condition condition); /* "", "new", "used", "broken" */

#endif
