/* SPDX-License-Identifier: Apache-2.0 */
/* operators.c - see operators.h. */
#include "net/operators.h"

#include "base/metrics.h"
#include "net/call.h"
#include "net/server_parts.h"

enum { WHY_SIZE = 512 };

void operators_answer(struct call *call)
{
    char why[WHY_SIZE];

    call->is_head = bytes_equal_text(call->verb, "HEAD");
    if (!call->is_head && !bytes_equal_text(call->verb, "GET")) {
        reply_header(call, "allow", bytes_of("GET, HEAD"));
        call_refuse(call, 405, ERR_UNSUPPORTED, "this page is read by GET or HEAD");
        return;
    }
    if (bytes_equal_text(call->path, "/livez")) {
        reply_plain(call, 200, "text/plain", bytes_of("ok\n"));
    } else if (bytes_equal_text(call->path, "/readyz")) {
        if (server_unready(call->lane->server, why, sizeof(why)))
            reply_plain(call, 503, "text/plain",
                        bytes_of(arena_printf(call->arena, "not ready: %s\n", why)));
        else
            reply_plain(
                call, 200, "text/plain",
                bytes_of(arena_printf(call->arena, "ready%s%s\n", *why ? ", but: " : "", why)));
    } else if (bytes_equal_text(call->path, "/metrics")) {
        metrics_print(&call->out);
        reply_plain(call, 200, "text/plain; version=0.0.4", buf_bytes(&call->out));
    } else {
        call_refuse(call, 404, ERR_NOT_FOUND, "there is /livez, /readyz and /metrics here");
        return;
    }
    call->refused = true;
    call_send(call);
}
