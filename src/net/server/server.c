/* SPDX-License-Identifier: Apache-2.0 */
/* server.c - see server.h: puts the parts together, starts the loops, drains them. */
#include "net/server/server.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/object.h"
#include "base/random.h"
#include "codec/json.h"
#include "model_descriptors.h"
#include "net/bounds.h"
#include "net/server/calls/admit.h"
#include "net/server/calls/call.h"
#include "net/server/calls/connection.h"
#include "net/server/calls/server_parts.h"
#include "net/server/listener.h"
#include "net/server/openapi.h"

enum { DRAIN_POLL_MS = 5, CANCEL_WAIT_MS = 1000, LEAVE_MS = 400 };

struct bytes loop_date(struct loop *loop)
{
    int64_t now_s = loop->reactor.now_us / SECOND_US;
    time_t wall_s;
    struct tm parts;

    if (now_s != loop->date_s || !loop->date_text[0]) {
        wall_s = (time_t)(clock_wall_us(loop->reactor.clock) / SECOND_US);
        gmtime_r(&wall_s, &parts);
        strftime(loop->date_text, sizeof(loop->date_text), "%a, %d %b %Y %H:%M:%S GMT", &parts);
        loop->date_s = now_s;
    }
    return bytes_of(loop->date_text);
}

static void make_metrics(struct server_metrics *metrics)
{
    metrics->connections = metrics_gauge("torg_net_connections", NULL, "Open connections.");
    metrics->accepted =
        metrics_counter("torg_net_connections_accepted_total", NULL, "Connections accepted.");
    metrics->refused = metrics_counter("torg_net_connections_refused_total", NULL,
                                       "Connections refused because there were too many.");
    metrics->received =
        metrics_counter("torg_net_received_bytes_total", NULL, "Bytes from clients.");
    metrics->sent = metrics_counter("torg_net_sent_bytes_total", NULL, "Bytes to clients.");
    metrics->floods =
        metrics_counter("torg_net_floods_total", NULL, "Connections cut off for useless frames.");
    metrics->overloads =
        metrics_counter("torg_net_overloads_total", NULL, "Calls answered with: come back later.");
    metrics->unsent = metrics_gauge("torg_net_unsent_bytes", NULL,
                                    "Memory of answers that clients have not taken yet.");
    metrics->unsent_closed =
        metrics_counter("torg_net_unsent_closed_total", NULL,
                        "Connections closed because they held too many answers unsent.");
    metrics->stream_pauses =
        metrics_counter("torg_net_stream_pauses_total", NULL,
                        "Times that a stream waited because its caller had used up its rate.");
}

static int make_loops(struct server *server, unsigned count, bool has_operators, struct err *err)
{
    if (count == 0)
        count = workers_core_count();
    if (count > NET_REACTOR_COUNT_MAX)
        count = NET_REACTOR_COUNT_MAX;
    server->client_loops = count;
    count += has_operators;
    server->loops = mem_array(count, sizeof(*server->loops));
    for (unsigned i = 0; i < count; i++) {
        struct loop *loop = &server->loops[i];
        int rc = reactor_init(&loop->reactor, loop_write_out, server->clock, err);

        server->loop_count++;
        if (rc)
            return rc;
        loop->server = server;
        loop->read_buffer = mem_alloc(NET_READ_SIZE);
        buf_init(&loop->write_buffer, SIZE_MAX);
        loop->request_seed = random_u64();
        loop->crowd.seed = random_u64();
    }
    return 0;
}

static int64_t timeout_us(unsigned chosen_ms, unsigned default_ms)
{
    return (int64_t)(chosen_ms ? chosen_ms : default_ms) * MS_US;
}

static struct server_limits choose_limits(const struct server_options *options)
{
    unsigned count = options->connection_count_max;
    unsigned calls = options->call_count_max;

    return (struct server_limits){
        .connection_count_max = count ? count : NET_CONNECTION_COUNT_MAX,
        .call_count_max = calls && calls < NET_CALL_COUNT_MAX ? calls : NET_CALL_COUNT_MAX,
        .head_timeout_us = timeout_us(options->head_timeout_ms, NET_HEAD_TIMEOUT_MS),
        .body_grace_us = timeout_us(options->body_grace_ms, NET_BODY_GRACE_MS),
        .idle_timeout_us = timeout_us(options->idle_timeout_ms, NET_IDLE_TIMEOUT_MS),
        .stall_timeout_us = timeout_us(options->stall_timeout_ms, NET_STALL_TIMEOUT_MS),
        .turn_ms_max = options->turn_ms_max ? options->turn_ms_max : NET_TURN_MS_MAX,
        .drain_pause_us = (int64_t)options->drain_pause_ms * MS_US,
        .stream_silence_us = timeout_us(options->stream_silence_ms, NET_STREAM_SILENCE_MS),
        .anonymous_stream_us = timeout_us(options->anonymous_stream_ms, NET_ANONYMOUS_STREAM_MS),
    };
}

static int make_admission(struct server *server, const struct server_options *options,
                          struct err *err)
{
    struct peer_ranges proxies = {.count = 0};
    const struct admission_options chosen = {
        .key_rate = options->key_rate,
        .seller_rate = options->seller_rate,
        .address_rate = options->address_rate,
        .address_connection_max = options->address_connection_max,
        .proxies = &proxies,
    };
    int rc = options->proxies ? peer_ranges_parse(options->proxies, &proxies, err) : 0;

    server->admission = admission_new(&chosen);
    return rc ? err_wrap(err, "proxies") : 0;
}

int server_new(const struct server_options *options, struct server **result, struct err *err)
{
    struct server *server = mem_zero(sizeof(*server));
    unsigned worker_count = options->worker_count ? options->worker_count : NET_WORKER_COUNT;
    int rc = 0;

    object_begin(server, SERVER_MAGIC);
    *result = NULL;
    server->clock = clock_or_system(options->clock);
    server->limits = choose_limits(options);
    server->authenticator = options->authenticator;
    server->tls_operators = options->tls_operators;
    server->listener.watch.fd = server->operator_listener.watch.fd = -1;
    server->listener.is_shared = options->reuse_port;
    pthread_mutex_init(&server->unready_lock, NULL);
    make_metrics(&server->metrics);
    server->health = health_new(server->clock);
    server->workers = workers_new(
        "worker", worker_count > NET_WORKER_COUNT_MAX ? NET_WORKER_COUNT_MAX : worker_count,
        NET_WORKER_QUEUE_MAX, NULL, server->clock);
    server->brief_workers = workers_new("brief", workers_core_count() + NET_BRIEF_SPARE_COUNT,
                                        NET_WORKER_QUEUE_MAX, call_run_brief, server->clock);
    server->compute_workers = workers_new(
        "compute", workers_core_count() + NET_COMPUTE_SPARE_COUNT + NET_COMPUTE_WAIT_COUNT,
        NET_WORKER_QUEUE_MAX, NULL, server->clock);
    workers_limit_running(server->compute_workers, workers_core_count() + NET_COMPUTE_SPARE_COUNT);
    server->stream_workers =
        workers_new("stream", NET_STREAM_THREAD_COUNT_MAX, 0, NULL, server->clock);
    server->anonymous_workers =
        workers_new("stream-keyless", NET_ANONYMOUS_STREAM_COUNT_MAX, 0, NULL, server->clock);
    server_add_descriptors(server, bytes_make(model_descriptors, model_descriptors_size));
    rc = make_admission(server, options, err);
    if (!rc)
        rc = cors_init(&server->cors, options->cors_origins, err);
    if (!rc && options->tls_certificate)
        rc = tls_context_new(options->tls_certificate, options->tls_key, options->tls_client_ca,
                             options->tls_client_required, &server->tls, err);
    if (!rc)
        rc = make_loops(server, options->reactor_count, options->operator_listen, err);
    if (!rc)
        rc = listener_open(&server->listener, server, options->listen, false, err);
    if (!rc && options->operator_listen)
        rc = listener_open(&server->operator_listener, server, options->operator_listen, true, err);
    if (rc) {
        server_free(server);
        return rc;
    }
    *result = server;
    return 0;
}

void server_add_service(struct server *server, const struct rpc_service *service)
{
    object_check(server, SERVER_MAGIC);
    assert(!server->started);
    assert(server->service_count < NET_SERVICE_COUNT_MAX);
    server->services[server->service_count++] = service;
    router_add(&server->router, service);
}

void server_add_descriptors(struct server *server, struct bytes descriptor_set)
{
    object_check(server, SERVER_MAGIC);
    assert(!server->started);
    assert(server->descriptor_set_count < NET_SERVICE_COUNT_MAX);
    server->descriptor_sets[server->descriptor_set_count++] = descriptor_set;
}

void server_add_get(struct server *server, const char *prefix, const char *method,
                    const char *field)
{
    object_check(server, SERVER_MAGIC);
    assert(!server->started);
    assert(router_find(&server->router, bytes_of(method)));
    gets_add(&server->gets, prefix, method, field);
}

void server_add_rest(struct server *server, const struct rest_service *service)
{
    object_check(server, SERVER_MAGIC);
    assert(!server->started);
    resources_add(&server->resources, service);
}

void server_add_file(struct server *server, const char *path, const char *content_type,
                     struct bytes content)
{
    object_check(server, SERVER_MAGIC);
    assert(!server->started);
    site_add(&server->site, path, content_type, content);
}

void server_add_folder(struct server *server, const struct folder *folder)
{
    object_check(server, SERVER_MAGIC);
    assert(!server->started);
    assert(server->folder_count < NET_FOLDER_COUNT_MAX);
    server->folders[server->folder_count++] = folder;
}

/* Ten thousand connections need as many descriptors; the soft limit is often 1024. */
static void raise_descriptor_limit(struct server *server)
{
    struct rlimit limit;
    rlim_t spare;

    if (getrlimit(RLIMIT_NOFILE, &limit))
        return;
    limit.rlim_cur = limit.rlim_max;
    if (setrlimit(RLIMIT_NOFILE, &limit))
        log_warn("cannot raise the limit of open files");
    if (limit.rlim_max < NET_CONNECTION_COUNT_MAX)
        log_warn("the limit of open files is low: few connections will be accepted",
                 LOG_INT("limit", limit.rlim_max));
    /* Some are left for files, peers and operators, however many clients there are. */
    spare = limit.rlim_max / 4 < NET_DESCRIPTOR_SPARE ? limit.rlim_max / 4 : NET_DESCRIPTOR_SPARE;
    if (server->limits.connection_count_max > limit.rlim_max - spare)
        server->limits.connection_count_max = (unsigned)(limit.rlim_max - spare);
}

static void set_health(struct server *server, bool serving)
{
    health_set(server->health, "", serving);
    for (size_t i = 0; i < server->service_count; i++)
        health_set(server->health, server->services[i]->descriptor->name, serving);
}

static bool is_ready(const struct server *server)
{
    return !server->unready && !server->trouble && (!server->lack || server->is_serving_without);
}

static void replace_text(char **text, const char *with)
{
    free(*text);
    *text = with ? mem_strdup(with) : NULL;
}

static int add_own_services(struct server *server, struct err *err)
{
    int rc;

    for (size_t i = 0; i < server->descriptor_set_count; i++) {
        rc = json_add_types(server->descriptor_sets[i], err);
        if (rc)
            return rc;
    }
    server_add_service(server, health_service(server->health));
    rc = reflection_new(server->descriptor_sets, server->descriptor_set_count, server->services,
                        server->service_count, &server->reflection, err);
    if (rc)
        return rc;
    server_add_service(server, reflection_v1(server->reflection));
    server_add_service(server, reflection_v1alpha(server->reflection));
    set_health(server, is_ready(server));
    return router_mark_safe(&server->router, server->descriptor_sets, server->descriptor_set_count,
                            err);
}

static void tell_trouble(void *arg, const char *trouble)
{
    struct server *server = arg;

    object_check(server, SERVER_MAGIC);
    pthread_mutex_lock(&server->unready_lock);
    replace_text(&server->trouble, trouble);
    set_health(server, is_ready(server));
    pthread_mutex_unlock(&server->unready_lock);
}

static int start_loops(struct server *server, struct err *err)
{
    struct reactor *reactors[NET_REACTOR_COUNT_MAX + 1];
    const struct watchdog_options options = {.reactors = reactors,
                                             .count = server->loop_count,
                                             .clock = server->clock,
                                             .limit_ms = server->limits.turn_ms_max,
                                             .report = tell_trouble,
                                             .arg = server};
    int rc = 0;

    for (unsigned i = 0; i < server->loop_count && !rc; i++) {
        char name[REACTOR_NAME_SIZE] = "operators";

        if (i < server->client_loops)
            snprintf(name, sizeof(name), "reactor-%u", i);
        reactors[i] = &server->loops[i].reactor;
        rc = reactor_start(reactors[i], name, err);
    }
    return rc ? rc : watchdog_start(&options, &server->watchdog, err);
}

static void keep_certificates(struct task *task, void *arg)
{
    struct server *server = arg;
    struct err err;
    bool is_news;

    while (task_pause(task, (int64_t)NET_TLS_LOOK_MS * MS_US)) {
        int rc = tls_context_refresh(server->tls, &is_news, &err);

        if (rc > 0)
            log_info("the TLS certificate was read again");
        else if (rc && is_news)
            log_error("the TLS certificate has changed, and cannot be used: the old one stays",
                      LOG_TEXT("error", err.text));
    }
}

void server_add_openapi(struct server *server)
{
    object_check(server, SERVER_MAGIC);
    assert(!server->started);
    server->has_openapi = true;
}

static int make_openapi(struct server *server, struct err *err)
{
    const struct openapi_source source = {.sets = server->descriptor_sets,
                                          .set_count = server->descriptor_set_count,
                                          .gets = &server->gets,
                                          .services = server->services,
                                          .service_count = server->service_count,
                                          .folders = server->folders,
                                          .folder_count = server->folder_count,
                                          .resources = &server->resources};
    int rc;

    if (!server->has_openapi)
        return 0;
    buf_init(&server->openapi, NET_OPENAPI_SIZE_MAX);
    rc = openapi_print(&source, &server->openapi, err);
    if (!rc && buf_failed(&server->openapi))
        rc = err_set(err, ERR_LIMIT, "the OpenAPI document is larger than %d bytes",
                     NET_OPENAPI_SIZE_MAX);
    if (!rc)
        site_add(&server->site, "/openapi.json", "application/json", buf_bytes(&server->openapi));
    return rc;
}

int server_start(struct server *server, struct err *err)
{
    const struct task_options keeper = {
        .name = "certificates", .run = keep_certificates, .arg = server, .clock = server->clock};
    int rc;

    object_check(server, SERVER_MAGIC);
    assert(!server->started);
    raise_descriptor_limit(server);
    rc = add_own_services(server, err);
    if (!rc)
        rc = make_openapi(server, err);
    server->started = true;
    if (!rc)
        rc = listener_watch(&server->listener, err);
    if (!rc && server->operator_listener.watch.fd >= 0)
        rc = listener_watch(&server->operator_listener, err);
    if (!rc && server->tls)
        rc = task_start(&server->tls_keeper, &keeper, err);
    return rc ? rc : start_loops(server, err);
}

unsigned server_port(const struct server *server)
{
    object_check(server, SERVER_MAGIC);
    return server->listener.port;
}

unsigned server_operator_port(const struct server *server)
{
    object_check(server, SERVER_MAGIC);
    return server->operator_listener.port;
}

void server_set_unready(struct server *server, const char *why)
{
    object_check(server, SERVER_MAGIC);
    pthread_mutex_lock(&server->unready_lock);
    replace_text(&server->unready, why);
    set_health(server, is_ready(server));
    pthread_mutex_unlock(&server->unready_lock);
}

void server_set_lack(struct server *server, const char *lack, bool is_serving)
{
    object_check(server, SERVER_MAGIC);
    pthread_mutex_lock(&server->unready_lock);
    replace_text(&server->lack, lack);
    server->is_serving_without = is_serving;
    set_health(server, is_ready(server));
    pthread_mutex_unlock(&server->unready_lock);
}

bool server_unready(struct server *server, char *why, size_t size)
{
    const char *reason;
    bool unready;

    object_check(server, SERVER_MAGIC);
    if (atomic_load(&server->draining)) {
        snprintf(why, size, "draining");
        return true;
    }
    pthread_mutex_lock(&server->unready_lock);
    unready = !is_ready(server);
    reason = server->unready ? server->unready : server->trouble ? server->trouble : server->lack;
    snprintf(why, size, "%s", reason ? reason : "");
    pthread_mutex_unlock(&server->unready_lock);
    return unready;
}

/* --- drain --- */

static void leave_loop(struct errand *task)
{
    struct loop *loop = container_of(task, struct loop, leave_task);

    loop->leaving = true;
    for (struct connection *each = loop->connections; each; each = each->next)
        if (!each->is_operator && each->protocol)
            each->protocol->leave(each);
}

static void drain_loop(struct errand *task)
{
    struct loop *loop = container_of(task, struct loop, drain_task);
    struct connection *connection = loop->connections;

    loop->draining = true;
    if (loop == &loop->server->loops[0]) {
        listener_empty(&loop->server->listener); /* whom the system has let in is answered */
        listener_close(&loop->server->listener);
    }
    while (connection) {
        struct connection *next = connection->next;

        if (!connection->is_operator)
            connection_drain(connection);
        connection = next;
    }
    atomic_store(&loop->has_drained, true);
}

static void cancel_loop(struct errand *task)
{
    struct loop *loop = container_of(task, struct loop, cancel_task);
    struct connection *connection = loop->connections;

    while (connection) {
        struct connection *next = connection->next;

        if (!connection->is_operator)
            connection_close(connection);
        connection = next;
    }
}

/* Nothing is under way; once it drains, only after every loop has seen that: the first may still
 * have clients in the listening socket, which it lets in. */
static bool is_quiet(struct server *server, bool drains)
{
    for (unsigned i = 0; i < server->loop_count; i++) {
        struct loop *loop = &server->loops[i];

        if (atomic_load(&loop->connection_count) != atomic_load(&loop->operator_count) ||
            atomic_load(&loop->running_count) || (drains && !atomic_load(&loop->has_drained)))
            return false;
    }
    return true;
}

static void wait_quiet(struct server *server, bool drains, int64_t timeout_ms)
{
    int64_t until_us = clock_mono_us(server->clock) + timeout_ms * MS_US;

    while (!is_quiet(server, drains) && clock_mono_us(server->clock) < until_us)
        clock_sleep(server->clock, DRAIN_POLL_MS * MS_US);
}

static void leave(struct server *server)
{
    clock_sleep(server->clock, server->limits.drain_pause_us);
    for (unsigned i = 0; i < server->loop_count; i++) {
        server->loops[i].leave_task.run = leave_loop;
        reactor_post(&server->loops[i].reactor, &server->loops[i].leave_task);
    }
    wait_quiet(server, false, LEAVE_MS);
}

void server_drain(struct server *server, int64_t timeout_ms)
{
    object_check(server, SERVER_MAGIC);
    if (!server->started || atomic_exchange(&server->draining, true))
        return;
    health_drain(server->health);
    if (timeout_ms)
        leave(server);
    for (unsigned i = 0; i < server->loop_count; i++) {
        server->loops[i].drain_task.run = drain_loop;
        reactor_post(&server->loops[i].reactor, &server->loops[i].drain_task);
    }
    wait_quiet(server, true, timeout_ms);
    for (unsigned i = 0; i < server->loop_count; i++) {
        server->loops[i].cancel_task.run = cancel_loop;
        reactor_post(&server->loops[i].reactor, &server->loops[i].cancel_task);
    }
    wait_quiet(server, true, CANCEL_WAIT_MS);
}

static void release_loop(struct loop *loop)
{
    while (loop->connections)
        connection_close(loop->connections);
    loop_write_out(&loop->reactor);
    loop->draining = true; /* calls are freed, not kept */
    while (loop->spare_calls) {
        struct call *call = loop->spare_calls;

        loop->spare_calls = call->next;
        object_begin(call, CALL_MAGIC);
        call_free(call);
    }
    reactor_release(&loop->reactor);
    buf_release(&loop->write_buffer);
    free(loop->read_buffer);
}

void server_free(struct server *server)
{
    if (!server)
        return;
    object_check(server, SERVER_MAGIC);
    server_drain(server, 0);
    task_stop(&server->tls_keeper);
    watchdog_stop(server->watchdog);
    workers_free(server->stream_workers); /* cancelled handlers return and are waited for */
    workers_free(server->anonymous_workers);
    workers_free(server->brief_workers);
    workers_free(server->compute_workers);
    workers_free(server->workers);
    for (unsigned i = 0; i < server->loop_count; i++)
        reactor_stop(&server->loops[i].reactor);
    listener_close(&server->listener);
    listener_close(&server->operator_listener);
    for (unsigned i = 0; i < server->loop_count; i++)
        release_loop(&server->loops[i]);
    free(server->loops);
    reflection_free(server->reflection);
    health_free(server->health);
    router_release(&server->router);
    resources_release(&server->resources);
    site_release(&server->site);
    cors_release(&server->cors);
    buf_release(&server->openapi);
    tls_context_free(server->tls);
    admission_free(server->admission);
    pthread_mutex_destroy(&server->unready_lock);
    free(server->unready);
    free(server->lack);
    free(server->trouble);
    object_end(server, SERVER_MAGIC);
    free(server);
}
