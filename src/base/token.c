/* SPDX-License-Identifier: Apache-2.0 */
/* token.c - see token.h. */
#include "base/token.h"

#include <assert.h>

#include "base/buf.h"
#include "base/text.h"

enum { TEXT_SIZE_MAX = 256 };

char *token_text(struct bytes binary, struct arena *arena)
{
    struct buf text = BUF_INIT(TEXT_SIZE_MAX);
    char *result;

    text_put_base64(&text, binary);
    assert(!buf_failed(&text));
    while (text.size && text.data[text.size - 1] == '=')
        buf_truncate(&text, text.size - 1);
    result = arena_text(arena, buf_bytes(&text));
    buf_release(&text);
    for (char *at = result; *at; at++)
        *at = *at == '+' ? '-' : *at == '/' ? '_' : *at;
    return result;
}

bool token_parse(struct bytes text, size_t limit, struct arena *arena, struct bytes *binary)
{
    struct buf out = BUF_INIT(limit);
    bool ok = text.size <= TEXT_SIZE_MAX && text_from_base64(text, &out);

    *binary = ok ? arena_copy(arena, buf_bytes(&out)) : BYTES_EMPTY;
    buf_release(&out);
    return ok;
}
