/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pack.h - numbers in few bits: blocks of 256, streams of any length, plain runs.
 *
 * Writers of what kernels.h reads in bulk, and readers of single values out of it. A patched
 * block or stream keeps the low `width` bits of every value in place and the high bits of the few
 * larger ones apart. Readers never leave the bytes they are given, whatever these hold.
 */
#ifndef TORG_INDEX_POSTINGS_PACK_H
#define TORG_INDEX_POSTINGS_PACK_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/buf.h"
#include "base/endian.h"
#include "index/postings/kernels.h"

/* Bits of the largest value; 0 when all are 0. */
unsigned pack_width(const uint32_t *values, size_t count);

/* Appends width * 32 bytes in the wide or the narrow layout of kernels.h. */
void pack_wide(struct buf *out, const uint32_t values[BLOCK_SIZE], unsigned width);
void pack_narrow(struct buf *out, const uint32_t values[BLOCK_SIZE], unsigned width);

/* The i-th value of a wide block: no need to unpack the others. */
uint32_t packed_at(const uint8_t *in, unsigned width, unsigned i);

/* A patched wide block: packed low bits | index u8 of each exception | its high bits. */
struct patched_form {
    uint8_t width;      /* 0..32 */
    uint8_t exceptions; /* 0..255 */
    uint8_t high_size;  /* bytes of an exception's high bits: 1, 2 or 4 */
};

void pack_patched(struct buf *out, const uint32_t values[BLOCK_SIZE], struct patched_form *form);
size_t patched_size(const struct patched_form *form);
void unpack_patched(const uint8_t *in, const struct patched_form *form, uint32_t out[BLOCK_SIZE]);
uint32_t patched_at(const uint8_t *in, const struct patched_form *form, unsigned i);

/* A patched stream: value i has its low bits at bit i * width; exceptions are pairs of varints
 * (distance from the exception before, high bits), in another place. */
struct stream_form {
    uint32_t width; /* 0..32 */
    uint32_t exceptions;
};

void pack_stream(struct buf *bits, struct buf *exceptions, const uint32_t *values, size_t count,
                 struct stream_form *form);
/* One value without its exception; the bits must have it. */
static inline uint32_t stream_at(struct bytes bits, unsigned width, size_t i)
{
    size_t bit = i * width, byte = bit / 8, left = bits.size - byte;
    uint32_t mask = width < 32 ? (UINT32_C(1) << width) - 1 : UINT32_MAX;
    uint8_t word[8] = {0};

    if (left >= sizeof(word))
        return (uint32_t)(get_le64(bits.data + byte) >> bit % 8) & mask;
    memcpy(word, bits.data + byte, left);
    return (uint32_t)(get_le64(word) >> bit % 8) & mask;
}

/* Values from..from + count - 1; *patches is moved past this stream's exceptions. False when the
 * bytes are too few or wrong. */
bool unpack_stream(struct bytes bits, struct bytes *patches, const struct stream_form *form,
                   size_t from, size_t count, uint32_t *out);

/* Runs of numbers, each of its own width, with nothing between them; low bits first. */
struct bit_writer {
    struct buf *out;
    uint64_t waiting;
    unsigned waiting_count;
};

void bits_put(struct bit_writer *writer, const uint32_t *values, size_t count, unsigned width);
void bits_end(struct bit_writer *writer); /* zeros to a whole byte */
/* A run that begins at a bit. The bytes must have all of it; that they go on for seven more is
 * faster. */
void unpack_bits(struct bytes bits, uint64_t from_bit, unsigned width, size_t count, uint32_t *out);

/* As varint_get, for numbers that fit 32 bits. */
bool varint_get32(struct bytes *in, uint32_t *value);

#endif
