/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bookmark.h - a page's cursor: where the searcher's list goes on, and which text it is of.
 *
 * A next page has to search the text that the first one did. Where that was corrected, the cursor
 * brings it along, so that a client may send the text as it was typed again:
 *
 *     0 | the searcher's cursor
 *     1 | hash of the text as sent, le64 | size, varint | the text searched | the searcher's cursor
 */
#ifndef TORG_SEARCH_BOOKMARK_H
#define TORG_SEARCH_BOOKMARK_H

#include "base/arena.h"
#include "base/bytes.h"
#include "base/err.h"

struct bookmark {
    struct bytes place; /* the searcher's cursor */
    const char *text;   /* to be searched */
};

/* sent: the text of the request; searched: the same pointer, or what it was corrected to. */
struct bytes bookmark_encode(struct bytes place, const char *sent, const char *searched,
                             struct arena *arena);

/* Of a request with this text. A text that is neither the one sent nor the one searched then stays:
 * the searcher refuses a cursor of another query. ERR_INVALID: these are no bookmark's bytes. */
int bookmark_decode(struct bytes cursor, const char *sent, struct arena *arena,
                    struct bookmark *bookmark, struct err *err);

#endif
