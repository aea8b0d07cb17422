/* SPDX-License-Identifier: Apache-2.0 */
/* endian.h - integers in stored and sent formats: little-endian on disk, big-endian on wires. */
#ifndef TORG_BASE_ENDIAN_H
#define TORG_BASE_ENDIAN_H

#include <endian.h>
#include <stdint.h>
#include <string.h>

static inline void put_le16(uint8_t *to, uint16_t value)
{
    value = htole16(value);
    memcpy(to, &value, sizeof(value));
}

static inline void put_le32(uint8_t *to, uint32_t value)
{
    value = htole32(value);
    memcpy(to, &value, sizeof(value));
}

static inline void put_le64(uint8_t *to, uint64_t value)
{
    value = htole64(value);
    memcpy(to, &value, sizeof(value));
}

static inline uint16_t get_le16(const uint8_t *from)
{
    uint16_t value;

    memcpy(&value, from, sizeof(value));
    return le16toh(value);
}

static inline uint32_t get_le32(const uint8_t *from)
{
    uint32_t value;

    memcpy(&value, from, sizeof(value));
    return le32toh(value);
}

static inline uint64_t get_le64(const uint8_t *from)
{
    uint64_t value;

    memcpy(&value, from, sizeof(value));
    return le64toh(value);
}

static inline void put_be32(uint8_t *to, uint32_t value)
{
    value = htobe32(value);
    memcpy(to, &value, sizeof(value));
}

static inline uint32_t get_be32(const uint8_t *from)
{
    uint32_t value;

    memcpy(&value, from, sizeof(value));
    return be32toh(value);
}

#endif
