/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The contract of coord and store together, on a real ZooKeeper and a SQLite file: an owner whose
 * session was ended without its knowledge writes nothing after its successor has written.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/memory.h"
#include "coord_fixture.h"
#include "store/fence.h"
#include "store/migrate.h"
#include "test_dir.h"
#include "zookeeper_proxy.h"

static int create_table(struct store_tx *tx, void *arg, struct err *err)
{
    (void)arg;
    return store_exec(tx, "CREATE TABLE kept (shard BIGINT PRIMARY KEY, value BIGINT NOT NULL)",
                      NULL, 0, NULL, err);
}

struct guarded {
    uint64_t ticket;
    int64_t value;
};

/* As an owner writes: the ticket is checked and the row changed in one transaction. */
static int write_guarded(struct store_tx *tx, void *arg, struct err *err)
{
    const struct guarded *guarded = arg;
    const struct store_value params[] = {STORE_V_INT(guarded->value)};
    int rc = store_check_fence(tx, "s/0", (int64_t)guarded->ticket, err);

    if (rc)
        return rc;
    return store_exec(tx,
                      "INSERT INTO kept (shard, value) VALUES (0, $1) "
                      "ON CONFLICT (shard) DO UPDATE SET value = excluded.value",
                      params, ARRAY_COUNT(params), NULL, err);
}

static int write_value(struct store *store, uint64_t ticket, int64_t value, struct err *err)
{
    struct guarded guarded = {ticket, value};

    return store_write(store, write_guarded, &guarded, err);
}

static int read_kept(struct store_tx *tx, void *arg, struct err *err)
{
    return store_find_integer(tx, "SELECT value FROM kept WHERE shard = 0", NULL, 0, arg, err);
}

static int64_t read_value(struct store *store)
{
    int64_t value = -1;
    struct err err;

    assert_int_equal(store_read(store, read_kept, &value, &err), 0);
    return value;
}

static struct store *open_store(const char *dir)
{
    struct store *store;
    char url[TEST_DIR_SIZE + 32];
    struct err err = {0};

    snprintf(url, sizeof(url), "sqlite:%s/store.sqlite", dir);
    if (store_open(url, &store, &err) || store_migrate(store, NULL, &err) ||
        store_write(store, create_table, NULL, &err))
        fail_msg("%s: %s", url, err.text);
    return store;
}

void a_lost_session_cannot_write_to_the_store(void **state)
{
    char dir[TEST_DIR_SIZE];
    struct store *store;
    struct pair pair;
    uint64_t ticket;
    struct err err;

    (void)state;
    begin_pair(&pair, NOTICED_MS);
    assert_true(test_dir_make(dir));
    store = open_store(dir);
    assert_int_equal(write_value(store, pair.old_ticket, 1, &err), 0);
    assert_true(proxy_end_session(pair.proxy));
    ticket = fixture_wait_ticket(pair.fresh_shards, 0);
    proxy_pass(pair.proxy);
    /* Nothing is written with the new ticket yet: the late write is still in order. */
    assert_int_equal(write_value(store, pair.old_ticket, 2, &err), 0);
    assert_int_equal(write_value(store, ticket, 3, &err), 0);
    assert_int_equal(write_value(store, pair.old_ticket, 666, &err), ERR_STALE);
    assert_non_null(strstr(err.text, "give up ownership"));
    assert_int_equal(read_value(store), 3);
    assert_int_equal(write_value(store, ticket, 4, &err), 0);
    fixture_wait_invalid(pair.old_shards, 0, pair.old_ticket);
    coord_close(pair.fresh);
    pair.fresh = NULL;
    /* Back by a new session: its new ticket writes, and now shuts out the other one. */
    assert_int_equal(write_value(store, fixture_wait_ticket(pair.old_shards, 0), 5, &err), 0);
    assert_int_equal(write_value(store, ticket, 666, &err), ERR_STALE);
    assert_int_equal(read_value(store), 5);
    store_close(store);
    assert_int_equal(dir_remove(dir, NULL), 0);
    end_pair(&pair);
}
