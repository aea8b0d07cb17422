/* SPDX-License-Identifier: Apache-2.0 */
/* Unit tests of base/buf.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/random.h"

static void a_full_buffer_fails_and_keeps_what_it_had(void **state)
{
    struct buf buf = BUF_INIT(8);

    (void)state;
    buf_put_text(&buf, "12345");
    assert_false(buf_failed(&buf));
    buf_put_text(&buf, "6789");
    assert_true(buf_failed(&buf));
    buf_put_text(&buf, "a");
    assert_int_equal(buf.size, 5);
    buf_reset(&buf);
    buf_printf(&buf, "%s", "12345678");
    assert_false(buf_failed(&buf));
    assert_int_equal(buf.size, 8);
    assert_string_equal(buf_text(&buf), "12345678");
    buf_release(&buf);
}

static void random_edits_agree_with_an_array(void **state)
{
    enum { LIMIT = 500 };
    uint64_t seed = random_u64();
    struct rng rng = rng_seeded(seed);
    struct buf buf = BUF_INIT(LIMIT);
    uint8_t naive[LIMIT];
    size_t size = 0;
    int step;

    (void)state;
    print_message("# seed %ju\n", (uintmax_t)seed);
    for (step = 0; step < 20000; step++) {
        uint8_t piece[64];
        size_t count = rng_below(&rng, sizeof(piece));

        memset(piece, (int)rng_next(&rng), sizeof(piece));
        switch (rng_below(&rng, 6)) {
        case 0:
            count = size ? rng_below(&rng, size + 1) : 0;
            buf_consume(&buf, count);
            memmove(naive, naive + count, size - count);
            size -= count;
            break;
        case 1:
            size = size ? rng_below(&rng, size + 1) : 0;
            buf_truncate(&buf, size);
            break;
        case 2:
            if (size + count <= LIMIT) {
                memcpy(buf_reserve(&buf, count), piece, count);
                buf_advance(&buf, count);
                memcpy(naive + size, piece, count);
                size += count;
            }
            break;
        default:
            buf_put_raw(&buf, piece, count);
            if (size + count > LIMIT) { /* nothing of it, and nothing more */
                assert_true(buf_failed(&buf));
                buf_put_byte(&buf, 'x');
                assert_int_equal(buf.size, size);
                buf_reset(&buf);
                size = 0;
                break;
            }
            memcpy(naive + size, piece, count);
            size += count;
        }
        assert_false(buf_failed(&buf));
        assert_true(bytes_equal(buf_bytes(&buf), bytes_make(naive, size)));
    }
    buf_release(&buf);
}

static void the_memory_can_be_taken(void **state)
{
    struct buf buf = BUF_INIT(100);
    uint8_t *taken;
    size_t size;

    (void)state;
    assert_string_equal(buf_text(&buf), "");
    buf_put_text(&buf, "abc");
    taken = buf_take(&buf, &size);
    assert_int_equal(size, 3);
    assert_memory_equal(taken, "abc", 3);
    assert_int_equal(buf.size, 0);
    buf_put_text(&buf, "still usable");
    assert_string_equal(buf_text(&buf), "still usable");
    assert_null(buf_reserve(&buf, SIZE_MAX)); /* does not wrap */
    assert_true(buf_failed(&buf));
    assert_string_equal(buf_text(&buf), "");
    free(taken);
    buf_release(&buf);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_full_buffer_fails_and_keeps_what_it_had),
        cmocka_unit_test(random_edits_agree_with_an_array),
        cmocka_unit_test(the_memory_can_be_taken),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
