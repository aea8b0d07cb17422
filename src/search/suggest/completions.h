/* SPDX-License-Identifier: Apache-2.0 */
/*
 * completions.h - how might a line that is being typed continue, by the titles that match so far?
 *
 * Of each title: the word that the last typed one begins, alone and with the one and two words
 * behind it; when the last one is whole, the words behind it. The more titles say the same - in any
 * form of its words - the better. Titles are read as the index reads them (analysis.h), and only
 * within a phrase: a comma ends it.
 *
 *     typed "горный вел"   title "Велосипед горный Stels Navigator"   "горный велосипед"
 *     typed "велосипед "   the same                                   none: it is in the line
 *     typed "stel"         the same                                   "stels", "stels navigator"
 *
 * Threads: one completions, one thread.
 */
#ifndef TORG_SEARCH_SUGGEST_COMPLETIONS_H
#define TORG_SEARCH_SUGGEST_COMPLETIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/bytes.h"

struct completions;

struct completion {
    const char *text;     /* the whole line, in small letters */
    uint32_t title_count; /* titles that say so */
};

/* The memory is the arena's, but for what completions_free frees. */
struct completions *completions_new(struct bytes typed, struct arena *arena);
void completions_free(struct completions *completions); /* NULL is fine */

/* The line as it was typed, words parted by one blank, small letters, without signs. */
struct bytes completions_typed(const struct completions *completions);
/* Its last word may go on: no blank stands behind it. */
bool completions_is_open(const struct completions *completions);

void completions_add(struct completions *completions, struct bytes title);

/* The best first, at most max; the line itself only with_line: it was not typed so. */
size_t completions_list(struct completions *completions, bool with_line, struct completion *list,
                        size_t max);

/* Appends text as HTML, with what does not begin as typed in <b> and </b>. */
void completion_mark(struct bytes text, struct bytes typed, struct buf *html);

#endif
