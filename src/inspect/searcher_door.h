/* SPDX-License-Identifier: Apache-2.0 */
/* searcher_door.h - the door to the searcher of this process, and to the others that it knows. */
#ifndef TORG_INSPECT_SEARCHER_DOOR_H
#define TORG_INSPECT_SEARCHER_DOOR_H

#include "inspect/door.h"
#include "searcher/service.h"

/* The searcher is borrowed. Others are asked with its key, which needs the scope stages. */
struct index_door searcher_door(struct searcher *searcher);

#endif
