/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run.c - a call and its handler: on which thread it runs, and what happens when it returns.
 *
 * run_unary, run_job and run_stream run where the method's flags say; the rest on the reactor.
 */
#include <assert.h>
#include <string.h>

#include "base/clock.h"
#include "base/endian.h"
#include "base/log.h"
#include "base/log_pace.h"
#include "base/memory.h"
#include "base/object.h"
#include "codec/gzip.h"
#include "codec/json.h"
#include "codec/message.h"
#include "net/server/calls/admit.h"
#include "net/server/calls/call.h"
#include "net/server/calls/connection.h"
#include "net/server/calls/recheck.h"
#include "net/server/calls/resources.h"
#include "net/server/calls/server_parts.h"
#include "net/server/calls/share.h"
#include "net/server/calls/unsent.h"

enum { STREAM_PAY_US = 20 * MS_US }; /* a stream's CPU is charged in such pieces */

static int unframe(struct call *call, struct bytes *message, struct err *err)
{
    struct bytes body = buf_bytes(&call->body);
    bool packed = call->packed;
    int rc;

    if (format_is_framed(call->format)) {
        if (body.size < FRAME_HEAD_SIZE || get_be32(body.data + 1) != body.size - FRAME_HEAD_SIZE ||
            body.data[0] > FRAME_PACKED)
            return err_set(err, ERR_INVALID, "the body is not exactly one gRPC message");
        if (body.data[0] == FRAME_PACKED && !call->packed)
            return err_set(err, ERR_INVALID, "a packed message without grpc-encoding: gzip");
        packed = body.data[0] == FRAME_PACKED;
        body = bytes_skip(body, FRAME_HEAD_SIZE);
    }
    if (packed) {
        rc = gzip_unpack(body, NET_MESSAGE_SIZE_MAX, &call->message, err);
        if (rc)
            return rc;
        body = buf_bytes(&call->message);
    }
    *message = body;
    return 0;
}

static int decode(struct call *call, ProtobufCMessage **request, struct err *err)
{
    struct bytes bytes;
    int rc = unframe(call, &bytes, err);

    if (rc)
        return rc;
    if (format_is_json(call->format))
        return json_decode(bytes, call->route->input, call->arena, request, &call->violations, err);
    return message_decode(bytes, call->route->input, call->arena, request, err);
}

/* Texts of backends name hosts and files. */
static bool names_backend(const char *text)
{
    static const char *const backends[] = {"postgres", "sqlite", "Kafka", "ZooKeeper"};

    for (size_t i = 0; i < ARRAY_COUNT(backends); i++)
        if (strcasestr(text, backends[i]))
            return true;
    return false;
}

static bool is_of_operator(const struct call *call)
{
    const struct identity *identity = &call->identity;

    return !*identity->seller && !*identity->client && identity_has_scope(identity, "admin");
}

/* What went wrong inside is for the log and for operators; others are told where to look it up. */
static void tell_failure(const struct call *call, int rc, struct err *err)
{
    static struct log_pace pace; /* while a server is away, every call would tell of it */
    bool is_away = rc == ERR_UNAVAILABLE && names_backend(err->text);

    if (rc != ERR_INTERNAL && rc != ERR_CORRUPT && !is_away)
        return;
    if (log_pace_is_due(&pace, err))
        log_error("call failed", LOG_BYTES("method", call->route->path),
                  LOG_TEXT("error", err->text));
    if (is_of_operator(call))
        return;
    if (is_away)
        err_set(err, rc, "this cannot be done now: try again later (request %s)", call->request_id);
    else
        err_set(err, rc, "something is wrong here: our log has it as request %s", call->request_id);
}

/* The client's time is up, or that of a stream without a key, which may begin again at once. */
static int late(const struct call *call, struct err *err)
{
    int64_t life_us = call->loop->server->limits.anonymous_stream_us;

    if (!call->keyless || call->deadline_us < call->begun_us + life_us)
        return err_set(err, ERR_TIMEOUT, "the deadline of the call has passed");
    return err_set(err, ERR_UNAVAILABLE,
                   "a stream without a key ends after %d s: begin it again, or send "
                   "'Authorization: Bearer KEY'",
                   (int)(life_us / SECOND_US));
}

/* A handler that stopped because the time was up says so, whatever words it chose. */
static int name_deadline(const struct call *call, int rc, struct err *err)
{
    bool stopped = rc == ERR_CANCELLED || (rc == ERR_TIMEOUT && call->keyless);

    if (!stopped || call->deadline_us == INT64_MAX ||
        clock_mono_us(call_clock(call)) < call->deadline_us)
        return rc;
    return late(call, err);
}

static int run_method(struct call *call, int *http_status, struct err *err)
{
    ProtobufCMessage *request;
    ProtobufCMessage *response;
    int rc = decode(call, &request, err);

    if (rc == ERR_LIMIT)
        *http_status = 413; /* "too many requests" would be a wrong hint */
    if (rc)
        return rc;
    response = message_new(call->route->output, call->arena);
    rc = call->route->method->unary(call, request, response, err);
    if (!rc)
        reply_message(call, response);
    return rc;
}

/* Its handler will be run again as if it had not been. */
static void forget(struct call *call, struct arena_mark mark, size_t header_count)
{
    call->reply.header_count = header_count;
    arena_rewind(call->arena, mark);
    call->violations = violations_in(call->arena);
    buf_reset(&call->message);
    log_set_request(NULL);
}

static void build_error(struct call *call, int http_status, int rc, struct err *err)
{
    rc = name_deadline(call, rc, err);
    tell_failure(call, rc, err);
    reply_error(call, http_status, rc, err->text);
}

static void count_cpu(struct call *call)
{
    if (call->rate.limit)
        call->cpu_us = worker_cpu_us() - call->thread_us;
}

/* False: the answer comes later, and the call is somebody else's. */
static bool run_unary(struct call *call)
{
    struct err err = {.code = 0, .text = ""};
    size_t header_count = call->reply.header_count;
    struct arena_mark mark = arena_mark(call->arena);
    int http_status = 0;
    int rc;

    log_set_request(call->request_id);
    call->thread_us = call->rate.limit ? worker_cpu_us() : 0;
    rc = call->rest ? resource_run(call, &http_status, &err) : run_method(call, &http_status, &err);
    if (rc == RPC_LATER) {
        log_set_request(NULL);
        return false;
    }
    if (rc && call->come_back_us) {
        forget(call, mark, header_count);
        count_cpu(call);
        return true;
    }
    call->come_back_us = 0;
    if (rc)
        build_error(call, http_status, rc, &err);
    unsent_built(call);
    count_cpu(call);
    log_set_request(NULL);
    return true;
}

void call_answer(struct call *call, int rc, struct err *err)
{
    object_check(call, CALL_MAGIC);
    assert(call->running && !call->channel && !call->come_back_us);
    log_set_request(call->request_id);
    if (rc)
        build_error(call, 0, rc, err);
    else if (call->rest)
        reply_content(call, 200, NULL);
    else
        reply_message(call, message_new(call->route->output, call->arena));
    unsent_built(call);
    log_set_request(NULL);
    reactor_post(&call->loop->reactor, &call->task);
}

static void run_job(struct job *job)
{
    struct call *call = container_of(job, struct call, job);

    object_check(call, CALL_MAGIC);
    if (atomic_load(&call->cancelled))
        reply_error(call, 0, ERR_CANCELLED, "the client left before the call began");
    else if (!run_unary(call))
        return;
    reactor_post(&call->loop->reactor, &call->task);
}

void call_run_brief(struct job *first)
{
    const struct rpc_service *service = NULL;
    struct job *next;

    for (struct job *job = first; job; job = next) {
        const struct route *route = container_of(job, struct call, job)->route;
        const struct rpc_service *own = route ? route->service : NULL; /* none: a folder's file */

        next = job->next; /* once it has run, the call is the reactor's */
        if (own != service && service && service->end)
            service->end(service->context);
        if (own != service && own && own->begin)
            own->begin(own->context);
        service = own;
        job->run(job);
    }
    if (service && service->end)
        service->end(service->context);
}

void call_pay(struct call *call)
{
    int64_t cpu_us;
    int64_t wait_us;

    object_check(call, CALL_MAGIC);
    if (!call->rate.limit)
        return;
    cpu_us = worker_cpu_us() - call->thread_us;
    if (cpu_us < STREAM_PAY_US)
        return;
    call->thread_us += cpu_us;
    wait_us = admit_pay(call, cpu_us);
    if (!wait_us)
        return;
    counter_add(call->loop->server->metrics.stream_pauses, 1);
    channel_pause(call->channel, clock_mono_us(call_clock(call)) + wait_us);
}

static void run_stream(struct job *job)
{
    struct call *call = container_of(job, struct call, job);
    struct channel *channel = call->channel;

    object_check(call, CALL_MAGIC);
    log_set_request(call->request_id);
    call->thread_us = worker_cpu_us();
    call->err.text[0] = 0;
    call->result = 0;
    if (call->format == CALL_JSON && call->packed) {
        call->result =
            gzip_unpack(buf_bytes(&call->body), NET_MESSAGE_SIZE_MAX, &call->message, &call->err);
        buf_reset(&call->body);
        buf_put(&call->body, buf_bytes(&call->message));
    }
    if (!call->result)
        call->result = call->route->method->stream(call, &call->err);
    call->result = name_deadline(call, call->result, &call->err);
    call->result = recheck_name(call, call->result, &call->err);
    tell_failure(call, call->result, &call->err);
    call->cpu_us = worker_cpu_us() - call->thread_us; /* that it has not paid for */
    log_set_request(NULL);
    channel_finish(channel);
}

static void notify_reactor(void *arg)
{
    struct call *call = arg;

    object_check(call, CALL_MAGIC);
    reactor_post(&call->loop->reactor, &call->task);
}

/* Who shows no key shares few threads with others of the kind, and not for ever. */
static bool limit_keyless(struct call *call)
{
    struct connection *connection = call->connection;
    const struct server *server = call->loop->server;
    int64_t end_us = call->begun_us + server->limits.anonymous_stream_us;

    if (!server->authenticator || call->identity.principal[0])
        return true;
    if (connection->anonymous_count == NET_ANONYMOUS_STREAM_CONNECTION_MAX) {
        reply_overload(call, arena_printf(call->arena,
                                          "a connection has at most %d streams without a key at "
                                          "once: end some, or send 'Authorization: Bearer KEY'",
                                          NET_ANONYMOUS_STREAM_CONNECTION_MAX));
        return false;
    }
    assert(!call->keyless);
    call->keyless = true;
    connection->anonymous_count++;
    if (call->deadline_us > end_us) {
        call->deadline_us = end_us;
        timer_set(&call->loop->reactor, &call->timer, end_us);
    }
    return true;
}

void call_run_stream(struct call *call)
{
    struct connection *connection = call->connection;
    const struct server *server = call->loop->server;

    object_check(call, CALL_MAGIC);
    if (connection->stream_count == NET_STREAM_THREAD_CONNECTION_MAX) {
        reply_overload(call, "this connection has too many streams at once: end some");
        return;
    }
    if (!limit_keyless(call) || !share_take_stream(call))
        return;
    call->channel = channel_new(notify_reactor, call, call_clock(call));
    channel_limit_silence(call->channel, server->limits.stream_silence_us);
    if (call->body_done && format_is_framed(call->format)) { /* HTTP/1.1: it came whole */
        channel_push(call->channel, buf_bytes(&call->body));
        channel_push_end(call->channel);
    }
    call->job.run = run_stream;
    assert(!call->running && !call->replied);
    call->running = true;
    atomic_fetch_add(&call->loop->running_count, 1);
    connection->stream_count++;
    assert(connection->stream_count <= NET_STREAM_THREAD_CONNECTION_MAX);
    if (!workers_submit(call->keyless ? server->anonymous_workers : server->stream_workers,
                        &call->job)) {
        recheck_begin(call);
        return;
    }
    call->running = false;
    atomic_fetch_sub(&call->loop->running_count, 1);
    reply_overload(call, call->keyless
                             ? arena_printf(call->arena,
                                            "all %d streams without a key are taken: come back "
                                            "later, or send 'Authorization: Bearer KEY'",
                                            NET_ANONYMOUS_STREAM_COUNT_MAX)
                             : "all threads for streams are taken: come back later");
}

static struct workers *workers_of(const struct call *call)
{
    const struct server *server = call->loop->server;
    unsigned flags = call->route->service->remote ? 0 : call->route->method->flags;

    return call->left_brief      ? server->workers
           : flags & RPC_BRIEF   ? server->brief_workers
           : flags & RPC_COMPUTE ? server->compute_workers
                                 : server->workers;
}

/* On any thread: the pool has better things to do. */
static void job_dropped(struct job *job)
{
    struct call *call = container_of(job, struct call, job);

    object_check(call, CALL_MAGIC);
    call->dropped = true;
    reactor_post(&call->loop->reactor, &call->task);
}

static const char busy[] = "all workers are busy, and most of those who wait are your calls: come "
                           "back later, and ask for less at once";

void call_hand_over(struct call *call, struct workers *workers, void (*run)(struct job *job))
{
    struct loop *loop = call->loop;
    int rc;

    object_check(call, CALL_MAGIC);
    assert(!call->running && !call->replied && !call->channel);
    call->job.run = run;
    call->job.dropped = job_dropped;
    call->job.due_us = call->deadline_us == INT64_MAX ? 0 : call->deadline_us;
    call->running = true;
    atomic_fetch_add(&loop->running_count, 1);
    rc = workers_submit(workers, &call->job);
    if (!rc)
        return;
    call->running = false;
    atomic_fetch_sub(&loop->running_count, 1);
    reply_put_off(call, NET_RETRY_AFTER_S,
                  rc == ERR_TIMEOUT ? "your calls before this one take longer than its deadline "
                                      "allows: ask for less at once"
                                    : busy);
}

/* Its request takes no time to read, whatever is in it. */
static bool is_prompt(const struct call *call)
{
    unsigned flags = call->route->method->flags;

    return flags & RPC_PROMPT && flags & RPC_BRIEF && !call->route->service->remote &&
           !call->left_brief && !call->packed && call->body.size <= NET_PROMPT_SIZE_MAX;
}

/* On the reactor as on a worker: the answer comes back to it later, or at its next turn. */
static void run_promptly(struct call *call)
{
    struct loop *loop = call->loop;
    const char *before = reactor_busy(&loop->reactor, call->route->method->name);

    assert(!call->running && !call->replied && !call->channel);
    call->running = true;
    atomic_fetch_add(&loop->running_count, 1);
    run_job(&call->job);
    reactor_busy(&loop->reactor, before);
}

void call_run(struct call *call)
{
    struct loop *loop = call->loop;

    object_check(call, CALL_MAGIC);
    if (call->route->method->flags & RPC_INLINE) {
        const char *before = reactor_busy(&loop->reactor, call->route->method->name);

        (void)run_unary(call); /* it is not `running`: nothing is deferred */
        reactor_busy(&loop->reactor, before);
        admit_charge(call);
        call_send(call);
        return;
    }
    if (is_prompt(call))
        run_promptly(call);
    else
        call_hand_over(call, workers_of(call), run_job);
}

/* --- back on the reactor --- */

static void settle_stream(struct call *call)
{
    struct channel_news news = channel_look(call->channel);

    if (news.finished) {
        assert(call->running);
        call->running = false;
        atomic_fetch_sub(&call->loop->running_count, 1);
        admit_charge(call);
    }
    if (!call->connection) {
        if (news.finished)
            call_free(call);
        return;
    }
    unsent_stream(call, news.unsent);
    if (news.unsent && !call->progress_us)
        call->progress_us = call->loop->reactor.now_us;
    if (!call->replied && (news.unsent || news.finished)) {
        if (news.finished && !news.unsent && call->result) {
            reply_error(call, 0, call->result, call->err.text);
            call_send(call);
            return;
        }
        reply_stream_begin(call);
        if (news.finished)
            reply_stream_end(call);
        call_send(call);
    } else if (news.finished) {
        reply_stream_end(call);
    }
    if (call->connection)
        call->connection->protocol->resume(call, news.taken);
}

/* No thread has it until its time has come, and its caller owes nothing. */
static void park(struct call *call)
{
    int64_t owed_us = call->rate.limit ? admit_pay(call, 0) : 0;
    int64_t due_us =
        call->loop->reactor.now_us + (owed_us > call->come_back_us ? owed_us : call->come_back_us);

    call->come_back_us = 0;
    call->is_parked = true;
    timer_set(&call->loop->reactor, &call->timer,
              due_us < call->deadline_us ? due_us : call->deadline_us);
}

/* False: the deadline has come first. */
static bool unpark(struct call *call)
{
    call->is_parked = false;
    if (call->loop->reactor.now_us >= call->deadline_us)
        return false;
    if (call->deadline_us != INT64_MAX)
        timer_set(&call->loop->reactor, &call->timer, call->deadline_us);
    call_run(call);
    return true;
}

void call_settle(struct errand *task)
{
    struct call *call = container_of(task, struct call, task);

    object_check(call, CALL_MAGIC);
    if (call->channel) {
        settle_stream(call);
        return;
    }
    assert(call->running); /* the worker has given it back, once */
    call->running = false;
    atomic_fetch_sub(&call->loop->running_count, 1);
    admit_charge(call);
    if (call->connection && call->come_back_us) {
        park(call);
        return;
    }
    if (call->connection && call->dropped) {
        call->dropped = false;
        reply_put_off(call, NET_RETRY_AFTER_S, busy);
        return;
    }
    if (call->connection) {
        call_send(call);
        return;
    }
    call->reply.status = status_of_err(ERR_CANCELLED);
    call_count_reply(call);
    call_free(call);
}

void call_expire(struct timer *timer)
{
    struct call *call = container_of(timer, struct call, timer);
    struct err err;
    int rc;

    object_check(call, CALL_MAGIC);
    if (call->put_off) {
        reply_now(call);
        return;
    }
    if (call->is_parked && unpark(call))
        return;
    call_cancel(call, ERR_TIMEOUT);
    if (call->replied)
        return; /* a stream's handler ends it; an answer on its way is as good as sent */
    rc = late(call, &err);
    call_refuse(call, 0, rc, "%s", err.text);
}
