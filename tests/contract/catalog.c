/* SPDX-License-Identifier: Apache-2.0 */
/* The catalogue in a store: versions, conflicts, and changes that would break offers. */
#include "contract/store_fixture.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "catalog/change.h"
#include "catalog/difference.h"
#include "catalog/versions.h"
#include "store/migrate.h"

#define TREE(name, rest)                                                                           \
    "{\"attributes\": [{\"id\": \"n\", \"name\": {\"ru\": \"N\"}, \"type\": \"INTEGER\"}], "       \
    "\"categories\": [{\"id\": \"a\", \"name\": {\"ru\": \"" name "\"}" rest "}, "                 \
    "{\"id\": \"b\", \"name\": {\"ru\": \"B\"}, \"parent\": \"a\"}, "                              \
    "{\"id\": \"z\", \"name\": {\"ru\": \"Z\"}}]}"

enum { RIVAL_COUNT = 8 };

static struct catalog *load(const char *json)
{
    struct catalog *catalog;
    struct err err;

    if (catalog_from_json(bytes_of(json), NULL, &catalog, &err))
        fail_msg("%s: %s", json, err.text);
    return catalog;
}

/* The case's store with its tables, and an editor on it. */
static struct catalog_editor edit(void **state)
{
    struct fixture *fixture = start(state);
    struct err err;

    if (store_migrate(fixture->store, NULL, &err))
        fail_msg("%s", err.text);
    return (struct catalog_editor){
        .store = fixture->store, .principal = "tester", .now_us = 17, .arena = arena_new()};
}

static int apply(const struct catalog_editor *editor, const char *json, int64_t expected,
                 bool force, Torg__V1__CatalogChange *change, struct err *err)
{
    struct catalog *catalog = load(json);
    int rc;

    torg__v1__catalog_change__init(change);
    rc = catalog_apply(editor, catalog, expected, force, change, err);
    catalog_unref(catalog);
    return rc;
}

static int64_t current(const struct catalog_editor *editor)
{
    int64_t version;
    struct err err;

    if (versions_current(editor->store, &version, &err))
        fail_msg("%s", err.text);
    return version;
}

static void what_was_applied_is_in_use_and_comes_back(void **state)
{
    const struct catalog_editor editor = edit(state);
    struct arena *arena = editor.arena;
    struct catalog *wanted = load(TREE("A", ""));
    struct version_info info;
    Torg__V1__CatalogChange change;
    struct catalog *got;
    struct err err;

    assert_int_equal(versions_load(editor.store, 0, arena, &info, &got, &err), 0);
    assert_int_equal(info.version, 0);
    assert_int_equal(catalog_version(got), 0);
    catalog_unref(got);
    assert_int_equal(apply(&editor, TREE("A", ""), 0, false, &change, &err), 0);
    assert_int_equal(change.from_version, 0);
    assert_int_equal(change.to_version, 1);
    assert_int_equal(change.n_categories, 3);
    assert_false(change.offers_checked);
    assert_int_equal(apply(&editor, TREE("A2", ""), 1, false, &change, &err), 0);
    assert_int_equal(change.to_version, 2);
    assert_int_equal(change.n_categories, 1);
    assert_int_equal(current(&editor), 2);
    /* Older versions stay. */
    assert_int_equal(versions_load(editor.store, 1, arena, &info, &got, &err), 0);
    assert_true(catalog_equal(got, wanted));
    assert_int_equal(catalog_version(got), 1);
    assert_int_equal(info.applied_us, 17);
    assert_string_equal(info.applied_by, "tester");
    catalog_unref(got);
    assert_int_equal(versions_load(editor.store, 9, arena, NULL, &got, &err), ERR_NOT_FOUND);
    assert_int_equal(
        read_integer(editor.store, "SELECT count(*) FROM audit WHERE action = 'catalog.apply'"), 2);
    catalog_unref(wanted);
    arena_free(arena);
}

static void another_version_than_expected_changes_nothing(void **state)
{
    const struct catalog_editor editor = edit(state);
    struct arena *arena = editor.arena;
    struct catalog *catalog = load(TREE("B", ""));
    Torg__V1__CatalogChange change;
    int64_t version;
    struct err err;

    assert_int_equal(apply(&editor, TREE("A", ""), 3, false, &change, &err), ERR_CONFLICT);
    assert_int_equal(current(&editor), 0);
    assert_int_equal(apply(&editor, TREE("A", ""), 0, false, &change, &err), 0);
    assert_int_equal(apply(&editor, TREE("B", ""), 0, false, &change, &err), ERR_CONFLICT);
    assert_non_null(strstr(err.text, "version 1 of the catalogue is in use, not 0"));
    /* The store itself holds to it, not only the look before. */
    assert_int_equal(versions_add(editor.store, catalog, 0, "x", 1, &version, &err), ERR_CONFLICT);
    assert_non_null(strstr(err.text, "version 1 of the catalogue is in use, not 0"));
    assert_int_equal(read_integer(editor.store, "SELECT count(*) FROM catalog_version"), 1);
    assert_int_equal(
        read_integer(editor.store, "SELECT count(*) FROM audit WHERE action = 'catalog.apply'"), 1);
    catalog_unref(catalog);
    arena_free(arena);
}

static void the_same_catalogue_again_keeps_its_version(void **state)
{
    const struct catalog_editor editor = edit(state);
    struct arena *arena = editor.arena;
    Torg__V1__CatalogChange change;
    struct err err;

    assert_int_equal(apply(&editor, TREE("A", ""), 0, false, &change, &err), 0);
    assert_int_equal(apply(&editor, TREE("A", ""), 1, false, &change, &err), 0);
    assert_int_equal(change.to_version, 1);
    assert_int_equal(change.n_categories, 0);
    assert_int_equal(current(&editor), 1);
    arena_free(arena);
}

struct rival {
    struct store *store;
    const struct catalog *catalog;
    pthread_t thread;
    int64_t version;
    int rc;
};

static void *compete(void *arg)
{
    struct rival *rival = arg;
    struct err err;

    rival->rc = versions_add(rival->store, rival->catalog, 0, "rival", 1, &rival->version, &err);
    return NULL;
}

static void of_several_at_once_one_wins(void **state)
{
    const struct catalog_editor editor = edit(state);
    struct arena *arena = editor.arena;
    struct catalog *catalog = load(TREE("A", ""));
    struct rival rivals[RIVAL_COUNT];
    int won = 0;

    for (int i = 0; i < RIVAL_COUNT; i++) {
        rivals[i] = (struct rival){.store = editor.store, .catalog = catalog};
        assert_int_equal(pthread_create(&rivals[i].thread, NULL, compete, &rivals[i]), 0);
    }
    for (int i = 0; i < RIVAL_COUNT; i++) {
        pthread_join(rivals[i].thread, NULL);
        won += rivals[i].rc == 0;
        assert_true(rivals[i].rc == 0 || rivals[i].rc == ERR_CONFLICT);
    }
    assert_int_equal(won, 1);
    assert_int_equal(current(&editor), 1);
    assert_int_equal(read_integer(editor.store, "SELECT count(*) FROM catalog_version"), 1);
    catalog_unref(catalog);
    arena_free(arena);
}

/* --- offers --- */

/* Says that two offers of each category it is asked about break, and remembers which it was. */
struct fake_offers {
    struct catalog_impact impact;
    char asked[64];
    int rc;
    int64_t count;
};

static int count_broken(struct catalog_impact *self, const struct category *before,
                        const struct category *after, struct arena *arena,
                        struct catalog_broken *broken, struct err *err)
{
    struct fake_offers *offers = container_of(self, struct fake_offers, impact);
    size_t used = strlen(offers->asked);

    snprintf(offers->asked + used, sizeof(offers->asked) - used, "%s%s", before->id,
             after ? "~" : "-");
    broken->offer_count = offers->count;
    broken->samples[0] = arena_printf(arena, "offer-of-%s", before->id);
    broken->sample_count = 1;
    broken->reason = "N is required";
    return offers->rc ? err_set(err, offers->rc, "offers do not answer") : 0;
}

static void broken_offers_hold_a_change_until_forced(void **state)
{
    struct catalog_editor editor = edit(state);
    struct arena *arena = editor.arena;
    struct fake_offers offers = {.impact = {count_broken}, .count = 2};
    const char *next = TREE("A", ", \"attributes\": [\"n\"]");
    struct catalog *catalog = load(next);
    Torg__V1__CatalogChange change;
    struct err err;

    assert_int_equal(apply(&editor, TREE("A", ""), 0, false, &change, &err), 0);
    editor.impact = &offers.impact;
    /* Only categories whose rules change are asked about: b inherits the change, z has none. */
    torg__v1__catalog_change__init(&change);
    assert_int_equal(catalog_diff(&editor, catalog, &change, &err), 0);
    assert_string_equal(offers.asked, "a~b~");
    assert_true(change.offers_checked);
    assert_int_equal(change.broken_offer_count, 4);
    assert_int_equal(change.n_broken, 2);
    assert_string_equal(change.broken[1]->category, "b");
    assert_string_equal(change.broken[1]->sample_offers[0], "offer-of-b");
    assert_int_equal(apply(&editor, next, 1, false, &change, &err), ERR_PRECONDITION);
    assert_non_null(strstr(err.text, "4 stored offers would break a rule, in 2 categories (a: 2, "
                                     "such as offer-of-a)"));
    assert_int_equal(current(&editor), 1);
    assert_int_equal(apply(&editor, next, 1, true, &change, &err), 0);
    assert_int_equal(change.to_version, 2);
    catalog_unref(catalog);
    arena_free(arena);
}

static void removed_categories_are_asked_about_and_names_are_not(void **state)
{
    struct catalog_editor editor = edit(state);
    struct arena *arena = editor.arena;
    struct fake_offers offers = {.impact = {count_broken}};
    Torg__V1__CatalogChange change;
    struct err err;

    assert_int_equal(apply(&editor, TREE("A", ""), 0, false, &change, &err), 0);
    editor.impact = &offers.impact;
    assert_int_equal(apply(&editor, TREE("Another name", ""), 1, false, &change, &err), 0);
    assert_string_equal(offers.asked, "");
    assert_int_equal(apply(&editor, "{\"categories\": []}", 2, false, &change, &err), 0);
    assert_string_equal(offers.asked, "a-b-z-");
    assert_int_equal(change.n_broken, 0);
    offers.rc = ERR_UNAVAILABLE;
    assert_int_equal(apply(&editor, TREE("A", ""), 3, false, &change, &err), 0);
    assert_int_equal(apply(&editor, "{\"categories\": []}", 4, false, &change, &err),
                     ERR_UNAVAILABLE);
    assert_string_equal(err.text, "offers of the category a: offers do not answer");
    assert_int_equal(current(&editor), 4);
    arena_free(arena);
}

static const struct test_case cases[] = {
    CASE(what_was_applied_is_in_use_and_comes_back),
    CASE(another_version_than_expected_changes_nothing),
    CASE(the_same_catalogue_again_keeps_its_version),
    CASE(of_several_at_once_one_wins),
    CASE(broken_offers_hold_a_change_until_forced),
    CASE(removed_categories_are_asked_about_and_names_are_not),
};

int main(int argc, char **argv)
{
    static const struct backend backends[] = {{.name = "sqlite"},
                                              {.name = "postgres", .postgres = true}};
    static struct case_list list = {.name = "catalog", .set_up = set_up, .tear_down = tear_down};

    for (size_t i = 0; i < ARRAY_COUNT(backends); i++)
        cases_add(&list, cases, ARRAY_COUNT(cases), backends[i].name, &backends[i]);
    return cases_run(&list, argc, argv);
}
