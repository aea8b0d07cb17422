/* SPDX-License-Identifier: Apache-2.0 */
/*
 * service_write.c - writes of callers, by whichever way they came (service_parts.h).
 *
 * What is checked in no time is checked by the reactor (RPC_PROMPT), anything else on a thread for
 * such; neither waits for the commit: the committer answers all calls of a transaction (commit.h).
 */
#include "snippets/requests/snippets.h"
#include "snippets/service_parts.h"

static void answer(struct snippet_request *request, int rc, struct err *err)
{
    call_answer(request->arg, rc, err);
}

static struct snippet_request *request_of(struct call *call)
{
    struct snippet_request *request = arena_zero(call_arena(call), sizeof(*request));

    request->done = answer;
    request->arg = call;
    return request;
}

int snippet_call_put(struct call *call, struct bytes name, const struct snippet_body *body,
                     struct err *err)
{
    struct snippets *snippets = call_context(call);
    int rc;

    if (snippets_is_dear(snippets, name, body->body.size) && call_leave_brief(call))
        return err_set(err, ERR_UNAVAILABLE, "this takes longer and goes on elsewhere");
    if (!snippets_defers(snippets) || !call_defer(call))
        return snippets_put(snippets, name, body, call_arena(call), err);
    rc = snippets_put_later(snippets, name, body, call_arena(call), request_of(call), err);
    return rc ? rc : RPC_LATER;
}

int snippet_call_delete(struct call *call, struct bytes name, struct bytes key,
                        struct bytes language, struct err *err)
{
    struct snippets *snippets = call_context(call);
    int rc;

    if (!snippets_defers(snippets) || !call_defer(call))
        return snippets_delete(snippets, name, key, language, call_arena(call), err);
    rc = snippets_delete_later(snippets, name, key, language, call_arena(call), request_of(call),
                               err);
    return rc ? rc : RPC_LATER;
}
