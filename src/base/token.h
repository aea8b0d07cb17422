/* SPDX-License-Identifier: Apache-2.0 */
/* token.h - a few binary bytes as text that fits a URL: base64url, unpadded. */
#ifndef TORG_BASE_TOKEN_H
#define TORG_BASE_TOKEN_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/bytes.h"

/* Of at most 190 bytes: tokens are short. */
char *token_text(struct bytes binary, struct arena *arena);
/* False when it is none, or longer than `limit` bytes. */
bool token_parse(struct bytes text, size_t limit, struct arena *arena, struct bytes *binary);

#endif
