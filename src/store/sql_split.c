/* SPDX-License-Identifier: Apache-2.0 */
/* sql_split.c - see sql_split.h. */
#include "store/sql_split.h"

#include <ctype.h>

/* The size of the comment, string or quoted name at the front; an unfinished one takes the
 * rest; 0 when the front is none of them. */
static size_t quoted_size(struct bytes text, bool *comment)
{
    bool two = text.size >= 2;
    const char *end = NULL;
    size_t skip = 1;
    const uint8_t *found;

    *comment = false;
    if (text.data[0] == '\'')
        end = "'";
    else if (text.data[0] == '"')
        end = "\"";
    else if (two && memcmp(text.data, "--", 2) == 0)
        end = "\n";
    else if (two && memcmp(text.data, "/*", 2) == 0)
        end = "*/";
    if (!end)
        return 0;
    if (end[0] == '\n' || end[0] == '*') {
        *comment = true;
        skip = 2;
    }
    found = memmem(text.data + skip, text.size - skip, end, strlen(end));
    return found ? (size_t)(found - text.data) + strlen(end) : text.size;
}

static void skip_blank(struct bytes *text)
{
    while (text->size > 0) {
        bool comment;
        size_t size = quoted_size(*text, &comment);

        if (size > 0 && comment)
            *text = bytes_skip(*text, size);
        else if (isspace(text->data[0]) || text->data[0] == ';')
            *text = bytes_skip(*text, 1);
        else
            return;
    }
}

bool sql_next(struct bytes *text, struct bytes *statement)
{
    const uint8_t *start;

    skip_blank(text);
    start = text->data;
    while (text->size > 0 && text->data[0] != ';') {
        bool comment;
        size_t size = quoted_size(*text, &comment);

        *text = bytes_skip(*text, size > 0 ? size : 1);
    }
    *statement = bytes_make(start, (size_t)(text->data - start));
    return statement->size > 0;
}
