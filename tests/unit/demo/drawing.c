/* SPDX-License-Identifier: Apache-2.0 */
/* Drawn photos: repeatable, well formed, nothing of the request in them; what a photo is served as.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "demo/bounds.h"
#include "demo/drawing.h"
#include "photos/photo_folder.h"

/* Tags open and close in turn: enough of XML for what we write. */
static void check_tags(const char *svg)
{
    char stack[16][24];
    size_t depth = 0;

    for (const char *at = strchr(svg, '<'); at; at = strchr(at, '<')) {
        const char *end = strchr(at, '>');
        size_t size = strcspn(at + 1, " >/");

        assert_non_null(end);
        if (at[1] == '/') {
            assert_true(depth > 0);
            depth--;
            assert_int_equal(strncmp(stack[depth], at + 2, strlen(stack[depth])), 0);
        } else if (end[-1] != '/') {
            assert_true(depth < ARRAY_COUNT(stack) && size < sizeof(stack[0]));
            memcpy(stack[depth], at + 1, size);
            stack[depth++][size] = 0;
        }
        at = end;
    }
    assert_int_equal(depth, 0);
}

static void every_shape_is_a_small_svg(void **state)
{
    static const char *const colors[] = {"black", "white", "red", "any", "no such"};

    (void)state;
    for (size_t i = 0; i < drawing_shape_count; i++) {
        for (size_t k = 0; k < ARRAY_COUNT(colors); k++) {
            struct buf first = BUF_INIT(DEMO_PICTURE_SIZE_MAX);
            struct buf again = BUF_INIT(DEMO_PICTURE_SIZE_MAX);
            struct bytes name = bytes_of(drawing_shapes[i].name);

            drawing_put(name, bytes_of(colors[k]), k, &first);
            drawing_put(name, bytes_of(colors[k]), k, &again);
            assert_false(buf_failed(&first));
            assert_true(bytes_equal(buf_bytes(&first), buf_bytes(&again)));
            assert_null(strchr(buf_text(&first), '$'));
            check_tags(buf_text(&first));
            assert_string_equal(photo_content_type(buf_bytes(&first)), "image/svg+xml");
            buf_release(&first);
            buf_release(&again);
        }
    }
}

static void shapes_have_names_of_their_own(void **state)
{
    (void)state;
    for (size_t i = 0; i < drawing_shape_count; i++) {
        for (size_t k = i + 1; k < drawing_shape_count; k++)
            assert_string_not_equal(drawing_shapes[i].name, drawing_shapes[k].name);
    }
}

static void what_is_asked_for_is_not_in_it(void **state)
{
    struct buf out = BUF_INIT(DEMO_PICTURE_SIZE_MAX);

    (void)state;
    drawing_put(bytes_of("<script>"), bytes_of("' onload='x"), 3, &out);
    assert_null(strstr(buf_text(&out), "script"));
    assert_null(strstr(buf_text(&out), "onload"));
    check_tags(buf_text(&out));
    buf_release(&out);
}

static void content_types_follow_from_the_first_bytes(void **state)
{
    static const struct {
        struct bytes content;
        const char *type;
    } cases[] = {
        {BYTES_LITERAL("\xff\xd8\xff\xe0 x"), "image/jpeg"},
        {BYTES_LITERAL("\x89PNG\r\n\x1a\n x"), "image/png"},
        {BYTES_LITERAL("RIFF1234WEBPVP8 "), "image/webp"},
        {BYTES_LITERAL("\0\0\0 ftypavif"), "image/avif"},
        {BYTES_LITERAL("GIF89a"), "image/gif"},
        {BYTES_LITERAL("<svg xmlns="), "image/svg+xml"},
        {BYTES_LITERAL("<html><svg "), NULL},
        {BYTES_LITERAL("<svg"), NULL},
        {BYTES_LITERAL("\xff\xd8"), NULL},
        {BYTES_LITERAL(""), NULL},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        const char *type = photo_content_type(cases[i].content);

        if (cases[i].type)
            assert_string_equal(type, cases[i].type);
        else
            assert_null(type);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_shape_is_a_small_svg),
        cmocka_unit_test(shapes_have_names_of_their_own),
        cmocka_unit_test(what_is_asked_for_is_not_in_it),
        cmocka_unit_test(content_types_follow_from_the_first_bytes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
