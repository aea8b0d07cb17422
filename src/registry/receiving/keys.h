/* SPDX-License-Identifier: Apache-2.0 */
/*
 * keys.h - which writes of a batch share a key.
 */
#ifndef TORG_REGISTRY_RECEIVING_KEYS_H
#define TORG_REGISTRY_RECEIVING_KEYS_H

#include "base/arena.h"
#include "base/bytes.h"

/* Of each key the place of its first in the list; in the arena. */
uint32_t *keys_first_places(const struct bytes *keys, size_t count, struct arena *arena);

#endif
