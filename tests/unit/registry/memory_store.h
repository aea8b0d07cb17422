/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory_store.h - an empty store in memory for tests of what is written by SQL: no server.
 *
 * Functions of a transaction run on the store's own thread, where nothing may be asserted: a test
 * lists what is to be done as a block, and looks at what it has told afterwards.
 */
#ifndef TORG_TESTS_UNIT_REGISTRY_MEMORY_STORE_H
#define TORG_TESTS_UNIT_REGISTRY_MEMORY_STORE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/arena.h"
#include "store/migrate.h"
#include "store/store.h"

static struct store *store;
static struct arena *arena;

static int open_memory(void **state)
{
    struct err err;

    (void)state;
    arena = arena_new();
    return store_open("sqlite::memory:", &store, &err) || store_migrate(store, NULL, &err);
}

static int close_memory(void **state)
{
    (void)state;
    store_close(store);
    arena_free(arena);
    return 0;
}

/* Runs it in a transaction of its own; what it returns. */
static int change(store_fn fn, void *arg)
{
    struct err err;

    return store_write(store, fn, arg, &err);
}

#endif
