/* SPDX-License-Identifier: Apache-2.0 */
/* folder.c - see folder.h. Few folders: looked through one by one. */
#include "net/server/calls/folder.h"

#include <inttypes.h>
#include <string.h>

#include "base/hash.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/object.h"
#include "net/server/calls/admit.h"
#include "net/server/calls/call.h"
#include "net/server/calls/content.h"
#include "net/server/calls/server_parts.h"
#include "net/server/calls/unsent.h"

static const struct folder *find(const struct server *server, struct bytes path)
{
    for (size_t i = 0; i < server->folder_count; i++) {
        struct bytes prefix = bytes_of(server->folders[i]->prefix);

        if (path.size > prefix.size && bytes_begin(path, prefix))
            return server->folders[i];
    }
    return NULL;
}

bool folder_take(struct call *call)
{
    object_check(call, CALL_MAGIC);
    call->folder = find(call->loop->server, call->path);
    if (!call->folder)
        return false;
    call->is_head = bytes_equal_text(call->verb, "HEAD");
    if (!call->is_head && !bytes_equal_text(call->verb, "GET")) {
        reply_header(call, "allow", bytes_of("GET, HEAD"));
        call_refuse(call, 405, ERR_UNSUPPORTED, "a file is read by GET or HEAD");
    } else {
        (void)admit_take_file(call); /* else it is refused */
    }
    return true;
}

static void answer(struct call *call, const struct folder_file *file)
{
    struct bytes body = buf_bytes(&call->message);
    const struct content content = {
        .body = body,
        .type = file->content_type,
        .tag = arena_printf(call->arena, "\"%016" PRIx64 "\"", hash64(body)),
    };

    reply_header(call, "cache-control", bytes_of(file->cache_control));
    reply_header(call, "x-content-type-options", bytes_of("nosniff"));
    reply_header(call, "content-security-policy", bytes_of(file->security_policy));
    if (file->disposition)
        reply_header(call, "content-disposition", bytes_of(file->disposition));
    content_answer(call, &content);
}

static void run(struct job *job)
{
    struct call *call = container_of(job, struct call, job);
    const struct folder *folder = call->folder;
    struct folder_file file = {.content_type = NULL};
    struct err err;
    int rc;

    object_check(call, CALL_MAGIC);
    log_set_request(call->request_id);
    call->thread_us = worker_cpu_us();
    buf_reset(&call->message);
    if (atomic_load(&call->cancelled))
        rc = err_set(&err, ERR_CANCELLED, "the client left before the file was read");
    else
        rc = folder->read(folder->context, bytes_skip(call->path, strlen(folder->prefix)),
                          call->arena, &call->message, &file, &err);
    if (rc == ERR_INTERNAL || rc == ERR_CORRUPT)
        log_error("a file could not be read", LOG_BYTES("path", call->path),
                  LOG_TEXT("error", err.text));
    if (rc)
        reply_error(call, 0, rc, err.text);
    else
        answer(call, &file);
    unsent_built(call);
    if (call->rate.limit)
        call->cpu_us = worker_cpu_us() - call->thread_us;
    log_set_request(NULL);
    reactor_post(&call->loop->reactor, &call->task);
}

void folder_run(struct call *call)
{
    const struct server *server = call->loop->server;

    object_check(call, CALL_MAGIC);
    call_hand_over(call, call->folder->remote ? server->workers : server->brief_workers, run);
}
