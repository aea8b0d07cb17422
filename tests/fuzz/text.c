/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz target: numbers, durations, hexadecimal, base64, UTF-8 and varints of base/.
 *
 * What is taken must come out again as it went in; and what is written must be taken.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/text.h"
#include "base/varint.h"

enum { OUTPUT_SIZE_MAX = 1 << 20 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool truth)
{
    if (!truth)
        abort();
}

/* Leading zeros aside, a number that is taken is the one libc writes. */
static void check_numbers(struct bytes text)
{
    char written[32];
    uint64_t natural;
    int64_t integer;

    if (text_to_i64(text, &integer)) {
        bool negative = text.data[0] == '-';

        if (!negative)
            require(text_to_u64(text, &natural) && natural == (uint64_t)integer);
        snprintf(written, sizeof(written), "%" PRId64, integer);
        require(text_to_i64(bytes_of(written), &integer));
    }
    if (text_to_u64(text, &natural)) {
        struct bytes digits = text;

        while (digits.size > 1 && digits.data[0] == '0')
            digits = bytes_skip(digits, 1);
        snprintf(written, sizeof(written), "%" PRIu64, natural);
        require(bytes_equal_text(digits, written));
        require(text_to_size(text, &natural)); /* a size without a unit */
    }
    if (text_to_size(text, &natural))
        require(text.data[text.size - 1] == 'B' || text_to_u64(text, &natural));
    if (text_to_duration(text, &integer))
        require(integer >= 0 && !text_to_u64(text, &natural));
}

static void check_binary(struct bytes binary)
{
    struct buf text = BUF_INIT(OUTPUT_SIZE_MAX);
    struct buf back = BUF_INIT(OUTPUT_SIZE_MAX);

    text_put_hex(&text, binary);
    require(text.size == 2 * binary.size && text_from_hex(buf_bytes(&text), &back));
    require(bytes_equal(buf_bytes(&back), binary));
    buf_reset(&text);
    buf_reset(&back);
    text_put_base64(&text, binary);
    require(text.size == (binary.size + 2) / 3 * 4 && text_from_base64(buf_bytes(&text), &back));
    require(bytes_equal(buf_bytes(&back), binary));
    buf_reset(&text);
    buf_reset(&back);
    if (text_from_base64(binary, &text)) /* one text for each value: padding and alphabet aside */
        require(text.size <= binary.size / 4 * 3 + 2);
    if (text_from_hex(binary, &back))
        require(back.size * 2 == binary.size);
    buf_release(&text);
    buf_release(&back);
}

/* The literal of valid text is valid text on one line, whatever was in it. */
static void check_utf8(struct bytes text)
{
    struct buf json = BUF_INIT(OUTPUT_SIZE_MAX);

    if (text_is_utf8(text)) {
        text_put_json(&json, text);
        require(!buf_failed(&json) && text_is_utf8(buf_bytes(&json)));
        for (size_t i = 0; i < json.size; i++)
            require(json.data[i] >= ' ' && json.data[i] != 0x7f);
    }
    buf_release(&json);
}

static void check_varints(struct bytes in)
{
    uint64_t value;

    while (varint_get(&in, &value)) {
        uint8_t written[VARINT_SIZE_MAX];
        struct bytes again = bytes_make(written, varint_encode(value, written));
        uint64_t read;

        require(varint_get(&again, &read) && read == value && again.size == 0);
        require(zigzag_encode(zigzag_decode(value)) == value);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct bytes input = bytes_make(data, size);

    check_numbers(input);
    check_binary(input);
    check_utf8(input);
    check_varints(input);
    return 0;
}
