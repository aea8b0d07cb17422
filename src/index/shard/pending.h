/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pending.h - documents that are replaced or removed with the next publication.
 *
 * Their new text waits in the buffer; here waits the rest of them, so that the columns of a
 * document change when its text does. One entry a document: what it is to be, not what happened to
 * it. Documents that no reader can see are not here, they change at once.
 *
 * Threads: the writer's alone.
 */
#ifndef TORG_INDEX_SHARD_PENDING_H
#define TORG_INDEX_SHARD_PENDING_H

#include <stdbool.h>
#include <stdint.h>

#include "index/columns/columns.h"

struct pending_doc {
    docid id;
    bool is_removed; /* then nothing of what follows counts */
    uint32_t lengths;
    int64_t expires_at, stored, birth; /* as the state columns have them */
    const struct column_change *changes;
    uint32_t change_count;
    uint32_t slot; /* of the table */
};

struct pending;

struct pending *pending_new(void);
void pending_free(struct pending *pending); /* NULL is fine */

uint32_t pending_count(const struct pending *pending);
/* How often room was taken: with the versions that no document will have. */
uint32_t pending_taken(const struct pending *pending);
struct pending_doc *pending_at(struct pending *pending, uint32_t i); /* in order of coming */

/* NULL: it is not there. What is found is valid until pending_add. */
struct pending_doc *pending_find(const struct pending *pending, docid id);
/* It is not there yet; without values, and no record is stored. */
struct pending_doc *pending_add(struct pending *pending, docid id);

/* Room for changes of a document, until pending_clear. */
struct column_change *pending_room(struct pending *pending, uint32_t count);

void pending_clear(struct pending *pending);

#endif
