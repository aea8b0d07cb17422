/* SPDX-License-Identifier: Apache-2.0 */
/* report.c - see report.h. */
#include "feeds/report/report.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <libgen.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/object.h"
#include "base/text.h"
#include "feeds/bounds.h"
#include "feeds/report/reasons.h"
#include "feeds/report/russian.h"

enum { WRITE_SIZE = 64 << 10 };

struct report_file {
    char *path; /* owned; NULL: not wanted */
    char *part; /* owned: its name until it is whole */
    int fd;
    struct buf buf; /* not written yet */
};

enum { FEED_REPORT_MAGIC = OBJECT_MAGIC('f', 'r', 'e', 'p') };

struct feed_report {
    uint32_t magic;
    struct feed_summary summary;
    uint64_t row_count;
    struct report_file json;
    struct report_file csv;
    struct report_file xml;
    bool is_russian;
    struct arena *arena;           /* owned: of a row */
    struct feed_reasons *refusals; /* owned */
    struct feed_reasons *notes;    /* owned */
};

static const char *const outcome_names[] = {"created", "updated", "unchanged", "banned",
                                            "refused", "left",    "deleted",   "revived"};

static int open_file(struct report_file *file, const char *path, struct err *err)
{
    size_t size;

    if (!path)
        return 0;
    size = strlen(path) + sizeof(".part");
    file->path = mem_strdup(path);
    file->part = mem_alloc(size);
    snprintf(file->part, size, "%s.part", path);
    file->fd = open(file->part, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    return file->fd < 0 ? err_errno(err, "%s", file->part) : 0;
}

static int flush_file(struct report_file *file, size_t above, struct err *err)
{
    int rc = 0;

    if (!file->path || file->buf.size <= above)
        return 0;
    if (buf_failed(&file->buf))
        return err_set(err, ERR_LIMIT, "%s: a row's report is larger than %d bytes", file->path,
                       FEED_REPORT_LINE_SIZE_MAX);
    rc = file_write_all(file->fd, buf_bytes(&file->buf), err);
    buf_reset(&file->buf);
    return rc ? err_wrap(err, "%s", file->part) : 0;
}

/* Whole, durable, and under its name. */
static int finish_file(struct report_file *file, struct err *err)
{
    char *place;
    int rc;

    if (!file->path)
        return 0;
    rc = flush_file(file, 0, err);
    if (rc)
        return rc;
    if (fsync(file->fd) != 0)
        return err_errno(err, "%s", file->part);
    if (rename(file->part, file->path) != 0)
        return err_errno(err, "%s", file->path);
    place = mem_strdup(file->path);
    rc = dir_sync(dirname(place), err);
    free(place);
    return rc;
}

static void release_file(struct report_file *file, bool remove_part)
{
    if (file->fd >= 0)
        close(file->fd);
    if (file->part && remove_part)
        unlink(file->part);
    free(file->path);
    free(file->part);
    buf_release(&file->buf);
}

int feed_report_open(const struct feed_report_paths *paths, struct feed_report **report,
                     struct err *err)
{
    struct feed_report *made = mem_zero(sizeof(*made));
    int rc;

    object_begin(made, FEED_REPORT_MAGIC);
    *report = NULL;
    made->is_russian = paths->is_russian;
    made->arena = arena_new();
    made->refusals = feed_reasons_new();
    made->notes = feed_reasons_new();
    made->json.fd = made->csv.fd = made->xml.fd = -1;
    buf_init(&made->xml.buf, WRITE_SIZE + FEED_REPORT_LINE_SIZE_MAX);
    buf_init(&made->json.buf, WRITE_SIZE + FEED_REPORT_LINE_SIZE_MAX);
    buf_init(&made->csv.buf, WRITE_SIZE + FEED_REPORT_LINE_SIZE_MAX);
    rc = open_file(&made->json, paths->json, err);
    if (!rc)
        rc = open_file(&made->csv, paths->csv, err);
    if (!rc)
        rc = open_file(&made->xml, paths->xml, err);
    if (rc) {
        feed_report_abandon(made);
        return rc;
    }
    buf_put_text(&made->json.buf, "{\"rows\":[");
    buf_put_text(&made->csv.buf, "row,external_id,outcome,reasons,photos_failed,offer_id,line\r\n");
    buf_put_text(&made->xml.buf, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<report>\n");
    *report = made;
    return 0;
}

static void put_json_violations(struct buf *out, const char *name, const struct violations *list)
{
    const struct violation *each;

    if (!list || !list->first)
        return;
    buf_printf(out, ",\"%s\":[", name);
    for (each = list->first; each; each = each->next) {
        buf_put_text(out, each == list->first ? "{\"field\":" : ",{\"field\":");
        text_put_json(out, bytes_of(each->field));
        buf_put_text(out, ",\"reason\":");
        text_put_json(out, bytes_of(each->reason));
        buf_put_byte(out, '}');
    }
    buf_put_byte(out, ']');
}

static void put_json(struct buf *out, const struct feed_result *result, bool is_first)
{
    size_t i;

    buf_put_text(out, is_first ? "\n{" : ",\n{");
    if (result->row)
        buf_printf(out, "\"row\":%" PRIu64 ",", result->row);
    if (result->line)
        buf_printf(out, "\"line\":%" PRIu64 ",", result->line);
    buf_put_text(out, "\"externalId\":");
    text_put_json(out, result->external_id);
    if (result->offer_id.size) {
        buf_put_text(out, ",\"offerId\":");
        text_put_json(out, result->offer_id);
    }
    buf_printf(out, ",\"outcome\":\"%s\"", outcome_names[result->outcome]);
    put_json_violations(out, "reasons", result->reasons);
    put_json_violations(out, "notes", result->notes);
    for (i = 0; i < result->photo_failed_count; i++) {
        buf_put_text(out, i ? "," : ",\"photosFailed\":[");
        text_put_json(out, result->photos_failed[i]);
    }
    buf_put_text(out, i ? "]}" : "}");
}

void feed_csv_cell(struct buf *out, struct bytes text)
{
    bool formula = text.size && strchr("=+-@\t\r", text.data[0]) && text.data[0];
    bool quoted = formula;
    size_t i;

    for (i = 0; i < text.size && !quoted; i++)
        quoted = text.data[i] && strchr(",;\"\r\n\t ", text.data[i]);
    if (quoted)
        buf_put_byte(out, '"');
    if (formula)
        buf_put_byte(out, '\'');
    for (i = 0; i < text.size; i++) {
        if (text.data[i] == '"')
            buf_put_byte(out, '"');
        buf_put_byte(out, text.data[i]);
    }
    if (quoted)
        buf_put_byte(out, '"');
}

static void put_csv_violations(struct buf *cell, const struct violations *list)
{
    const struct violation *each;

    for (each = list ? list->first : NULL; each; each = each->next)
        buf_printf(cell, "%s%s: %s", cell->size ? "; " : "", each->field, each->reason);
}

static void put_csv(struct buf *out, const struct feed_result *result)
{
    struct buf cell = BUF_INIT(FEED_REPORT_LINE_SIZE_MAX);
    size_t i;

    if (result->row)
        buf_printf(out, "%" PRIu64, result->row);
    buf_put_byte(out, ',');
    feed_csv_cell(out, result->external_id);
    buf_printf(out, ",%s,", outcome_names[result->outcome]);
    put_csv_violations(&cell, result->reasons);
    put_csv_violations(&cell, result->notes);
    feed_csv_cell(out, buf_bytes(&cell));
    buf_reset(&cell);
    for (i = 0; i < result->photo_failed_count; i++) {
        buf_put_text(&cell, i ? " " : "");
        buf_put(&cell, result->photos_failed[i]);
    }
    buf_put_byte(out, ',');
    feed_csv_cell(out, buf_bytes(&cell));
    buf_put_byte(out, ',');
    feed_csv_cell(out, result->offer_id);
    buf_put_byte(out, ',');
    if (result->line)
        buf_printf(out, "%" PRIu64, result->line);
    buf_put_text(out, "\r\n");
    buf_release(&cell);
}

/* XML has no way to write most control characters: they are blanks. */
static void put_xml_text(struct buf *out, struct bytes text)
{
    for (size_t i = 0; i < text.size; i++) {
        char letter = (char)text.data[i];

        if (letter == '&')
            buf_put_text(out, "&amp;");
        else if (letter == '<')
            buf_put_text(out, "&lt;");
        else if (letter == '>')
            buf_put_text(out, "&gt;");
        else if (letter == '"')
            buf_put_text(out, "&quot;");
        else
            buf_put_byte(out, (unsigned char)letter < ' ' ? ' ' : letter);
    }
}

static void put_xml_attribute(struct buf *out, const char *name, struct bytes value)
{
    buf_printf(out, " %s=\"", name);
    put_xml_text(out, value);
    buf_put_byte(out, '"');
}

static void put_xml_violations(struct buf *out, const char *tag, const struct violations *list)
{
    for (const struct violation *each = list ? list->first : NULL; each; each = each->next) {
        buf_printf(out, "<%s", tag);
        put_xml_attribute(out, "field", bytes_of(each->field));
        buf_put_byte(out, '>');
        put_xml_text(out, bytes_of(each->reason));
        buf_printf(out, "</%s>", tag);
    }
}

static void put_xml(struct buf *out, const struct feed_result *result)
{
    buf_put_text(out, "<row");
    if (result->row)
        buf_printf(out, " number=\"%" PRIu64 "\"", result->row);
    if (result->line)
        buf_printf(out, " line=\"%" PRIu64 "\"", result->line);
    put_xml_attribute(out, "externalId", result->external_id);
    if (result->offer_id.size)
        put_xml_attribute(out, "offerId", result->offer_id);
    buf_printf(out, " outcome=\"%s\">", outcome_names[result->outcome]);
    put_xml_violations(out, "reason", result->reasons);
    put_xml_violations(out, "note", result->notes);
    for (size_t i = 0; i < result->photo_failed_count; i++) {
        buf_put_text(out, "<photoFailed>");
        put_xml_text(out, result->photos_failed[i]);
        buf_put_text(out, "</photoFailed>");
    }
    buf_put_text(out, "</row>\n");
}

static void group(struct feed_reasons *reasons, const struct violations *list,
                  const struct feed_result *result, struct arena *arena)
{
    const struct feed_reason_example row = {.row = result->row,
                                            .line = result->line,
                                            .external_id = arena_text(arena, result->external_id)};

    for (const struct violation *each = list ? list->first : NULL; each; each = each->next)
        feed_reasons_add(reasons, each->field, each->reason, &row);
}

/* In the language of the report. */
static const struct violations *said(const struct feed_report *report,
                                     const struct violations *list, struct violations *russian)
{
    if (!report->is_russian || !list)
        return list;
    *russian = violations_in(report->arena);
    for (const struct violation *each = list->first; each; each = each->next)
        violations_add(russian, each->field, "%s",
                       feed_reason_said(each->reason, true, report->arena));
    return russian;
}

int feed_report_add(struct feed_report *report, const struct feed_result *result, struct err *err)
{
    struct violations russian[2];
    struct feed_result told = *result;
    int rc;

    object_check(report, FEED_REPORT_MAGIC);
    arena_reset(report->arena);
    report->summary.counts[result->outcome]++;
    report->summary.photo_failed_count += result->photo_failed_count;
    group(report->refusals, result->reasons, result, report->arena);
    group(report->notes, result->notes, result, report->arena);
    told.reasons = said(report, result->reasons, &russian[0]);
    told.notes = said(report, result->notes, &russian[1]);
    if (report->json.path)
        put_json(&report->json.buf, &told, report->row_count == 0);
    if (report->csv.path)
        put_csv(&report->csv.buf, &told);
    if (report->xml.path)
        put_xml(&report->xml.buf, &told);
    report->row_count++;
    rc = flush_file(&report->json, WRITE_SIZE, err);
    if (!rc)
        rc = flush_file(&report->csv, WRITE_SIZE, err);
    return rc ? rc : flush_file(&report->xml, WRITE_SIZE, err);
}

struct feed_summary feed_report_summary(const struct feed_report *report)
{
    object_check(report, FEED_REPORT_MAGIC);
    return report->summary;
}

static void put_csv_group(const char *of, const struct feed_reason *one, const char *reason,
                          struct buf *out)
{
    struct buf cell = BUF_INIT(FEED_REPORT_LINE_SIZE_MAX);

    buf_put_text(out, "group,");
    for (size_t i = 0; i < one->example_count; i++)
        buf_printf(&cell, "%s%s", i ? " " : "", one->examples[i].external_id);
    feed_csv_cell(out, buf_bytes(&cell));
    buf_reset(&cell);
    buf_printf(&cell, "%" PRIu64 " × %s%s%s", one->count, one->field, *one->field ? ": " : "",
               reason);
    buf_printf(out, ",%s,", of);
    feed_csv_cell(out, buf_bytes(&cell));
    buf_put_text(out, ",,,");
    buf_reset(&cell);
    for (size_t i = 0; i < one->example_count && one->examples[i].line; i++)
        buf_printf(&cell, "%s%" PRIu64, i ? " " : "", one->examples[i].line);
    feed_csv_cell(out, buf_bytes(&cell));
    buf_put_text(out, "\r\n");
    buf_release(&cell);
}

static void put_xml_group(const char *of, const struct feed_reason *one, const char *reason,
                          struct buf *out)
{
    buf_printf(out, "<group of=\"%s\" rows=\"%" PRIu64 "\"", of, one->count);
    put_xml_attribute(out, "field", bytes_of(one->field));
    buf_put_text(out, "><reason>");
    put_xml_text(out, bytes_of(reason));
    buf_put_text(out, "</reason>");
    for (size_t i = 0; i < one->example_count; i++) {
        const struct feed_reason_example *row = &one->examples[i];

        buf_printf(out, "<example row=\"%" PRIu64 "\"", row->row);
        if (row->line)
            buf_printf(out, " line=\"%" PRIu64 "\"", row->line);
        put_xml_attribute(out, "externalId", bytes_of(row->external_id));
        buf_put_text(out, "/>");
    }
    buf_put_text(out, "</group>\n");
}

static void put_groups(struct feed_report *report, const char *of, struct feed_reasons *reasons)
{
    size_t count;
    const struct feed_reason *list = feed_reasons_list(reasons, &count);

    arena_reset(report->arena);
    for (size_t i = 0; i < count; i++) {
        const char *reason = feed_reason_said(list[i].reason, report->is_russian, report->arena);

        put_csv_group(of, &list[i], reason, &report->csv.buf);
        put_xml_group(of, &list[i], reason, &report->xml.buf);
    }
    buf_printf(&report->json.buf, "\"%s\":", of);
    feed_reasons_json(reasons, report->is_russian, &report->json.buf);
}

static void put_totals(struct feed_report *report)
{
    const struct feed_summary *summary = &report->summary;
    struct buf *json = &report->json.buf;
    struct buf *csv = &report->csv.buf;
    struct buf *xml = &report->xml.buf;
    size_t i;

    buf_put_text(json, "\n],\"groups\":{");
    put_groups(report, "refused", report->refusals);
    buf_put_byte(json, ',');
    put_groups(report, "noted", report->notes);
    buf_put_text(json, "},\n\"totals\":{");
    buf_put_text(xml, "<totals");
    for (i = 0; i < FEED_OUTCOME_COUNT; i++) {
        buf_printf(json, "\"%s\":%" PRIu64 ",", outcome_names[i], summary->counts[i]);
        buf_printf(csv, "total,,%s,%" PRIu64 ",,,\r\n", outcome_names[i], summary->counts[i]);
        buf_printf(xml, " %s=\"%" PRIu64 "\"", outcome_names[i], summary->counts[i]);
    }
    buf_printf(json, "\"photosFailed\":%" PRIu64 "}}\n", summary->photo_failed_count);
    buf_printf(csv, "total,,photos_failed,%" PRIu64 ",,,\r\n", summary->photo_failed_count);
    buf_printf(xml, " photosFailed=\"%" PRIu64 "\"/>\n</report>\n", summary->photo_failed_count);
}

static void free_report(struct feed_report *report, bool remove_parts)
{
    release_file(&report->json, remove_parts);
    release_file(&report->csv, remove_parts);
    release_file(&report->xml, remove_parts);
    feed_reasons_free(report->refusals);
    feed_reasons_free(report->notes);
    arena_free(report->arena);
    object_end(report, FEED_REPORT_MAGIC);
    free(report);
}

int feed_report_close(struct feed_report *report, struct err *err)
{
    int rc;

    object_check(report, FEED_REPORT_MAGIC);
    put_totals(report);
    rc = finish_file(&report->json, err);
    if (!rc)
        rc = finish_file(&report->csv, err);
    if (!rc)
        rc = finish_file(&report->xml, err);
    free_report(report, rc != 0);
    return rc;
}

void feed_report_abandon(struct feed_report *report)
{
    if (!report)
        return;
    object_check(report, FEED_REPORT_MAGIC);
    free_report(report, true);
}
