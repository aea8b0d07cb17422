/* SPDX-License-Identifier: Apache-2.0 */
/* Unit tests of coord/durable.h: what is damaged is told, never used. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/file.h"
#include "coord/bounds.h"
#include "coord/coord.h"
#include "coord/durable.h"
#include "test_dir.h"

static char dir[TEST_DIR_SIZE];
static char path[TEST_DIR_SIZE + 32];

static int begin(void **state)
{
    (void)state;
    return test_dir_make(dir) ? 0 : -1;
}

static int end(void **state)
{
    (void)state;
    return dir_remove(dir, NULL);
}

static void tickets_come_back(void **state)
{
    uint64_t ceiling = 1;
    struct err err;

    (void)state;
    assert_int_equal(durable_read_tickets(dir, &ceiling, &err), 0);
    assert_int_equal(ceiling, 0);
    assert_int_equal(durable_write_tickets(dir, 0x0123456789abcdef, &err), 0);
    assert_int_equal(durable_read_tickets(dir, &ceiling, &err), 0);
    assert_true(ceiling == 0x0123456789abcdef);
}

static void every_flipped_bit_is_noticed(void **state)
{
    struct buf whole = BUF_INIT(64);
    uint64_t ceiling;
    struct err err;
    size_t bit;

    (void)state;
    snprintf(path, sizeof(path), "%s/tickets", dir);
    assert_int_equal(durable_write_tickets(dir, 1000, &err), 0);
    assert_int_equal(file_read(path, &whole, &err), 0);
    for (bit = 0; bit < whole.size * 8; bit++) {
        whole.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
        assert_int_equal(file_write(path, buf_bytes(&whole), &err), 0);
        assert_int_equal(durable_read_tickets(dir, &ceiling, &err), ERR_CORRUPT);
        whole.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
    for (; whole.size; buf_truncate(&whole, whole.size - 1)) {
        if (whole.size < 12) {
            assert_int_equal(file_write(path, buf_bytes(&whole), &err), 0);
            assert_int_equal(durable_read_tickets(dir, &ceiling, &err), ERR_CORRUPT);
        }
    }
    buf_release(&whole);
}

static void a_damaged_counter_opens_nothing(void **state)
{
    struct coord *coord;
    char url[TEST_DIR_SIZE + 8];
    struct err err;

    (void)state;
    snprintf(path, sizeof(path), "%s/tickets", dir);
    snprintf(url, sizeof(url), "local:%s", dir);
    assert_int_equal(file_write(path, bytes_of("123456789012"), &err), 0);
    assert_int_equal(coord_open(url, "a", NULL, &coord, &err), ERR_CORRUPT);
    assert_null(coord);
    assert_int_equal(file_write(path, BYTES_EMPTY, &err), 0);
    assert_int_equal(coord_open(url, "a", NULL, &coord, &err), ERR_CORRUPT);
}

static void registers_come_back(void **state)
{
    struct buf value = BUF_INIT(COORD_VALUE_SIZE_MAX);
    uint64_t version;
    struct err err;

    (void)state;
    assert_int_equal(durable_read_register(dir, "k", &value, &version, &err), ERR_NOT_FOUND);
    assert_int_equal(durable_write_register(dir, "k", bytes_make("a\0b", 3), 7, &err), 0);
    assert_int_equal(durable_write_register(dir, "tickets", bytes_of("x"), 1, &err), 0);
    assert_int_equal(durable_read_register(dir, "k", &value, &version, &err), 0);
    assert_int_equal(version, 7);
    assert_true(bytes_equal(buf_bytes(&value), bytes_make("a\0b", 3)));
    buf_release(&value);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(tickets_come_back, begin, end),
        cmocka_unit_test_setup_teardown(every_flipped_bit_is_noticed, begin, end),
        cmocka_unit_test_setup_teardown(a_damaged_counter_opens_nothing, begin, end),
        cmocka_unit_test_setup_teardown(registers_come_back, begin, end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
