/* SPDX-License-Identifier: Apache-2.0 */
/* download.c - see download.h; libcurl's multi interface, paused while nobody reads. */
#include "net/client/download.h"

#include <arpa/inet.h>
#include <curl/curl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "base/clock.h"
#include "base/memory.h"
#include "base/object.h"
#include "net/bounds.h"
#include "net/client/public_address.h"

enum {
    HELD_SIZE = 256 << 10,
    POLL_MS = 1000,
    HTTP_OK = 200,
    HTTP_NOT_MODIFIED = 304,
    VALIDATOR_SIZE = 200, /* a longer one is not kept */
};

enum { DOWNLOAD_MAGIC = OBJECT_MAGIC('d', 'w', 'n', 'l') };

struct download {
    uint32_t magic;
    const struct clock *clock;
    const atomic_bool *is_stopping;
    CURLM *multi;
    CURL *easy;
    char *url; /* owned: the one at hand */
    char detail[CURL_ERROR_SIZE];
    int64_t stall_ms;
    int64_t moved_us;
    int64_t deadline_us;
    unsigned redirect_count;
    bool is_public_only;
    bool began_public;          /* the address that was asked first */
    bool led_inside;            /* a redirect was refused for its address */
    bool answered;              /* the head of an answer that is no redirect has come */
    bool unchanged;             /* by what it was asked */
    bool chunked;               /* it comes in pieces, the last of which is told */
    struct curl_slist *headers; /* owned */
    char etag[VALIDATOR_SIZE];
    char modified[VALIDATOR_SIZE];
    bool paused;
    bool ended;
    CURLcode code;
    const char *cut;
    struct buf held;
    size_t held_taken;
};

static size_t on_body(char *data, size_t size, size_t count, void *context)
{
    struct download *download = context;
    long status = 0;

    object_check(download, DOWNLOAD_MAGIC);
    curl_easy_getinfo(download->easy, CURLINFO_RESPONSE_CODE, &status);
    if (status != HTTP_OK)
        return size * count; /* a page for people */
    download->answered = true;
    if (download->held.size - download->held_taken >= HELD_SIZE) {
        download->paused = true;
        return CURL_WRITEFUNC_PAUSE;
    }
    if (download->held_taken) {
        buf_consume(&download->held, download->held_taken);
        download->held_taken = 0;
    }
    buf_put_raw(&download->held, data, size * count);
    download->moved_us = clock_mono_us(download->clock);
    return buf_failed(&download->held) ? 0 : size * count;
}

static void keep_validator(struct bytes line, const char *name, char to[VALIDATOR_SIZE])
{
    struct bytes value;

    if (line.size < strlen(name) || strncasecmp((const char *)line.data, name, strlen(name)) != 0)
        return;
    value = bytes_skip(line, strlen(name));
    while (value.size && (value.data[0] == ' ' || value.data[0] == '\t'))
        value = bytes_skip(value, 1);
    while (value.size && (uint8_t)value.data[value.size - 1] <= ' ')
        value.size--;
    to[0] = 0;
    for (size_t i = 0; i < value.size; i++)
        if (value.data[i] < ' ' || value.data[i] > '~')
            return; /* we would send it back */
    if (value.size < VALIDATOR_SIZE) {
        memcpy(to, value.data, value.size);
        to[value.size] = 0;
    }
}

/* The last coding of several tells where the answer ends. */
static bool is_chunked(const char *coding)
{
    const char *last = strrchr(coding, ',');

    last = last ? last + 1 : coding;
    return strcasecmp(last + strspn(last, " \t"), "chunked") == 0;
}

static size_t on_header(char *data, size_t size, size_t count, void *context)
{
    struct download *download = context;
    struct bytes line = bytes_make(data, size * count);
    char coding[VALIDATOR_SIZE] = "";

    object_check(download, DOWNLOAD_MAGIC);
    if (bytes_begin(line, bytes_of("HTTP/"))) { /* another answer begins */
        download->etag[0] = download->modified[0] = 0;
        download->chunked = false;
    }
    keep_validator(line, "transfer-encoding:", coding);
    download->chunked |= is_chunked(coding);
    keep_validator(line, "etag:", download->etag);
    keep_validator(line, "last-modified:", download->modified);
    return size * count;
}

static void add_condition(struct download *download, const char *name, const char *value)
{
    char line[VALIDATOR_SIZE + 32];

    if (!value || !*value)
        return;
    snprintf(line, sizeof(line), "%s: %s", name, value);
    download->headers = curl_slist_append(download->headers, line);
}

/* Of the address itself: where it leads to is asked for all. */
static void set_conditions(struct download *download, const struct download_options *options)
{
    add_condition(download, "If-None-Match", options->etag);
    add_condition(download, "If-Modified-Since", options->modified);
    if (download->headers)
        curl_easy_setopt(download->easy, CURLOPT_HTTPHEADER, download->headers);
}

/* Before a connection is begun: a private address does not even learn that somebody asked. */
static curl_socket_t on_socket(void *context, curlsocktype purpose, struct curl_sockaddr *address)
{
    struct download *download = context;
    bool is_guarded =
        download->is_public_only || (download->redirect_count && download->began_public);
    char ip[INET6_ADDRSTRLEN] = "";

    object_check(download, DOWNLOAD_MAGIC);
    (void)purpose;
    if (address->family == AF_INET)
        inet_ntop(AF_INET, &((struct sockaddr_in *)&address->addr)->sin_addr, ip, sizeof(ip));
    else if (address->family == AF_INET6)
        inet_ntop(AF_INET6, &((struct sockaddr_in6 *)&address->addr)->sin6_addr, ip, sizeof(ip));
    if (is_guarded && !address_is_public(ip)) {
        download->led_inside = true;
        return CURL_SOCKET_BAD;
    }
    return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

/* Connected, nothing sent yet. */
static int on_connected(void *context, char *ip, char *local_ip, int port, int local_port)
{
    struct download *download = context;
    bool is_public = address_is_public(ip);

    object_check(download, DOWNLOAD_MAGIC);
    if (download->redirect_count == 0)
        download->began_public = is_public;
    download->led_inside = (download->began_public || download->is_public_only) && !is_public;
    return download->led_inside ? CURL_PREREQFUNC_ABORT : CURL_PREREQFUNC_OK;
}

static void set_up(struct download *download, const struct download_options *options)
{
    CURL *easy = download->easy;

    curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);
    curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, (long)HTTP_CLIENT_CONNECT_TIMEOUT_MS);
    curl_easy_setopt(easy, CURLOPT_NETRC, (long)CURL_NETRC_IGNORED);
    curl_easy_setopt(easy, CURLOPT_NOPROXY, "*"); /* on_connected would see the proxy's address */
    curl_easy_setopt(easy, CURLOPT_USERAGENT, "torg/" TORG_VERSION);
    curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, download->detail);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_body);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, download);
    curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, on_header);
    curl_easy_setopt(easy, CURLOPT_HEADERDATA, download);
    set_conditions(download, options);
    curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, on_socket);
    curl_easy_setopt(easy, CURLOPT_OPENSOCKETDATA, download);
    curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, on_connected);
    curl_easy_setopt(easy, CURLOPT_PREREQDATA, download);
    if (options->ca_file)
        curl_easy_setopt(easy, CURLOPT_CAINFO, options->ca_file);
}

static int fault(const struct download *download, int code, const char *why, struct err *err)
{
    return err_set(err, code, "%.300s: %s", download->url, why);
}

static void look_for_end(struct download *download)
{
    const CURLMsg *message;
    int left;

    for (message = curl_multi_info_read(download->multi, &left); message;
         message = curl_multi_info_read(download->multi, &left)) {
        if (message->msg == CURLMSG_DONE) {
            download->ended = true;
            download->code = message->data.result;
        }
    }
}

/* Lets curl work, and wait if nothing came of it. */
static int move(struct download *download, struct err *err)
{
    size_t before = download->held.size;
    int64_t now_us;
    int running;

    if (download->paused) {
        download->paused = false;
        curl_easy_pause(download->easy, CURLPAUSE_CONT); /* may call on_body at once */
    }
    curl_multi_perform(download->multi, &running);
    look_for_end(download);
    if (download->ended || download->held.size != before)
        return 0;
    if (download->is_stopping && atomic_load(download->is_stopping))
        return fault(download, ERR_CANCELLED, "it is time to stop", err);
    now_us = clock_mono_us(download->clock);
    if (now_us > download->deadline_us)
        return fault(download, ERR_TIMEOUT, "it takes too long", err);
    if (now_us - download->moved_us > download->stall_ms * MS_US)
        return fault(download, ERR_TIMEOUT, "no more data arrives", err);
    curl_multi_poll(download->multi, NULL, 0, POLL_MS, NULL);
    return 0;
}

static int failure(const struct download *download, struct err *err)
{
    int code = ERR_UNAVAILABLE;

    if (download->led_inside && !download->redirect_count)
        return fault(download, ERR_DENIED, "the address is not one of the public internet", err);
    if (download->led_inside)
        return fault(download, ERR_DENIED,
                     "a redirect from a public address to a private one is not followed", err);
    if (download->code == CURLE_OPERATION_TIMEDOUT)
        code = ERR_TIMEOUT;
    else if (download->code == CURLE_URL_MALFORMAT || download->code == CURLE_UNSUPPORTED_PROTOCOL)
        code = ERR_INVALID;
    return fault(download, code,
                 download->detail[0] ? download->detail : curl_easy_strerror(download->code), err);
}

static int ask(struct download *download, struct err *err)
{
    int rc = 0;

    download->ended = false;
    curl_easy_setopt(download->easy, CURLOPT_URL, download->url);
    curl_multi_add_handle(download->multi, download->easy);
    while (!rc && !download->ended && !download->answered)
        rc = move(download, err);
    if (!rc && download->ended && download->code != CURLE_OK && !download->answered)
        rc = failure(download, err);
    return rc;
}

/* Where the answer leads; *next is NULL when it is no redirect. */
static int look_at_redirect(struct download *download, char **next, struct err *err)
{
    char *target = NULL;

    *next = NULL;
    curl_easy_getinfo(download->easy, CURLINFO_REDIRECT_URL, &target);
    if (!target)
        return 0;
    if (++download->redirect_count > HTTP_CLIENT_REDIRECT_COUNT_MAX)
        return err_set(err, ERR_UNAVAILABLE, "%.300s: more than %d redirects", download->url,
                       HTTP_CLIENT_REDIRECT_COUNT_MAX);
    if (bytes_begin(bytes_of(download->url), bytes_of("https:")) &&
        !bytes_begin(bytes_of(target), bytes_of("https:")))
        return err_set(err, ERR_DENIED, "%.200s leads from https to %.200s, which is not followed",
                       download->url, target);
    *next = mem_strdup(target);
    return 0;
}

static int check_status(struct download *download, struct err *err)
{
    long status = 0;
    int code = ERR_UNAVAILABLE;

    curl_easy_getinfo(download->easy, CURLINFO_RESPONSE_CODE, &status);
    download->unchanged =
        status == HTTP_NOT_MODIFIED && download->headers && !download->redirect_count;
    if (status == HTTP_OK || download->unchanged)
        return 0;
    if (status == 404 || status == 410)
        code = ERR_NOT_FOUND;
    else if (status == 401 || status == 403)
        code = ERR_DENIED;
    return err_set(err, code, "%.300s: the server answers with HTTP status %ld", download->url,
                   status);
}

/* Asks, and asks where it is sent, until there is an answer. */
static int follow(struct download *download, const struct download_options *options,
                  struct err *err)
{
    char *next;
    int rc;

    for (;;) {
        if (options->visit)
            options->visit(options->arg, download->url);
        rc = ask(download, err);
        if (rc || download->answered)
            return rc;
        rc = look_at_redirect(download, &next, err);
        if (rc)
            return rc;
        if (!next)
            return check_status(download, err); /* 200 with an empty body, or a refusal */
        curl_multi_remove_handle(download->multi, download->easy);
        curl_easy_setopt(download->easy, CURLOPT_HTTPHEADER, NULL);
        free(download->url);
        download->url = next;
    }
}

int download_open(const char *url, const struct download_options *options,
                  struct download **download, struct err *err)
{
    static const struct download_options defaults;
    struct download *made = mem_zero(sizeof(*made));
    int64_t now_us;
    int rc;

    object_begin(made, DOWNLOAD_MAGIC);
    *download = NULL;
    options = options ? options : &defaults;
    made->clock = clock_or_system(options->clock);
    now_us = clock_mono_us(made->clock);
    made->is_stopping = options->is_stopping;
    made->url = mem_strdup(url);
    made->stall_ms = options->stall_ms ? options->stall_ms : DOWNLOAD_STALL_MS;
    made->moved_us = now_us;
    made->is_public_only = options->is_public_only;
    made->deadline_us =
        now_us + (options->timeout_ms ? options->timeout_ms : DOWNLOAD_TIMEOUT_MS) * MS_US;
    buf_init(&made->held, HELD_SIZE + 2 * CURL_MAX_WRITE_SIZE);
    made->multi = curl_multi_init();
    made->easy = curl_easy_init();
    if (!made->multi || !made->easy)
        abort(); /* out of memory */
    set_up(made, options);
    rc = follow(made, options, err);
    if (rc)
        download_close(made);
    else
        *download = made;
    return rc;
}

void download_close(struct download *download)
{
    if (!download)
        return;
    object_check(download, DOWNLOAD_MAGIC);
    curl_multi_remove_handle(download->multi, download->easy);
    curl_easy_cleanup(download->easy);
    curl_multi_cleanup(download->multi);
    curl_slist_free_all(download->headers);
    buf_release(&download->held);
    free(download->url);
    object_end(download, DOWNLOAD_MAGIC);
    free(download);
}

uint64_t download_total_size(const struct download *download)
{
    curl_off_t size = -1;

    object_check(download, DOWNLOAD_MAGIC);
    curl_easy_getinfo(download->easy, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &size);
    return size > 0 ? (uint64_t)size : 0;
}

bool download_is_unchanged(const struct download *download)
{
    object_check(download, DOWNLOAD_MAGIC);
    return download->unchanged;
}

const char *download_etag(const struct download *download)
{
    object_check(download, DOWNLOAD_MAGIC);
    return download->etag;
}

const char *download_modified(const struct download *download)
{
    object_check(download, DOWNLOAD_MAGIC);
    return download->modified;
}

int download_read(struct download *download, void *to, size_t size, size_t *got, struct err *err)
{
    int rc = 0;

    object_check(download, DOWNLOAD_MAGIC);
    *got = 0;
    if (download->held.size == download->held_taken)
        download->moved_us = clock_mono_us(download->clock); /* the wait begins now */
    while (!rc && download->held.size == download->held_taken && !download->ended) {
        buf_reset(&download->held);
        download->held_taken = 0;
        rc = move(download, err);
    }
    if (rc)
        return rc;
    *got = download->held.size - download->held_taken;
    *got = *got < size ? *got : size;
    if (*got)
        memcpy(to, download->held.data + download->held_taken, *got);
    download->held_taken += *got;
    if (!*got && download->code != CURLE_OK)
        download->cut = "the connection broke off";
    return 0;
}

const char *download_cut(const struct download *download)
{
    object_check(download, DOWNLOAD_MAGIC);
    return download->cut;
}

bool download_end_is_told(const struct download *download)
{
    long version = 0;

    object_check(download, DOWNLOAD_MAGIC);
    curl_easy_getinfo(download->easy, CURLINFO_HTTP_VERSION, &version);
    return download->chunked || version >= CURL_HTTP_VERSION_2_0 || download_total_size(download);
}
