/* SPDX-License-Identifier: Apache-2.0 */
/* share.c - see share.h. */
#include "net/server/calls/share.h"

#include <assert.h>

#include "base/object.h"
#include "net/server/calls/admit.h"
#include "net/server/calls/call.h"
#include "net/server/calls/server_parts.h"

static_assert(NET_CALL_COUNT_MAX <= UINT16_MAX, "a slot of the crowd counts all calls");

/* --- calls --- */

static uint16_t *slot_of(struct crowd *crowd, uint64_t id, size_t row)
{
    return &crowd->slots[row][(row ? id >> 32 : id) % CROWD_SLOT_COUNT];
}

static unsigned crowd_of(struct crowd *crowd, uint64_t id)
{
    unsigned one = *slot_of(crowd, id, 0);
    unsigned other = *slot_of(crowd, id, 1);

    return one < other ? one : other;
}

static void crowd_add(struct crowd *crowd, uint64_t id)
{
    for (size_t row = 0; row < CROWD_ROW_COUNT; row++)
        ++*slot_of(crowd, id, row);
}

static void crowd_remove(struct crowd *crowd, uint64_t id)
{
    for (size_t row = 0; row < CROWD_ROW_COUNT; row++) {
        assert(*slot_of(crowd, id, row) > 0);
        --*slot_of(crowd, id, row);
    }
}

static bool refuse_call(struct call *call, const char *text)
{
    format_find(call);
    call->is_surplus = true;
    reply_overload(call, text);
    return false;
}

bool share_take_call(struct call *call)
{
    struct loop *loop = call->loop;
    unsigned count_max = loop->server->limits.call_count_max / loop->server->client_loops;

    object_check(call, CALL_MAGIC);
    assert(!call->crowd_id);
    if (loop->call_count > count_max)
        return refuse_call(call, "the server has too many calls at once: come back later");
    if (loop->call_count > count_max / 2 &&
        crowd_of(&loop->crowd, call->job.caller) >= count_max / NET_CALL_ADDRESS_PART)
        return refuse_call(call, "this address has too many calls at once: ask for fewer, or come "
                                 "back later");
    call->crowd_id = call->job.caller;
    crowd_add(&loop->crowd, call->crowd_id);
    return true;
}

/* --- bodies --- */

static void give_back_body(struct call *call)
{
    struct server *server = call->loop->server;

    if (!call->charged_size)
        return;
    atomic_fetch_sub(&server->body_size, call->charged_size);
    admission_let_go(server->admission, ADMISSION_BODIES, call->job.caller, call->charged_size);
    call->charged_size = 0;
}

static bool refuse_body(struct call *call, const char *text)
{
    buf_release(&call->body);
    give_back_body(call);
    reply_overload(call, text);
    return false;
}

bool share_take_body(struct call *call)
{
    struct server *server = call->loop->server;
    size_t more = call->kept_size - call->charged_size;
    size_t sum;

    object_check(call, CALL_MAGIC);
    if (call->kept_size <= NET_BODY_UNCHARGED_SIZE || !more)
        return true;
    call->charged_size = call->kept_size;
    sum = atomic_fetch_add(&server->body_size, more) + more;
    (void)admission_hold(server->admission, ADMISSION_BODIES, call->job.caller, more, SIZE_MAX);
    if (sum > NET_BODY_SERVER_SIZE_MAX)
        return refuse_body(call, "the server holds too many large bodies: come back later");
    if (sum > NET_BODY_SERVER_SIZE_MAX / 2 &&
        admission_held(server->admission, ADMISSION_BODIES, call->job.caller) >
            NET_BODY_CALLER_SIZE_MAX)
        return refuse_body(call, "you send too many large bodies at once: end some before you "
                                 "begin others");
    return true;
}

/* --- streams --- */

bool share_take_stream(struct call *call)
{
    unsigned count_max =
        call->keyless ? NET_ANONYMOUS_STREAM_ADDRESS_MAX : NET_STREAM_THREAD_CALLER_MAX;

    object_check(call, CALL_MAGIC);
    assert(!call->holds_stream);
    call->holds_stream = admission_hold(call->loop->server->admission, ADMISSION_STREAMS,
                                        call->job.caller, 1, count_max);
    if (call->holds_stream)
        return true;
    reply_overload(call, call->keyless
                             ? arena_printf(call->arena,
                                            "an address has at most %u streams without a key at "
                                            "once: end some, or send 'Authorization: Bearer KEY'",
                                            count_max)
                             : arena_printf(call->arena,
                                            "a caller has at most %u streams at once, on all its "
                                            "connections: end some",
                                            count_max));
    return false;
}

void share_give_back(struct call *call)
{
    object_check(call, CALL_MAGIC);
    if (call->crowd_id)
        crowd_remove(&call->loop->crowd, call->crowd_id);
    call->crowd_id = 0;
    give_back_body(call);
    if (call->holds_stream)
        admission_let_go(call->loop->server->admission, ADMISSION_STREAMS, call->job.caller, 1);
    call->holds_stream = false;
}
