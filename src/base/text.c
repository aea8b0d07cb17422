/* SPDX-License-Identifier: Apache-2.0 */
/* text.c - see text.h. */
#include "base/text.h"

#include "base/checked.h"
#include "base/endian.h"
#include "base/memory.h"

bool text_to_u64(struct bytes text, uint64_t *value)
{
    uint64_t result = 0;
    size_t i;

    if (text.size == 0)
        return false;
    for (i = 0; i < text.size; i++) {
        uint8_t digit = (uint8_t)(text.data[i] - '0');

        if (digit > 9 || __builtin_mul_overflow(result, 10u, &result) ||
            __builtin_add_overflow(result, digit, &result))
            return false;
    }
    *value = result;
    return true;
}

bool text_to_i64(struct bytes text, int64_t *value)
{
    bool negative = text.size && text.data[0] == '-';
    uint64_t magnitude;

    if (negative)
        text = bytes_skip(text, 1);
    if (!text_to_u64(text, &magnitude) || magnitude > (uint64_t)INT64_MAX + negative)
        return false;
    *value = negative ? (int64_t)(0 - magnitude) : (int64_t)magnitude;
    return true;
}

struct unit {
    const char *name;
    uint64_t factor;
};

/* A number followed by one of the units, or by nothing when the empty unit is among them. */
static bool parse_with_unit(struct bytes text, const struct unit *units, size_t count,
                            uint64_t *value)
{
    size_t digits = 0;
    uint64_t number;
    size_t i;

    while (digits < text.size && text.data[digits] >= '0' && text.data[digits] <= '9')
        digits++;
    if (!text_to_u64(bytes_make(text.data, digits), &number))
        return false;
    for (i = 0; i < count; i++) {
        if (bytes_equal_text(bytes_skip(text, digits), units[i].name))
            return !__builtin_mul_overflow(number, units[i].factor, value);
    }
    return false;
}

bool text_to_size(struct bytes text, uint64_t *bytes)
{
    static const struct unit units[] = {
        {"", 1}, {"B", 1}, {"KB", 1u << 10}, {"MB", 1u << 20}, {"GB", 1u << 30},
    };

    return parse_with_unit(text, units, ARRAY_COUNT(units), bytes);
}

bool text_to_duration(struct bytes text, int64_t *microseconds)
{
    static const struct unit units[] = {
        {"us", 1},
        {"ms", 1000},
        {"s", 1000000},
        {"m", 60 * 1000000ull},
        {"h", 3600 * 1000000ull},
        {"d", 86400 * 1000000ull},
    };
    uint64_t value;

    if (!parse_with_unit(text, units, ARRAY_COUNT(units), &value) || value > INT64_MAX)
        return false;
    *microseconds = (int64_t)value;
    return true;
}

void text_put_hex(struct buf *out, struct bytes binary)
{
    static const char digits[] = "0123456789abcdef";
    size_t i;

    for (i = 0; i < binary.size; i++) {
        buf_put_byte(out, (uint8_t)digits[binary.data[i] >> 4]);
        buf_put_byte(out, (uint8_t)digits[binary.data[i] & 15]);
    }
}

static int hex_digit(uint8_t c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool text_from_hex(struct bytes text, struct buf *out)
{
    size_t i;

    if (text.size % 2)
        return false;
    for (i = 0; i < text.size; i += 2) {
        int high = hex_digit(text.data[i]);
        int low = hex_digit(text.data[i + 1]);

        if (high < 0 || low < 0)
            return false;
        buf_put_byte(out, (uint8_t)(high << 4 | low));
    }
    return !buf_failed(out);
}

void text_put_base64(struct buf *out, struct bytes binary)
{
    static const char alphabet[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    size_t i;

    for (i = 0; i < binary.size; i += 3) {
        size_t left = binary.size - i;
        uint32_t group = (uint32_t)binary.data[i] << 16 |
                         (left > 1 ? (uint32_t)binary.data[i + 1] << 8 : 0) |
                         (left > 2 ? binary.data[i + 2] : 0);

        buf_put_byte(out, (uint8_t)alphabet[group >> 18]);
        buf_put_byte(out, (uint8_t)alphabet[group >> 12 & 63]);
        buf_put_byte(out, left > 1 ? (uint8_t)alphabet[group >> 6 & 63] : '=');
        buf_put_byte(out, left > 2 ? (uint8_t)alphabet[group & 63] : '=');
    }
}

void text_put_base64_url(struct buf *out, struct bytes binary)
{
    size_t start = out->size;

    text_put_base64(out, binary);
    for (size_t i = start; i < out->size; i++)
        out->data[i] = out->data[i] == '+' ? '-' : out->data[i] == '/' ? '_' : out->data[i];
}

static int base64_digit(uint8_t c)
{
    if (c >= 'A' && c <= 'Z')
        return c - 'A';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 26;
    if (c >= '0' && c <= '9')
        return c - '0' + 52;
    if (c == '+' || c == '-')
        return 62;
    return c == '/' || c == '_' ? 63 : -1;
}

bool text_from_base64(struct bytes text, struct buf *out)
{
    uint32_t group = 0;
    unsigned bits = 0;
    size_t i;

    for (i = 0; i < 2 && text.size && (text.size + i) % 4 == 0; i++) {
        if (text.data[text.size - 1] != '=')
            break;
        text.size--;
    }
    if (text.size % 4 == 1)
        return false;
    for (i = 0; i < text.size; i++) {
        int digit = base64_digit(text.data[i]);

        if (digit < 0)
            return false;
        group = group << 6 | (uint32_t)digit;
        bits += 6;
        if (bits >= 8) {
            bits -= 8;
            buf_put_byte(out, (uint8_t)(group >> bits));
        }
    }
    return (group & ((1u << bits) - 1)) == 0 && !buf_failed(out);
}

/* Length of the valid sequence at the front, 0 if there is none. */
static size_t utf8_sequence(const uint8_t *at, size_t left)
{
    uint8_t lead = at[0];
    uint8_t low = 0x80;
    uint8_t high = 0xbf;
    size_t length;
    size_t i;

    if (lead < 0x80)
        return 1;
    if (lead < 0xc2 || lead > 0xf4)
        return 0;
    length = lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
    if (length > left)
        return 0;
    if (lead == 0xe0)
        low = 0xa0; /* not the shortest form */
    else if (lead == 0xed)
        high = 0x9f; /* surrogates */
    else if (lead == 0xf0)
        low = 0x90;
    else if (lead == 0xf4)
        high = 0x8f; /* past U+10FFFF */
    if (at[1] < low || at[1] > high)
        return 0;
    for (i = 2; i < length; i++) {
        if ((at[i] & 0xc0) != 0x80)
            return 0;
    }
    return length;
}

/* Whether four characters of two bytes each are there, as in Cyrillic: 110xxxxx 10xxxxxx, and of
 * the first five bits not only the last is set (those would fit one byte). The sum carries into the
 * highest bit of each pair that has another. */
static bool is_four_pairs(uint64_t word)
{
    return (word & UINT64_C(0xc0e0c0e0c0e0c0e0)) == UINT64_C(0x80c080c080c080c0) &&
           (((word & UINT64_C(0x001e001e001e001e)) + UINT64_C(0x7fff7fff7fff7fff)) &
            UINT64_C(0x8000800080008000)) == UINT64_C(0x8000800080008000);
}

bool text_is_utf8(struct bytes text)
{
    size_t at = 0;

    while (at < text.size) {
        size_t length;
        uint64_t word;

        if (text.size - at >= sizeof(word)) {
            word = get_le64(text.data + at);
            if (!(word & UINT64_C(0x8080808080808080)) || is_four_pairs(word)) {
                at += sizeof(word);
                continue;
            }
        }
        length = utf8_sequence(text.data + at, text.size - at);
        if (!length)
            return false;
        at += length;
        while (at < text.size && text.data[at] < 0x80) /* a blank after a word, to begin anew */
            at++;
    }
    return true;
}

enum { ESCAPE_SIZE_MAX = 6 };

/* Whether one of eight bytes needs a look: below 0x20, a quote, a backslash, 0x7f, or 0xc2. A byte
 * is zero if subtracting one sets its high bit, which it had not; borrows reach no lower byte. */
static bool has_special(uint64_t word)
{
    const uint64_t ones = UINT64_C(0x0101010101010101);
    const uint64_t highs = ones * 0x80;
    uint64_t quote = word ^ (ones * '"'), slash = word ^ (ones * '\\');
    uint64_t erase = word ^ (ones * 0x7f), upper = word ^ (ones * 0xc2);

    return (((word - ones * 0x20) & ~word) | ((quote - ones) & ~quote) | ((slash - ones) & ~slash) |
            ((erase - ones) & ~erase) | ((upper - ones) & ~upper)) &
           highs;
}

/* Where the next byte is that must be escaped, or the end. */
static size_t find_escaped(struct bytes text, size_t at)
{
    for (;;) {
        uint64_t word;
        size_t stop;

        while (at + sizeof(word) <= text.size) {
            memcpy(&word, text.data + at, sizeof(word));
            if (has_special(word))
                break;
            at += sizeof(word);
        }
        stop = at + sizeof(word) < text.size ? at + sizeof(word) : text.size;
        for (; at < stop; at++) {
            uint8_t c = text.data[at];

            if (c < 0x20 || c == '"' || c == '\\' || c == 0x7f ||
                (c == 0xc2 && at + 1 < text.size && text.data[at + 1] < 0xa0)) /* U+0080–9F */
                return at;
        }
        if (at == text.size)
            return at;
    }
}

/* How many bytes it takes. */
static size_t escape(uint8_t c, uint8_t to[ESCAPE_SIZE_MAX])
{
    static const char digits[] = "0123456789abcdef";

    to[0] = '\\';
    to[1] = c == '\n' ? 'n' : c;
    if (c == '"' || c == '\\' || c == '\n')
        return 2;
    to[1] = 'u';
    to[2] = to[3] = '0';
    to[4] = (uint8_t)digits[c >> 4];
    to[5] = (uint8_t)digits[c & 15];
    return ESCAPE_SIZE_MAX;
}

void text_put_json(struct buf *out, struct bytes text)
{
    size_t start = 0;

    buf_put_byte(out, '"');
    while (start < text.size) {
        size_t at = find_escaped(text, start), plain = at - start, escaped = 0;
        uint8_t bytes[ESCAPE_SIZE_MAX], *room;

        if (at < text.size) {
            at += text.data[at] == 0xc2;
            escaped = escape(text.data[at++], bytes);
        }
        room = buf_reserve(out, plain + escaped);
        if (!room)
            return;
        memcpy(room, text.data + start, plain);
        memcpy(room + plain, bytes, escaped);
        buf_advance(out, plain + escaped);
        start = at;
    }
    buf_put_byte(out, '"');
}
