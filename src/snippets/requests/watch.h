/* SPDX-License-Identifier: Apache-2.0 */
/*
 * watch.h - who follows changes of snippets (changes.h): their places, and what wakes them.
 *
 * A follower has a place while it follows: few of each caller, some in all, as each has a thread.
 * Writers of this process tell it at once; those of others are found by looking now and then.
 * Threads: any.
 */
#ifndef TORG_SNIPPETS_REQUESTS_WATCH_H
#define TORG_SNIPPETS_REQUESTS_WATCH_H

#include <stdint.h>

#include "base/clock.h"
#include "base/err.h"

struct snippet_watch;

struct snippet_watch *snippet_watch_new(const struct clock *clock);
void snippet_watch_free(struct snippet_watch *watch); /* NULL is fine; nobody has a place */

/* ERR_LIMIT: the caller has SNIPPET_WATCH_CALLER_MAX places, or all are taken. */
int snippet_watch_enter(struct snippet_watch *watch, uint64_t caller, struct err *err);
void snippet_watch_leave(struct snippet_watch *watch, uint64_t caller);

/* Something was changed, durably. */
void snippet_watch_tell(struct snippet_watch *watch);
/* How often that was told so far; who asks before it looks for changes misses none. */
uint64_t snippet_watch_told(const struct snippet_watch *watch);
/* Waits until it was told more often than so, or this monotonic time of the clock has come. */
void snippet_watch_wait(struct snippet_watch *watch, uint64_t told, int64_t until_us);

#endif
