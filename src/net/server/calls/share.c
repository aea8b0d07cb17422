/* SPDX-License-Identifier: Apache-2.0 */
/* share.c - see share.h. */
#include "net/server/calls/share.h"

#include <assert.h>

#include "base/hash.h"
#include "base/object.h"
#include "net/server/calls/admit.h"
#include "net/server/calls/call.h"
#include "net/server/calls/connection.h"
#include "net/server/calls/server_parts.h"

/* A refusal that its client does not take is counted as an unsent answer: the worst connections
 * are closed before there are as many of them as of calls that are served. */
static_assert(NET_UNSENT_SHED_SIZE / sizeof(struct call) < NET_CALL_COUNT_MAX,
              "refusals are fewer than calls");

/* --- calls --- */

static uint32_t *slot_of(struct crowd *crowd, uint64_t id, size_t row)
{
    uint64_t place = hash64_seeded(bytes_make(&id, sizeof(id)), crowd->seed);

    return &crowd->slots[row][(row ? place >> 32 : place) % CROWD_SLOT_COUNT];
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

static void join_crowd(struct call *call, uint64_t id)
{
    call->crowd_id = id;
    crowd_add(&call->loop->crowd, id);
    atomic_fetch_add_explicit(&call->loop->taken_count, 1, memory_order_relaxed);
}

static void leave_crowd(struct call *call)
{
    crowd_remove(&call->loop->crowd, call->crowd_id);
    call->crowd_id = 0;
    atomic_fetch_sub_explicit(&call->loop->taken_count, 1, memory_order_relaxed);
}

/* By all loops, beyond what each has of its own. */
static unsigned borrowed_count(const struct server *server, unsigned own_count)
{
    unsigned sum = 0;

    for (unsigned i = 0; i < server->client_loops; i++) {
        unsigned count = atomic_load_explicit(&server->loops[i].taken_count, memory_order_relaxed);

        sum += count > own_count ? count - own_count : 0;
    }
    return sum;
}

/* Of a loop: what is its own, and where that is little, a connection's worth, if not too much. */
static unsigned address_part(unsigned own_count)
{
    if (own_count >= NET_STREAM_COUNT_MAX)
        return own_count;
    return 2 * own_count < NET_STREAM_COUNT_MAX ? 2 * own_count : NET_STREAM_COUNT_MAX;
}

bool share_take_call(struct call *call)
{
    struct loop *loop = call->loop;
    const struct server *server = loop->server;
    unsigned count_max = server->limits.call_count_max;
    unsigned own_count = count_max / NET_CALL_ADDRESS_PART / server->client_loops;
    unsigned borrowed;

    object_check(call, CALL_MAGIC);
    assert(!call->crowd_id);
    if (atomic_load_explicit(&loop->taken_count, memory_order_relaxed) >= own_count) {
        borrowed = borrowed_count(server, own_count);
        if (borrowed >= count_max - own_count * server->client_loops)
            return refuse_call(call, "the server has too many calls at once: come back later");
        if (borrowed >= count_max / NET_CALL_ADDRESS_PART &&
            crowd_of(&loop->crowd, call->job.caller) >= address_part(own_count))
            return refuse_call(call, "this address has too many calls at once: ask for fewer, or "
                                     "come back later");
    }
    join_crowd(call, call->job.caller);
    return true;
}

void share_take_stand_in(struct call *stand_in, const struct call *call)
{
    object_check(stand_in, CALL_MAGIC);
    object_check(call, CALL_MAGIC);
    assert(!stand_in->crowd_id);
    if (call->crowd_id)
        join_crowd(stand_in, call->crowd_id);
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

/* Of so many more bytes, which then are counted: why they are not to be; NULL when they may. */
static const char *hold_bytes(struct server *server, uint64_t caller, size_t more)
{
    size_t sum = atomic_fetch_add(&server->body_size, more) + more;

    (void)admission_hold(server->admission, ADMISSION_BODIES, caller, more, SIZE_MAX);
    if (sum > NET_BODY_SERVER_SIZE_MAX)
        return "the server holds too many large bodies: come back later";
    if (sum > NET_BODY_SERVER_SIZE_MAX / 2 && caller &&
        admission_held(server->admission, ADMISSION_BODIES, caller) > NET_BODY_CALLER_SIZE_MAX)
        return "you send too many large bodies at once: end some before you begin others";
    return NULL;
}

bool share_take_body(struct call *call)
{
    size_t more = call->kept_size - call->charged_size;
    const char *why;

    object_check(call, CALL_MAGIC);
    if (call->kept_size <= NET_BODY_UNCHARGED_SIZE || !more)
        return true;
    call->charged_size = call->kept_size;
    why = hold_bytes(call->loop->server, call->job.caller, more);
    return why ? refuse_body(call, why) : true;
}

void share_take_head(struct call *call)
{
    struct connection *connection = call->connection;
    size_t more = call->head_size - call->kept_size; /* nothing of the body has come */
    const char *why;

    object_check(call, CALL_MAGIC);
    assert(!call->head_done && call->head_size >= call->kept_size);
    if (!call->job.caller)
        admit_name(call); /* as far as its head tells by now */
    connection->body_size += more;
    call->kept_size += more;
    call->charged_size += more;
    why = hold_bytes(call->loop->server, call->job.caller, more);
    if (connection->body_size > NET_BODY_CONNECTION_SIZE_MAX)
        why = "this connection has too much unfinished at once: send less";
    if (why)
        call->head_refused = why;
}

void share_rename(struct call *call, uint64_t before)
{
    struct admission *admission = call->loop->server->admission;

    object_check(call, CALL_MAGIC);
    if (!call->charged_size || before == call->job.caller)
        return;
    admission_let_go(admission, ADMISSION_BODIES, before, call->charged_size);
    (void)admission_hold(admission, ADMISSION_BODIES, call->job.caller, call->charged_size,
                         SIZE_MAX);
}

const char *share_keep_input(struct connection *connection, size_t size)
{
    struct server *server = connection->loop->server;
    size_t before = connection->input_size;

    object_check(connection, CONNECTION_MAGIC);
    if (size <= NET_BODY_UNCHARGED_SIZE || connection->is_operator)
        size = 0;
    connection->input_size = size;
    if (size > before)
        return hold_bytes(server, admit_sender(connection), size - before);
    if (size < before) {
        atomic_fetch_sub(&server->body_size, before - size);
        admission_let_go(server->admission, ADMISSION_BODIES, admit_sender(connection),
                         before - size);
    }
    return NULL;
}

int share_take_message(struct call *call, size_t size, struct err *err)
{
    const char *why;

    object_check(call, CALL_MAGIC);
    assert(call->channel && size > 0);
    call->message_size += size;
    why = hold_bytes(call->loop->server, call->job.caller, size);
    if (why && admission_held(call->loop->server->admission, ADMISSION_BODIES, call->job.caller) <=
                   NET_MESSAGE_SIZE_MAX)
        return 0; /* who sends one message at a time is not broken off for what others hold */
    return why ? err_set(err, ERR_LIMIT, "%s", why) : 0;
}

void share_give_back_message(struct call *call)
{
    struct server *server = call->loop->server;

    object_check(call, CALL_MAGIC);
    if (!call->message_size)
        return;
    atomic_fetch_sub(&server->body_size, call->message_size);
    admission_let_go(server->admission, ADMISSION_BODIES, call->job.caller, call->message_size);
    call->message_size = 0;
}

/* --- streams --- */

/* How many a caller may have: fewer when half of all are taken. */
static unsigned stream_count_max(const struct call *call)
{
    const struct server *server = call->loop->server;

    if (call->keyless)
        return NET_ANONYMOUS_STREAM_ADDRESS_MAX;
    return atomic_load(&server->stream_count) < NET_STREAM_THREAD_COUNT_MAX / 2
               ? NET_STREAM_THREAD_CALLER_MAX
               : NET_STREAM_THREAD_SCARCE_MAX;
}

bool share_take_stream(struct call *call)
{
    struct server *server = call->loop->server;
    unsigned count_max = stream_count_max(call);

    object_check(call, CALL_MAGIC);
    assert(!call->holds_stream);
    call->holds_stream =
        admission_hold(server->admission, ADMISSION_STREAMS, call->job.caller, 1, count_max);
    if (call->holds_stream) {
        atomic_fetch_add(&server->stream_count, !call->keyless);
        return true;
    }
    reply_overload(call, call->keyless
                             ? arena_printf(call->arena,
                                            "an address has at most %u streams without a key at "
                                            "once: end some, or send 'Authorization: Bearer KEY'",
                                            count_max)
                         : count_max == NET_STREAM_THREAD_CALLER_MAX
                             ? arena_printf(call->arena,
                                            "a caller has at most %u streams at once, on all its "
                                            "connections: end some",
                                            count_max)
                             : arena_printf(call->arena,
                                            "half of all threads for streams are taken: a caller "
                                            "has at most %u now: end some, or come back later",
                                            count_max));
    return false;
}

static void give_back_stream(struct call *call)
{
    struct server *server = call->loop->server;

    if (!call->holds_stream)
        return;
    admission_let_go(server->admission, ADMISSION_STREAMS, call->job.caller, 1);
    if (!call->keyless)
        atomic_fetch_sub(&server->stream_count, 1);
    call->holds_stream = false;
}

void share_give_back(struct call *call)
{
    object_check(call, CALL_MAGIC);
    if (call->crowd_id)
        leave_crowd(call);
    give_back_body(call);
    share_give_back_message(call);
    give_back_stream(call);
}
