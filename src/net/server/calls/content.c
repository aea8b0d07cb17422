/* SPDX-License-Identifier: Apache-2.0 */
/* content.c - see content.h. */
#include "net/server/calls/content.h"

#include <string.h>

#include "base/object.h"
#include "base/text.h"
#include "net/server/calls/call.h"

static struct bytes trimmed(struct bytes text)
{
    while (text.size && (text.data[0] == ' ' || text.data[0] == '\t'))
        text = bytes_skip(text, 1);
    while (text.size && (text.data[text.size - 1] == ' ' || text.data[text.size - 1] == '\t'))
        text.size--;
    return text;
}

/* What stands before the mark; *rest is what follows it, empty when there is none. */
static struct bytes cut(struct bytes text, char mark, struct bytes *rest)
{
    const uint8_t *at = text.size ? memchr(text.data, mark, text.size) : NULL;
    struct bytes front = at ? bytes_make(text.data, (size_t)(at - text.data)) : text;

    *rest = at ? bytes_skip(text, front.size + 1) : BYTES_EMPTY;
    return trimmed(front);
}

/* "*", or one of the list is the tag; a weak one counts, as a copy is a copy. */
static bool is_known(struct bytes list, const char *tag)
{
    while (list.size) {
        struct bytes one = cut(list, ',', &list);

        if (bytes_begin(one, bytes_of("W/")))
            one = bytes_skip(one, 2);
        if (bytes_equal_text(one, "*") || bytes_equal_text(one, tag))
            return true;
    }
    return false;
}

struct range {
    uint64_t first;
    uint64_t end; /* one behind the last */
};

enum wish { WHOLE, PART, NOWHERE };

/* "bytes=0-99", "bytes=100-", "bytes=-100". What is not understood is as if it were not there. */
static enum wish read_range(struct bytes header, uint64_t size, struct range *range)
{
    struct bytes last;
    struct bytes first;
    uint64_t from = 0;
    uint64_t to = UINT64_MAX;

    if (!bytes_begin(header, bytes_of("bytes=")) || memchr(header.data, ',', header.size) ||
        !memchr(header.data, '-', header.size))
        return WHOLE;
    first = cut(bytes_skip(header, strlen("bytes=")), '-', &last);
    last = trimmed(last);
    if ((first.size && !text_to_u64(first, &from)) || (last.size && !text_to_u64(last, &to)) ||
        (!first.size && !last.size) || (first.size && to < from))
        return WHOLE;
    if (!first.size) { /* so many of the end */
        if (!to || !size)
            return NOWHERE;
        *range = (struct range){to < size ? size - to : 0, size};
        return PART;
    }
    if (from >= size)
        return NOWHERE;
    *range = (struct range){from, to < size - 1 ? to + 1 : size};
    return PART;
}

/* The part that is asked for, if the client's own part is of the same file. */
static enum wish find_part(const struct call *call, const struct content *content,
                           struct range *range)
{
    struct bytes header = call_header(call, "range");
    struct bytes condition = call_header(call, "if-range");

    if (!header.size || call->is_head || content->coding ||
        (condition.size && !bytes_equal_text(condition, content->tag)))
        return WHOLE;
    return read_range(header, content->body.size, range);
}

void content_answer(struct call *call, const struct content *content)
{
    size_t size = content->body.size;
    struct range range;
    enum wish wish;

    object_check(call, CALL_MAGIC);
    reply_header(call, "etag", bytes_of(content->tag));
    if (is_known(call_header(call, "if-none-match"), content->tag)) {
        reply_plain(call, 304, NULL, BYTES_EMPTY);
        return;
    }
    if (content->coding)
        reply_header(call, "content-encoding", bytes_of(content->coding));
    else
        reply_header(call, "accept-ranges", bytes_of("bytes"));
    wish = find_part(call, content, &range);
    if (wish == WHOLE) {
        reply_plain(call, 200, content->type, content->body);
    } else if (wish == NOWHERE) {
        reply_header(call, "content-range",
                     bytes_of(arena_printf(call->arena, "bytes */%zu", size)));
        reply_error(call, 416, ERR_RANGE, "the file ends before the part that was asked for");
    } else {
        reply_header(call, "content-range",
                     bytes_of(arena_printf(call->arena, "bytes %zu-%zu/%zu", (size_t)range.first,
                                           (size_t)range.end - 1, size)));
        reply_plain(call, 206, content->type,
                    bytes_make(content->body.data + range.first, range.end - range.first));
    }
}
