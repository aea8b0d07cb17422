/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A page of offers whose store of snippets is away or slow (search/glue.h over
 * snippets/requests/page.h): it has its offers, lacks its snippets and says so, and has waited no
 * longer than its own time.
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
#include "patience.h"
#include "search/glue.h"
#include "snippets/bounds.h"
#include "snippets/requests/page.h"
#include "store/migrate.h"
#include "store/store_fault.h"
#include "test_dir.h"

#define OK(call)                                                                                   \
    do {                                                                                           \
        if (call)                                                                                  \
            fail_msg("%s: %s", #call, err.text);                                                   \
    } while (0)

enum { FOR_EVER = 1 << 30, SLOW_MS = 10000, WAIT_MS = 20 };

struct world {
    struct store *store;
    char dir[TEST_DIR_SIZE];
    struct snippets *snippets;
    struct snippet_pages *pages;
    struct search search;
    struct arena *arena;
};

static int read_snippets(void *arg, char *const *names, size_t name_count, char *const *keys,
                         size_t key_count, const char *language, struct arena *arena,
                         Torg__V1__Snippet ***list, size_t *count, struct err *err)
{
    return snippet_pages_read(arg, names, name_count, keys, key_count, language, arena, list, count,
                              err);
}

static void begin(struct world *world, int64_t wait_us)
{
    struct snippets_options options = {.allots = true, .clock = clock_system()};
    const struct snippet_body body = {.key = bytes_of("o-1"), .body = bytes_of("new")};
    char path[TEST_DIR_SIZE + 32];
    struct err err;

    *world = (struct world){0};
    OK(store_open("fault:sqlite::memory:", &world->store, &err));
    OK(store_migrate(world->store, NULL, &err));
    test_dir_make(world->dir);
    snprintf(path, sizeof(path), "%s/snippets.pb.txt", world->dir);
    OK(file_write(path, bytes_of("Body { Output: TEXT Sections { Name: 'badge' } }"), &err));
    options.config_path = path;
    options.store = world->store;
    OK(snippets_open(&options, &world->snippets, &err));
    world->arena = arena_new();
    OK(snippets_put(world->snippets, bytes_of("badge"), &body, world->arena, &err));
    world->pages = snippet_pages_new(world->snippets, clock_system(), wait_us);
    world->search = (struct search){.snippets = read_snippets, .snippets_arg = world->pages};
}

static void end(struct world *world)
{
    struct err err;

    for (int i = 0; i < STORE_FAULT_POINT_COUNT; i++)
        store_fault_arm(world->store, (enum store_fault_point)i, 0, 0);
    snippet_pages_free(world->pages);
    snippets_close(world->snippets);
    store_close(world->store);
    OK(dir_remove(world->dir, &err));
    arena_free(world->arena);
}

/* A page of one offer; its badge, or NULL. */
static const char *badge_of(struct world *world, const char *id, bool *lacks)
{
    Torg__V1__SearchOffersRequest request = TORG__V1__SEARCH_OFFERS_REQUEST__INIT;
    Torg__V1__SearchOffersResponse response = TORG__V1__SEARCH_OFFERS_RESPONSE__INIT;
    Torg__V1__FoundOffer offer = TORG__V1__FOUND_OFFER__INIT, *offers[] = {&offer};
    char *names[] = {(char *)"badge"};

    offer.id = (char *)id;
    response.offers = offers;
    response.n_offers = 1;
    request.snippet_names = names;
    request.n_snippet_names = 1;
    glue_snippets(&world->search, &request, "", world->arena, &response);
    assert_int_equal(response.n_offers, 1);
    *lacks = response.lacks_snippets;
    return offer.n_snippets ? offer.snippets[0]->text : NULL;
}

static const char *badge(struct world *world, bool *lacks)
{
    return badge_of(world, "o-1", lacks);
}

/* Of a page that nobody has seen yet: others are in memory. */
static void a_store_that_is_away_costs_the_snippets_alone(void **state)
{
    struct world world;
    bool lacks;

    (void)state;
    begin(&world, PATIENCE_MS * 1000ll);
    assert_string_equal(badge(&world, &lacks), "new");
    assert_false(lacks);
    store_fault_arm(world.store, STORE_FAULT_BEGIN, 0, FOR_EVER);
    assert_null(badge_of(&world, "o-2", &lacks));
    assert_true(lacks);
    assert_string_equal(badge(&world, &lacks), "new");
    assert_false(lacks);
    store_fault_arm(world.store, STORE_FAULT_BEGIN, 0, 0);
    assert_string_equal(badge(&world, &lacks), "new");
    assert_false(lacks);
    end(&world);
}

/* However many pages come: threads and places are bounded, and nobody waits for the store. */
static void a_store_that_is_slow_costs_the_snippets_alone(void **state)
{
    int64_t begun_us, each_us, longest_us = 0, page;
    struct world world;
    bool lacks;

    (void)state;
    begin(&world, WAIT_MS * 1000ll);
    store_fault_delay(world.store, SLOW_MS);
    store_fault_arm(world.store, STORE_FAULT_DELAY, 0, FOR_EVER);
    begun_us = clock_mono_us(clock_system());
    for (page = 0; page < SNIPPET_PAGE_THREAD_COUNT + SNIPPET_PAGE_QUEUE_COUNT + 10; page++) {
        each_us = clock_mono_us(clock_system());
        assert_null(badge(&world, &lacks));
        assert_true(lacks);
        each_us = clock_mono_us(clock_system()) - each_us;
        longest_us = each_us > longest_us ? each_us : longest_us;
    }
    print_message("# %d pages of a wait of %d ms in %d ms, the longest in %d ms\n", (int)page,
                  WAIT_MS, (int)((clock_mono_us(clock_system()) - begun_us) / 1000),
                  (int)(longest_us / 1000));
    store_fault_arm(world.store, STORE_FAULT_DELAY, 0, 0);
    end(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_store_that_is_away_costs_the_snippets_alone),
        cmocka_unit_test(a_store_that_is_slow_costs_the_snippets_alone)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
