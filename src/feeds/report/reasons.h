/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reasons.h - why rows were refused, or what was left out of them, grouped: a thousand rows without
 * a price are one line.
 *
 * Reasons of one field that differ in quoted words and numbers alone are one group, but for
 * categories, each of which has to be dealt with by itself. Past FEED_REASON_COUNT_MAX groups the
 * rest is counted together.
 */
#ifndef TORG_FEEDS_REPORT_REASONS_H
#define TORG_FEEDS_REPORT_REASONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

enum { FEED_REASON_EXAMPLE_COUNT = 3 };

struct feed_reason_example {
    uint64_t row;
    uint64_t line; /* 0: not known */
    const char *external_id;
};

struct feed_reason {
    const char *field;
    const char *reason; /* of the first row */
    const char *form;   /* with … and # for what differs */
    uint64_t count;     /* rows */
    uint64_t last_row;  /* that was counted */
    struct feed_reason_example examples[FEED_REASON_EXAMPLE_COUNT];
    size_t example_count;
};

struct feed_reasons;

struct feed_reasons *feed_reasons_new(void);
void feed_reasons_free(struct feed_reasons *reasons); /* NULL is fine */

void feed_reasons_add(struct feed_reasons *reasons, const char *field, const char *reason,
                      const struct feed_reason_example *row);
/* The most frequent first; valid until the next add. */
const struct feed_reason *feed_reasons_list(struct feed_reasons *reasons, size_t *count);

/* For people, two lines each: the count and the reason, then some of the rows. */
void feed_reasons_print(struct feed_reasons *reasons, bool is_russian, struct buf *out);
/* [{"field", "reason", "rows", "examples": [{"row", "line", "externalId"}]}] */
void feed_reasons_json(struct feed_reasons *reasons, bool is_russian, struct buf *out);

#endif
