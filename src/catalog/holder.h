/* SPDX-License-Identifier: Apache-2.0 */
/*
 * holder.h - the catalogue in use, for every thread of a process.
 *
 * A reader takes a reference, works on that one version for as long as it likes (a request), and
 * lets go. A thread looks at the store each second; when another version is in use there it is
 * loaded beside the old one and swapped in, so readers never wait and never see half of a change.
 * A store that does not answer, or a version that cannot be loaded, leaves the old one in use.
 */
#ifndef TORG_CATALOG_HOLDER_H
#define TORG_CATALOG_HOLDER_H

#include <stdbool.h>

#include "base/err.h"
#include "catalog/catalog.h"
#include "store/store.h"

struct catalog_holder;

/* Loads the version in use; watch: starts the thread that follows it. */
int catalog_holder_open(struct store *store, bool watch, struct catalog_holder **holder,
                        struct err *err);
void catalog_holder_close(struct catalog_holder *holder); /* NULL is fine */

/* Never NULL: version 0 is an empty catalogue. To be given back by catalog_unref. */
struct catalog *catalog_holder_ref(struct catalog_holder *holder);
struct catalog *catalog_in_use(void *holder); /* the same, for those who are given a function */

/* When the store was last asked and had no other version in use; monotonic. Whoever reads this and
 * then takes a reference has what was in use at that moment, or something newer. */
int64_t catalog_holder_sure_us(struct catalog_holder *holder);

/* Looks at the store now, so that a change made here is in use here at once. */
int catalog_holder_refresh(struct catalog_holder *holder, struct err *err);

#endif
