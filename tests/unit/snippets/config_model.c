/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Model test of snippets/config/config.h: random trees of sections, written as text in any order
 * and form, against a naive evaluator that walks from each name up to the root.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/random.h"
#include "long.h"
#include "snippets/config/config.h"

enum { NODE_COUNT_MAX = 24 };

/* A section as it was drawn; -1: an option that it does not set. */
struct model_node {
    int parent;
    char name[100];
    char own[8];
    int children_only, output, ttl;
    bool is_described;
    bool has_recursive;
    int recursive; /* a child, or -1: an empty one cannot be written */
};

struct model {
    struct model_node nodes[NODE_COUNT_MAX];
    int count;
};

static bool has_children(const struct model *model, int node)
{
    int i;

    for (i = 1; i < model->count; i++) {
        if (model->nodes[i].parent == node)
            return true;
    }
    return false;
}

static void draw(struct model *model, struct rng *random)
{
    int i;

    model->count = 1 + (int)rng_below(random, NODE_COUNT_MAX - 1);
    for (i = 0; i < model->count; i++) {
        struct model_node *node = &model->nodes[i];
        char above[100];

        *node = (struct model_node){.parent = -1, .recursive = -1};
        node->children_only = (int)rng_below(random, 3) - 1;
        node->output = i ? (int)rng_below(random, 3) - 1 : SNIPPET_JSON;
        node->ttl = (int)rng_below(random, 4) - 1;
        node->is_described = !i || rng_below(random, 4) > 0;
        if (!node->is_described)
            node->children_only = node->output = node->ttl = -1;
        if (i) {
            node->parent = (int)rng_below(random, (uint64_t)i);
            snprintf(node->own, sizeof(node->own), "s%d", i);
            memcpy(above, model->nodes[node->parent].name, sizeof(above));
            snprintf(node->name, sizeof(node->name), "%.80s%ss%d", above, node->parent ? "/" : "",
                     i);
        }
    }
    for (i = 1; i < model->count; i++) {
        struct model_node *parent = &model->nodes[model->nodes[i].parent];

        if (model->nodes[i].parent && parent->is_described && rng_below(random, 4) == 0) {
            parent->has_recursive = true;
            parent->recursive = i;
        }
        /* One that nobody describes has to be on the way to another. */
        if (!model->nodes[i].is_described && !has_children(model, i))
            model->nodes[i].is_described = true;
    }
}

static void put_section(const struct model *model, int at, const char *name, struct buf *out,
                        struct rng *random);

/* Children in a random order; what is not described comes as part of longer names. */
static void put_children(const struct model *model, int parent, const char *path, struct buf *out,
                         struct rng *random)
{
    int order[NODE_COUNT_MAX], i, j;

    for (i = 0; i < model->count; i++) {
        j = (int)rng_below(random, (uint64_t)i + 1);
        order[i] = order[j];
        order[j] = i;
    }
    for (i = 0; i < model->count; i++) {
        const struct model_node *node = &model->nodes[order[i]];
        char name[200];

        if (order[i] == 0 || node->parent != parent)
            continue;
        snprintf(name, sizeof(name), "%s%s%s", path, *path ? "/" : "", node->own);
        if (node->is_described)
            put_section(model, order[i], name, out, random);
        else
            put_children(model, order[i], name, out, random);
    }
}

static void put_body(const struct model *model, int at, struct buf *out, struct rng *random)
{
    const struct model_node *node = &model->nodes[at];
    static const char *const formats[] = {"TEXT", "JSON"};

    buf_put_text(out, rng_below(random, 2) ? "Body {\n" : "Body: <");
    if (node->children_only >= 0)
        buf_printf(out, "ChildrenOnly: %s,", node->children_only ? "true" : "false");
    put_children(model, at, "", out, random);
    if (node->output >= 0)
        buf_printf(out, "Output: %s # a remark }\n", formats[node->output]);
    if (node->ttl >= 0)
        buf_printf(out, "TtlMinutes: %d;", node->ttl);
    if (node->has_recursive)
        buf_printf(out, "Recursive: ['%s']", model->nodes[node->recursive].own);
}

static void put_section(const struct model *model, int at, const char *name, struct buf *out,
                        struct rng *random)
{
    struct buf body = BUF_INIT(1 << 20);

    put_body(model, at, &body, random);
    buf_put_byte(&body, body.data[4] == ':' ? '>' : '}');
    if (at == 0)
        buf_put(out, buf_bytes(&body));
    else if (rng_below(random, 2))
        buf_printf(out, " Sections { Name: \"%s\" %s }", name, buf_text(&body));
    else
        buf_printf(out, "Sections: [<%s Name: '%c' \"%s\">]", buf_text(&body), name[0], name + 1);
    buf_release(&body);
}

/* --- the naive evaluator --- */

static int option_of(const struct model *model, int node, size_t member, int otherwise)
{
    for (; node >= 0; node = model->nodes[node].parent) {
        int value = *(const int *)((const char *)&model->nodes[node] + member);

        if (value >= 0)
            return value;
    }
    return otherwise;
}

static bool is_snippet(const struct model *model, int node)
{
    if (!node)
        return false;
    return !has_children(model, node) ||
           !option_of(model, node, offsetof(struct model_node, children_only), 1);
}

/* A bit for each that a request for the node acts on. */
static uint64_t targets_of(const struct model *model, int node)
{
    uint64_t targets = is_snippet(model, node) ? 1ull << node : 0;
    int i;

    if (model->nodes[node].has_recursive)
        return targets | targets_of(model, model->nodes[node].recursive);
    for (i = 1; i < model->count; i++) {
        if (model->nodes[i].parent == node)
            targets |= targets_of(model, i);
    }
    return targets;
}

static void compare(const struct model *model, int at, const struct snippet_config *config,
                    const char *text)
{
    const struct model_node *node = &model->nodes[at];
    const struct snippet_section *section = snippet_config_find(config, bytes_of(node->name));
    uint64_t targets = at ? targets_of(model, at) : 0;
    size_t i;
    int j;

    assert_non_null(section);
    assert_int_equal(section->own != NULL, is_snippet(model, at));
    if (section->own) {
        assert_int_equal(section->own->output,
                         option_of(model, at, offsetof(struct model_node, output), -1));
        assert_int_equal(section->own->ttl_us / 60000000,
                         option_of(model, at, offsetof(struct model_node, ttl), 0));
    }
    if (section->target_count != (size_t)__builtin_popcountll(targets))
        fail_msg("%s: %zu targets\n%s", node->name, section->target_count, text);
    for (i = 0; i < section->target_count; i++) {
        for (j = 1; j < model->count; j++) {
            if (strcmp(section->targets[i]->name, model->nodes[j].name) == 0)
                break;
        }
        assert_true(j < model->count && targets & 1ull << j);
    }
}

static void trees_are_as_a_naive_evaluator_says(void **state)
{
    struct snippet_config_options options = {.dir = "."};
    uint64_t seed = getenv("TORG_SEED") ? strtoull(getenv("TORG_SEED"), NULL, 10) : random_u64();
    struct rng random = rng_seeded(seed);
    int64_t round, rounds = test_count("TORG_ROUND_COUNT", 1500, 20000);
    struct err err;

    print_message("# TORG_SEED=%ju\n", (uintmax_t)seed);
    for (round = 0; round < rounds; round++) {
        struct buf text = BUF_INIT(4 << 20);
        struct snippet_config *config;
        struct model model;
        int i;

        draw(&model, &random);
        put_section(&model, 0, "", &text, &random);
        if (snippet_config_load(buf_bytes(&text), &options, &config, &err))
            fail_msg("%s\n%s", buf_text(&text), err.text);
        for (i = 0; i < model.count; i++)
            compare(&model, i, config, buf_text(&text));
        snippet_config_unref(config);
        buf_release(&text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(trees_are_as_a_naive_evaluator_says)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
