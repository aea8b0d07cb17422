/* SPDX-License-Identifier: Apache-2.0 */
/* line.c - see line.h. */
#include "search/words/line.h"

#include <assert.h>
#include <string.h>

#include "query/query.h"

enum {
    HIDDEN = 1
}; /* a control character: no letter, and not the blank that words are joined by */

/* Clauses come in the order of the line, and only blanks and signs lie between them: the next place
 * that reads so is the clause's. */
static size_t find_clause(struct bytes line, size_t from, struct bytes text)
{
    const uint8_t *found = memmem(line.data + from, line.size - from, text.data, text.size);

    assert(found);
    return (size_t)(found - line.data);
}

static bool may_change(const struct text_clause *clause)
{
    return clause->occur == OCCUR_MUST &&
           (clause->kind == CLAUSE_WORD || clause->kind == CLAUSE_PHRASE);
}

int line_hide(struct bytes line, struct arena *arena, struct hidden_line *hidden, struct err *err)
{
    uint8_t *text = arena_alloc(arena, line.size + 1);
    uint8_t *taken = arena_alloc(arena, line.size + 1);
    struct query_text query;
    size_t at = 0, count = 0;
    int rc = query_text_parse(line, false, arena, &query, err);

    if (rc)
        return rc;
    memset(text, HIDDEN, line.size);
    for (uint32_t i = 0; i < query.count; i++) {
        const struct text_clause *clause = &query.clauses[i];
        size_t start = find_clause(line, at, clause->text);

        at = start + clause->text.size;
        if (may_change(clause))
            memcpy(text + start, line.data + start, clause->text.size);
    }
    for (size_t i = 0; i < line.size; i++) {
        if (text[i] == HIDDEN)
            taken[count++] = line.data[i];
    }
    hidden->text = bytes_make(text, line.size);
    hidden->hidden = bytes_make(taken, count);
    return 0;
}

char *line_show(const struct hidden_line *hidden, struct bytes text, struct arena *arena)
{
    char *line = arena_text(arena, text);
    size_t count = 0;

    for (size_t i = 0; i < text.size; i++) {
        if (text.data[i] == HIDDEN && count < hidden->hidden.size)
            line[i] = (char)hidden->hidden.data[count++];
    }
    return line;
}

/* Signs before it are blanks already, so "!-50" and "--50" leave nothing out either. */
char *line_plain(const char *text, struct arena *arena)
{
    char *line = arena_strdup(arena, text);

    for (char *at = line; *at; at++) {
        bool begins = at == line || (unsigned char)at[-1] <= ' ';

        if (strchr("\"!*~", *at) || (*at == '-' && begins))
            *at = ' ';
    }
    return line;
}
