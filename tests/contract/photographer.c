/* SPDX-License-Identifier: Apache-2.0 */
/* photographer.c - the demo's photos: files of its own addresses, and of no others. The program's
 * argument is torg-easel. */
#include "contract/cases.h"

#include <stdio.h>

#include "base/buf.h"
#include "demo/generator.h"
#include "demo/photographer.h"
#include "photos/photo_folder.h"

static const char *easel;

static void make(const struct photo_maker *maker, const char *url, struct buf *file)
{
    struct arena *arena = arena_new();
    struct err err;

    buf_init(file, 1 << 20);
    assert_true(maker->has(maker->arg, url));
    OK(maker->make(maker->arg, url, arena, file, &err));
    assert_string_equal(photo_content_type(buf_bytes(file)), "image/jpeg");
    arena_free(arena);
}

static void an_address_of_the_demo_is_a_file(void **state)
{
    static const char *const others[] = {"https://photos.example.com/box/red/1",
                                         DEMO_PHOTO_PREFIX "box/red/x",
                                         DEMO_PHOTO_PREFIX "no-such-thing/red/1", "upload:0", ""};
    struct photographer *photographer;
    struct photo_maker maker;
    struct buf red, again, blue;
    struct err err;

    (void)state;
    OK(photographer_open(easel, clock_system(), &photographer, &err));
    maker = photographer_maker(photographer);
    make(&maker, DEMO_PHOTO_PREFIX "box/red/1", &red);
    make(&maker, DEMO_PHOTO_PREFIX "box/red/1", &again);
    make(&maker, DEMO_PHOTO_PREFIX "box/blue/1", &blue);
    assert_true(bytes_equal(buf_bytes(&red), buf_bytes(&again)));
    assert_false(bytes_equal(buf_bytes(&red), buf_bytes(&blue)));
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        assert_false(maker.has(maker.arg, others[i]));
    buf_release(&red);
    buf_release(&again);
    buf_release(&blue);
    photographer_close(photographer);
}

static void without_its_program_there_is_none(void **state)
{
    struct photographer *photographer;
    struct err err;

    (void)state;
    assert_int_equal(photographer_open("/nowhere/torg-easel", clock_system(), &photographer, &err),
                     ERR_NOT_FOUND);
    assert_null(photographer);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_address_of_the_demo_is_a_file),
        cmocka_unit_test(without_its_program_there_is_none),
    };

    assert_int_equal(argc, 2);
    easel = argv[1];
    return cmocka_run_group_tests(tests, NULL, NULL);
}
