/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of coord/tunnel: who may use it, what reaches the server, and how a failure is told. TLS
 * is tried beside a real ZooKeeper, too (tests/e2e/secure_servers.py). */
#include "coord/tunnel.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/log.h"
#include "coord/bounds.h"
#include "patience.h"
#include "test_dir.h"
#include <cmocka.h>

enum { HANDSHAKE = 22 }; /* TLS: the type of a record */

static const struct coord_tls tls = {.on = true};

static int listen_somewhere(uint16_t *port)
{
    struct sockaddr_in here = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof(here);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    assert_true(fd >= 0 && !bind(fd, (struct sockaddr *)&here, size) && !listen(fd, 4));
    assert_int_equal(getsockname(fd, (struct sockaddr *)&here, &size), 0);
    *port = ntohs(here.sin_port);
    return fd;
}

/* From this port, which others may share; 0: any. */
static int connect_from(uint16_t port, const char *host)
{
    struct sockaddr_in here = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct sockaddr_in there = here;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int on = 1;

    here.sin_port = htons(port);
    there.sin_port = htons((uint16_t)strtoul(strchr(host, ':') + 1, NULL, 10));
    if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) ||
        bind(fd, (struct sockaddr *)&here, sizeof(here)) ||
        connect(fd, (struct sockaddr *)&there, sizeof(there)))
        return -1;
    return fd;
}

static int connect_to(const char *host)
{
    return connect_from(0, host);
}

static bool has_news(int fd, int timeout_ms)
{
    struct pollfd now = {.fd = fd, .events = POLLIN};

    return poll(&now, 1, timeout_ms) > 0;
}

static struct tunnel *open_on(const struct clock *clock, uint16_t port, const struct coord_tls *how)
{
    struct tunnel *tunnel;
    struct err err = {0};
    char hosts[64];

    snprintf(hosts, sizeof(hosts), "127.0.0.1:%u", port);
    if (tunnel_open(hosts, how, clock, &tunnel, &err))
        fail_msg("%s", err.text);
    return tunnel;
}

static struct tunnel *open_to(uint16_t port)
{
    return open_on(clock_system(), port, &tls);
}

/* The first words are TLS's, not the client's; a server that leaves is told, with its name. */
static void nothing_goes_in_clear(void **state)
{
    char reason[TUNNEL_REASON_SIZE];
    unsigned char first[64] = {0};
    struct tunnel *tunnel;
    char byte;
    uint16_t port;
    int listener = listen_somewhere(&port);
    int client, server;

    tunnel = open_to(port);
    tunnel_reason(tunnel, reason);
    assert_string_equal(reason, "");
    client = connect_to(tunnel_hosts(tunnel));
    assert_int_equal(send(client, "secret secret secret", 20, 0), 20);
    assert_true(has_news(listener, PATIENCE_MS));
    server = accept(listener, NULL, NULL);
    assert_true(recv(server, first, sizeof(first), 0) > 5);
    assert_int_equal(first[0], HANDSHAKE);
    assert_null(memmem(first, sizeof(first), "secret", 6));
    close(server);
    assert_true(recv(client, &byte, 1, 0) <= 0);
    tunnel_reason(tunnel, reason);
    assert_non_null(strstr(reason, "127.0.0.1:"));
    close(client);
    close(listener);
    tunnel_close(tunnel);
}

/* A server that is away is as if the client's own connection had been refused. */
static void a_server_that_is_away_is_told(void **state)
{
    char reason[TUNNEL_REASON_SIZE];
    struct tunnel *tunnel;
    char byte;
    uint16_t port;
    int client;

    close(listen_somewhere(&port));
    tunnel = open_to(port);
    client = connect_to(tunnel_hosts(tunnel));
    assert_true(recv(client, &byte, 1, 0) <= 0);
    tunnel_reason(tunnel, reason);
    assert_non_null(strstr(reason, "cannot be connected to"));
    close(client);
    tunnel_close(tunnel);
}

/* A client waits less than its link may take; the next must find a place, although no time passes.
 */
static void a_client_that_gives_up_leaves_its_place(void **state)
{
    struct clock_manual clock;
    char reason[TUNNEL_REASON_SIZE];
    struct tunnel *tunnel;
    uint16_t port;
    int listener = listen_somewhere(&port);
    int silent[COORD_TUNNEL_LINK_COUNT_MAX + 1]; /* servers that have been connected to */

    clock_manual_init(&clock, 0);
    tunnel = open_on(&clock.base, port, &tls);
    for (int i = 0; i <= COORD_TUNNEL_LINK_COUNT_MAX; i++) {
        int client = connect_to(tunnel_hosts(tunnel));
        struct pollfd news[] = {{.fd = listener, .events = POLLIN},
                                {.fd = client, .events = POLLIN}};

        assert_true(poll(news, 2, PATIENCE_MS) > 0);
        assert_int_equal(news[1].revents, 0); /* it was not refused */
        silent[i] = accept(listener, NULL, NULL);
        assert_true(silent[i] >= 0);
        close(client);
    }
    tunnel_reason(tunnel, reason);
    assert_non_null(strstr(reason, "did not answer in time"));
    tunnel_close(tunnel);
    for (int i = 0; i <= COORD_TUNNEL_LINK_COUNT_MAX; i++)
        close(silent[i]);
    close(listener);
}

/* TWO has the addresses 127.0.0.2 and 127.0.0.1, and every other name its own. */
#define TWO "two.example"

static _Atomic int resolved; /* how often TWO was asked for */

int __real_getaddrinfo(const char *name, const char *port, const struct addrinfo *hints,
                       struct addrinfo **addresses);
int __wrap_getaddrinfo(const char *name, const char *port, const struct addrinfo *hints,
                       struct addrinfo **addresses);
int __wrap_getaddrinfo(const char *name, const char *port, const struct addrinfo *hints,
                       struct addrinfo **addresses)
{
    int rc;

    if (strcmp(name, TWO) != 0)
        return __real_getaddrinfo(name, port, hints, addresses);
    rc = __real_getaddrinfo("127.0.0.2", port, hints, addresses);
    if (!rc)
        rc = __real_getaddrinfo("127.0.0.1", port, hints, &(*addresses)->ai_next);
    atomic_fetch_add(&resolved, 1);
    return rc;
}

/* Nobody answers there any more: it takes as many connections as it may hold. */
static int listen_silently(uint16_t port, int *held)
{
    struct sockaddr_in here = {.sin_family = AF_INET, .sin_port = htons(port)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    *held = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(inet_pton(AF_INET, "127.0.0.2", &here.sin_addr), 1);
    assert_int_equal(bind(fd, (struct sockaddr *)&here, sizeof(here)), 0);
    assert_int_equal(listen(fd, 0), 0);
    assert_int_equal(connect(*held, (struct sockaddr *)&here, sizeof(here)), 0);
    return fd;
}

/* The client gives up at the first address; its next connection goes to the second. */
static void an_address_that_is_silent_is_tried_last(void **state)
{
    struct tunnel *tunnel;
    struct err err;
    char hosts[64];
    uint16_t port;
    int listener = listen_somewhere(&port);
    int held;
    int silent = listen_silently(port, &held);
    struct pollfd news[] = {{.fd = listener, .events = POLLIN}, {.events = POLLIN}};
    int client;

    snprintf(hosts, sizeof(hosts), TWO ":%u", port);
    assert_int_equal(tunnel_open(hosts, &tls, clock_system(), &tunnel, &err), 0);
    client = connect_to(tunnel_hosts(tunnel));
    for (int waited_ms = 0; !atomic_load(&resolved) && waited_ms < PATIENCE_MS; waited_ms++)
        poll(NULL, 0, 1);
    close(client);
    client = news[1].fd = connect_to(tunnel_hosts(tunnel));
    assert_true(poll(news, 2, PATIENCE_MS) > 0);
    assert_int_equal(news[1].revents, 0);
    assert_int_equal(atomic_load(&resolved), 2);
    close(client);
    tunnel_close(tunnel);
    close(held);
    close(silent);
    close(listener);
}

static _Atomic bool accept_failing; /* no descriptor is free */
static _Atomic int accept_count;

int __real_accept4(int fd, struct sockaddr *name, socklen_t *size, int flags);
int __wrap_accept4(int fd, struct sockaddr *name, socklen_t *size, int flags);
int __wrap_accept4(int fd, struct sockaddr *name, socklen_t *size, int flags)
{
    atomic_fetch_add(&accept_count, 1);
    if (atomic_load(&accept_failing)) {
        errno = EMFILE;
        return -1;
    }
    return __real_accept4(fd, name, size, flags);
}

/* No try without a pause before it: the clock, which stands, says how many there may have been. */
static void connections_wait_for_a_descriptor(void **state)
{
    struct clock_manual clock;
    struct tunnel *tunnel;
    uint16_t port;
    int listener = listen_somewhere(&port);
    int client;

    clock_manual_init(&clock, 0);
    tunnel = open_on(&clock.base, port, &tls);
    atomic_store(&accept_count, 0);
    atomic_store(&accept_failing, true);
    client = connect_to(tunnel_hosts(tunnel));
    for (int ms = 0; !atomic_load(&accept_count) && ms < PATIENCE_MS; ms++)
        poll(NULL, 0, 1);
    for (int pauses = 0; !has_news(listener, 1); pauses++) {
        assert_in_range(atomic_load(&accept_count), 1, pauses + 1);
        assert_true(pauses < PATIENCE_MS);
        atomic_store(&accept_failing, atomic_load(&accept_count) < 3);
        clock_manual_advance(&clock, (int64_t)COORD_TUNNEL_PAUSE_MS * MS_US);
    }
    close(client);
    tunnel_close(tunnel);
    close(listener);
}

/* What is connected from there by another process is closed, and the server hears nothing. */
static void assert_another_is_refused(uint16_t from)
{
    struct tunnel *tunnel;
    uint16_t port;
    int listener = listen_somewhere(&port);
    int status = 0;
    pid_t child;

    tunnel = open_to(port);
    child = fork();
    if (child == 0) {
        int client = connect_from(from, tunnel_hosts(tunnel));
        char byte;

        _exit(client < 0 || recv(client, &byte, 1, 0) > 0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    assert_false(has_news(listener, 0)); /* it was closed without having been connected on */
    tunnel_close(tunnel);
    close(listener);
}

static void other_processes_are_refused(void **state)
{
    assert_another_is_refused(0);
}

/* Two sockets may have one port if they are connected to different places. */
static void others_with_a_port_of_ours_are_refused(void **state)
{
    struct sockaddr_in ours = {0};
    socklen_t size = sizeof(ours);
    char elsewhere[32];
    uint16_t port;
    int listener = listen_somewhere(&port);
    int fd;

    snprintf(elsewhere, sizeof(elsewhere), "127.0.0.1:%u", port);
    fd = connect_to(elsewhere);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&ours, &size), 0);
    assert_another_is_refused(ntohs(ours.sin_port));
    close(fd);
    close(listener);
}

/* --- a server that has TLS --- */

struct guard {
    char dir[TEST_DIR_SIZE];
    char file[TEST_DIR_SIZE + 16]; /* its certificate, which is its own authority */
    EVP_PKEY *key;
    X509 *certificate;
};

static void guard_begin(struct guard *guard)
{
    X509 *made = X509_new();
    X509_EXTENSION *name = X509V3_EXT_conf_nid(NULL, NULL, NID_subject_alt_name, "IP:127.0.0.1");
    FILE *file;

    guard->key = EVP_EC_gen("P-256");
    guard->certificate = made;
    assert_true(name && guard->key && X509_set_version(made, X509_VERSION_3) &&
                ASN1_INTEGER_set(X509_get_serialNumber(made), 1) &&
                X509_gmtime_adj(X509_getm_notBefore(made), -3600) &&
                X509_gmtime_adj(X509_getm_notAfter(made), 86400) &&
                X509_set_pubkey(made, guard->key) && X509_add_ext(made, name, -1) &&
                X509_sign(made, guard->key, EVP_sha256()));
    X509_EXTENSION_free(name);
    assert_true(test_dir_make(guard->dir));
    snprintf(guard->file, sizeof(guard->file), "%s/server.pem", guard->dir);
    file = fopen(guard->file, "w");
    assert_true(file && PEM_write_X509(file, made) && !fclose(file));
}

static void guard_end(struct guard *guard)
{
    struct err err;

    assert_int_equal(dir_remove(guard->dir, &err), 0);
    X509_free(guard->certificate);
    EVP_PKEY_free(guard->key);
}

/* The server's side of the next connection; NULL: it refused its client, and has left. */
static SSL *guard_accept(const struct guard *guard, int listener, int verify)
{
    SSL_CTX *ctx = SSL_CTX_new(TLS_server_method());
    SSL *ssl;
    int fd;

    assert_true(has_news(listener, PATIENCE_MS));
    fd = accept(listener, NULL, NULL);
    assert_true(ctx && SSL_CTX_set_min_proto_version(ctx, TLS1_3_VERSION) &&
                SSL_CTX_use_certificate(ctx, guard->certificate) == 1 &&
                SSL_CTX_use_PrivateKey(ctx, guard->key) == 1);
    SSL_CTX_set_verify(ctx, verify, NULL);
    ssl = SSL_new(ctx);
    SSL_CTX_free(ctx);
    assert_true(ssl && SSL_set_fd(ssl, fd));
    if (SSL_accept(ssl) == 1)
        return ssl;
    SSL_free(ssl);
    close(fd);
    return NULL;
}

/* It does so when our handshake is over. The next that says something makes it forgotten. */
static void a_server_that_refuses_our_certificate_is_told(void **state)
{
    struct guard guard;
    const struct coord_tls trusting = {.on = true, .ca = guard.file};
    char reason[TUNNEL_REASON_SIZE];
    struct tunnel *tunnel;
    char byte;
    uint16_t port;
    int listener = listen_somewhere(&port);
    int client, server;
    SSL *ssl;

    guard_begin(&guard);
    tunnel = open_on(clock_system(), port, &trusting);
    client = connect_to(tunnel_hosts(tunnel));
    assert_null(guard_accept(&guard, listener, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT));
    assert_true(recv(client, &byte, 1, 0) <= 0);
    close(client);
    tunnel_reason(tunnel, reason);
    assert_non_null(strstr(reason, "certificate required"));

    client = connect_to(tunnel_hosts(tunnel));
    ssl = guard_accept(&guard, listener, SSL_VERIFY_NONE);
    assert_true(ssl && SSL_write(ssl, "x", 1) == 1);
    assert_int_equal(recv(client, &byte, 1, 0), 1);
    tunnel_reason(tunnel, reason);
    assert_string_equal(reason, "");
    server = SSL_get_fd(ssl);
    SSL_free(ssl);
    close(server);
    close(client);
    tunnel_close(tunnel);
    guard_end(&guard);
    close(listener);
}

static void wrong_servers_are_told(void **state)
{
    static const char *const wrong[] = {
        "", "localhost", "localhost:", ":2181", "localhost:0", "localhost:70000", "a:1,,b:2"};
    char many[COORD_TUNNEL_SERVER_COUNT_MAX * 4 + 8] = "";
    struct tunnel *tunnel;
    struct err err;

    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        assert_int_equal(tunnel_open(wrong[i], &tls, clock_system(), &tunnel, &err), ERR_INVALID);
        assert_null(tunnel);
        assert_non_null(strstr(err.text, "HOST:PORT"));
    }
    for (size_t i = 0; i <= COORD_TUNNEL_SERVER_COUNT_MAX; i++)
        snprintf(many + strlen(many), sizeof(many) - strlen(many), "%sa:1", i ? "," : "");
    assert_int_equal(tunnel_open(many, &tls, clock_system(), &tunnel, &err), ERR_LIMIT);
    assert_int_equal(tunnel_open("[::1]:2181,b:2", &tls, clock_system(), &tunnel, &err), 0);
    assert_int_equal(strncmp(tunnel_hosts(tunnel), "127.0.0.1:", 10), 0);
    assert_non_null(strstr(tunnel_hosts(tunnel), ",127.0.0.1:"));
    tunnel_close(tunnel);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_goes_in_clear),
        cmocka_unit_test(a_server_that_is_away_is_told),
        cmocka_unit_test(a_client_that_gives_up_leaves_its_place),
        cmocka_unit_test(an_address_that_is_silent_is_tried_last),
        cmocka_unit_test(connections_wait_for_a_descriptor),
        cmocka_unit_test(other_processes_are_refused),
        cmocka_unit_test(others_with_a_port_of_ours_are_refused),
        cmocka_unit_test(a_server_that_refuses_our_certificate_is_told),
        cmocka_unit_test(wrong_servers_are_told),
    };

    log_setup(LOG_FORMAT_HUMAN, LOG_LEVEL_ERROR, STDERR_FILENO);
    return cmocka_run_group_tests_name("tunnel", tests, NULL, NULL);
}
