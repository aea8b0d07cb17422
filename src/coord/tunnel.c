/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tunnel.c - see tunnel.h.
 *
 * A link is two sockets and what is between them: it connects (to one address of the name after the
 * other, first to the one after that which kept the link before waiting), shakes hands, then both
 * flows are moved on for as long as anything moves. The thread waits in poll(2) for what each link
 * lacks. A side that has ended is waited for no longer than COORD_TUNNEL_WAIT_MS, until what it
 * said is through.
 */
#include "coord/tunnel.h"

#include <arpa/inet.h>
#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/object.h"
#include "base/task.h"
#include "base/text.h"
#include "coord/bounds.h"

enum { TUNNEL_MAGIC = OBJECT_MAGIC('t', 'u', 'n', 'n') };

enum { BUFFER_SIZE = 64 << 10, BACKLOG = 8 };

enum link_state { LINK_CONNECTS, LINK_SHAKES_HANDS, LINK_OPEN };

/* Bytes on their way. */
struct flow {
    uint8_t data[BUFFER_SIZE];
    size_t begin, end;
    bool is_ended; /* no more come */
};

struct server {
    char *name; /* owned */
    char *port; /* owned */
    int listener;
    uint16_t here;  /* its port of ours */
    bool is_called; /* a connection waits there */
    size_t skip;    /* the addresses of its name that are tried last: they were silent */
};

struct link {
    struct link *next;
    struct server *server;
    struct addrinfo *addresses; /* owned */
    struct addrinfo *address;   /* the next to try: after the last comes the first */
    size_t at;                  /* its number, */
    size_t left;                /* and how many are to be tried */
    int plain;                  /* our client */
    int secure;                 /* the server; -1: none yet */
    SSL *ssl;
    enum link_state state;
    bool wants_write;   /* what the handshake, or a write, waits for */
    bool is_heard;      /* the server has said something to the client */
    const char *reason; /* why it stopped; NULL: it did not, or nobody asks */
    int64_t due_us;     /* it is closed then; CLOCK_NEVER */
    struct flow up, down;
};

struct tunnel {
    uint32_t magic;
    const struct clock *clock;
    struct task task;
    int wake; /* an eventfd; it stays readable */
    struct coord_tls tls;
    char *files[3]; /* owned; of tls */
    struct server servers[COORD_TUNNEL_SERVER_COUNT_MAX];
    size_t server_count;
    char *hosts; /* owned */

    struct link *links; /* the thread's, as the next three */
    size_t link_count;
    int64_t accept_us; /* no connection is taken before */
    bool is_ending;

    pthread_mutex_t lock;
    char reason[TUNNEL_REASON_SIZE];
};

/* --- what OpenSSL says --- */

static const char *ssl_reason(void)
{
    unsigned long code = ERR_peek_error();
    const char *reason = NULL;

    if (ERR_SYSTEM_ERROR(code))
        reason = "the file cannot be read";
    else if (code)
        reason = ERR_reason_error_string(code);
    ERR_clear_error();
    return reason ? reason : "unknown reason";
}

static bool is_given(const char *file)
{
    return file && *file;
}

static int load_files(SSL_CTX *ctx, const struct coord_tls *tls, struct err *err)
{
    const char *key = is_given(tls->key) ? tls->key : tls->certificate;

    if (is_given(tls->ca) ? !SSL_CTX_load_verify_locations(ctx, tls->ca, NULL)
                          : !SSL_CTX_set_default_verify_paths(ctx))
        return err_set(err, ERR_INVALID, "the authority of ZooKeeper's certificate, %s: %s",
                       is_given(tls->ca) ? tls->ca : "the system's", ssl_reason());
    if (!is_given(tls->certificate))
        return 0;
    if (SSL_CTX_use_certificate_chain_file(ctx, tls->certificate) != 1)
        return err_set(err, ERR_INVALID, "the certificate for ZooKeeper, %s: %s", tls->certificate,
                       ssl_reason());
    if (SSL_CTX_use_PrivateKey_file(ctx, key, SSL_FILETYPE_PEM) != 1 ||
        SSL_CTX_check_private_key(ctx) != 1)
        return err_set(err, ERR_INVALID, "the key of the certificate for ZooKeeper, %s: %s", key,
                       ssl_reason());
    return 0;
}

static int make_ctx(const struct coord_tls *tls, SSL_CTX **made, struct err *err)
{
    SSL_CTX *ctx = SSL_CTX_new(TLS_client_method());
    int rc;

    *made = NULL;
    ERR_clear_error();
    if (!ctx || !SSL_CTX_set_cipher_list(ctx, "ECDHE+AESGCM:ECDHE+CHACHA20:!aNULL")) {
        SSL_CTX_free(ctx);
        return err_set(err, ERR_UNAVAILABLE, "OpenSSL cannot make a context");
    }
    SSL_CTX_set_min_proto_version(ctx, TLS1_2_VERSION);
    SSL_CTX_set_verify(ctx, SSL_VERIFY_PEER, NULL);
    SSL_CTX_set_mode(ctx, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    rc = load_files(ctx, tls, err);
    if (rc)
        SSL_CTX_free(ctx);
    else
        *made = ctx;
    return rc;
}

/* The server must have a certificate of this name, or address. */
static bool expect_name(SSL *ssl, const char *name)
{
    if (X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), name))
        return true;
    ERR_clear_error();
    return SSL_set1_host(ssl, name) && SSL_set_tlsext_host_name(ssl, name);
}

/* --- a link's begin and end --- */

static void set_reason(struct tunnel *tunnel, const struct server *server, const char *reason)
{
    pthread_mutex_lock(&tunnel->lock);
    if (reason)
        snprintf(tunnel->reason, sizeof(tunnel->reason), "%s:%s: %s", server->name, server->port,
                 reason);
    else
        tunnel->reason[0] = 0;
    pthread_mutex_unlock(&tunnel->lock);
}

static void close_secure(struct link *link)
{
    SSL_free(link->ssl);
    link->ssl = NULL;
    if (link->secure >= 0)
        close(link->secure);
    link->secure = -1;
}

static void free_link(struct link *link)
{
    if (link->ssl && link->state == LINK_OPEN)
        SSL_shutdown(link->ssl); /* once: it is told, and not waited for */
    ERR_clear_error();
    close_secure(link);
    close(link->plain);
    if (link->addresses)
        freeaddrinfo(link->addresses);
    free(link);
}

static const struct addrinfo *next_address(struct link *link)
{
    const struct addrinfo *next = link->address;

    link->left--;
    link->at = next->ai_next ? link->at + 1 : 0;
    link->address = next->ai_next ? next->ai_next : link->addresses;
    return next;
}

/* Begins to connect to the next address that lets us. */
static bool connect_next(struct link *link)
{
    while (link->left) {
        const struct addrinfo *next = next_address(link);

        link->secure = socket(next->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
        if (link->secure < 0)
            continue;
        if (!connect(link->secure, next->ai_addr, next->ai_addrlen) || errno == EINPROGRESS)
            return true;
        close(link->secure);
        link->secure = -1;
    }
    return false;
}

static const char *begin_link(struct tunnel *tunnel, struct link *link)
{
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_ADDRCONFIG};
    size_t count = 0;
    int rc;

    task_says(&tunnel->task, "resolving a name");
    rc = getaddrinfo(link->server->name, link->server->port, &hints, &link->addresses);
    if (rc)
        return gai_strerror(rc);
    for (const struct addrinfo *one = link->addresses; one; one = one->ai_next)
        count++;
    link->address = link->addresses;
    link->left = link->server->skip % count;
    while (link->left)
        (void)next_address(link);
    link->left = count;
    return connect_next(link) ? NULL : "cannot be connected to";
}

static bool is_same(const struct sockaddr_in *one, const struct sockaddr_in *two)
{
    return one->sin_family == AF_INET && two->sin_family == AF_INET &&
           one->sin_port == two->sin_port && one->sin_addr.s_addr == two->sin_addr.s_addr;
}

/* The other end is a descriptor of this process. Both of its names count: somebody else's socket
 * may share a port of ours as long as they are connected to different places. */
static bool is_own(const struct sockaddr_in *peer, uint16_t here)
{
    const struct sockaddr_in there = {
        .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK), .sin_port = htons(here)};
    DIR *folder = opendir("/proc/self/fd");
    bool found = false;

    if (!folder)
        return false;
    for (;;) {
        struct dirent *entry = found ? NULL : readdir(folder);
        struct sockaddr_in name = {0};
        socklen_t size = sizeof(name);
        uint64_t fd;

        if (!entry)
            break;
        found = text_to_u64(bytes_of(entry->d_name), &fd) &&
                !getsockname((int)fd, (struct sockaddr *)&name, &size) && is_same(&name, peer);
        size = sizeof(name);
        found = found && !getpeername((int)fd, (struct sockaddr *)&name, &size) &&
                is_same(&name, &there);
    }
    closedir(folder);
    return found;
}

static void accept_one(struct tunnel *tunnel, struct server *server)
{
    struct sockaddr_in peer = {0};
    socklen_t size = sizeof(peer);
    int plain =
        accept4(server->listener, (struct sockaddr *)&peer, &size, SOCK_NONBLOCK | SOCK_CLOEXEC);
    struct link *link;
    const char *reason;

    if (plain < 0) {
        if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM)
            tunnel->accept_us =
                clock_after_us(tunnel->clock, (int64_t)COORD_TUNNEL_PAUSE_MS * MS_US);
        return;
    }
    if (tunnel->link_count == COORD_TUNNEL_LINK_COUNT_MAX || !is_own(&peer, server->here)) {
        log_warn("a connection to the tunnel to ZooKeeper was refused",
                 LOG_INT("port", server->here));
        close(plain);
        return;
    }
    link = mem_zero(sizeof(*link));
    link->server = server;
    link->plain = plain;
    link->secure = -1;
    link->wants_write = true; /* a connection that is there can be written to */
    link->due_us = clock_after_us(tunnel->clock, (int64_t)COORD_TUNNEL_WAIT_MS * MS_US);
    reason = begin_link(tunnel, link);
    if (reason) {
        set_reason(tunnel, server, reason);
        free_link(link);
        return;
    }
    link->next = tunnel->links;
    tunnel->links = link;
    tunnel->link_count++;
}

/* --- moving on: NULL, or why the link ends --- */

static const char *begin_hands(struct tunnel *tunnel, struct link *link)
{
    static _Thread_local struct err err; /* the reason outlives the call */
    SSL_CTX *ctx;

    if (make_ctx(&tunnel->tls, &ctx, &err))
        return err.text;
    link->ssl = SSL_new(ctx);
    SSL_CTX_free(ctx); /* the SSL has it */
    if (!link->ssl || !expect_name(link->ssl, link->server->name) ||
        !SSL_set_fd(link->ssl, link->secure))
        return "OpenSSL cannot make a connection";
    link->state = LINK_SHAKES_HANDS;
    return NULL;
}

static const char *look_at_connection(struct tunnel *tunnel, struct link *link)
{
    struct pollfd now = {.fd = link->secure, .events = POLLOUT};
    int error = 0;
    socklen_t size = sizeof(error);

    if (poll(&now, 1, 0) <= 0)
        return NULL;
    if (!getsockopt(link->secure, SOL_SOCKET, SO_ERROR, &error, &size) && !error)
        return begin_hands(tunnel, link);
    close_secure(link);
    return connect_next(link) ? NULL : "cannot be connected to";
}

/* What an operation of OpenSSL waits for; false: it failed. */
static bool waits(struct link *link, int rc)
{
    int why = SSL_get_error(link->ssl, rc);

    link->wants_write = why == SSL_ERROR_WANT_WRITE;
    return why == SSL_ERROR_WANT_READ || why == SSL_ERROR_WANT_WRITE;
}

static const char *shake_hands(struct link *link)
{
    long verdict;
    int rc;

    ERR_clear_error();
    rc = SSL_connect(link->ssl);
    if (rc == 1) {
        link->state = LINK_OPEN;
        link->wants_write = false;
        link->due_us = CLOCK_NEVER;
        return NULL;
    }
    if (waits(link, rc))
        return NULL;
    verdict = SSL_get_verify_result(link->ssl);
    if (verdict != X509_V_OK)
        return X509_verify_cert_error_string(verdict);
    return ERR_peek_error() ? ssl_reason() : "it closed the connection, or has no TLS there";
}

static size_t room(const struct flow *flow)
{
    return flow->is_ended ? 0 : sizeof(flow->data) - flow->end;
}

static void advance(struct flow *flow, size_t count)
{
    flow->begin += count;
    assert(flow->begin <= flow->end);
    if (flow->begin == flow->end)
        flow->begin = flow->end = 0;
}

/* Each of the four: true if something moved. */
static bool take_plain(struct link *link)
{
    struct flow *flow = &link->up;
    ssize_t count = room(flow) ? recv(link->plain, flow->data + flow->end, room(flow), 0) : -1;

    if (!room(flow) || (count < 0 && (errno == EAGAIN || errno == EINTR)))
        return false;
    if (count > 0)
        flow->end += (size_t)count;
    else
        flow->is_ended = true;
    return true;
}

static bool give_secure(struct link *link, bool *failed)
{
    struct flow *flow = &link->up;
    size_t count = 0;

    if (flow->begin == flow->end)
        return false;
    ERR_clear_error();
    if (SSL_write_ex(link->ssl, flow->data + flow->begin, flow->end - flow->begin, &count)) {
        link->wants_write = false;
        advance(flow, count);
        return true;
    }
    *failed = *failed || !waits(link, 0);
    return false;
}

/* With TLS 1.3 a server refuses our certificate only here, as its first words: our handshake was
 * over when the certificate was sent. */
static bool take_secure(struct tunnel *tunnel, struct link *link)
{
    struct flow *flow = &link->down;
    size_t count = 0;
    int why;

    if (!room(flow))
        return false;
    ERR_clear_error();
    if (SSL_read_ex(link->ssl, flow->data + flow->end, room(flow), &count)) {
        flow->end += count;
        if (!link->is_heard)
            set_reason(tunnel, link->server, NULL);
        link->is_heard = true;
        return true;
    }
    why = SSL_get_error(link->ssl, 0);
    if (why == SSL_ERROR_WANT_READ || why == SSL_ERROR_WANT_WRITE)
        return false;
    if (why == SSL_ERROR_SSL && !link->is_heard)
        link->reason = ssl_reason();
    flow->is_ended = true;
    return true;
}

static bool give_plain(struct link *link, bool *failed)
{
    struct flow *flow = &link->down;
    ssize_t count;

    if (flow->begin == flow->end)
        return false;
    count = send(link->plain, flow->data + flow->begin, flow->end - flow->begin, MSG_NOSIGNAL);
    if (count > 0)
        advance(flow, (size_t)count);
    else
        *failed = *failed || (errno != EAGAIN && errno != EINTR);
    return count > 0;
}

static const char *move_bytes(struct tunnel *tunnel, struct link *link)
{
    bool failed = false;
    bool moved = true;

    while (moved && !failed) {
        moved = take_plain(link);
        moved = give_secure(link, &failed) || moved;
        moved = take_secure(tunnel, link) || moved;
        moved = give_plain(link, &failed) || moved;
    }
    if (failed || (link->up.is_ended && !link->up.end) || (link->down.is_ended && !link->down.end))
        return link->reason ? link->reason : ""; /* it is over; else nobody asks why */
    if (link->due_us == CLOCK_NEVER && (link->up.is_ended || link->down.is_ended))
        link->due_us = clock_after_us(tunnel->clock, (int64_t)COORD_TUNNEL_WAIT_MS * MS_US);
    return NULL;
}

/* Clients wait less for a server than we do. */
static bool is_given_up(const struct link *link)
{
    struct pollfd now = {.fd = link->plain, .events = POLLRDHUP};

    return link->state != LINK_OPEN && poll(&now, 1, 0) > 0;
}

static const char *move_on(struct tunnel *tunnel, struct link *link)
{
    const char *reason = NULL;

    if (clock_mono_us(tunnel->clock) >= link->due_us || is_given_up(link))
        return link->state == LINK_OPEN ? "" : "did not answer in time";
    if (link->state == LINK_CONNECTS)
        reason = look_at_connection(tunnel, link);
    if (!reason && link->state == LINK_SHAKES_HANDS)
        reason = shake_hands(link);
    if (!reason && link->state == LINK_OPEN)
        reason = move_bytes(tunnel, link);
    return reason;
}

static void move_all(struct tunnel *tunnel)
{
    struct link **at = &tunnel->links;

    while (*at) {
        struct link *link = *at;
        const char *reason = move_on(tunnel, link);

        if (!reason) {
            at = &link->next;
            continue;
        }
        if (*reason)
            set_reason(tunnel, link->server, reason);
        if (link->state == LINK_CONNECTS)
            link->server->skip = link->at;
        *at = link->next;
        tunnel->link_count--;
        free_link(link);
    }
}

/* --- the thread --- */

enum { POLL_COUNT = 1 + COORD_TUNNEL_SERVER_COUNT_MAX + 2 * COORD_TUNNEL_LINK_COUNT_MAX };

static void add_poll(struct pollfd *polls, size_t *count, int fd, short events)
{
    polls[(*count)++] = (struct pollfd){.fd = events ? fd : -1, .events = events};
}

static short if_so(bool wanted, short event)
{
    return wanted ? event : 0;
}

static void wait_for_news(struct tunnel *tunnel, struct task *task)
{
    struct pollfd polls[POLL_COUNT];
    bool is_paused = clock_mono_us(tunnel->clock) < tunnel->accept_us;
    int64_t due_us = is_paused ? tunnel->accept_us : CLOCK_NEVER;
    int64_t left_ms;
    size_t count = 0;

    add_poll(polls, &count, tunnel->wake, if_so(!tunnel->is_ending, POLLIN));
    for (size_t i = 0; i < tunnel->server_count; i++)
        add_poll(polls, &count, tunnel->servers[i].listener,
                 if_so(!tunnel->is_ending && !is_paused, POLLIN));
    for (const struct link *link = tunnel->links; link; link = link->next) {
        bool is_open = link->state == LINK_OPEN;

        add_poll(polls, &count, link->plain,
                 (short)(if_so(!is_open, POLLRDHUP) | if_so(is_open && room(&link->up), POLLIN) |
                         if_so(link->down.end > 0, POLLOUT)));
        add_poll(polls, &count, link->secure,
                 (short)(if_so(link->state != LINK_CONNECTS && room(&link->down), POLLIN) |
                         if_so(link->wants_write, POLLOUT)));
        if (link->due_us < due_us)
            due_us = link->due_us;
    }
    left_ms = due_us == CLOCK_NEVER ? -1 : (due_us - clock_mono_us(tunnel->clock)) / MS_US + 1;
    task_rest(task, true);
    (void)poll(polls, count, left_ms < 0 ? -1 : (int)left_ms);
    task_rest(task, false);
    for (size_t i = 0; i < tunnel->server_count; i++)
        tunnel->servers[i].is_called = polls[1 + i].revents;
}

static void accept_all(struct tunnel *tunnel)
{
    for (size_t i = 0; i < tunnel->server_count; i++)
        if (tunnel->servers[i].is_called)
            accept_one(tunnel, &tunnel->servers[i]);
}

/* The client's last words (it ends its session) still go to the server. */
static void begin_end(struct tunnel *tunnel)
{
    int64_t due_us = clock_after_us(tunnel->clock, (int64_t)COORD_TUNNEL_END_MS * MS_US);

    tunnel->is_ending = true;
    for (struct link *link = tunnel->links; link; link = link->next)
        if (link->due_us > due_us)
            link->due_us = due_us;
}

static void run(struct task *task, void *arg)
{
    struct tunnel *tunnel = arg;
    sigset_t signals;

    object_check(tunnel, TUNNEL_MAGIC);
    sigemptyset(&signals);
    sigaddset(&signals, SIGPIPE); /* of OpenSSL's writes */
    pthread_sigmask(SIG_BLOCK, &signals, NULL);
    while (!tunnel->is_ending || tunnel->links) {
        wait_for_news(tunnel, task);
        task_says(task, "moving bytes");
        if (!tunnel->is_ending && task_is_stopping(task))
            begin_end(tunnel);
        move_all(tunnel);
        if (!tunnel->is_ending)
            accept_all(tunnel); /* when those that have left have made room */
    }
}

/* --- open and close --- */

static int listen_here(struct server *server, struct err *err)
{
    struct sockaddr_in here = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof(here);

    server->listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (server->listener < 0 || bind(server->listener, (struct sockaddr *)&here, size) ||
        listen(server->listener, BACKLOG) ||
        getsockname(server->listener, (struct sockaddr *)&here, &size))
        return err_errno(err, "listen for the tunnel to ZooKeeper at %s", server->name);
    server->here = ntohs(here.sin_port);
    return 0;
}

/* "HOST:PORT", an IPv6 address in brackets. */
static int read_server(struct tunnel *tunnel, const char *text, size_t size, struct err *err)
{
    struct server *server = &tunnel->servers[tunnel->server_count];
    const char *colon = memrchr(text, ':', size);
    size_t name_size = colon ? (size_t)(colon - text) : 0;
    uint64_t port;

    if (!name_size || !text_to_u64(bytes_make(colon + 1, size - name_size - 1), &port) || !port ||
        port > UINT16_MAX)
        return err_set(err, ERR_INVALID, "%.*s of the ZooKeeper URL must look like HOST:PORT",
                       (int)size, text);
    if (tunnel->server_count == COORD_TUNNEL_SERVER_COUNT_MAX)
        return err_set(err, ERR_LIMIT, "the ZooKeeper URL names more than %d servers",
                       COORD_TUNNEL_SERVER_COUNT_MAX);
    if (text[0] == '[' && text[name_size - 1] == ']')
        server->name = mem_strndup(text + 1, name_size - 2);
    else
        server->name = mem_strndup(text, name_size);
    server->port = mem_strndup(colon + 1, size - name_size - 1);
    server->listener = -1;
    tunnel->server_count++;
    return listen_here(server, err);
}

static int read_servers(struct tunnel *tunnel, const char *hosts, struct err *err)
{
    struct buf here = BUF_INIT(COORD_TUNNEL_SERVER_COUNT_MAX * sizeof("127.0.0.1:65535,"));
    int rc = 0;

    while (!rc) {
        size_t size = strcspn(hosts, ",");

        rc = read_server(tunnel, hosts, size, err);
        if (!rc)
            buf_printf(&here, "%s127.0.0.1:%u", tunnel->server_count > 1 ? "," : "",
                       tunnel->servers[tunnel->server_count - 1].here);
        hosts += size;
        if (!*hosts++)
            break;
    }
    assert(rc || !buf_failed(&here));
    if (!rc)
        tunnel->hosts = mem_strdup(buf_text(&here));
    buf_release(&here);
    return rc;
}

static const char *keep(struct tunnel *tunnel, size_t at, const char *file)
{
    tunnel->files[at] = is_given(file) ? mem_strdup(file) : NULL;
    return tunnel->files[at];
}

/* Who gives a file believes that it is used. */
static int expect_no_files(const struct coord_tls *tls, struct err *err)
{
    const struct {
        const char *name;
        const char *file;
    } files[] = {
        {"ca", tls->ca},
        {"certificate", tls->certificate},
        {"key", tls->key},
    };

    for (size_t i = 0; i < ARRAY_COUNT(files); i++)
        if (is_given(files[i].file))
            return err_set(err, ERR_INVALID,
                           "ZooKeeper: coord.%s is given, and coord.tls is not on", files[i].name);
    return 0;
}

int tunnel_open(const char *hosts, const struct coord_tls *tls, const struct clock *clock,
                struct tunnel **tunnel, struct err *err)
{
    struct task_options options = {.name = "coord-tunnel", .run = run, .clock = clock};
    struct tunnel *made;
    SSL_CTX *ctx = NULL;
    int rc;

    *tunnel = NULL;
    if (!tls->on)
        return expect_no_files(tls, err);
    made = options.arg = mem_zero(sizeof(*made));
    object_begin(made, TUNNEL_MAGIC);
    pthread_mutex_init(&made->lock, NULL);
    made->clock = clock;
    made->tls = (struct coord_tls){true, keep(made, 0, tls->ca), keep(made, 1, tls->certificate),
                                   keep(made, 2, tls->key)};
    made->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    rc = made->wake < 0 ? err_errno(err, "make an eventfd") : 0;
    rc = rc ? rc : make_ctx(&made->tls, &ctx, err);
    SSL_CTX_free(ctx);
    rc = rc ? rc : read_servers(made, hosts, err);
    rc = rc ? rc : task_start(&made->task, &options, err);
    if (rc)
        tunnel_close(made);
    else
        *tunnel = made;
    return rc;
}

void tunnel_close(struct tunnel *tunnel)
{
    if (!tunnel)
        return;
    object_check(tunnel, TUNNEL_MAGIC);
    if (task_is_started(&tunnel->task)) {
        task_ask_stop(&tunnel->task);
        (void)eventfd_write(tunnel->wake, 1);
    }
    task_stop(&tunnel->task);
    assert(!tunnel->links);
    for (size_t i = 0; i < tunnel->server_count; i++) {
        if (tunnel->servers[i].listener >= 0)
            close(tunnel->servers[i].listener);
        free(tunnel->servers[i].name);
        free(tunnel->servers[i].port);
    }
    if (tunnel->wake >= 0)
        close(tunnel->wake);
    for (size_t i = 0; i < ARRAY_COUNT(tunnel->files); i++)
        free(tunnel->files[i]);
    free(tunnel->hosts);
    pthread_mutex_destroy(&tunnel->lock);
    object_end(tunnel, TUNNEL_MAGIC);
    free(tunnel);
}

const char *tunnel_hosts(const struct tunnel *tunnel)
{
    object_check(tunnel, TUNNEL_MAGIC);
    return tunnel->hosts;
}

void tunnel_reason(struct tunnel *tunnel, char reason[TUNNEL_REASON_SIZE])
{
    object_check(tunnel, TUNNEL_MAGIC);
    pthread_mutex_lock(&tunnel->lock);
    memcpy(reason, tunnel->reason, TUNNEL_REASON_SIZE);
    pthread_mutex_unlock(&tunnel->lock);
}
