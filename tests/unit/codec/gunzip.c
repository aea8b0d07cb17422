/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of net/gunzip: packed and plain streams in pieces of any size, cut, damaged, swelling. */
#include "codec/gunzip.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/random.h"
#include "codec/gzip.h"
#include <cmocka.h>

enum { LIMIT = 64 << 20 };

struct pieces {
    struct bytes rest;
    struct rng *rng; /* NULL: all at once */
};

static int read_piece(void *arg, void *to, size_t size, size_t *got, struct err *err)
{
    struct pieces *pieces = arg;
    size_t count = pieces->rest.size < size ? pieces->rest.size : size;

    if (pieces->rng && count)
        count = 1 + rng_below(pieces->rng, count < 999 ? count : 999);
    if (count)
        memcpy(to, pieces->rest.data, count);
    pieces->rest = bytes_skip(pieces->rest, count);
    *got = count;
    return 0;
}

static int unpack(struct bytes packed, struct rng *rng, struct buf *out, const char **cut,
                  struct err *err)
{
    struct pieces pieces = {packed, rng};
    struct gunzip *gunzip = gunzip_new(read_piece, &pieces);
    uint8_t block[5000];
    size_t got = 1;
    int rc = 0;

    buf_reset(out);
    while (!rc && got) {
        rc = gunzip_read(gunzip, block, sizeof(block), &got, err);
        if (!rc)
            buf_put_raw(out, block, got);
    }
    *cut = gunzip_cut(gunzip);
    gunzip_free(gunzip);
    return rc;
}

static void what_was_packed_comes_back_and_a_cut_is_told(void **state)
{
    uint64_t seed = random_u64();
    struct rng rng = rng_seeded(seed);
    struct buf out = BUF_INIT(LIMIT);
    struct err err;

    print_message("# seed %ju\n", (uintmax_t)seed);
    for (int round = 0; round < 60; round++) {
        struct buf plain = BUF_INIT(LIMIT);
        struct buf packed = BUF_INIT(LIMIT);
        const char *cut;

        for (uint64_t files = 1 + rng_below(&rng, 3); files > 0; files--) { /* behind each other */
            size_t start = plain.size;

            for (size_t size = rng_below(&rng, 100000); size > 0; size--)
                buf_put_byte(&plain, (uint8_t)rng_below(&rng, 1 + (uint64_t)round * 4));
            gzip_pack(bytes_make(plain.data ? plain.data + start : NULL, plain.size - start),
                      &packed);
        }
        assert_int_equal(unpack(buf_bytes(&packed), &rng, &out, &cut, &err), 0);
        assert_true(bytes_equal(buf_bytes(&out), buf_bytes(&plain)));
        assert_null(cut);
        assert_int_equal(unpack(bytes_make(packed.data, packed.size - 1), &rng, &out, &cut, &err),
                         0);
        assert_non_null(cut);
        buf_put_text(&packed, "and more");
        assert_int_equal(unpack(buf_bytes(&packed), &rng, &out, &cut, &err), ERR_INVALID);
        buf_release(&plain);
        buf_release(&packed);
    }
    buf_release(&out);
}

static void other_bytes_pass(void **state)
{
    static const char *const texts[] = {"", "\x1f", "a", "<?xml version='1.0'?>", "\x1f\x8a"};
    struct rng rng = rng_seeded(1);
    struct buf out = BUF_INIT(LIMIT);
    const char *cut;
    struct err err;

    for (size_t i = 0; i < ARRAY_COUNT(texts); i++) {
        assert_int_equal(unpack(bytes_of(texts[i]), &rng, &out, &cut, &err), 0);
        assert_true(bytes_equal(buf_bytes(&out), bytes_of(texts[i])));
        assert_null(cut);
    }
    buf_release(&out);
}

static void what_swells_too_much_is_refused(void **state)
{
    struct bytes blanks = bytes_make(memset(mem_alloc(LIMIT), ' ', LIMIT), LIMIT);
    struct buf packed = BUF_INIT(2 * LIMIT);
    struct buf out = BUF_INIT(LIMIT);
    const char *cut;
    struct err err;

    for (int i = 0; i < 5; i++) /* 230 times smaller: five of them pass what is free */
        gzip_pack(blanks, &packed);
    assert_int_equal(unpack(buf_bytes(&packed), NULL, &out, &cut, &err), ERR_LIMIT);
    assert_non_null(strstr(err.text, "more than 200 times"));
    packed.data[packed.size / 2] ^= 0xff;
    packed.data[packed.size / 2 + 1] ^= 0xff;
    assert_true(unpack(buf_bytes(&packed), NULL, &out, &cut, &err) < 0);
    free((void *)blanks.data);
    buf_release(&packed);
    buf_release(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_packed_comes_back_and_a_cut_is_told),
        cmocka_unit_test(other_bytes_pass),
        cmocka_unit_test(what_swells_too_much_is_refused),
    };

    return cmocka_run_group_tests_name("gunzip", tests, NULL, NULL);
}
