/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Snippets in memory (snippets/rows/cache.h): what is kept and what is not, how much; and, with
 * many threads that write, load and read at once, that no page shows less than was acknowledged
 * before it was asked for, half a group, or parts of two loads.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/memory.h"
#include "base/metrics.h"
#include "base/random.h"
#include "long.h"
#include "snippets/bounds.h"
#include "snippets/intake/load.h"
#include "snippets/requests/snippets.h"
#include "snippets/rows/cache.h"
#include "store/migrate.h"
#include "test_dir.h"

#define OK(call)                                                                                   \
    do {                                                                                           \
        if (call)                                                                                  \
            fail_msg("%s: %s", #call, err.text);                                                   \
    } while (0)

/* Of a thread that is not cmocka's. */
#define FAIL(...)                                                                                  \
    do {                                                                                           \
        fprintf(stderr, __VA_ARGS__);                                                              \
        abort();                                                                                   \
    } while (0)
#define DONE(call)                                                                                 \
    do {                                                                                           \
        if (call)                                                                                  \
            FAIL("%s: %s\n", #call, err.text);                                                     \
    } while (0)

enum { PREFIX = 7, NOW_US = 1000 };

/* --- one thread --- */

/* A page of one snippet and one key. */
struct look {
    struct arena *arena;
    struct snippet_grid grid;
    struct snippet_glance glance;
};

static bool look(struct look *look, struct snippet_cache *cache, const char *key,
                 const char *language)
{
    const int64_t prefix = PREFIX;
    const struct bytes bytes = bytes_of(key);

    snippet_grid_init(&look->grid, &prefix, 1, &bytes, 1, bytes_of(language), look->arena);
    return !snippet_cache_find(cache, &look->grid, NOW_US, look->arena, &look->glance);
}

static void keep(struct look *look, struct snippet_cache *cache, const struct snippet_row *row)
{
    look->grid.cells[0] = row;
    snippet_cache_keep(cache, &look->grid, &look->glance);
}

static struct snippet_row row_of(const char *body)
{
    return (struct snippet_row){.prefix = PREFIX,
                                .key = bytes_of("k"),
                                .body = bytes_of(body),
                                .written_us = 5,
                                .end_us = SNIPPET_FOR_EVER};
}

static void what_was_read_is_known(void **state)
{
    struct snippet_cache *cache = snippet_cache_new();
    struct look at = {.arena = arena_new()};
    struct snippet_row row = row_of("one");

    (void)state;
    assert_false(look(&at, cache, "k", ""));
    keep(&at, cache, &row);
    assert_true(look(&at, cache, "k", ""));
    assert_string_equal((const char *)at.grid.cells[0]->body.data, "one");
    assert_int_equal(at.grid.cells[0]->written_us, 5);
    assert_false(look(&at, cache, "k", "ru")); /* nobody knows whether there is one */
    keep(&at, cache, &row);
    assert_true(look(&at, cache, "k", "ru"));
    assert_int_equal(at.grid.cells[0]->language.size, 0);
    assert_false(look(&at, cache, "other", ""));
    keep(&at, cache, NULL);
    assert_true(look(&at, cache, "other", "")); /* that there is nothing */
    assert_null(at.grid.cells[0]);
    row.end_us = NOW_US;
    assert_false(look(&at, cache, "k", "en"));
    keep(&at, cache, &row);
    assert_false(look(&at, cache, "k", "en")); /* it has ended */
    arena_free(at.arena);
    snippet_cache_free(cache);
}

/* Of a key that is written, what is known of its other snippets is not shown beside the store's. */
static void a_key_is_known_whole_or_not(void **state)
{
    const int64_t prefixes[] = {PREFIX, PREFIX + 1};
    const struct bytes key = bytes_of("k");
    struct snippet_cache *cache = snippet_cache_new();
    struct look at = {.arena = arena_new()};
    struct snippet_row row = row_of("one");

    (void)state;
    assert_false(look(&at, cache, "k", ""));
    keep(&at, cache, &row);
    snippet_grid_init(&at.grid, prefixes, 2, &key, 1, BYTES_EMPTY, at.arena);
    assert_int_equal(snippet_cache_find(cache, &at.grid, NOW_US, at.arena, &at.glance), 1);
    assert_true(at.glance.keys[0].is_missing);
    assert_null(at.grid.cells[0]);
    arena_free(at.arena);
    snippet_cache_free(cache);
}

static struct store *open_store(void)
{
    struct store *store;
    struct err err;

    OK(store_open("sqlite::memory:", &store, &err));
    OK(store_migrate(store, NULL, &err));
    return store;
}

static void what_is_written_is_not_known(void **state)
{
    struct snippet_cache *cache = snippet_cache_new();
    struct store *store = open_store();
    struct look at = {.arena = arena_new()};
    struct snippet_row old = row_of("old"), new = row_of("new");
    const struct snippet_part part = {.rows = &new, .count = 1};
    struct err err;

    (void)state;
    assert_false(look(&at, cache, "k", ""));
    keep(&at, cache, &old);
    assert_false(look(&at, cache, "k", "ru"));
    keep(&at, cache, &old);
    OK(snippet_cache_write(cache, store, &part, 1, NULL, NULL, &err));
    assert_false(look(&at, cache, "k", "ru"));
    assert_false(look(&at, cache, "k", ""));
    /* It was read before the write, and would be kept after it. */
    OK(snippet_cache_write(cache, store, &part, 1, NULL, NULL, &err));
    keep(&at, cache, &old);
    assert_false(look(&at, cache, "k", ""));
    store_close(store);
    arena_free(at.arena);
    snippet_cache_free(cache);
}

static void another_generation_is_not_known(void **state)
{
    const int64_t prefix = PREFIX;
    const struct snippet_prefix_list all = {&prefix, 1};
    struct snippet_cache *cache = snippet_cache_new();
    struct look at = {.arena = arena_new()};
    struct snippet_row row = row_of("old");

    (void)state;
    assert_false(look(&at, cache, "k", ""));
    keep(&at, cache, &row);
    assert_true(look(&at, cache, "k", ""));
    snippet_cache_hold_all(cache, &all);
    assert_false(snippet_cache_is_current(cache, &at.grid, &at.glance));
    assert_false(look(&at, cache, "k", ""));
    assert_true(snippet_cache_is_current(cache, &at.grid, &at.glance)); /* all is the store's */
    keep(&at, cache, &row);
    snippet_cache_let_go_all(cache, &all);
    assert_false(look(&at, cache, "k", ""));
    arena_free(at.arena);
    snippet_cache_free(cache);
}

static void memory_is_bounded_and_what_is_asked_for_stays(void **state)
{
    enum { COUNT = 2 * (SNIPPET_CACHE_SIZE_MAX / SNIPPET_CACHE_BODY_SIZE_MAX) };
    struct gauge *size = metrics_gauge("torg_snippets_cache_bytes", NULL, "");
    char *body = mem_zero(SNIPPET_CACHE_BODY_SIZE_MAX + 2);
    struct snippet_cache *cache = snippet_cache_new();
    struct look at = {.arena = arena_new()};
    struct snippet_row row = row_of("hot");

    (void)state;
    memset(body, 'x', SNIPPET_CACHE_BODY_SIZE_MAX + 1);
    look(&at, cache, "hot", "");
    keep(&at, cache, &row);
    row.body = bytes_make(body, SNIPPET_CACHE_BODY_SIZE_MAX);
    for (int i = 0; i < COUNT; i++) {
        char key[32];

        snprintf(key, sizeof(key), "k-%d", i);
        assert_false(look(&at, cache, key, ""));
        keep(&at, cache, &row);
        if (i == COUNT - 1)
            assert_true(look(&at, cache, key, ""));
        assert_true(atomic_load(&size->value) <= SNIPPET_CACHE_SIZE_MAX);
        assert_true(look(&at, cache, "hot", ""));
        arena_reset(at.arena);
    }
    assert_false(look(&at, cache, "k-0", ""));
    row.body.size++;
    assert_false(look(&at, cache, "large", ""));
    keep(&at, cache, &row);
    assert_false(look(&at, cache, "large", ""));
    arena_free(at.arena);
    snippet_cache_free(cache);
    assert_int_equal(atomic_load(&size->value), 0);
    free(body);
}

/* --- many threads --- */

enum { KEY_COUNT = 6, WRITER_COUNT = 3, READER_COUNT = 3 };

/* Writers put even numbers and delete at odd ones, each the keys of its own; the loader loads all
 * keys with its next number. */
struct crowd {
    struct snippets *snippets;
    _Atomic int64_t begun[KEY_COUNT], done[KEY_COUNT];
    _Atomic int64_t load_begun, load_done;
    atomic_int left; /* threads that write */
    int64_t write_count;
    _Atomic size_t page_count, at_hand_count;
    uint64_t seed;
};

struct member {
    struct crowd *crowd;
    int number;
    pthread_t thread;
};

static struct bytes key_name(int key, struct arena *arena)
{
    return bytes_of(arena_printf(arena, "key-%d", key));
}

static void *write_keys(void *arg)
{
    struct member *member = arg;
    struct crowd *crowd = member->crowd;
    struct arena *arena = arena_new();
    struct err err;

    for (int64_t i = 1; i <= crowd->write_count; i++) {
        for (int key = member->number; key < KEY_COUNT; key += WRITER_COUNT) {
            const struct snippet_body body = {
                .key = key_name(key, arena),
                .body = bytes_of(arena_printf(arena, "%jd", (intmax_t)i))};

            atomic_store(&crowd->begun[key], i);
            if (i % 2)
                DONE(snippets_delete(crowd->snippets, bytes_of("g"), body.key, BYTES_EMPTY, arena,
                                     &err));
            else
                DONE(snippets_put(crowd->snippets, bytes_of("g"), &body, arena, &err));
            atomic_store(&crowd->done[key], i);
        }
        arena_reset(arena);
    }
    arena_free(arena);
    atomic_fetch_sub(&crowd->left, 1);
    return NULL;
}

static void *load_all(void *arg)
{
    struct crowd *crowd = ((struct member *)arg)->crowd;
    struct arena *arena = arena_new();
    struct snippet_load_row rows[KEY_COUNT];
    struct snippet_difference difference;
    struct snippet_load_count counts;
    struct bytes name = bytes_of("all");
    struct err err;

    for (int64_t i = 1; i <= crowd->write_count; i++) {
        int64_t load;

        for (int key = 0; key < KEY_COUNT; key++)
            rows[key] = (struct snippet_load_row){
                .place = key + 1,
                .body = {.key = key_name(key, arena),
                         .body = bytes_of(arena_printf(arena, "%jd", (intmax_t)i))}};
        DONE(snippets_load_begin(crowd->snippets, name, &load, &err));
        DONE(snippets_load_add(crowd->snippets, name, load, rows, KEY_COUNT, arena, &counts, &err));
        atomic_store(&crowd->load_begun, i);
        DONE(snippets_load_finish(crowd->snippets, name, load, 100, false, &difference, &err));
        atomic_store(&crowd->load_done, i);
        arena_reset(arena);
    }
    arena_free(arena);
    atomic_fetch_sub(&crowd->left, 1);
    return NULL;
}

/* What a page has of each key: -1: nothing. */
struct shown {
    int64_t of[3][KEY_COUNT]; /* g/a, g/b, all */
};

static void take_page(const struct snippet_found *list, size_t count, struct shown *shown)
{
    static const char *const names[] = {"g/a", "g/b", "all"};

    memset(shown, 0xff, sizeof(*shown));
    for (size_t i = 0; i < count; i++) {
        int name = 0;

        while (strcmp(names[name], list[i].name) != 0)
            name++;
        shown->of[name][list[i].row.key.data[4] - '0'] =
            strtoll((const char *)list[i].row.body.data, NULL, 10);
    }
}

static void check_key(const struct crowd *crowd, int key, const struct shown *shown, int64_t floor)
{
    int64_t a = shown->of[0][key], b = shown->of[1][key], top = atomic_load(&crowd->begun[key]);

    if (a != b)
        FAIL("seed %ju: half a group: %jd and %jd\n", (uintmax_t)crowd->seed, (intmax_t)a,
             (intmax_t)b);
    if (a < 0 ? floor && floor % 2 == 0 && top == floor : a < floor || a > top)
        FAIL("seed %ju: key %d shows %jd, %jd was acknowledged before\n", (uintmax_t)crowd->seed,
             key, (intmax_t)a, (intmax_t)floor);
}

static void *read_pages(void *arg)
{
    struct member *member = arg;
    struct crowd *crowd = member->crowd;
    struct rng rng = rng_seeded(crowd->seed + (uint64_t)member->number);
    const struct bytes names[] = {bytes_of("g"), bytes_of("all")};
    struct arena *arena = arena_new();
    struct err err;

    while (atomic_load(&crowd->left)) {
        int64_t floors[KEY_COUNT], load_floor = atomic_load(&crowd->load_done);
        struct snippet_found *list;
        struct bytes keys[KEY_COUNT];
        struct shown shown;
        size_t count;

        for (int key = 0; key < KEY_COUNT; key++) {
            floors[key] = atomic_load(&crowd->done[key]);
            keys[key] = key_name(key, arena);
        }
        if (rng_below(&rng, 2) && snippets_batch_at_hand(crowd->snippets, names, 2, keys, KEY_COUNT,
                                                         BYTES_EMPTY, arena, &list, &count))
            atomic_fetch_add(&crowd->at_hand_count, 1);
        else
            DONE(snippets_batch(crowd->snippets, names, 2, keys, KEY_COUNT, BYTES_EMPTY, arena,
                                &list, &count, &err));
        take_page(list, count, &shown);
        for (int key = 0; key < KEY_COUNT; key++) {
            check_key(crowd, key, &shown, floors[key]);
            if (shown.of[2][key] != shown.of[2][0])
                FAIL("seed %ju: parts of two loads\n", (uintmax_t)crowd->seed);
        }
        if ((load_floor && shown.of[2][0] < load_floor) ||
            shown.of[2][0] > atomic_load(&crowd->load_begun))
            FAIL("seed %ju: load %jd, %jd was acknowledged before\n", (uintmax_t)crowd->seed,
                 (intmax_t)shown.of[2][0], (intmax_t)load_floor);
        atomic_fetch_add(&crowd->page_count, 1);
        arena_reset(arena);
    }
    arena_free(arena);
    return NULL;
}

static void pages_show_no_less_than_was_acknowledged(void **state)
{
    static const char config[] = "Body { Output: TEXT Sections { Name: 'all' } Sections { Name: "
                                 "'g' Body { Sections { Name: 'a' } Sections { Name: 'b' } } } }";
    struct snippets_options options = {.allots = true, .clock = clock_system()};
    struct crowd crowd = {.left = WRITER_COUNT + 1};
    struct member members[WRITER_COUNT + READER_COUNT + 1];
    char dir[TEST_DIR_SIZE], path[TEST_DIR_SIZE + 32];
    struct err err;

    (void)state;
    crowd.seed = getenv("TORG_SEED") ? strtoull(getenv("TORG_SEED"), NULL, 10) : random_u64();
    crowd.write_count = test_count("TORG_WRITE_COUNT", 200, 5000);
    options.store = open_store();
    test_dir_make(dir);
    snprintf(path, sizeof(path), "%s/snippets.pb.txt", dir);
    OK(file_write(path, bytes_of(config), &err));
    options.config_path = path;
    OK(snippets_open(&options, &crowd.snippets, &err));
    for (int i = 0; i < WRITER_COUNT + READER_COUNT + 1; i++) {
        members[i] = (struct member){.crowd = &crowd, .number = i};
        assert_int_equal(pthread_create(&members[i].thread, NULL,
                                        i < WRITER_COUNT    ? write_keys
                                        : i == WRITER_COUNT ? load_all
                                                            : read_pages,
                                        &members[i]),
                         0);
    }
    for (int i = 0; i < WRITER_COUNT + READER_COUNT + 1; i++)
        pthread_join(members[i].thread, NULL);
    print_message("# %zu pages, %zu of them from memory; seed %ju\n",
                  atomic_load(&crowd.page_count), atomic_load(&crowd.at_hand_count),
                  (uintmax_t)crowd.seed);
    snippets_close(crowd.snippets);
    store_close(options.store);
    OK(dir_remove(dir, &err));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_read_is_known),
        cmocka_unit_test(a_key_is_known_whole_or_not),
        cmocka_unit_test(what_is_written_is_not_known),
        cmocka_unit_test(another_generation_is_not_known),
        cmocka_unit_test(memory_is_bounded_and_what_is_asked_for_stays),
        cmocka_unit_test(pages_show_no_less_than_was_acknowledged),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
