/* SPDX-License-Identifier: Apache-2.0 */
/* pack.c - see pack.h. */
#include "index/postings/pack.h"

#include <assert.h>
#include <string.h>

#include "base/endian.h"
#include "base/varint.h"

static unsigned bits_of(uint32_t value)
{
    return value ? 32 - (unsigned)__builtin_clz(value) : 0;
}

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

void bits_put(struct bit_writer *writer, const uint32_t *values, size_t count, unsigned width)
{
    size_t size = (count * width + writer->waiting_count) / 32 * 4, at = 0, i;
    uint8_t *to = buf_reserve(writer->out, size);
    unsigned waiting_count = writer->waiting_count;
    uint64_t waiting = writer->waiting;

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
    assert(at == size);
    buf_advance(writer->out, size);
    writer->waiting = waiting;
    writer->waiting_count = waiting_count;
}

void bits_end(struct bit_writer *writer)
{
    uint8_t bytes[8];

    put_le64(bytes, writer->waiting);
    buf_put_raw(writer->out, bytes, (writer->waiting_count + 7) / 8);
    writer->waiting = 0;
    writer->waiting_count = 0;
}

void pack_stream(struct buf *bits, struct buf *exceptions, const uint32_t *values, size_t count,
                 struct stream_form *form)
{
    struct bit_writer writer = {.out = bits};
    size_t i, next = 0;

    *form = (struct stream_form){.width = stream_width(values, count)};
    bits_put(&writer, values, count, form->width);
    bits_end(&writer);
    for (i = 0; i < count && form->width < 32; i++) {
        if (values[i] >> form->width) {
            varint_put(exceptions, i - next);
            varint_put(exceptions, values[i] >> form->width);
            next = i + 1;
            form->exceptions++;
        }
    }
}

void unpack_bits(struct bytes bits, uint64_t from_bit, unsigned width, size_t count, uint32_t *out)
{
    uint32_t mask = low_mask(width);
    uint64_t bit = from_bit;
    size_t i = 0;

    if (width == 0 || count == 0) {
        if (count > 0) /* without any, out may be NULL */
            memset(out, 0, count * sizeof(out[0]));
        return;
    }
    for (; i < count && bit / 8 + 8 <= bits.size; i++, bit += width)
        out[i] = (uint32_t)(get_le64(bits.data + bit / 8) >> bit % 8) & mask;
    for (; i < count; i++, bit += width) {
        uint8_t word[8] = {0};

        memcpy(word, bits.data + bit / 8, bits.size - (size_t)(bit / 8));
        out[i] = (uint32_t)(get_le64(word) >> bit % 8) & mask;
    }
}

bool unpack_stream(struct bytes bits, struct bytes *patches, const struct stream_form *form,
                   size_t from, size_t count, uint32_t *out)
{
    size_t next = 0;
    uint32_t patch;

    if (form->width > 32 || (from + count) * form->width > bits.size * 8)
        return false;
    unpack_bits(bits, (uint64_t)from * form->width, form->width, count, out);
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
