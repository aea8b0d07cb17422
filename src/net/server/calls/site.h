/* SPDX-License-Identifier: Apache-2.0 */
/*
 * site.h - the files of the web page: fixed content with its tag and its packed form.
 *
 * Filled before the server starts, read by all reactors afterwards.
 */
#ifndef TORG_NET_SERVER_CALLS_SITE_H
#define TORG_NET_SERVER_CALLS_SITE_H

#include "base/buf.h"
#include "base/bytes.h"
#include "net/bounds.h"
#include "net/server/calls/content.h"

enum { SITE_TAG_SIZE = 32, SITE_FORM_COUNT = 3 };

struct site_file {
    struct bytes path;
    const char *content_type;
    struct site_form {      /* as it is, zstd, gzip; without content when that is not smaller */
        const char *coding; /* NULL: as it is */
        struct bytes content;
        struct buf packed;
        char tag[SITE_TAG_SIZE]; /* quoted, as ETag wants it; each form has its own */
    } forms[SITE_FORM_COUNT];
};

struct site {
    struct site_file *files[NET_FILE_COUNT_MAX]; /* owned */
    size_t count;
};

void site_release(struct site *site);
void site_add(struct site *site, const char *path, const char *content_type, struct bytes content);
/* The form for a client that accepts these codings; whole: as it is, whatever it accepts. */
struct content site_choose(const struct site_file *file, struct bytes accepted, bool whole);
const struct site_file *site_find(const struct site *site, struct bytes path);

#endif
