/* SPDX-License-Identifier: Apache-2.0 */
/* store_fixture.c - see store_fixture.h. */
#include "contract/store_fixture.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/random.h"
#include "store/store_fault.h"

int keep_integer(void *arg, const struct store_value *columns, size_t column_count, struct err *err)
{
    struct statement_args *args = arg;

    args->row_count++;
    if (columns[0].type == STORE_INT)
        args->integer = columns[0].integer;
    return 0;
}

int exec_fn(struct store_tx *tx, void *arg, struct err *err)
{
    struct statement_args *args = arg;

    return store_exec(tx, args->sql, args->params, args->param_count, &args->changed, err);
}

int query_fn(struct store_tx *tx, void *arg, struct err *err)
{
    struct statement_args *args = arg;

    args->row_count = 0;
    return store_query(tx, args->sql, args->params, args->param_count, keep_integer, args, err);
}

int try_exec(struct store *store, const char *sql, const struct store_value *params, size_t count,
             struct err *err)
{
    struct statement_args args = {.sql = sql, .params = params, .param_count = count};

    return store_write(store, exec_fn, &args, err);
}

void exec(struct store *store, const char *sql)
{
    struct err err = {0};

    if (try_exec(store, sql, NULL, 0, &err))
        fail_msg("%s: %s", sql, err.text);
}

int64_t read_integer(struct store *store, const char *sql)
{
    struct statement_args args = {.sql = sql, .integer = -1};
    struct err err = {0};

    if (store_read(store, query_fn, &args, &err))
        fail_msg("%s: %s", sql, err.text);
    return args.integer;
}

void open_store(struct fixture *fixture)
{
    struct err err = {0};

    if (store_open(fixture->url, &fixture->store, &err))
        fail_msg("%s: %s", fixture->url, err.text);
}

int64_t now_us(void)
{
    return clock_mono_us(clock_system());
}

void pause_ms(int ms)
{
    struct timespec pause = {.tv_nsec = ms * 1000000L};

    nanosleep(&pause, NULL);
}

bool wait_flag(_Atomic int *flag, int wanted)
{
    int64_t deadline = now_us() + 5 * (int64_t)SECOND_US;

    while (*flag < wanted && now_us() < deadline)
        pause_ms(1);
    return *flag >= wanted;
}

static const char *server_url(void)
{
    const char *url = getenv("TORG_TEST_POSTGRES");

    return url && url[0] ? url : NULL;
}

static bool required(const char *name)
{
    const char *list = getenv("TORG_REQUIRE");

    return list && strstr(list, name);
}

void admin(const char *sql)
{
    struct store *store;
    struct err err = {0};

    if (store_open(server_url(), &store, &err))
        fail_msg("%s", err.text);
    exec(store, sql);
    store_close(store);
}

int set_up(void **state)
{
    struct fixture *fixture = mem_zero(sizeof(*fixture));
    const char *prefix;
    char sql[128];

    fixture->backend = *state;
    *state = fixture;
    prefix = fixture->backend->fault ? "fault:" : "";
    if (!fixture->backend->postgres) {
        snprintf(fixture->place, sizeof(fixture->place), P_tmpdir "/torg-contract-XXXXXX");
        assert_non_null(mkdtemp(fixture->place));
        snprintf(fixture->url, sizeof(fixture->url), "%ssqlite:%s/store.db", prefix,
                 fixture->place);
    } else if (server_url()) {
        snprintf(fixture->place, sizeof(fixture->place), "t%016" PRIx64, random_u64());
        snprintf(fixture->tag, sizeof(fixture->tag), "torg-%s", fixture->place);
        snprintf(sql, sizeof(sql), "CREATE SCHEMA %s", fixture->place);
        admin(sql);
        snprintf(fixture->url, sizeof(fixture->url),
                 "%s%s%sapplication_name=%s&options=-csearch_path%%3D%s", prefix, server_url(),
                 strchr(server_url(), '?') ? "&" : "?", fixture->tag, fixture->place);
    } else {
        return 0;
    }
    open_store(fixture);
    return 0;
}

int tear_down(void **state)
{
    struct fixture *fixture = *state;
    struct err err;
    char sql[128];

    store_close(fixture->store);
    for (int i = 0; i < DISK_FAULT_COUNT; i++)
        disk_fault_arm((enum disk_fault)i, 0, 0);
    if (!fixture->backend->postgres) {
        dir_remove(fixture->place, &err);
    } else if (fixture->place[0]) {
        snprintf(sql, sizeof(sql), "DROP SCHEMA %s CASCADE", fixture->place);
        admin(sql);
    }
    *state = (void *)fixture->backend;
    free(fixture);
    return 0;
}

struct fixture *start(void **state)
{
    struct fixture *fixture = *state;

    if (!fixture->store) {
        if (required("postgres"))
            fail_msg("TORG_REQUIRE names postgres, and TORG_TEST_POSTGRES is not set");
        skip();
    }
    return fixture;
}
