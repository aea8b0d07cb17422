/* SPDX-License-Identifier: Apache-2.0 */
/* pack.c - see pack.h. */
#include "index/pack.h"

#include <assert.h>
#include <string.h>

#include "base/endian.h"
#include "base/varint.h"

static unsigned bits_of(uint32_t value)
{
    return value ? 32 - (unsigned)__builtin_clz(value) : 0;
}

enum { GROUP_SIZE_MAX = 17 }; /* a byte of lengths, four values of up to four */

static uint32_t low_mask(unsigned width)
{
    return width >= 32 ? UINT32_MAX : (UINT32_C(1) << width) - 1;
}

unsigned pack_width(const uint32_t *values, size_t count)
{
    uint32_t all = 0;
    size_t i;

    for (i = 0; i < count; i++)
        all |= values[i];
    return bits_of(all);
}

void pack_wide(struct buf *out, const uint32_t values[BLOCK_SIZE], unsigned width)
{
    uint32_t words[BLOCK_SIZE + WIDE_LANES] = {0};
    uint32_t mask = low_mask(width);
    unsigned row, lane, i;

    for (row = 0; row < BLOCK_SIZE / WIDE_LANES && width; row++) {
        const uint32_t *from = values + (size_t)row * WIDE_LANES;
        uint32_t *to = words + (size_t)(row * width / 32) * WIDE_LANES;
        unsigned shift = row * width % 32;

        for (lane = 0; lane < WIDE_LANES; lane++)
            to[lane] |= (from[lane] & mask) << shift;
        for (lane = 0; lane < WIDE_LANES && shift + width > 32; lane++)
            to[WIDE_LANES + lane] |= (from[lane] & mask) >> (32 - shift);
    }
    for (i = 0; i < width * WIDE_LANES; i++)
        words[i] = htole32(words[i]);
    buf_put_raw(out, words, (size_t)width * BLOCK_WIDTH_SIZE);
}

void pack_narrow(struct buf *out, const uint32_t values[BLOCK_SIZE], unsigned width)
{
    uint16_t words[BLOCK_SIZE + NARROW_LANES] = {0};
    uint32_t mask = low_mask(width);
    unsigned row, lane, i;

    assert(width <= 16);
    for (row = 0; row < BLOCK_SIZE / NARROW_LANES && width; row++) {
        const uint32_t *from = values + (size_t)row * NARROW_LANES;
        uint16_t *to = words + (size_t)(row * width / 16) * NARROW_LANES;
        unsigned shift = row * width % 16;

        for (lane = 0; lane < NARROW_LANES; lane++)
            to[lane] |= (uint16_t)((from[lane] & mask) << shift);
        for (lane = 0; lane < NARROW_LANES && shift + width > 16; lane++)
            to[NARROW_LANES + lane] |= (uint16_t)((from[lane] & mask) >> (16 - shift));
    }
    for (i = 0; i < width * NARROW_LANES; i++)
        words[i] = htole16(words[i]);
    buf_put_raw(out, words, (size_t)width * BLOCK_WIDTH_SIZE);
}

uint32_t packed_at(const uint8_t *in, unsigned width, unsigned i)
{
    unsigned bit = i / WIDE_LANES * width, lane = i % WIDE_LANES;
    unsigned word = bit / 32 * WIDE_LANES + lane, shift = bit % 32;
    uint32_t value;

    if (width == 0)
        return 0;
    value = get_le32(in + word * 4) >> shift;
    if (shift + width > 32)
        value |= get_le32(in + (word + WIDE_LANES) * 4) << (32 - shift);
    return value & low_mask(width);
}

static unsigned high_bytes(unsigned bits)
{
    return bits <= 8 ? 1 : bits <= 16 ? 2 : 4;
}

/* The width for which low bits and exceptions together are fewest bytes. */
static struct patched_form best_form(const uint32_t values[BLOCK_SIZE])
{
    unsigned of_width[33] = {0};
    unsigned width = pack_width(values, BLOCK_SIZE), widest = width, above = 0, i;
    struct patched_form best = {.width = (uint8_t)width, .high_size = 1};
    size_t best_size = patched_size(&best);

    for (i = 0; i < BLOCK_SIZE; i++)
        of_width[bits_of(values[i])]++;
    while (width > 0) {
        struct patched_form form;

        above += of_width[width--];
        if (above > UINT8_MAX)
            break;
        form = (struct patched_form){(uint8_t)width, (uint8_t)above,
                                     (uint8_t)high_bytes(widest - width)};
        if (patched_size(&form) < best_size) {
            best = form;
            best_size = patched_size(&form);
        }
    }
    return best;
}

static void put_high(struct buf *out, uint32_t high, unsigned size)
{
    uint8_t bytes[4];

    put_le32(bytes, high);
    buf_put_raw(out, bytes, size);
}

static uint32_t get_high(const uint8_t *in, unsigned size)
{
    uint8_t bytes[4] = {0};

    memcpy(bytes, in, size);
    return get_le32(bytes);
}

void pack_patched(struct buf *out, const uint32_t values[BLOCK_SIZE], struct patched_form *form)
{
    unsigned i;

    *form = best_form(values);
    pack_wide(out, values, form->width);
    if (form->exceptions == 0)
        return;
    for (i = 0; i < BLOCK_SIZE; i++) {
        if (values[i] >> form->width)
            buf_put_byte(out, (uint8_t)i);
    }
    for (i = 0; i < BLOCK_SIZE; i++) {
        if (values[i] >> form->width)
            put_high(out, values[i] >> form->width, form->high_size);
    }
}

size_t patched_size(const struct patched_form *form)
{
    return (size_t)form->width * BLOCK_WIDTH_SIZE +
           (size_t)form->exceptions * (1U + form->high_size);
}

void unpack_patched(const uint8_t *in, const struct patched_form *form, uint32_t out[BLOCK_SIZE])
{
    const uint8_t *indexes = in + (size_t)form->width * BLOCK_WIDTH_SIZE;
    const uint8_t *highs = indexes + form->exceptions;
    unsigned i;

    kernels()->unpack(in, form->width, out);
    for (i = 0; i < form->exceptions; i++) {
        uint64_t high = get_high(highs + (size_t)i * form->high_size, form->high_size);

        out[indexes[i]] |= (uint32_t)(high << form->width);
    }
}

uint32_t patched_at(const uint8_t *in, const struct patched_form *form, unsigned i)
{
    const uint8_t *indexes = in + (size_t)form->width * BLOCK_WIDTH_SIZE;
    const uint8_t *highs = indexes + form->exceptions;
    const uint8_t *found = form->exceptions ? memchr(indexes, (int)i, form->exceptions) : NULL;
    uint32_t value = packed_at(in, form->width, i);

    if (found) {
        uint64_t high =
            get_high(highs + (size_t)(found - indexes) * form->high_size, form->high_size);

        value |= (uint32_t)(high << form->width);
    }
    return value;
}

/* An exception costs about a byte for its place and one for seven high bits. */
static unsigned stream_width(const uint32_t *values, size_t count)
{
    size_t of_width[33] = {0}, best_cost = SIZE_MAX, i;
    unsigned widest = pack_width(values, count), width, wider, best = 0;

    for (i = 0; i < count; i++)
        of_width[bits_of(values[i])]++;
    for (width = 0; width <= widest; width++) {
        size_t cost = count * width;

        for (wider = width + 1; wider <= widest; wider++)
            cost += of_width[wider] * (8 + 8 * ((wider - width + 6) / 7));
        if (cost < best_cost) {
            best_cost = cost;
            best = width;
        }
    }
    return best;
}

static void put_bits(struct buf *bits, const uint32_t *values, size_t count, unsigned width)
{
    size_t size = (count * width + 7) / 8, at = 0, i;
    uint8_t *to = buf_reserve(bits, size);
    unsigned waiting_count = 0;
    uint64_t waiting = 0;

    if (!to)
        return;
    for (i = 0; i < count && width; i++) {
        waiting |= (uint64_t)(values[i] & low_mask(width)) << waiting_count;
        waiting_count += width;
        if (waiting_count >= 32) {
            put_le32(to + at, (uint32_t)waiting);
            at += 4;
            waiting >>= 32;
            waiting_count -= 32;
        }
    }
    for (; at < size; waiting >>= 8)
        to[at++] = (uint8_t)waiting;
    buf_advance(bits, size);
}

void pack_stream(struct buf *bits, struct buf *exceptions, const uint32_t *values, size_t count,
                 struct stream_form *form)
{
    size_t i, next = 0;

    *form = (struct stream_form){.width = stream_width(values, count)};
    put_bits(bits, values, count, form->width);
    for (i = 0; i < count && form->width < 32; i++) {
        if (values[i] >> form->width) {
            varint_put(exceptions, i - next);
            varint_put(exceptions, values[i] >> form->width);
            next = i + 1;
            form->exceptions++;
        }
    }
}

static void unpack_bits(struct bytes bits, unsigned width, size_t from, size_t count, uint32_t *out)
{
    size_t last = bits.size < 8 ? 0 : bits.size - 8, i = 0;

    if (width == 0) {
        memset(out, 0, count * sizeof(out[0]));
        return;
    }
    for (; bits.size >= 8 && i < count && (from + i) * width / 8 <= last; i++)
        out[i] =
            (uint32_t)(get_le64(bits.data + (from + i) * width / 8) >> (from + i) * width % 8) &
            low_mask(width);
    for (; i < count; i++)
        out[i] = stream_at(bits, width, from + i);
}

bool unpack_stream(struct bytes bits, struct bytes *patches, const struct stream_form *form,
                   size_t from, size_t count, uint32_t *out)
{
    size_t next = 0;
    uint32_t patch;

    if (form->width > 32 || (from + count) * form->width > bits.size * 8)
        return false;
    unpack_bits(bits, form->width, from, count, out);
    for (patch = 0; patch < form->exceptions; patch++) {
        uint32_t distance, high;

        if (!varint_get32(patches, &distance) || !varint_get32(patches, &high))
            return false;
        next += distance;
        if (next >= from && next - from < count)
            out[next - from] |= (uint32_t)((uint64_t)high << form->width);
        next++;
    }
    return true;
}

void pack_groups(struct buf *out, const uint32_t *values, size_t count)
{
    size_t i, j;

    for (i = 0; i < count; i += 4) {
        uint8_t group[GROUP_SIZE_MAX] = {0};
        size_t size = 1;

        for (j = i; j < i + 4 && j < count; j++) {
            unsigned length = values[j] ? (bits_of(values[j]) + 7) / 8 : 1;

            group[0] |= (uint8_t)((length - 1) << (j - i) * 2);
            for (unsigned byte = 0; byte < length; byte++)
                group[size++] = (uint8_t)(values[j] >> byte * 8);
        }
        buf_put_raw(out, group, size);
    }
}

/* Whole groups, as long as each value may be read as four bytes; returns how many values. */
static size_t unpack_whole_groups(struct bytes *in, size_t count, uint32_t *out)
{
    static const uint32_t masks[] = {0xff, 0xffff, 0xffffff, 0xffffffff};
    const uint8_t *at = in->data;
    size_t left = in->size, i;

    for (i = 0; i + 4 <= count && left >= GROUP_SIZE_MAX; i += 4) {
        unsigned lengths = at[0], j;
        const uint8_t *value = at + 1;

        for (j = 0; j < 4; j++, lengths >>= 2) {
            out[i + j] = get_le32(value) & masks[lengths & 3];
            value += (lengths & 3) + 1;
        }
        left -= (size_t)(value - at);
        at = value;
    }
    *in = bytes_make(at, left);
    return i;
}

bool unpack_groups(struct bytes *in, size_t count, uint32_t *out)
{
    size_t i, j;

    for (i = unpack_whole_groups(in, count, out); i < count; i += 4) {
        uint8_t lengths;

        if (in->size == 0)
            return false;
        lengths = in->data[0];
        *in = bytes_skip(*in, 1);
        for (j = i; j < i + 4 && j < count; j++, lengths >>= 2) {
            unsigned length = (lengths & 3U) + 1;

            if (in->size < length)
                return false;
            out[j] = get_high(in->data, length);
            *in = bytes_skip(*in, length);
        }
    }
    return true;
}

bool varint_get32(struct bytes *in, uint32_t *value)
{
    uint64_t wide;

    if (in->size && in->data[0] < 0x80) { /* nearly all are one byte */
        *value = in->data[0];
        *in = bytes_skip(*in, 1);
        return true;
    }
    if (!varint_get(in, &wide) || wide > UINT32_MAX)
        return false;
    *value = (uint32_t)wide;
    return true;
}
