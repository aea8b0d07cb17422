/* SPDX-License-Identifier: Apache-2.0 */
/* address.c - see address.h. */
#include "net/server/routes/address.h"

#include <string.h>

#include "base/text.h"

enum { TOLD_SIZE = 80 }; /* of a part that cannot be read */

int address_decode(struct bytes part, bool is_query, struct buf *plain, struct err *err)
{
    size_t start = plain->size;
    bool ok = true;

    for (size_t i = 0; i < part.size && ok; i++) {
        if (part.data[i] == '%') {
            ok = i + 2 < part.size && text_from_hex(bytes_make(part.data + i + 1, 2), plain);
            i += 2;
        } else {
            buf_put_byte(plain, is_query && part.data[i] == '+' ? ' ' : part.data[i]);
        }
    }
    if (ok && !buf_failed(plain) && text_is_utf8(bytes_skip(buf_bytes(plain), start)))
        return 0;
    return err_set(err, ERR_INVALID,
                   "'%.*s' cannot be part of an address: check its percent signs and its UTF-8",
                   BYTES_ARG(bytes_make(part.data, part.size < TOLD_SIZE ? part.size : TOLD_SIZE)));
}

struct bytes address_until(struct bytes text, char end)
{
    const uint8_t *at = text.size ? memchr(text.data, end, text.size) : NULL;

    return at ? bytes_make(text.data, (size_t)(at - text.data)) : text;
}

struct bytes address_cut(struct bytes *rest, char separator)
{
    struct bytes part = address_until(*rest, separator);

    *rest = bytes_skip(*rest, part.size + (part.size < rest->size));
    return part;
}
