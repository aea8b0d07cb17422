/* SPDX-License-Identifier: Apache-2.0 */
/* Unit tests of codec/message.h; protobuf-c's own decoder is the outside check. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/memory.h"
#include "base/varint.h"
#include "codec/bounds.h"
#include "codec/message.h"
#include "echo.pb-c.h"
#include "random_message.h"

typedef Torg__Test__V1__Everything everything;
#define EVERYTHING (&torg__test__v1__everything__descriptor)

enum { WIRE_SIZE_MAX = 64 << 20 };

static struct arena *arena;
static struct err err;
static ProtobufCMessage *message;

static int set_up(void **state)
{
    (void)state;
    arena = arena_new();
    message = NULL;
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    arena_free(arena);
    return 0;
}

static int decode(struct bytes wire)
{
    err.text[0] = 0;
    return message_decode(wire, EVERYTHING, arena, &message, &err);
}

static void refuses(struct bytes wire, int code, const char *text)
{
    assert_int_equal(decode(wire), code);
    assert_null(message);
    if (!strstr(err.text, text))
        fail_msg("\"%s\" does not say \"%s\"", err.text, text);
}

#define WIRE(literal) bytes_make(literal, sizeof(literal) - 1)

static void random_messages_come_back_and_agree_with_protobuf_c(void **state)
{
    uint64_t seed = getenv("TORG_SEED") ? strtoull(getenv("TORG_SEED"), NULL, 0) : random_u64();
    struct rng rng = rng_seeded(seed);
    struct buf wire = BUF_INIT(WIRE_SIZE_MAX);
    struct buf again = BUF_INIT(WIRE_SIZE_MAX);
    int i;

    (void)state;
    print_message("# seed %ju\n", (uintmax_t)seed);
    for (i = 0; i < 300; i++) {
        ProtobufCMessage *theirs;

        arena_reset(arena);
        buf_reset(&wire);
        message_encode(random_message(&rng, EVERYTHING, arena, 2), &wire);
        assert_int_equal(decode(buf_bytes(&wire)), 0);
        buf_reset(&again);
        message_encode(message, &again);
        assert_true(bytes_equal(buf_bytes(&wire), buf_bytes(&again)));
        theirs = protobuf_c_message_unpack(EVERYTHING, NULL, wire.size, wire.data);
        assert_non_null(theirs);
        buf_reset(&again);
        message_encode(theirs, &again);
        assert_true(bytes_equal(buf_bytes(&wire), buf_bytes(&again)));
        protobuf_c_message_free_unpacked(theirs, NULL);
    }
    buf_release(&wire);
    buf_release(&again);
}

/* Cutting or flipping a byte must give an error or a message, never a crash; and no message that
 * encodes to something protobuf-c cannot read. */
static void damaged_messages_are_refused_or_read(void **state)
{
    uint64_t seed = random_u64();
    struct rng rng = rng_seeded(seed);
    struct buf wire = BUF_INIT(WIRE_SIZE_MAX);
    struct buf again = BUF_INIT(WIRE_SIZE_MAX);
    int refused = 0;
    int i;

    (void)state;
    print_message("# seed %ju\n", (uintmax_t)seed);
    for (i = 0; i < 2000; i++) {
        ProtobufCMessage *theirs;

        arena_reset(arena);
        buf_reset(&wire);
        message_encode(random_message(&rng, EVERYTHING, arena, 1), &wire);
        if (!wire.size)
            continue;
        wire.data[rng_below(&rng, wire.size)] ^= (uint8_t)(1 << rng_below(&rng, 8));
        buf_truncate(&wire, wire.size - rng_below(&rng, 2));
        if (decode(buf_bytes(&wire)) != 0) {
            assert_true(err.text[0]);
            refused++;
            continue;
        }
        buf_reset(&again);
        message_encode(message, &again);
        theirs = protobuf_c_message_unpack(EVERYTHING, NULL, again.size, again.data);
        assert_non_null(theirs);
        protobuf_c_message_free_unpacked(theirs, NULL);
    }
    assert_true(refused > 100);
    buf_release(&wire);
    buf_release(&again);
}

static void unknown_fields_are_kept(void **state)
{
    /* 100: 7; 101: "abc"; 102: fixed32; 2: 5 */
    struct bytes wire = WIRE("\x10\x05\xa0\x06\x07\xaa\x06\x03"
                             "abc\xb5\x06\x01\x02\x03\x04");
    struct buf again = BUF_INIT(1024);

    (void)state;
    assert_int_equal(decode(wire), 0);
    assert_int_equal(((everything *)message)->an_int32, 5);
    assert_int_equal(message->n_unknown_fields, 3);
    message_encode(message, &again);
    assert_true(bytes_equal(wire, buf_bytes(&again)));
    buf_release(&again);
}

static void the_last_wins_and_submessages_merge(void **state)
{
    const everything *got;

    (void)state;
    /* an_int32 1 then 2; child {a_bool} then child {an_int32 3} */
    assert_int_equal(decode(WIRE("\x10\x01\x10\x02\x6a\x02\x08\x01\x6a\x02\x10\x03")), 0);
    got = (everything *)message;
    assert_int_equal(got->an_int32, 2);
    assert_true(got->child->a_bool);
    assert_int_equal(got->child->an_int32, 3);
    /* choice_text "x", then choice_child {a_bool}, then choice_child {an_int32 3} */
    assert_int_equal(decode(WIRE("\xc2\x01\x01x\xca\x01\x02\x08\x01\xca\x01\x02\x10\x03")), 0);
    got = (everything *)message;
    assert_int_equal(got->choice_case, TORG__TEST__V1__EVERYTHING__CHOICE_CHOICE_CHILD);
    assert_true(got->choice_child->a_bool);
    assert_int_equal(got->choice_child->an_int32, 3);
}

static void lists_are_read_packed_and_not(void **state)
{
    const everything *got;

    (void)state;
    assert_int_equal(decode(WIRE("\x70\x01\x72\x03\x02\xac\x02\x70\x04")), 0);
    got = (everything *)message;
    assert_int_equal(got->n_many_int64, 4);
    assert_int_equal(got->many_int64[0], 1);
    assert_int_equal(got->many_int64[1], 2);
    assert_int_equal(got->many_int64[2], 300);
    assert_int_equal(got->many_int64[3], 4);
    refuses(WIRE("\x72\x02\x02\xac"), ERR_INVALID, "many_int64[1]: the list ends within a number");
}

static void presence_is_kept(void **state)
{
    (void)state;
    assert_int_equal(decode(WIRE("\xa0\x01\x00")), 0);
    assert_int_equal(((everything *)message)->_maybe_int32_case, 20);
    assert_int_equal(((everything *)message)->_maybe_string_case, 0);
}

static void errors_name_the_field(void **state)
{
    (void)state;
    refuses(WIRE("\x52\x02\xc3\x28"), ERR_INVALID, "a_string: the text is not valid UTF-8");
    refuses(WIRE("\x52\x02\xc0\x80"), ERR_INVALID, "a_string: the text is not valid UTF-8");
    refuses(WIRE("\x52\x03"
                 "a\0b"),
            ERR_INVALID, "a_string: the text holds U+0000");
    /* many_children {}, many_children {child {a_string bad}} */
    refuses(WIRE("\x8a\x01\x00\x8a\x01\x05\x6a\x03\x52\x01\xff"), ERR_INVALID,
            "many_children[1].child.a_string: ");
    refuses(WIRE("\x52\x05"
                 "abc"),
            ERR_INVALID, "a_string: the message ends within the field");
    refuses(WIRE("\x15\x01\x02\x03\x04"), ERR_INVALID, "an_int32: the wire type");
    refuses(WIRE("\x10\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"), ERR_INVALID,
            "an_int32: a number is longer than 10 bytes");
    refuses(WIRE("\x10\xff"), ERR_INVALID, "an_int32: the message ends within a number");
    refuses(WIRE("\x00\x01"), ERR_INVALID, "message: a field number is out of range");
    refuses(WIRE("\x0b\x0c"), ERR_INVALID, "message: a wire type is not supported");
    refuses(WIRE("\xa7\x06"), ERR_INVALID, "message: a wire type is not supported");
}

/* child in child in child …, count of them in all, built from the inside. */
static void put_nested(struct buf *out, unsigned count)
{
    struct buf inner = BUF_INIT(WIRE_SIZE_MAX);
    struct buf outer = BUF_INIT(WIRE_SIZE_MAX);

    while (--count) {
        buf_reset(&outer);
        buf_put_byte(&outer, 0x6a);
        varint_put(&outer, inner.size);
        buf_put(&outer, buf_bytes(&inner));
        buf_reset(&inner);
        buf_put(&inner, buf_bytes(&outer));
    }
    buf_put(out, buf_bytes(&inner));
    buf_release(&inner);
    buf_release(&outer);
}

static void nesting_is_bounded(void **state)
{
    struct buf wire = BUF_INIT(WIRE_SIZE_MAX);

    (void)state;
    put_nested(&wire, MESSAGE_DEPTH_MAX);
    assert_int_equal(decode(buf_bytes(&wire)), 0);
    buf_reset(&wire);
    put_nested(&wire, MESSAGE_DEPTH_MAX + 1);
    refuses(buf_bytes(&wire), ERR_LIMIT, "child.child.");
    refuses(buf_bytes(&wire), ERR_LIMIT, "nested deeper than 64");
    buf_reset(&wire);
    put_nested(&wire, 5000);
    refuses(buf_bytes(&wire), ERR_LIMIT, "nested deeper than 64");
    buf_release(&wire);
}

static void memory_is_bounded(void **state)
{
    struct buf wire = BUF_INIT(WIRE_SIZE_MAX);
    int i;

    (void)state;
    for (i = 0; i < 1 << 20; i++) /* 3 MB that would take 400 */
        buf_put_raw(&wire, "\x8a\x01\x00", 3);
    refuses(buf_bytes(&wire), ERR_LIMIT, "more than 32 MB");
    assert_true(arena_size(arena) < 2 * (size_t)MESSAGE_MEMORY_MAX);
    buf_release(&wire);
}

static void unknown_fields_are_bounded(void **state)
{
    struct buf wire = BUF_INIT(WIRE_SIZE_MAX);
    int i;

    (void)state;
    for (i = 0; i < MESSAGE_UNKNOWN_COUNT_MAX; i++)
        buf_put_raw(&wire, "\xa0\x06\x07", 3);
    assert_int_equal(decode(buf_bytes(&wire)), 0);
    assert_int_equal(message->n_unknown_fields, MESSAGE_UNKNOWN_COUNT_MAX);
    buf_put_raw(&wire, "\xa0\x06\x07", 3);
    refuses(buf_bytes(&wire), ERR_LIMIT, "more than 256 unknown fields");
    buf_release(&wire);
}

static void a_full_buffer_is_told(void **state)
{
    struct buf out = BUF_INIT(3);

    (void)state;
    assert_int_equal(decode(WIRE("\x52\x03"
                                 "abc")),
                     0);
    message_encode(message, &out);
    assert_true(buf_failed(&out));
    buf_release(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_messages_come_back_and_agree_with_protobuf_c),
        cmocka_unit_test(damaged_messages_are_refused_or_read),
        cmocka_unit_test(unknown_fields_are_kept),
        cmocka_unit_test(the_last_wins_and_submessages_merge),
        cmocka_unit_test(lists_are_read_packed_and_not),
        cmocka_unit_test(presence_is_kept),
        cmocka_unit_test(errors_name_the_field),
        cmocka_unit_test(nesting_is_bounded),
        cmocka_unit_test(memory_is_bounded),
        cmocka_unit_test(unknown_fields_are_bounded),
        cmocka_unit_test(a_full_buffer_is_told),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
