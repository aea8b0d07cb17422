/* SPDX-License-Identifier: Apache-2.0 */
/*
 * intake.h - snippets that come by topics: a reader (stage/reader.h) for each InputTopic of the
 * config in use.
 *
 *   record ── key extractor ── prepare.h ── rows.h ──> the store; an empty value deletes
 *      └ cannot be used: parked, tried again UploadOverLBRetryCount times, then left to a person
 *
 * All snippets of a topic are one group: stored together or not at all. Nobody waits behind a
 * record that cannot be used, and when it is tried again it replaces nothing newer (rows.h).
 * Threads: a task looks for another config each second, and starts and stops readers by it.
 */
#ifndef TORG_SNIPPETS_INTAKE_INTAKE_H
#define TORG_SNIPPETS_INTAKE_INTAKE_H

#include "snippets/requests/snippets.h"
#include "topic/topic.h"

struct snippet_intake;

struct snippet_intake_options { /* all borrowed until it has stopped */
    struct snippets *snippets;
    struct topics *topics;
    struct store *store;
    const struct clock *clock;
    int64_t retry_pause_us; /* between two tries, at least */
};

/* Of the parked records of a topic: "snippets:TOPIC". */
#define SNIPPET_STAGE_START "snippets:"

int snippet_intake_start(const struct snippet_intake_options *options,
                         struct snippet_intake **intake, struct err *err);
void snippet_intake_stop(struct snippet_intake *intake); /* NULL is fine */

#endif
