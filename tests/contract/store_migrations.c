/* SPDX-License-Identifier: Apache-2.0 */
/* The store's contract: migrations. */
#include "contract/store_fixture.h"

#include <pthread.h>
#include <string.h>

#include "base/memory.h"
#include "store/migrate.h"

static const struct migration two_migrations[] = {
    {1, "0001_one",
     "CREATE TABLE one (id BIGINT); -- a comment; with a semicolon\n"
     "INSERT INTO one (id) VALUES (1);"},
    {2, "0002_two", "CREATE TABLE two (name TEXT DEFAULT 'a;b'); INSERT INTO one (id) VALUES (2)"},
};

struct starter {
    const char *url;
    int rc;
    size_t applied;
    struct err err;
};

static void *starter_main(void *arg)
{
    struct starter *starter = arg;
    struct store *store;

    starter->rc = store_open(starter->url, &store, &starter->err);
    if (starter->rc)
        return NULL;
    starter->rc = store_migrate_list(store, two_migrations, 2, &starter->applied, &starter->err);
    store_close(store);
    return NULL;
}

static void several_starters_migrate_once(void **state)
{
    struct fixture *fixture = start(state);
    struct starter starters[6];
    pthread_t threads[6];
    size_t applied = 0;
    size_t i;

    for (i = 0; i < ARRAY_COUNT(starters); i++) {
        starters[i] = (struct starter){.url = fixture->url};
        assert_int_equal(pthread_create(&threads[i], NULL, starter_main, &starters[i]), 0);
    }
    for (i = 0; i < ARRAY_COUNT(starters); i++) {
        pthread_join(threads[i], NULL);
        if (starters[i].rc)
            fail_msg("%s", starters[i].err.text);
        applied += starters[i].applied;
    }
    assert_int_equal(applied, 2);
    assert_int_equal(read_integer(fixture->store, "SELECT count(*) FROM one"), 2);
    assert_int_equal(read_integer(fixture->store, "SELECT count(*) FROM schema_migration"), 2);
}

static void changed_and_newer_schemas_are_refused(void **state)
{
    struct fixture *fixture = start(state);
    struct migration changed[] = {two_migrations[0], two_migrations[1]};
    struct migration broken[] = {two_migrations[0],
                                 two_migrations[1],
                                 {3, "0003_bad", "CREATE TABLE three (id BIGINT); SELECT nothing"}};
    struct err err;
    size_t applied;

    assert_int_equal(store_migrate_list(fixture->store, two_migrations, 1, &applied, &err), 0);
    assert_int_equal(applied, 1);
    assert_int_equal(store_migrate_list(fixture->store, two_migrations, 2, &applied, &err), 0);
    assert_int_equal(applied, 1);
    assert_int_equal(store_migrate_list(fixture->store, two_migrations, 2, &applied, &err), 0);
    assert_int_equal(applied, 0);

    changed[0].sql = "CREATE TABLE one (id BIGINT, more BIGINT)";
    assert_int_equal(store_migrate_list(fixture->store, changed, 2, &applied, &err),
                     ERR_PRECONDITION);
    assert_non_null(strstr(err.text, "0001_one"));
    assert_non_null(strstr(err.text, "take a new data directory or database"));
    assert_int_equal(store_migrate_list(fixture->store, two_migrations, 1, &applied, &err),
                     ERR_PRECONDITION);
    assert_non_null(strstr(err.text, "0002_two"));

    assert_int_not_equal(store_migrate_list(fixture->store, broken, 3, &applied, &err), 0);
    assert_non_null(strstr(err.text, "0003_bad"));
    assert_int_equal(try_exec(fixture->store, "SELECT id FROM three", NULL, 0, &err), ERR_INTERNAL);
    assert_int_equal(read_integer(fixture->store, "SELECT max(version) FROM schema_migration"), 2);
}

static void the_binarys_own_migrations_apply(void **state)
{
    struct fixture *fixture = start(state);
    struct err err = {0};
    size_t applied = 0;

    if (store_migrate(fixture->store, &applied, &err))
        fail_msg("%s", err.text);
    assert_int_equal(applied, store_migration_count);
    assert_int_equal(read_integer(fixture->store, "SELECT count(*) FROM api_key"), 0);
    assert_int_equal(read_integer(fixture->store, "SELECT count(*) FROM audit"), 0);
}

/* 0011: what an older program has parked is parked still, first things first. */
static void parked_offers_move_to_the_table_of_all_stages(void **state)
{
    enum { BEFORE = 10 };
    struct fixture *fixture = start(state);
    struct err err = {0};

    if (store_migrate_list(fixture->store, store_migrations, BEFORE, NULL, &err))
        fail_msg("%s", err.text);
    exec(fixture->store, "INSERT INTO composer_parked (offer_id, partition_no, offset_no, "
                         "attempt_count, first_us, next_us, reason) VALUES "
                         "('b', 3, 7, 2, 50, 60, 'why'), ('a', 1, 9, 0, 40, 70, 'no')");
    if (store_migrate(fixture->store, NULL, &err))
        fail_msg("%s", err.text);
    assert_int_equal(
        read_integer(fixture->store,
                     "SELECT id FROM parked WHERE stage = 'composer' AND record_key = 'b' AND "
                     "topic = 'offer-updates' AND partition_no = 3 AND offset_no = 7 AND "
                     "LENGTH(body) = 0 AND reason = 'why' AND try_count = 2 AND first_us = 50 AND "
                     "next_us = 60"),
        2);
    assert_int_equal(read_integer(fixture->store, "SELECT row_count FROM parked_stage"), 2);
    assert_int_equal(
        read_integer(fixture->store, "SELECT next FROM sequence WHERE name = 'parked'"), 3);
}

static void what_is_for_sqlite_alone_is_a_comment_elsewhere(void **state)
{
    static const struct migration list[] = {
        {1, "0001_one",
         "CREATE TABLE one (id BIGINT PRIMARY KEY /* sqlite: , extra BIGINT */);"
         "CREATE TABLE two (id BIGINT PRIMARY KEY) /* sqlite: WITHOUT ROWID */;"}};
    struct fixture *fixture = start(state);
    bool sqlite = !fixture->backend->postgres && !fixture->backend->sim;
    struct err err = {0};

    if (store_migrate_list(fixture->store, list, 1, NULL, &err))
        fail_msg("%s", err.text);
    assert_int_equal(try_exec(fixture->store, "INSERT INTO two (id) VALUES (1)", NULL, 0, &err), 0);
    assert_int_equal(try_exec(fixture->store, "UPDATE one SET extra = 1", NULL, 0, &err) == 0,
                     sqlite);
    if (sqlite) /* rows have no number there */
        assert_int_not_equal(try_exec(fixture->store, "SELECT rowid FROM two", NULL, 0, &err), 0);
}

const struct test_case store_migration_cases[] = {
    CASE_ON(several_starters_migrate_once, ON_ALL),
    CASE_ON(changed_and_newer_schemas_are_refused, ON_ALL),
    CASE_ON(the_binarys_own_migrations_apply, ON_ALL),
    CASE_ON(parked_offers_move_to_the_table_of_all_stages, ON_ALL),
    CASE_ON(what_is_for_sqlite_alone_is_a_comment_elsewhere, ON_ALL),
    {0},
};
