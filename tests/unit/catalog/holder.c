/* SPDX-License-Identifier: Apache-2.0 */
/* Versions that change under readers: each sees whole ones, in order, without waiting for a load.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/memory.h"
#include "catalog/bounds.h"
#include "catalog/holder.h"
#include "catalog/versions.h"
#include "patience.h"
#include "store/migrate.h"

enum { READER_COUNT = 4, VERSION_COUNT = 30 };

static struct store *open_store(void)
{
    struct store *store;
    struct err err;

    if (store_open("sqlite::memory:", &store, &err) || store_migrate(store, NULL, &err))
        fail_msg("%s", err.text);
    return store;
}

/* Version n has n categories, and each is named after n. */
static void apply(struct store *store, int n)
{
    struct buf json = BUF_INIT(1 << 16);
    struct catalog *catalog;
    int64_t version;
    struct err err;

    buf_put_text(&json, "{\"categories\": [");
    for (int i = 0; i < n; i++)
        buf_printf(&json, "%s{\"id\": \"c%d\", \"name\": {\"ru\": \"v%d\"}}", i ? "," : "", i, n);
    buf_put_text(&json, "]}");
    if (catalog_from_json(buf_bytes(&json), NULL, &catalog, &err) ||
        versions_add(store, catalog, n - 1, "test", 1, &version, &err))
        fail_msg("%s", err.text);
    assert_int_equal(version, n);
    catalog_unref(catalog);
    buf_release(&json);
}

struct reader {
    struct catalog_holder *holder;
    _Atomic bool *stop;
    pthread_t thread;
    bool wrong;
};

/* Asserts are the main thread's: a reader only remembers. One that was given no time before the end
 * looks once. */
static void *read_for_ever(void *arg)
{
    struct reader *reader = arg;
    int64_t last = 0;

    do {
        struct catalog *catalog = catalog_holder_ref(reader->holder);
        int64_t version = catalog_version(catalog);
        size_t count;
        const struct category *const *categories = catalog_categories(catalog, &count);
        char name[16];

        snprintf(name, sizeof(name), "v%d", (int)version);
        reader->wrong |= version < last || count != (size_t)version;
        for (size_t i = 0; i < count; i++)
            reader->wrong |= strcmp(categories[i]->name.in[LANGUAGE_RU], name) != 0;
        last = version;
        catalog_unref(catalog);
    } while (!atomic_load(reader->stop));
    return NULL;
}

static void readers_see_whole_versions_in_order(void **state)
{
    struct store *store = open_store();
    struct reader readers[READER_COUNT];
    struct catalog_holder *holder;
    _Atomic bool stop = false;
    struct catalog *kept;
    struct err err;

    assert_int_equal(catalog_holder_open(store, false, &holder, &err), 0);
    kept = catalog_holder_ref(holder);
    assert_int_equal(catalog_version(kept), 0);
    for (int i = 0; i < READER_COUNT; i++) {
        readers[i] = (struct reader){.holder = holder, .stop = &stop};
        assert_int_equal(pthread_create(&readers[i].thread, NULL, read_for_ever, &readers[i]), 0);
    }
    for (int n = 1; n <= VERSION_COUNT; n++) {
        apply(store, n);
        assert_int_equal(catalog_holder_refresh(holder, &err), 0);
    }
    atomic_store(&stop, true);
    for (int i = 0; i < READER_COUNT; i++) {
        pthread_join(readers[i].thread, NULL);
        assert_false(readers[i].wrong);
    }
    /* Who holds an old version still has it. */
    assert_int_equal(catalog_version(kept), 0);
    catalog_holder_close(holder);
    catalog_unref(kept);
    store_close(store);
}

static void the_watcher_follows_by_itself(void **state)
{
    struct store *store = open_store();
    int64_t deadline_us = clock_mono_us(clock_system()) + PATIENCE_S * (int64_t)SECOND_US;
    struct catalog_holder *holder;
    int64_t version = 0;
    struct err err;

    assert_int_equal(catalog_holder_open(store, true, &holder, &err), 0);
    apply(store, 1);
    while (version != 1 && clock_mono_us(clock_system()) < deadline_us) {
        const struct timespec pause = {.tv_nsec = 5 * 1000 * 1000};
        struct catalog *catalog = catalog_holder_ref(holder);

        version = catalog_version(catalog);
        catalog_unref(catalog);
        nanosleep(&pause, NULL);
    }
    assert_int_equal(version, 1);
    catalog_holder_close(holder);
    store_close(store);
}

static int damage(struct store_tx *tx, void *arg, struct err *err)
{
    return store_exec(tx, arg, NULL, 0, NULL, err);
}

static void a_damaged_version_leaves_the_old_one_in_use(void **state)
{
    struct store *store = open_store();
    struct catalog_holder *holder;
    struct catalog *catalog;
    struct err err;
    int64_t before_us, sure_us;

    apply(store, 1);
    before_us = clock_mono_us(clock_system());
    assert_int_equal(catalog_holder_open(store, false, &holder, &err), 0);
    sure_us = catalog_holder_sure_us(holder);
    assert_true(sure_us >= before_us && sure_us <= clock_mono_us(clock_system()));
    assert_int_equal(catalog_holder_refresh(holder, &err), 0);
    assert_true(catalog_holder_sure_us(holder) >= sure_us);
    sure_us = catalog_holder_sure_us(holder);
    apply(store, 2);
    assert_int_equal(store_write(store, damage,
                                 "UPDATE catalog_version SET body = applied_by WHERE version = 2",
                                 &err),
                     0);
    assert_true(catalog_holder_refresh(holder, &err) < 0);
    assert_int_equal(catalog_holder_sure_us(holder), sure_us); /* it is not the newest */
    catalog = catalog_holder_ref(holder);
    assert_int_equal(catalog_version(catalog), 1);
    catalog_unref(catalog);
    catalog_holder_close(holder);
    /* And a start with it is refused, naming it. */
    assert_true(catalog_holder_open(store, false, &holder, &err) < 0);
    assert_null(holder);
    assert_non_null(strstr(err.text, "load the catalogue"));
    store_close(store);
}

static void apply_json(struct store *store, const char *json, int64_t before)
{
    struct catalog *catalog;
    int64_t version;
    struct err err;

    if (catalog_from_json(bytes_of(json), NULL, &catalog, &err) ||
        versions_add(store, catalog, before, "test", 1, &version, &err))
        fail_msg("%s", err.text);
    catalog_unref(catalog);
}

#define NAMED(id, more) "{\"id\": \"" id "\", \"name\": {\"ru\": \"" id "\"}" more "}"
#define UNDER(id) ", \"parent\": \"" id "\""

/* Whether the process was there when it was moved, or began later; and for some versions alone. */
static void categories_know_where_they_were(void **state)
{
    static const char *const moves[] = {
        "{\"categories\": [" NAMED("a", "") "," NAMED("b", "") "," NAMED("x", UNDER("a")) "," NAMED(
            "y", UNDER("x")) "]}",
        "{\"categories\": [" NAMED("a", "") "," NAMED("b", "") "," NAMED("x", UNDER("b")) "," NAMED(
            "y", UNDER("x")) "]}"};
    struct store *store = open_store();
    struct catalog_holder *holder;
    struct err err;

    (void)state;
    apply_json(store, moves[0], 0);
    assert_int_equal(catalog_holder_open(store, false, &holder, &err), 0);
    for (int64_t version = 1; version <= CATALOG_FORMER_COUNT_MAX + 1; version++) {
        bool is_known = version <= CATALOG_FORMER_COUNT_MAX;
        struct catalog *catalog;

        apply_json(store, moves[1], version);
        if (version % 2)
            assert_int_equal(catalog_holder_refresh(holder, &err), 0);
        else {
            catalog_holder_close(holder);
            assert_int_equal(catalog_holder_open(store, false, &holder, &err), 0);
        }
        catalog = catalog_holder_ref(holder);
        assert_int_equal(category_find(catalog, "x")->former_count, is_known);
        assert_int_equal(category_find(catalog, "y")->former_count, is_known);
        if (is_known)
            assert_string_equal(category_find(catalog, "y")->former[0], "a/x/y");
        assert_int_equal(category_find(catalog, "b")->has_former, is_known);
        assert_int_equal(category_find(catalog, "b")->former_count, 0);
        assert_false(category_find(catalog, "a")->has_former);
        catalog_unref(catalog);
    }
    catalog_holder_close(holder);
    store_close(store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(readers_see_whole_versions_in_order),
        cmocka_unit_test(the_watcher_follows_by_itself),
        cmocka_unit_test(categories_know_where_they_were),
        cmocka_unit_test(a_damaged_version_leaves_the_old_one_in_use),
    };

    return cmocka_run_group_tests_name("catalog holder", tests, NULL, NULL);
}
