/* SPDX-License-Identifier: Apache-2.0 */
/* zookeeper_proxy.c - see zookeeper_proxy.h. One thread, poll(2), blocking writes. */
#include "zookeeper_proxy.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/endian.h"
#include "base/memory.h"

enum {
    LINE_COUNT = 16,
    POLL_MS = 10,
    PASSWORD_SIZE = 16,
    GREETING_SIZE = 4 + 4 + 4 + 8 + 4 + PASSWORD_SIZE, /* size, version, timeout, id, password */
};

struct line {
    int client; /* -1: unused */
    int server;
    bool greeted;
};

struct proxy {
    struct sockaddr_in server;
    int listener;
    int port;
    pthread_t thread;
    _Atomic bool stopping;
    _Atomic bool held;
    _Atomic bool rests; /* the thread has seen that it is held */
    _Atomic bool cut;
    pthread_mutex_t lock;
    uint8_t session[8 + 4 + PASSWORD_SIZE]; /* as the server sent it */
    bool has_session;
    struct line lines[LINE_COUNT];
};

static void line_close(struct line *line)
{
    if (line->client >= 0) {
        close(line->client);
        close(line->server);
    }
    line->client = -1;
}

static int connect_server(const struct proxy *proxy)
{
    struct timeval patience = {.tv_sec = 60};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    if (connect(fd, (const struct sockaddr *)&proxy->server, sizeof(proxy->server)) == 0)
        return fd;
    close(fd);
    return -1;
}

static void accept_line(struct proxy *proxy)
{
    int client = accept4(proxy->listener, NULL, NULL, SOCK_CLOEXEC);
    int i;

    for (i = 0; i < LINE_COUNT && client >= 0; i++) {
        struct line *line = &proxy->lines[i];

        if (line->client >= 0)
            continue;
        line->server = connect_server(proxy);
        if (line->server < 0)
            break;
        line->greeted = false;
        line->client = client;
        return;
    }
    if (client >= 0)
        close(client);
}

static void read_greeting(struct proxy *proxy, struct line *line, const uint8_t *data, ssize_t size)
{
    if (!line->greeted && size >= GREETING_SIZE) {
        pthread_mutex_lock(&proxy->lock);
        memcpy(proxy->session, data + 12, sizeof(proxy->session));
        proxy->has_session = true;
        pthread_mutex_unlock(&proxy->lock);
    }
    line->greeted = true;
}

/* False when the line is at its end. */
static bool pass_bytes(struct proxy *proxy, struct line *line, int from, int to)
{
    uint8_t data[16 << 10];
    ssize_t size = recv(from, data, sizeof(data), MSG_DONTWAIT);

    if (size <= 0)
        return false;
    if (from == line->server)
        read_greeting(proxy, line, data, size);
    return send(to, data, (size_t)size, MSG_NOSIGNAL) == size;
}

static void serve(struct proxy *proxy)
{
    struct pollfd polled[1 + 2 * LINE_COUNT];
    int i;

    polled[0] = (struct pollfd){.fd = proxy->listener, .events = POLLIN};
    for (i = 0; i < LINE_COUNT; i++) {
        struct line *line = &proxy->lines[i];
        bool used = line->client >= 0;

        polled[1 + 2 * i] = (struct pollfd){.fd = used ? line->client : -1, .events = POLLIN};
        polled[2 + 2 * i] = (struct pollfd){.fd = used ? line->server : -1, .events = POLLIN};
    }
    if (poll(polled, 1 + 2 * LINE_COUNT, POLL_MS) <= 0 || atomic_load(&proxy->held))
        return;
    for (i = 0; i < LINE_COUNT; i++) {
        struct line *line = &proxy->lines[i];

        if (polled[1 + 2 * i].revents && !pass_bytes(proxy, line, line->client, line->server))
            line_close(line);
        if (line->client >= 0 && polled[2 + 2 * i].revents &&
            !pass_bytes(proxy, line, line->server, line->client))
            line_close(line);
    }
    if (polled[0].revents)
        accept_line(proxy);
}

static void *run(void *arg)
{
    struct proxy *proxy = arg;
    int i;

    while (!atomic_load(&proxy->stopping)) {
        bool is_held = atomic_load(&proxy->held);

        if (atomic_load(&proxy->cut)) {
            for (i = 0; i < LINE_COUNT; i++)
                line_close(&proxy->lines[i]);
            atomic_store(&proxy->cut, false);
        }
        atomic_store(&proxy->rests, is_held);
        if (is_held)
            usleep(POLL_MS * 1000);
        else
            serve(proxy);
    }
    for (i = 0; i < LINE_COUNT; i++)
        line_close(&proxy->lines[i]);
    return NULL;
}

struct proxy *proxy_open(const char *server)
{
    struct proxy *proxy = mem_zero(sizeof(*proxy));
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof(address);
    const char *colon = strrchr(server, ':');
    int i;

    proxy->server = address;
    proxy->server.sin_port = htons((uint16_t)(colon ? strtoul(colon + 1, NULL, 10) : 0));
    proxy->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    for (i = 0; i < LINE_COUNT; i++)
        proxy->lines[i].client = -1;
    pthread_mutex_init(&proxy->lock, NULL);
    if (bind(proxy->listener, (struct sockaddr *)&address, size) || listen(proxy->listener, 16) ||
        getsockname(proxy->listener, (struct sockaddr *)&address, &size) ||
        pthread_create(&proxy->thread, NULL, run, proxy)) {
        close(proxy->listener);
        free(proxy);
        return NULL;
    }
    proxy->port = ntohs(address.sin_port);
    return proxy;
}

void proxy_close(struct proxy *proxy)
{
    atomic_store(&proxy->stopping, true);
    pthread_join(proxy->thread, NULL);
    close(proxy->listener);
    pthread_mutex_destroy(&proxy->lock);
    free(proxy);
}

int proxy_port(const struct proxy *proxy)
{
    return proxy->port;
}

void proxy_cut(struct proxy *proxy)
{
    atomic_store(&proxy->cut, true);
    while (atomic_load(&proxy->cut))
        usleep(1000);
}

void proxy_hold(struct proxy *proxy)
{
    atomic_store(&proxy->held, true);
    while (!atomic_load(&proxy->rests))
        usleep(1000);
}

void proxy_pass(struct proxy *proxy)
{
    atomic_store(&proxy->held, false);
}

/*
 * Connects again with the session's id and password, then asks to close it:
 *   size · version 0 · last zxid 0 · timeout · id · password · read-only 0
 *   size 8 · xid 1 · type -11 (close session)
 */
bool proxy_end_session(struct proxy *proxy)
{
    uint8_t hello[4 + 4 + 8 + 4 + sizeof(proxy->session) + 1] = {0};
    uint8_t bye[12];
    uint8_t answer[256];
    int fd = connect_server(proxy);
    bool done;

    proxy_hold(proxy); /* else the client, thrown out, could take its session back in between */
    put_be32(hello, sizeof(hello) - 4);
    put_be32(hello + 16, 10000);
    pthread_mutex_lock(&proxy->lock);
    memcpy(hello + 20, proxy->session, sizeof(proxy->session));
    done = proxy->has_session;
    pthread_mutex_unlock(&proxy->lock);
    put_be32(bye, 8);
    put_be32(bye + 4, 1);
    put_be32(bye + 8, (uint32_t)-11);
    done = done && fd >= 0 && send(fd, hello, sizeof(hello), MSG_NOSIGNAL) == sizeof(hello) &&
           recv(fd, answer, sizeof(answer), 0) >= GREETING_SIZE &&
           memcmp(answer + 12, hello + 20, 8) == 0 && /* another id: it was over before */
           send(fd, bye, sizeof(bye), MSG_NOSIGNAL) == sizeof(bye) &&
           recv(fd, answer, sizeof(answer), 0) > 0;
    if (fd >= 0)
        close(fd);
    return done;
}
