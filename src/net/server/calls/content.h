/* SPDX-License-Identifier: Apache-2.0 */
/*
 * content.h - a file as an answer: is it what the client has already, and which part does it want?
 * If-None-Match, Range and If-Range as RFC 9110 has them; one range at a time.
 */
#ifndef TORG_NET_SERVER_CALLS_CONTENT_H
#define TORG_NET_SERVER_CALLS_CONTENT_H

#include "base/bytes.h"

struct call;

struct content {
    struct bytes body;
    const char *type;
    const char *tag;    /* quoted, of this coding; lives as long as the call */
    const char *coding; /* "gzip"; NULL: as it is, and parts of it may be had */
};

void content_answer(struct call *call, const struct content *content);

#endif
