/* SPDX-License-Identifier: Apache-2.0 */
/*
 * migrate.h - brings a store's schema to what this binary knows.
 *
 * Migrations are the files of sql/, built into the binary, numbered from 1 without gaps. Each is
 * applied in a transaction that also records its number, name and checksum in schema_migration. An
 * applied one never changes: a difference is refused by name, and so is a store that a newer binary
 * has migrated. Several starters at once take turns. Text in a comment that begins with "sqlite:"
 * is part of the statement for SQLite: WITHOUT ROWID, one tree instead of two.
 */
#ifndef TORG_STORE_MIGRATE_H
#define TORG_STORE_MIGRATE_H

#include <stddef.h>

#include "store/store.h"

struct migration {
    int64_t version;
    const char *name; /* the file's, without .sql */
    const char *sql;
};

/* Generated from sql/. */
extern const struct migration store_migrations[];
extern const size_t store_migration_count;

/* Applies what is missing; *applied (may be NULL) gets how many that were. */
int store_migrate(struct store *store, size_t *applied, struct err *err);

/* The same with another list, for tests. */
int store_migrate_list(struct store *store, const struct migration *list, size_t count,
                       size_t *applied, struct err *err);

#endif
