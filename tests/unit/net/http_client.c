/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unit tests of net/client/http_client.h, against a small server on a thread of this program, and
 * for TLS against `openssl s_server` with a certificate made for the test.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/memory.h"
#include "net/bounds.h"
#include "net/client/http_client.h"
#include "patience.h"

enum { CONNECTION_COUNT_MAX = 64, REQUEST_SIZE_MAX = 1 << 16, TLS_TRY_COUNT = 12 };

/* --- the server --- */

static int listener;
static unsigned port;
static atomic_int connection_count;
static pthread_t acceptor;
static pthread_t connections[CONNECTION_COUNT_MAX];
static char last_request[REQUEST_SIZE_MAX]; /* read by tests with one request at a time */
static pthread_mutex_t last_mutex = PTHREAD_MUTEX_INITIALIZER;

static void say(int socket, const char *text)
{
    size_t left = strlen(text);

    while (left) {
        ssize_t sent = send(socket, text, left, MSG_NOSIGNAL);

        if (sent <= 0)
            return;
        text += sent;
        left -= (size_t)sent;
    }
}

static void answer(int socket, const char *request)
{
    char location[128];
    int i;

    if (strncmp(request, "GET /redirect ", 14) == 0 ||
        strncmp(request, "POST /redirect ", 15) == 0) {
        snprintf(
            location, sizeof(location),
            "HTTP/1.1 303 See Other\r\nLocation: /hello\r\nX-Old: 1\r\nContent-Length: 0\r\n\r\n");
        say(socket, location);
    } else if (strncmp(request, "GET /loop ", 10) == 0) {
        say(socket, "HTTP/1.1 302 Found\r\nLocation: /loop\r\nContent-Length: 0\r\n\r\n");
    } else if (strncmp(request, "GET /elsewhere ", 15) == 0) {
        say(socket,
            "HTTP/1.1 302 Found\r\nLocation: file:///etc/hostname\r\nContent-Length: 0\r\n\r\n");
    } else if (strncmp(request, "GET /big ", 9) == 0) {
        say(socket, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n");
        for (i = 0; i < 10; i++)
            say(socket, "0123456789");
    } else if (strncmp(request, "GET /cut ", 9) == 0) {
        say(socket, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nonly this");
        shutdown(socket, SHUT_RDWR);
    } else if (strncmp(request, "GET /headers ", 13) == 0) {
        say(socket, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n");
        for (i = 0; i < HTTP_CLIENT_HEADER_COUNT_MAX; i++)
            say(socket, "X-Many: 1\r\n");
        say(socket, "\r\n");
    } else if (strncmp(request, "GET /slow ", 10) != 0) { /* which is never answered */
        say(socket, "HTTP/1.1 404 Not Found\r\nContent-Length: 5\r\nX-Name:  a value \r\n\r\n");
        if (strncmp(request, "HEAD ", 5) != 0)
            say(socket, "hello");
    }
}

/* Whether the request is whole: its head, and as much body as it names. */
static bool is_whole(const char *request, size_t size)
{
    const char *end = strstr(request, "\r\n\r\n");
    const char *length = strcasestr(request, "content-length: ");

    if (!end)
        return false;
    return !length || length > end ||
           size >= (size_t)(end + 4 - request) + strtoul(length + 16, NULL, 10);
}

static void *serve(void *context)
{
    int socket = (int)(intptr_t)context;
    char *request = calloc(1, REQUEST_SIZE_MAX);
    size_t size = 0;
    ssize_t got;

    for (got = recv(socket, request, REQUEST_SIZE_MAX - 1, 0); got > 0;
         got = recv(socket, request + size, REQUEST_SIZE_MAX - 1 - size, 0)) {
        size += (size_t)got;
        request[size] = 0;
        if (!is_whole(request, size))
            continue;
        pthread_mutex_lock(&last_mutex);
        memcpy(last_request, request, size + 1);
        pthread_mutex_unlock(&last_mutex);
        answer(socket, request);
        size = 0;
    }
    free(request);
    close(socket);
    return NULL;
}

static void *accept_all(void *context)
{
    (void)context;
    for (;;) {
        int socket = accept(listener, NULL, NULL);

        if (socket < 0 || connection_count == CONNECTION_COUNT_MAX)
            return NULL;
        connection_count++; /* before it is answered, so that a test's own count is right */
        pthread_create(&connections[connection_count - 1], NULL, serve, (void *)(intptr_t)socket);
    }
}

static int start_server(void **state)
{
    struct sockaddr_in address = {.sin_family = AF_INET};
    socklen_t size = sizeof(address);

    (void)state;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    listener = socket(AF_INET, SOCK_STREAM, 0);
    if (bind(listener, (struct sockaddr *)&address, size) || listen(listener, 16) ||
        getsockname(listener, (struct sockaddr *)&address, &size))
        return -1;
    port = ntohs(address.sin_port);
    return pthread_create(&acceptor, NULL, accept_all, NULL);
}

static int stop_server(void **state)
{
    int i;

    (void)state;
    shutdown(listener, SHUT_RDWR);
    pthread_join(acceptor, NULL);
    for (i = 0; i < connection_count; i++)
        pthread_join(connections[i], NULL);
    close(listener);
    return 0;
}

/* --- one client a test --- */

static struct http_client *client;
static struct arena *arena;
static struct http_client_response response;
static struct err err;
static char url[256];

static int set_up(void **state)
{
    (void)state;
    client = http_client_new(NULL);
    arena = arena_new();
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    http_client_free(client);
    arena_free(arena);
    return 0;
}

static const char *at(const char *path)
{
    snprintf(url, sizeof(url), "http://127.0.0.1:%u%s", port, path);
    return url;
}

static int ask(struct http_client_request request)
{
    return http_client_send(client, &request, arena, &response, &err);
}

static void an_answer_has_status_headers_and_body(void **state)
{
    (void)state;
    assert_int_equal(ask((struct http_client_request){.url = at("/hello")}), 0);
    assert_int_equal(response.status, 404);
    assert_true(bytes_equal_text(response.body, "hello"));
    assert_string_equal(http_client_find(&response, "x-name"), "a value");
    assert_null(http_client_find(&response, "x-other"));
    assert_non_null(strstr(last_request, "User-Agent: torg/"));
    assert_int_equal(ask((struct http_client_request){.url = at("/hello"), .method = "HEAD"}), 0);
    assert_int_equal(response.body.size, 0);
}

static void a_request_has_method_headers_and_body(void **state)
{
    const struct http_client_header headers[] = {{"X-One", "1"}, {"X-Empty", ""}};

    (void)state;
    assert_int_equal(ask((struct http_client_request){.url = at("/put"),
                                                      .method = "PUT",
                                                      .headers = headers,
                                                      .header_count = 2,
                                                      .body = bytes_of("body\n")}),
                     0);
    assert_memory_equal(last_request, "PUT /put HTTP/1.1\r\n", 19);
    assert_non_null(strstr(last_request, "X-One: 1\r\n"));
    assert_non_null(strstr(last_request, "X-Empty:\r\n"));
    assert_non_null(strstr(last_request, "\r\n\r\nbody\n"));
    assert_null(strstr(last_request, "Content-Type"));
    assert_null(strstr(last_request, "Expect"));
    assert_int_equal(ask((struct http_client_request){.url = at("/x"), .method = "DELETE"}), 0);
    assert_memory_equal(last_request, "DELETE /x", 9);
    assert_int_equal(ask((struct http_client_request){.url = at("/x"), .method = "POST"}), 0);
    assert_non_null(strstr(last_request, "Content-Length: 0\r\n"));
}

static void connections_are_used_again(void **state)
{
    int before = connection_count;
    int i;

    (void)state;
    for (i = 0; i < 5; i++)
        assert_int_equal(ask((struct http_client_request){.url = at("/hello")}), 0);
    assert_int_equal(connection_count - before, 1);
}

static void redirects_are_followed_only_when_asked(void **state)
{
    (void)state;
    assert_int_equal(ask((struct http_client_request){.url = at("/redirect")}), 0);
    assert_int_equal(response.status, 303);
    assert_string_equal(http_client_find(&response, "location"), "/hello");
    assert_int_equal(ask((struct http_client_request){.url = at("/redirect"),
                                                      .method = "POST",
                                                      .body = bytes_of("x"),
                                                      .follow_redirects = true}),
                     0);
    assert_int_equal(response.status, 404);
    assert_memory_equal(last_request, "GET /hello", 10);
    assert_null(http_client_find(&response, "x-old")); /* headers are the last answer's */
    assert_int_equal(
        ask((struct http_client_request){.url = at("/loop"), .follow_redirects = true}),
        ERR_UNAVAILABLE);
    assert_non_null(strstr(err.text, "redirects"));
    assert_int_equal(
        ask((struct http_client_request){.url = at("/elsewhere"), .follow_redirects = true}),
        ERR_INVALID);
}

static void answers_are_bounded(void **state)
{
    (void)state;
    assert_int_equal(ask((struct http_client_request){.url = at("/big"), .response_size_max = 100}),
                     0);
    assert_int_equal(response.body.size, 100);
    assert_int_equal(ask((struct http_client_request){.url = at("/big"), .response_size_max = 99}),
                     ERR_LIMIT);
    assert_non_null(strstr(err.text, "/big: the answer is larger than 99 bytes"));
    assert_int_equal(ask((struct http_client_request){.url = at("/headers")}), ERR_LIMIT);
    assert_non_null(strstr(err.text, "more than 128 headers"));
}

static void waits_are_bounded(void **state)
{
    (void)state;
    assert_int_equal(ask((struct http_client_request){.url = at("/slow"), .timeout_ms = 100}),
                     ERR_TIMEOUT);
    assert_non_null(strstr(err.text, "/slow: "));
}

static void faults_are_told(void **state)
{
    const struct http_client_header smuggled = {"X-One", "1\r\nX-Two: 2"};
    const struct http_client_header misnamed = {"X One", "1"};

    (void)state;
    assert_int_equal(ask((struct http_client_request){.url = at("/cut")}), ERR_UNAVAILABLE);
    assert_int_equal(ask((struct http_client_request){.url = "http://127.0.0.1:1/"}),
                     ERR_UNAVAILABLE);
    assert_non_null(strstr(err.text, "GET http://127.0.0.1:1/: "));
    assert_int_equal(ask((struct http_client_request){.url = "file:///etc/hostname"}), ERR_INVALID);
    assert_int_equal(ask((struct http_client_request){.url = "http://"}), ERR_INVALID);
    assert_int_equal(ask((struct http_client_request){.url = at("/"), .method = "GET /x"}),
                     ERR_INVALID);
    assert_int_equal(
        ask((struct http_client_request){.url = at("/"), .headers = &smuggled, .header_count = 1}),
        ERR_INVALID);
    assert_int_equal(
        ask((struct http_client_request){.url = at("/"), .headers = &misnamed, .header_count = 1}),
        ERR_INVALID);
}

/* The address of one that listens and never answers. */
static int open_proxy(char address[64])
{
    struct sockaddr_in name = {.sin_family = AF_INET};
    socklen_t size = sizeof(name);
    int proxy = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);

    name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    assert_int_equal(bind(proxy, (struct sockaddr *)&name, size), 0);
    assert_int_equal(listen(proxy, 16), 0);
    assert_int_equal(getsockname(proxy, (struct sockaddr *)&name, &size), 0);
    snprintf(address, 64, "http://127.0.0.1:%u", ntohs(name.sin_port));
    return proxy;
}

static void a_proxy_of_the_environment_gets_nothing(void **state)
{
    static const char *const variables[] = {"http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"};
    char address[64];
    int proxy = open_proxy(address);
    size_t i;

    (void)state;
    for (i = 0; i < ARRAY_COUNT(variables); i++) {
        setenv(variables[i], address, 1);
        assert_int_equal(
            ask((struct http_client_request){.url = at("/"), .timeout_ms = PATIENCE_MS}), 0);
        assert_int_equal(response.status, 404);
        unsetenv(variables[i]);
    }
    assert_int_equal(accept(proxy, NULL, NULL), -1);
    assert_int_equal(errno, EAGAIN);
    close(proxy);
}

static void *ask_often(void *context)
{
    struct arena *own = arena_new();
    intptr_t failed = 0;
    int i;

    (void)context;
    for (i = 0; i < 50; i++) {
        struct http_client_request request = {.url = url};
        struct http_client_response got;

        arena_reset(own);
        failed += http_client_send(client, &request, own, &got, NULL) != 0 ||
                  !bytes_equal_text(got.body, "hello");
    }
    arena_free(own);
    return (void *)failed;
}

static void many_threads_use_one_client(void **state)
{
    pthread_t threads[4];
    void *failed;
    int before = connection_count;
    int i;

    (void)state;
    assert_int_equal(ask((struct http_client_request){.url = at("/hello")}), 0);
    for (i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, ask_often, NULL);
    for (i = 0; i < 4; i++) {
        pthread_join(threads[i], &failed);
        assert_null(failed);
    }
    assert_true(connection_count - before <= 4);
}

/* --- TLS --- */

static char directory[] = P_tmpdir "/torg-http-client-XXXXXX";
static char certificate[64];
static char key[64];

static pid_t run(char *const *arguments, int output)
{
    posix_spawn_file_actions_t actions;
    extern char **environ;
    pid_t pid = -1;

    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", 1, 0);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", 0, 0);
    posix_spawn_file_actions_adddup2(&actions, output, 1);
    if (posix_spawnp(&pid, "openssl", &actions, NULL, arguments, environ))
        pid = -1;
    posix_spawn_file_actions_destroy(&actions);
    return pid;
}

static bool make_certificate(void)
{
    char *arguments[] = {(char *)"openssl",
                         (char *)"req",
                         (char *)"-x509",
                         (char *)"-newkey",
                         (char *)"ec",
                         (char *)"-pkeyopt",
                         (char *)"ec_paramgen_curve:prime256v1",
                         (char *)"-nodes",
                         (char *)"-days",
                         (char *)"2",
                         (char *)"-subj",
                         (char *)"/CN=torg-test",
                         (char *)"-addext",
                         (char *)"subjectAltName=IP:127.0.0.1",
                         (char *)"-keyout",
                         key,
                         (char *)"-out",
                         certificate,
                         NULL};
    int status = -1;
    pid_t pid;

    if (!mkdtemp(directory))
        return false;
    snprintf(certificate, sizeof(certificate), "%s/certificate", directory);
    snprintf(key, sizeof(key), "%s/key", directory);
    pid = run(arguments, 2);
    return pid > 0 && waitpid(pid, &status, 0) == pid && status == 0;
}

/* Starts a TLS server; returns its port, from the line it prints: "ACCEPT 127.0.0.1:40123". */
static unsigned start_tls(pid_t *pid)
{
    char *arguments[] = {(char *)"openssl",
                         (char *)"s_server",
                         (char *)"-accept",
                         (char *)"127.0.0.1:0",
                         (char *)"-www",
                         (char *)"-cert",
                         certificate,
                         (char *)"-key",
                         key,
                         NULL};
    char line[256];
    unsigned found = 0;
    int ends[2];
    FILE *output;

    if (pipe(ends))
        return 0;
    *pid = run(arguments, ends[1]);
    close(ends[1]);
    output = fdopen(ends[0], "r");
    while (!found && fgets(line, sizeof(line), output)) {
        if (strncmp(line, "ACCEPT", 6) == 0)
            found = (unsigned)strtoul(strrchr(line, ':') + 1, NULL, 10);
    }
    fclose(output);
    return found;
}

/* Shaking hands counts as connecting, which has five seconds: the server, a process of its own, may
 * not be given the processor for that long. */
static int ask_patiently(struct http_client_request request, struct http_client_response *got)
{
    int rc = ERR_TIMEOUT;

    for (int i = 0; i < TLS_TRY_COUNT && rc == ERR_TIMEOUT; i++)
        rc = http_client_send(client, &request, arena, got, &err);
    return rc;
}

static void certificates_are_checked(void **state)
{
    const struct http_client_options trusting = {.ca_file = certificate};
    pid_t pid = -1;
    char reason[ERR_TEXT_SIZE];
    unsigned tls_port;
    int distrusted;
    int trusted;
    int misnamed;
    struct http_client_response other;

    (void)state;
    if (!make_certificate()) {
        print_message("# openssl cannot make a certificate\n");
        skip();
    }
    tls_port = start_tls(&pid);
    assert_true(tls_port);
    snprintf(url, sizeof(url), "https://127.0.0.1:%u/", tls_port);
    distrusted = ask_patiently((struct http_client_request){.url = url}, &response);
    assert_true(strlen(err.text) < sizeof(reason));
    memcpy(reason, err.text, strlen(err.text) + 1);
    http_client_free(client);
    client = http_client_new(&trusting);
    trusted = ask_patiently((struct http_client_request){.url = url}, &response);
    snprintf(url, sizeof(url), "https://localhost:%u/", tls_port); /* not in the certificate */
    misnamed = ask_patiently((struct http_client_request){.url = url}, &other);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    unlink(certificate);
    unlink(key);
    rmdir(directory);
    assert_int_equal(distrusted, ERR_UNAVAILABLE);
    assert_non_null(strstr(reason, "certificate"));
    assert_int_equal(trusted, 0);
    assert_int_equal(misnamed, ERR_UNAVAILABLE);
    assert_non_null(strstr(err.text, "subject name"));
    assert_int_equal(response.status, 200);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(an_answer_has_status_headers_and_body, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_request_has_method_headers_and_body, set_up, tear_down),
        cmocka_unit_test_setup_teardown(connections_are_used_again, set_up, tear_down),
        cmocka_unit_test_setup_teardown(redirects_are_followed_only_when_asked, set_up, tear_down),
        cmocka_unit_test_setup_teardown(answers_are_bounded, set_up, tear_down),
        cmocka_unit_test_setup_teardown(waits_are_bounded, set_up, tear_down),
        cmocka_unit_test_setup_teardown(faults_are_told, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_proxy_of_the_environment_gets_nothing, set_up, tear_down),
        cmocka_unit_test_setup_teardown(many_threads_use_one_client, set_up, tear_down),
        cmocka_unit_test_setup_teardown(certificates_are_checked, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, start_server, stop_server);
}
