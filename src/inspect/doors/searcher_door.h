/* SPDX-License-Identifier: Apache-2.0 */
/* searcher_door.h - doors to the searcher of this process, and to those of others. */
#ifndef TORG_INSPECT_DOORS_SEARCHER_DOOR_H
#define TORG_INSPECT_DOORS_SEARCHER_DOOR_H

#include "inspect/doors/door.h"
#include "searcher/service.h"

/* The searcher is borrowed. Others are asked with its key, which needs the scope pipeline.read. */
struct index_door searcher_door(struct searcher *searcher);

/* To searchers of other processes alone, borrowed: how far they are, as they said it last, and
 * their documents, for which their key needs the scope pipeline.read. This process has none itself.
 */
struct index_door peers_door(struct peers *peers);

#endif
