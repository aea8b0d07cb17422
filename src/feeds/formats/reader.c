/* SPDX-License-Identifier: Apache-2.0 */
/* reader.c - see reader.h: picks the format, holds what all formats share. */
#include "feeds/formats/reader.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "feeds/bounds.h"
#include "feeds/formats/format.h"
#include "feeds/formats/value.h"

static const char *const format_names[] = {"auto", "yml", "avito", "csv", "json", "google"};

const char *feed_format_name(enum feed_format format)
{
    return format_names[format];
}

bool feed_format_parse(const char *name, enum feed_format *format)
{
    size_t i;

    if (strcmp(name, "jsonl") == 0 || strcmp(name, "ndjson") == 0)
        name = "json";
    for (i = 0; i < ARRAY_COUNT(format_names); i++) {
        if (strcmp(format_names[i], name) == 0) {
            *format = (enum feed_format)i;
            return true;
        }
    }
    return false;
}

/* The first bytes that are no blanks, byte order marks or zeros of UTF-16 tell the format. */
static int guess_format(struct bytes start, enum feed_format *format, bool *is_xml, struct err *err)
{
    size_t i = 0;

    while (i < start.size && (start.data[i] <= ' ' || start.data[i] >= 0xef ||
                              (i < 3 && (start.data[i] == 0xbb || start.data[i] == 0xbf))))
        i++;
    *is_xml = i < start.size && start.data[i] == '<';
    if (i == start.size)
        return err_set(err, ERR_INVALID, "the feed is empty");
    if (start.data[i] == '[')
        return err_set(err, ERR_INVALID,
                       "the feed is a JSON array; write JSON lines: one object on each line");
    if (*is_xml)
        *format = FEED_FORMAT_AUTO; /* the root element tells which */
    else
        *format = start.data[i] == '{' ? FEED_FORMAT_JSON : FEED_FORMAT_CSV;
    return 0;
}

static int check_options(const struct feed_options *options, char currency[4], struct err *err)
{
    const char *wanted = options->currency ? options->currency : "RUB";

    if (!feed_parse_currency(bytes_of(wanted), currency))
        return err_set(err, ERR_INVALID, "\"%s\" is not a currency; write RUB", wanted);
    if (options->encoding && strlen(options->encoding) > FEED_ENCODING_SIZE_MAX)
        return err_set(err, ERR_INVALID, "encoding \"%.40s…\" is not known", options->encoding);
    if (options->delimiter && !strchr(",;\t|", options->delimiter))
        return err_set(err, ERR_INVALID, "the delimiter of CSV is one of , ; | or a tab");
    if (options->decimal && !strchr(".,", options->decimal))
        return err_set(err, ERR_INVALID, "before fractions stands a point or a comma");
    return 0;
}

static const struct feed_format_ops *ops_of(enum feed_format format, bool is_xml)
{
    if (is_xml || format == FEED_FORMAT_YML || format == FEED_FORMAT_AVITO ||
        format == FEED_FORMAT_GOOGLE)
        return &feed_xml_ops;
    return format == FEED_FORMAT_CSV ? &feed_csv_ops : &feed_json_ops;
}

static void fill_base(struct feed_reader *made, struct feed_source *source,
                      const struct feed_options *options, const char currency[4])
{
    made->source = source;
    made->options = *options;
    if (!made->options.size_max)
        made->options.size_max = (uint64_t)FEED_FILE_MB_MAX << 20;
    if (!made->options.row_count_max)
        made->options.row_count_max = FEED_ROW_COUNT_MAX;
    if (options->encoding)
        snprintf(made->encoding, sizeof(made->encoding), "%s", options->encoding);
    made->options.encoding = NULL; /* the caller's text may be gone */
    made->options.currency = NULL;
    feed_builder_init(&made->builder, currency, options->decimal);
}

int feed_reader_open(struct feed_source *source, const struct feed_options *options,
                     struct feed_reader **reader, struct err *err)
{
    static const struct feed_options defaults;
    uint8_t *block = mem_alloc(FEED_BLOCK_SIZE);
    enum feed_format format;
    struct feed_reader *made = NULL;
    bool is_xml = false;
    char currency[4];
    size_t got = 0;
    int rc;

    *reader = NULL;
    options = options ? options : &defaults;
    rc = check_options(options, currency, err);
    if (rc)
        goto out;
    rc = feed_source_read(source,
                          options->size_max ? options->size_max : (uint64_t)FEED_FILE_MB_MAX << 20,
                          block, FEED_BLOCK_SIZE, &got, err);
    if (rc)
        goto out;
    format = options->format;
    if (format == FEED_FORMAT_AUTO)
        rc = guess_format(bytes_make(block, got), &format, &is_xml, err);
    if (rc)
        goto out;
    made = ops_of(format, is_xml)->create();
    made->ops = ops_of(format, is_xml);
    made->format = format;
    fill_base(made, source, options, currency);
    made->block = block;
    block = NULL;
    made->block_rest = bytes_make(made->block, got);
    rc = made->ops->start(made, err);
    if (rc)
        goto out;
    *reader = made;
    made = NULL;
out:
    feed_reader_close(made);
    free(block);
    return rc;
}

void feed_reader_close(struct feed_reader *reader)
{
    if (!reader)
        return;
    feed_builder_release(&reader->builder);
    free(reader->block);
    reader->ops->destroy(reader);
}

int feed_input(struct feed_reader *reader, void *to, size_t size, size_t *got, struct err *err)
{
    int rc;

    if (reader->block_rest.size) {
        *got = size < reader->block_rest.size ? size : reader->block_rest.size;
        memcpy(to, reader->block_rest.data, *got);
        reader->block_rest = bytes_skip(reader->block_rest, *got);
        return 0;
    }
    rc = feed_source_read(reader->source, reader->options.size_max, to, size, got, err);
    if (!rc && *got == 0) {
        const struct feed_source *source = reader->source;

        reader->source_ended = true;
        if (source->total_size && source->read_size < source->total_size)
            reader->cut = "fewer bytes came than were announced";
    }
    return rc;
}

int feed_begin_row(struct feed_reader *reader, uint64_t line, struct err *err)
{
    if (reader->row_count == reader->options.row_count_max)
        return err_set(err, ERR_LIMIT, "line %" PRIu64 ": the feed has more than %" PRIu64 " rows",
                       line, reader->options.row_count_max);
    feed_builder_begin(&reader->builder, ++reader->row_count, line);
    return 0;
}

int feed_reader_next(struct feed_reader *reader, const struct feed_row **row, struct err *err)
{
    bool found = false;
    int rc;

    *row = NULL;
    if (reader->failure.code)
        return err_set(err, reader->failure.code, "%s", reader->failure.text);
    if (reader->ended)
        return 0;
    rc = reader->ops->next(reader, &found, &reader->failure);
    if (rc) {
        reader->failure.code = rc;
        return err_set(err, rc, "%s", reader->failure.text);
    }
    if (found)
        *row = feed_builder_finish(&reader->builder);
    else
        reader->ended = true;
    if (reader->ended && reader->source->cut)
        reader->cut = reader->source->cut; /* the cause of what the format saw */
    return 0;
}

enum feed_format feed_reader_format(const struct feed_reader *reader)
{
    return reader->format;
}

struct feed_progress feed_reader_progress(const struct feed_reader *reader)
{
    return (struct feed_progress){
        .read_size = reader->source->read_size - reader->block_rest.size,
        .total_size = reader->source->total_size,
        .row_count = reader->row_count,
        .complete = reader->ended && !reader->cut,
        .cut = reader->ended ? reader->cut : NULL,
    };
}
