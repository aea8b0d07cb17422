/* SPDX-License-Identifier: Apache-2.0 */
/* Unit tests of the small ones: base/bytes.h, checked.h, endian.h, memory.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/checked.h"
#include "base/endian.h"
#include "base/memory.h"

static int sign(int value)
{
    return (value > 0) - (value < 0);
}

static void comparing(void **state)
{
    static const char *const ordered[] = {"", "a", "a\x01", "aa", "ab", "b", "\xff"};
    size_t i;
    size_t j;

    (void)state;
    for (i = 0; i < ARRAY_COUNT(ordered); i++) {
        for (j = 0; j < ARRAY_COUNT(ordered); j++) {
            struct bytes a = bytes_of(ordered[i]);
            struct bytes b = bytes_of(ordered[j]);

            assert_int_equal(sign(bytes_compare(a, b)), (i > j) - (i < j));
            assert_int_equal(bytes_equal(a, b), i == j);
        }
    }
    assert_true(bytes_equal(BYTES_EMPTY, bytes_of("")));
    assert_int_equal(bytes_compare(BYTES_EMPTY, bytes_of("")), 0);
    assert_false(bytes_equal(bytes_make("a\0b", 3), bytes_make("a\0c", 3)));
}

static void parts(void **state)
{
    struct bytes whole = bytes_of("bicycle");

    (void)state;
    assert_true(bytes_begin(whole, bytes_of("bi")));
    assert_true(bytes_begin(whole, BYTES_EMPTY));
    assert_true(bytes_begin(whole, whole));
    assert_false(bytes_begin(whole, bytes_of("bicycles")));
    assert_false(bytes_begin(whole, bytes_of("cycle")));
    assert_true(bytes_equal_text(bytes_skip(whole, 2), "cycle"));
    assert_int_equal(bytes_skip(whole, 7).size, 0);
    assert_int_equal(bytes_skip(BYTES_EMPTY, 0).size, 0);
}

static void arithmetic_is_checked(void **state)
{
    size_t size;
    int64_t number;

    (void)state;
    assert_true(size_add(SIZE_MAX - 1, 1, &size) && size == SIZE_MAX);
    assert_false(size_add(SIZE_MAX, 1, &size));
    assert_true(size_multiply(1u << 31, 2, &size) && size == (size_t)1 << 32);
    assert_false(size_multiply(SIZE_MAX / 2 + 1, 2, &size));
    assert_true(int64_add(INT64_MAX, INT64_MIN, &number) && number == -1);
    assert_false(int64_add(INT64_MAX, 1, &number));
    assert_false(int64_add(INT64_MIN, -1, &number));
    assert_true(int64_multiply(-4, 5, &number) && number == -20);
    assert_false(int64_multiply(INT64_MIN, -1, &number));
}

static void integers_have_one_order_of_bytes(void **state)
{
    uint8_t bytes[8];

    (void)state;
    put_le32(bytes, 0x01020304);
    assert_memory_equal(bytes, "\x04\x03\x02\x01", 4);
    assert_int_equal(get_le32(bytes), 0x01020304);
    put_be32(bytes, 0x01020304);
    assert_memory_equal(bytes, "\x01\x02\x03\x04", 4);
    assert_int_equal(get_be32(bytes), 0x01020304);
    put_le64(bytes, 0x0102030405060708);
    assert_memory_equal(bytes, "\x08\x07\x06\x05\x04\x03\x02\x01", 8);
    assert_true(get_le64(bytes) == 0x0102030405060708);
}

static void memory_is_what_was_asked_for(void **state)
{
    char *text = mem_strndup("bicycle", 2);
    int *numbers = mem_array(100, sizeof(*numbers));
    int i;

    (void)state;
    assert_string_equal(text, "bi");
    for (i = 0; i < 100; i++)
        assert_int_equal(numbers[i], 0);
    numbers = mem_resize(numbers, 200 * sizeof(*numbers));
    assert_int_equal(numbers[99], 0);
    free(numbers);
    free(text);
    text = mem_strdup("");
    assert_string_equal(text, "");
    free(text);
    free(mem_alloc(0));
}

static void no_memory_aborts(void **state)
{
    int status;
    pid_t child = fork();

    (void)state;
    if (child == 0) {
        struct rlimit no_core = {0, 0};

        setrlimit(RLIMIT_CORE, &no_core);
        close(STDERR_FILENO);
        (void)!mem_array(SIZE_MAX / 2, 4); /* would wrap to something small */
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_false(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(comparing),
        cmocka_unit_test(parts),
        cmocka_unit_test(arithmetic_is_checked),
        cmocka_unit_test(integers_have_one_order_of_bytes),
        cmocka_unit_test(memory_is_what_was_asked_for),
        cmocka_unit_test(no_memory_aborts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
