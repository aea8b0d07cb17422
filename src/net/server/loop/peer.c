/* SPDX-License-Identifier: Apache-2.0 */
/* peer.c - see peer.h. */
#include "net/server/loop/peer.h"

#include <arpa/inet.h>
#include <assert.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/text.h"

enum { ADDRESS_BITS = 128, CUSTOMER_SIZE = 8, V4_SIZE = 4, V4_BITS = 32 };

static const uint8_t v4_prefix[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

static struct peer_address of_v4(const void *bytes)
{
    struct peer_address address;

    memcpy(address.bytes, v4_prefix, sizeof(v4_prefix));
    memcpy(address.bytes + sizeof(v4_prefix), bytes, V4_SIZE);
    return address;
}

static bool is_v4(struct peer_address address)
{
    return memcmp(address.bytes, v4_prefix, sizeof(v4_prefix)) == 0;
}

struct peer_address peer_of(const struct sockaddr_storage *name)
{
    struct peer_address address = {{0}};

    if (name->ss_family == AF_INET)
        return of_v4(&((const struct sockaddr_in *)name)->sin_addr);
    if (name->ss_family == AF_INET6)
        memcpy(address.bytes, &((const struct sockaddr_in6 *)name)->sin6_addr,
               sizeof(address.bytes));
    return address;
}

/* As proxies write it: with blanks around, in brackets, with a port behind. */
bool peer_parse(struct bytes text, struct peer_address *address)
{
    char copy[INET6_ADDRSTRLEN + 16];
    struct in_addr v4;
    char *colon;
    char *end;

    while (text.size && *text.data == ' ')
        text = bytes_skip(text, 1);
    while (text.size && text.data[text.size - 1] == ' ')
        text.size--;
    if (!text.size || text.size >= sizeof(copy))
        return false;
    memcpy(copy, text.data, text.size);
    copy[text.size] = 0;
    end = strchr(copy, ']');
    if (copy[0] == '[' && end) {
        *end = 0;
        return inet_pton(AF_INET6, copy + 1, address->bytes) == 1;
    }
    if (inet_pton(AF_INET6, copy, address->bytes) == 1)
        return true;
    colon = strchr(copy, ':');
    if (colon)
        *colon = 0;
    if (inet_pton(AF_INET, copy, &v4) != 1)
        return false;
    *address = of_v4(&v4);
    return true;
}

uint64_t peer_id(struct peer_address address)
{
    return hash64(
        bytes_make(address.bytes, is_v4(address) ? sizeof(address.bytes) : CUSTOMER_SIZE));
}

/* --- ranges --- */

static int parse_range(struct bytes word, struct peer_range *range, struct err *err)
{
    const uint8_t *slash = memchr(word.data, '/', word.size);
    struct bytes address = bytes_make(word.data, slash ? (size_t)(slash - word.data) : word.size);
    uint64_t bits = 0;
    bool short_bits;

    if (!peer_parse(address, &range->first))
        return err_set(err, ERR_INVALID, "'%.*s' is not an address such as 10.0.0.2 or fd00::/8",
                       BYTES_ARG(word));
    short_bits = is_v4(range->first);
    range->bits = ADDRESS_BITS;
    if (!slash)
        return 0;
    if (!text_to_u64(bytes_skip(word, address.size + 1), &bits) ||
        bits > (short_bits ? V4_BITS : ADDRESS_BITS))
        return err_set(err, ERR_INVALID, "'%.*s' cannot have that many bits", BYTES_ARG(word));
    range->bits = (unsigned)bits + (short_bits ? ADDRESS_BITS - V4_BITS : 0);
    return 0;
}

int peer_ranges_parse(const char *text, struct peer_ranges *ranges, struct err *err)
{
    ranges->count = 0;
    for (;;) {
        size_t size;
        int rc;

        text += strspn(text, " ,\t");
        size = strcspn(text, " ,\t");
        if (!size)
            return 0;
        if (ranges->count == NET_PROXY_COUNT_MAX)
            return err_set(err, ERR_LIMIT, "more than %d proxies", NET_PROXY_COUNT_MAX);
        rc = parse_range(bytes_make(text, size), &ranges->list[ranges->count], err);
        if (rc)
            return rc;
        ranges->count++;
        text += size;
    }
}

static bool is_within(const struct peer_range *range, struct peer_address address)
{
    size_t whole = range->bits / 8;
    unsigned rest = range->bits % 8;

    assert(range->bits <= ADDRESS_BITS);
    if (memcmp(range->first.bytes, address.bytes, whole) != 0)
        return false;
    return !rest || (range->first.bytes[whole] ^ address.bytes[whole]) >> (8 - rest) == 0;
}

bool peer_is_within(const struct peer_ranges *ranges, struct peer_address address)
{
    for (size_t i = 0; i < ranges->count; i++)
        if (is_within(&ranges->list[i], address))
            return true;
    return false;
}

struct peer_address peer_behind(const struct peer_ranges *proxies, struct peer_address sender,
                                struct bytes forwarded)
{
    while (forwarded.size && peer_is_within(proxies, sender)) {
        const uint8_t *comma = memrchr(forwarded.data, ',', forwarded.size);
        size_t before = comma ? (size_t)(comma - forwarded.data) : 0;
        struct peer_address next;

        if (!peer_parse(bytes_skip(forwarded, comma ? before + 1 : 0), &next))
            return sender;
        sender = next;
        forwarded.size = before;
    }
    return sender;
}
