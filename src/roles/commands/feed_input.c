/* SPDX-License-Identifier: Apache-2.0 */
/*
 * feed_input.c - see feed_input.h.
 *
 *     file, standard input or download ──► counted ──► gunzip ──► the reader's source
 */
#include "roles/commands/feed_input.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/object.h"
#include "codec/gunzip.h"
#include "feeds/bounds.h"
#include "net/client/download.h"

enum { FEED_INPUT_MAGIC = OBJECT_MAGIC('f', 'i', 'n', 'p') };

struct feed_input {
    uint32_t magic;
    char *name;                /* owned */
    struct feed_source raw;    /* of a file */
    struct download *download; /* of an address */
    struct gunzip *gunzip;
    struct feed_source source; /* what the reader sees */
    uint64_t read_size;
    uint64_t total_size;
};

static int read_raw(void *arg, void *to, size_t size, size_t *got, struct err *err)
{
    struct feed_input *input = arg;
    int rc;

    object_check(input, FEED_INPUT_MAGIC);
    if (input->download)
        rc = download_read(input->download, to, size, got, err);
    else
        rc = feed_source_read(&input->raw, (uint64_t)FEED_FILE_MB_MAX << 20, to, size, got, err);
    if (!rc)
        input->read_size += *got;
    return rc;
}

static int read_plain(void *arg, void *to, size_t size, size_t *got, struct err *err)
{
    struct feed_input *input = arg;
    int rc = gunzip_read(input->gunzip, to, size, got, err);

    object_check(input, FEED_INPUT_MAGIC);
    if (rc || *got)
        return rc;
    input->source.is_whole = gunzip_is_packed(input->gunzip) || input->total_size ||
                             (input->download && download_end_is_told(input->download));
    input->source.cut = gunzip_cut(input->gunzip);
    if (input->download && download_cut(input->download))
        input->source.cut = download_cut(input->download);
    else if (input->total_size && input->read_size < input->total_size)
        input->source.cut = "the file became shorter while it was read";
    return 0;
}

static bool is_address(const char *place)
{
    return strncmp(place, "http://", 7) == 0 || strncmp(place, "https://", 8) == 0;
}

/* "https://user:secret@shop.example/a.yml?key=1" is told as "https://shop.example/a.yml". */
static char *shown_address(const char *url)
{
    const char *host = strstr(url, "//") + 2;
    size_t host_size = strcspn(host, "/?#");
    const char *at = memrchr(host, '@', host_size);
    const char *rest = at ? at + 1 : host;
    size_t rest_size = strcspn(rest, "?#");
    size_t size = (size_t)(host - url) + rest_size + 1;
    char *shown = mem_alloc(size);

    snprintf(shown, size, "%.*s%.*s", (int)(host - url), url, (int)rest_size, rest);
    for (char *at_byte = shown; *at_byte; at_byte++) { /* a redirect must not steer a terminal */
        if ((unsigned char)*at_byte < ' ' || *at_byte == 0x7f)
            *at_byte = '?';
    }
    return shown;
}

static void tell_address(void *arg, const char *url)
{
    char *shown = shown_address(url);

    fprintf(stderr, "fetching %s\n", shown);
    free(shown);
}

static int open_address(struct feed_input *input, const char *url, bool quiet, struct err *err)
{
    const struct download_options options = {.visit = quiet ? NULL : tell_address};
    int rc = download_open(url, &options, &input->download, err);

    input->name = shown_address(url);
    if (!rc)
        input->total_size = download_total_size(input->download);
    return rc;
}

static int open_file(struct feed_input *input, const char *path, struct err *err)
{
    const char *slash = strrchr(path, '/');
    int rc = feed_source_file(&input->raw, path, err);

    input->name = mem_strdup(strcmp(path, "-") == 0 ? "standard input" : slash ? slash + 1 : path);
    if (!rc)
        input->total_size = input->raw.total_size;
    return rc;
}

int feed_input_open(const char *place, bool quiet, struct feed_input **input, struct err *err)
{
    struct feed_input *made = mem_zero(sizeof(*made));
    int rc;

    object_begin(made, FEED_INPUT_MAGIC);
    *input = NULL;
    made->raw.fd = -1;
    made->gunzip = gunzip_new(read_raw, made);
    feed_source_function(&made->source, read_plain, made, 0);
    if (is_address(place))
        rc = open_address(made, place, quiet, err);
    else if (strstr(place, "://"))
        rc = err_set(err, ERR_INVALID, "%.200s: expected a file, an http(s) address, or -", place);
    else
        rc = open_file(made, place, err);
    if (rc)
        feed_input_close(made);
    else
        *input = made;
    return rc;
}

void feed_input_close(struct feed_input *input)
{
    if (!input)
        return;
    object_check(input, FEED_INPUT_MAGIC);
    feed_source_close(&input->raw);
    gunzip_free(input->gunzip);
    download_close(input->download);
    free(input->name);
    object_end(input, FEED_INPUT_MAGIC);
    free(input);
}

struct feed_source *feed_input_source(struct feed_input *input)
{
    object_check(input, FEED_INPUT_MAGIC);
    return &input->source;
}

const char *feed_input_name(const struct feed_input *input)
{
    object_check(input, FEED_INPUT_MAGIC);
    return input->name;
}

void feed_input_sizes(const struct feed_input *input, uint64_t *read_size, uint64_t *total_size)
{
    object_check(input, FEED_INPUT_MAGIC);
    *read_size = input->read_size;
    *total_size = input->total_size;
}
