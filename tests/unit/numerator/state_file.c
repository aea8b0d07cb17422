/* SPDX-License-Identifier: Apache-2.0 */
/* The file of a state: comes back as it was; damage of every kind is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/memory.h"
#include "numerator/state.h"
#include "test_dir.h"

enum { KEY_COUNT = 60 };

static const struct number_version version = {1, 2, 3, 0};
static const char *const places[] = {"", "cars", "велосипеды"};

/* With classes, keys that have not been seen for a while, and free numbers. */
static struct number_state *make(uint32_t shard_count)
{
    const struct number_rules rules = {.ttl_generations = 1, .hold_generations = 1};
    struct number_state *state = number_state_new(&version, shard_count, &rules);
    char texts[KEY_COUNT + 30][16];
    struct number_present keys[KEY_COUNT];
    struct number_run run;
    struct err err = {0};

    for (int i = 0; i < 6; i++) {
        for (int j = 0; j < KEY_COUNT; j++) {
            int key = j + 5 * i;

            snprintf(texts[key], sizeof(texts[key]), "key-%d", key);
            keys[j] = (struct number_present){.key = bytes_of(texts[key]),
                                              .place = bytes_of(places[key % 3])};
        }
        assert_int_equal(
            number_state_run(state, keys, KEY_COUNT, &(struct number_run_options){0}, &run, &err),
            0);
    }
    assert_true(run.expired_count > 0);
    number_state_set_lineage(state, 0xFEED0001);
    return state;
}

struct place {
    char dir[TEST_DIR_SIZE];
    char path[TEST_DIR_SIZE + 16];
};

static void place_make(struct place *place)
{
    assert_true(test_dir_make(place->dir));
    snprintf(place->path, sizeof(place->path), "%s/state", place->dir);
}

/* The file's bytes; the caller releases them. */
static struct buf written(const struct number_state *state)
{
    struct buf file = BUF_INIT(1 << 20);
    struct place place;
    struct err err = {0};

    place_make(&place);
    if (number_state_write(state, place.path, &err) || file_read(place.path, &file, &err))
        fail_msg("%s", err.text);
    dir_remove(place.dir, &err);
    return file;
}

static void assert_same(const struct number_state *a, const struct number_state *b)
{
    struct number_version left = number_state_version(a), right = number_state_version(b);

    assert_memory_equal(&left, &right, sizeof(left));
    assert_int_equal(number_state_lineage(a), number_state_lineage(b));
    assert_int_equal(number_state_key_count(a), number_state_key_count(b));
    for (uint32_t i = 0; i < number_state_shard_count(a); i++)
        assert_int_equal(number_state_shard_size(a, i), number_state_shard_size(b, i));
    for (uint64_t i = 0; i < number_state_key_count(a); i++) {
        struct number_entry x = number_state_entry(a, i), y = number_state_entry(b, i);

        assert_true(bytes_equal(x.key, y.key) && bytes_equal(x.place, y.place));
        assert_true(x.shard == y.shard && x.doc_id == y.doc_id);
        assert_true(x.birth == y.birth && x.seen == y.seen);
    }
}

static void a_state_without_a_lineage_is_read(void **unused)
{
    struct number_state *state = make(2), *read = NULL;
    struct err err = {0};
    struct buf file;

    number_state_set_lineage(state, 0);
    file = written(state);
    assert_memory_equal(file.data, "TORGNUM1", 8); /* as of old */
    if (number_state_decode(buf_bytes(&file), &read, &err))
        fail_msg("%s", err.text);
    assert_same(state, read);
    buf_release(&file);
    number_state_free(read);
    number_state_free(state);
    (void)unused;
}

/* Both go on alike, too. */
static void what_was_written_comes_back_and_goes_on(void **unused)
{
    struct number_state *state = make(3), *read;
    struct place place;
    struct number_version head;
    struct err err = {0};

    place_make(&place);
    assert_int_equal(number_state_write(state, place.path, &err), 0);
    assert_int_equal(number_state_write(state, place.path, &err), 0); /* over the old one */
    assert_int_equal(number_state_read(place.path, &read, &err), 0);
    assert_same(state, read);
    assert_int_equal(number_state_load_version(place.path, NULL, &head, &err), 0);
    assert_int_equal(head.generation, 6);
    for (int i = 0; i < 5; i++) {
        char texts[8][16];
        struct number_present keys[2][8];
        struct number_run run;

        for (int j = 0; j < 8; j++) {
            snprintf(texts[j], sizeof(texts[j]), "more-%d-%d", i, j);
            keys[0][j] = keys[1][j] = (struct number_present){.key = bytes_of(texts[j]),
                                                              .place = bytes_of(places[j % 3])};
        }
        number_state_run(state, keys[0], 8, &(struct number_run_options){0}, &run, &err);
        number_state_run(read, keys[1], 8, &(struct number_run_options){0}, &run, &err);
        assert_same(state, read);
    }
    number_state_free(state);
    number_state_free(read);
    dir_remove(place.dir, &err);
}

static void every_flipped_bit_is_noticed(void **unused)
{
    struct number_state *state = make(1), *read;
    struct buf file = written(state);
    struct err err;

    assert_int_equal(number_state_decode(buf_bytes(&file), &read, &err), 0);
    number_state_free(read);
    for (size_t i = 0; i < file.size * 8; i++) {
        file.data[i / 8] ^= (uint8_t)(1 << i % 8);
        assert_int_equal(number_state_decode(buf_bytes(&file), &read, &err), ERR_CORRUPT);
        assert_null(read);
        file.data[i / 8] ^= (uint8_t)(1 << i % 8);
    }
    buf_release(&file);
    number_state_free(state);
}

static void a_cut_or_longer_file_is_refused(void **unused)
{
    struct number_state *state = make(1), *read;
    struct buf file = written(state);
    struct err err;

    for (size_t i = 0; i < file.size; i++) {
        uint8_t *cut = mem_alloc(i + 1); /* its own memory: reading past it would be noticed */

        memcpy(cut, file.data, i);
        assert_int_equal(number_state_decode(bytes_make(cut, i), &read, &err), ERR_CORRUPT);
        free(cut);
    }
    buf_put_byte(&file, 0);
    assert_int_equal(number_state_decode(buf_bytes(&file), &read, &err), ERR_CORRUPT);
    buf_release(&file);
    number_state_free(state);
}

static void damage_is_told_with_the_files_name(void **unused)
{
    struct number_state *state = make(1), *read;
    struct buf file = written(state);
    struct place place;
    struct err err = {0};

    place_make(&place);
    file.data[file.size / 2] ^= 1;
    assert_int_equal(file_write(place.path, buf_bytes(&file), &err), 0);
    assert_int_equal(number_state_read(place.path, &read, &err), ERR_CORRUPT);
    assert_non_null(strstr(err.text, place.path));
    assert_int_equal(file_write(place.path, BYTES_EMPTY, &err), 0);
    assert_int_equal(number_state_read(place.path, &read, &err), ERR_CORRUPT);
    assert_int_equal(number_state_read("/nowhere/state", &read, &err), ERR_NOT_FOUND);
    assert_int_equal(number_state_write(state, "/nowhere/state", &err), ERR_NOT_FOUND);
    buf_release(&file);
    number_state_free(state);
    dir_remove(place.dir, &err);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_written_comes_back_and_goes_on),
        cmocka_unit_test(a_state_without_a_lineage_is_read),
        cmocka_unit_test(every_flipped_bit_is_noticed),
        cmocka_unit_test(a_cut_or_longer_file_is_refused),
        cmocka_unit_test(damage_is_told_with_the_files_name),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
