/* SPDX-License-Identifier: Apache-2.0 */
/* remote.c - see remote.h. */
#include "roles/commands/remote.h"

#include <assert.h>
#include <string.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/object.h"
#include "codec/json.h"
#include "net/client/caller.h"
#include "net/client/http_client.h"
#include "roles/processes/data_dir.h"

enum {
    FILE_SIZE_MAX = 4096,
    REQUEST_SIZE_MAX = 4 << 20,
    LINE_SIZE_MAX = 16 << 20, /* one message of a stream */
    TIMEOUT_MS = 30 * 1000,
    STREAM_IDLE_MS = 3600 * 1000,
    HTTP_OK = 200
};

struct remote {
    struct arena *arena; /* borrowed; the struct itself is in it */
    struct http_client *client;
    const char *url;
    const char *authorization;
    const char *ca_file; /* NULL: the system's */
};

static int read_text(const struct config *config, const char *name, struct arena *arena,
                     const char **text, struct err *err)
{
    const char *path = data_dir_path(config_text(config, SETTING_DATA_DIR), name, arena);
    struct buf content = BUF_INIT(FILE_SIZE_MAX);
    int rc = file_read(path, &content, err);

    if (!rc)
        *text = arena_strdup(arena, buf_text(&content));
    buf_release(&content);
    return rc;
}

int remote_open(const struct config *config, struct arena *arena, struct remote **remote,
                struct err *err)
{
    const char *certificate = config_text(config, SETTING_TLS_CERTIFICATE);
    /* The server's own certificate is trusted: it comes from the same settings. */
    const struct http_client_options options = {.ca_file = *certificate ? certificate : NULL};
    struct remote *made = arena_zero(arena, sizeof(*made));
    const char *key = NULL;
    int rc;

    *remote = NULL;
    made->arena = arena;
    rc = read_text(config, "server.url", arena, &made->url, err);
    if (!rc)
        rc = read_text(config, "operator.key", arena, &key, err);
    if (rc)
        return rc;
    made->ca_file = options.ca_file;
    made->authorization = arena_printf(arena, "Bearer %s", key);
    made->client = http_client_new(&options);
    *remote = made;
    return 0;
}

int remote_require(const struct invocation *invocation, struct remote **remote, struct err *err)
{
    int rc = remote_open(&invocation->config, invocation->arena, remote, err);

    object_check(invocation, INVOCATION_MAGIC);
    if (rc == ERR_NOT_FOUND)
        rc = err_set(err, ERR_UNAVAILABLE,
                     "no server runs on %s, and this command asks one: start it (torg up, or torg "
                     "serve with its roles), then try again",
                     config_text(&invocation->config, SETTING_DATA_DIR));
    return rc;
}

void remote_close(struct remote *remote)
{
    if (remote)
        http_client_free(remote->client);
}

const char *remote_url(const struct remote *remote)
{
    return remote->url;
}

static const ProtobufCMessageDescriptor *answer_type(const ProtobufCServiceDescriptor *service,
                                                     const char *name)
{
    const ProtobufCMethodDescriptor *method =
        protobuf_c_service_descriptor_get_method_by_name(service, name);

    assert(method); /* as the .proto has it */
    return method->output;
}

static int send_request(struct remote *remote, const ProtobufCServiceDescriptor *service,
                        const char *method, const ProtobufCMessage *request,
                        struct http_client_request *sent, struct http_client_response *answer,
                        struct err *err)
{
    const struct http_client_header headers[] = {
        {"authorization", remote->authorization},
        {"content-type", "application/json"},
    };
    struct buf body = BUF_INIT(REQUEST_SIZE_MAX);
    int rc;

    sent->method = "POST";
    sent->url = arena_printf(remote->arena, "%s/%s/%s", remote->url, service->name, method);
    sent->headers = headers;
    sent->header_count = ARRAY_COUNT(headers);
    sent->timeout_ms = TIMEOUT_MS;
    json_encode(request, &body);
    if (buf_failed(&body)) {
        rc = err_set(err, ERR_LIMIT, "the request is larger than %d bytes", REQUEST_SIZE_MAX);
    } else {
        sent->body = buf_bytes(&body);
        rc = http_client_send(remote->client, sent, remote->arena, answer, err);
    }
    buf_release(&body);
    return rc;
}

int remote_call(struct remote *remote, const ProtobufCServiceDescriptor *service,
                const char *method, const ProtobufCMessage *request, ProtobufCMessage **response,
                struct err *err)
{
    struct http_client_request sent = {.timeout_ms = 0};
    struct http_client_response answer;
    int rc = send_request(remote, service, method, request, &sent, &answer, err);

    if (rc)
        return rc;
    if (answer.status != HTTP_OK)
        return caller_error(remote->url, answer.body, answer.status, err);
    return json_decode(answer.body, answer_type(service, method), remote->arena, response, NULL,
                       err);
}

/* --- one message per line --- */

struct streaming {
    struct remote *remote;
    const ProtobufCMessageDescriptor *type;
    int (*take)(void *arg, const ProtobufCMessage *message, struct err *err);
    void *arg;
    struct err *err;
    struct buf line; /* as far as it has come */
    int rc;
};

static int take_line(struct streaming *streaming, struct bytes line)
{
    static const struct bytes error = BYTES_LITERAL("{\"error\":");
    struct arena *arena;
    ProtobufCMessage *message;
    int rc;

    if (bytes_begin(line, error)) {
        line = bytes_skip(line, error.size);
        line.size--; /* the outer brace */
        return caller_error(streaming->remote->url, line, HTTP_OK, streaming->err);
    }
    arena = arena_new();
    rc = json_decode(line, streaming->type, arena, &message, NULL, streaming->err);
    if (!rc)
        rc = streaming->take(streaming->arg, message, streaming->err);
    arena_free(arena);
    return rc;
}

static bool take_part(void *arg, struct bytes part)
{
    struct streaming *streaming = arg;

    while (part.size && !streaming->rc) {
        const uint8_t *end = memchr(part.data, '\n', part.size);
        size_t size = end ? (size_t)(end - part.data) : part.size;

        buf_put(&streaming->line, bytes_make(part.data, size));
        part = bytes_skip(part, end ? size + 1 : size);
        if (buf_failed(&streaming->line)) {
            streaming->rc = err_set(streaming->err, ERR_LIMIT,
                                    "the answer has a line of more than %d bytes", LINE_SIZE_MAX);
        } else if (end) {
            if (streaming->line.size)
                streaming->rc = take_line(streaming, buf_bytes(&streaming->line));
            buf_reset(&streaming->line);
        }
    }
    return !streaming->rc;
}

int remote_stream(struct remote *remote, const ProtobufCServiceDescriptor *service,
                  const char *method, const ProtobufCMessage *request,
                  int (*take)(void *arg, const ProtobufCMessage *message, struct err *err),
                  void *arg, struct err *err)
{
    struct streaming streaming = {.remote = remote,
                                  .type = answer_type(service, method),
                                  .take = take,
                                  .arg = arg,
                                  .err = err,
                                  .line = BUF_INIT(LINE_SIZE_MAX)};
    struct http_client_request sent = {.on_part = take_part, .on_part_arg = &streaming};
    struct http_client_response answer;
    struct err broken;
    int rc = send_request(remote, service, method, request, &sent, &answer, &broken);

    buf_release(&streaming.line);
    if (streaming.rc) /* told already */
        return streaming.rc;
    if (rc) {
        *err = broken;
        return rc;
    }
    return answer.status == HTTP_OK ? 0
                                    : caller_error(remote->url, answer.body, answer.status, err);
}

/* --- streams both ways --- */

int remote_open_stream(struct remote *remote, const char *method, struct rpc_stream **stream,
                       struct err *err)
{
    const struct rpc_stream_options options = {
        .url = remote->url,
        .method = method,
        .authorization = remote->authorization,
        .ca_file = remote->ca_file,
        .idle_timeout_ms = STREAM_IDLE_MS,
    };

    return rpc_stream_open(&options, stream, err);
}
