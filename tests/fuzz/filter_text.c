/* SPDX-License-Identifier: Apache-2.0 */
/* filter_text.c - any bytes as a filter: refused with a place, or messages that can be encoded. */
#include <stdlib.h>
#include <string.h>

#include "codec/message.h"
#include "query/request/filter_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *arena = arena_new();
    struct buf packed = BUF_INIT(1 << 24);
    Torg__V1__Filter *filter;
    struct err err = {0};

    if (filter_text_read(bytes_make(data, size), arena, &filter, &err)) {
        if (filter || strncmp(err.text, "filter, character ", 18) != 0)
            if (filter || strncmp(err.text, "filter: ", 8) != 0)
                abort();
    } else if (filter) {
        message_encode(&filter->base, &packed);
        if (buf_failed(&packed) || !packed.size)
            abort();
    }
    buf_release(&packed);
    arena_free(arena);
    return 0;
}
