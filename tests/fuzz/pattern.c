/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pattern.c - fuzz target: a regular expression, a zero byte and a text. What compiles also finds
 * the text between two others, unless it asks what is around it.
 */
#include <assert.h>
#include <string.h>

#include "base/text.h"
#include "schema/pattern.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool run(const struct pattern *pattern, struct bytes text, struct arena *arena, bool *found)
{
    uint64_t steps = 2000000;

    return pattern_matches(pattern, text, arena, &steps, found, NULL) == 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t *zero = size ? memchr(data, 0, size) : NULL;
    struct bytes source = bytes_make(data, zero ? (size_t)(zero - data) : size);
    struct bytes text = bytes_skip(bytes_make(data, size), zero ? source.size + 1 : source.size);
    struct buf longer = BUF_INIT(size + 16);
    struct arena *arena = arena_new();
    const struct pattern *pattern;
    bool is_found, is_found_again;

    if (text_is_utf8(source) && text_is_utf8(text) &&
        pattern_compile(source, arena, &pattern, NULL) == 0 &&
        run(pattern, text, arena, &is_found) && is_found && !memchr(data, '^', source.size) &&
        !memchr(data, '$', source.size) && !memchr(data, '\\', source.size)) {
        buf_put_text(&longer, "«");
        buf_put(&longer, text);
        buf_put_text(&longer, "»");
        if (run(pattern, buf_bytes(&longer), arena, &is_found_again))
            assert(is_found_again);
    }
    buf_release(&longer);
    arena_free(arena);
    return 0;
}
