/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unreadable.h - clients whose rows in the store cannot be read: which they are, logged once each.
 *
 * Such a client is stopped; all others continue. The log has a line when one becomes unreadable and
 * when it can be read again; the gauge has how many there are now.
 *
 * Threads: the caller's lock.
 */
#ifndef TORG_REGISTRY_CLIENTS_UNREADABLE_H
#define TORG_REGISTRY_CLIENTS_UNREADABLE_H

#include <stdint.h>

#include "base/metrics.h"
#include "registry/bounds.h"

struct unreadable {
    char names[CLIENT_COUNT_MAX][CLIENT_NAME_SIZE_MAX + 1];
    uint32_t count;
    struct gauge *gauge;
};

void unreadable_init(struct unreadable *unreadable);
/* The client could not be read for this reason. */
void unreadable_note(struct unreadable *unreadable, const char *name, const char *reason);
/* It was read. */
void unreadable_forget(struct unreadable *unreadable, const char *name);

#endif
