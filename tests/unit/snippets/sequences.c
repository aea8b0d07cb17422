/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Model test of snippets.h over an embedded store: random trees of sections and random sequences of
 * requests on each, against a naive evaluator of the tree and arrays of what is stored: puts and
 * deletes of snippets and groups, alone and many in one transaction, time that passes, full loads
 * and the way back. Pages (snippets_batch), which are answered from memory as far as it goes, show
 * the same as single reads, and who follows the changes (changes.h) and reads what it is told of.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/memory.h"
#include "base/random.h"
#include "long.h"
#include "snippets/intake/load.h"
#include "snippets/requests/snippets.h"
#include "snippets/rows/changes.h"
#include "store/migrate.h"
#include "test_dir.h"

#define OK(call)                                                                                   \
    do {                                                                                           \
        if (call)                                                                                  \
            fail_msg("%s: %s", #call, err.text);                                                   \
    } while (0)

enum { NODE_MAX = 9, KEY_COUNT = 3, STEP_COUNT = 14, SEQUENCES_A_TREE = 20, MINUTE_US = 60000000 };

struct node {
    int parent; /* -1: the root */
    char own[8], name[64];
    int children_only, ttl; /* -1: not set */
    int recursive;          /* the only child that it acts on; -1: not set */
};

struct value { /* 0: none */
    int body;
    int64_t end_us;
};

struct world {
    struct clock_manual clock;
    struct store *store;
    char dir[TEST_DIR_SIZE], path[TEST_DIR_SIZE + 32];
    struct snippets *snippets;
    struct arena *arena;
    struct rng rng;

    struct node nodes[NODE_MAX];
    int node_count;

    char key_start[32];                      /* of the sequence's keys */
    struct value shown[NODE_MAX][KEY_COUNT]; /* by snippet */
    struct value back[NODE_MAX][KEY_COUNT];  /* what a way back shows */
    bool has_back[NODE_MAX];
    struct value followed[NODE_MAX][KEY_COUNT]; /* as a follower has it */
    struct snippet_position position;
    size_t at_hand_count; /* pages that were in memory */
};

/* --- the naive evaluator --- */

static bool has_children(const struct world *world, int at)
{
    for (int i = 1; i < world->node_count; i++)
        if (world->nodes[i].parent == at)
            return true;
    return false;
}

static int children_only_of(const struct world *world, int at)
{
    for (; at >= 0; at = world->nodes[at].parent)
        if (world->nodes[at].children_only >= 0)
            return world->nodes[at].children_only;
    return 1;
}

static int ttl_of(const struct world *world, int at)
{
    for (; at >= 0; at = world->nodes[at].parent)
        if (world->nodes[at].ttl >= 0)
            return world->nodes[at].ttl;
    return 0;
}

static bool is_snippet(const struct world *world, int at)
{
    return at && (!has_children(world, at) || !children_only_of(world, at));
}

static unsigned targets_of(const struct world *world, int at)
{
    unsigned targets = is_snippet(world, at) ? 1u << at : 0;

    if (world->nodes[at].recursive >= 0)
        return targets | targets_of(world, world->nodes[at].recursive);
    for (int i = 1; i < world->node_count; i++)
        if (world->nodes[i].parent == at)
            targets |= targets_of(world, i);
    return targets;
}

/* --- a tree --- */

static void draw_tree(struct world *world)
{
    world->node_count = 2 + (int)rng_below(&world->rng, NODE_MAX - 1);
    for (int i = 0; i < world->node_count; i++) {
        struct node *node = &world->nodes[i];
        char above[sizeof(node->name)];

        *node = (struct node){.parent = -1, .recursive = -1};
        node->children_only = (int)rng_below(&world->rng, 3) - 1;
        node->ttl = (int)rng_below(&world->rng, 4) - 1;
        if (!i)
            continue;
        node->parent = (int)rng_below(&world->rng, (uint64_t)i);
        snprintf(node->own, sizeof(node->own), "s%d", i);
        memcpy(above, world->nodes[node->parent].name, sizeof(above));
        snprintf(node->name, sizeof(node->name), "%.48s%ss%d", above, node->parent ? "/" : "", i);
        if (node->parent && rng_below(&world->rng, 4) == 0)
            world->nodes[node->parent].recursive = i;
    }
}

static void put_node(const struct world *world, int at, struct buf *out)
{
    const struct node *node = &world->nodes[at];

    if (at)
        buf_printf(out, " Sections { Name: \"%s\" ", node->own);
    buf_put_text(out, "Body {");
    if (!at)
        buf_put_text(out, " Output: JSON");
    if (node->children_only >= 0)
        buf_printf(out, " ChildrenOnly: %s", node->children_only ? "true" : "false");
    if (node->ttl >= 0)
        buf_printf(out, " TtlMinutes: %d", node->ttl);
    if (node->recursive >= 0)
        buf_printf(out, " Recursive: \"%s\"", world->nodes[node->recursive].own);
    for (int i = 1; i < world->node_count; i++)
        if (world->nodes[i].parent == at)
            put_node(world, i, out);
    buf_put_text(out, at ? " } }\n" : " }\n");
}

static void take_tree(struct world *world)
{
    struct snippets_options options = {.config_path = world->path,
                                       .allots = true,
                                       .store = world->store,
                                       .clock = &world->clock.base};
    struct buf text = BUF_INIT(1 << 16);
    struct err err;
    bool changed;

    OK(store_write_one(world->store, "DELETE FROM snippet", NULL, 0, NULL, &err));
    OK(store_write_one(world->store, "DELETE FROM snippet_space", NULL, 0, NULL, &err));
    memset(world->has_back, 0, sizeof(world->has_back));
    draw_tree(world);
    put_node(world, 0, &text);
    OK(file_write(world->path, buf_bytes(&text), &err));
    buf_release(&text);
    if (world->snippets)
        OK(snippets_reload(world->snippets, &changed, &err));
    else
        OK(snippets_open(&options, &world->snippets, &err));
}

/* --- requests --- */

static struct bytes key_of(struct world *world, int key)
{
    return bytes_of(arena_printf(world->arena, "%s%d", world->key_start, key));
}

static int64_t now(const struct world *world)
{
    return clock_wall_us(&world->clock.base);
}

static bool is_there(const struct world *world, const struct value *value)
{
    return value->body && value->end_us > now(world);
}

/* What one snippet of the config has, or none. */
static struct value look(struct world *world, int at, int key)
{
    struct snippet_found *list;
    struct value value = {0};
    struct err err;
    size_t count;
    int rc = snippets_get(world->snippets, bytes_of(world->nodes[at].name), key_of(world, key),
                          BYTES_EMPTY, world->arena, &list, &count, &err);

    if (rc && rc != ERR_NOT_FOUND)
        fail_msg("%s", err.text);
    for (size_t i = 0; i < count && !rc; i++)
        if (strcmp(list[i].name, world->nodes[at].name) == 0)
            value =
                (struct value){(int)strtol(arena_text(world->arena, list[i].row.body), NULL, 10),
                               list[i].row.end_us};
    return value;
}

static void model_put(struct world *world, int at, int key, int body)
{
    unsigned targets = targets_of(world, at);

    for (int i = 1; i < world->node_count; i++) {
        int ttl = ttl_of(world, i);
        struct value value = {body, ttl ? now(world) + (int64_t)ttl * MINUTE_US : INT64_MAX};

        if (!(targets & 1u << i))
            continue;
        world->shown[i][key] = body ? value : (struct value){0};
        world->back[i][key] = world->shown[i][key];
    }
}

struct gathering {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    size_t left;
    int rc;
};

static void gathered(struct snippet_request *request, int rc, struct err *err)
{
    struct gathering *gathering = request->arg;

    (void)err;
    pthread_mutex_lock(&gathering->lock);
    gathering->rc = gathering->rc ? gathering->rc : rc;
    gathering->left--;
    pthread_cond_signal(&gathering->changed);
    pthread_mutex_unlock(&gathering->lock);
}

/* Some requests of random sections, none of which waits for another; they count in their order. */
static void write_some(struct world *world)
{
    struct gathering gathering = {.lock = PTHREAD_MUTEX_INITIALIZER,
                                  .changed = PTHREAD_COND_INITIALIZER};
    size_t count = 1 + rng_below(&world->rng, 5);
    struct snippet_request *requests = arena_array(world->arena, count, sizeof(*requests));
    struct err err;

    gathering.left = count;
    for (size_t i = 0; i < count; i++) {
        int at = 1 + (int)rng_below(&world->rng, (uint64_t)world->node_count - 1);
        int key = (int)rng_below(&world->rng, KEY_COUNT);
        int value = rng_below(&world->rng, 4) ? 1 + (int)rng_below(&world->rng, 1000) : 0;
        struct bytes name = bytes_of(world->nodes[at].name);
        const struct snippet_body body = {.key = key_of(world, key),
                                          .has_format = true,
                                          .format = SNIPPET_JSON,
                                          .body =
                                              bytes_of(arena_printf(world->arena, "%d", value))};

        requests[i] = (struct snippet_request){.done = gathered, .arg = &gathering};
        if (value)
            OK(snippets_put_later(world->snippets, name, &body, world->arena, &requests[i], &err));
        else
            OK(snippets_delete_later(world->snippets, name, body.key, BYTES_EMPTY, world->arena,
                                     &requests[i], &err));
        model_put(world, at, key, value);
    }
    pthread_mutex_lock(&gathering.lock);
    while (gathering.left)
        pthread_cond_wait(&gathering.changed, &gathering.lock);
    pthread_mutex_unlock(&gathering.lock);
    assert_int_equal(gathering.rc, 0);
}

static void write_one(struct world *world)
{
    int at = 1 + (int)rng_below(&world->rng, (uint64_t)world->node_count - 1);
    int key = (int)rng_below(&world->rng, KEY_COUNT);
    int value = rng_below(&world->rng, 3) ? 1 + (int)rng_below(&world->rng, 1000) : 0;
    struct bytes name = bytes_of(world->nodes[at].name);
    const struct snippet_body body = {.key = key_of(world, key),
                                      .has_format = true,
                                      .format = SNIPPET_JSON,
                                      .body = bytes_of(arena_printf(world->arena, "%d", value))};
    struct err err;

    if (value)
        OK(snippets_put(world->snippets, name, &body, world->arena, &err));
    else
        OK(snippets_delete(world->snippets, name, body.key, BYTES_EMPTY, world->arena, &err));
    model_put(world, at, key, value);
}

/* A full load of one key and value; everything else of the name goes. */
static void load(struct world *world)
{
    int at = 1 + (int)rng_below(&world->rng, (uint64_t)world->node_count - 1);
    int key = (int)rng_below(&world->rng, KEY_COUNT), value = 1 + (int)rng_below(&world->rng, 1000);
    struct bytes name = bytes_of(world->nodes[at].name);
    unsigned targets = targets_of(world, at);
    struct snippet_load_row row = {.place = 1};
    struct snippet_difference difference;
    struct snippet_load_count counts;
    struct err err;
    int64_t number;

    row.body = (struct snippet_body){.key = key_of(world, key),
                                     .has_format = true,
                                     .format = SNIPPET_JSON,
                                     .body = bytes_of(arena_printf(world->arena, "%d", value))};
    if (!targets)
        return;
    OK(snippets_load_begin(world->snippets, name, &number, &err));
    OK(snippets_load_add(world->snippets, name, number, &row, 1, world->arena, &counts, &err));
    OK(snippets_load_finish(world->snippets, name, number, 100, false, &difference, &err));
    for (int i = 1; i < world->node_count; i++) {
        int ttl = ttl_of(world, i);

        if (!(targets & 1u << i))
            continue;
        memcpy(world->back[i], world->shown[i], sizeof(world->back[i]));
        memset(world->shown[i], 0, sizeof(world->shown[i]));
        world->shown[i][key] =
            (struct value){value, ttl ? now(world) + (int64_t)ttl * MINUTE_US : INT64_MAX};
        world->has_back[i] = true;
    }
}

static void go_back(struct world *world)
{
    int at = 1 + (int)rng_below(&world->rng, (uint64_t)world->node_count - 1);
    unsigned targets = targets_of(world, at);
    bool can = targets != 0;
    struct err err;
    int rc;

    for (int i = 1; i < world->node_count; i++)
        can = can && (!(targets & 1u << i) || world->has_back[i]);
    if (!targets)
        return;
    rc = snippets_load_back(world->snippets, bytes_of(world->nodes[at].name), &err);
    if (!can) {
        assert_int_equal(rc, ERR_PRECONDITION);
        return;
    }
    if (rc)
        fail_msg("%s", err.text);
    for (int i = 1; i < world->node_count; i++) {
        struct value was[KEY_COUNT];

        if (!(targets & 1u << i))
            continue;
        memcpy(was, world->shown[i], sizeof(was));
        memcpy(world->shown[i], world->back[i], sizeof(was));
        memcpy(world->back[i], was, sizeof(was));
    }
}

/* --- checks --- */

/* A follower looks again at what it is told of, and at nothing else. */
static void follow(struct world *world)
{
    struct snippet_config *config = snippets_config(world->snippets);
    struct snippet_change *list;
    struct err err;
    size_t count = 1;

    while (count) {
        OK(snippet_changes_read(world->store, &world->position, world->arena, &list, &count, &err));
        for (size_t k = 0; k < count; k++) {
            for (int i = 1; i < world->node_count; i++) {
                const struct snippet *snippet =
                    snippet_config_snippet(config, bytes_of(world->nodes[i].name));

                if (!snippet || snippet->prefix != list[k].prefix)
                    continue;
                for (int key = 0; key < KEY_COUNT; key++)
                    if (list[k].is_all || bytes_equal(list[k].key, key_of(world, key)))
                        world->followed[i][key] = look(world, i, key);
            }
        }
    }
    snippet_config_unref(config);
}

/* A page of every name and key, from memory if there is all of it. */
static void check_page(struct world *world, uint64_t sequence, bool at_hand)
{
    struct bytes names[NODE_MAX], keys[KEY_COUNT];
    int bodies[NODE_MAX][KEY_COUNT] = {0};
    struct snippet_found *list;
    struct err err;
    size_t count;

    for (int i = 0; i < world->node_count; i++)
        names[i] = bytes_of(world->nodes[i].name);
    for (int key = 0; key < KEY_COUNT; key++)
        keys[key] = key_of(world, key);
    if (!at_hand)
        OK(snippets_batch(world->snippets, names, (size_t)world->node_count, keys, KEY_COUNT,
                          BYTES_EMPTY, world->arena, &list, &count, &err));
    else if (!snippets_batch_at_hand(world->snippets, names, (size_t)world->node_count, keys,
                                     KEY_COUNT, BYTES_EMPTY, world->arena, &list, &count))
        return;
    world->at_hand_count += at_hand;
    for (size_t k = 0; k < count; k++)
        for (int i = 1; i < world->node_count; i++)
            for (int key = 0; key < KEY_COUNT; key++)
                if (bytes_equal(bytes_of(list[k].name), names[i]) &&
                    bytes_equal(list[k].row.key, keys[key]))
                    bodies[i][key] = (int)strtol((const char *)list[k].row.body.data, NULL, 10);
    for (int i = 1; i < world->node_count; i++)
        for (int key = 0; key < KEY_COUNT && is_snippet(world, i); key++) {
            const struct value *wanted = &world->shown[i][key];

            if (bodies[i][key] != (is_there(world, wanted) ? wanted->body : 0))
                fail_msg("sequence %ju: %s of key %d is %d of a page%s, not %d",
                         (uintmax_t)sequence, world->nodes[i].name, key, bodies[i][key],
                         at_hand ? " from memory" : "", wanted->body);
        }
}

static void check(struct world *world, uint64_t sequence)
{
    follow(world);
    for (int i = 1; i < world->node_count; i++) {
        for (int key = 0; key < KEY_COUNT && is_snippet(world, i); key++) {
            const struct value *wanted = &world->shown[i][key];
            struct value found = look(world, i, key);
            const struct value *followed = &world->followed[i][key];
            int body = is_there(world, wanted) ? wanted->body : 0;

            if (found.body != body || (body && found.end_us != wanted->end_us))
                fail_msg("sequence %ju: %s of key %d is %d, not %d", (uintmax_t)sequence,
                         world->nodes[i].name, key, found.body, body);
            if ((is_there(world, followed) ? followed->body : 0) != body)
                fail_msg("sequence %ju: a follower has %d of %s, key %d, not %d",
                         (uintmax_t)sequence, followed->body, world->nodes[i].name, key, body);
        }
    }
}

static void run_sequence(struct world *world, uint64_t sequence)
{
    struct err err;

    memset(world->shown, 0, sizeof(world->shown));
    memset(world->back, 0, sizeof(world->back));
    memset(world->followed, 0, sizeof(world->followed));
    snprintf(world->key_start, sizeof(world->key_start), "q%ju-", (uintmax_t)sequence);
    OK(snippet_changes_end(world->store, &world->position, &err));
    for (int step = 0; step < STEP_COUNT; step++) {
        switch (rng_below(&world->rng, 12)) {
        case 0:
            clock_manual_advance(&world->clock, (int64_t)rng_below(&world->rng, 3 * MINUTE_US));
            break;
        case 1:
            load(world);
            break;
        case 2:
            go_back(world);
            break;
        case 3:
            check(world, sequence);
            break;
        case 4:
        case 5:
        case 6:
            write_some(world);
            break;
        default:
            write_one(world);
        }
        check_page(world, sequence, true);
        if (rng_below(&world->rng, 2)) {
            check_page(world, sequence, false);
            check_page(world, sequence, true);
        }
        clock_manual_advance(&world->clock, 1);
    }
    check(world, sequence);
    arena_reset(world->arena);
}

static void sequences_are_as_a_naive_evaluator_says(void **state)
{
    uint64_t seed = getenv("TORG_SEED") ? strtoull(getenv("TORG_SEED"), NULL, 10) : random_u64();
    int64_t count = test_count("TORG_SEQUENCE_COUNT", 1000, 10000);
    struct world *world = mem_zero(sizeof(*world));
    struct store_options options = {0};
    struct err err;

    (void)state;
    print_message("# TORG_SEED=%ju\n", (uintmax_t)seed);
    world->rng = rng_seeded(seed);
    clock_manual_init(&world->clock, 1700000000000000);
    options.clock = &world->clock.base;
    OK(store_open_with("sqlite::memory:", &options, &world->store, &err));
    OK(store_migrate(world->store, NULL, &err));
    test_dir_make(world->dir);
    snprintf(world->path, sizeof(world->path), "%s/snippets.pb.txt", world->dir);
    world->arena = arena_new();
    for (int64_t i = 0; i < count; i++) {
        if (i % SEQUENCES_A_TREE == 0)
            take_tree(world);
        run_sequence(world, (uint64_t)i);
    }
    assert_true(world->at_hand_count > (size_t)count);
    snippets_close(world->snippets);
    store_close(world->store);
    OK(dir_remove(world->dir, &err));
    arena_free(world->arena);
    free(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(sequences_are_as_a_naive_evaluator_says)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
