/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the embedded topics do with disks that fail, lose their power or rot: on a disk in memory
 * (topic/disk.h), so that each case is exact.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/endian.h"
#include "base/file.h"
#include "base/memory.h"
#include "topic/bounds.h"
#include "topic/disk.h"
#include "topic/frame.h"
#include "topic/segment.h"
#include "topic/topic.h"

#define FIRST_SEGMENT "topics/t/000/00000000000000000000.log"

struct bench {
    struct disk *disk;   /* in memory */
    struct disk *faulty; /* around it */
    struct disk_faults faults;
    struct clock_manual clock;
    struct topics *topics;
    struct arena *arena;
};

#define OK(call)                                                                                   \
    do {                                                                                           \
        if ((call) != 0)                                                                           \
            fail_msg("%s: %s", #call, err.text);                                                   \
    } while (0)

static int open_bench(struct bench *bench, struct err *err)
{
    struct topics_options options = {.clock = &bench->clock.base, .disk = bench->faulty};

    return topics_open("file:", &options, &bench->topics, err);
}

static int set_up(void **state)
{
    struct bench *bench = mem_zero(sizeof(*bench));
    struct topic_config config = {.partition_count = 1};
    struct err err;

    bench->disk = disk_memory_new();
    bench->faults.fail_write_after = -1;
    bench->faults.fail_sync_after = -1;
    bench->faulty = disk_fault_new(bench->disk, &bench->faults);
    bench->arena = arena_new();
    clock_manual_init(&bench->clock, 1700000000ll * SECOND_US);
    OK(open_bench(bench, &err));
    OK(topic_create(bench->topics, "t", &config, &err));
    *state = bench;
    return 0;
}

static int tear_down(void **state)
{
    struct bench *bench = *state;

    topics_close(bench->topics);
    disk_close(bench->faulty);
    disk_close(bench->disk);
    arena_free(bench->arena);
    free(bench);
    return 0;
}

static void stop_disk(struct bench *bench)
{
    bench->faults.stay_failed = true;
    bench->faults.fail_write_after = 0;
    bench->faults.fail_sync_after = 0;
}

static void start_disk(struct bench *bench)
{
    bench->faults.stay_failed = false;
    bench->faults.fail_write_after = -1;
    bench->faults.fail_sync_after = -1;
}

/* Ends without a footer, as a killed process does. */
static void crash(struct bench *bench)
{
    stop_disk(bench);
    topics_close(bench->topics);
    bench->topics = NULL;
    start_disk(bench);
}

static int produce(struct bench *bench, const char *value, struct err *err)
{
    struct topic_record record = {.key = BYTES_LITERAL("k"), .value = bytes_of(value)};

    return topic_produce(bench->topics, "t", &record, 1, NULL, err);
}

/* The values in order, joined. */
static const char *content(struct bench *bench)
{
    struct buf out = BUF_INIT(1 << 16);
    const struct topic_message *messages;
    const char *text;
    uint64_t first, end;
    struct err err;
    size_t count, i;

    OK(topic_range(bench->topics, "t", 0, &first, &end, &err));
    while (first < end) {
        OK(topic_read(bench->topics, "t", 0, first, 100, 0, bench->arena, &messages, &count, &err));
        assert_true(count > 0);
        for (i = 0; i < count; i++)
            buf_put(&out, messages[i].value);
        first += count;
    }
    text = arena_strdup(bench->arena, buf_text(&out));
    buf_release(&out);
    return text;
}

static uint64_t size_of(struct bench *bench, const char *path)
{
    struct disk_file *file;
    uint64_t size;
    struct err err;

    OK(bench->disk->ops->open(bench->disk, path, false, &file, &err));
    OK(bench->disk->ops->file_size(file, &size, &err));
    disk_file_close(file);
    return size;
}

static void a_failed_write_is_not_acknowledged_nor_seen(void **state)
{
    struct bench *bench = *state;
    struct err err;

    OK(produce(bench, "a", &err));
    bench->faults.fail_write_after = 0;
    assert_int_equal(produce(bench, "b", &err), ERR_UNAVAILABLE);
    assert_non_null(strstr(err.text, "injected"));
    assert_int_equal(produce(bench, "c", &err), ERR_UNAVAILABLE); /* failed: takes nothing */
    assert_non_null(strstr(err.text, "topics/t/000"));
    assert_string_equal(content(bench), "a");
    crash(bench);
    OK(open_bench(bench, &err));
    assert_string_equal(content(bench), "a");
    OK(produce(bench, "d", &err));
    assert_string_equal(content(bench), "ad");
}

static void a_failed_sync_is_not_acknowledged_and_heals(void **state)
{
    struct bench *bench = *state;
    struct err err;

    OK(produce(bench, "a", &err));
    bench->faults.fail_sync_after = 0;
    assert_int_equal(produce(bench, "b", &err), ERR_UNAVAILABLE);
    disk_memory_forget(bench->disk);
    assert_int_equal(produce(bench, "c", &err), ERR_UNAVAILABLE);
    clock_manual_advance(&bench->clock, (int64_t)TOPIC_HEAL_MS * MS_US);
    OK(produce(bench, "d", &err));
    assert_string_equal(content(bench), "ad");
    crash(bench);
    disk_memory_cut(bench->disk, 1);
    OK(open_bench(bench, &err));
    assert_string_equal(content(bench), "ad");
}

/* The frame is whole in the cache, but the kernel thinks it has been written: opening must write
 * it again before anyone is shown it. */
static void what_a_reopen_shows_survives_the_power(void **state)
{
    struct bench *bench = *state;
    struct err err;
    uint64_t seed;

    OK(produce(bench, "a", &err));
    bench->faults.fail_sync_after = 0;
    assert_int_equal(produce(bench, "b", &err), ERR_UNAVAILABLE);
    disk_memory_forget(bench->disk);
    crash(bench);
    OK(open_bench(bench, &err));
    assert_string_equal(content(bench), "ab"); /* not acknowledged, but there */
    for (seed = 0; seed < 8; seed++) {
        crash(bench);
        disk_memory_cut(bench->disk, seed);
        OK(open_bench(bench, &err));
        assert_string_equal(content(bench), "ab");
    }
}

static void a_bad_frame_before_acknowledged_ones_is_refused(void **state)
{
    struct bench *bench = *state;
    struct err err;

    OK(produce(bench, "first", &err));
    OK(produce(bench, "second", &err));
    OK(produce(bench, "third", &err));
    crash(bench);
    OK(disk_memory_damage(bench->disk, FIRST_SEGMENT, SEGMENT_HEADER_SIZE + 50, &err));
    assert_int_equal(open_bench(bench, &err), ERR_CORRUPT);
    assert_non_null(strstr(err.text, FIRST_SEGMENT));
    assert_non_null(strstr(err.text, "byte 32"));
    OK(disk_memory_damage(bench->disk, FIRST_SEGMENT, SEGMENT_HEADER_SIZE + 50, &err));
    OK(disk_memory_damage(bench->disk, FIRST_SEGMENT, SEGMENT_HEADER_SIZE + 2, &err));
    assert_int_equal(open_bench(bench, &err), ERR_CORRUPT); /* the header likewise */
    OK(disk_memory_damage(bench->disk, FIRST_SEGMENT, SEGMENT_HEADER_SIZE + 2, &err));
    OK(open_bench(bench, &err));
    assert_string_equal(content(bench), "firstsecondthird");
}

static void damage_after_a_clean_close_is_found_by_the_reader(void **state)
{
    struct bench *bench = *state;
    const struct topic_message *messages;
    struct err err;
    size_t count;

    OK(produce(bench, "first", &err));
    OK(produce(bench, "second", &err));
    topics_close(bench->topics);
    OK(disk_memory_damage(bench->disk, FIRST_SEGMENT, SEGMENT_HEADER_SIZE + 50, &err));
    OK(open_bench(bench, &err));
    assert_int_equal(
        topic_read(bench->topics, "t", 0, 0, 10, 0, bench->arena, &messages, &count, &err),
        ERR_CORRUPT);
    assert_non_null(strstr(err.text, FIRST_SEGMENT));
}

static void a_torn_tail_is_cut_off(void **state)
{
    struct bench *bench = *state;
    uint64_t size, whole;
    struct err err;

    OK(produce(bench, "first", &err));
    size = size_of(bench, FIRST_SEGMENT);
    OK(produce(bench, "second", &err));
    whole = size_of(bench, FIRST_SEGMENT);
    crash(bench);
    OK(disk_memory_damage(bench->disk, FIRST_SEGMENT, whole - 1, &err));
    OK(open_bench(bench, &err));
    assert_string_equal(content(bench), "first");
    assert_int_equal(size_of(bench, FIRST_SEGMENT), size);
}

/* A value that contains a frame must not be taken for one, or it could stop a recovery. */
static void a_record_cannot_pass_for_a_frame(void **state)
{
    struct bench *bench = *state;
    struct buf forged = BUF_INIT(1 << 16);
    struct topic_record inner = {.value = BYTES_LITERAL("forged")};
    struct topic_record record = {.key = BYTES_LITERAL("k")};
    struct frame frame = {.count = 1, .durable = UINT32_MAX};
    struct err err;
    size_t start, i;

    for (i = 0; i < 200; i++) { /* one for each place it might come to lie */
        start = frame_begin(&forged);
        frame_put_record(&forged, 0, &inner);
        frame.position = (uint32_t)(SEGMENT_HEADER_SIZE + FRAME_HEADER_SIZE + i + start);
        frame_end(&forged, start, &frame, 0);
    }
    record.value = buf_bytes(&forged);
    OK(topic_produce(bench->topics, "t", &record, 1, NULL, &err));
    crash(bench);
    OK(disk_memory_damage(bench->disk, FIRST_SEGMENT, SEGMENT_HEADER_SIZE + 1, &err));
    OK(open_bench(bench, &err)); /* a torn tail, not "acknowledged records follow" */
    assert_string_equal(content(bench), "");
    buf_release(&forged);
}

/* Fills small segments; returns how many records. */
static size_t fill_segments(struct bench *bench)
{
    enum { COUNT = 40, SIZE = 10 << 10 };
    struct topic_config config = {1, 0, TOPIC_SEGMENT_SIZE_MIN * 8};
    uint8_t *value = mem_alloc(SIZE);
    struct topic_record record = {.key = BYTES_LITERAL("k"), .value = {value, SIZE}};
    struct err err;
    size_t i;

    memset(value, 'x', SIZE);
    OK(topic_create(bench->topics, "t", &config, &err));
    for (i = 0; i < COUNT; i++)
        OK(topic_produce(bench->topics, "t", &record, 1, NULL, &err));
    free(value);
    return COUNT;
}

struct names {
    char list[64][64];
    size_t count;
};

static int add_name(void *arg, const char *name, struct err *err)
{
    struct names *names = arg;

    (void)err;
    snprintf(names->list[names->count++], sizeof(names->list[0]), "topics/t/000/%s", name);
    return 0;
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(a, b);
}

static void sealed_segments_may_not_rot_or_vanish(void **state)
{
    struct bench *bench = *state;
    struct names names = {.count = 0};
    size_t count = fill_segments(bench);
    uint64_t first, end;
    struct err err;

    crash(bench);
    OK(bench->disk->ops->list(bench->disk, "topics/t/000", add_name, &names, &err));
    qsort(names.list, names.count, sizeof(names.list[0]), compare_names);
    assert_true(names.count > 3);
    /* its footer */
    OK(disk_memory_damage(bench->disk, names.list[1], size_of(bench, names.list[1]) - 9, &err));
    assert_int_equal(open_bench(bench, &err), ERR_CORRUPT);
    assert_non_null(strstr(err.text, names.list[1]));
    OK(disk_memory_damage(bench->disk, names.list[1], size_of(bench, names.list[1]) - 9, &err));
    OK(open_bench(bench, &err));
    OK(topic_range(bench->topics, "t", 0, &first, &end, &err));
    assert_int_equal(first, 0);
    assert_int_equal(end, count);
    topics_close(bench->topics);
    OK(bench->disk->ops->remove(bench->disk, names.list[1], &err));
    assert_int_equal(open_bench(bench, &err), ERR_CORRUPT);
    assert_non_null(strstr(err.text, "missing"));
}

static void a_roll_that_fails_half_way_heals(void **state)
{
    struct bench *bench = *state;
    struct topic_config config = {1, 0, TOPIC_SEGMENT_SIZE_MIN};
    struct err err;
    int64_t step;

    OK(topic_create(bench->topics, "t", &config, &err));
    for (step = 0; step < 12; step++) { /* fails each write and sync of a roll in turn */
        size_t before, lost = 0;
        uint64_t first, end;

        OK(topic_range(bench->topics, "t", 0, &first, &end, &err));
        before = end;
        if (step % 2)
            bench->faults.fail_sync_after = step / 2;
        else
            bench->faults.fail_write_after = step / 2;
        while (bench->faults.fail_sync_after >= 0 || bench->faults.fail_write_after >= 0) {
            uint8_t value[8 << 10] = {'v'};
            struct topic_record record = {.key = BYTES_LITERAL("k"), .value = {value, 8 << 10}};

            if (topic_produce(bench->topics, "t", &record, 1, NULL, &err) == 0)
                before++;
            else
                lost++;
        }
        assert_int_equal(lost, 1);
        clock_manual_advance(&bench->clock, (int64_t)TOPIC_HEAL_MS * MS_US);
        OK(produce(bench, "x", &err));
        OK(topic_range(bench->topics, "t", 0, &first, &end, &err));
        assert_int_equal(end, before + 1);
        crash(bench);
        disk_memory_cut(bench->disk, (uint64_t)step);
        OK(open_bench(bench, &err));
        OK(topic_range(bench->topics, "t", 0, &first, &end, &err));
        assert_int_equal(end, before + 1);
    }
}

/* The roll fails, then its repair, each at one of its syncs; then the power goes, and the disk has
 * kept everything, or some of it. */
static void a_heal_that_fails_half_way_leaves_what_opens(void **state)
{
    struct bench *bench = *state;
    struct topic_config config = {1, 0, TOPIC_SEGMENT_SIZE_MIN};
    struct err err;

    OK(topic_create(bench->topics, "t", &config, &err));
    for (int step = 0; step < 24; step++) {
        int keeps_all = step % 2, heal_sync = step / 2 % 3, roll_sync = step / 6;
        uint8_t value[TOPIC_SEGMENT_SIZE_MIN] = {'v'};
        struct topic_record record = {.key = BYTES_LITERAL("k"), .value = {value, sizeof(value)}};
        uint64_t first, end, kept;

        OK(topic_produce(bench->topics, "t", &record, 1, NULL, &err)); /* the next one rolls */
        OK(topic_range(bench->topics, "t", 0, &first, &end, &err));
        bench->faults.fail_sync_after = roll_sync;
        if (produce(bench, "x", &err) == 0)
            end++;
        clock_manual_advance(&bench->clock, (int64_t)TOPIC_HEAL_MS * MS_US);
        bench->faults.fail_sync_after = heal_sync;
        if (produce(bench, "y", &err) == 0)
            end++;
        crash(bench);
        if (!keeps_all)
            disk_memory_cut(bench->disk, (uint64_t)step);
        OK(open_bench(bench, &err));
        OK(topic_range(bench->topics, "t", 0, &first, &kept, &err));
        assert_true(kept >= end);
    }
}

static void a_commit_that_was_not_stored_is_an_error(void **state)
{
    const char *names[] = {"t"};
    struct consumer_options options = {.group = "g", .topics = names, .topic_count = 1};
    struct bench *bench = *state;
    const struct topic_message *messages;
    struct consumer *consumer;
    struct topic_lag lag;
    struct err err;
    size_t count;

    OK(produce(bench, "a", &err));
    OK(produce(bench, "b", &err));
    OK(consumer_open(bench->topics, &options, &consumer, &err));
    OK(consumer_poll(consumer, 0, &messages, &count, &err));
    assert_int_equal(count, 2);
    OK(consumer_commit(consumer, &(struct topic_position){"t", 0, 1}, 1, &err));
    bench->faults.fail_sync_after = 0;
    assert_int_equal(consumer_commit_polled(consumer, &err), ERR_UNAVAILABLE);
    disk_memory_forget(bench->disk);
    consumer_close(consumer);
    crash(bench);
    OK(open_bench(bench, &err));
    OK(topic_lag(bench->topics, "g", "t", 0, &lag, &err));
    assert_true(lag.has_committed && lag.committed >= 1 && lag.committed <= 2);
}

static void a_group_behind_a_lost_tail_reads_what_comes(void **state)
{
    const char *names[] = {"t"};
    struct consumer_options options = {.group = "g", .topics = names, .topic_count = 1};
    struct bench *bench = *state;
    const struct topic_message *messages;
    struct consumer *consumer;
    struct disk_file *file;
    uint64_t size;
    struct err err;
    size_t count;

    OK(produce(bench, "a", &err));
    size = size_of(bench, FIRST_SEGMENT);
    OK(produce(bench, "b", &err));
    OK(produce(bench, "c", &err));
    OK(consumer_open(bench->topics, &options, &consumer, &err));
    OK(consumer_poll(consumer, 0, &messages, &count, &err));
    assert_int_equal(count, 3);
    OK(consumer_commit_polled(consumer, &err));
    consumer_close(consumer);
    crash(bench);
    OK(bench->disk->ops->open(bench->disk, FIRST_SEGMENT, false, &file, &err));
    OK(bench->disk->ops->file_truncate(file, size, &err));
    disk_file_close(file);

    OK(open_bench(bench, &err));
    OK(consumer_open(bench->topics, &options, &consumer, &err));
    OK(consumer_poll(consumer, 0, &messages, &count, &err));
    assert_int_equal(count, 0);
    OK(produce(bench, "d", &err)); /* at the offset that b had */
    OK(consumer_poll(consumer, 0, &messages, &count, &err));
    assert_int_equal(count, 1);
    assert_true(bytes_equal_text(messages[0].value, "d"));
    OK(consumer_commit_polled(consumer, &err));
    consumer_close(consumer);
}

static void committed_offsets_are_compacted(void **state)
{
    enum { COMMITS = 40000, BATCH = 100 };
    const char *names[] = {"t"};
    struct consumer_options options = {.group = "g", .topics = names, .topic_count = 1};
    struct topic_position positions[BATCH];
    struct bench *bench = *state;
    struct names files = {.count = 0};
    const struct topic_message *messages;
    struct consumer *consumer;
    struct topic_lag lag;
    struct err err;
    size_t count, i, k;

    for (i = 0; i < BATCH; i++)
        OK(produce(bench, "a", &err));
    OK(consumer_open(bench->topics, &options, &consumer, &err));
    OK(consumer_poll(consumer, 0, &messages, &count, &err));
    for (i = 0; i < COMMITS / BATCH; i++) {
        for (k = 0; k < BATCH; k++)
            positions[k] = (struct topic_position){"t", 0, k};
        OK(consumer_commit(consumer, positions, BATCH, &err));
        if (i % 100 == 99)
            OK(topics_housekeep(bench->topics, &err));
    }
    consumer_close(consumer);
    OK(topics_housekeep(bench->topics, &err));
    topics_close(bench->topics);
    OK(bench->disk->ops->list(bench->disk, "offsets", add_name, &files, &err));
    assert_true(files.count <= 3);
    OK(open_bench(bench, &err));
    OK(topic_lag(bench->topics, "g", "t", 0, &lag, &err));
    assert_int_equal(lag.committed, BATCH - 1);
}

/* A group reads all of "t" and commits it. */
static void commit_all(struct bench *bench, size_t wanted)
{
    const char *names[] = {"t"};
    struct consumer_options options = {.group = "g", .topics = names, .topic_count = 1};
    const struct topic_message *messages;
    struct consumer *consumer;
    struct err err;
    size_t count;

    OK(consumer_open(bench->topics, &options, &consumer, &err));
    OK(consumer_poll(consumer, 0, &messages, &count, &err));
    assert_int_equal(count, wanted);
    OK(consumer_commit_polled(consumer, &err));
    consumer_close(consumer);
}

static void make_anew(struct bench *bench)
{
    struct topic_config config = {.partition_count = 1};
    struct topic_lag lag;
    struct err err;

    OK(topic_create(bench->topics, "t", &config, &err));
    assert_string_equal(content(bench), "");
    OK(topic_lag(bench->topics, "g", "t", 0, &lag, &err));
    assert_false(lag.has_committed);
    OK(produce(bench, "new", &err));
    assert_string_equal(content(bench), "new");
}

/* The meta file is gone, all else is there: a crash in the middle. */
static void a_half_removed_topic_does_not_come_back(void **state)
{
    struct bench *bench = *state;
    struct topic_config config;
    struct disk_file *file;
    struct err err;

    OK(produce(bench, "old", &err));
    commit_all(bench, 1);
    crash(bench);
    OK(bench->disk->ops->remove(bench->disk, "topics/t/meta", &err));
    OK(bench->disk->ops->sync_dir(bench->disk, "topics/t", &err));
    OK(open_bench(bench, &err));
    assert_int_equal(topic_describe(bench->topics, "t", &config, &err), ERR_NOT_FOUND);
    assert_int_equal(bench->disk->ops->open(bench->disk, FIRST_SEGMENT, false, &file, &err),
                     ERR_NOT_FOUND);
    make_anew(bench);
    crash(bench);
    OK(open_bench(bench, &err));
    assert_string_equal(content(bench), "new");
}

static void files_that_stay_are_not_the_next_topics(void **state)
{
    struct bench *bench = *state;
    struct disk_file *file;
    struct err err;

    OK(produce(bench, "old", &err));
    bench->faults.fail_write_after = 0;
    OK(topic_remove(bench->topics, "t", &err));
    OK(bench->disk->ops->open(bench->disk, FIRST_SEGMENT, false, &file, &err));
    disk_file_close(file);
    make_anew(bench);
}

/* What was committed is forgotten for good, also after the log of commits was made anew. */
static void a_removed_topics_commits_are_forgotten(void **state)
{
    struct bench *bench = *state;
    struct err err;

    OK(produce(bench, "old", &err));
    commit_all(bench, 1);
    OK(topic_remove(bench->topics, "t", &err));
    crash(bench);
    OK(open_bench(bench, &err));
    make_anew(bench);
}

/* Before the removal is durable the power goes: the topic is there, whole, or it is not. */
static void a_removal_without_power_is_whole_or_not(void **state)
{
    struct bench *bench = *state;
    struct topic_config config = {.partition_count = 1};
    unsigned there = 0, gone = 0;
    struct err err;
    uint64_t seed;

    for (seed = 0; seed < 40; seed++) {
        OK(topic_create(bench->topics, "t", &config, &err));
        if (!*content(bench))
            OK(produce(bench, "old", &err));
        stop_disk(bench);
        assert_int_equal(topic_remove(bench->topics, "t", &err), ERR_UNAVAILABLE);
        assert_int_equal(topic_describe(bench->topics, "t", &config, &err), ERR_NOT_FOUND);
        crash(bench);
        disk_memory_cut(bench->disk, seed);
        OK(open_bench(bench, &err));
        if (topic_describe(bench->topics, "t", &config, &err)) {
            gone++;
            continue;
        }
        there++;
        assert_string_equal(content(bench), "old");
    }
    assert_true(there > 0 && gone > 0);
}

static void a_directory_is_open_once(void **state)
{
    struct topics *first, *second;
    char dir[] = "/tmp/torg-topic-XXXXXX";
    char url[64];
    struct err err;

    (void)state;
    assert_non_null(mkdtemp(dir));
    snprintf(url, sizeof(url), "file:%s", dir);
    OK(topics_open(url, NULL, &first, &err));
    assert_int_equal(topics_open(url, NULL, &second, &err), ERR_EXISTS);
    assert_null(second);
    assert_non_null(strstr(err.text, dir));
    topics_close(first);
    OK(topics_open(url, NULL, &first, &err));
    topics_close(first);
    assert_int_equal(topics_open("file:", NULL, &first, &err), ERR_INVALID);
    assert_int_equal(topics_open("ftp://x", NULL, &first, &err), ERR_INVALID);
    OK(dir_remove(dir, &err));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_failed_write_is_not_acknowledged_nor_seen),
        TEST(a_failed_sync_is_not_acknowledged_and_heals),
        TEST(what_a_reopen_shows_survives_the_power),
        TEST(a_bad_frame_before_acknowledged_ones_is_refused),
        TEST(damage_after_a_clean_close_is_found_by_the_reader),
        TEST(a_torn_tail_is_cut_off),
        TEST(a_record_cannot_pass_for_a_frame),
        TEST(sealed_segments_may_not_rot_or_vanish),
        TEST(a_roll_that_fails_half_way_heals),
        TEST(a_heal_that_fails_half_way_leaves_what_opens),
        TEST(a_commit_that_was_not_stored_is_an_error),
        TEST(a_group_behind_a_lost_tail_reads_what_comes),
        TEST(committed_offsets_are_compacted),
        TEST(a_half_removed_topic_does_not_come_back),
        TEST(files_that_stay_are_not_the_next_topics),
        TEST(a_removed_topics_commits_are_forgotten),
        TEST(a_removal_without_power_is_whole_or_not),
        cmocka_unit_test(a_directory_is_open_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
