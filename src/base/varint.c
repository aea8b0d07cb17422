/* SPDX-License-Identifier: Apache-2.0 */
/* varint.c - see varint.h. */
#include "base/varint.h"

size_t varint_encode(uint64_t value, uint8_t to[VARINT_SIZE_MAX])
{
    size_t size = 0;

    while (value >= 0x80) {
        to[size++] = (uint8_t)(value | 0x80);
        value >>= 7;
    }
    to[size++] = (uint8_t)value;
    return size;
}

void varint_put(struct buf *buf, uint64_t value)
{
    uint8_t encoded[VARINT_SIZE_MAX];

    buf_put_raw(buf, encoded, varint_encode(value, encoded));
}

bool varint_get(struct bytes *in, uint64_t *value)
{
    uint64_t result = 0;
    size_t i;

    for (i = 0; i < in->size && i < VARINT_SIZE_MAX; i++) {
        uint8_t byte = in->data[i];

        if (i == VARINT_SIZE_MAX - 1 && byte > 1)
            return false; /* more than 64 bits */
        result |= (uint64_t)(byte & 0x7f) << (7 * i);
        if (!(byte & 0x80)) {
            *value = result;
            *in = bytes_skip(*in, i + 1);
            return true;
        }
    }
    return false;
}
