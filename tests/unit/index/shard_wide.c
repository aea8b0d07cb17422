/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shard_wide.c - as many fields as a schema may have, of which each document has a few, as in a
 * catalogue of many categories: whatever way a shard came by its documents, it has them as one that
 * got nothing but the last of each, and fields that nobody has cost next to nothing.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/file.h"
#include "base/memory.h"
#include "base/random.h"
#include "index/bounds.h"
#include "index/columns/attribute_set.h"
#include "index/shard/shard.h"
#include "test_dir.h"

enum {
    DOC_COUNT = 600, /* on three windows */
    DOC_STEP = 17,
    VALUE_COUNT = 20,
    COMMON_COUNT = 4, /* of those, that all documents may have */
    CHANGE_COUNT = 2400,
    UNUSED_SIZE_MAX = 1024, /* bytes of a field that no document has */
    SET_DOC_COUNT = 2000,   /* enough that a set is scanned, and scanned once more */
};

/* What a document has last; count 0: it is not there. */
struct kept {
    struct shard_value values[VALUE_COUNT];
    uint32_t count;
};

static const struct bytes names[] = {BYTES_LITERAL("red"), BYTES_LITERAL("green"),
                                     BYTES_LITERAL("blue"), BYTES_LITERAL("white")};

static struct shard *open_wide(const char *dir)
{
    struct shard_options options = {.dir = dir, .epoch = 1};
    struct shard *shard;
    struct err err = {0};

    if (shard_open(&options, &shard, &err))
        fail_msg("%s", err.text);
    for (uint32_t i = 0; i < SCHEMA_FIELD_COUNT_MAX; i++) {
        static const enum field_type types[] = {FIELD_INTEGER, FIELD_KEYWORD, FIELD_KEYWORD,
                                                FIELD_BOOLEAN};
        char name[16];
        struct field field = {
            .name = name, .type = types[i % 4], .multiple = i % 4 == 2, .filterable = true};

        snprintf(name, sizeof(name), "f%u", i);
        if (shard_add_field(shard, &field, NULL, &err))
            fail_msg("%s", err.text);
    }
    return shard;
}

static struct shard_value random_value(struct rng *rng, uint32_t field)
{
    struct shard_value value = {.field = (uint16_t)field};

    if (field % 4 == 0) {
        value.kind = VALUE_NUMBER;
        value.number = (int64_t)rng_below(rng, 1000);
    } else if (field % 4 == 3) {
        value.kind = VALUE_NUMBER;
        value.number = (int64_t)rng_below(rng, 2);
    } else {
        value.kind = VALUE_KEYWORDS;
        value.keywords.names = &names[rng_below(rng, 3)];
        value.keywords.count = field % 4 == 1 ? 1 : 2;
    }
    return value;
}

/* A few of the fields of all, and those of one category, which follow each other. */
static void draw(struct rng *rng, struct kept *kept)
{
    uint32_t own = COMMON_COUNT +
                   (uint32_t)rng_below(rng, SCHEMA_FIELD_COUNT_MAX - COMMON_COUNT - VALUE_COUNT);

    kept->count = 0;
    for (uint32_t i = 0; i < VALUE_COUNT; i++)
        if (rng_below(rng, 4))
            kept->values[kept->count++] =
                random_value(rng, i < COMMON_COUNT ? i : own + i - COMMON_COUNT);
}

static void put(struct shard *shard, docid id, const struct kept *kept)
{
    struct shard_document document = {.id = id, .values = kept->values, .count = kept->count};
    struct err err = {0};

    if (shard_put(shard, &document, &err))
        fail_msg("%s", err.text);
}

/* Puts, changes or removes one, as the shard may have it, and publishes now and then. */
static void change(struct shard *shard, struct rng *rng, struct kept *all, uint64_t *offset)
{
    uint32_t at = (uint32_t)rng_below(rng, DOC_COUNT);
    struct kept *kept = &all[at];
    struct err err = {0};

    switch (rng_below(rng, 4)) {
    case 0:
        assert_int_equal(shard_remove(shard, at * DOC_STEP), kept->count > 0);
        kept->count = 0;
        break;
    case 1:
        if (!kept->count)
            break;
        draw(rng, kept);
        assert_true(kept->count > 0);
        if (shard_change_all(shard, at * DOC_STEP, kept->values, kept->count, &err))
            fail_msg("%s", err.text);
        break;
    default:
        draw(rng, kept);
        put(shard, at * DOC_STEP, kept);
    }
    if (!rng_below(rng, 20))
        assert_int_equal(shard_publish(shard, ++*offset, &err), 0);
}

static uint64_t hash_of(struct shard *shard)
{
    struct err err = {0};
    uint64_t hash;

    if (shard_hash(shard, &hash, &err))
        fail_msg("%s", err.text);
    return hash;
}

static void sum_documents(struct shard *shard, uint64_t *sum)
{
    const struct snapshot *snapshot;
    struct shard_reader *reader;
    struct err err;

    *sum = 0;
    assert_int_equal(shard_reader_new(shard, &reader, &err), 0);
    assert_int_equal(shard_enter(reader, &snapshot, &err), 0);
    for (docid id = 0; id < DOC_COUNT * DOC_STEP; id += DOC_STEP)
        if (live_has(snapshot->alive, id))
            *sum += shard_hash_document(shard, snapshot, id, NULL, 0);
    shard_exit(reader);
    shard_reader_free(reader);
}

static void documents_are_as_they_were_put_last(void **state)
{
    struct kept *all = mem_array(DOC_COUNT, sizeof(*all));
    uint64_t seed = random_u64(), offset = 0, hash, sum, expected_sum;
    char dir[TEST_DIR_SIZE];
    struct rng rng;
    struct shard *shard, *plain;
    struct err err = {0};

    (void)state;
    print_message("# seed %ju\n", (uintmax_t)seed);
    rng = rng_seeded(seed);
    assert_true(test_dir_make(dir));
    shard = open_wide(dir);
    for (uint32_t i = 0; i < CHANGE_COUNT; i++)
        change(shard, &rng, all, &offset);
    assert_int_equal(shard_publish(shard, ++offset, &err), 0);
    plain = open_wide(NULL);
    for (uint32_t i = 0; i < DOC_COUNT; i++)
        if (all[i].count)
            put(plain, i * DOC_STEP, &all[i]);
    assert_int_equal(shard_publish(plain, 1, &err), 0);
    hash = hash_of(plain);
    sum_documents(plain, &expected_sum);
    shard_close(plain);
    assert_true(hash_of(shard) == hash);
    sum_documents(shard, &sum);
    assert_true(sum == expected_sum);
    if (shard_checkpoint(shard, &err))
        fail_msg("%s", err.text);
    shard_close(shard);
    shard = open_wide(dir);
    assert_true(hash_of(shard) == hash);
    for (uint32_t i = 0; i < CHANGE_COUNT; i++) /* the loaded ones are changed as those were */
        change(shard, &rng, all, &offset);
    for (uint32_t i = 0; i < DOC_COUNT; i++) {
        draw(&rng, &all[i]);
        all[i].count = 1;
        put(shard, i * DOC_STEP, &all[i]);
    }
    assert_int_equal(shard_publish(shard, ++offset, &err), 0);
    plain = open_wide(NULL);
    for (uint32_t i = 0; i < DOC_COUNT; i++)
        put(plain, i * DOC_STEP, &all[i]);
    assert_int_equal(shard_publish(plain, 1, &err), 0);
    assert_true(hash_of(shard) == hash_of(plain));
    shard_close(plain);
    shard_close(shard);
    assert_int_equal(dir_remove(dir, NULL), 0);
    free(all);
}

/* ---- sets in the background ---- */

static void put_numbers(struct shard *shard, uint16_t field, int64_t number)
{
    struct shard_value value = {.field = field, .kind = VALUE_NUMBER};
    struct err err = {0};

    for (docid id = 0; id < SET_DOC_COUNT; id++) {
        value.number = number + id;
        if (shard_change(shard, id, &value, 1, &err))
            fail_msg("%s", err.text);
    }
    assert_int_equal(shard_publish(shard, (uint64_t)number + 1, &err), 0);
}

static bool is_due(struct shard *shard, uint16_t field)
{
    const struct snapshot *snapshot;
    struct shard_reader *reader;
    bool is_due;

    assert_int_equal(shard_reader_new(shard, &reader, NULL), 0);
    assert_int_equal(shard_enter(reader, &snapshot, NULL), 0);
    is_due = attribute_set_is_due(snapshot->sets[field]);
    shard_exit(reader);
    shard_reader_free(reader);
    return is_due;
}

/* One that is due again and again does not keep the others from their turn. */
static void sets_are_scanned_in_turn(void **state)
{
    const uint16_t first = 0, last = SCHEMA_FIELD_COUNT_MAX - 4;
    struct shard *shard = open_wide(NULL);
    const struct kept none = {.count = 0};
    struct err err = {0};
    bool did = true;

    (void)state;
    for (docid id = 0; id < SET_DOC_COUNT; id++)
        put(shard, id, &none);
    put_numbers(shard, first, 0);
    put_numbers(shard, last, 1);
    while (did && is_due(shard, first))
        assert_int_equal(shard_work(shard, &did, &err), 0);
    assert_false(is_due(shard, first));
    assert_true(is_due(shard, last));
    put_numbers(shard, first, 2 * SET_DOC_COUNT);
    assert_true(is_due(shard, first));
    while (did && is_due(shard, last))
        assert_int_equal(shard_work(shard, &did, &err), 0);
    assert_false(is_due(shard, last));
    assert_true(is_due(shard, first));
    while (did && is_due(shard, first))
        assert_int_equal(shard_work(shard, &did, &err), 0);
    assert_false(is_due(shard, first)); /* from the end back to the beginning */
    shard_close(shard);
}

static void what_nobody_has_costs_little(void **state)
{
    struct shard *shard = open_wide(NULL);
    struct shard_sizes sizes;

    (void)state;
    shard_sizes(shard, &sizes);
    assert_true(sizes.columns + sizes.dictionaries + sizes.lists + sizes.sets <
                (uint64_t)SCHEMA_FIELD_COUNT_MAX * UNUSED_SIZE_MAX);
    shard_close(shard);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(documents_are_as_they_were_put_last),
        cmocka_unit_test(sets_are_scanned_in_turn),
        cmocka_unit_test(what_nobody_has_costs_little),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests_name("shard_wide", tests, NULL, NULL);
}
