/* SPDX-License-Identifier: Apache-2.0 */
/*
 * address.h - parts of an address (the path and the query of a URL): cut, and percent-decoded.
 */
#ifndef TORG_NET_SERVER_ROUTES_ADDRESS_H
#define TORG_NET_SERVER_ROUTES_ADDRESS_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "base/err.h"

/* Appends a part as it was meant; in a query a plus is a space. ERR_INVALID: its percent signs are
 * broken, or it is not UTF-8. */
int address_decode(struct bytes part, bool is_query, struct buf *plain, struct err *err);

/* What stands before the first `end`; all of it where there is none. */
struct bytes address_until(struct bytes text, char end);

/* Cuts the next part off *rest, which goes on behind the separator. */
struct bytes address_cut(struct bytes *rest, char separator);

#endif
