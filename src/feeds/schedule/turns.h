/* SPDX-License-Identifier: Apache-2.0 */
/*
 * turns.h - whose feed is fetched next, of those that are due.
 *
 * A seller may have many feeds, and a server may take minutes for each: one feed of a seller and
 * one of a server are fetched at a time, and of the others that whose seller was served the longest
 * ago. So whoever is slow keeps one thread, and waits for all others when it comes again. What is
 * remembered is of this process; after a start the longest due one goes first.
 * Threads: any.
 */
#ifndef TORG_FEEDS_SCHEDULE_TURNS_H
#define TORG_FEEDS_SCHEDULE_TURNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A feed that is due. */
struct feed_waiting {
    const char *seller;
    const char *feed;
    const char *host; /* of its address; "": not known, and no reason to wait */
    uint32_t shard;
    int64_t due_us;
};

struct feed_turns;

/* For so many who fetch, 0, 1, … */
struct feed_turns *feed_turns_new(size_t fetcher_count);
void feed_turns_free(struct feed_turns *turns); /* NULL is fine */

/* The one whose turn it is, which this fetcher, who has none, has until it gives it back; NULL:
 * none may be fetched now. The texts are copied. */
const struct feed_waiting *feed_turns_take(struct feed_turns *turns, size_t fetcher,
                                           const struct feed_waiting *list, size_t count);
void feed_turns_give_back(struct feed_turns *turns, size_t fetcher);

/* Whether take would find one. */
bool feed_turns_wait(struct feed_turns *turns, const struct feed_waiting *list, size_t count);
/* Whether a feed of the shard is being fetched. */
bool feed_turns_has(struct feed_turns *turns, uint32_t shard);

#endif
