/* SPDX-License-Identifier: Apache-2.0 */
/*
 * line.h - a buyer's line, with the parts hidden that spelling must not change.
 *
 * Words and "phrases" are corrected. What stands with a sign (-without, !exact, begin*, typo~) is
 * what the buyer has asked for to the letter; its bytes, and the quotes, give way to HIDDEN, which
 * parts words and is no letter. Spelling keeps what it does not change byte by byte, so the n-th
 * HIDDEN of the corrected line stands for the n-th hidden byte.
 */
#ifndef TORG_SEARCH_WORDS_LINE_H
#define TORG_SEARCH_WORDS_LINE_H

#include "base/arena.h"
#include "base/bytes.h"
#include "base/err.h"

struct hidden_line {
    struct bytes text;   /* as long as the line */
    struct bytes hidden; /* the bytes that are not in it, in order */
};

/* ERR_LIMIT: a line that no query may have. */
int line_hide(struct bytes line, struct arena *arena, struct hidden_line *hidden, struct err *err);

/* The line of a corrected text. */
char *line_show(const struct hidden_line *hidden, struct bytes text, struct arena *arena);

/* A text of somebody who asks for nothing, such as a title, as a line of its words alone: with
 * blanks for what would be signs and quotes. */
char *line_plain(const char *text, struct arena *arena);

#endif
