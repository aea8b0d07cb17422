/* SPDX-License-Identifier: Apache-2.0 */
/* Unit tests of what a speller keeps: the same answers after a restart, and no damage believed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/file.h"
#include "base/log.h"
#include "spell_world.h"
#include "test_dir.h"

enum { FILE_SIZE_MAX = 1 << 20 };

struct place {
    char dir[TEST_DIR_SIZE];
    char path[TEST_DIR_SIZE + 16];
};

static int make_place(void **state)
{
    struct place *place = calloc(1, sizeof(*place));

    assert_true(test_dir_make(place->dir));
    snprintf(place->path, sizeof(place->path), "%s/learnt", place->dir);
    *state = place;
    return 0;
}

static int remove_place(void **state)
{
    struct place *place = *state;

    dir_remove(place->dir, NULL);
    free(place);
    return 0;
}

static void save_some(const char *path)
{
    struct speller *speller = world_speller(path);

    assert_true(speller_sizes(speller).is_fresh);
    world_learn(speller, "сиамский кот, Smasung", 30);
    world_learn(speller, "промокодный код", 30);
    assert_int_equal(speller_note(speller).size, 0);
    assert_int_equal(speller_save(speller, bytes_of("as far as 17"), NULL), 0);
    speller_close(speller);
}

static void what_was_learnt_is_there_after_a_restart(void **state)
{
    const struct place *place = *state;
    struct speller *speller;
    struct speller_sizes sizes;

    save_some(place->path);
    speller = world_speller(place->path);
    sizes = speller_sizes(speller);
    assert_false(sizes.is_fresh);
    assert_true(bytes_equal_text(speller_note(speller), "as far as 17"));
    assert_int_equal(sizes.pair_count, 2);
    assert_int_equal(sizes.seen_count, 150);
    assert_string_equal(world_correct(speller, "smasung"), "smasung");
    assert_string_equal(world_correct(speller, "сиамский коь"), "сиамский кот");
    assert_string_equal(world_correct(speller, "промокодный коь"), "промокодный код");
    world_learn(speller, "сиамский кот", 1); /* and learning goes on */
    assert_int_equal(speller_save(speller, BYTES_EMPTY, NULL), 0);
    assert_int_equal(speller_sizes(speller).seen_count, 152);
    speller_close(speller);
}

static void a_damaged_file_is_refused_and_learnt_anew(void **state)
{
    const struct place *place = *state;
    struct buf file = BUF_INIT(FILE_SIZE_MAX);

    log_setup(LOG_FORMAT_JSON, LOG_LEVEL_ERROR, STDERR_FILENO);
    save_some(place->path);
    assert_int_equal(file_read(place->path, &file, NULL), 0);
    for (size_t i = 0; i < 2 * file.size; i++) {
        size_t size = i < file.size ? file.size : i - file.size;
        struct speller *speller;
        struct speller_sizes sizes;

        if (i < file.size)
            file.data[i] ^= 0x10;
        assert_int_equal(file_write(place->path, bytes_make(file.data, size), NULL), 0);
        speller = world_speller(place->path);
        sizes = speller_sizes(speller);
        assert_true(sizes.is_fresh);
        assert_int_equal(speller_note(speller).size, 0);
        assert_int_equal(sizes.seen_count, 0);
        assert_int_equal(sizes.pair_count, 0);
        speller_close(speller);
        if (i < file.size)
            file.data[i] ^= 0x10;
    }
    buf_release(&file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_was_learnt_is_there_after_a_restart, make_place,
                                        remove_place),
        cmocka_unit_test_setup_teardown(a_damaged_file_is_refused_and_learnt_anew, make_place,
                                        remove_place),
    };

    return cmocka_run_group_tests_name("spell-snapshot", tests, NULL, NULL);
}
