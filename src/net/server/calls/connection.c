/* SPDX-License-Identifier: Apache-2.0 */
/*
 * connection.c - see connection.h.
 *
 * Ready → (TLS handshake) → read → the protocol's input → calls; at the end of the turn the output
 * of every connection is gathered and written with as few write(2) as possible. A connection that
 * ends after output is shut for writing first and its input discarded for a moment, otherwise the
 * kernel would drop our last bytes together with its input.
 */
#include "net/server/calls/connection.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/object.h"
#include "net/bounds.h"
#include "net/server/calls/admit.h"
#include "net/server/calls/call.h"
#include "net/server/calls/server_parts.h"
#include "net/server/calls/share.h"
#include "net/server/calls/unsent.h"

enum { LINGER_US = 2 * SECOND_US, LINGER_DRAINING_US = SECOND_US / 4, TICK_US = SECOND_US };

static const char http2_preface[] = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

static void connection_ready(struct watch *watch, uint32_t events);
static void connection_tick(struct timer *timer);
static void adopt(struct errand *task);

void connection_start(struct loop *loop, int fd, bool is_operator, struct peer_address peer)
{
    struct connection *connection = mem_zero(sizeof(*connection));

    object_begin(connection, CONNECTION_MAGIC);
    connection->watch = (struct watch){.ready = connection_ready, .fd = fd};
    connection->timer.fire = connection_tick;
    connection->adopt.run = adopt;
    connection->loop = loop;
    connection->is_operator = is_operator;
    connection->peer = peer;
    buf_init(&connection->in, NET_HEAD_SIZE_MAX + NET_READ_SIZE);
    buf_init(&connection->out, SIZE_MAX); /* bounded by fill: one NET_WRITE_SIZE at a time */
    atomic_fetch_add(&loop->connection_count, 1);
    if (is_operator)
        atomic_fetch_add(&loop->operator_count, 1);
    reactor_post(&loop->reactor, &connection->adopt);
}

static void adopt(struct errand *task)
{
    struct connection *connection = container_of(task, struct connection, adopt);
    struct loop *loop = connection->loop;
    struct server *server = loop->server;

    object_check(connection, CONNECTION_MAGIC);
    assert(!connection->closed && !connection->calls);
    connection->next = loop->connections;
    if (connection->next)
        connection->next->previous = connection;
    loop->connections = connection;
    gauge_add(server->metrics.connections, 1);
    connection->active_us = connection->opened_us = loop->reactor.now_us;
    if (server->tls && (!connection->is_operator || server->tls_operators))
        connection->tls = tls_open(server->tls, connection->watch.fd);
    else
        connection->handshaken = true;
    connection->events = EPOLLIN | EPOLLRDHUP;
    if (reactor_add(&loop->reactor, &connection->watch, connection->events, NULL)) {
        connection->events = 0;
        connection_close(connection);
        return;
    }
    timer_set(&loop->reactor, &connection->timer,
              loop->reactor.now_us + server->limits.idle_timeout_us);
    /* A handshake, and a first byte, have a head's time from the first moment. */
    connection->waiting_us = loop->reactor.now_us;
    connection_hurry(connection);
    if (loop->draining && !connection->is_operator)
        connection_drain(connection);
}

void connection_drain(struct connection *connection)
{
    int64_t due_us = connection->opened_us + LINGER_DRAINING_US;

    if (connection->loop->reactor.now_us < due_us) {
        timer_set(&connection->loop->reactor, &connection->timer, due_us);
        return;
    }
    connection->drained = true;
    if (connection->protocol)
        connection->protocol->drain(connection);
    else
        connection_close(connection);
}

void connection_close(struct connection *connection)
{
    struct loop *loop = connection->loop;

    object_check(connection, CONNECTION_MAGIC);
    if (connection->closed)
        return;
    connection->closed = true;
    reactor_moved(&loop->reactor);
    while (connection->calls) {
        call_cancel(connection->calls, ERR_CANCELLED);
        call_drop(connection->calls);
    }
    assert(connection->call_count == 0 && connection->stream_count == 0);
    assert(connection->body_size == 0);
    unsent_close(connection);
    (void)share_keep_input(connection, 0);
    timer_clear(&loop->reactor, &connection->timer);
    if (connection->events)
        reactor_remove(&loop->reactor, &connection->watch);
    tls_close(connection->tls);
    close(connection->watch.fd);
    assert(connection->previous || loop->connections == connection);
    if (connection->next)
        connection->next->previous = connection->previous;
    if (connection->previous)
        connection->previous->next = connection->next;
    else
        loop->connections = connection->next;
    gauge_add(loop->server->metrics.connections, -1);
    atomic_fetch_sub(&loop->connection_count, 1);
    if (connection->is_operator)
        atomic_fetch_sub(&loop->operator_count, 1);
    else
        admission_disconnect(loop->server->admission, connection->peer);
    connection->next = loop->closed; /* this turn may still hold pointers to it */
    loop->closed = connection;
}

void connection_mark(struct connection *connection)
{
    object_check(connection, CONNECTION_MAGIC);
    if (connection->dirty || connection->closed)
        return;
    connection->dirty = true;
    connection->next_dirty = connection->loop->dirty;
    connection->loop->dirty = connection;
}

static void ask(struct connection *connection, uint32_t events)
{
    if (connection->events == events)
        return;
    connection->events = events;
    reactor_change(&connection->loop->reactor, &connection->watch, events);
}

static void ask_again(struct connection *connection)
{
    uint32_t events = EPOLLRDHUP;

    if (!connection->paused)
        events |= EPOLLIN;
    if (connection->out.size > connection->out_sent)
        events |= EPOLLOUT;
    if (connection->linger_us)
        events = EPOLLIN;
    ask(connection, events);
}

/* --- out --- */

static ssize_t write_some(struct connection *connection, const void *from, size_t size)
{
    ssize_t count;

    if (connection->tls) {
        count = tls_write(connection->tls, from, size);
    } else {
        count = send(connection->watch.fd, from, size, MSG_NOSIGNAL);
        if (count < 0)
            count = errno == EAGAIN || errno == EINTR ? IO_AGAIN : IO_FAILED;
    }
    if (count > 0) {
        counter_add(connection->loop->server->metrics.sent, (uint64_t)count);
        reactor_moved(&connection->loop->reactor);
    }
    return count;
}

/* True when all is out; false when the socket is full or gone. */
static bool write_all(struct connection *connection, struct bytes bytes, size_t *sent)
{
    while (*sent < bytes.size) {
        ssize_t count = write_some(connection, bytes.data + *sent, bytes.size - *sent);

        if (count == IO_FAILED) {
            connection_close(connection);
            return false;
        }
        if (count < 0) {
            if (!connection->blocked_us)
                connection->blocked_us = connection->loop->reactor.now_us;
            connection_hurry(connection);
            return false;
        }
        *sent += (size_t)count;
        assert(*sent <= bytes.size);
        connection->blocked_us = 0;
    }
    return true;
}

static void linger(struct connection *connection)
{
    if (connection->linger_us)
        return;
    connection->linger_us = connection->loop->reactor.now_us +
                            (connection->loop->draining ? LINGER_DRAINING_US : LINGER_US);
    while (connection->calls) {
        call_cancel(connection->calls, ERR_CANCELLED);
        call_drop(connection->calls);
    }
    if (connection->tls)
        tls_close(connection->tls);
    connection->tls = NULL;
    shutdown(connection->watch.fd, SHUT_WR);
    buf_release(&connection->in);
    (void)share_keep_input(connection, 0);
    connection->paused = false;
    ask_again(connection);
    timer_set(&connection->loop->reactor, &connection->timer, connection->linger_us);
}

static void flush(struct connection *connection)
{
    struct buf *gather = &connection->loop->write_buffer;
    size_t sent;
    size_t kept;

    while (!connection->closed && !connection->linger_us) {
        if (connection->out.size) {
            if (!write_all(connection, buf_bytes(&connection->out), &connection->out_sent))
                break;
            buf_release(&connection->out);
            connection->out_sent = 0;
        }
        buf_reset(gather);
        if (!connection->protocol->fill(connection, gather))
            connection->finished = true;
        if (connection->closed)
            return;
        if (!gather->size) {
            if (connection->finished)
                linger(connection);
            break;
        }
        sent = 0;
        if (!write_all(connection, buf_bytes(gather), &sent)) {
            if (connection->closed)
                return;
            kept = gather->size - sent;
            buf_put(&connection->out, bytes_make(gather->data + sent, kept));
            break;
        }
    }
    if (!connection->closed) {
        unsent_settle(connection);
        ask_again(connection);
    }
}

void loop_write_out(struct reactor *reactor)
{
    struct loop *loop = container_of(reactor, struct loop, reactor);

    while (loop->dirty) {
        struct connection *connection = loop->dirty;

        object_check(connection, CONNECTION_MAGIC);
        assert(connection->dirty && connection->loop == loop);
        loop->dirty = connection->next_dirty;
        connection->dirty = false;
        if (!connection->closed && connection->protocol)
            flush(connection);
    }
    while (loop->closed) {
        struct connection *connection = loop->closed;

        assert(connection->closed && !connection->calls && !connection->roomy);
        loop->closed = connection->next;
        if (connection->protocol)
            connection->protocol->close(connection);
        buf_release(&connection->in);
        buf_release(&connection->out);
        object_end(connection, CONNECTION_MAGIC);
        free(connection);
    }
}

/* --- in --- */

static void use_protocol(struct connection *connection, const struct protocol_ops *protocol)
{
    assert(!connection->protocol);
    connection->protocol = protocol;
    protocol->open(connection);
    if (connection->is_operator)
        return;
    if (connection->loop->leaving)
        protocol->leave(connection);
}

static void give(struct connection *connection, struct bytes bytes)
{
    if (!connection->protocol->input(connection, bytes))
        connection->finished = true;
    connection_mark(connection);
}

/* The first bytes tell the protocol; as many are kept as are needed to be sure. */
static void detect(struct connection *connection, struct bytes bytes)
{
    struct bytes preface = bytes_make(http2_preface, sizeof(http2_preface) - 1);
    struct buf first;

    if (connection->in.size) {
        buf_put(&connection->in, bytes);
        bytes = buf_bytes(&connection->in);
    }
    if (bytes.size < preface.size && bytes_begin(preface, bytes)) {
        if (!connection->in.size)
            buf_put(&connection->in, bytes);
        return;
    }
    first = connection->in; /* bytes may be in it: the protocol starts with an empty one */
    connection->in = BUF_INIT(first.limit);
    use_protocol(connection, bytes_begin(bytes, preface) ? &http2_ops : &http1_ops);
    give(connection, bytes);
    buf_release(&first);
}

static ssize_t read_some(struct connection *connection)
{
    uint8_t *to = connection->loop->read_buffer;
    ssize_t count;

    if (connection->tls)
        return tls_read(connection->tls, to, NET_READ_SIZE);
    count = recv(connection->watch.fd, to, NET_READ_SIZE, 0);
    if (count < 0)
        return errno == EAGAIN || errno == EINTR ? IO_AGAIN : IO_FAILED;
    return count;
}

static bool shake_hands(struct connection *connection)
{
    int rc = tls_handshake(connection->tls);

    reactor_moved(&connection->loop->reactor);
    if (rc == IO_FAILED) {
        connection_close(connection);
    } else if (rc < 0) {
        ask(connection, rc == IO_WANT_WRITE ? EPOLLOUT : EPOLLIN | EPOLLRDHUP);
    } else {
        connection->handshaken = true;
        tls_peer_name(connection->tls, connection->peer_name, sizeof(connection->peer_name));
        if (tls_chose_http2(connection->tls))
            use_protocol(connection, &http2_ops);
        connection->waiting_us = connection->loop->reactor.now_us; /* for the first byte */
        ask(connection, EPOLLIN | EPOLLRDHUP);
    }
    return rc == 1;
}

static void read_input(struct connection *connection)
{
    ssize_t count = read_some(connection);

    if (count == IO_AGAIN || count == IO_WANT_WRITE)
        return;
    if (count <= 0) {
        /* Answers that are ready go out before it closes; calls in work are cancelled. */
        if (connection->protocol && count == 0 && !connection->linger_us)
            flush(connection);
        connection_close(connection);
        return;
    }
    reactor_moved(&connection->loop->reactor);
    if (connection->linger_us || connection->finished)
        return; /* thrown away: only our last words are still to go out */
    counter_add(connection->loop->server->metrics.received, (uint64_t)count);
    if (!connection->waiting_us && !connection->calls) {
        connection->waiting_us = connection->loop->reactor.now_us;
        connection_hurry(connection);
    }
    if (connection->protocol)
        give(connection, bytes_make(connection->loop->read_buffer, (size_t)count));
    else
        detect(connection, bytes_make(connection->loop->read_buffer, (size_t)count));
}

static void connection_ready(struct watch *watch, uint32_t events)
{
    struct connection *connection = container_of(watch, struct connection, watch);

    object_check(connection, CONNECTION_MAGIC);
    if (connection->closed)
        return;
    if (!connection->handshaken && !shake_hands(connection))
        return;
    if (events & (EPOLLIN | EPOLLHUP | EPOLLERR) && !connection->paused)
        read_input(connection);
    else if (events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR))
        connection_close(connection);
    if (!connection->closed && events & EPOLLOUT)
        connection_mark(connection);
}

void connection_resume(struct connection *connection)
{
    struct buf kept = connection->in;

    object_check(connection, CONNECTION_MAGIC);
    connection->paused = false;
    connection->in = BUF_INIT(kept.limit);
    if (kept.size) {
        connection->waiting_us = connection->loop->reactor.now_us;
        connection_hurry(connection);
        give(connection, buf_bytes(&kept));
    }
    buf_release(&kept);
    connection_mark(connection);
}

/* --- time --- */

void connection_hurry(struct connection *connection)
{
    int64_t soon = connection->loop->reactor.now_us + TICK_US;

    object_check(connection, CONNECTION_MAGIC);
    if (!connection->linger_us && connection->timer.due_us > soon)
        timer_set(&connection->loop->reactor, &connection->timer, soon);
}

/* A body has to keep its pace in every period of grace, not on the average since it began. */
static bool too_slow(struct call *call, int64_t now)
{
    const struct server_limits *limits = &call->loop->server->limits;
    int64_t spent_us = now - call->paced_us;

    if (!call->head_done)
        return now - call->begun_us > limits->head_timeout_us;
    if (call->body_done || call->refused || !call_has_body_limit(call) ||
        spent_us < limits->body_grace_us)
        return false;
    if ((int64_t)(call->body_size - call->paced_size) < spent_us / SECOND_US * NET_BODY_RATE_MIN)
        return true;
    call->paced_us = now;
    call->paced_size = call->body_size;
    return false;
}

/* True when the connection is to be closed for it. */
static bool check_call(struct call *call, int64_t now)
{
    const struct server_limits *limits = &call->loop->server->limits;

    if (too_slow(call, now)) {
        if (!call->head_done)
            return true;
        call_refuse(call, 408, ERR_TIMEOUT,
                    "the body came slower than %d bytes a second for longer than %d s",
                    NET_BODY_RATE_MIN, (int)(limits->body_grace_us / SECOND_US));
        return false;
    }
    if (call->replied && call->progress_us && now - call->progress_us > limits->stall_timeout_us)
        call->connection->protocol->reset(call);
    return false;
}

static bool check_calls(struct connection *connection, int64_t now)
{
    struct call *call = connection->calls;

    while (call && !connection->closed) {
        struct call *next = call->next;

        if (check_call(call, now))
            return true;
        call = next;
    }
    return false;
}

static void connection_tick(struct timer *timer)
{
    struct connection *connection = container_of(timer, struct connection, timer);
    const struct server_limits *limits = &connection->loop->server->limits;
    int64_t now = connection->loop->reactor.now_us;
    int64_t head_due = connection->waiting_us + limits->head_timeout_us;
    int64_t idle_due = connection->active_us + limits->idle_timeout_us;
    bool busy;

    object_check(connection, CONNECTION_MAGIC);
    if (connection->loop->draining && !connection->is_operator && !connection->drained) {
        connection_drain(connection);
        if (!connection->drained || connection->closed)
            return;
    }
    if (connection->linger_us ||
        (connection->blocked_us && now - connection->blocked_us > limits->stall_timeout_us)) {
        connection_close(connection);
        return;
    }
    busy = connection->waiting_us || connection->calls || connection->blocked_us;
    /* What has been idle for too long is looked at once more: its last words must go out, too. */
    timer_set(&connection->loop->reactor, timer,
              busy || now >= idle_due ? now + TICK_US : idle_due);
    if (check_calls(connection, now) || (connection->waiting_us && now > head_due)) {
        if (connection->protocol)
            connection->protocol->timeout(connection, "the head of the request took too long");
        else
            connection_close(connection);
    } else if (!connection->calls && now >= idle_due) {
        if (connection->protocol)
            connection->protocol->timeout(connection, NULL);
        else
            connection_close(connection);
    }
}
