/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inheritance on random trees, against a naive resolver that copies whole lists while it makes the
 * tree; branches against walking up; unions and intersections against counting.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/random.h"
#include "catalog/bounds.h"
#include "catalog/catalog.h"

enum { CATEGORY_MAX = 60, ATTRIBUTE_MAX = 12, FILTER_MAX = 9, ROUND_COUNT = 300 };

/* An attribute as a category should have it. */
struct naive_attribute {
    int id;
    bool required;
    int max;
    int origin;
    bool narrowed; /* to its option "o1" */
};

struct naive_category {
    int parent; /* -1: none */
    int depth;
    struct naive_attribute attributes[ATTRIBUTE_MAX];
    int count;
    unsigned filters;
    unsigned photos_max;
    char json[4096];
};

struct naive {
    struct rng rng;
    struct naive_category categories[CATEGORY_MAX];
    int count;
};

static bool chance(struct naive *naive, unsigned one_in)
{
    return rng_below(&naive->rng, one_in) == 0;
}

static int position_of(const struct naive_category *category, int id)
{
    for (int i = 0; i < category->count; i++) {
        if (category->attributes[i].id == id)
            return i;
    }
    return -1;
}

static void hide_some(struct naive *naive, struct naive_category *category, struct buf *json)
{
    buf_put_text(json, ", \"hidden\": [");
    for (int id = 0, told = 0; id < ATTRIBUTE_MAX; id++) {
        int at = position_of(category, id);

        if (at < 0 || !chance(naive, 5))
            continue;
        buf_printf(json, "%s\"a%d\"", told++ ? ", " : "", id);
        category->count--;
        memmove(&category->attributes[at], &category->attributes[at + 1],
                (size_t)(category->count - at) * sizeof(category->attributes[0]));
    }
    buf_put_text(json, "]");
}

static void add_some(struct naive *naive, struct naive_category *category, int self,
                     struct buf *json)
{
    buf_put_text(json, ", \"attributes\": [");
    for (int id = 0, told = 0; id < ATTRIBUTE_MAX; id++) {
        if (position_of(category, id) >= 0 || !chance(naive, 4))
            continue;
        buf_printf(json, "%s\"a%d\"", told++ ? ", " : "", id);
        category->attributes[category->count++] =
            (struct naive_attribute){.id = id, .max = 1000, .origin = self};
    }
    buf_put_text(json, "]");
}

/* Even ones are numbers, odd ones have options. */
static void override_some(struct naive *naive, struct naive_category *category, struct buf *json)
{
    buf_put_text(json, ", \"overrides\": [");
    for (int i = 0, told = 0; i < category->count; i++) {
        struct naive_attribute *attribute = &category->attributes[i];

        if (!chance(naive, 4))
            continue;
        buf_printf(json, "%s{\"id\": \"a%d\"", told++ ? ", " : "", attribute->id);
        if (chance(naive, 2)) {
            attribute->required = chance(naive, 2);
            buf_printf(json, ", \"required\": %s", attribute->required ? "true" : "false");
        }
        if (attribute->id % 2 == 0 && chance(naive, 2)) {
            attribute->max = 1 + (int)rng_below(&naive->rng, 999);
            buf_printf(json, ", \"max\": \"%d\"", attribute->max);
        } else if (attribute->id % 2 && chance(naive, 2)) {
            attribute->narrowed = true;
            buf_put_text(json, ", \"options\": [\"o1\"]");
        }
        buf_put_text(json, "}");
    }
    buf_put_text(json, "]");
}

static const char *filter_name(int filter)
{
    return torg__v1__category__filter__descriptor.values[filter].name;
}

static void change_filters(struct naive *naive, struct naive_category *category, struct buf *json)
{
    unsigned before = category->filters;

    for (int hide = 0; hide < 2; hide++) {
        buf_put_text(json, hide ? ", \"hiddenFilters\": [" : ", \"filters\": [");
        for (int i = 1, told = 0; i <= FILTER_MAX; i++) {
            if ((before >> i & 1) != (unsigned)hide || !chance(naive, 4))
                continue;
            category->filters ^= 1U << i;
            buf_printf(json, "%s\"%s\"", told++ ? ", " : "", filter_name(i));
        }
        buf_put_text(json, "]");
    }
}

static void make_category(struct naive *naive, int self)
{
    struct naive_category *category = &naive->categories[self];
    int parent = self && !chance(naive, 8) ? (int)rng_below(&naive->rng, (uint64_t)self) : -1;
    struct buf json = BUF_INIT(sizeof(category->json) - 1);

    if (parent >= 0 && naive->categories[parent].depth == CATALOG_DEPTH_MAX)
        parent = -1;
    if (parent >= 0)
        *category = naive->categories[parent];
    else
        *category = (struct naive_category){.photos_max = 10};
    category->parent = parent;
    category->depth++;
    buf_printf(&json, "{\"id\": \"c%d\", \"name\": {\"ru\": \"c%d\"}", self, self);
    if (parent >= 0)
        buf_printf(&json, ", \"parent\": \"c%d\"", parent);
    hide_some(naive, category, &json);
    add_some(naive, category, self, &json);
    override_some(naive, category, &json);
    change_filters(naive, category, &json);
    if (chance(naive, 3)) {
        category->photos_max = (unsigned)rng_below(&naive->rng, 50);
        buf_printf(&json, ", \"policy\": {\"photosMax\": %u}", category->photos_max);
    }
    buf_put_text(&json, "}");
    assert_false(buf_failed(&json));
    snprintf(category->json, sizeof(category->json), "%s", buf_text(&json));
    buf_release(&json);
}

/* The categories come in any order: parents behind children too. */
static struct catalog *make_catalog(struct naive *naive)
{
    struct buf json = BUF_INIT(CATALOG_FILE_SIZE_MAX);
    struct catalog *catalog;
    int order[CATEGORY_MAX];
    struct err err;

    buf_put_text(&json, "{\"attributes\": [");
    for (int i = 0; i < ATTRIBUTE_MAX; i++)
        buf_printf(&json, "%s{\"id\": \"a%d\", \"name\": {\"ru\": \"a%d\"}, %s}", i ? "," : "", i,
                   i,
                   i % 2 ? "\"type\": \"OPTIONS\", \"options\": [{\"id\": \"o0\", \"name\": "
                           "{\"ru\": \"o0\"}}, {\"id\": \"o1\", \"name\": {\"ru\": \"o1\"}}]"
                         : "\"type\": \"INTEGER\", \"max\": \"1000\"");
    buf_put_text(&json, "], \"categories\": [");
    naive->count = 1 + (int)rng_below(&naive->rng, CATEGORY_MAX);
    for (int i = 0; i < naive->count; i++) {
        int other = (int)rng_below(&naive->rng, (uint64_t)i + 1);

        make_category(naive, i);
        order[i] = order[other];
        order[other] = i;
    }
    for (int i = 0; i < naive->count; i++)
        buf_printf(&json, "%s%s", i ? "," : "", naive->categories[order[i]].json);
    buf_put_text(&json, "]}");
    if (catalog_from_json(buf_bytes(&json), NULL, &catalog, &err))
        fail_msg("%s", err.text);
    buf_release(&json);
    return catalog;
}

static const struct category *category_of(const struct catalog *catalog, int number)
{
    char id[16];
    const struct category *category;

    snprintf(id, sizeof(id), "c%d", number);
    category = category_find(catalog, id);
    assert_non_null(category);
    return category;
}

static void compare_category(const struct naive_category *wanted, const struct category *got)
{
    assert_int_equal(got->attribute_count, wanted->count);
    for (int i = 0; i < wanted->count; i++) {
        const struct naive_attribute *naive = &wanted->attributes[i];
        const struct attribute *attribute = got->attributes[i];
        char id[16];

        snprintf(id, sizeof(id), "a%d", naive->id);
        assert_string_equal(attribute->id, id);
        assert_ptr_equal(attribute_find(got, id), attribute);
        assert_int_equal(attribute->required, naive->required);
        snprintf(id, sizeof(id), "c%d", naive->origin);
        assert_string_equal(attribute->origin->id, id);
        if (naive->id % 2 == 0) {
            assert_int_equal(attribute->max.millionths, naive->max * (int64_t)DECIMAL_ONE);
            continue;
        }
        assert_int_equal(attribute->option_count, naive->narrowed ? 1 : 2);
        assert_int_equal(option_find(attribute, "o0") == NULL, naive->narrowed);
        assert_non_null(option_find(attribute, "o1"));
    }
    assert_int_equal(got->filters, wanted->filters);
    assert_int_equal(got->policy.photos_max, wanted->photos_max);
    assert_int_equal(got->depth, wanted->depth);
}

static bool naive_is_within(const struct naive *naive, int category, int above)
{
    while (category >= 0 && category != above)
        category = naive->categories[category].parent;
    return category == above;
}

static void compare_branches(const struct naive *naive, const struct catalog *catalog,
                             struct arena *arena)
{
    for (int i = 0; i < naive->count; i++) {
        const struct category *category = category_of(catalog, i);
        const struct category **path = category_path(category, arena);
        int at = i;

        for (uint32_t depth = category->depth; depth > 0; depth--) {
            assert_ptr_equal(path[depth - 1], category_of(catalog, at));
            at = naive->categories[at].parent;
        }
        assert_int_equal(at, -1);
        for (int j = 0; j < naive->count; j++)
            assert_int_equal(category_is_within(category, category_of(catalog, j)),
                             naive_is_within(naive, i, j));
        for (size_t j = 0; j < category->child_count; j++)
            assert_ptr_equal(category->children[j]->parent, category);
    }
}

static void compare_sets(struct naive *naive, const struct catalog *catalog, struct arena *arena)
{
    const struct category *set[4];
    int members[4];
    size_t size = 1 + rng_below(&naive->rng, 4);

    for (size_t i = 0; i < size; i++) {
        members[i] = (int)rng_below(&naive->rng, (uint64_t)naive->count);
        set[i] = category_of(catalog, members[i]);
    }
    for (int common = 0; common < 2; common++) {
        size_t count;
        const struct attribute **got = catalog_attributes_of(set, size, common, arena, &count);
        size_t wanted = 0;

        for (int id = 0; id < ATTRIBUTE_MAX; id++) {
            size_t havers = 0;
            char text[16];
            bool found = false;

            snprintf(text, sizeof(text), "a%d", id);
            for (size_t i = 0; i < size; i++)
                havers += position_of(&naive->categories[members[i]], id) >= 0;
            for (size_t i = 0; i < count; i++)
                found |= strcmp(got[i]->id, text) == 0;
            assert_int_equal(found, common ? havers == size : havers > 0);
            wanted += found;
        }
        assert_int_equal(count, wanted);
    }
}

static void random_trees_equal_a_naive_resolver(void **state)
{
    static struct naive naive;
    uint64_t seed = random_u64();

    print_message("# seed %" PRIu64 "\n", seed);
    naive.rng = rng_seeded(seed);
    for (int round = 0; round < ROUND_COUNT; round++) {
        struct catalog *catalog = make_catalog(&naive);
        struct arena *arena = arena_new();

        for (int i = 0; i < naive.count; i++)
            compare_category(&naive.categories[i], category_of(catalog, i));
        compare_branches(&naive, catalog, arena);
        compare_sets(&naive, catalog, arena);
        arena_free(arena);
        catalog_unref(catalog);
    }
}

static void unchanged_attributes_are_the_parents_own(void **state)
{
    static const char json[] =
        "{\"attributes\": [{\"id\": \"x\", \"name\": {\"ru\": \"x\"}, \"type\": \"FLAG\"}],"
        "\"categories\": [{\"id\": \"a\", \"name\": {\"ru\": \"a\"}, \"attributes\": [\"x\"]},"
        "{\"id\": \"b\", \"name\": {\"ru\": \"b\"}, \"parent\": \"a\"},"
        "{\"id\": \"c\", \"name\": {\"ru\": \"c\"}, \"parent\": \"a\", \"hidden\": [\"x\"],"
        " \"attributes\": [\"x\"]}]}";
    struct catalog *catalog;
    struct err err;

    if (catalog_from_json(bytes_of(json), NULL, &catalog, &err))
        fail_msg("%s", err.text);
    assert_ptr_equal(category_find(catalog, "a")->attributes,
                     category_find(catalog, "b")->attributes);
    /* Hidden and added again: it starts anew. */
    assert_string_equal(attribute_find(category_find(catalog, "c"), "x")->origin->id, "c");
    catalog_unref(catalog);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_trees_equal_a_naive_resolver),
        cmocka_unit_test(unchanged_attributes_are_the_parents_own),
    };

    return cmocka_run_group_tests_name("catalog inheritance", tests, NULL, NULL);
}
