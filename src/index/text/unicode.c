/* SPDX-License-Identifier: Apache-2.0 */
/* unicode.c - see unicode.h. A code point's word: folded code point or place of its expansion (21
 * bits; 0: itself), class << 21, script << 25, whether it is an expansion << 27. */
#include "index/text/unicode.h"

#include <assert.h>
#include <stdbool.h>

#include "index_unicode_tables.h"

enum { BLOCK_BITS = 7, CODE_MASK = 0x1FFFFF, EXPANDED = 1 << 27, REPLACEMENT = 0xFFFD };

static bool is_tail(uint8_t byte)
{
    return (byte & 0xC0) == 0x80;
}

size_t unicode_decode(const uint8_t *at, const uint8_t *end, uint32_t *code)
{
    size_t left = (size_t)(end - at);
    uint32_t value;

    *code = at[0];
    if (at[0] < 0x80)
        return 1;
    *code = REPLACEMENT;
    if (at[0] < 0xC2 || left < 2 || !is_tail(at[1]))
        return 1;
    if (at[0] < 0xE0) {
        *code = (uint32_t)(at[0] & 0x1F) << 6 | (at[1] & 0x3F);
        return 2;
    }
    if (left < 3 || !is_tail(at[2]))
        return 1;
    if (at[0] < 0xF0) {
        value = (uint32_t)(at[0] & 0x0F) << 12 | (uint32_t)(at[1] & 0x3F) << 6 | (at[2] & 0x3F);
        if (value < 0x800 || (value >= 0xD800 && value < 0xE000))
            return 1;
        *code = value;
        return 3;
    }
    if (at[0] > 0xF4 || left < 4 || !is_tail(at[3]))
        return 1;
    value = (uint32_t)(at[0] & 0x07) << 18 | (uint32_t)(at[1] & 0x3F) << 12 |
            (uint32_t)(at[2] & 0x3F) << 6 | (at[3] & 0x3F);
    if (value < 0x10000 || value > 0x10FFFF)
        return 1;
    *code = value;
    return 4;
}

size_t unicode_encode(uint32_t code, uint8_t to[UNICODE_UTF8_SIZE_MAX])
{
    if (code < 0x80) {
        to[0] = (uint8_t)code;
        return 1;
    }
    if (code < 0x800) {
        to[0] = (uint8_t)(0xC0 | code >> 6);
        to[1] = (uint8_t)(0x80 | (code & 0x3F));
        return 2;
    }
    if (code < 0x10000) {
        to[0] = (uint8_t)(0xE0 | code >> 12);
        to[1] = (uint8_t)(0x80 | (code >> 6 & 0x3F));
        to[2] = (uint8_t)(0x80 | (code & 0x3F));
        return 3;
    }
    to[0] = (uint8_t)(0xF0 | code >> 18);
    to[1] = (uint8_t)(0x80 | (code >> 12 & 0x3F));
    to[2] = (uint8_t)(0x80 | (code >> 6 & 0x3F));
    to[3] = (uint8_t)(0x80 | (code & 0x3F));
    return 4;
}

static uint32_t word_of(uint32_t code)
{
    return fold_blocks[(size_t)fold_index[code >> BLOCK_BITS] << BLOCK_BITS |
                       (code & ((1 << BLOCK_BITS) - 1))];
}

static struct folded plain_fold(uint32_t code, uint32_t word)
{
    return (struct folded){
        .code = word & CODE_MASK ? word & CODE_MASK : code,
        .class = (enum char_class)(word >> 21 & 15),
        .script = (enum script)(word >> 25 & 3),
    };
}

size_t unicode_fold(uint32_t code, struct folded folded[UNICODE_FOLD_COUNT_MAX])
{
    uint32_t word;
    const uint32_t *expansion;
    size_t count;
    size_t i;

    assert(code < 0x110000);
    word = word_of(code);
    if (!(word & EXPANDED)) {
        folded[0] = plain_fold(code, word);
        return 1;
    }
    expansion = fold_expansions + (word & CODE_MASK);
    count = expansion[0];
    assert(count <= UNICODE_FOLD_COUNT_MAX);
    for (i = 0; i < count; i++)
        folded[i] = plain_fold(expansion[1 + i], word_of(expansion[1 + i]));
    return count;
}
