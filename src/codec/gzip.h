/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gzip.h - packing answers and unpacking requests, never past a limit.
 */
#ifndef TORG_CODEC_GZIP_H
#define TORG_CODEC_GZIP_H

#include "base/buf.h"
#include "base/bytes.h"
#include "base/err.h"

/* Appends the packed form. */
void gzip_pack(struct bytes plain, struct buf *out);

/*
 * Appends the plain form. ERR_LIMIT as soon as it passes size_max, however small the input;
 * ERR_INVALID when it is no whole gzip stream.
 */
int gzip_unpack(struct bytes packed, size_t size_max, struct buf *out, struct err *err);

/* The same without gzip's head and sum: for formats that bring their own. */
void deflate_pack(struct bytes plain, struct buf *out);
int deflate_unpack(struct bytes packed, size_t size_max, struct buf *out, struct err *err);

#endif
