/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report.h - what became of each row of a feed, as JSON, CSV and XML, written as it happens.
 *
 *   JSON  {"rows":[{"row":1,"line":2,"externalId":"a","outcome":"created"}, …],
 *          "groups":{"refused":[…],"noted":[…]},"totals":{…}}
 *   CSV   row,external_id,outcome,reasons,photos_failed,offer_id,line
 *         and, last, a line "group" for each reason (reasons.h) and "total" for each outcome
 *   XML   <report><row number="1" line="2" externalId="a" outcome="created"/> …
 *         <group of="refused" rows="3" field="price"> … <totals created="1" …/></report>
 *         with <reason field="…">, <note field="…"> and <photoFailed> in a row
 *
 * Each goes to NAME.part and is renamed at the close, so a report is whole or not there. In
 * CSV a cell that a spreadsheet would take for a formula gets an apostrophe before it.
 */
#ifndef TORG_FEEDS_REPORT_REPORT_H
#define TORG_FEEDS_REPORT_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "base/err.h"
#include "base/violation.h"

enum feed_outcome {
    FEED_CREATED,
    FEED_UPDATED,
    FEED_UNCHANGED,
    FEED_BANNED, /* matched an offer that is banned and stays so */
    FEED_REFUSED,
    FEED_LEFT, /* a later task has touched it */
    FEED_DELETED,
    FEED_REVIVED, /* deleted not long ago, and back with its id */
    FEED_OUTCOME_COUNT,
};

struct feed_summary {
    uint64_t counts[FEED_OUTCOME_COUNT];
    uint64_t photo_failed_count;
};

struct feed_result {
    uint64_t row;             /* of the file; 0: the feed no longer has it */
    uint64_t line;            /* where it begins there; 0: not known */
    struct bytes external_id; /* valid UTF-8, as all texts here */
    struct bytes offer_id;    /* empty: none */
    enum feed_outcome outcome;
    const struct violations *reasons;  /* NULL: none */
    const struct violations *notes;    /* NULL: none */
    const struct bytes *photos_failed; /* URLs */
    size_t photo_failed_count;
};

struct feed_report;

/* Where it is written; NULL: not as such. */
struct feed_report_paths {
    const char *json;
    const char *csv;
    const char *xml;
    bool is_russian; /* reasons and notes are; what is not known in it is English */
};

/* Without any path it only counts. */
int feed_report_open(const struct feed_report_paths *paths, struct feed_report **report,
                     struct err *err);
/* Counted always; a failure to write is told here or at the close. */
int feed_report_add(struct feed_report *report, const struct feed_result *result, struct err *err);
struct feed_summary feed_report_summary(const struct feed_report *report);
/* Writes the totals and names the files; the report is gone, whatever is returned. */
int feed_report_close(struct feed_report *report, struct err *err);
void feed_report_abandon(struct feed_report *report); /* removes what was written; NULL is fine */

/* A cell of CSV: quoted where RFC 4180 asks for it; none begins like a formula. */
void feed_csv_cell(struct buf *out, struct bytes text);

#endif
