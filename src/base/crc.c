/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crc.c - see crc.h. Uses the processor's crc32 instruction where there is one (8 bytes a
 * step), else a table built at first use. The plain CRC-32 goes by eight tables, 8 bytes a step
 * ("slicing by 8").
 */
#include "base/crc.h"

#include <pthread.h>

#include "base/endian.h"

#define POLYNOMIAL 0x82f63b78u       /* Castagnoli, reflected */
#define PLAIN_POLYNOMIAL 0xedb88320u /* IEEE 802.3, reflected */

static uint32_t table[256];
static pthread_once_t table_once = PTHREAD_ONCE_INIT;

static void build_table(void)
{
    uint32_t i;
    int bit;

    for (i = 0; i < 256; i++) {
        uint32_t crc = i;

        for (bit = 0; bit < 8; bit++)
            crc = (crc >> 1) ^ (crc & 1 ? POLYNOMIAL : 0);
        table[i] = crc;
    }
}

uint32_t crc32c_portable(uint32_t crc, struct bytes bytes)
{
    size_t i;

    pthread_once(&table_once, build_table);
    crc = ~crc;
    for (i = 0; i < bytes.size; i++)
        crc = (crc >> 8) ^ table[(crc ^ bytes.data[i]) & 0xff];
    return ~crc;
}

#ifdef __x86_64__
__attribute__((target("sse4.2"))) static uint32_t hardware(uint32_t crc, struct bytes bytes)
{
    uint64_t state = ~crc;
    const uint8_t *at = bytes.data;
    size_t left = bytes.size;

    for (; left >= 8; left -= 8, at += 8) {
        uint64_t word;

        memcpy(&word, at, 8);
        state = __builtin_ia32_crc32di(state, word);
    }
    for (; left; left--, at++)
        state = __builtin_ia32_crc32qi((uint32_t)state, *at);
    return ~(uint32_t)state;
}

uint32_t crc32c(uint32_t crc, struct bytes bytes)
{
    if (__builtin_cpu_supports("sse4.2"))
        return hardware(crc, bytes);
    return crc32c_portable(crc, bytes);
}
#else
uint32_t crc32c(uint32_t crc, struct bytes bytes)
{
    return crc32c_portable(crc, bytes);
}
#endif

/* ---- the plain one ---- */

enum { SLICE = 8 };

static uint32_t slices[SLICE][256]; /* [k][b]: what b does when k more bytes follow it */
static pthread_once_t slices_once = PTHREAD_ONCE_INIT;

static void build_slices(void)
{
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t crc = i;

        for (int bit = 0; bit < 8; bit++)
            crc = (crc >> 1) ^ (crc & 1 ? PLAIN_POLYNOMIAL : 0);
        slices[0][i] = crc;
    }
    for (int k = 1; k < SLICE; k++)
        for (uint32_t i = 0; i < 256; i++)
            slices[k][i] = (slices[k - 1][i] >> 8) ^ slices[0][slices[k - 1][i] & 0xff];
}

uint32_t crc32_plain(uint32_t crc, struct bytes bytes)
{
    const uint8_t *at = bytes.data;
    size_t left = bytes.size;

    pthread_once(&slices_once, build_slices);
    crc = ~crc;
    for (; left >= SLICE; left -= SLICE, at += SLICE) {
        uint32_t low = get_le32(at) ^ crc, high = get_le32(at + 4);

        crc = slices[7][low & 0xff] ^ slices[6][low >> 8 & 0xff] ^ slices[5][low >> 16 & 0xff] ^
              slices[4][low >> 24] ^ slices[3][high & 0xff] ^ slices[2][high >> 8 & 0xff] ^
              slices[1][high >> 16 & 0xff] ^ slices[0][high >> 24];
    }
    for (; left; left--, at++)
        crc = (crc >> 8) ^ slices[0][(crc ^ *at) & 0xff];
    return ~crc;
}
