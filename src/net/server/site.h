/* SPDX-License-Identifier: Apache-2.0 */
/*
 * site.h - the files of the web page: fixed content with its tag and its packed form.
 *
 * Filled before the server starts, read by all reactors afterwards.
 */
#ifndef TORG_NET_SERVER_SITE_H
#define TORG_NET_SERVER_SITE_H

#include "base/buf.h"
#include "base/bytes.h"
#include "net/bounds.h"

enum { SITE_TAG_SIZE = 24 };

struct site_file {
    struct bytes path;
    const char *content_type;
    struct bytes content;    /* borrowed */
    struct buf packed;       /* gzip; empty when that is not smaller */
    char tag[SITE_TAG_SIZE]; /* quoted, as ETag wants it */
};

struct site {
    struct site_file *files[NET_FILE_COUNT_MAX]; /* owned */
    size_t count;
};

void site_release(struct site *site);
void site_add(struct site *site, const char *path, const char *content_type, struct bytes content);
const struct site_file *site_find(const struct site *site, struct bytes path);

#endif
