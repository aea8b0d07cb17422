/* SPDX-License-Identifier: Apache-2.0 */
/* What is told to differ between two catalogues, and when rules are the same. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "base/buf.h"
#include "base/memory.h"
#include "catalog/difference.h"

#define HEAD                                                                                       \
    "{\"attributes\": [{\"id\": \"c\", \"name\": {\"ru\": \"Цвет\"}, \"type\": \"OPTION\", "   \
    "\"options\": [{\"id\": \"r\", \"name\": {\"ru\": \"к\"}}, {\"id\": \"b\", \"name\": "        \
    "{\"ru\": \"с\"}}]}, {\"id\": \"n\", \"name\": {\"ru\": \"Число\"}, \"type\": \"INTEGER\"}],"

#define BASE                                                                                       \
    HEAD "\"categories\": [{\"id\": \"a\", \"name\": {\"ru\": \"А\"}, \"attributes\": [\"c\"]}, " \
         "{\"id\": \"b\", \"name\": {\"ru\": \"Б\"}, \"parent\": \"a\"}, "                        \
         "{\"id\": \"d\", \"name\": {\"ru\": \"Д\"}}]}"

static struct catalog *load(const char *json)
{
    struct catalog *catalog;
    struct err err;

    if (catalog_from_json(bytes_of(json), NULL, &catalog, &err))
        fail_msg("%s: %s", json, err.text);
    return catalog;
}

static void put_fields(struct buf *out, Torg__V1__CatalogChange__Field **fields, size_t count)
{
    for (size_t i = 0; i < count; i++)
        buf_printf(out, " %s:%s>%s", fields[i]->field, fields[i]->before, fields[i]->after);
}

static void put_items(struct buf *out, const char *what, Torg__V1__CatalogChange__Item **items,
                      size_t count)
{
    for (size_t i = 0; i < count; i++) {
        buf_printf(out, "%s%c%s", what, "?+-~"[items[i]->kind], items[i] -> id);
        put_fields(out, items[i]->fields, items[i]->n_fields);
        buf_put_text(out, ";");
    }
}

/* The difference on one line. */
static void check(const char *before_json, const char *after_json, const char *wanted)
{
    Torg__V1__CatalogChange change = TORG__V1__CATALOG_CHANGE__INIT;
    struct catalog *before = load(before_json);
    struct catalog *after = load(after_json);
    struct arena *arena = arena_new();
    struct buf out = BUF_INIT(1 << 16);

    catalog_compare(before, after, arena, &change);
    put_items(&out, "attribute", change.attributes, change.n_attributes);
    put_items(&out, "category", change.categories, change.n_categories);
    put_fields(&out, change.defaults, change.n_defaults);
    assert_string_equal(buf_text(&out), wanted);
    assert_int_equal(catalog_equal(before, after), !*wanted);
    buf_release(&out);
    arena_free(arena);
    catalog_unref(before);
    catalog_unref(after);
}

static void each_kind_of_change_is_told(void **state)
{
    check(BASE, BASE, "");
    check(BASE,
          HEAD "\"categories\": [{\"id\": \"a\", \"name\": {\"ru\": \"А\", \"en\": \"A\"}, "
               "\"attributes\": [\"n\", \"c\"], \"overrides\": [{\"id\": \"n\", \"required\": "
               "false}]}, {\"id\": \"b\", \"name\": {\"ru\": \"Б\"}}, {\"id\": \"e\", \"name\": "
               "{\"ru\": \"Е\"}}]}",
          "category~a name.en:>A attributes:c>n, c overrides[n].id:>n "
          "overrides[n].required:>false;category~b parent:a>;"
          "category+e;category-d;");
    check(BASE,
          "{\"attributes\": [{\"id\": \"c\", \"name\": {\"ru\": \"Цвет\"}, \"type\": \"OPTION\", "
          "\"required\": true, \"options\": [{\"id\": \"b\", \"name\": {\"ru\": \"синий\"}}, "
          "{\"id\": \"g\", \"name\": {\"ru\": \"з\"}}]}], \"categories\": [{\"id\": \"a\", "
          "\"name\": {\"ru\": \"А\"}, \"attributes\": [\"c\"]}, {\"id\": \"b\", \"name\": "
          "{\"ru\": \"Б\"}, \"parent\": \"a\"}, {\"id\": \"d\", \"name\": {\"ru\": \"Д\"}}]}",
          "attribute~c required:>true options[r]:к> options[b].name.ru:с>синий "
          "options[g]:>з;attribute-n;");
}

static void order_and_defaults_are_told(void **state)
{
    check("{\"categories\": [{\"id\": \"a\", \"name\": {\"ru\": \"А\"}}, {\"id\": \"b\", "
          "\"name\": {\"ru\": \"Б\"}}]}",
          "{\"defaults\": {\"filters\": [\"PRICE\", \"DATE\"], \"policy\": {\"photosMin\": 0}}, "
          "\"categories\": [{\"id\": \"b\", \"name\": {\"ru\": \"Б\"}}, {\"id\": \"x\", \"name\": "
          "{\"ru\": \"Х\"}}, {\"id\": \"a\", \"name\": {\"ru\": \"А\"}}]}",
          "category+x; defaults.filters:>PRICE, DATE defaults.policy.photosMin:>0 "
          "categories:>in another order");
    check(HEAD "\"categories\": []}",
          "{\"attributes\": [{\"id\": \"c\", \"name\": {\"ru\": \"Цвет\"}, \"type\": \"OPTION\", "
          "\"options\": [{\"id\": \"b\", \"name\": {\"ru\": \"с\"}}, {\"id\": \"r\", \"name\": "
          "{\"ru\": \"к\"}}]}, {\"id\": \"n\", \"name\": {\"ru\": \"Число\"}, \"type\": "
          "\"INTEGER\"}]}",
          "attribute~c options:r, b>b, r;");
}

#define TREE(parent)                                                                               \
    "{\"attributes\": [{\"id\": \"c\", \"name\": {\"ru\": \"Ц\"}, \"type\": \"OPTION\", "         \
    "\"options\": [{\"id\": \"r\", \"name\": {\"ru\": \"к\"}}, {\"id\": \"b\", \"name\": "        \
    "{\"ru\": \"с\"}" parent "}]}], \"categories\": [{\"id\": \"a\", \"name\": {\"ru\": \"А\"}, " \
    "\"attributes\": [\"c\"]}]}"

#define WITH(rest) HEAD "\"categories\": [{\"id\": \"a\", \"name\": {\"ru\": \"А\"}" rest "}]}"

static void rules_differ_when_an_offer_could_break(void **state)
{
    static const struct {
        const char *before;
        const char *after;
        bool equal;
    } cases[] = {
        {WITH(""), WITH(""), true},
        {WITH(""), WITH(", \"synonyms\": {\"ru\": [\"x\"]}"), true},
        {WITH(""), WITH(", \"attributes\": [\"n\"]"), false},
        {WITH(", \"attributes\": [\"n\", \"c\"]"), WITH(", \"attributes\": [\"c\", \"n\"]"), true},
        {WITH(", \"attributes\": [\"n\"]"),
         WITH(", \"attributes\": [\"n\"], \"overrides\": [{\"id\": \"n\", \"required\": true}]"),
         false},
        {WITH(", \"attributes\": [\"n\"]"),
         WITH(", \"attributes\": [\"n\"], \"overrides\": [{\"id\": \"n\", \"max\": \"3\"}]"),
         false},
        {WITH(", \"attributes\": [\"n\"]"),
         WITH(", \"attributes\": [\"n\"], \"overrides\": [{\"id\": \"n\", \"name\": {\"ru\": "
              "\"Q\"}}]"),
         true},
        {WITH(", \"attributes\": [\"c\"]"),
         WITH(", \"attributes\": [\"c\"], \"overrides\": [{\"id\": \"c\", \"options\": [\"r\"]}]"),
         false},
        {WITH(""), WITH(", \"filters\": [\"CONDITION\"]"), false},
        {WITH(""), WITH(", \"policy\": {\"photosMin\": 1}"), false},
        {WITH(""), WITH(", \"policy\": {\"photosMin\": 0}"), true},
        {WITH(""), WITH(", \"policy\": {\"currencies\": [\"USD\"]}"), false},
        {TREE(""), TREE(", \"parent\": \"r\""), false}, /* that counts as chosen, too */
        {TREE(", \"parent\": \"r\""), TREE(", \"parent\": \"r\""), true},
    };

    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        struct catalog *before = load(cases[i].before);
        struct catalog *after = load(cases[i].after);

        if (category_rules_equal(category_find(before, "a"), category_find(after, "a")) !=
            cases[i].equal)
            fail_msg("%zu: %s", i, cases[i].after);
        catalog_unref(before);
        catalog_unref(after);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_kind_of_change_is_told),
        cmocka_unit_test(order_and_defaults_are_told),
        cmocka_unit_test(rules_differ_when_an_offer_could_break),
    };

    return cmocka_run_group_tests_name("catalog difference", tests, NULL, NULL);
}
