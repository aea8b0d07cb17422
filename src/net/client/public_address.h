/* SPDX-License-Identifier: Apache-2.0 */
/*
 * public_address.h - whether an address belongs to the whole internet, or to this machine or its
 * network, where a stranger's link must not lead.
 */
#ifndef TORG_NET_CLIENT_PUBLIC_ADDRESS_H
#define TORG_NET_CLIENT_PUBLIC_ADDRESS_H

#include <stdbool.h>

/* ip: "192.0.2.1" or "2001:db8::1", as inet_ntop writes it. What is no address is not public. */
bool address_is_public(const char *ip);

#endif
