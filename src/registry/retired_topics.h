/* SPDX-License-Identifier: Apache-2.0 */
/*
 * retired_topics.h - topics of epochs that are given up for good: what is in them goes.
 *
 * An epoch that serves, is built, or is kept for the way back has a row; whose row is gone never
 * comes back, nor does its number. Its topic is told to keep nothing for longer than
 * RETIRED_RETENTION_MS; the name stays, as topics cannot be removed.
 *
 * Topics are listed before the clients are read: a topic is made after the row of its epoch, so one
 * without a row had it and lost it.
 */
#ifndef TORG_REGISTRY_RETIRED_TOPICS_H
#define TORG_REGISTRY_RETIRED_TOPICS_H

#include <stddef.h>

#include "registry/indexer.h"

/* Does so with all that are not yet; *count: how many. Harmless to repeat, and from many processes
 * at once. */
int retired_topics_drain(const struct indexer_base *base, size_t *count, struct err *err);

#endif
