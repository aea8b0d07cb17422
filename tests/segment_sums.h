/* SPDX-License-Identifier: Apache-2.0 */
/* segment_sums.h - makes the sums of a forged text segment right, or nobody would look further. */
#ifndef TORG_TESTS_SEGMENT_SUMS_H
#define TORG_TESTS_SEGMENT_SUMS_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/hash.h"
#include "index/postings/text_segment_format.h"

/* size: at least that of a header and a footer. */
static inline void segment_mend_sums(uint8_t *data, size_t size)
{
    uint8_t *footer = data + size - SEGMENT_FOOTER_SIZE;
    uint64_t sums = get_le64(data + HEADER_SECTIONS + SECTION_SUMS * 16);
    uint64_t sums_size = get_le64(data + HEADER_SECTIONS + SECTION_SUMS * 16 + 8);
    uint64_t chunk;

    memcpy(data, segment_magic, sizeof(segment_magic));
    put_le32(data + HEADER_FORMAT, SEGMENT_FORMAT);
    put_le64(data + HEADER_HASH, hash64(bytes_make(data, HEADER_HASH)));
    memcpy(footer + 16, segment_magic, sizeof(segment_magic));
    put_le64(footer + 8, size);
    if (sums > size || sums_size > size - sums || sums_size % 8)
        return;
    for (chunk = 0; chunk < sums_size / 8 && chunk * SEGMENT_CHUNK_SIZE < sums; chunk++) {
        uint64_t from = chunk * SEGMENT_CHUNK_SIZE, left = sums - from;

        put_le64(
            data + sums + chunk * 8,
            hash64(bytes_make(data + from, left < SEGMENT_CHUNK_SIZE ? left : SEGMENT_CHUNK_SIZE)));
    }
    put_le64(footer, hash64(bytes_make(data + sums, sums_size)));
}

#endif
