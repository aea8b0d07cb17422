/* SPDX-License-Identifier: Apache-2.0 */
/*
 * row.c - see row.h.
 *
 * The hash is taken over a canonical form: each text as its size in eight bytes, low first, and its
 * bytes, so that no two contents share a form by moving a boundary.
 */
#include "feeds/formats/row.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/hash.h"
#include "feeds/bounds.h"

enum { HASH_SECOND_SEED = 0x746f7267 };

const char *feed_condition_name(enum feed_condition condition)
{
    static const char *const names[] = {"", "new", "used", "broken"};

    return names[condition];
}

static int compare_attributes(const void *a, const void *b)
{
    const struct feed_attribute *x = *(const struct feed_attribute *const *)a;
    const struct feed_attribute *y = *(const struct feed_attribute *const *)b;
    int order = bytes_compare(x->name, y->name);

    if (order == 0)
        order = bytes_compare(x->value, y->value);
    return order ? order : bytes_compare(x->unit, y->unit);
}

static void put_number(struct buf *out, uint64_t number)
{
    int i;

    for (i = 0; i < 64; i += 8)
        buf_put_byte(out, (uint8_t)(number >> i));
}

static void put_text(struct buf *out, struct bytes text)
{
    put_number(out, text.size);
    buf_put(out, text);
}

static void put_list(struct buf *out, const struct bytes *list, size_t count)
{
    size_t i;

    put_number(out, count);
    for (i = 0; i < count; i++)
        put_text(out, list[i]);
}

static void put_attributes(struct buf *out, const struct feed_row *row)
{
    const struct feed_attribute *sorted[FEED_ATTRIBUTE_COUNT_MAX];
    size_t count = row->attribute_count;
    size_t i;

    for (i = 0; i < count; i++)
        sorted[i] = &row->attributes[i];
    if (count)
        qsort(sorted, count, sizeof(sorted[0]), compare_attributes);
    put_number(out, count);
    for (i = 0; i < count; i++) {
        put_text(out, sorted[i]->name);
        put_text(out, sorted[i]->value);
        put_text(out, sorted[i]->unit);
    }
}

/* A ten-millionth of a degree is a centimetre. */
static uint64_t fixed_degrees(double degrees)
{
    return (uint64_t)(int64_t)(degrees * 1e7 + (degrees < 0 ? -0.5 : 0.5));
}

void feed_row_hash(const struct feed_row *row, char hash[FEED_HASH_SIZE])
{
    struct buf form = BUF_INIT(SIZE_MAX); /* a row's parts are bounded */

    put_text(&form, row->category_id);
    put_text(&form, row->category);
    put_text(&form, row->title);
    put_text(&form, row->description);
    put_text(&form, row->url);
    put_number(&form, row->has_price);
    put_number(&form, (uint64_t)row->price);
    put_number(&form, row->has_old_price);
    put_number(&form, (uint64_t)row->old_price);
    put_text(&form, bytes_of(row->currency));
    put_text(&form, bytes_of(feed_condition_name(row->condition)));
    put_list(&form, row->photos, row->photo_count);
    put_text(&form, row->address);
    put_number(&form, row->has_point);
    put_number(&form, row->has_point ? fixed_degrees(row->latitude) : 0);
    put_number(&form, row->has_point ? fixed_degrees(row->longitude) : 0);
    put_text(&form, row->contact_name);
    put_list(&form, row->phones, row->phone_count);
    put_text(&form, row->email);
    put_attributes(&form, row);
    snprintf(hash, FEED_HASH_SIZE, "%016" PRIx64 "%016" PRIx64, hash64(buf_bytes(&form)),
             hash64_seeded(buf_bytes(&form), HASH_SECOND_SEED));
    buf_release(&form);
}
