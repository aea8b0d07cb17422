/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of net/gzip: there and back, the limit, damaged input. */
#include "codec/gzip.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/random.h"
#include <cmocka.h>

enum { LIMIT = 8 << 20 };

static void what_is_packed_unpacks_to_the_same(void **state)
{
    uint64_t seed = random_u64();
    struct rng rng = rng_seeded(seed);

    print_message("# seed %ju\n", (uintmax_t)seed);
    for (int round = 0; round < 50; round++) {
        size_t size = rng_below(&rng, 200000);
        uint8_t *plain = mem_alloc(size + 1);
        struct buf packed = BUF_INIT(LIMIT);
        struct buf back = BUF_INIT(LIMIT);
        struct err err;

        for (size_t i = 0; i < size; i++)
            plain[i] = (uint8_t)rng_below(&rng, 1 + (uint64_t)round * 5);
        gzip_pack(bytes_make(plain, size), &packed);
        assert_false(buf_failed(&packed));
        assert_int_equal(gzip_unpack(buf_bytes(&packed), size, &back, &err), 0);
        assert_true(bytes_equal(buf_bytes(&back), bytes_make(plain, size)));
        buf_reset(&back);
        if (size) /* cut short, or followed by something */
            assert_int_equal(
                gzip_unpack(bytes_make(packed.data, packed.size - 1), size, &back, &err),
                ERR_INVALID);
        buf_put_byte(&packed, 0);
        buf_reset(&back);
        assert_int_equal(gzip_unpack(buf_bytes(&packed), size, &back, &err), ERR_INVALID);
        buf_release(&packed);
        buf_release(&back);
        free(plain);
    }
}

static void a_bomb_stops_at_the_limit(void **state)
{
    size_t size = 64 << 20;
    void *zeros = mem_zero(size);
    struct buf packed = BUF_INIT(2 * size);
    struct buf back = BUF_INIT(LIMIT);
    struct err err;

    gzip_pack(bytes_make(zeros, size), &packed);
    assert_false(buf_failed(&packed));
    assert_int_equal(gzip_unpack(buf_bytes(&packed), 1 << 20, &back, &err), ERR_LIMIT);
    assert_true(back.size < (1 << 20) + (64 << 10));
    assert_non_null(strstr(err.text, "1048576"));
    buf_release(&packed);
    buf_release(&back);
    free(zeros);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_packed_unpacks_to_the_same),
        cmocka_unit_test(a_bomb_stops_at_the_limit),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
