/* SPDX-License-Identifier: Apache-2.0 */
/* indexed.h - what a searcher has of one document. */
#ifndef TORG_INSPECT_DOORS_INDEXED_H
#define TORG_INSPECT_DOORS_INDEXED_H

#include <stdbool.h>

#include "base/bytes.h"
#include "inspect/doors/door.h"
#include "registry/clients/clients.h"

/* In the epoch that serves, under the number; NULL in *found: it has it not, or has another. */
int indexed_find(const struct index_door *door, const char *replica,
                 const struct client_view *client, uint32_t shard, uint32_t doc_id, struct bytes pk,
                 struct arena *arena, const Torg__V1__IndexedDocument **found, struct err *err);

/* Whether the searcher has every element of the lane up to this one. */
bool indexed_is_past(const Torg__V1__ShardFreshness *shard, uint32_t lane, int64_t idx);

#endif
