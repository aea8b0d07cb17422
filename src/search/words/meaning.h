/* SPDX-License-Identifier: Apache-2.0 */
/*
 * meaning.h - what the words of a buyer's line are for: some name the thing, others only say that
 * somebody wants to buy it ("купить", "недорого", "for sale"), how it should be ("б/у": the filter
 * by condition), where ("рядом": the filter by distance) or for how much ("до 20000": by price).
 *
 * Only plain words are looked at: what stands in quotes or with a sign is meant as it stands. A
 * line of nothing else is searched as it is.
 */
#ifndef TORG_SEARCH_WORDS_MEANING_H
#define TORG_SEARCH_WORDS_MEANING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"

enum meant_kind {
    MEANT_STOP,   /* a word of grammar; not told */
    MEANT_FILLER, /* says nothing about the thing */
    MEANT_NEW,    /* condition */
    MEANT_USED,
    MEANT_NEAR,
    MEANT_PRICE, /* "до 20000", "under $500" */
};

/* Words of the line that are not searched. */
struct meant {
    enum meant_kind kind;
    const char *text; /* as typed */
    int64_t min, max; /* PRICE, in whole units of the currency; 0: no such end */
};

struct meaning {
    const char *text; /* what is searched; a slash between two words is a blank */
    bool is_several;  /* it has more than one word, or one of parts, so that some may be missing */
    const struct meant *list;
    size_t count;
};

/* kept: texts of `meant` that are words after all. ERR_LIMIT: the line cannot be read. */
int meaning_read(const char *line, char *const *kept, size_t kept_count, struct arena *arena,
                 struct meaning *meaning, struct err *err);

#endif
