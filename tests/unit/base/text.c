/* SPDX-License-Identifier: Apache-2.0 */
/* Unit tests of base/text.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/random.h"
#include "base/text.h"

static void numbers(void **state)
{
    static const char *const bad[] = {
        "", "-", "+1", " 1", "1 ", "1.0", "0x1", "1e3", "--1", "18446744073709551616", "a"};
    uint64_t u;
    int64_t i;
    size_t n;

    (void)state;
    assert_true(text_to_u64(bytes_of("0"), &u) && u == 0);
    assert_true(text_to_u64(bytes_of("18446744073709551615"), &u) && u == UINT64_MAX);
    assert_true(text_to_i64(bytes_of("9223372036854775807"), &i) && i == INT64_MAX);
    assert_true(text_to_i64(bytes_of("-9223372036854775808"), &i) && i == INT64_MIN);
    assert_false(text_to_i64(bytes_of("9223372036854775808"), &i));
    assert_false(text_to_i64(bytes_of("-9223372036854775809"), &i));
    assert_false(text_to_u64(bytes_of("-1"), &u));
    assert_true(text_to_i64(bytes_of("-0"), &i) && i == 0);
    for (n = 0; n < ARRAY_COUNT(bad); n++) {
        assert_false(text_to_u64(bytes_of(bad[n]), &u));
        assert_false(text_to_i64(bytes_of(bad[n]), &i));
    }
    assert_false(text_to_u64(bytes_make("1\0", 2), &u));
}

static void random_numbers_come_back(void **state)
{
    uint64_t seed = random_u64();
    struct rng rng = rng_seeded(seed);
    int round;

    (void)state;
    print_message("# seed %ju\n", (uintmax_t)seed);
    for (round = 0; round < 10000; round++) {
        uint64_t wanted = rng_next(&rng) >> rng_below(&rng, 64);
        char text[32];
        uint64_t u;
        int64_t i;

        snprintf(text, sizeof(text), "%ju", (uintmax_t)wanted);
        assert_true(text_to_u64(bytes_of(text), &u) && u == wanted);
        snprintf(text, sizeof(text), "%jd", (intmax_t)wanted);
        assert_true(text_to_i64(bytes_of(text), &i) && i == (int64_t)wanted);
    }
}

static void sizes_and_durations(void **state)
{
    static const char *const bad[] = {"", "KB", "1kb", "1 KB", "1TB", "-1KB", "1KBx", "1.5MB"};
    static const char *const bad_time[] = {"",    "5",  "s",  "1 s",
                                           "-1s", "1S", "1w", "9223372036854775807s"};
    uint64_t size;
    int64_t us;
    size_t i;

    (void)state;
    assert_true(text_to_size(bytes_of("4096"), &size) && size == 4096);
    assert_true(text_to_size(bytes_of("7B"), &size) && size == 7);
    assert_true(text_to_size(bytes_of("64KB"), &size) && size == 65536);
    assert_true(text_to_size(bytes_of("16MB"), &size) && size == 16777216);
    assert_true(text_to_size(bytes_of("2GB"), &size) && size == UINT64_C(2147483648));
    assert_false(text_to_size(bytes_of("18446744073709551615GB"), &size));
    for (i = 0; i < ARRAY_COUNT(bad); i++)
        assert_false(text_to_size(bytes_of(bad[i]), &size));
    assert_true(text_to_duration(bytes_of("250us"), &us) && us == 250);
    assert_true(text_to_duration(bytes_of("20ms"), &us) && us == 20000);
    assert_true(text_to_duration(bytes_of("30s"), &us) && us == 30000000);
    assert_true(text_to_duration(bytes_of("15m"), &us) && us == 900000000);
    assert_true(text_to_duration(bytes_of("24h"), &us) && us == INT64_C(86400000000));
    assert_true(text_to_duration(bytes_of("90d"), &us) && us == INT64_C(7776000000000));
    for (i = 0; i < ARRAY_COUNT(bad_time); i++)
        assert_false(text_to_duration(bytes_of(bad_time[i]), &us));
}

static void binary_as_text(void **state)
{
    static const char *const base64[][2] = {/* RFC 4648, 10 */
                                            {"", ""},
                                            {"f", "Zg=="},
                                            {"fo", "Zm8="},
                                            {"foo", "Zm9v"},
                                            {"foob", "Zm9vYg=="},
                                            {"fooba", "Zm9vYmE="},
                                            {"foobar", "Zm9vYmFy"}};
    static const char *const bad[] = {
        "Z", "Zg=", "Zg===", "=", "====", "Zh==", "Zm9=", "Zm9v=", "Z g=", "Zm8\n", "Zg=a", "Zm.v"};
    struct buf out = BUF_INIT(64);
    size_t i;

    (void)state;
    for (i = 0; i < ARRAY_COUNT(base64); i++) {
        buf_reset(&out);
        text_put_base64(&out, bytes_of(base64[i][0]));
        assert_string_equal(buf_text(&out), base64[i][1]);
        buf_reset(&out);
        assert_true(text_from_base64(bytes_of(base64[i][1]), &out));
        assert_string_equal(buf_text(&out), base64[i][0]);
    }
    buf_reset(&out);
    assert_true(text_from_base64(bytes_of("-_-_"), &out)); /* URL-safe, and unpadded */
    assert_memory_equal(out.data, "\xfb\xff\xbf", 3);
    buf_reset(&out);
    assert_true(text_from_base64(bytes_of("Zg"), &out));
    for (i = 0; i < ARRAY_COUNT(bad); i++) {
        buf_reset(&out);
        assert_false(text_from_base64(bytes_of(bad[i]), &out));
    }
    buf_reset(&out);
    text_put_hex(&out, bytes_make("\x00\xaf\xff", 3));
    assert_string_equal(buf_text(&out), "00afff");
    buf_reset(&out);
    assert_true(text_from_hex(bytes_of("00aFFf"), &out));
    assert_memory_equal(out.data, "\x00\xaf\xff", 3);
    assert_false(text_from_hex(bytes_of("abc"), &out));
    assert_false(text_from_hex(bytes_of("ag"), &out));
    assert_false(text_from_hex(bytes_of("@0"), &out));
    buf_release(&out);
}

static void random_binary_comes_back(void **state)
{
    uint64_t seed = random_u64();
    struct rng rng = rng_seeded(seed);
    struct buf text = BUF_INIT(400);
    struct buf back = BUF_INIT(200);
    int round;

    (void)state;
    print_message("# seed %ju\n", (uintmax_t)seed);
    for (round = 0; round < 3000; round++) {
        uint8_t data[150];
        size_t size = rng_below(&rng, sizeof(data));
        size_t i;

        for (i = 0; i < size; i++)
            data[i] = (uint8_t)rng_next(&rng);
        buf_reset(&text);
        buf_reset(&back);
        if (round % 2) {
            text_put_hex(&text, bytes_make(data, size));
            assert_true(text_from_hex(buf_bytes(&text), &back));
        } else {
            text_put_base64(&text, bytes_make(data, size));
            assert_true(text_from_base64(buf_bytes(&text), &back));
        }
        assert_true(bytes_equal(buf_bytes(&back), bytes_make(data, size)));
    }
    buf_release(&text);
    buf_release(&back);
}

/* The definition, character by character: decode, then ask whether it was the shortest form. */
static bool slow_is_utf8(const uint8_t *data, size_t size)
{
    size_t i = 0;

    while (i < size) {
        uint32_t c = data[i];
        size_t length = c < 0x80 ? 1 : c >> 5 == 6 ? 2 : c >> 4 == 14 ? 3 : c >> 3 == 30 ? 4 : 0;
        size_t shortest;
        size_t j;

        if (!length || length > size - i)
            return false;
        if (length > 1)
            c &= 0x7fu >> length;
        for (j = 1; j < length; j++) {
            if (data[i + j] >> 6 != 2)
                return false;
            c = c << 6 | (data[i + j] & 0x3f);
        }
        shortest = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
        if (shortest != length || (c >= 0xd800 && c < 0xe000) || c > 0x10ffff)
            return false;
        i += length;
    }
    return true;
}

static void utf8_is_what_its_definition_says(void **state)
{
    static const uint8_t pieces[] = {0x00, 0x41, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf,
                                     0xc0, 0xc1, 0xc2, 0xdf, 0xe0, 0xe1, 0xec, 0xed, 0xee,
                                     0xef, 0xf0, 0xf1, 0xf3, 0xf4, 0xf5, 0xf8, 0xff};
    enum { N = ARRAY_COUNT(pieces) };
    static const char *const good[] = {"", "abcdefgh", "велосипед", "日本", "😀", "abcdefghя"};
    uint8_t data[20];
    size_t i;
    size_t padding;

    (void)state;
    for (i = 0; i < ARRAY_COUNT(good); i++)
        assert_true(text_is_utf8(bytes_of(good[i])));
    for (i = 0; i < (size_t)N * N * N * N; i++) { /* all of four bytes, at every edge of a range */
        data[0] = pieces[i % N];
        data[1] = pieces[i / N % N];
        data[2] = pieces[i / N / N % N];
        data[3] = pieces[i / N / N / N];
        if (text_is_utf8(bytes_make(data, 4)) != slow_is_utf8(data, 4))
            fail_msg("%02x %02x %02x %02x", data[0], data[1], data[2], data[3]);
    }
    for (padding = 0; padding < 16; padding++) { /* behind any number of plain ones */
        memset(data, 'a', sizeof(data));
        memcpy(data + padding, "\xd1\x8f", 2);
        assert_true(text_is_utf8(bytes_make(data, padding + 2)));
        assert_false(text_is_utf8(bytes_make(data, padding + 1)));
        assert_true(text_is_utf8(bytes_make(data, sizeof(data))));
        data[padding + 1] = 'x';
        assert_false(text_is_utf8(bytes_make(data, sizeof(data))));
    }
}

/* Words of two-byte letters with something foreign in them: what is looked at eight bytes at a
 * time says the same as what is looked at one by one. */
static void utf8_of_random_words(void **state)
{
    static const uint8_t spoilers[] = {0x20, 0x41, 0x80, 0xbf, 0xc0, 0xc1, 0xc2, 0xdf, 0xe0, 0xff};
    uint64_t seed = random_u64();
    struct rng rng = rng_seeded(seed);
    uint8_t data[48];

    (void)state;
    for (int round = 0; round < 200000; round++) {
        size_t size = rng_below(&rng, sizeof(data) + 1);

        for (size_t i = 0; i < size; i++)
            data[i] = (uint8_t)(i % 2 ? 0x80 + rng_below(&rng, 0x40) : 0xc2 + rng_below(&rng, 30));
        for (size_t i = rng_below(&rng, 3); size && i > 0; i--)
            data[rng_below(&rng, size)] = spoilers[rng_below(&rng, sizeof(spoilers))];
        if (text_is_utf8(bytes_make(data, size)) != slow_is_utf8(data, size))
            fail_msg("seed %ju, round %d", (uintmax_t)seed, round);
    }
}

static void json_literals(void **state)
{
    static const struct {
        struct bytes text;
        const char *literal;
    } cases[] = {
        {BYTES_LITERAL(""), "\"\""},
        {BYTES_LITERAL("plain я"), "\"plain я\""},
        {BYTES_LITERAL("\"\\/"), "\"\\\"\\\\/\""},
        {BYTES_LITERAL("a\nb\t\r"), "\"a\\nb\\u0009\\u000d\""},
        {BYTES_LITERAL("\x00\x1f\x7f"), "\"\\u0000\\u001f\\u007f\""},
        {BYTES_LITERAL("\xc2\x9b[2J\xc2\xa0"), "\"\\u009b[2J\xc2\xa0\""},
        {BYTES_LITERAL("\xc2\x80"), "\"\\u0080\""},
    };
    struct buf out = BUF_INIT(128);
    size_t i;

    (void)state;
    for (i = 0; i < ARRAY_COUNT(cases); i++) {
        buf_reset(&out);
        text_put_json(&out, cases[i].text);
        assert_string_equal(buf_text(&out), cases[i].literal);
    }
    buf_release(&out);
}

static void slow_put_json(struct buf *out, const uint8_t *data, size_t size)
{
    buf_put_text(out, "\"");
    for (size_t i = 0; i < size; i++) {
        bool upper = data[i] == 0xc2 && i + 1 < size && data[i + 1] < 0xa0;

        i += upper;
        if (data[i] == '\n')
            buf_put_text(out, "\\n");
        else if (upper || data[i] < 0x20 || data[i] == 0x7f)
            buf_printf(out, "\\u%04x", data[i]);
        else if (data[i] == '"' || data[i] == '\\')
            buf_printf(out, "\\%c", data[i]);
        else
            buf_put_byte(out, data[i]);
    }
    buf_put_text(out, "\"");
}

/* Text is looked at eight bytes at a time: what must be escaped may be in any of them. */
static void json_literals_of_random_text(void **state)
{
    static const char *const parts[] = {
        "\"", "\\", "\n",   "\t", "\x7f", "\xc2\x85", "\xc2\xa9",
        "я",  "x",  "\x80", "~",  "!",    " ",        "\xf0\x9f\x98\x80"};
    uint64_t seed = random_u64();
    struct rng rng = rng_seeded(seed);
    struct buf text = BUF_INIT(1 << 10), quick = BUF_INIT(1 << 12), slow = BUF_INIT(1 << 12);

    (void)state;
    for (int round = 0; round < 100000; round++) {
        size_t plain = 1 + rng_below(&rng, 12);

        buf_reset(&text);
        for (size_t i = rng_below(&rng, 40); i > 0; i--)
            buf_put_text(&text, rng_below(&rng, plain)
                                    ? "abc" + rng_below(&rng, 3)
                                    : parts[rng_below(&rng, ARRAY_COUNT(parts))]);
        buf_reset(&quick);
        buf_reset(&slow);
        text_put_json(&quick, buf_bytes(&text));
        slow_put_json(&slow, text.data, text.size);
        if (!bytes_equal(buf_bytes(&quick), buf_bytes(&slow)))
            fail_msg("seed %ju, round %d", (uintmax_t)seed, round);
    }
    buf_release(&text);
    buf_release(&quick);
    buf_release(&slow);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers),
        cmocka_unit_test(random_numbers_come_back),
        cmocka_unit_test(sizes_and_durations),
        cmocka_unit_test(binary_as_text),
        cmocka_unit_test(random_binary_comes_back),
        cmocka_unit_test(utf8_is_what_its_definition_says),
        cmocka_unit_test(utf8_of_random_words),
        cmocka_unit_test(json_literals),
        cmocka_unit_test(json_literals_of_random_text),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
