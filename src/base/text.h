/* SPDX-License-Identifier: Apache-2.0 */
/*
 * text.h - numbers, sizes, durations and binary as people write them.
 *
 * Parsers take the whole input or refuse it: no leading blanks, no trailing rest.
 */
#ifndef TORG_BASE_TEXT_H
#define TORG_BASE_TEXT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/bytes.h"

bool text_to_u64(struct bytes text, uint64_t *value);
bool text_to_i64(struct bytes text, int64_t *value);
bool text_to_size(struct bytes text, uint64_t *bytes); /* 4096, 64KB, 16MB, 2GB (of 1024) */
bool text_to_duration(struct bytes text, int64_t *microseconds); /* 250us 20ms 30s 15m 24h 90d */

void text_put_hex(struct buf *out, struct bytes binary);
bool text_from_hex(struct bytes text, struct buf *out);
void text_put_base64(struct buf *out, struct bytes binary);     /* standard, padded */
void text_put_base64_url(struct buf *out, struct bytes binary); /* as an address may have it */
bool text_from_base64(struct bytes text, struct buf *out);      /* standard or URL-safe */

bool text_is_utf8(struct bytes text); /* valid, shortest forms, no surrogates */

/* The JSON string literal of valid UTF-8 text, quotes included. All control characters are
 * escaped, so that it is safe on a terminal too. */
void text_put_json(struct buf *out, struct bytes text);

#endif
