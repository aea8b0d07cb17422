/* SPDX-License-Identifier: Apache-2.0 */
/* reasons.c - see reasons.h. */
#include "feeds/report/reasons.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/memory.h"
#include "base/object.h"
#include "base/text.h"
#include "feeds/bounds.h"
#include "feeds/report/russian.h"

enum { FEED_REASONS_MAGIC = OBJECT_MAGIC('f', 'r', 's', 'n') };

struct feed_reasons {
    uint32_t magic;
    struct arena *arena;   /* owned */
    struct arena *scratch; /* owned: of one add */
    struct feed_reason list[FEED_REASON_COUNT_MAX + 1];
    size_t count;
};

struct feed_reasons *feed_reasons_new(void)
{
    struct feed_reasons *reasons = mem_zero(sizeof(*reasons));

    object_begin(reasons, FEED_REASONS_MAGIC);
    reasons->arena = arena_new();
    reasons->scratch = arena_new();
    return reasons;
}

void feed_reasons_free(struct feed_reasons *reasons)
{
    if (!reasons)
        return;
    object_check(reasons, FEED_REASONS_MAGIC);
    arena_free(reasons->arena);
    arena_free(reasons->scratch);
    object_end(reasons, FEED_REASONS_MAGIC);
    free(reasons);
}

/* "…" for what stands in quotes, # for numbers. */
static const char *form_of(const char *field, const char *reason, struct arena *arena)
{
    struct buf form = BUF_INIT(SIZE_MAX); /* a reason is bounded */
    const char *made;
    bool quoted = false;

    if (strcmp(field, "category") == 0)
        return arena_strdup(arena, reason);
    for (const char *at = reason; *at; at++) {
        bool is_digit = *at >= '0' && *at <= '9';

        if (*at == '"') {
            quoted = !quoted;
            buf_put_text(&form, quoted ? "\"…" : "\"");
        } else if (!quoted && !is_digit) {
            buf_put_byte(&form, (uint8_t)*at);
        } else if (!quoted && (at == reason || at[-1] < '0' || at[-1] > '9')) {
            buf_put_byte(&form, '#');
        }
    }
    made = arena_strdup(arena, buf_text(&form));
    buf_release(&form);
    return made;
}

static struct feed_reason *find(struct feed_reasons *reasons, const char *field, const char *reason)
{
    const char *form;
    struct feed_reason *one;

    arena_reset(reasons->scratch);
    form = form_of(field, reason, reasons->scratch);
    for (size_t i = 0; i < reasons->count; i++) {
        one = &reasons->list[i];
        if (strcmp(one->field, field) == 0 && strcmp(one->form, form) == 0)
            return one;
    }
    if (reasons->count >= FEED_REASON_COUNT_MAX) {
        one = &reasons->list[FEED_REASON_COUNT_MAX];
        reasons->count = FEED_REASON_COUNT_MAX + 1;
        one->field = "";
        one->form = one->reason = "other reasons";
        return one;
    }
    one = &reasons->list[reasons->count++];
    one->field = arena_strdup(reasons->arena, field);
    one->reason = arena_strdup(reasons->arena, reason);
    one->form = arena_strdup(reasons->arena, form);
    return one;
}

void feed_reasons_add(struct feed_reasons *reasons, const char *field, const char *reason,
                      const struct feed_reason_example *row)
{
    struct feed_reason *one;

    object_check(reasons, FEED_REASONS_MAGIC);
    if (strncmp(field, "content.", 8) == 0) /* as the file has it */
        field += 8;
    one = find(reasons, field, reason);
    if (one->count && one->last_row == row->row)
        return; /* twice in one row */
    one->count++;
    one->last_row = row->row;
    if (one->example_count == FEED_REASON_EXAMPLE_COUNT)
        return;
    one->examples[one->example_count] = *row;
    one->examples[one->example_count++].external_id =
        arena_strdup(reasons->arena, row->external_id);
}

static int compare(const void *a, const void *b)
{
    const struct feed_reason *first = a;
    const struct feed_reason *second = b;

    if (first->count != second->count)
        return first->count > second->count ? -1 : 1;
    return (first->examples[0].row > second->examples[0].row) -
           (first->examples[0].row < second->examples[0].row);
}

const struct feed_reason *feed_reasons_list(struct feed_reasons *reasons, size_t *count)
{
    object_check(reasons, FEED_REASONS_MAGIC);
    *count = reasons->count < FEED_REASON_COUNT_MAX ? reasons->count : FEED_REASON_COUNT_MAX;
    if (*count) /* what is counted together stays last */
        qsort(reasons->list, *count, sizeof(reasons->list[0]), compare);
    *count = reasons->count;
    return reasons->list;
}

/* In the arena of one add, which is over. */
static const char *said(struct feed_reasons *reasons, const struct feed_reason *one,
                        bool is_russian)
{
    arena_reset(reasons->scratch);
    return feed_reason_said(one->reason, is_russian, reasons->scratch);
}

static void print_rows(const struct feed_reason *one, bool is_russian, struct buf *out)
{
    buf_put_text(out, "            ");
    for (size_t i = 0; i < one->example_count; i++) {
        const struct feed_reason_example *row = &one->examples[i];

        buf_printf(out, "%s%s %" PRIu64 " (%s", i ? ", " : "", is_russian ? "запись" : "row",
                   row->row, row->external_id);
        if (row->line)
            buf_printf(out, ", %s %" PRIu64, is_russian ? "строка" : "line", row->line);
        buf_put_byte(out, ')');
    }
    if (one->count > one->example_count)
        buf_printf(out, is_russian ? " и ещё %" PRIu64 : " and %" PRIu64 " more",
                   one->count - one->example_count);
    buf_put_byte(out, '\n');
}

void feed_reasons_print(struct feed_reasons *reasons, bool is_russian, struct buf *out)
{
    size_t count;
    const struct feed_reason *list = feed_reasons_list(reasons, &count);

    for (size_t i = 0; i < count; i++) {
        buf_printf(out, "  %8" PRIu64 "  %s%s%s\n", list[i].count,
                   feed_field_said(list[i].field, is_russian), *list[i].field ? ": " : "",
                   said(reasons, &list[i], is_russian));
        print_rows(&list[i], is_russian, out);
    }
}

static void put_text(struct buf *out, const char *name, const char *text)
{
    buf_printf(out, "\"%s\":", name);
    text_put_json(out, bytes_of(text));
}

static void put_examples(const struct feed_reason *one, struct buf *out)
{
    for (size_t i = 0; i < one->example_count; i++) {
        const struct feed_reason_example *row = &one->examples[i];

        buf_printf(out, "%s{\"row\":%" PRIu64 ",", i ? "," : "", row->row);
        if (row->line)
            buf_printf(out, "\"line\":%" PRIu64 ",", row->line);
        put_text(out, "externalId", row->external_id);
        buf_put_byte(out, '}');
    }
}

void feed_reasons_json(struct feed_reasons *reasons, bool is_russian, struct buf *out)
{
    size_t count;
    const struct feed_reason *list = feed_reasons_list(reasons, &count);

    buf_put_byte(out, '[');
    for (size_t i = 0; i < count; i++) {
        buf_put_text(out, i ? ",{" : "{");
        put_text(out, "field", list[i].field);
        buf_put_byte(out, ',');
        put_text(out, "reason", said(reasons, &list[i], is_russian));
        buf_printf(out, ",\"rows\":%" PRIu64 ",\"examples\":[", list[i].count);
        put_examples(&list[i], out);
        buf_put_text(out, "]}");
    }
    buf_put_byte(out, ']');
}
