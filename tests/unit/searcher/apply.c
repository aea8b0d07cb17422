/* SPDX-License-Identifier: Apache-2.0 */
/* apply.c - messages of the index topic, applied: texts only when they changed, stale senders left
 * alone, and the same content whatever was repeated or interrupted. */
#include "searcher/replica/apply.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/file.h"
#include "base/memory.h"
#include "codec/message.h"
#include "index/bounds.h"
#include "index_messages.h"
#include "test_dir.h"
#include "torg/v1/index_message.pb-c.h"

struct world {
    struct shard *shard;
    struct applier *applier;
    struct arena *arena;
    uint64_t offset;
};

static void open_world(struct world *world, const char *dir)
{
    const struct shard_options options = {.dir = dir, .epoch = 3, .buffer_doc_count_max = 40};
    struct err err = {0};

    world->arena = arena_new();
    if (shard_open(&options, &world->shard, &err) ||
        applier_new(world->shard, &world->applier, &err))
        fail_msg("%s", err.text);
    world->offset = shard_offset(world->shard);
}

static void close_world(struct world *world)
{
    applier_free(world->applier);
    shard_close(world->shard);
    arena_free(world->arena);
}

static int apply(struct world *world, struct bytes message)
{
    struct err err = {0};
    int rc = applier_apply(world->applier, message, world->arena, NULL, &err);

    world->offset++;
    if (rc && !applier_is_final(rc))
        fail_msg("%s", err.text);
    return rc;
}

static void show(struct world *world)
{
    struct err err = {0};

    if (applier_publish(world->applier, world->offset, &err))
        fail_msg("%s", err.text);
}

static uint64_t hash_of(struct world *world)
{
    struct err err = {0};
    uint64_t hash;

    if (shard_hash(world->shard, &hash, &err))
        fail_msg("%s", err.text);
    return hash;
}

static void a_change_of_attributes_indexes_no_text(void **state)
{
    const struct apply_counts *counts;
    struct world world, anew;
    struct arena *arena = arena_new();

    (void)state;
    open_world(&world, NULL);
    open_world(&anew, NULL);
    counts = applier_counts(world.applier);
    apply(&world, message_schema(1, arena));
    apply(&world, message_put(1, 7, "a", 1, 1, arena));
    show(&world);
    assert_int_equal(counts->put_count, 1);
    for (uint64_t i = 2; i < 40; i++) {
        apply(&world, message_put(1, 7, "a", 1, i, arena));
        show(&world);
    }
    assert_int_equal(counts->put_count, 1);
    assert_int_equal(counts->change_count, 38);
    apply(&anew, message_schema(1, arena));
    apply(&anew, message_put(1, 7, "a", 1, 39, arena));
    show(&anew);
    assert_true(hash_of(&world) == hash_of(&anew));
    apply(&world, message_put(1, 7, "a", 99, 39, arena)); /* another text */
    apply(&world, message_put(1, 7, "b", 99, 39, arena)); /* another owner */
    assert_int_equal(counts->put_count, 3);
    assert_int_equal(counts->change_count, 38);
    apply(&world, message_remove(1, 7, "a", arena));
    assert_int_equal(counts->foreign_count, 1);
    apply(&world, message_remove(1, 7, "b", arena));
    assert_int_equal(counts->remove_count, 1);
    apply(&world, message_put(1, 7, "b", 99, 39, arena));
    assert_int_equal(counts->put_count, 4);
    close_world(&anew);
    close_world(&world);
    arena_free(arena);
}

/* Of several documents: the same change of each. */
static struct bytes message_fields_of(const uint32_t *doc_ids, const char *const *pks,
                                      const uint32_t *numbers, size_t count, int64_t value,
                                      bool is_none, struct arena *arena)
{
    Torg__V1__IndexMessage message = TORG__V1__INDEX_MESSAGE__INIT;
    Torg__V1__IndexFields fields = TORG__V1__INDEX_FIELDS__INIT;
    struct buf wire = BUF_INIT(1000);
    struct bytes bytes;

    fields.documents = arena_array(arena, count, sizeof(fields.documents[0]));
    for (size_t i = 0; i < count; i++) {
        Torg__V1__IndexFields__Document *document = MESSAGE_NEW(index_fields__document, arena);

        document->doc_id = doc_ids[i];
        document->pk = (char *)pks[i];
        document->version = 3 + (int64_t)i;
        document->modify_us = 4;
        document->values = arena_array(arena, 1, sizeof(document->values[0]));
        document->n_values = 1;
        document->values[0] = MESSAGE_NEW(index_value, arena);
        document->values[0]->number = numbers[i];
        document->values[0]->integer = value;
        document->values[0]->is_none = is_none;
        fields.documents[fields.n_documents++] = document;
    }
    message.ticket = 1;
    message.kind_case = TORG__V1__INDEX_MESSAGE__KIND_FIELDS;
    message.fields = &fields;
    message_encode(&message.base, &wire);
    bytes = arena_copy(arena, buf_bytes(&wire));
    buf_release(&wire);
    return bytes;
}

static struct bytes message_fields(uint32_t doc_id, const char *pk, uint32_t number, int64_t value,
                                   bool is_none, struct arena *arena)
{
    return message_fields_of(&doc_id, &pk, &number, 1, value, is_none, arena);
}

static int64_t number_at(struct world *world, docid id, uint16_t field)
{
    struct shard_reader *reader;
    const struct snapshot *snapshot;
    struct err err = {0};
    int64_t value;

    if (shard_reader_new(world->shard, &reader, &err) || shard_enter(reader, &snapshot, &err))
        fail_msg("%s", err.text);
    columns_get(snapshot->columns, id, &field, 1, &value);
    shard_exit(reader);
    shard_reader_free(reader);
    return value;
}

/* Before their document's publication and after it, of its owner and of others. */
static void side_fields_change_a_column_of_their_own_document_alone(void **state)
{
    enum { PRICE = 4 }; /* of index_messages.c: an integer; its id in the shard is one more */
    struct arena *arena = arena_new();
    const struct apply_counts *counts;
    struct world world;

    (void)state;
    open_world(&world, NULL);
    counts = applier_counts(world.applier);
    apply(&world, message_schema(1, arena));
    assert_int_equal(apply(&world, message_fields(7, "a", PRICE, 1, false, arena)), 0);
    assert_int_equal(counts->field_count, 0); /* there is no such document */
    apply(&world, message_put(1, 7, "a", 1, 1, arena));
    assert_int_equal(apply(&world, message_fields(7, "a", PRICE, 41, false, arena)), 0);
    show(&world);
    assert_int_equal(number_at(&world, 7, PRICE + 1), 41);
    assert_int_equal(apply(&world, message_fields(7, "a", PRICE, 42, false, arena)), 0);
    assert_int_equal(apply(&world, message_fields(7, "b", PRICE, 43, false, arena)), 0);
    show(&world);
    assert_int_equal(number_at(&world, 7, PRICE + 1), 42);
    assert_int_equal(apply(&world, message_fields(7, "a", PRICE, 0, true, arena)), 0);
    show(&world);
    assert_true(number_at(&world, 7, PRICE + 1) == COLUMN_NULL);
    assert_int_equal(counts->field_count, 3);
    assert_int_equal(counts->foreign_count, 2);
    assert_int_equal(counts->put_count, 1);
    assert_int_equal(apply(&world, message_fields(7, "a", 999, 1, false, arena)), ERR_INVALID);
    apply(&world, message_put(1, 7, "b", 99, 39, arena)); /* another owner has its own */
    assert_int_equal(apply(&world, message_fields(7, "a", PRICE, 44, false, arena)), 0);
    show(&world);
    assert_true(number_at(&world, 7, PRICE + 1) != 44);
    close_world(&world);
    arena_free(arena);
}

static void side_fields_are_refused_of_each_document_by_itself(void **state)
{
    enum { PRICE = 4, WRONG = 999, COUNT = 4 };
    static const uint32_t ids[COUNT] = {1, 2, 3, 4};
    static const uint32_t numbers[COUNT] = {WRONG, PRICE, WRONG, PRICE};
    static const char *const pks[COUNT] = {"a", "b", "c", "d"};
    struct arena *arena = arena_new();
    const struct apply_refusal *refused;
    struct world world;
    size_t count;

    (void)state;
    open_world(&world, NULL);
    apply(&world, message_schema(1, arena));
    for (size_t i = 0; i < COUNT; i++)
        apply(&world, message_put(1, ids[i], pks[i], 1, 1, arena));
    assert_int_equal(apply(&world, message_fields_of(ids, pks, numbers, COUNT, 41, false, arena)),
                     ERR_INVALID);
    refused = applier_refused(world.applier, &count);
    assert_int_equal(count, 2);
    for (size_t i = 0; i < count; i++) {
        assert_string_equal(refused[i].pk, pks[2 * i]);
        assert_int_equal(refused[i].version, 3 + 2 * i);
        assert_int_equal(refused[i].modify_us, 4);
        assert_true(*refused[i].reason);
    }
    show(&world);
    assert_int_equal(number_at(&world, 2, PRICE + 1), 41);
    assert_int_equal(number_at(&world, 4, PRICE + 1), 41);
    apply(&world, message_put(1, 1, "a", 1, 1, arena));
    applier_refused(world.applier, &count);
    assert_int_equal(count, 0);
    close_world(&world);
    arena_free(arena);
}

static void a_replaced_sender_is_left_alone(void **state)
{
    struct world world;
    struct arena *arena = arena_new();
    uint64_t hash;

    (void)state;
    open_world(&world, NULL);
    apply(&world, message_schema(5, arena));
    apply(&world, message_put(5, 1, "a", 1, 1, arena));
    apply(&world, message_progress(5, 0, 10, arena));
    show(&world);
    hash = hash_of(&world);
    apply(&world, message_put(4, 1, "a", 2, 2, arena));
    apply(&world, message_put(4, 2, "b", 2, 2, arena));
    apply(&world, message_remove(4, 1, "a", arena));
    apply(&world, message_progress(4, 0, 99, arena));
    show(&world);
    assert_true(hash_of(&world) == hash);
    assert_int_equal(applier_counts(world.applier)->stale_count, 4);
    assert_int_equal(applier_progress(world.applier)->lanes[0], 10);
    apply(&world, message_progress(6, 0, 12, arena));
    apply(&world, message_put(5, 2, "b", 2, 2, arena));
    show(&world);
    assert_true(hash_of(&world) == hash);
    assert_int_equal(applier_progress(world.applier)->ticket, 6);
    assert_int_equal(applier_progress(world.applier)->lanes[0], 12);
    close_world(&world);
    arena_free(arena);
}

static void what_cannot_be_applied_changes_nothing(void **state)
{
    struct world world;
    struct arena *arena = arena_new();
    const char *long_text = NULL;
    struct buf large = BUF_INIT(2 << 20);
    uint64_t hash;

    (void)state;
    open_world(&world, NULL);
    assert_int_equal(apply(&world, message_put(1, 1, "a", 1, 1, arena)), ERR_INVALID);
    apply(&world, message_schema(1, arena));
    show(&world);
    hash = hash_of(&world);
    assert_int_equal(apply(&world, bytes_of("\xff\xff\xff")), ERR_INVALID);
    assert_int_equal(apply(&world, bytes_of("\x08\x01")), ERR_INVALID);
    while (large.size < 900 << 10)
        buf_put_text(&large, "велосипед ");
    long_text = arena_text(arena, buf_bytes(&large));
    assert_int_equal(apply(&world, message_titled(1, 1, "a", long_text, 1, 0, arena)), ERR_LIMIT);
    show(&world);
    assert_true(hash_of(&world) == hash);
    assert_int_equal(apply(&world, message_put(1, 1, "a", 1, 1, arena)), 0);
    buf_release(&large);
    close_world(&world);
    arena_free(arena);
}

/* ---- any history ---- */

enum { OP_COUNT = 3000, DOC_COUNT = 150 };

/* The message at a place is always the same; tickets grow, and now and then an old one comes. */
static struct bytes make_message(uint64_t seed, uint64_t place, struct arena *arena)
{
    struct rng rng = rng_seeded(seed + place * 7919);
    uint64_t ticket = 1 + place / 500;
    uint32_t id = (uint32_t)rng_below(&rng, DOC_COUNT);
    const char *pk = arena_printf(arena, "pk%u", id);

    rng_next(&rng);
    if (place % 500 == 0)
        return message_schema(ticket, arena);
    if (ticket > 1 && rng_below(&rng, 10) == 0)
        ticket--;
    switch (rng_below(&rng, 8)) {
    case 0:
        return message_remove(ticket, id, pk, arena);
    case 1:
        return message_progress(ticket, (uint32_t)rng_below(&rng, 4), (int64_t)place, arena);
    default:
        return message_put(ticket, id, pk, id + rng_below(&rng, 3), rng_next(&rng), arena);
    }
}

static void check_equal(struct world *world, uint64_t seed, uint64_t count)
{
    struct arena *arena = arena_new();
    struct world anew;

    open_world(&anew, NULL);
    for (uint64_t i = 0; i < count; i++)
        apply(&anew, make_message(seed, i, arena));
    show(&anew);
    assert_true(hash_of(&anew) == hash_of(world));
    assert_memory_equal(applier_progress(anew.applier), applier_progress(world->applier),
                        sizeof(struct progress));
    close_world(&anew);
    arena_free(arena);
}

static void restarts_and_repetitions_end_in_the_same(void **state)
{
    struct rng rng = test_seed();
    uint64_t seed = rng_next(&rng);
    struct arena *arena = arena_new();
    char dir[TEST_DIR_SIZE];
    struct world world;
    struct err err = {0};

    (void)state;
    assert_true(test_dir_make(dir));
    open_world(&world, dir);
    while (world.offset < OP_COUNT) {
        arena_reset(arena);
        apply(&world, make_message(seed, world.offset, arena));
        if (rng_below(&rng, 10) && world.offset < OP_COUNT)
            continue;
        show(&world);
        if (rng_below(&rng, 15) == 0 && shard_checkpoint(world.shard, &err))
            fail_msg("%s", err.text);
        if (rng_below(&rng, 40) == 0) { /* as a kill would */
            close_world(&world);
            open_world(&world, dir);
        }
    }
    check_equal(&world, seed, OP_COUNT);
    assert_true(applier_counts(world.applier)->stale_count > 0);
    close_world(&world);
    assert_int_equal(dir_remove(dir, NULL), 0);
    arena_free(arena);
}

static void a_batch_that_is_sent_twice_is_harmless(void **state)
{
    struct rng rng = test_seed();
    uint64_t seed = rng_next(&rng);
    struct arena *arena = arena_new();
    struct world world;
    uint64_t place = 0;

    (void)state;
    open_world(&world, NULL);
    while (place < OP_COUNT) {
        uint64_t end = place + 1 + rng_below(&rng, 30);
        unsigned times = 1 + (unsigned)rng_below(&rng, 3);

        end = end > OP_COUNT ? OP_COUNT : end;
        arena_reset(arena);
        for (unsigned i = 0; i < times; i++)
            for (uint64_t k = place; k < end; k++)
                apply(&world, make_message(seed, k, arena));
        show(&world);
        place = end;
    }
    check_equal(&world, seed, OP_COUNT);
    close_world(&world);
    arena_free(arena);
}

static Torg__V1__IndexMessage *unpack(struct bytes message, struct arena *arena)
{
    ProtobufCMessage *decoded;

    assert_int_equal(
        message_decode(message, &torg__v1__index_message__descriptor, arena, &decoded, NULL), 0);
    return (Torg__V1__IndexMessage *)decoded;
}

static struct bytes pack(const Torg__V1__IndexMessage *message, struct arena *arena)
{
    struct buf out = BUF_INIT(1 << 16);
    struct bytes bytes;

    message_encode(&message->base, &out);
    bytes = arena_copy(arena, buf_bytes(&out));
    buf_release(&out);
    return bytes;
}

/* The message as it would be sent with numbers of that version, of that birth. */
static struct bytes numbered(struct bytes message, const uint32_t version[4], uint32_t birth,
                             struct arena *arena)
{
    Torg__V1__IndexMessage *decoded = unpack(message, arena);

    decoded->n_place = 4;
    decoded->place = (uint32_t *)version;
    if (decoded->kind_case == TORG__V1__INDEX_MESSAGE__KIND_PUT)
        decoded->put->birth = birth;
    return pack(decoded, arena);
}

/* The put or removal as that of another write of its document. */
static struct bytes ordered(struct bytes message, int64_t version, int64_t modify_us,
                            struct arena *arena)
{
    Torg__V1__IndexMessage *decoded = unpack(message, arena);

    if (decoded->kind_case == TORG__V1__INDEX_MESSAGE__KIND_PUT) {
        decoded->put->version = version;
        decoded->put->modify_us = modify_us;
    } else {
        decoded->remove->version = version;
        decoded->remove->modify_us = modify_us;
    }
    return pack(decoded, arena);
}

static void messages_of_other_numbers_are_refused(void **state)
{
    static const uint32_t own[4] = {3, 2, 1, 10}, later[4] = {3, 2, 1, 12};
    static const uint32_t others[3][4] = {{4, 2, 1, 10}, {3, 4, 1, 10}, {3, 2, 2, 10}};
    struct arena *arena = arena_new();
    struct world world;
    uint64_t hash;

    (void)state;
    open_world(&world, NULL);
    applier_set_numbers(world.applier, own);
    apply(&world, numbered(message_schema(5, arena), own, 0, arena));
    assert_int_equal(apply(&world, numbered(message_put(5, 1, "a", 1, 1, arena), own, 10, arena)),
                     0);
    show(&world);
    hash = hash_of(&world);
    for (int i = 0; i < 3; i++) {
        struct bytes put = ordered(message_put(9, 1, "b", 2, 2, arena), 4, 5, arena);
        struct bytes removal = ordered(message_remove(9, 1, "a", arena), 6, 7, arena);
        int64_t version, modify_us;
        struct err err = {0};
        const char *pk;

        put = numbered(put, others[i], 3, arena);

        assert_int_equal(applier_apply(world.applier, put, arena, &pk, &err), ERR_PRECONDITION);
        assert_true(applier_is_final(ERR_PRECONDITION));
        assert_string_equal(pk, "b");
        applier_last_order(world.applier, &version, &modify_us);
        assert_int_equal(version, 4);
        assert_int_equal(modify_us, 5);
        assert_non_null(strstr(err.text, "and this shard by 3.2.1"));
        removal = numbered(removal, others[i], 0, arena);
        assert_int_equal(applier_apply(world.applier, removal, arena, &pk, &err), ERR_PRECONDITION);
        assert_string_equal(pk, "a");
        applier_last_order(world.applier, &version, &modify_us);
        assert_int_equal(version, 6);
        assert_int_equal(modify_us, 7);
        assert_int_equal(apply(&world, bytes_of("\xff\xff\xff")), ERR_INVALID);
        applier_last_order(world.applier, &version, &modify_us);
        assert_true(version == 0 && modify_us == 0);
    }
    show(&world);
    assert_true(hash_of(&world) == hash);
    assert_int_equal(applier_progress(world.applier)->ticket, 5);
    assert_int_equal(apply(&world, numbered(message_put(5, 2, "c", 1, 1, arena), later, 12, arena)),
                     0);
    assert_int_equal(apply(&world, message_put(5, 3, "d", 1, 1, arena)), 0); /* from before */
    assert_memory_equal(applier_progress(world.applier)->numbers, later, sizeof(later));
    close_world(&world);
    arena_free(arena);
}

static uint32_t birth_of(struct world *world, uint32_t id)
{
    const struct snapshot *snapshot;
    struct shard_reader *reader;
    uint32_t birth;

    assert_int_equal(shard_reader_new(world->shard, &reader, NULL), 0);
    assert_int_equal(shard_enter(reader, &snapshot, NULL), 0);
    birth = shard_birth(world->shard, id);
    shard_exit(reader);
    shard_reader_free(reader);
    return birth;
}

static void the_birth_of_a_number_is_its_owners(void **state)
{
    static const uint32_t version[4] = {1, 1, 0, 9};
    struct arena *arena = arena_new();
    char dir[TEST_DIR_SIZE];
    struct world world;

    (void)state;
    assert_true(test_dir_make(dir));
    open_world(&world, dir);
    apply(&world, message_schema(1, arena));
    apply(&world, numbered(message_put(1, 7, "a", 1, 1, arena), version, 4, arena));
    apply(&world, message_put(1, 8, "b", 1, 1, arena));
    show(&world);
    assert_int_equal(birth_of(&world, 7), 4);
    assert_int_equal(birth_of(&world, 8), 0); /* not known */
    apply(&world, numbered(message_put(1, 8, "b", 1, 2, arena), version, 5, arena));
    show(&world);
    assert_int_equal(birth_of(&world, 8), 5); /* told with a change of attributes */
    assert_int_equal(shard_checkpoint(world.shard, NULL), 0);
    close_world(&world);
    open_world(&world, dir);
    assert_int_equal(birth_of(&world, 7), 4);
    assert_memory_equal(applier_progress(world.applier)->numbers, version, sizeof(version));
    apply(&world, numbered(message_put(1, 7, "c", 3, 1, arena), version, 9, arena));
    assert_int_equal(birth_of(&world, 7), 4); /* with its text, not before */
    show(&world);
    assert_int_equal(birth_of(&world, 7), 9);
    apply(&world, message_remove(1, 7, "c", arena));
    show(&world);
    assert_int_equal(birth_of(&world, 7), 0);
    close_world(&world);
    assert_int_equal(dir_remove(dir, NULL), 0);
    arena_free(arena);
}

static void a_note_is_read_as_it_was_written(void **state)
{
    const struct progress written = {.ticket = UINT64_MAX,
                                     .lanes = {1, INT64_MAX, 0, 77},
                                     .has_gap = true,
                                     .pour = INT64_MAX,
                                     .pour_ticket = 5,
                                     .numbers = {1, 2, UINT32_MAX, 4}};
    struct buf note = BUF_INIT(SHARD_NOTE_SIZE_MAX);
    struct progress read;
    struct err err;

    (void)state;
    progress_encode(&written, &note);
    assert_false(buf_failed(&note));
    assert_int_equal(progress_decode(buf_bytes(&note), &read, &err), 0);
    assert_int_equal(read.ticket, written.ticket);
    assert_memory_equal(read.lanes, written.lanes, sizeof(read.lanes));
    assert_true(read.has_gap);
    assert_int_equal(read.pour, written.pour);
    assert_int_equal(read.pour_ticket, 5);
    assert_memory_equal(read.numbers, written.numbers, sizeof(read.numbers));
    for (size_t size = 1; size < note.size; size++)
        assert_int_equal(progress_decode(bytes_make(note.data, size), &read, &err), ERR_CORRUPT);
    note.data[0] = 9;
    assert_int_equal(progress_decode(buf_bytes(&note), &read, &err), ERR_CORRUPT);
    assert_int_equal(progress_decode(BYTES_EMPTY, &read, &err), 0);
    assert_int_equal(read.ticket, 0);
    /* version 1: ticket 4, a gap that no pour could close, one lane */
    assert_int_equal(progress_decode(bytes_of("\x01\x04\x01\x01\x11"), &read, &err), 0);
    assert_int_equal(read.ticket, 4);
    assert_int_equal(read.lanes[0], 17);
    assert_int_equal(read.pour, -1);
    buf_release(&note);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_change_of_attributes_indexes_no_text),
        cmocka_unit_test(side_fields_change_a_column_of_their_own_document_alone),
        cmocka_unit_test(side_fields_are_refused_of_each_document_by_itself),
        cmocka_unit_test(a_replaced_sender_is_left_alone),
        cmocka_unit_test(what_cannot_be_applied_changes_nothing),
        cmocka_unit_test(restarts_and_repetitions_end_in_the_same),
        cmocka_unit_test(a_batch_that_is_sent_twice_is_harmless),
        cmocka_unit_test(messages_of_other_numbers_are_refused),
        cmocka_unit_test(the_birth_of_a_number_is_its_owners),
        cmocka_unit_test(a_note_is_read_as_it_was_written),
    };

    return cmocka_run_group_tests_name("apply", tests, NULL, NULL);
}
