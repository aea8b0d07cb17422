/* SPDX-License-Identifier: Apache-2.0 */
/* public_address.c - see public_address.h; by the registries of special addresses (RFC 6890). */
#include "net/client/public_address.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdint.h>
#include <string.h>

#include "base/endian.h"
#include "base/memory.h"

static const struct {
    uint32_t start;
    unsigned bits;
} special[] = {
    {0x00000000, 8},  /* this network */
    {0x0a000000, 8},  /* private */
    {0x64400000, 10}, /* carriers' own */
    {0x7f000000, 8},  /* loopback */
    {0xa9fe0000, 16}, /* link local: clouds' metadata */
    {0xac100000, 12}, /* private */
    {0xc0000000, 24}, /* protocols */
    {0xc0000200, 24}, /* documentation */
    {0xc0586300, 24}, /* 6to4 relays */
    {0xc0a80000, 16}, /* private */
    {0xc6120000, 15}, /* benchmarks */
    {0xc6336400, 24}, /* documentation */
    {0xcb007100, 24}, /* documentation */
    {0xe0000000, 3},  /* multicast, reserved, broadcast */
};

static bool is_public_v4(uint32_t ip)
{
    for (size_t i = 0; i < ARRAY_COUNT(special); i++) {
        if ((ip ^ special[i].start) >> (32 - special[i].bits) == 0)
            return false;
    }
    return true;
}

/* Only 2000::/3 is given out; parts of it carry an IPv4 address or are for documentation. */
static bool is_public_v6(const uint8_t ip[16])
{
    static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};
    static const uint8_t translated[12] = {0x00, 0x64, 0xff, 0x9b};
    uint32_t first = get_be32(ip);

    if (memcmp(ip, mapped, sizeof(mapped)) == 0 || memcmp(ip, translated, sizeof(translated)) == 0)
        return is_public_v4(get_be32(ip + 12));
    if (first >> 29 != 1)
        return false;
    if (first >> 16 == 0x2002) /* 6to4 */
        return is_public_v4(get_be32(ip + 2));
    return first >> 9 != 0x20010000 >> 9 && first != 0x20010db8;
}

bool address_is_public(const char *ip)
{
    uint8_t v4[4];
    uint8_t v6[16];

    if (inet_pton(AF_INET, ip, v4) == 1)
        return is_public_v4(get_be32(v4));
    return inet_pton(AF_INET6, ip, v6) == 1 && is_public_v6(v6);
}
