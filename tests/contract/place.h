/* SPDX-License-Identifier: Apache-2.0 */
/*
 * place.h - a store of a test's own, on every backend, and SQL in short; what fails ends the test.
 *
 * It is SQLite in memory, or a schema of the PostgreSQL that TORG_TEST_POSTGRES names.
 */
#ifndef TORG_TESTS_CONTRACT_PLACE_H
#define TORG_TESTS_CONTRACT_PLACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "store/store.h"

enum { SCHEMA_SIZE = 32, STORE_URL_SIZE = 1024 };

struct store_place {
    char schema[SCHEMA_SIZE]; /* "" on SQLite */
    char url[STORE_URL_SIZE];
    int64_t shape; /* of its tables when they were made */
};

/* A store with all tables; wrapper is what its URL begins with, as "fault:", or "". False, having
 * skipped nothing, when the server is missing and not required. */
bool store_place_open(struct store_place *at, bool postgres, const char *wrapper,
                      struct store **store);
void store_place_close(struct store_place *at, struct store *store);

/* The URL of the server, which must be there: wrapper before it, and "&name=value…" behind it. Each
 * connection of its store has the tests' patience to be accepted: of the five seconds that a
 * program gives a server, a busy machine may let all pass. */
void server_url(char url[STORE_URL_SIZE], const char *wrapper, const char *settings);
/* On the server, outside of any schema. */
void admin(const char *sql);
void schema_make(char schema[SCHEMA_SIZE]);
void schema_drop(const char *schema); /* "" is fine */

void exec(struct store *store, const char *sql);
/* The first column of the last row; -1 when there is none. params may be NULL. */
int64_t read_integer(struct store *store, const char *sql);
int64_t read_integer_of(struct store *store, const char *sql, const struct store_value *params,
                        size_t count);

#endif
