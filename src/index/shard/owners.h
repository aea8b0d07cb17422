/* SPDX-License-Identifier: Apache-2.0 */
/*
 * owners.h - which part of the shard holds a document: one byte per id, 0 for none.
 *
 * Exactly one part has a document's text, by construction. Threads: the writer's alone.
 */
#ifndef TORG_INDEX_SHARD_OWNERS_H
#define TORG_INDEX_SHARD_OWNERS_H

#include <stdint.h>

#include "index/postings/window.h"

enum { OWNER_NONE = 0, OWNER_COUNT = 256 };

struct owners;

struct owners *owners_new(void);
void owners_free(struct owners *owners); /* NULL is fine */

uint8_t owners_get(const struct owners *owners, docid id);
void owners_set(struct owners *owners, docid id, uint8_t owner);

/* Every owner o of the window becomes map[o]. */
void owners_map(struct owners *owners, uint32_t window, const uint8_t map[OWNER_COUNT]);

uint64_t owners_size(const struct owners *owners); /* bytes of memory */

#endif
