/* SPDX-License-Identifier: Apache-2.0 */
/* gets.c - see gets.h. */
#include "net/server/gets.h"

#include <assert.h>
#include <string.h>

#include "base/text.h"

void gets_add(struct gets *gets, const char *prefix, const char *method, const char *field)
{
    assert(gets->count < NET_GET_COUNT_MAX);
    assert(prefix[0] == '/' && prefix[strlen(prefix) - 1] == '/');
    gets->list[gets->count++] =
        (struct get_address){bytes_of(prefix), bytes_of(method), bytes_of(field)};
}

const struct get_address *gets_find(const struct gets *gets, struct bytes path)
{
    for (size_t i = 0; i < gets->count; i++) {
        struct bytes prefix = gets->list[i].prefix;

        if (path.size > prefix.size && memcmp(path.data, prefix.data, prefix.size) == 0)
            return &gets->list[i];
    }
    return NULL;
}

/* Appends the JSON string of a part of the address. */
static int put_part(struct bytes part, bool is_query, struct buf *json, struct err *err)
{
    struct buf plain = BUF_INIT(NET_HEAD_SIZE_MAX);
    bool ok = true;
    int rc = 0;

    for (size_t i = 0; i < part.size && ok; i++) {
        if (part.data[i] == '%') {
            ok = i + 2 < part.size && text_from_hex(bytes_make(part.data + i + 1, 2), &plain);
            i += 2;
        } else {
            buf_put_byte(&plain, is_query && part.data[i] == '+' ? ' ' : part.data[i]);
        }
    }
    if (!ok || buf_failed(&plain) || !text_is_utf8(buf_bytes(&plain)))
        rc = err_set(err, ERR_INVALID,
                     "'%.*s' cannot be part of an address: check its percent signs and its UTF-8",
                     BYTES_ARG(bytes_make(part.data, part.size < 80 ? part.size : 80)));
    else
        text_put_json(json, buf_bytes(&plain));
    buf_release(&plain);
    return rc;
}

static struct bytes until(struct bytes text, char end)
{
    const uint8_t *at = text.size ? memchr(text.data, end, text.size) : NULL;

    return at ? bytes_make(text.data, (size_t)(at - text.data)) : text;
}

static int put_parameter(struct bytes parameter, struct buf *json, struct err *err)
{
    struct bytes name = until(parameter, '=');
    struct bytes value =
        name.size < parameter.size ? bytes_skip(parameter, name.size + 1) : BYTES_EMPTY;
    int rc;

    buf_put_byte(json, ',');
    rc = put_part(name, true, json, err);
    buf_put_byte(json, ':');
    return rc ? rc : put_part(value, true, json, err);
}

int gets_request(const struct get_address *address, struct bytes path, struct bytes query,
                 struct buf *json, struct err *err)
{
    int rc;

    buf_put_byte(json, '{');
    text_put_json(json, address->field);
    buf_put_byte(json, ':');
    rc = put_part(bytes_skip(path, address->prefix.size), false, json, err);
    while (query.size && !rc) {
        struct bytes parameter = until(query, '&');

        if (parameter.size)
            rc = put_parameter(parameter, json, err);
        query = bytes_skip(query, parameter.size + (parameter.size < query.size));
    }
    buf_put_byte(json, '}');
    return rc;
}
