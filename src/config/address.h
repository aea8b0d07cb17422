/* SPDX-License-Identifier: Apache-2.0 */
/*
 * address.h - "host:port" as settings write it: 127.0.0.1:8080, [::1]:8080, example.org:80.
 */
#ifndef TORG_CONFIG_ADDRESS_H
#define TORG_CONFIG_ADDRESS_H

#include <stdbool.h>

enum { ADDRESS_HOST_SIZE = 256 };

struct address {
    char host[ADDRESS_HOST_SIZE]; /* an IPv6 address without its brackets */
    unsigned port;                /* 0 = any free one */
};

bool address_parse(const char *text, struct address *address);

/* Only processes of this machine can reach it. A name other than localhost is not trusted to. */
bool address_is_loopback(const struct address *address);

#endif
