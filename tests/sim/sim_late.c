/* SPDX-License-Identifier: Apache-2.0 */
/* sim_late.c - see sim_late.h. */
#include "sim/sim_late.h"

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/memory.h"

enum { LOOK_MS = 50, TABLE_SIZE = 64 };

/* By the runtime (sim.h), if there is one: a line of history. */
void sim_trace(const char *format, ...) __attribute__((weak, format(printf, 1, 2)));

struct statement {
    struct statement *next;
    struct store_call call; /* in the arena */
    bool is_exec;
    const struct store_cursor *cursor; /* while it is open */
    uint64_t row_count;                /* that were read of it */
    bool is_end;                       /* and there were no more */
    uint64_t hash;                     /* of them */
};

struct late {
    struct late *next; /* of those that wait */
    struct arena *arena;
    struct statement *first;
    struct statement **last;
    bool is_void;
    struct store *store; /* borrowed */
    const struct clock *clock;
    int64_t after_us;
};

static struct late *waiting; /* the writing thread's */
static _Atomic unsigned late_count;

struct late *late_new(void)
{
    struct arena *arena = arena_new();
    struct late *late = arena_zero(arena, sizeof(*late));

    late->arena = arena;
    late->last = &late->first;
    return late;
}

void late_free(struct late *late)
{
    if (late)
        arena_free(late->arena);
}

/* --- what it did --- */

static uint64_t mix(uint64_t hash, const void *data, size_t size)
{
    const uint8_t *bytes = data;

    for (size_t i = 0; i < size; i++)
        hash = (hash ^ bytes[i]) * UINT64_C(1099511628211);
    return hash;
}

static uint64_t mix_value(uint64_t hash, const struct store_value *value)
{
    int type = (int)value->type;

    hash = mix(hash, &type, sizeof(type));
    switch (value->type) {
    case STORE_NULL:
        return hash;
    case STORE_INT:
        return mix(hash, &value->integer, sizeof(value->integer));
    case STORE_REAL:
        return mix(hash, &value->real, sizeof(value->real));
    case STORE_TEXT:
    case STORE_BLOB:
        break;
    }
    return mix(hash, value->bytes.data, value->bytes.size);
}

static uint64_t mix_row(uint64_t hash, const struct store_cursor *cursor)
{
    for (size_t i = 0; i < cursor->column_count; i++)
        hash = mix_value(hash, &cursor->columns[i]);
    return hash;
}

static struct statement *add(struct late *late, const struct store_call *call)
{
    struct statement *added = arena_zero(late->arena, sizeof(*added));
    struct store_value *params = arena_array(late->arena, call->param_count + 1, sizeof(*params));

    added->call = *call;
    added->call.sql = arena_strdup(late->arena, call->sql);
    added->call.params = params;
    for (size_t i = 0; i < call->param_count; i++) {
        params[i] = call->params[i];
        if (params[i].type == STORE_TEXT || params[i].type == STORE_BLOB)
            params[i].bytes = arena_copy(late->arena, params[i].bytes);
    }
    *late->last = added;
    late->last = &added->next;
    return added;
}

void late_exec(struct late *late, const struct store_call *call)
{
    add(late, call)->is_exec = true;
}

void late_select(struct late *late, const struct store_call *call,
                 const struct store_cursor *cursor)
{
    add(late, call)->cursor = cursor;
}

void late_next(struct late *late, const struct store_cursor *cursor, int rc)
{
    struct statement *found = NULL;

    for (struct statement *each = late->first; each; each = each->next)
        if (each->cursor == cursor)
            found = each; /* the newest: a cursor's memory is used again */
    assert(found);
    if (rc > 0) {
        found->row_count++;
        found->hash = mix_row(found->hash, cursor);
    } else {
        found->is_end = true;
    }
}

/* --- who meets it --- */

/* The table that a statement writes; "": it reads. */
static void find_table(const char *sql, char table[TABLE_SIZE])
{
    static const char *const verbs[] = {"INSERT INTO ", "UPDATE ", "DELETE FROM "};
    const char *at = NULL;
    size_t size = 0;

    for (size_t i = 0; i < ARRAY_COUNT(verbs) && !at; i++) {
        at = strstr(sql, verbs[i]);
        at = at ? at + strlen(verbs[i]) : NULL;
    }
    while (at && at[size] && at[size] != ' ' && at[size] != '(' && size < TABLE_SIZE - 1) {
        table[size] = at[size];
        size++;
    }
    table[size] = 0;
}

/* Do both write what may be one row? Rows are told apart by their first column, as statements tell
 * it first. */
static bool may_meet(const struct store_call *a, const struct store_call *b)
{
    char table_a[TABLE_SIZE], table_b[TABLE_SIZE];

    find_table(a->sql, table_a);
    find_table(b->sql, table_b);
    if (!table_a[0] || strcmp(table_a, table_b) != 0)
        return false;
    return !a->param_count || !b->param_count ||
           mix_value(0, &a->params[0]) == mix_value(0, &b->params[0]);
}

void late_meet(const struct store_call *call)
{
    for (struct late *each = waiting; each; each = each->next)
        for (struct statement *own = each->first; own && !each->is_void; own = own->next)
            each->is_void = may_meet(&own->call, call);
}

/* --- its time has come --- */

static bool is_same_again(struct store_tx *tx, const struct statement *statement)
{
    const struct store_call *call = &statement->call;
    struct store_rows rows;
    uint64_t hash = 0;
    bool is_same = true;
    int64_t changed;

    if (statement->is_exec)
        return !store_exec(tx, call->sql, call->params, call->param_count, &changed, NULL) &&
               changed == call->changed;
    rows = store_select(tx, call->sql, call->params, call->param_count);
    for (uint64_t i = 0; i < statement->row_count && is_same; i++) {
        is_same = store_next(&rows);
        if (is_same)
            hash = mix_row(hash, rows.cursor);
    }
    if (is_same && statement->is_end)
        is_same = !store_next(&rows);
    return !store_rows_end(&rows, NULL) && is_same && hash == statement->hash;
}

static int run_again(struct store_tx *tx, void *arg, struct err *err)
{
    struct late *late = arg;
    bool is_same = !late->is_void;

    for (struct statement *each = late->first; each && is_same; each = each->next)
        is_same = is_same_again(tx, each);
    return is_same ? 0 : err_set(err, ERR_CONFLICT, "sim: others were faster");
}

static int leave(struct store_tx *tx, void *arg, struct err *err)
{
    struct late **link = &waiting;

    (void)tx, (void)err;
    while (*link && *link != arg)
        link = &(*link)->next;
    if (*link)
        *link = (*link)->next;
    return 0;
}

static void *run_late(void *arg)
{
    struct late *late = arg;
    struct err err;
    int rc;

    clock_sleep(late->clock, late->after_us);
    rc = store_write(late->store, run_again, late, &err);
    if (sim_trace)
        sim_trace("a late commit: %s", rc ? err.text : "it took place");
    (void)store_write(late->store, leave, late, &err);
    late_free(late);
    atomic_fetch_sub(&late_count, 1);
    return NULL;
}

void late_start(struct late *late, struct store *store, const struct clock *clock, int64_t after_us)
{
    pthread_t thread;

    late->store = store;
    late->clock = clock;
    late->after_us = after_us;
    late->next = waiting;
    waiting = late;
    atomic_fetch_add(&late_count, 1);
    if (pthread_create(&thread, NULL, run_late, late) || pthread_detach(thread))
        abort();
}

void late_wait(const struct clock *clock)
{
    while (atomic_load(&late_count) > 0)
        clock_sleep(clock, LOOK_MS * MS_US);
}
