/* SPDX-License-Identifier: Apache-2.0 */
/*
 * page.h - snippets for a page, within the time that the page is willing to wait for them.
 *
 *   page's thread ── snippets_batch_at_hand: all of it is in memory, most often; else
 *        │
 *        ├── job ──> a thread of the pool ── snippets_batch ──> the store
 *        └ waits until its time has come; a job that is late ends by itself, and nobody reads it
 *
 * A store that is slow or away holds the pool's threads and fills its queue, which is bounded: then
 * pages are told at once that there are none.
 */
#ifndef TORG_SNIPPETS_REQUESTS_PAGE_H
#define TORG_SNIPPETS_REQUESTS_PAGE_H

#include "snippets/requests/snippets.h"
#include "torg/v1/snippet.pb-c.h"

struct snippet_pages;

/* The stage is borrowed. wait_us: how long a page waits at most. */
struct snippet_pages *snippet_pages_new(struct snippets *snippets, const struct clock *clock,
                                        int64_t wait_us);
void snippet_pages_free(struct snippet_pages *pages); /* waits for its jobs; NULL is fine */

/* As snippets_batch, as messages in the arena. ERR_TIMEOUT: they did not come in time; ERR_LIMIT:
 * too many pages wait already, or the request asks for too many. */
int snippet_pages_read(struct snippet_pages *pages, char *const *names, size_t name_count,
                       char *const *keys, size_t key_count, const char *language,
                       struct arena *arena, Torg__V1__Snippet ***list, size_t *count,
                       struct err *err);

#endif
