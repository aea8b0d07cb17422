/* SPDX-License-Identifier: Apache-2.0 */
/*
 * feed_check.h - any bytes as a feed of a format: refused with a reason, or rows that keep what
 * feed_row.h promises: valid texts, bounded lists, an id, prices with a currency.
 */
#ifndef TORG_TESTS_FUZZ_FEED_CHECK_H
#define TORG_TESTS_FUZZ_FEED_CHECK_H

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "feeds/bounds.h"
#include "feeds/formats/reader.h"

static inline void require(int truth)
{
    if (!truth)
        abort();
}

static inline void check_text(struct bytes text, size_t max)
{
    require(text.size <= max && text_is_utf8(text));
    require(text.size == 0 || text.data[text.size] == 0);
    for (size_t i = 0; i < text.size; i++)
        require(text.data[i] >= ' ' || text.data[i] == '\n');
}

static inline void check_row(const struct feed_row *row)
{
    check_text(row->external_id, FEED_ID_SIZE_MAX);
    require(row->external_id.size > 0 || row->problems.count > 0);
    check_text(row->category, FEED_VALUE_SIZE_MAX);
    check_text(row->title, FEED_VALUE_SIZE_MAX);
    check_text(row->description, FEED_TEXT_SIZE_MAX);
    check_text(row->address, FEED_VALUE_SIZE_MAX);
    require(row->photo_count <= FEED_PHOTO_COUNT_MAX);
    for (size_t i = 0; i < row->photo_count; i++)
        check_text(row->photos[i], FEED_URL_SIZE_MAX);
    require(row->attribute_count <= FEED_ATTRIBUTE_COUNT_MAX);
    for (size_t i = 0; i < row->attribute_count; i++) {
        check_text(row->attributes[i].name, FEED_NAME_SIZE_MAX);
        check_text(row->attributes[i].value, FEED_VALUE_SIZE_MAX);
    }
    require(!row->has_price || (row->price >= 0 && strlen(row->currency) == 3));
    for (const struct violation *each = row->problems.first; each; each = each->next)
        require(text_is_utf8(bytes_of(each->reason)));
}

static inline void feed_check(struct bytes content, enum feed_format format)
{
    struct feed_options options = {.format = format};
    struct feed_source source;
    struct feed_reader *reader = NULL;
    const struct feed_row *row = NULL;
    struct err err = {0};
    uint64_t count = 0;
    int rc;

    feed_source_memory(&source, content);
    rc = feed_reader_open(&source, &options, &reader, &err);
    while (!rc) {
        rc = feed_reader_next(reader, &row, &err);
        if (rc || !row)
            break;
        require(row->number == ++count);
        check_row(row);
    }
    require(!rc || (err.text[0] && text_is_utf8(bytes_of(err.text))));
    feed_reader_close(reader);
}

#endif
