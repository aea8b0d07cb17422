/* SPDX-License-Identifier: Apache-2.0 */
/*
 * synonym_holder.h - the synonyms in force, for every thread of a process.
 *
 * A request takes a reference and works with that table to its end. A task looks at the store each
 * second; when a set was changed there, by whichever process, all are read and the new table takes
 * the place of the old one. A store that does not answer, or a set that cannot be read, leaves what
 * is known in force.
 */
#ifndef TORG_SEARCH_SYNONYMS_SYNONYM_HOLDER_H
#define TORG_SEARCH_SYNONYMS_SYNONYM_HOLDER_H

#include "search/synonyms/synonyms.h"
#include "store/store.h"

struct synonym_holder;

/* watch: starts the task. */
/* has_shipped: with those of shipped_synonyms.h. */
int synonym_holder_open(struct store *store, bool watch, bool has_shipped,
                        struct synonym_holder **holder, struct err *err);
void synonym_holder_close(struct synonym_holder *holder); /* NULL is fine */

/* A reference, to be given back by synonyms_unref; never NULL. For those who are given a
 * function. */
struct synonyms *synonyms_in_force(void *holder);

/* Looks at the store now, so that a change made here is in force here at once. */
int synonym_holder_refresh(struct synonym_holder *holder, struct err *err);

#endif
