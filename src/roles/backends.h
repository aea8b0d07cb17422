/* SPDX-License-Identifier: Apache-2.0 */
/* backends.h - opens what the settings name, or the embedded backend in the data directory. */
#ifndef TORG_ROLES_BACKENDS_H
#define TORG_ROLES_BACKENDS_H

#include "base/arena.h"
#include "base/err.h"
#include "config/config.h"
#include "store/store.h"

/* The store, its tables brought up to date; applied (may be NULL): how many migrations that took.
 */
int backends_open_store(const struct config *config, struct arena *arena, struct store **store,
                        size_t *applied, struct err *err);

#endif
