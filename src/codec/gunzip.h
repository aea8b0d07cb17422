/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gunzip.h - reads a stream that may be gzip, recognised by its first two bytes; anything else
 * passes unchanged.
 *
 * Several gzip files behind each other are one, as gzip has it. What unpacks to far more than a
 * text would is refused: see GUNZIP_EXPANSION_MAX. One thread.
 */
#ifndef TORG_CODEC_GUNZIP_H
#define TORG_CODEC_GUNZIP_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

struct gunzip;

/* read: up to size bytes of the source, *got = 0 at its end. */
struct gunzip *gunzip_new(int (*read)(void *arg, void *to, size_t size, size_t *got,
                                      struct err *err),
                          void *arg);
void gunzip_free(struct gunzip *gunzip); /* NULL is fine */

/* ERR_INVALID: damaged; ERR_LIMIT: it swells too much. */
int gunzip_read(struct gunzip *gunzip, void *to, size_t size, size_t *got, struct err *err);

/* Why the end that was reached is not the one that the writer meant; NULL: it is. */
const char *gunzip_cut(const struct gunzip *gunzip);
/* It is gzip, which tells its own end. */
bool gunzip_is_packed(const struct gunzip *gunzip);

#endif
