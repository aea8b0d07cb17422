/* SPDX-License-Identifier: Apache-2.0 */
/*
 * retired_topics.h - topics of epochs that are given up for good are removed.
 *
 * An epoch that serves, is being built, or is kept for the way back has a row; an epoch whose row
 * is gone never comes back, nor does its number. Before its topic is removed the searchers get the
 * list of epochs; one that has not received it yet serves what it has, and finds nothing more.
 *
 * Topics are listed before the clients are read: a topic is made after the row of its epoch, so one
 * without a row had it and lost it. An indexer of another process that was about to send to the
 * epoch may create the topic once more, empty: the next check finds it.
 */
#ifndef TORG_REGISTRY_CLIENTS_RETIRED_TOPICS_H
#define TORG_REGISTRY_CLIENTS_RETIRED_TOPICS_H

#include <stddef.h>

#include "registry/indexing/indexer.h"

/* Removes them; *count: how many. coord (may be NULL: nobody is to be told): when it does not
 * answer nothing is removed. Harmless to repeat, and from many processes at once. */
int retired_topics_remove(const struct indexer_base *base, struct coord *coord, size_t *count,
                          struct err *err);

#endif
