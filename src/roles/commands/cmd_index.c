/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_index.c - torg index inspect: what is inside a shard's directory. */
#include <inttypes.h>
#include <stdio.h>

#include "base/buf.h"
#include "base/object.h"
#include "codec/json_value.h"
#include "index/shard/shard.h"
#include "roles/commands/command.h"

enum { OUTPUT_SIZE_MAX = 16 << 20 };

struct size_line {
    const char *name;
    uint64_t size;
    bool resident; /* in memory, or mapped and used by every query */
};

enum { SIZE_LINE_COUNT = 14 };

static void list_sizes(const struct shard_sizes *sizes, struct size_line lines[SIZE_LINE_COUNT])
{
    const struct size_line all[SIZE_LINE_COUNT] = {
        {"terms", sizes->terms, true},
        {"postings", sizes->postings, true},
        {"positions", sizes->positions, false},
        {"lengths", sizes->lengths, true},
        {"live", sizes->live, true},
        {"owners", sizes->owner, true},
        {"columns", sizes->columns, true},
        {"dictionaries", sizes->dictionaries, true},
        {"lists", sizes->lists, true},
        {"sets", sizes->sets, true},
        {"lexicon", sizes->lexicon, true},
        {"stored_offsets", sizes->stored_offsets, true},
        {"segment_docs", sizes->segment_docs, false},
        {"stored", sizes->stored, false},
    };
    unsigned i;

    for (i = 0; i < SIZE_LINE_COUNT; i++)
        lines[i] = all[i];
}

static uint64_t resident_size(const struct size_line *lines)
{
    uint64_t sum = 0;
    unsigned i;

    for (i = 0; i < SIZE_LINE_COUNT; i++)
        sum += lines[i].resident ? lines[i].size : 0;
    return sum;
}

static uint32_t value_count(const struct snapshot *snapshot, uint32_t field)
{
    const struct column *column = columns_column(snapshot->columns, field);

    return column && column_dictionary(column) ? dictionary_count(column_dictionary(column)) : 0;
}

/* --- text --- */

static void print_segments(const struct snapshot *snapshot)
{
    uint32_t i;

    printf("\n%-10s %12s %12s %12s %14s %14s\n", "segment", "documents", "dead", "terms",
           "postings", "bytes");
    for (i = 0; i < snapshot->segment_count; i++) {
        const struct text_segment *segment = snapshot->segments[i].segment;

        printf("%-10ju %12u %12jd %12u %14ju %14zu\n", (uintmax_t)segment->info.segment,
               segment->info.doc_count, (intmax_t)-snapshot->segments[i].live->count_delta,
               segment->info.term_count, (uintmax_t)segment->info.posting_count, segment->size);
    }
}

static void print_fields(const struct snapshot *snapshot)
{
    uint32_t count = schema_count(snapshot->schema);
    uint32_t i;

    printf("\n%-24s %-10s %-10s %10s\n", "field", "type", "", "values");
    for (i = 0; i < count; i++) {
        const struct field *field = schema_field(snapshot->schema, i);

        printf("%-24s %-10s %-10s %10u\n", field->name, field_type_name(field->type),
               field->filterable ? "filterable" : "", value_count(snapshot, i));
    }
}

static void print_text(const char *dir, const struct snapshot *snapshot,
                       const struct shard_sizes *sizes)
{
    struct lexicon_sizes words = lexicon_sizes(snapshot->lexicon);
    double docs = sizes->doc_count ? sizes->doc_count : 1;
    struct size_line lines[SIZE_LINE_COUNT];
    unsigned i;

    list_sizes(sizes, lines);
    printf("%s: %u documents, %u segments, up to offset %ju; %u words in %u forms; %ju bytes on "
           "disk\n\n%-16s %14s %14s\n",
           dir, sizes->doc_count, snapshot->segment_count, (uintmax_t)snapshot->offset,
           words.term_count, words.form_count, (uintmax_t)sizes->disk, "structure", "bytes",
           "a document");
    for (i = 0; i < SIZE_LINE_COUNT; i++)
        printf("%-16s %14ju %14.1f%s\n", lines[i].name, (uintmax_t)lines[i].size,
               (double)lines[i].size / docs, lines[i].resident ? "" : "  read when needed");
    printf("%-16s %14ju %14.1f\n", "resident", (uintmax_t)resident_size(lines),
           (double)resident_size(lines) / docs);
    print_segments(snapshot);
    print_fields(snapshot);
}

/* --- JSON --- */

static void put_member(struct buf *out, const char *name, uint64_t value)
{
    buf_printf(out, "%s\"%s\":%ju", out->data[out->size - 1] == '{' ? "" : ",", name,
               (uintmax_t)value);
}

static void put_segments(struct buf *out, const struct snapshot *snapshot)
{
    uint32_t i;

    for (i = 0; i < snapshot->segment_count; i++) {
        const struct text_segment_info *info = &snapshot->segments[i].segment->info;

        buf_put_text(out, i ? ",{" : "{");
        put_member(out, "number", info->segment);
        put_member(out, "documents", info->doc_count);
        put_member(out, "dead", (uint64_t)-snapshot->segments[i].live->count_delta);
        put_member(out, "terms", info->term_count);
        put_member(out, "postings", info->posting_count);
        put_member(out, "bytes", snapshot->segments[i].segment->size);
        buf_put_text(out, "}");
    }
}

static void put_fields(struct buf *out, const struct snapshot *snapshot)
{
    uint32_t count = schema_count(snapshot->schema);
    uint32_t i;

    for (i = 0; i < count; i++) {
        const struct field *field = schema_field(snapshot->schema, i);

        buf_put_text(out, i ? ",{\"name\":" : "{\"name\":");
        json_put_text(out, bytes_of(field->name));
        buf_printf(out, ",\"type\":\"%s\",\"filterable\":%s", field_type_name(field->type),
                   field->filterable ? "true" : "false");
        put_member(out, "values", value_count(snapshot, i));
        buf_put_text(out, "}");
    }
}

static void print_as_json(const struct snapshot *snapshot, const struct shard_sizes *sizes)
{
    struct lexicon_sizes words = lexicon_sizes(snapshot->lexicon);
    struct buf out = BUF_INIT(OUTPUT_SIZE_MAX);
    struct size_line lines[SIZE_LINE_COUNT];
    unsigned i;

    list_sizes(sizes, lines);
    buf_put_text(&out, "{");
    put_member(&out, "documents", sizes->doc_count);
    put_member(&out, "offset", snapshot->offset);
    put_member(&out, "terms", words.term_count);
    put_member(&out, "forms", words.form_count);
    put_member(&out, "disk_bytes", sizes->disk);
    put_member(&out, "resident_bytes", resident_size(lines));
    buf_put_text(&out, ",\"bytes\":{");
    for (i = 0; i < SIZE_LINE_COUNT; i++)
        put_member(&out, lines[i].name, lines[i].size);
    buf_put_text(&out, "},\"segments\":[");
    put_segments(&out, snapshot);
    buf_put_text(&out, "],\"fields\":[");
    put_fields(&out, snapshot);
    buf_put_text(&out, "]}\n");
    fputs(buf_text(&out), stdout);
    buf_release(&out);
}

enum exit_code cmd_index_inspect(const struct invocation *invocation)
{
    const char *dir = invocation->arguments[0];
    struct shard_options options = {.dir = dir, .is_read_only = true};
    const struct snapshot *snapshot = NULL;
    struct shard_reader *reader = NULL;
    struct shard *shard = NULL;
    struct shard_sizes sizes;
    struct err err = {0};
    int rc = shard_open(&options, &shard, &err);

    object_check(invocation, INVOCATION_MAGIC);
    if (!rc && invocation_option(invocation, "check"))
        rc = shard_check(shard, &err);
    if (!rc)
        rc = shard_reader_new(shard, &reader, &err);
    if (!rc)
        rc = shard_enter(reader, &snapshot, &err);
    if (!rc) {
        shard_sizes(shard, &sizes);
        if (invocation->json)
            print_as_json(snapshot, &sizes);
        else
            print_text(dir, snapshot, &sizes);
        shard_exit(reader);
    }
    shard_reader_free(reader);
    shard_close(shard);
    return rc ? fail(&err) : EXIT_OK;
}
