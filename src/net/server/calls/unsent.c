/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unsent.c - see unsent.h.
 *
 * Large answers are added to the server's sum one by one, as they are built; small ones, streams
 * and bytes that a socket did not take are summed up by their connection, which reports to the
 * server at the end of a turn: an answer that goes out at once costs no atomic. All of them are
 * also counted by caller; those of a connection by who asked when it had nothing to report.
 *
 * To find the worst connection every loop votes with its own; the last voter asks the loop of the
 * worst one to close it. One round at a time; more follow as long as there is too much.
 */
#include "net/server/calls/unsent.h"

#include <assert.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/object.h"
#include "net/server/calls/admit.h"
#include "net/server/calls/call.h"
#include "net/server/calls/connection.h"
#include "net/server/calls/server_parts.h"

/* --- the worst --- */

/* Much for long: bytes times milliseconds; one who has just come counts as if for a second. */
static uint64_t guilt(const struct connection *connection)
{
    size_t size = connection->unsent_size + connection->out.size;
    int64_t now = connection->loop->reactor.now_us;

    if (connection->is_operator || size < NET_UNSENT_UNTOLD_SIZE)
        return 0;
    return (uint64_t)size * (uint64_t)((now - connection->taken_us + SECOND_US) / MS_US);
}

static struct connection *find_worst(struct loop *loop)
{
    struct connection *worst = NULL;

    for (struct connection *each = loop->connections; each; each = each->next)
        if (guilt(each) > (worst ? guilt(worst) : 0))
            worst = each;
    return worst;
}

static void shed(struct errand *task);

static void choose(struct server *server)
{
    struct loop *chosen = NULL;
    uint64_t most = 0;

    for (unsigned i = 0; i < server->loop_count; i++) {
        uint64_t vote = atomic_load(&server->loops[i].vote);

        if (vote > most) {
            most = vote;
            chosen = &server->loops[i];
        }
    }
    if (!chosen) {
        atomic_store(&server->shedding, false);
        return;
    }
    chosen->shed_task.run = shed;
    reactor_post(&chosen->reactor, &chosen->shed_task);
}

static void vote(struct errand *task)
{
    struct loop *loop = container_of(task, struct loop, vote_task);
    struct server *server = loop->server;
    struct connection *worst = find_worst(loop);

    atomic_store(&loop->vote, worst ? guilt(worst) : 0);
    if (atomic_fetch_add(&server->vote_count, 1) + 1 == server->loop_count)
        choose(server);
}

static void ask_votes(struct server *server)
{
    atomic_store(&server->vote_count, 0);
    for (unsigned i = 0; i < server->loop_count; i++) {
        server->loops[i].vote_task.run = vote;
        reactor_post(&server->loops[i].reactor, &server->loops[i].vote_task);
    }
}

static void shed(struct errand *task)
{
    struct loop *loop = container_of(task, struct loop, shed_task);
    struct server *server = loop->server;
    struct connection *worst = find_worst(loop);

    if (worst) {
        log_warn("closed a connection that does not read its answers: too many are waiting",
                 LOG_INT("unsent_bytes", worst->unsent_size + worst->out.size),
                 LOG_INT("stalled_ms", (loop->reactor.now_us - worst->taken_us) / MS_US),
                 LOG_INT("server_unsent_bytes", atomic_load(&server->unsent_size)));
        counter_add(server->metrics.unsent_closed, 1);
        connection_close(worst);
    }
    if (atomic_load(&server->unsent_size) > NET_UNSENT_SHED_SIZE)
        ask_votes(server);
    else
        atomic_store(&server->shedding, false);
}

/* --- the server's sum --- */

static void count_less(struct server *server, size_t size)
{
    size_t before = atomic_fetch_sub(&server->unsent_size, size);

    assert(before >= size);
    gauge_add(server->metrics.unsent, -(int64_t)size);
}

static size_t count_more(struct server *server, size_t size)
{
    size_t sum = atomic_fetch_add(&server->unsent_size, size) + size;

    gauge_add(server->metrics.unsent, (int64_t)size);
    if (sum > NET_UNSENT_SHED_SIZE && !atomic_exchange(&server->shedding, true))
        ask_votes(server);
    return sum;
}

/* --- answers --- */

/* What a buffer has beyond its content was never written to: no memory stands behind it. */
static size_t measure(const struct call *call)
{
    return sizeof(*call) + arena_size(call->arena) + call->out.size + call->message.size;
}

void unsent_built(struct call *call)
{
    struct server *server = call->loop->server;
    size_t size;

    object_check(call, CALL_MAGIC);
    reply_trim(call);
    size = measure(call);
    if (size <= NET_UNSENT_SMALL_SIZE)
        return;
    call->answer_size = size;
    (void)admission_hold(server->admission, ADMISSION_ANSWERS, call->job.caller, size, SIZE_MAX);
    if (count_more(server, size) <= NET_UNSENT_SERVER_SIZE_MAX || size <= NET_UNSENT_REFUSED_SIZE)
        return;
    unsent_free(call);
    reply_give_up(call,
                  "the server holds too many answers that are not being read: come back later, or "
                  "ask for less at once");
}

void unsent_free(struct call *call)
{
    object_check(call, CALL_MAGIC);
    if (call->answer_size) {
        count_less(call->loop->server, call->answer_size);
        admission_let_go(call->loop->server->admission, ADMISSION_ANSWERS, call->job.caller,
                         call->answer_size);
    }
    call->answer_size = 0;
}

static void change(struct call *call, size_t size)
{
    struct connection *connection = call->connection;

    assert(connection->unsent_size >= call->unsent_size);
    if (!connection->unsent_size)
        connection->taken_us = connection->loop->reactor.now_us;
    if (!connection->told_size)
        connection->holder = call->job.caller;
    connection->unsent_size += size - call->unsent_size;
    if (!call->answer_size)
        connection->untold_size += size - call->unsent_size;
    call->unsent_size = size;
}

void unsent_begin(struct call *call)
{
    object_check(call, CALL_MAGIC);
    change(call, call->answer_size ? call->answer_size : measure(call));
}

void unsent_stream(struct call *call, size_t size)
{
    object_check(call, CALL_MAGIC);
    change(call, size);
}

void unsent_taken(struct call *call, size_t count)
{
    object_check(call, CALL_MAGIC);
    if (call->channel)
        change(call, count < call->unsent_size ? call->unsent_size - count : 0);
}

void unsent_end(struct call *call)
{
    object_check(call, CALL_MAGIC);
    if (call->unsent_size) /* else a handler's thread may have it */
        change(call, 0);
}

bool unsent_is_full(const struct connection *connection)
{
    object_check(connection, CONNECTION_MAGIC);
    return connection->unsent_size > NET_UNSENT_CONNECTION_SIZE_MAX ||
           (connection->unsent_size &&
            atomic_load_explicit(&connection->loop->server->unsent_size, memory_order_relaxed) >
                NET_UNSENT_SERVER_SIZE_MAX);
}

static void tell(struct connection *connection, size_t size)
{
    struct server *server = connection->loop->server;
    size_t told = connection->told_size;

    connection->told_size = size;
    if (size > told) {
        (void)admission_hold(server->admission, ADMISSION_ANSWERS, connection->holder, size - told,
                             SIZE_MAX);
        count_more(server, size - told);
    } else if (size < told) {
        admission_let_go(server->admission, ADMISSION_ANSWERS, connection->holder, told - size);
        count_less(server, told - size);
    }
}

/* A turn later, and a connection's worth each: others are served in between. */
static void go_on(struct errand *task)
{
    struct loop *loop = container_of(task, struct loop, roomy_task);

    loop->roomy_posted = false;
    while (loop->roomy) {
        struct connection *connection = loop->roomy;

        assert(connection->roomy && connection->loop == loop);
        loop->roomy = connection->next_roomy;
        connection->roomy = false;
        call_begin_waiting(connection);
        connection_mark(connection);
    }
}

static void list_roomy(struct connection *connection)
{
    struct loop *loop = connection->loop;

    if (connection->roomy || !connection->waiting_count || unsent_is_full(connection))
        return;
    if (!loop->roomy_posted) {
        loop->roomy_posted = true;
        loop->roomy_task.run = go_on;
        reactor_post(&loop->reactor, &loop->roomy_task);
    }
    connection->roomy = true;
    connection->next_roomy = loop->roomy;
    loop->roomy = connection;
}

static void unlist(struct connection *connection)
{
    struct connection **at = &connection->loop->roomy;

    while (*at != connection)
        at = &(*at)->next_roomy;
    *at = connection->next_roomy;
    connection->roomy = false;
}

void unsent_settle(struct connection *connection)
{
    size_t size = connection->untold_size + connection->out.size;

    object_check(connection, CONNECTION_MAGIC);
    list_roomy(connection);
    if (size < NET_UNSENT_UNTOLD_SIZE)
        size = 0;
    if (size == 0 || size > connection->told_size ||
        connection->told_size - size > NET_UNSENT_UNTOLD_SIZE)
        tell(connection, size);
}

void unsent_close(struct connection *connection)
{
    object_check(connection, CONNECTION_MAGIC);
    tell(connection, 0);
    if (connection->roomy)
        unlist(connection);
}
