/* SPDX-License-Identifier: Apache-2.0 */
/*
 * connection.c - any bytes as a client's: HTTP/1.1, HTTP/2, gRPC and JSON, through a real socket.
 *
 * The server answers or cuts off, and closes when the client has sent all; it must never crash
 * or hang. One server serves all inputs, as it does in life.
 */
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/memory.h"
#include "echo.pb-c.h"
#include "echo_descriptors.h"
#include "net/server/server.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Not the server's fault but this program's or the machine's: errno tells which. */
static void require(int truth, const char *what)
{
    if (truth)
        return;
    perror(what);
    abort();
}

static int echo(struct call *call, const ProtobufCMessage *request, ProtobufCMessage *response,
                struct err *err)
{
    ((Torg__Test__V1__EchoResponse *)response)->text =
        ((const Torg__Test__V1__EchoRequest *)request)->text;
    return 0;
}

static int rest(struct call *call, const ProtobufCMessage *request, ProtobufCMessage *response,
                struct err *err)
{
    return 0;
}

static int chat(struct call *call, struct err *err)
{
    Torg__Test__V1__EchoResponse answer = TORG__TEST__V1__ECHO_RESPONSE__INIT;
    ProtobufCMessage *message;
    int rc;

    do {
        rc = call_read(call, &message, err);
        answer.count++;
        if (rc == 1 && call_write(call, &answer.base, err))
            return ERR_CANCELLED;
    } while (rc == 1);
    return rc;
}

static const struct rpc_method methods[] = {
    {.name = "Echo", .unary = echo, .flags = RPC_INLINE},
    {.name = "Sleep", .unary = rest}, /* on a worker */
    {.name = "Chat", .stream = chat, .flags = RPC_CLIENT_STREAM | RPC_SERVER_STREAM},
    {.name = "Count", .stream = chat, .flags = RPC_SERVER_STREAM},
};

static const struct rpc_service service = {
    .descriptor = &torg__test__v1__echo_service__descriptor,
    .methods = methods,
    .method_count = ARRAY_COUNT(methods),
};

static int put_body(struct call *call, const struct rest_request *request,
                    struct rest_answer *answer, struct err *err)
{
    buf_put(answer->body, request->body);
    answer->content_type = "text/plain";
    return 0;
}

static const struct rest_method rest_methods[] = {
    {.verb = "PUT", .path = "/v1/any/{id}/{name...}", .run = put_body, .flags = RPC_INLINE},
};

static const struct rest_service resources = {.methods = rest_methods, .method_count = 1};

static struct server *server;

static void stop_server(void)
{
    server_free(server);
}

static void start_server(void)
{
    struct server_options options = {.listen = "127.0.0.1:0", .reactor_count = 1};
    struct err err;

    require(server_new(&options, &server, &err) == 0, "server_new");
    server_add_service(server, &service);
    server_add_descriptors(server, bytes_make(echo_descriptors, echo_descriptors_size));
    server_add_rest(server, &resources);
    server_add_get(server, "/v1/echo/", "/torg.test.v1.EchoService/Echo", "text");
    server_add_file(server, "/", "text/html", bytes_of("<p>a page</p>"));
    require(server_start(server, &err) == 0, "server_start");
    atexit(stop_server);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static uint32_t count;
    struct sockaddr_in address = {.sin_family = AF_INET};
    struct sockaddr_in own = {.sin_family = AF_INET};
    uint8_t answer[4096];
    ssize_t got;
    int fd;

    if (!server)
        start_server();
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons((uint16_t)server_port(server));
    fd = socket(AF_INET, SOCK_STREAM, 0);
    require(fd >= 0, "socket");
    /* a thousand source addresses in turn: one would run out of ports that wait to be free */
    own.sin_addr.s_addr = htonl(INADDR_LOOPBACK + 1 + count++ % 1000);
    require(bind(fd, (struct sockaddr *)&own, sizeof(own)) == 0, "bind");
    require(connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0, "connect");
    got = send(fd, data, size, MSG_NOSIGNAL); /* short when it was cut off before */
    shutdown(fd, SHUT_WR);
    do
        got = recv(fd, answer, sizeof(answer), 0);
    while (got > 0);
    close(fd);
    return 0;
}
