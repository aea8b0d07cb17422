/* SPDX-License-Identifier: Apache-2.0 */
/* operators.c - see operators.h. */
#include "net/server/calls/operators.h"

#include "base/metrics.h"
#include "base/object.h"
#include "base/task.h"
#include "net/server/calls/call.h"
#include "net/server/calls/server_parts.h"

enum { WHY_SIZE = 512 };

/* A line a task: its name, whether it waits for work, works or is stalled, since when, at what. */
static void print_tasks(const struct call *call, struct buf *out)
{
    struct task_state *states;
    size_t count = tasks_list(call_clock(call), call->arena, &states);

    for (size_t i = 0; i < count; i++)
        buf_printf(out, "%-16s %-7s %8.1f s  %s\n", states[i].name, task_state_name(&states[i]),
                   (double)states[i].silent_us / SECOND_US, states[i].doing);
}

void operators_answer(struct call *call)
{
    char why[WHY_SIZE];

    object_check(call, CALL_MAGIC);
    call->is_head = bytes_equal_text(call->verb, "HEAD");
    if (!call->is_head && !bytes_equal_text(call->verb, "GET")) {
        reply_header(call, "allow", bytes_of("GET, HEAD"));
        call_refuse(call, 405, ERR_UNSUPPORTED, "this page is read by GET or HEAD");
        return;
    }
    if (bytes_equal_text(call->path, "/livez")) {
        reply_plain(call, 200, "text/plain", bytes_of("ok\n"));
    } else if (bytes_equal_text(call->path, "/readyz")) {
        if (server_unready(call->loop->server, why, sizeof(why)))
            reply_plain(call, 503, "text/plain",
                        bytes_of(arena_printf(call->arena, "not ready: %s\n", why)));
        else
            reply_plain(
                call, 200, "text/plain",
                bytes_of(arena_printf(call->arena, "ready%s%s\n", *why ? ", but: " : "", why)));
    } else if (bytes_equal_text(call->path, "/metrics")) {
        metrics_print(&call->out);
        reply_plain(call, 200, "text/plain; version=0.0.4", buf_bytes(&call->out));
    } else if (bytes_equal_text(call->path, "/debug/tasks")) {
        print_tasks(call, &call->out);
        reply_plain(call, 200, "text/plain", buf_bytes(&call->out));
    } else {
        call_refuse(call, 404, ERR_NOT_FOUND,
                    "this port has /livez, /readyz, /metrics and /debug/tasks");
        return;
    }
    call->refused = true;
    call_send(call);
}
