/* SPDX-License-Identifier: Apache-2.0 */
/* seal.c - the keyed hash against its authors' vectors, and what is sealed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/seal.h"

static struct seal key_of_vectors(void)
{
    struct seal seal;

    for (uint8_t i = 0; i < SEAL_KEY_SIZE; i++)
        seal.key[i] = i;
    return seal;
}

/* Of the first bytes 00 01 02 …, by the key 00 01 … 0f: the reference's vectors_sip64. */
static void hashes_are_those_of_the_reference(void **state)
{
    static const uint64_t expected[] = {
        UINT64_C(0x726fdb47dd0e0e31), UINT64_C(0x74f839c593dc67fd), UINT64_C(0x0d6c8009d9a94f5a),
        UINT64_C(0x85676696d7fb7e2d), UINT64_C(0xcf2794e0277187b7), UINT64_C(0x18765564cd99a68d),
        UINT64_C(0xcbc9466e58fee3ce), UINT64_C(0xab0200f58b01d137), UINT64_C(0x93f5f5799a932462),
        UINT64_C(0x9e0082df0ba9e4b0), UINT64_C(0x7a5dbbc594ddb9f3), UINT64_C(0xf4b32f46226bada7),
        UINT64_C(0x751e8fbc860ee5fb), UINT64_C(0x14ea5627c0843d90), UINT64_C(0xf723ca908e7af2ee),
        UINT64_C(0xa129ca6149be45e5),
    };
    const struct seal seal = key_of_vectors();
    uint8_t bytes[16];

    (void)state;
    for (uint8_t i = 0; i < sizeof(bytes); i++)
        bytes[i] = i;
    for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++)
        assert_int_equal(seal_hash(&seal, bytes_make(bytes, i)), expected[i]);
}

static void what_is_sealed_stays_as_it_is(void **state)
{
    const struct seal seal = key_of_vectors();
    struct buf sealed = BUF_INIT(100);
    struct bytes read;

    (void)state;
    buf_put_text(&sealed, "bicycle");
    seal_put(&seal, &sealed);
    read = buf_bytes(&sealed);
    assert_true(seal_check(&seal, &read));
    assert_true(bytes_equal_text(read, "bicycle"));
    for (size_t i = 0; i < sealed.size; i++) {
        sealed.data[i] ^= 1;
        read = buf_bytes(&sealed);
        assert_false(seal_check(&seal, &read));
        sealed.data[i] ^= 1;
    }
    read = bytes_of("short");
    assert_false(seal_check(&seal, &read));
    buf_release(&sealed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hashes_are_those_of_the_reference),
        cmocka_unit_test(what_is_sealed_stays_as_it_is),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
