/* SPDX-License-Identifier: Apache-2.0 */
/* Unit tests of base/crc.h, hash.h and random.h: fixed values, for these are stored formats. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "base/crc.h"
#include "base/hash.h"
#include "base/random.h"

static void known_checksums(void **state)
{
    uint8_t block[32];
    int i;

    (void)state;
    /* the check value of the algorithm, and the vectors of RFC 3720, B.4 */
    assert_int_equal(crc32c(0, bytes_of("123456789")), 0xe3069283);
    assert_int_equal(crc32c(0, BYTES_EMPTY), 0);
    memset(block, 0, sizeof(block));
    assert_int_equal(crc32c(0, bytes_make(block, 32)), 0x8a9136aa);
    memset(block, 0xff, sizeof(block));
    assert_int_equal(crc32c(0, bytes_make(block, 32)), 0x62a8ab43);
    for (i = 0; i < 32; i++)
        block[i] = (uint8_t)i;
    assert_int_equal(crc32c(0, bytes_make(block, 32)), 0x46dd794e);
    for (i = 0; i < 32; i++)
        block[i] = (uint8_t)(31 - i);
    assert_int_equal(crc32c(0, bytes_make(block, 32)), 0x113fdb5c);
}

static void plain_checksums(void **state)
{
    uint8_t data[300];

    (void)state;
    assert_int_equal(crc32_plain(0, bytes_of("123456789")), 0xcbf43926); /* as zlib has it */
    assert_int_equal(crc32_plain(0, BYTES_EMPTY), 0);
    for (size_t i = 0; i < sizeof(data); i++)
        data[i] = (uint8_t)(i * 7);
    for (size_t cut = 0; cut <= sizeof(data); cut++)
        assert_int_equal(crc32_plain(crc32_plain(0, bytes_make(data, cut)),
                                     bytes_make(data + cut, sizeof(data) - cut)),
                         crc32_plain(0, bytes_make(data, sizeof(data))));
}

static void the_instruction_agrees_with_the_table(void **state)
{
    uint64_t seed = random_u64();
    struct rng rng = rng_seeded(seed);
    uint8_t data[300];
    size_t i;
    int round;

    (void)state;
    print_message("# seed %ju\n", (uintmax_t)seed);
    for (i = 0; i < sizeof(data); i++)
        data[i] = (uint8_t)rng_next(&rng);
    for (round = 0; round < 5000; round++) {
        size_t start = rng_below(&rng, 20); /* unaligned too */
        size_t size = rng_below(&rng, sizeof(data) - start);
        size_t cut = rng_below(&rng, size + 1);
        struct bytes whole = bytes_make(data + start, size);
        uint32_t crc = crc32c(0, whole);

        assert_int_equal(crc, crc32c_portable(0, whole));
        assert_int_equal(crc32c(crc32c(0, bytes_make(whole.data, cut)), bytes_skip(whole, cut)),
                         crc);
    }
}

static void known_hashes(void **state)
{
    (void)state;
    assert_true(hash64(BYTES_EMPTY) == UINT64_C(0x2d06800538d394c2));
    assert_true(hash64(bytes_of("bicycle")) == UINT64_C(0xb2f9969bd5e3f2da));
    assert_true(hash64_seeded(bytes_of("bicycle"), 7) == UINT64_C(0x21cedee57e31ebab));
    assert_true(hash64_seeded(bytes_of("bicycle"), 0) == hash64(bytes_of("bicycle")));
}

static void a_seed_gives_one_sequence(void **state)
{
    struct rng rng = rng_seeded(0);
    uint64_t first = random_u64();
    uint8_t tail[64] = {0};
    int counts[10] = {0};
    int i;

    (void)state;
    /* splitmix64's first values for the seed 0 */
    assert_true(rng_next(&rng) == UINT64_C(0xe220a8397b1dcdaf));
    assert_true(rng_next(&rng) == UINT64_C(0x6e789e6aa1b965f4));
    assert_true(rng_next(&rng) == UINT64_C(0x06c45d188009454f));
    for (i = 0; i < 10000; i++)
        counts[rng_below(&rng, 10)]++;
    for (i = 0; i < 10; i++)
        assert_in_range(counts[i], 800, 1200);
    assert_int_equal(rng_below(&rng, 1), 0);
    assert_true(random_u64() != first || random_u64() != first);
    random_fill(tail, 32);
    for (i = 32; i < 64; i++)
        assert_int_equal(tail[i], 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_checksums),
        cmocka_unit_test(plain_checksums),
        cmocka_unit_test(the_instruction_agrees_with_the_table),
        cmocka_unit_test(known_hashes),
        cmocka_unit_test(a_seed_gives_one_sequence),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
