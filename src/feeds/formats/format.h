/* SPDX-License-Identifier: Apache-2.0 */
/*
 * format.h - between feed_reader and the readers of single formats; nobody else includes it.
 *
 * A format embeds struct feed_reader, takes bytes by feed_input or, decoded, by feed_text_next, and
 * puts what it finds into the builder.
 */
#ifndef TORG_FEEDS_FORMATS_FORMAT_H
#define TORG_FEEDS_FORMATS_FORMAT_H

#include "feeds/formats/builder.h"
#include "feeds/formats/reader.h"

struct feed_reader;

struct feed_format_ops {
    /* All required. A new reader with its own fields ready; the base is filled by the caller. */
    struct feed_reader *(*create)(void);
    int (*start)(struct feed_reader *reader, struct err *err); /* the base is ready */
    /* Finds one row and leaves it in the builder, begun and filled; *found = false at the end, with
     * reader->cut set if that came too early. */
    int (*next)(struct feed_reader *reader, bool *found, struct err *err);
    void (*destroy)(struct feed_reader *reader);
};

extern const struct feed_format_ops feed_xml_ops;
extern const struct feed_format_ops feed_csv_ops;
extern const struct feed_format_ops feed_json_ops;

struct feed_reader {
    const struct feed_format_ops *ops;
    enum feed_format format;
    struct feed_source *source; /* borrowed */
    struct feed_options options;
    char encoding[FEED_ENCODING_SIZE_MAX + 1]; /* options.encoding, or "" */
    struct feed_builder builder;
    uint8_t *block;          /* owned: FEED_BLOCK_SIZE, the bytes read last */
    struct bytes block_rest; /* of it, not taken yet */
    bool source_ended;
    uint64_t row_count;
    bool ended;
    const char *cut; /* the end came too early: why */
    struct err failure;
};

/* Up to size bytes of the source; *got = 0 at its end. */
int feed_input(struct feed_reader *reader, void *to, size_t size, size_t *got, struct err *err);
/* Begins the next row in the builder; ERR_LIMIT past the limit of rows. */
int feed_begin_row(struct feed_reader *reader, uint64_t line, struct err *err);

#endif
