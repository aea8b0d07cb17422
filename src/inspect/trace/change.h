/* SPDX-License-Identifier: Apache-2.0 */
/*
 * change.h - one write, and how far it has come: an offer's, or a document's.
 *
 *   saved ─ exported ─ composed ─ received ─ sent ─ searchable
 *                                 └ a document's begins here
 *
 * An offer's write is found in the registry by the version of its document, which is the time of
 * the offer's last change: what a newer change has superseded has passed where the newer has. From
 * there on the positions of lanes decide, those of the queue and those that searchers tell. A
 * searcher that is past a change has applied it or has told that it cannot (refusals.h): the
 * searcher of this process is asked for the document itself, of others' what they have refused is
 * looked up. Nothing of it needs the roles to be in one process.
 */
#ifndef TORG_INSPECT_TRACE_CHANGE_H
#define TORG_INSPECT_TRACE_CHANGE_H

#include "inspect/inspect.h"
#include "model/change_token.h"
#include "offers/record/freshness.h"

enum change_stage {
    CHANGE_SAVED,
    CHANGE_EXPORTED,
    CHANGE_COMPOSED,
    CHANGE_RECEIVED,
    CHANGE_SENT,
    CHANGE_SEARCHABLE,
    CHANGE_STAGE_COUNT,
};
const char *change_stage_name(enum change_stage stage);

struct change {
    bool is_offer;
    struct freshness offer;       /* if it is one */
    struct change_token document; /* else */
    /* Of an offer's, set by the first look: the version that the registry has to have. A later
     * change does not move it, or one that is changed all the time would never be there. */
    int64_t version;
};

enum { CHANGE_MEND_SIZE = 400 };

struct change_progress {
    enum change_stage next; /* what it waits for; all before are passed; CHANGE_STAGE_COUNT: none */
    bool is_stuck;          /* it cannot go on as it is: refused, parked or failed */
    int64_t since_us;       /* waits for it since then; 0: not known */
    char reason[ERR_TEXT_SIZE];  /* why; may be empty */
    char mend[CHANGE_MEND_SIZE]; /* what to do about it, of a stuck one */
    bool is_hidden;
    bool is_superseded;
    int64_t saved_us, sent_us, shown_us; /* 0: not known */
    /* The token of the document, from CHANGE_SENT on: searches can wait for it. idx 0: there is
     * nothing to wait for. */
    struct change_token document;
};

/* Both kinds of tokens, made with the key of this store; ERR_INVALID, ERR_PRECONDITION. */
int change_parse(const struct inspect *inspect, struct bytes token, struct change *change,
                 struct err *err);

/* Which client a document's write is of; ERR_NOT_FOUND. Give it back with client_unref. */
int change_client(const struct inspect *inspect, const struct change *change, struct arena *arena,
                  const struct client_view **client, struct err *err);

/* ERR_NOT_FOUND: there was no such write. */
int change_look(const struct inspect *inspect, struct change *change, struct arena *arena,
                struct change_progress *progress, struct err *err);

/* Looks until the stage is passed or the time (monotonic) has come: no error, the progress tells.
 * is_cancelled may be NULL. ERR_LIMIT: FRESHNESS_WAITER_COUNT_MAX others wait already. */
int change_wait(struct inspect *inspect, struct change *change, enum change_stage stage,
                int64_t deadline_us, bool (*is_cancelled)(const void *arg), const void *arg,
                struct arena *arena, struct change_progress *progress, struct err *err);

/*
 * The token that a search waits for, when the change has been received: *document is the token
 * itself if it is a document's, NULL when there is nothing to wait for. ERR_TIMEOUT tells the stage
 * that it has not passed by the deadline.
 */
int change_settle(struct inspect *inspect, const char *token, int64_t deadline_us,
                  struct arena *arena, char **document, struct err *err);

#endif
