/* SPDX-License-Identifier: Apache-2.0 */
/* format.c - see format.h. */
#include "net/server/calls/format.h"

#include <string.h>
#include <strings.h>

#include "base/memory.h"
#include "net/server/calls/call.h"

static const struct {
    const char *type;
    enum call_format format;
} types[] = {
    {"application/json", CALL_JSON},
    {"application/grpc", CALL_GRPC},
    {"application/grpc+proto", CALL_GRPC},
    {"application/proto", CALL_PROTO},
    {"application/connect+json", CALL_CONNECT_JSON},
    {"application/connect+proto", CALL_CONNECT_PROTO},
    {"application/grpc-web", CALL_GRPC_WEB},
    {"application/grpc-web+proto", CALL_GRPC_WEB},
    {"application/grpc-web-text", CALL_GRPC_WEB_TEXT},
    {"application/grpc-web-text+proto", CALL_GRPC_WEB_TEXT},
};

const char *format_content_type(enum call_format format)
{
    switch (format) {
    case CALL_GRPC:
        return "application/grpc";
    case CALL_PROTO:
        return "application/proto";
    case CALL_GRPC_WEB:
        return "application/grpc-web+proto";
    case CALL_GRPC_WEB_TEXT:
        return "application/grpc-web-text+proto";
    case CALL_CONNECT_JSON:
        return "application/connect+json";
    case CALL_CONNECT_PROTO:
        return "application/connect+proto";
    default:
        return "application/json";
    }
}

/* The type without its parameters. */
static bool content_type_is(const struct call *call, const char *type)
{
    struct bytes value = call->content_type;
    size_t size = strlen(type);

    return value.size >= size && strncasecmp((const char *)value.data, type, size) == 0 &&
           (value.size == size || value.data[size] == ';' || value.data[size] == ' ');
}

bool format_find(struct call *call)
{
    for (size_t i = 0; i < ARRAY_COUNT(types); i++)
        if (content_type_is(call, types[i].type)) {
            call->format = types[i].format;
            return true;
        }
    return false;
}

/* The item of a list that begins here, without the blanks around it; *rest is what follows. */
static struct bytes next_item(struct bytes list, struct bytes *rest)
{
    const uint8_t *comma = list.size ? memchr(list.data, ',', list.size) : NULL;
    struct bytes item = comma ? bytes_make(list.data, (size_t)(comma - list.data)) : list;

    *rest = bytes_skip(list, item.size + (comma != NULL));
    while (item.size && (item.data[0] == ' ' || item.data[0] == '\t'))
        item = bytes_skip(item, 1);
    while (item.size && (item.data[item.size - 1] == ' ' || item.data[item.size - 1] == '\t'))
        item.size--;
    return item;
}

/* Whether what follows a coding's name is a weight of nothing: "; q=0", ";q=0.000". */
static bool is_refused(struct bytes weight)
{
    char plain[16] = "";
    size_t used = 0;

    for (size_t i = 0; i < weight.size && used + 1 < sizeof(plain); i++)
        if (weight.data[i] != ' ' && weight.data[i] != '\t')
            plain[used++] = (char)weight.data[i];
    return strncasecmp(plain, ";q=0", 4) == 0 && strspn(plain + 4, ".0") == strlen(plain + 4);
}

bool format_accepts(struct bytes list, const char *coding)
{
    size_t size = strlen(coding);

    while (list.size) {
        struct bytes item = next_item(list, &list);

        if (item.size >= size && strncasecmp((const char *)item.data, coding, size) == 0 &&
            (item.size == size || strchr("; \t", item.data[size])))
            return !is_refused(bytes_skip(item, size));
    }
    return false;
}

bool format_read_encodings(struct call *call)
{
    bool grpc = format_is_grpc(call->format);
    bool connect = format_is_connect(call->format);
    const char *name = grpc      ? "grpc-encoding"
                       : connect ? "connect-content-encoding"
                                 : "content-encoding";
    const char *accept = grpc      ? "grpc-accept-encoding"
                         : connect ? "connect-accept-encoding"
                                   : "accept-encoding";
    struct bytes encoding = call->is_get ? BYTES_EMPTY : call_header(call, name);

    call->accepts_gzip = format_accepts(call_header(call, accept), "gzip");
    if (bytes_equal_text(encoding, "gzip")) {
        call->packed = true;
    } else if (encoding.size && !bytes_equal_text(encoding, "identity")) {
        reply_header(call, accept, bytes_of("gzip, identity"));
        call_refuse(call, 415, ERR_UNSUPPORTED, "%s '%.*s' is not known here: use gzip or identity",
                    name, BYTES_ARG(encoding));
        return false;
    }
    return true;
}
