/* SPDX-License-Identifier: Apache-2.0 */
/* listener.c - see listener.h. */
#include "net/server/listener.h"

#include <arpa/inet.h>
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/object.h"
#include "base/text.h"
#include "net/server/calls/admit.h"
#include "net/server/calls/connection.h"
#include "net/server/calls/server_parts.h"

enum { LISTEN_FD_FIRST = 3, LISTEN_FD_MAX = 64 }; /* as systemd gives them */
enum { BACKLOG = 4096, ACCEPT_COUNT_MAX = 64, HOST_SIZE = 256, REST_US = SECOND_US / 10 };

/* On the listener's loop. Nothing of a request is read: the id is ours, whatever it brings. */
static void refuse(struct listener *listener, int fd)
{
    static const char body[] =
        "{\"code\":\"unavailable\",\"message\":\"too many connections at once\"}";
    struct bytes date = loop_date(listener->loop);
    char id[LOOP_ID_SIZE];
    char full[512];
    ssize_t sent;
    int size;

    loop_make_id(listener->loop, id);
    size = snprintf(full, sizeof(full),
                    "HTTP/1.1 503 Service Unavailable\r\nconnection: close\r\nretry-after: 1\r\n"
                    "content-type: application/json\r\ncontent-length: %zu\r\ndate: %.*s\r\n"
                    "x-request-id: %s\r\n\r\n%s",
                    sizeof(body) - 1, BYTES_ARG(date), id, body);
    assert(size > 0 && (size_t)size < sizeof(full));
    sent = send(fd, full, (size_t)size, MSG_NOSIGNAL | MSG_DONTWAIT);
    (void)sent; /* a courtesy */
    counter_add(listener->server->metrics.refused, 1);
    close(fd);
}

/* No descriptor is left: one is freed to accept and refuse. False when another thread took it. */
static bool refuse_without_descriptors(struct listener *listener)
{
    int fd;

    if (listener->spare_fd >= 0)
        close(listener->spare_fd);
    fd = accept4(listener->watch.fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd >= 0)
        refuse(listener, fd);
    listener->spare_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    return fd >= 0;
}

/* A client that can be neither taken nor refused stays in the queue, which is ready for ever: the
 * queue is left alone for a while. */
static void rest(struct listener *listener)
{
    struct reactor *reactor = &listener->loop->reactor;

    reactor_change(reactor, &listener->watch, 0);
    timer_set(reactor, &listener->rested, reactor->now_us + REST_US);
}

static void listener_rested(struct timer *timer)
{
    struct listener *listener = container_of(timer, struct listener, rested);

    reactor_change(&listener->loop->reactor, &listener->watch, EPOLLIN);
}

static void take_failure(struct listener *listener, int number)
{
    bool is_stuck = number == ENOBUFS || number == ENOMEM;

    if (number == EMFILE || number == ENFILE)
        is_stuck = !refuse_without_descriptors(listener);
    if (is_stuck)
        rest(listener);
}

/* Operators' connections are none of the clients', nor the other way round. */
static unsigned limit_of(const struct listener *listener)
{
    return listener->is_operator ? NET_OPERATOR_CONNECTION_COUNT_MAX
                                 : listener->server->limits.connection_count_max;
}

static struct loop *choose_loop(const struct listener *listener, unsigned *total)
{
    const struct server *server = listener->server;
    struct loop *chosen = listener->loop;
    unsigned fewest = ~0u;

    *total = 0;
    for (unsigned i = 0; i < server->loop_count; i++) {
        unsigned count =
            atomic_load_explicit(&server->loops[i].connection_count, memory_order_relaxed);

        if (listener->is_operator)
            count = atomic_load_explicit(&server->loops[i].operator_count, memory_order_relaxed);
        else
            count -= atomic_load_explicit(&server->loops[i].operator_count, memory_order_relaxed);
        *total += count;
        if (count < fewest && i < server->client_loops && !listener->is_operator) {
            fewest = count;
            chosen = &server->loops[i];
        }
    }
    return chosen;
}

static void accept_some(struct listener *listener, int count)
{
    const struct watch *watch = &listener->watch;
    struct server *server = listener->server;
    int one = 1;

    for (int i = 0; i < count; i++) {
        struct sockaddr_storage name = {0};
        socklen_t name_size = sizeof(name);
        int fd =
            accept4(watch->fd, (struct sockaddr *)&name, &name_size, SOCK_NONBLOCK | SOCK_CLOEXEC);
        struct loop *loop;
        unsigned total;

        if (fd < 0) {
            take_failure(listener, errno);
            return;
        }
        reactor_moved(&listener->loop->reactor);
        loop = choose_loop(listener, &total);
        if (total >= limit_of(listener) ||
            (!listener->is_operator && !admission_connect(server->admission, peer_of(&name),
                                                          total >= limit_of(listener) / 4 * 3))) {
            refuse(listener, fd);
            continue;
        }
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
        counter_add(server->metrics.accepted, 1);
        connection_start(loop, fd, listener->is_operator, peer_of(&name));
    }
}

static void listener_ready(struct watch *watch, uint32_t events)
{
    accept_some((struct listener *)watch, ACCEPT_COUNT_MAX);
}

void listener_empty(struct listener *listener)
{
    accept_some(listener, BACKLOG);
}

/* "host:port" or "[host]:port" into its parts. */
static int split(const char *address, char host[HOST_SIZE], char port[8], struct err *err)
{
    const char *colon = strrchr(address, ':');
    const char *name = address;
    size_t size = colon ? (size_t)(colon - address) : 0;

    if (size >= 2 && address[0] == '[' && address[size - 1] == ']') {
        name++;
        size -= 2;
    }
    if (!colon || size == 0 || size >= HOST_SIZE || strlen(colon + 1) == 0 || strlen(colon + 1) > 5)
        return err_set(err, ERR_INVALID, "'%s' is not an address: write HOST:PORT", address);
    memcpy(host, name, size);
    host[size] = 0;
    snprintf(port, 8, "%s", colon + 1);
    return 0;
}

static in_port_t port_of(const struct sockaddr_storage *name)
{
    return name->ss_family == AF_INET6 ? ((const struct sockaddr_in6 *)name)->sin6_port
                                       : ((const struct sockaddr_in *)name)->sin_port;
}

/* One of all addresses of the machine is not that of one of them: it lets others in. */
static bool is_same_address(const struct sockaddr_storage *a, const struct sockaddr_storage *b)
{
    if (a->ss_family != b->ss_family || port_of(a) != port_of(b))
        return false;
    if (a->ss_family == AF_INET6)
        return memcmp(&((const struct sockaddr_in6 *)a)->sin6_addr,
                      &((const struct sockaddr_in6 *)b)->sin6_addr, sizeof(struct in6_addr)) == 0;
    return ((const struct sockaddr_in *)a)->sin_addr.s_addr ==
           ((const struct sockaddr_in *)b)->sin_addr.s_addr;
}

/* A socket of this address that whoever started the process has opened for it, as systemd does
 * (LISTEN_FDS, LISTEN_PID): clients wait in it while one process ends and the next begins. */
static int inherited(const struct addrinfo *wanted)
{
    const char *owner_text = getenv("LISTEN_PID");
    const char *count_text = getenv("LISTEN_FDS");
    struct sockaddr_storage want = {0};
    uint64_t owner = 0;
    uint64_t count = 0;

    if (!owner_text || !count_text || !text_to_u64(bytes_of(owner_text), &owner) ||
        !text_to_u64(bytes_of(count_text), &count) || owner != (uint64_t)getpid())
        return -1;
    memcpy(&want, wanted->ai_addr, wanted->ai_addrlen);
    for (int fd = LISTEN_FD_FIRST; fd < LISTEN_FD_FIRST + LISTEN_FD_MAX && count; fd++, count--) {
        struct sockaddr_storage name = {0};
        socklen_t size = sizeof(name);

        if (getsockname(fd, (struct sockaddr *)&name, &size) || !is_same_address(&name, &want))
            continue;
        fcntl(fd, F_SETFD, FD_CLOEXEC);
        fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
        return fd;
    }
    return -1;
}

static int bind_first(struct listener *listener, const struct addrinfo *found, const char *address,
                      struct err *err)
{
    struct sockaddr_storage name;
    socklen_t size = sizeof(name);
    int one = 1;
    int fd = inherited(found);
    bool is_new = fd < 0;

    if (is_new)
        fd = socket(found->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return err_errno(err, "cannot make a socket for %s", address);
    listener->watch.fd = fd;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
    if (is_new && listener->is_shared)
        setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &one, sizeof(one));
    if ((is_new && bind(fd, found->ai_addr, found->ai_addrlen)) ||
        (!listener->is_shared && listen(fd, BACKLOG)))
        return errno == EADDRINUSE
                   ? err_set(err, ERR_EXISTS, "cannot listen on %s: %s", address, strerror(errno))
                   : err_errno(err, "cannot listen on %s", address);
    if (getsockname(fd, (struct sockaddr *)&name, &size))
        return err_errno(err, "cannot ask for the port of %s", address);
    listener->port = ntohs(port_of(&name));
    return 0;
}

int listener_open(struct listener *listener, struct server *server, const char *address,
                  bool is_operator, struct err *err)
{
    struct addrinfo hints = {.ai_family = AF_UNSPEC,
                             .ai_socktype = SOCK_STREAM,
                             .ai_flags = AI_PASSIVE | AI_NUMERICSERV};
    struct addrinfo *found = NULL;
    char host[HOST_SIZE];
    char port[8];
    int rc;

    object_check(server, SERVER_MAGIC);
    listener->watch = (struct watch){.ready = listener_ready, .fd = -1};
    listener->rested.fire = listener_rested;
    listener->server = server;
    listener->loop = &server->loops[is_operator ? server->loop_count - 1 : 0];
    listener->is_operator = is_operator;
    listener->spare_fd = -1;
    rc = split(address, host, port, err);
    if (rc)
        return rc;
    rc = getaddrinfo(host, port, &hints, &found);
    if (rc)
        return err_set(err, ERR_INVALID, "cannot find the address %s: %s", address,
                       gai_strerror(rc));
    rc = bind_first(listener, found, address, err);
    freeaddrinfo(found);
    listener->spare_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (rc)
        listener_close(listener);
    return rc;
}

int listener_watch(struct listener *listener, struct err *err)
{
    if (listener->is_shared && listen(listener->watch.fd, BACKLOG))
        return err_errno(err, "cannot listen on port %u", listener->port);
    return reactor_add(&listener->loop->reactor, &listener->watch, EPOLLIN, err);
}

void listener_close(struct listener *listener)
{
    if (!listener->loop)
        return;
    timer_clear(&listener->loop->reactor, &listener->rested);
    if (listener->watch.fd >= 0)
        close(listener->watch.fd); /* leaves epoll by itself */
    if (listener->spare_fd >= 0)
        close(listener->spare_fd);
    listener->watch.fd = listener->spare_fd = -1;
}
