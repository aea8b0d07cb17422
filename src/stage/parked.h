/* SPDX-License-Identifier: Apache-2.0 */
/*
 * parked.h - records that a stage could not use, until it can (dead letters that are retried).
 *
 *   stage ── key ── record, record, …      in the order in which they were parked
 *                     │        └ waits behind the first (PARKED_BEHIND)
 *                     └ tried again at next_us, then later and later
 *
 * One table for all stages. A row is durable before the topic's offset passes its record, and is
 * deleted when the stage has used it, when a newer one of its key has replaced it (PARKED_NEWEST),
 * or when a person gives it up. The reader (reader.h) writes; operators replay and drop
 * (service.h).
 */
#ifndef TORG_STAGE_PARKED_H
#define TORG_STAGE_PARKED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/bytes.h"
#include "store/store.h"

#define PARKED_BEHIND INT64_MAX /* of next_us */
#define PARKED_FOR_GOOD                                                                            \
    253402300799000000 /* the same: until a person hurries it; the year 9999                       \
                        */

/* Of try_count: the row tells people something, and no record can be used. Whatever key it has is
 * its own: records of that key neither wait for it nor replace it. */
#define PARKED_NO_RECORD (-1)

/* Names of stages in the table, and of their metrics' labels. */
#define PARKED_BY_COMPOSER "composer"
#define PARKED_BY_RECEIVER "receiver"
#define PARKED_BY_TAKEDOWNS "takedowns"
#define PARKED_BY_OPINIONS "opinions"
#define PARKED_BY_PHOTOS "photos"
#define PARKED_BY_PHOTO_FIRST "photo-first"
#define PARKED_BY_PHOTO_FETCH "photo-fetch"
#define PARKED_BY_MESSAGES "messages"
#define PARKED_BY_FEEDS "feeds"
#define PARKED_BY_REFUSALS "refusals"
#define PARKED_BY_EVENTS "events"

/* What becomes of the next records of a key while one is parked. */
enum parked_order {
    PARKED_IN_ORDER, /* they wait behind it */
    PARKED_NEWEST,   /* each is tried: one that works replaces it, one that fails, too */
    PARKED_ASIDE,    /* they pass: their order is no matter */
};

struct parked {
    int64_t id;
    const char *stage;
    const char *key; /* parked_key */
    const char *topic;
    uint32_t partition;
    uint64_t offset;
    struct bytes body; /* what the stage's handler is given again */
    int64_t size;      /* of the body, where it was not read */
    const char *reason;
    int64_t try_count; /* after the first; or PARKED_NO_RECORD */
    int64_t first_us;
    int64_t next_us;
};

/* A record's key as the table has it: text, never empty, of bounded size. Records without one have
 * no order: each gets its own. */
const char *parked_key(struct bytes key, uint32_t partition, uint64_t offset, struct arena *arena);

/* --- the reader's --- */

/* Adds a row; first_us is now. One of the same record and key is there: its reason and body are
 * renewed. ERR_LIMIT: the stage has PARKED_COUNT_MAX or PARKED_SIZE_MAX already. */
int parked_add(struct store *store, const struct parked *parked, enum parked_order order,
               struct err *err);
/* Another try has failed: try_count, next_us, reason by id. */
int parked_delay(struct store *store, const struct parked *parked, struct err *err);
/* It was used; what waits behind it is due. */
int parked_remove(struct store *store, const struct parked *parked, int64_t now_us,
                  struct err *err);
/* A newer record of the key was used, from this offset of the partition. */
int parked_supersede(struct store *store, const char *stage, const char *key, uint32_t partition,
                     uint64_t offset, struct err *err);
/* Those of a partition whose time has come, with bodies, at most max. */
int parked_due(struct store *store, const char *stage, uint32_t partition, int64_t now_us,
               size_t max, struct arena *arena, struct parked **list, size_t *count,
               struct err *err);

struct parked_total {
    int64_t count;
    int64_t size;
    int64_t change_no; /* another one: rows came or went */
};

/* stage "": of all. */
int parked_total(struct store *store, const char *stage, struct parked_total *total,
                 struct err *err);
/* Sorted hashes (hash64) of the keys of a stage; the memory is the caller's to free. */
int parked_hashes(struct store *store, const char *stage, uint64_t **hashes, size_t *count,
                  struct err *err);

/* --- for those who look and act; stage "": any --- */

/* In order of ids, behind `after`; without bodies. */
int parked_list(struct store *store, const char *stage, int64_t after, size_t max,
                struct arena *arena, struct parked **list, size_t *count, struct err *err);
/* Those of a key, with bodies. */
int parked_of_key(struct store *store, const char *stage, const char *key, size_t max,
                  struct arena *arena, struct parked **list, size_t *count, struct err *err);
/* The first of a key, without its body, inside a transaction; false in *found: there is none. */
int parked_find(struct store_tx *tx, const char *stage, const char *key, struct arena *arena,
                struct parked *parked, bool *found, struct err *err);
/* The time of a key, or of all (key ""), has come; *count: how many. */
int parked_hurry(struct store_tx *tx, const char *stage, const char *key, int64_t now_us,
                 int64_t *count, struct err *err);
/* Gives the first of a key up, or all of it. */
int parked_drop(struct store_tx *tx, const char *stage, const char *key, bool all, int64_t now_us,
                int64_t *count, struct err *err);

#endif
