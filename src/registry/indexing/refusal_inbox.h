/* SPDX-License-Identifier: Apache-2.0 */
/*
 * refusal_inbox.h - what searchers could not apply, put into the lane failed.
 *
 *   index-refusals ── is the registry's document still that one? ── yes ──> failed, parked
 *                                                                └ no ───> a newer one is coming
 *
 * It is parked at once: a searcher would refuse it again (for a limit, or a field that exists with
 * another type), and each try is one more record in the index's topic. `torg queue replay` sends it
 * again when the cause is gone, a newer write replaces it automatically. A refusal may come many
 * times, from each replica and after each replay: it is one row. A record that no searcher could
 * decode has no known version: its document is sent again, as the registry has it, after a minute.
 *
 * Threads: its reader's one (stage/reader.h).
 */
#ifndef TORG_REGISTRY_INDEXING_REFUSAL_INBOX_H
#define TORG_REGISTRY_INDEXING_REFUSAL_INBOX_H

#include "base/clock.h"
#include "registry/clients/clients.h"
#include "store/store.h"
#include "topic/topic.h"

#define REFUSAL_GROUP "index-refusals"

struct refusal_inbox_options { /* all borrowed until it has stopped */
    struct topics *topics;
    struct store *store;
    struct clients *clients;
    const struct clock *clock;
};

struct refusal_inbox;

/* On failure *inbox is NULL. */
int refusal_inbox_start(const struct refusal_inbox_options *options, struct refusal_inbox **inbox,
                        struct err *err);
void refusal_inbox_stop(struct refusal_inbox *inbox); /* NULL is fine */

#endif
