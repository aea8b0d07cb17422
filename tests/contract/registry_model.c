/* SPDX-License-Identifier: Apache-2.0 */
/*
 * registry_model.c - an older write never wins: random histories against a list of all writes.
 *
 * A sequence is the life of one document: writes and deletions with rising versions and moments,
 * some with none, put into a bag from which they are delivered in any order, some twice and some
 * much later. Sequences of a group share two clients (each pk is written by both, with other
 * content), so that their messages travel in batches; between batches the group's time goes on,
 * ends come due and are swept, epochs are built and switched, everything known is forgotten as by
 * a restart, and now and then so much time passes that tombstones are forgotten.
 *
 * The model is a list of all writes of a key that counted, and looks for the greatest by going
 * through it. Each verdict is compared, and at the end each row and the last element of its key.
 * TORG_MODEL_SEED and TORG_MODEL_SEQUENCES choose what is run.
 */
#include "contract/registry_fixture.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "codec/moment.h"
#include "long.h"
#include "model/change_token.h"
#include "registry/bounds.h"
#include "registry/receiving/sweep.h"

enum {
    SEQUENCE_COUNT = 2000, /* by default, on each store */
    SEQUENCE_COUNT_LONG = 50000,
    GROUP_SIZE = 250, /* sequences */
    CLIENT_COUNT = 2,
    STEP_COUNT = 9,
    BAG_MAX = 24,
    WRITE_MAX = 64, /* of one key that can count */
    THREAD_COUNT = 4,
};

/* What a message says; epoch and moment 0: nothing. */
struct write {
    struct order order;
    int content;
    bool is_deletion;
    int64_t expires_us;
};

struct key {
    char pk[32];
    struct write bag[BAG_MAX]; /* sent some time */
    int bag_count;
    int64_t version;
    struct write writes[WRITE_MAX]; /* that counted: with their order complete */
    int write_count;
};

struct group {
    struct registry_place *place;
    struct receiver receiver; /* of its own: what it knows can be forgotten */
    struct rng rng;
    uint64_t number;
    int size;
    int64_t now_us; /* never below what a message said */
    char clients[CLIENT_COUNT][CLIENT_NAME_SIZE_MAX + 1];
    int64_t epoch;     /* that is written to */
    int64_t top_epoch; /* one that is built is above it */
    struct key *keys;  /* client after client */
    char failure[512]; /* "": none */
};

static void fail_group(struct group *group, const char *format, ...)
{
    va_list args;

    if (*group->failure)
        return;
    va_start(args, format);
    vsnprintf(group->failure, sizeof(group->failure), format, args);
    va_end(args);
}

/* --- the model --- */

static const struct write *greatest(const struct key *key)
{
    const struct write *best = NULL;

    for (int i = 0; i < key->write_count; i++) {
        if (!best || order_compare(&key->writes[i].order, &best->order) > 0)
            best = &key->writes[i];
    }
    return best;
}

static bool is_same(const struct write *a, const struct write *b)
{
    return a->is_deletion == b->is_deletion &&
           (a->is_deletion || (a->content == b->content && a->expires_us == b->expires_us));
}

static void count_write(struct group *group, struct key *key, const struct write *write)
{
    if (key->write_count == WRITE_MAX) /* the greatest stays */
        key->writes[0] = *greatest(key), key->write_count = 1;
    key->writes[key->write_count++] = *write;
}

static Torg__V1__Verdict__Kind expect(struct group *group, struct key *key, struct write write)
{
    const struct write *best = greatest(key);
    int order;

    if (write.order.epoch && write.order.epoch < group->epoch)
        return TORG__V1__VERDICT__KIND__EPOCH_TOO_OLD;
    if (write.order.epoch > group->top_epoch)
        return TORG__V1__VERDICT__KIND__INVALID;
    if (!write.order.epoch)
        write.order.epoch =
            best && best->order.epoch > group->epoch ? best->order.epoch : group->epoch;
    if (!write.order.modify_us) {
        bool is_level = best && best->order.epoch == write.order.epoch &&
                        best->order.version == write.order.version;

        if (is_level && is_same(best, &write))
            return TORG__V1__VERDICT__KIND__DUPLICATE;
        write.order.modify_us = group->now_us;
        if (is_level && best->order.modify_us >= group->now_us)
            write.order.modify_us = best->order.modify_us + 1;
    }
    order = best ? order_compare(&write.order, &best->order) : 1;
    if (order > 0)
        count_write(group, key, &write);
    return order > 0                             ? TORG__V1__VERDICT__KIND__ACCEPTED
           : order == 0 && is_same(best, &write) ? TORG__V1__VERDICT__KIND__DUPLICATE
                                                 : TORG__V1__VERDICT__KIND__STALE;
}

static void model_sweep(struct group *group, bool forgets)
{
    for (int i = 0; i < group->size * CLIENT_COUNT; i++) {
        struct key *key = &group->keys[i];
        const struct write *best = greatest(key);

        if (best && best->expires_us && best->expires_us <= group->now_us) {
            struct write end = {.order = best->order, .is_deletion = true};

            end.order.modify_us++;
            count_write(group, key, &end);
        } else if (best && best->is_deletion && forgets) {
            key->write_count = 0;
        }
    }
}

/* --- messages --- */

static struct write make_write(struct group *group, struct key *key)
{
    struct rng *rng = &group->rng;
    struct write write = {.content = (int)rng_below(rng, 3)};

    key->version += (int64_t)rng_below(rng, 3);
    write.order.version = key->version;
    if (rng_below(rng, 4) == 0) /* a late thought of an old version */
        write.order.version -= (int64_t)rng_below(rng, (uint64_t)key->version + 1);
    if (rng_below(rng, 4))
        write.order.modify_us = group->now_us - (int64_t)rng_below(rng, 5) * SECOND_US;
    if (rng_below(rng, 3) == 0)
        write.order.epoch = 1 + (int64_t)rng_below(rng, (uint64_t)group->top_epoch + 1);
    write.is_deletion = rng_below(rng, 5) == 0;
    if (!write.is_deletion && rng_below(rng, 4) == 0)
        write.expires_us = group->now_us + (int64_t)(1 + rng_below(rng, 4)) * SECOND_US;
    return write;
}

static Torg__V1__RawDocument *message_of(const struct write *write, const struct key *key,
                                         struct arena *arena)
{
    static const char *const titles[] = {"a red bicycle", "a blue bicycle", "no bicycle"};
    Torg__V1__RawDocument *document = write->is_deletion
                                          ? deletion_of(arena, key->pk, write->order.version)
                                          : document_of(arena, key->pk, write->order.version,
                                                        titles[write->content], write->content);

    document->epoch = write->order.epoch;
    if (write->order.modify_us)
        document->modify_timestamp = moment_message(write->order.modify_us, arena);
    if (write->expires_us)
        document->expire_time = moment_message(write->expires_us, arena);
    return document;
}

struct delivery {
    Torg__V1__RawDocument *documents[DOCUMENT_BATCH_COUNT_MAX];
    struct key *keys[DOCUMENT_BATCH_COUNT_MAX];
    struct write writes[DOCUMENT_BATCH_COUNT_MAX];
    size_t count;
};

static void deliver(struct group *group, int client, struct delivery *delivery, struct arena *arena)
{
    Torg__V1__Verdict **verdicts;
    struct err err = {0};

    if (!delivery->count || *group->failure)
        return;
    if (receiver_put(&group->receiver, group->clients[client],
                     (enum lane)rng_below(&group->rng, LANE_FAILED), delivery->documents,
                     delivery->count, arena, &verdicts, &err)) {
        fail_group(group, "put: %s", err.text);
        return;
    }
    for (size_t i = 0; i < delivery->count; i++) {
        const struct write *write = &delivery->writes[i];
        Torg__V1__Verdict__Kind kind = expect(group, delivery->keys[i], *write);
        struct change_token token;

        if (verdicts[i]->kind != kind)
            fail_group(group,
                       "%s of %s (epoch %" PRId64 ", version %" PRId64 ", moment %" PRId64
                       "): verdict %d, expected %d: %s",
                       delivery->keys[i]->pk, group->clients[client], write->order.epoch,
                       write->order.version, write->order.modify_us, verdicts[i]->kind, kind,
                       verdicts[i]->n_reasons ? verdicts[i]->reasons[0]->text : "");
        if (kind == TORG__V1__VERDICT__KIND__ACCEPTED &&
            change_token_parse(bytes_of(verdicts[i]->token), NULL, &token, &err))
            fail_group(group, "%s", err.text);
    }
    delivery->count = 0;
}

/* Some of the bag, in any order; most are gone then, some come again. */
static void draw(struct group *group, struct key *key, struct delivery *delivery,
                 struct arena *arena)
{
    uint64_t count = rng_below(&group->rng, 4);

    while (count-- && key->bag_count && delivery->count < DOCUMENT_BATCH_COUNT_MAX) {
        int place = (int)rng_below(&group->rng, (uint64_t)key->bag_count);
        const struct write write = key->bag[place];

        delivery->writes[delivery->count] = write;
        delivery->keys[delivery->count] = key;
        delivery->documents[delivery->count++] = message_of(&write, key, arena);
        if (rng_below(&group->rng, 4))
            key->bag[place] = key->bag[--key->bag_count];
    }
}

static void step(struct group *group)
{
    struct arena *arena = arena_new();
    struct delivery *delivery = arena_zero(arena, sizeof(*delivery));

    for (int client = 0; client < CLIENT_COUNT; client++) {
        for (int i = 0; i < group->size; i++) {
            struct key *key = &group->keys[client * group->size + i];

            for (uint64_t made = rng_below(&group->rng, 3); made && key->bag_count < BAG_MAX;
                 made--)
                key->bag[key->bag_count++] = make_write(group, key);
            if (delivery->count + 4 > DOCUMENT_BATCH_COUNT_MAX)
                deliver(group, client, delivery, arena);
            draw(group, key, delivery, arena);
        }
        deliver(group, client, delivery, arena);
    }
    arena_free(arena);
}

/* --- between batches --- */

static const struct client_view *view_of(struct group *group, int client)
{
    const struct client_view *view = NULL;
    struct err err = {0};

    if (clients_find(group->receiver.clients, group->clients[client], true, &view, &err))
        fail_group(group, "%s", err.text);
    return view;
}

static void sweep(struct group *group, bool forgets)
{
    for (int client = 0; client < CLIENT_COUNT; client++) {
        const struct client_view *view = view_of(group, client);
        struct sweep_counts counts = {0};
        struct err err = {0};
        bool is_full = view != NULL;

        while (is_full && !*group->failure) {
            if (sweep_client(&group->receiver, view, group->now_us, &counts, &is_full, &err))
                fail_group(group, "sweep: %s", err.text);
        }
        client_unref(view);
    }
    model_sweep(group, forgets);
}

struct statement {
    const char *sql;
    struct store_value params[3];
    size_t count;
};

static int run_statement(struct store_tx *tx, void *arg, struct err *err)
{
    const struct statement *statement = arg;

    return store_exec(tx, statement->sql, statement->params, statement->count, NULL, err);
}

static void run_for(struct group *group, int client, const char *sql, int64_t second)
{
    const struct client_view *view = view_of(group, client);
    struct statement statement = {.sql = sql, .count = strstr(sql, "$2") ? 2 : 1};
    struct err err = {0};

    if (!view)
        return;
    statement.params[0] = STORE_V_INT(view->id);
    statement.params[1] = STORE_V_INT(second);
    if (store_write(group->receiver.store, run_statement, &statement, &err))
        fail_group(group, "%s: %s", sql, err.text);
    client_unref(view);
}

static void touch(struct group *group, int client)
{
    run_for(group, client, "UPDATE registry_client SET state_no = state_no + 1 WHERE id = $1", 0);
}

/* Begins to build the next epoch, or switches to the one that is built; both clients alike. */
static void move_epoch(struct group *group)
{
    bool is_start = group->top_epoch == group->epoch;

    if (is_start)
        group->top_epoch++;
    else
        group->epoch = group->top_epoch;
    for (int client = 0; client < CLIENT_COUNT; client++) {
        if (is_start)
            run_for(group, client,
                    "INSERT INTO registry_epoch (client_id, epoch, state, started_us) "
                    "VALUES ($1, $2, 0, 0)",
                    group->top_epoch);
        else
            run_for(group, client,
                    "UPDATE registry_client SET writing_epoch = $2, serving_epoch = $2 "
                    "WHERE id = $1",
                    group->epoch);
        if (!is_start && group->epoch > 2)
            run_for(group, client, "DELETE FROM registry_epoch WHERE client_id = $1 AND epoch < $2",
                    group->epoch - 1);
        touch(group, client);
    }
}

static void forget_all(struct group *group)
{
    dictionaries_free(group->receiver.dictionaries);
    clients_free(group->receiver.clients);
    group->receiver.clients = clients_new(group->receiver.store, group->receiver.clock);
    group->receiver.dictionaries = dictionaries_new(group->receiver.store);
}

static void between(struct group *group)
{
    group->now_us += (int64_t)rng_below(&group->rng, 3 * SECOND_US);
    switch (rng_below(&group->rng, 6)) {
    case 0:
        move_epoch(group);
        break;
    case 1:
        forget_all(group);
        break;
    case 2:
    case 3:
        sweep(group, false);
        break;
    default:
        break;
    }
    if (rng_below(&group->rng, 12) == 0) { /* twice: ends first, then tombstones are old */
        sweep(group, false);
        for (int client = 0; client < CLIENT_COUNT; client++)
            run_for(group, client, "DELETE FROM registry_queue WHERE client_id = $1", 0);
        group->now_us += 2 * group->receiver.tombstone_life_us;
        sweep(group, true);
    }
}

/* --- at the end --- */

struct element {
    bool is_there;
    struct order order;
};

struct looking {
    struct group *group;
    int client;
    int64_t client_id;
    struct arena *arena;
    struct row *rows;
    size_t row_count;
    struct element *last;            /* by key: of all lanes the greatest */
    int64_t count, idx_max, idx_min; /* of elements */
};

static struct key *key_of(struct group *group, int client, struct bytes pk, size_t *place)
{
    for (int i = 0; i < group->size; i++) {
        struct key *key = &group->keys[client * group->size + i];

        if (bytes_equal_text(pk, key->pk)) {
            *place = (size_t)i;
            return key;
        }
    }
    return NULL;
}

static int take_element(struct looking *looking, const struct store_value *columns, struct err *err)
{
    struct order order = {columns[1].integer, columns[2].integer, columns[3].integer};
    struct element *last;
    size_t place;

    if (!key_of(looking->group, looking->client, columns[0].bytes, &place))
        return err_set(err, ERR_INTERNAL, "an element of nobody");
    last = &looking->last[place];
    if (!last->is_there || order_compare(&order, &last->order) > 0)
        *last = (struct element){true, order};
    return 0;
}

static int look_fn(struct store_tx *tx, void *arg, struct err *err)
{
    struct looking *looking = arg;
    const struct store_value params[] = {STORE_V_INT(looking->client_id)};
    int rc = rows_scan(tx, looking->client_id, INT64_MIN, INT64_MAX, 10 * GROUP_SIZE, true,
                       looking->arena, &looking->rows, &looking->row_count, err);
    struct store_rows found;

    if (rc)
        return rc;
    found = store_select(tx,
                         "SELECT pk, epoch, version, modify_us FROM registry_queue "
                         "WHERE client_id = $1",
                         params, 1);
    while (store_next(&found))
        found.rc = take_element(looking, found.columns, err);
    return store_rows_end(&found, err);
}

static void compare_row(struct looking *looking, const struct row *row)
{
    struct group *group = looking->group;
    size_t place;
    const struct key *key = key_of(group, looking->client, row->pk, &place);
    const struct write *best = key ? greatest(key) : NULL;
    const struct element *last = key ? &looking->last[place] : NULL;
    Torg__V1__RawDocument *document;
    struct err err = {0};

    if (!best) {
        fail_group(group, "row %.*s of nobody", BYTES_ARG(row->pk));
    } else if (order_compare(&row->order, &best->order) != 0 ||
               (row->status == ROW_TOMBSTONE) != best->is_deletion) {
        fail_group(group,
                   "row %s: epoch %" PRId64 " version %" PRId64 " moment %" PRId64
                   ", the newest is epoch %" PRId64 " version %" PRId64 " moment %" PRId64,
                   key->pk, row->order.epoch, row->order.version, row->order.modify_us,
                   best->order.epoch, best->order.version, best->order.modify_us);
    } else if (last->is_there && order_compare(&last->order, &row->order) != 0) {
        fail_group(group, "row %s: the newest element is of another write", key->pk);
    } else if (row_unpack(group->receiver.dictionaries, looking->client_id, row, looking->arena,
                          &document, &err)) {
        fail_group(group, "%s", err.text);
    } else if (!best->is_deletion &&
               (row->expires_us != best->expires_us || document->n_fields != 2 ||
                document->fields[1]->integer != best->content)) {
        fail_group(group, "row %s: other content than the newest", key->pk);
    }
}

static void compare(struct group *group, int client)
{
    const struct client_view *view = view_of(group, client);
    struct arena *arena = arena_new();
    struct looking looking = {.group = group, .client = client, .arena = arena};
    struct err err = {0};
    size_t alive = 0;

    looking.client_id = view ? view->id : 0;
    looking.last = arena_array(arena, (size_t)group->size, sizeof(*looking.last));
    if (view && store_read(group->receiver.store, look_fn, &looking, &err))
        fail_group(group, "%s", err.text);
    for (size_t i = 0; i < looking.row_count; i++)
        compare_row(&looking, &looking.rows[i]);
    for (int i = 0; i < group->size; i++)
        alive += group->keys[client * group->size + i].write_count > 0;
    if (alive != looking.row_count)
        fail_group(group, "%zu rows, expected %zu", looking.row_count, alive);
    arena_free(arena);
    client_unref(view);
}

static int64_t group_now(const struct clock *clock);

struct group_clock {
    struct clock base;
    struct group *group;
};

static int64_t group_now(const struct clock *clock)
{
    return ((const struct group_clock *)clock)->group->now_us;
}

static void run_group(struct group *group, uint64_t seed)
{
    struct group_clock clock = {.base = {.wall_us = group_now, .mono_us = group_now},
                                .group = group};

    group->rng = rng_seeded(seed + group->number * 7919);
    group->now_us = INT64_C(1800000000000000);
    group->epoch = group->top_epoch = 1;
    group->receiver = group->place->receiver;
    group->receiver.clock = &clock.base;
    group->receiver.clients = NULL;
    group->receiver.dictionaries = NULL;
    group->keys = mem_array((size_t)group->size * CLIENT_COUNT, sizeof(*group->keys));
    forget_all(group);
    for (int client = 0; client < CLIENT_COUNT; client++) {
        const struct client_view *view = NULL;
        struct err err = {0};

        snprintf(group->clients[client], sizeof(group->clients[client]), "g%" PRIu64 "-%d",
                 group->number, client);
        if (clients_obtain(group->receiver.clients, group->clients[client],
                           1 + (uint32_t)(group->number % 3), &view, NULL, &err))
            fail_group(group, "%s", err.text);
        client_unref(view);
        for (int i = 0; i < group->size; i++)
            snprintf(group->keys[client * group->size + i].pk, sizeof(group->keys->pk), "d%d", i);
    }
    for (int i = 0; i < STEP_COUNT && !*group->failure; i++) {
        step(group);
        if (!*group->failure)
            between(group);
    }
    for (int client = 0; client < CLIENT_COUNT && !*group->failure; client++)
        compare(group, client);
    dictionaries_free(group->receiver.dictionaries);
    clients_free(group->receiver.clients);
    free(group->keys);
}

/* --- all groups --- */

struct work {
    struct registry_place *place;
    uint64_t seed;
    int count; /* of sequences */
    pthread_mutex_t lock;
    int next; /* group */
    char failure[512];
};

static void *run_groups(void *arg)
{
    struct work *work = arg;
    int group_count = (work->count + GROUP_SIZE - 1) / GROUP_SIZE;

    for (;;) {
        struct group group = {.place = work->place, .size = GROUP_SIZE};
        bool is_over;

        pthread_mutex_lock(&work->lock);
        is_over = work->next >= group_count || *work->failure;
        group.number = (uint64_t)work->next++;
        pthread_mutex_unlock(&work->lock);
        if (is_over)
            return NULL;
        run_group(&group, work->seed);
        pthread_mutex_lock(&work->lock);
        if (*group.failure && !*work->failure)
            snprintf(work->failure, sizeof(work->failure), "group %" PRIu64 ": %s", group.number,
                     group.failure);
        pthread_mutex_unlock(&work->lock);
    }
}

static uint64_t number_of(const char *variable, uint64_t otherwise)
{
    const char *text = getenv(variable);

    return text && *text ? strtoull(text, NULL, 10) : otherwise;
}

static void an_older_write_never_wins(void **state)
{
    bool postgres = case_on_servers(state);
    struct registry_place place;
    struct work work = {.place = &place, .lock = PTHREAD_MUTEX_INITIALIZER};
    pthread_t threads[THREAD_COUNT];
    int thread_count = postgres ? THREAD_COUNT : 2;

    if (!registry_place_open(&place, postgres))
        skip();
    work.seed = number_of("TORG_MODEL_SEED", random_u64() >> 1);
    work.count = (int)test_count("TORG_MODEL_SEQUENCES", SEQUENCE_COUNT, SEQUENCE_COUNT_LONG);
    printf("# seed %" PRIu64 ", %d sequences\n", work.seed, work.count);
    for (int i = 0; i < thread_count; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, run_groups, &work), 0);
    for (int i = 0; i < thread_count; i++)
        pthread_join(threads[i], NULL);
    if (*work.failure)
        fail_msg("seed %" PRIu64 ", %s", work.seed, work.failure);
    registry_place_close(&place);
}

static const struct test_case cases[] = {
    CASE(an_older_write_never_wins),
};

int main(int argc, char **argv)
{
    static struct case_list list = {.name = "registry-model"};

    cases_on_stores(&list, cases, ARRAY_COUNT(cases));
    return cases_run(&list, argc, argv);
}
