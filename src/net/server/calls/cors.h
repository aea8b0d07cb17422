/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cors.h - which pages of other origins may call us, and read our answers.
 *
 * A browser asks beforehand (a preflight: OPTIONS) and checks the answer's headers afterwards. An
 * origin in the list is answered by its name and may send credentials; "*" in the list admits every
 * other one, without credentials. Nothing here admits anybody: a call needs its key as it always
 * does.
 *
 * Filled before the server starts, read by all reactors afterwards.
 */
#ifndef TORG_NET_SERVER_CALLS_CORS_H
#define TORG_NET_SERVER_CALLS_CORS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/bytes.h"
#include "base/err.h"

struct call;

struct cors {
    char *text;            /* owned */
    struct bytes *origins; /* owned; in text */
    size_t count;
    bool any; /* "*" is one of them */
};

/* Origins with blanks or commas between them; NULL or empty: none. ERR_INVALID: one is no
 * origin. */
int cors_init(struct cors *cors, const char *list, struct err *err);
void cors_release(struct cors *cors);
/* Whether one is an origin as browsers write it: "https://shop.example:8443", or "*". */
bool cors_is_origin(struct bytes text);

/* Finds the page's origin among those allowed; true: it was a preflight, and is answered. */
bool cors_take(struct call *call);
/* The headers that let the page read the answer. */
void cors_put(struct call *call);

#endif
