/* SPDX-License-Identifier: Apache-2.0 */
/* store_fixture.c - see store_fixture.h. */
#include "contract/store_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/memory.h"
#include "patience.h"
#include "sim/sim_net.h"
#include "store/store_fault.h"

int exec_fn(struct store_tx *tx, void *arg, struct err *err)
{
    struct statement_args *args = arg;

    return store_exec(tx, args->sql, args->params, args->param_count, &args->changed, err);
}

int query_fn(struct store_tx *tx, void *arg, struct err *err)
{
    struct statement_args *args = arg;

    return store_find_integer(tx, args->sql, args->params, args->param_count, &args->integer, err);
}

int try_exec(struct store *store, const char *sql, const struct store_value *params, size_t count,
             struct err *err)
{
    struct statement_args args = {.sql = sql, .params = params, .param_count = count};

    return store_write(store, exec_fn, &args, err);
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

bool wait_flag(_Atomic int *flag, int wanted)
{
    int64_t deadline = now_us() + PATIENCE_S * (int64_t)SECOND_US;

    while (*flag < wanted && now_us() < deadline)
        pause_ms(1);
    return *flag >= wanted;
}

int set_up(void **state)
{
    struct fixture *fixture = mem_zero(sizeof(*fixture));
    const char *prefix;

    fixture->backend = *state;
    *state = fixture;
    prefix = fixture->backend->fault ? "fault:" : "";
    if (fixture->backend->sim) {
        struct err err = {0};

        OK(sim_net_open(1, NULL, NULL, &fixture->net, &err));
        fixture->member = sim_node_new(fixture->net, "a");
        snprintf(fixture->url, sizeof(fixture->url), "sim:a");
    } else if (!fixture->backend->postgres) {
        assert_true(test_dir_make(fixture->place));
        snprintf(fixture->url, sizeof(fixture->url), "%ssqlite:%s/store.db", prefix,
                 fixture->place);
    } else if (server_address("postgres")) {
        char settings[200];

        schema_make(fixture->place);
        snprintf(fixture->tag, sizeof(fixture->tag), "torg-%s", fixture->place);
        snprintf(settings, sizeof(settings), "&application_name=%s&options=-csearch_path%%3D%s",
                 fixture->tag, fixture->place);
        server_url(fixture->url, prefix, settings);
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

    store_close(fixture->store);
    for (int i = 0; i < DISK_FAULT_COUNT; i++)
        disk_fault_arm((enum disk_fault)i, 0, 0);
    if (fixture->backend->sim) {
        sim_node_free(fixture->member);
        sim_net_close(fixture->net);
    } else if (!fixture->backend->postgres) {
        dir_remove(fixture->place, &err);
    } else {
        schema_drop(fixture->place);
    }
    *state = (void *)fixture->backend;
    free(fixture);
    return 0;
}

struct fixture *start(void **state)
{
    struct fixture *fixture = *state;

    if (!fixture->store)
        skip();
    return fixture;
}
