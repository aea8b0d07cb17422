/* SPDX-License-Identifier: Apache-2.0 */
/* Unit tests of photos/ledger.h: which of a photo's pictures is the smallest. */
#include "photos/ledger.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "store/migrate.h"

#define STEM "0123456789abcdef0123456789abcdef01234567"

struct scene {
    struct arena *arena;
    struct clock_manual clock;
    struct ledger ledger;
};

static int set_up(void **state)
{
    static struct scene scene;
    struct err err;

    scene = (struct scene){.arena = arena_new()};
    clock_manual_init(&scene.clock, INT64_C(0xabc) * MS_US);
    scene.ledger.clock = &scene.clock.base;
    if (store_open("sqlite::memory:", &scene.ledger.store, &err) ||
        store_migrate(scene.ledger.store, NULL, &err))
        fail_msg("%s", err.text);
    *state = &scene;
    return 0;
}

static int tear_down(void **state)
{
    struct scene *scene = *state;

    store_close(scene->ledger.store);
    arena_free(scene->arena);
    return 0;
}

static void enter(struct scene *scene, const char *forms)
{
    struct err err;
    int64_t made_ms;

    if (ledger_enter(&scene->ledger, bytes_of(STEM), forms, NULL, scene->arena, &made_ms, &err))
        fail_msg("%s", err.text);
}

static const char *smallest(struct scene *scene)
{
    const char *key = "none";
    struct err err;
    int rc = ledger_smallest(&scene->ledger, bytes_of(STEM), scene->arena, &key, &err);

    assert_true(!rc || rc == ERR_NOT_FOUND);
    return key;
}

static void forms_of_another_version_may_be_smaller(void **state)
{
    struct scene *scene = *state;

    assert_string_equal(smallest(scene), "none");
    enter(scene, "up:89");
    assert_string_equal(smallest(scene), "none"); /* the file is no picture */
    enter(scene, "up:89 240.jpg 1200.jpg");
    assert_string_equal(smallest(scene), STEM "-abc-240.jpg");
    enter(scene, "up:89 96.webp 240.webp"); /* behind those that were there */
    assert_string_equal(smallest(scene), STEM "-abc-96.webp");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(forms_of_another_version_may_be_smaller, set_up, tear_down),
    };

    return cmocka_run_group_tests_name("photos-ledger", tests, NULL, NULL);
}
