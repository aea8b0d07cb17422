/* SPDX-License-Identifier: Apache-2.0 */
/* indexed.h - what a searcher has of one document. */
#ifndef TORG_INSPECT_INDEXED_H
#define TORG_INSPECT_INDEXED_H

#include "base/bytes.h"
#include "inspect/door.h"
#include "registry/clients.h"

/* In the epoch that serves, under the number; NULL in *found: it has it not, or has another. */
int indexed_find(const struct index_door *door, const char *replica,
                 const struct client_view *client, uint32_t shard, uint32_t doc_id, struct bytes pk,
                 struct arena *arena, const Torg__V1__IndexedDocument **found, struct err *err);

#endif
