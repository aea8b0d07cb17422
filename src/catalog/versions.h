/* SPDX-License-Identifier: Apache-2.0 */
/*
 * versions.h - the catalogue in the store: every version ever applied, and which is in use.
 *
 * A version is a row that never changes; the one in use is a number in a row of its own, changed by
 * compare-and-set. Bodies are packed messages.
 */
#ifndef TORG_CATALOG_VERSIONS_H
#define TORG_CATALOG_VERSIONS_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "catalog/catalog.h"
#include "store/store.h"

struct version_info {
    int64_t version; /* 0: none was ever applied */
    int64_t applied_us;
    const char *applied_by; /* in the arena given */
};

/* The number of the version in use; 0 for none. */
int versions_current(struct store *store, int64_t *version, struct err *err);

/* Loads a version (0: the one in use). Without any, an empty catalogue of version 0. ERR_NOT_FOUND
 * for a number that was never applied. info (may be NULL) is told, its text in the arena. */
int versions_load(struct store *store, int64_t version, struct arena *arena,
                  struct version_info *info, struct catalog **catalog, struct err *err);

/* Stores the catalogue as expected + 1 and makes it the one in use, with an audit entry, in one
 * transaction. ERR_CONFLICT, changing nothing, when another version than expected is in use. */
int versions_add(struct store *store, const struct catalog *catalog, int64_t expected,
                 const char *principal, int64_t now_us, int64_t *version, struct err *err);

/* The packed form of a message, and back; ERR_LIMIT names the limit that is passed. */
int catalog_pack(const Torg__V1__Catalog *message, struct buf *packed, struct err *err);
int catalog_unpack(struct bytes packed, struct violations *violations, struct catalog **catalog,
                   struct err *err);

#endif
