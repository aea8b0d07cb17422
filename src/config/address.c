/* SPDX-License-Identifier: Apache-2.0 */
/* address.c - see address.h. */
#include "config/address.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <string.h>

#include "base/text.h"

enum { PORT_MAX = 65535 };

static bool is_host_name(const char *host)
{
    if (!*host)
        return false;
    for (const char *at = host; *at; at++) {
        if (!isalnum((unsigned char)*at) && !strchr("-._", *at))
            return false;
    }
    return true;
}

bool address_parse(const char *text, struct address *address)
{
    const char *colon = strrchr(text, ':');
    bool bracketed = text[0] == '[';
    struct in6_addr ipv6;
    size_t host_size;
    uint64_t port;

    if (!colon || !text_to_u64(bytes_of(colon + 1), &port) || port > PORT_MAX)
        return false;
    host_size = (size_t)(colon - text);
    if (bracketed && (host_size < 2 || text[host_size - 1] != ']'))
        return false;
    if (bracketed) {
        text++;
        host_size -= 2;
    }
    if (host_size >= sizeof(address->host))
        return false;
    memcpy(address->host, text, host_size);
    address->host[host_size] = 0;
    address->port = (unsigned)port;
    return bracketed ? inet_pton(AF_INET6, address->host, &ipv6) == 1 : is_host_name(address->host);
}

bool address_is_loopback(const struct address *address)
{
    struct in6_addr ipv6;
    struct in_addr ipv4;

    if (inet_pton(AF_INET, address->host, &ipv4) == 1)
        return ntohl(ipv4.s_addr) >> 24 == 127;
    if (inet_pton(AF_INET6, address->host, &ipv6) == 1)
        return IN6_IS_ADDR_LOOPBACK(&ipv6);
    return strcmp(address->host, "localhost") == 0;
}
