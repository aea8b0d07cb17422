/* SPDX-License-Identifier: Apache-2.0 */
/* checkpoint_file.c - see checkpoint_file.h. */
#include "index/columns/checkpoint_file.h"

#include <string.h>

#include "base/crc.h"
#include "base/endian.h"
#include "base/varint.h"
#include "index/bounds.h"

enum { WINDOW_HEAD_SIZE = 16 };

void block_put(struct buf *out, enum block_kind kind, struct bytes payload)
{
    uint8_t head[BLOCK_HEAD_SIZE];

    put_le32(head, kind);
    put_le32(head + 4, (uint32_t)payload.size);
    put_le32(head + 8, crc32c(crc32c(0, bytes_make(head, 8)), payload));
    buf_put_raw(out, head, sizeof(head));
    buf_put(out, payload);
}

bool block_get(struct bytes *in, uint32_t *kind, struct bytes *payload)
{
    uint32_t size;

    if (in->size < BLOCK_HEAD_SIZE)
        return false;
    *kind = get_le32(in->data);
    size = get_le32(in->data + 4);
    if (size > BLOCK_SIZE_MAX || size > in->size - BLOCK_HEAD_SIZE)
        return false;
    *payload = bytes_make(in->data + BLOCK_HEAD_SIZE, size);
    if (crc32c(crc32c(0, bytes_make(in->data, 8)), *payload) != get_le32(in->data + 8))
        return false;
    *in = bytes_skip(*in, BLOCK_HEAD_SIZE + (size_t)size);
    return true;
}

/* ---- numbers ---- */

static void put_code(uint8_t *to, uint32_t width, uint64_t code)
{
    uint8_t bytes[8];

    put_le64(bytes, code);
    memcpy(to, bytes, width);
}

static uint64_t get_code(const uint8_t *from, uint32_t width)
{
    uint8_t bytes[8] = {0};

    memcpy(bytes, from, width);
    return get_le64(bytes);
}

void window_encode(uint32_t window, const int64_t values[WINDOW_SIZE], struct buf *out)
{
    uint8_t bytes[WINDOW_HEAD_SIZE + WINDOW_SIZE * 8];
    int64_t min = INT64_MAX;
    int64_t max = INT64_MIN;
    uint8_t *to = bytes + WINDOW_HEAD_SIZE;
    uint32_t count = 0;
    uint32_t width = 1;
    bool sparse;
    uint32_t i;

    for (i = 0; i < WINDOW_SIZE; i++) {
        if (values[i] == COLUMN_NULL)
            continue;
        count++;
        min = values[i] < min ? values[i] : min;
        max = values[i] > max ? values[i] : max;
    }
    if (!count)
        min = max = 0;
    while (width < 8 && (uint64_t)max - (uint64_t)min >= code_null(width))
        width *= 2;
    if (count == WINDOW_SIZE && min == max)
        width = 0;
    sparse = count < WINDOW_SIZE / 4;
    put_le32(bytes, window);
    bytes[4] = (uint8_t)width;
    bytes[5] = sparse;
    bytes[6] = (uint8_t)count;
    bytes[7] = (uint8_t)(count >> 8);
    put_le64(bytes + 8, (uint64_t)min);
    for (i = 0; sparse && i < WINDOW_SIZE; i++) {
        if (values[i] == COLUMN_NULL)
            continue;
        *to++ = (uint8_t)i;
        *to++ = (uint8_t)(i >> 8);
    }
    for (i = 0; i < WINDOW_SIZE; i++) {
        bool none = values[i] == COLUMN_NULL;

        if (sparse && none)
            continue;
        put_code(to, width, none ? UINT64_MAX : (uint64_t)values[i] - (uint64_t)min);
        to += width;
    }
    buf_put_raw(out, bytes, (size_t)(to - bytes));
}

bool window_decode(struct bytes in, uint32_t *window, int64_t values[WINDOW_SIZE])
{
    uint32_t width;
    uint32_t count;
    uint64_t base;
    bool sparse;
    const uint8_t *codes;
    uint32_t i;

    if (in.size < WINDOW_HEAD_SIZE)
        return false;
    *window = get_le32(in.data);
    width = in.data[4];
    sparse = in.data[5];
    count = sparse ? in.data[6] | (uint32_t)in.data[7] << 8 : WINDOW_SIZE;
    base = get_le64(in.data + 8);
    if ((width & (width - 1)) || width > 8 || in.data[5] > 1 || count > WINDOW_SIZE ||
        *window > window_of(DOCID_END) || (sparse && !width) ||
        in.size != WINDOW_HEAD_SIZE + (size_t)count * (width + (sparse ? 2 : 0)))
        return false;
    codes = in.data + WINDOW_HEAD_SIZE + (sparse ? (size_t)count * 2 : 0);
    for (i = 0; i < WINDOW_SIZE; i++)
        values[i] = COLUMN_NULL;
    for (i = 0; i < count; i++) {
        const uint8_t *place = in.data + WINDOW_HEAD_SIZE + (size_t)i * 2;
        uint32_t offset = sparse ? place[0] | (uint32_t)place[1] << 8 : i;
        uint64_t code = width ? get_code(codes + (size_t)i * width, width) : 0;

        if (offset >= WINDOW_SIZE)
            return false;
        values[offset] = width && code == code_null(width) ? COLUMN_NULL : (int64_t)(base + code);
    }
    return true;
}

/* ---- lists ---- */

void lists_encode(const struct value_lists *lists, uint32_t window,
                  const int64_t values[WINDOW_SIZE], struct buf *out)
{
    uint8_t head[4];
    uint32_t i;
    uint32_t j;

    put_le32(head, window);
    buf_put_raw(out, head, sizeof(head));
    for (i = 0; i < WINDOW_SIZE; i++) {
        const uint32_t *list = NULL;
        uint32_t count = 0;

        if (values[i] != COLUMN_NULL)
            list = value_lists_get(lists, (uint32_t)values[i], &count);
        varint_put(out, count);
        for (j = 0; j < count; j++)
            varint_put(out, list[j]);
    }
}

bool lists_decode(struct bytes in, struct value_lists *lists, uint32_t ordinal_count,
                  uint32_t *window, int64_t values[WINDOW_SIZE])
{
    uint32_t i;
    uint32_t j;

    if (in.size < 4)
        return false;
    *window = get_le32(in.data);
    in = bytes_skip(in, 4);
    if (*window > window_of(DOCID_END))
        return false;
    for (i = 0; i < WINDOW_SIZE; i++) {
        uint32_t ordinals[KEYWORD_VALUES_MAX];
        uint64_t count;

        if (!varint_get(&in, &count) || count > KEYWORD_VALUES_MAX)
            return false;
        for (j = 0; j < count; j++) {
            uint64_t ordinal;

            if (!varint_get(&in, &ordinal) || ordinal >= ordinal_count ||
                (j && ordinal <= ordinals[j - 1]))
                return false;
            ordinals[j] = (uint32_t)ordinal;
        }
        values[i] = count ? value_lists_add(lists, ordinals, (uint32_t)count) : COLUMN_NULL;
    }
    return in.size == 0;
}
