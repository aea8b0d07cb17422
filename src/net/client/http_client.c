/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http_client.c - see http_client.h; libcurl's easy interface.
 *
 * An easy handle keeps its connections. Idle handles wait in a stack: a request takes one or makes
 * one, so that as many connections live as requests were in flight at once, up to a limit.
 */
#include "net/client/http_client.h"

#include <assert.h>
#include <ctype.h>
#include <curl/curl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/memory.h"
#include "base/object.h"
#include "net/bounds.h"

enum { HTTP_CLIENT_MAGIC = OBJECT_MAGIC('h', 't', 'c', 'l') };

struct http_client {
    uint32_t magic;
    char *ca_file;    /* owned, or NULL */
    char *user_agent; /* owned */
    pthread_mutex_t mutex;
    CURL *idle[HTTP_CLIENT_IDLE_COUNT_MAX]; /* last used last: the warmest goes first */
    size_t idle_count;
};

enum { HTTP_OK = 200 };

/* One request in flight; curl calls back with it. */
struct exchange {
    const struct http_client_request *request;
    CURL *handle;
    bool ended; /* by on_part */
    struct arena *arena;
    struct buf body;
    struct http_client_header *headers;
    size_t header_count;
    size_t headers_size;
    bool headers_too_big;
};

static pthread_once_t once = PTHREAD_ONCE_INIT;

static void start_curl(void)
{
    CURLcode code = curl_global_init(CURL_GLOBAL_DEFAULT);

    assert(code == CURLE_OK);
}

struct http_client *http_client_new(const struct http_client_options *options)
{
    static const struct http_client_options defaults = {0};
    struct http_client *client = mem_zero(sizeof(*client));

    object_begin(client, HTTP_CLIENT_MAGIC);
    pthread_once(&once, start_curl);
    options = options ? options : &defaults;
    client->ca_file = options->ca_file ? mem_strdup(options->ca_file) : NULL;
    client->user_agent =
        mem_strdup(options->user_agent ? options->user_agent : "torg/" TORG_VERSION);
    pthread_mutex_init(&client->mutex, NULL);
    return client;
}

void http_client_free(struct http_client *client)
{
    if (!client)
        return;
    object_check(client, HTTP_CLIENT_MAGIC);
    while (client->idle_count)
        curl_easy_cleanup(client->idle[--client->idle_count]);
    pthread_mutex_destroy(&client->mutex);
    free(client->ca_file);
    free(client->user_agent);
    object_end(client, HTTP_CLIENT_MAGIC);
    free(client);
}

static CURL *take_handle(struct http_client *client)
{
    CURL *handle = NULL;

    pthread_mutex_lock(&client->mutex);
    if (client->idle_count)
        handle = client->idle[--client->idle_count];
    pthread_mutex_unlock(&client->mutex);
    if (!handle)
        handle = curl_easy_init();
    if (!handle)
        abort(); /* out of memory */
    return handle;
}

static void give_handle(struct http_client *client, CURL *handle)
{
    curl_easy_reset(handle); /* options go, connections stay */
    pthread_mutex_lock(&client->mutex);
    if (client->idle_count < HTTP_CLIENT_IDLE_COUNT_MAX) {
        client->idle[client->idle_count++] = handle;
        handle = NULL;
    }
    pthread_mutex_unlock(&client->mutex);
    if (handle)
        curl_easy_cleanup(handle);
}

/* --- what curl calls --- */

static size_t on_body(char *data, size_t size, size_t count, void *context)
{
    struct exchange *exchange = context;
    long status = 0;

    curl_easy_getinfo(exchange->handle, CURLINFO_RESPONSE_CODE, &status);
    if (exchange->request->on_part && status == HTTP_OK) {
        exchange->ended = !exchange->request->on_part(exchange->request->on_part_arg,
                                                      bytes_make(data, size * count));
        return exchange->ended ? 0 : size * count;
    }
    buf_put_raw(&exchange->body, data, size * count);
    return buf_failed(&exchange->body) ? 0 : size * count;
}

static struct bytes trim(struct bytes text)
{
    while (text.size && isspace(text.data[0]))
        text = bytes_skip(text, 1);
    while (text.size && isspace(text.data[text.size - 1]))
        text.size--;
    return text;
}

static size_t on_header(char *data, size_t size, size_t count, void *context)
{
    struct exchange *exchange = context;
    struct bytes line = bytes_make(data, size * count);
    const uint8_t *colon = memchr(line.data, ':', line.size);
    struct http_client_header *header;
    char *name;
    size_t i;

    if (bytes_begin(line, bytes_of("HTTP/"))) {
        exchange->header_count = 0; /* of an earlier answer: a redirect, or 100 Continue */
        return line.size;
    }
    if (!colon)
        return line.size;
    exchange->headers_size += line.size;
    if (exchange->header_count == HTTP_CLIENT_HEADER_COUNT_MAX ||
        exchange->headers_size > HTTP_CLIENT_HEADERS_SIZE_MAX) {
        exchange->headers_too_big = true;
        return 0;
    }
    name = arena_text(exchange->arena, bytes_make(line.data, (size_t)(colon - line.data)));
    for (i = 0; name[i]; i++)
        name[i] = (char)tolower((unsigned char)name[i]);
    header = &exchange->headers[exchange->header_count++];
    header->name = name;
    header->value =
        arena_text(exchange->arena, trim(bytes_skip(line, (size_t)(colon + 1 - line.data))));
    return line.size;
}

/* --- a request --- */

static bool is_token(const char *text)
{
    size_t i;

    for (i = 0; text[i]; i++) {
        if (!isalnum((unsigned char)text[i]) && !strchr("!#$%&'*+-.^_`|~", text[i]))
            return false;
    }
    return i > 0;
}

static void append(struct curl_slist **list, const char *line)
{
    struct curl_slist *longer = curl_slist_append(*list, line);

    if (!longer)
        abort(); /* out of memory */
    *list = longer;
}

/* A header of the caller must stay one header, whatever its value came from. */
static int add_headers(const struct http_client_request *request, struct arena *arena,
                       struct curl_slist **list, struct err *err)
{
    bool has_type = false;
    size_t i;

    append(list, "Expect:"); /* curl would wait a second for servers that ignore it */
    for (i = 0; i < request->header_count; i++) {
        const struct http_client_header *header = &request->headers[i];
        /* "name;" is how curl is told to send a header without a value */
        const char *format = header->value[0] ? "%s: %s" : "%s;%s";

        if (!is_token(header->name) || strpbrk(header->value, "\r\n"))
            return err_set(err, ERR_INVALID, "header \"%.60s\" has a line end or a bad name",
                           header->name);
        has_type = has_type || strcasecmp(header->name, "content-type") == 0;
        append(list, arena_printf(arena, format, header->name, header->value));
    }
    if (!has_type)
        append(list, "Content-Type:"); /* curl would call every body a form */
    return 0;
}

static void set_method(CURL *handle, const struct http_client_request *request)
{
    const char *method = request->method ? request->method : "GET";
    bool has_body = request->body.size || strcmp(method, "POST") == 0 ||
                    strcmp(method, "PUT") == 0 || strcmp(method, "PATCH") == 0;

    if (has_body) {
        curl_easy_setopt(handle, CURLOPT_POST, 1L);
        curl_easy_setopt(handle, CURLOPT_POSTFIELDS,
                         request->body.data ? (const char *)request->body.data : "");
        curl_easy_setopt(handle, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)request->body.size);
    }
    /* GET and POST are left to curl: after a redirect the one may follow the other. */
    if (strcmp(method, "HEAD") == 0)
        curl_easy_setopt(handle, CURLOPT_NOBODY, 1L);
    else if (strcmp(method, has_body ? "POST" : "GET") != 0)
        curl_easy_setopt(handle, CURLOPT_CUSTOMREQUEST, method);
}

static void set_bounds(CURL *handle, const struct http_client_request *request)
{
    int64_t timeout_ms = request->timeout_ms ? request->timeout_ms : HTTP_CLIENT_TIMEOUT_MS;
    int64_t connect_ms =
        timeout_ms < HTTP_CLIENT_CONNECT_TIMEOUT_MS ? timeout_ms : HTTP_CLIENT_CONNECT_TIMEOUT_MS;

    curl_easy_setopt(handle, CURLOPT_NOSIGNAL, 1L);
    if (request->on_part) { /* curl counts whole seconds here */
        curl_easy_setopt(handle, CURLOPT_LOW_SPEED_LIMIT, 1L);
        curl_easy_setopt(handle, CURLOPT_LOW_SPEED_TIME, (long)((timeout_ms + 999) / 1000));
    } else {
        curl_easy_setopt(handle, CURLOPT_TIMEOUT_MS, (long)timeout_ms);
    }
    curl_easy_setopt(handle, CURLOPT_CONNECTTIMEOUT_MS, (long)connect_ms);
    curl_easy_setopt(handle, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(handle, CURLOPT_REDIR_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(handle, CURLOPT_FOLLOWLOCATION, request->follow_redirects ? 1L : 0L);
    curl_easy_setopt(handle, CURLOPT_MAXREDIRS, (long)HTTP_CLIENT_REDIRECT_COUNT_MAX);
    curl_easy_setopt(handle, CURLOPT_MAXCONNECTS, 4L);
    curl_easy_setopt(handle, CURLOPT_SSL_VERIFYPEER, 1L);
    curl_easy_setopt(handle, CURLOPT_SSL_VERIFYHOST, 2L);
    curl_easy_setopt(handle, CURLOPT_NETRC, (long)CURL_NETRC_IGNORED);
    curl_easy_setopt(handle, CURLOPT_NOPROXY, "*"); /* $http_proxy would be shown our keys */
}

static int failure(CURLcode code, const char *detail, const struct exchange *exchange,
                   const struct http_client_request *request, struct err *err)
{
    const char *method = request->method ? request->method : "GET";
    int rc = ERR_UNAVAILABLE;

    if (exchange->headers_too_big)
        return err_set(err, ERR_LIMIT,
                       "%s %.200s: the answer has more than %d headers or %d bytes of them", method,
                       request->url, HTTP_CLIENT_HEADER_COUNT_MAX, HTTP_CLIENT_HEADERS_SIZE_MAX);
    if (buf_failed(&exchange->body))
        return err_set(err, ERR_LIMIT, "%s %.200s: the answer is larger than %zu bytes", method,
                       request->url, exchange->body.limit);
    if (exchange->ended)
        return err_set(err, ERR_CANCELLED, "%s %.200s: ended by the caller", method, request->url);
    if (code == CURLE_OPERATION_TIMEDOUT)
        rc = ERR_TIMEOUT;
    else if (code == CURLE_URL_MALFORMAT || code == CURLE_UNSUPPORTED_PROTOCOL)
        rc = ERR_INVALID;
    return err_set(err, rc, "%s %.200s: %s", method, request->url,
                   detail[0] ? detail : curl_easy_strerror(code));
}

static int perform(struct http_client *client, CURL *handle,
                   const struct http_client_request *request, struct exchange *exchange,
                   long *status, struct err *err)
{
    char detail[CURL_ERROR_SIZE] = "";
    struct curl_slist *headers = NULL;
    CURLcode code;
    int rc = add_headers(request, exchange->arena, &headers, err);

    if (rc)
        goto out;
    set_method(handle, request);
    set_bounds(handle, request);
    curl_easy_setopt(handle, CURLOPT_URL, request->url);
    curl_easy_setopt(handle, CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(handle, CURLOPT_USERAGENT, client->user_agent);
    if (client->ca_file)
        curl_easy_setopt(handle, CURLOPT_CAINFO, client->ca_file);
    curl_easy_setopt(handle, CURLOPT_ERRORBUFFER, detail);
    curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, on_body);
    curl_easy_setopt(handle, CURLOPT_WRITEDATA, exchange);
    curl_easy_setopt(handle, CURLOPT_HEADERFUNCTION, on_header);
    curl_easy_setopt(handle, CURLOPT_HEADERDATA, exchange);
    code = curl_easy_perform(handle);
    if (code != CURLE_OK) {
        rc = failure(code, detail, exchange, request, err);
        goto out;
    }
    curl_easy_getinfo(handle, CURLINFO_RESPONSE_CODE, status);
out:
    curl_slist_free_all(headers);
    return rc;
}

int http_client_send(struct http_client *client, const struct http_client_request *request,
                     struct arena *arena, struct http_client_response *response, struct err *err)
{
    struct exchange exchange = {
        .request = request,
        .arena = arena,
        .body = BUF_INIT(request->response_size_max ? request->response_size_max
                                                    : HTTP_CLIENT_RESPONSE_SIZE_MAX),
        .headers =
            arena_array(arena, HTTP_CLIENT_HEADER_COUNT_MAX, sizeof(struct http_client_header)),
    };
    CURL *handle;
    long status = 0;
    int rc;

    object_check(client, HTTP_CLIENT_MAGIC);
    *response = (struct http_client_response){0};
    if (request->method && !is_token(request->method))
        return err_set(err, ERR_INVALID, "\"%.60s\" is not a method", request->method);
    handle = take_handle(client);
    exchange.handle = handle;
    rc = perform(client, handle, request, &exchange, &status, err);
    if (!rc) {
        response->status = (int)status;
        response->headers = exchange.headers;
        response->header_count = exchange.header_count;
        response->body = arena_copy(arena, buf_bytes(&exchange.body));
    }
    give_handle(client, handle);
    buf_release(&exchange.body);
    return rc;
}

const char *http_client_find(const struct http_client_response *response, const char *name)
{
    size_t i;

    for (i = 0; i < response->header_count; i++) {
        if (strcmp(response->headers[i].name, name) == 0)
            return response->headers[i].value;
    }
    return NULL;
}
