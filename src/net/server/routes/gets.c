/* SPDX-License-Identifier: Apache-2.0 */
/* gets.c - see gets.h. */
#include "net/server/routes/gets.h"

#include <assert.h>
#include <string.h>

#include "base/text.h"
#include "net/server/routes/address.h"

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
    int rc = address_decode(part, is_query, &plain, err);

    if (!rc)
        text_put_json(json, buf_bytes(&plain));
    buf_release(&plain);
    return rc;
}

static int put_parameter(struct bytes parameter, struct buf *json, struct err *err)
{
    struct bytes name = address_cut(&parameter, '=');
    int rc;

    buf_put_byte(json, ',');
    rc = put_part(name, true, json, err);
    buf_put_byte(json, ':');
    return rc ? rc : put_part(parameter, true, json, err);
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
        struct bytes parameter = address_cut(&query, '&');

        if (parameter.size)
            rc = put_parameter(parameter, json, err);
    }
    buf_put_byte(json, '}');
    return rc;
}
