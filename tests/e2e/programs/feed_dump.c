/* SPDX-License-Identifier: Apache-2.0 */
/*
 * feed_dump.c - prints a feed file's rows as JSON, a row a line, for tests to compare.
 *
 * usage: feed-dump [--format F] [--encoding E] [--delimiter C] [--rows N] [--size N] [--doctype]
 *                  [--quiet] FILE
 * The last line tells how it ended: {"end":…} or {"error":…}, and the most memory it took.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/text.h"
#include "feeds/formats/reader.h"

static void put_text(struct buf *out, const char *name, struct bytes text)
{
    if (text.size == 0)
        return;
    buf_printf(out, ",\"%s\":", name);
    text_put_json(out, text);
}

static void put_list(struct buf *out, const char *name, const struct bytes *list, size_t count)
{
    buf_printf(out, ",\"%s\":[", name);
    for (size_t i = 0; i < count; i++) {
        buf_put_text(out, i ? "," : "");
        text_put_json(out, list[i]);
    }
    buf_put_byte(out, ']');
}

static void put_violations(struct buf *out, const char *name, const struct violations *list)
{
    buf_printf(out, ",\"%s\":[", name);
    for (const struct violation *each = list->first; each; each = each->next) {
        buf_put_text(out, each == list->first ? "[" : ",[");
        text_put_json(out, bytes_of(each->field));
        buf_put_byte(out, ',');
        text_put_json(out, bytes_of(each->reason));
        buf_put_byte(out, ']');
    }
    buf_put_byte(out, ']');
}

static void put_attributes(struct buf *out, const struct feed_row *row)
{
    buf_put_text(out, ",\"attributes\":[");
    for (size_t i = 0; i < row->attribute_count; i++) {
        const struct feed_attribute *each = &row->attributes[i];

        buf_put_text(out, i ? ",[" : "[");
        text_put_json(out, each->name);
        buf_put_byte(out, ',');
        text_put_json(out, each->value);
        buf_put_byte(out, ',');
        text_put_json(out, each->unit);
        buf_put_byte(out, ']');
    }
    buf_put_byte(out, ']');
}

static void put_row(struct buf *out, const struct feed_row *row)
{
    char hash[FEED_HASH_SIZE];

    feed_row_hash(row, hash);
    buf_printf(out, "{\"row\":%" PRIu64 ",\"line\":%" PRIu64, row->number, row->line);
    put_text(out, "id", row->external_id);
    buf_printf(out, ",\"idFromContent\":%s", row->id_from_content ? "true" : "false");
    put_text(out, "categoryId", row->category_id);
    put_text(out, "category", row->category);
    put_text(out, "title", row->title);
    put_text(out, "description", row->description);
    put_text(out, "url", row->url);
    if (row->has_price)
        buf_printf(out, ",\"price\":%" PRId64, row->price);
    if (row->has_old_price)
        buf_printf(out, ",\"oldPrice\":%" PRId64, row->old_price);
    put_text(out, "currency", bytes_of(row->currency));
    put_text(out, "condition", bytes_of(feed_condition_name(row->condition)));
    put_list(out, "photos", row->photos, row->photo_count);
    put_text(out, "address", row->address);
    if (row->has_point)
        buf_printf(out, ",\"point\":[%.7f,%.7f]", row->latitude, row->longitude);
    put_text(out, "contactName", row->contact_name);
    put_list(out, "phones", row->phones, row->phone_count);
    put_text(out, "email", row->email);
    put_attributes(out, row);
    buf_printf(out, ",\"available\":%s,\"deleted\":%s", row->available ? "true" : "false",
               row->deleted ? "true" : "false");
    put_violations(out, "problems", &row->problems);
    put_violations(out, "notes", &row->notes);
    buf_printf(out, ",\"hash\":\"%s\"}\n", hash);
}

/* The peak of this program; rusage would tell that of the one that started it, if that was more. */
static long peak_memory_kb(void)
{
    FILE *status = fopen("/proc/self/status", "r");
    char line[200];
    long kb = 0;

    while (status && fgets(line, sizeof(line), status)) {
        if (strncmp(line, "VmHWM:", 6) == 0)
            kb = strtol(line + 6, NULL, 10);
    }
    if (status)
        fclose(status);
    return kb;
}

static void put_end(struct buf *out, const struct feed_reader *reader, const struct err *err)
{
    struct feed_progress progress = {0};

    if (reader)
        progress = feed_reader_progress(reader);
    if (err->code) {
        buf_printf(out, "{\"error\":\"%s\",\"text\":", err_name(err->code));
        text_put_json(out, bytes_of(err->text));
    } else {
        buf_printf(out, "{\"end\":%s", progress.complete ? "true" : "false");
        put_text(out, "cut", bytes_of(progress.cut ? progress.cut : ""));
    }
    buf_printf(out, ",\"format\":\"%s\",\"rows\":%" PRIu64 ",\"read\":%" PRIu64,
               reader ? feed_format_name(feed_reader_format(reader)) : "", progress.row_count,
               progress.read_size);
    buf_printf(out, ",\"total\":%" PRIu64 ",\"rssKb\":%ld}\n", progress.total_size,
               peak_memory_kb());
}

static bool take_option(struct feed_options *options, const char *name, const char *value)
{
    if (strcmp(name, "--format") == 0)
        return feed_format_parse(value, &options->format);
    if (strcmp(name, "--encoding") == 0)
        options->encoding = value;
    else if (strcmp(name, "--delimiter") == 0)
        options->delimiter = value[0];
    else if (strcmp(name, "--rows") == 0)
        return text_to_u64(bytes_of(value), &options->row_count_max);
    else if (strcmp(name, "--size") == 0)
        return text_to_u64(bytes_of(value), &options->size_max);
    else
        return false;
    return true;
}

static void flush(struct buf *out)
{
    if (out->size)
        fwrite(out->data, 1, out->size, stdout);
    buf_reset(out);
}

int main(int argc, char **argv)
{
    struct feed_options options = {0};
    struct feed_source source;
    struct feed_reader *reader = NULL;
    const struct feed_row *row;
    struct buf out = BUF_INIT(16 << 20);
    struct err err = {0};
    bool quiet = false;
    int at = 1;
    int rc;

    for (; at + 1 < argc; at++) {
        if (strcmp(argv[at], "--quiet") == 0)
            quiet = true;
        else if (strcmp(argv[at], "--doctype") == 0)
            options.yml_doctype = true;
        else if (at + 2 < argc && take_option(&options, argv[at], argv[at + 1]))
            at++;
        else
            return 2;
    }
    if (at >= argc || feed_source_file(&source, argv[at], &err) != 0)
        return 2;
    rc = feed_reader_open(&source, &options, &reader, &err);
    while (!rc) {
        rc = feed_reader_next(reader, &row, &err);
        if (rc || !row)
            break;
        if (!quiet)
            put_row(&out, row);
        flush(&out);
    }
    put_end(&out, reader, &err);
    flush(&out);
    feed_reader_close(reader);
    feed_source_close(&source);
    buf_release(&out);
    return 0;
}
