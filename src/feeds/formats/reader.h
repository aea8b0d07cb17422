/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reader.h - reads a feed file row by row, in memory that does not grow with the file.
 *
 * YML (Yandex Market XML), Avito-style XML, Google Merchant's RSS and Atom, CSV and JSON lines;
 * docs/feeds.md says which fields of each are understood. What is wrong with one row is told in the
 * row, and reading goes on. What is wrong with the file (not XML, a DTD, a limit passed) ends it:
 * the text names line and column. A file that merely stops early ends like a whole one, but
 * `complete` stays false: whoever deletes what a feed no longer has must ask for it.
 *
 * Threads: one reader, one thread.
 */
#ifndef TORG_FEEDS_FORMATS_READER_H
#define TORG_FEEDS_FORMATS_READER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "feeds/formats/row.h"
#include "feeds/formats/source.h"

enum feed_format {
    FEED_FORMAT_AUTO, /* by the first bytes, and by the root element */
    FEED_FORMAT_YML,
    FEED_FORMAT_AVITO,
    FEED_FORMAT_CSV,
    FEED_FORMAT_JSON,   /* one object per line */
    FEED_FORMAT_GOOGLE, /* Google Merchant: RSS 2.0 and Atom; its TSV is CSV */
};

/* Zeroes are the defaults. */
struct feed_options {
    enum feed_format format;
    const char *encoding;   /* NULL: told or guessed; "windows-1251" and others iconv knows */
    const char *currency;   /* of prices without one; NULL: RUB */
    char delimiter;         /* of CSV; 0: guessed */
    char decimal;           /* before fractions, '.' or ','; 0: not told, see value.h */
    bool yml_doctype;       /* let <!DOCTYPE yml_catalog SYSTEM "shops.dtd"> pass, never fetched */
    uint64_t size_max;      /* of the file; 0: FEED_FILE_MB_MAX */
    uint64_t row_count_max; /* 0: FEED_ROW_COUNT_MAX */
};

struct feed_progress {
    uint64_t read_size;  /* bytes taken from the source */
    uint64_t total_size; /* 0: not known */
    uint64_t row_count;  /* rows given */
    bool complete;       /* the end was reached, and it is the end that the writer meant */
    const char *cut;     /* why not, once the end was reached; else NULL */
};

struct feed_reader;

/* Reads the first block. source: borrowed until the close; the caller closes it then. Options are
 * copied. On failure *reader is NULL. */
int feed_reader_open(struct feed_source *source, const struct feed_options *options,
                     struct feed_reader **reader, struct err *err);
void feed_reader_close(struct feed_reader *reader); /* NULL is fine */

/* *row: the reader's until the next call; NULL at the end. After a failure: the same failure. */
int feed_reader_next(struct feed_reader *reader, const struct feed_row **row, struct err *err);

enum feed_format feed_reader_format(const struct feed_reader *reader); /* AUTO: not known yet */
struct feed_progress feed_reader_progress(const struct feed_reader *reader);

const char *feed_format_name(enum feed_format format); /* "auto", "yml", "avito", … */
bool feed_format_parse(const char *name, enum feed_format *format); /* jsonl and ndjson too */

#endif
