/* SPDX-License-Identifier: Apache-2.0 */
/* Two hands on one partition: what the writer still does with a segment that retention may free. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "topic/disk.h"
#include "topic/partition.h"

/* The disk in memory, on which retention runs whenever a file is closed: as a keeper's thread
 * would that gets its turn just then. */
static struct disk_ops watched_ops;
static void (*memory_close)(struct disk_file *file);
static struct partition partition;
static int retained_count;

static void close_and_retain(struct disk_file *file)
{
    const struct retention all = {.time_us = INT64_MIN, .before = UINT64_MAX};
    size_t segment_count = partition.segment_count;
    struct err err;

    memory_close(file);
    if (segment_count < 2)
        return;
    assert_int_equal(partition_retain(&partition, &all, &err), 0);
    retained_count += (int)(segment_count - partition.segment_count);
}

static void put(uint64_t offset)
{
    static uint8_t value[TOPIC_SEGMENT_SIZE_MIN / 2];
    struct topic_record record = {.key = BYTES_LITERAL("k"),
                                  .value = bytes_make(value, sizeof(value))};
    struct err err;

    assert_int_equal(partition_begin(&partition, &err), 0);
    assert_int_equal(partition_stage(&partition, &record), offset);
    assert_int_equal(partition_commit(&partition, &err), 0);
}

static void a_segment_that_is_rolled_may_go_at_once(void **state)
{
    struct disk *disk = disk_memory_new();
    struct clock_manual clock;
    uint64_t first, end, offset;
    struct err err;

    (void)state;
    watched_ops = *disk->ops;
    memory_close = watched_ops.file_close;
    watched_ops.file_close = close_and_retain;
    disk->ops = &watched_ops;
    clock_manual_init(&clock, 1700000000ll * 1000000);
    assert_int_equal(disk->ops->make_dir(disk, "p", &err), 0);
    assert_int_equal(partition_open(&partition, disk, "p", &clock.base, &err), 0);
    partition_set_retention(&partition, 0, 1);
    for (offset = 0; offset < 8; offset++)
        put(offset);
    assert_true(retained_count >= 2);
    partition_range(&partition, &first, &end);
    assert_true(first > 0);
    assert_int_equal(end, 8);
    partition_close(&partition);
    disk_close(disk);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_segment_that_is_rolled_may_go_at_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
