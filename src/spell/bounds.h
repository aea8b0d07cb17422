/* SPDX-License-Identifier: Apache-2.0 */
/* bounds.h - the bounds of spell/, each with its reason; docs/limits.md has those of all. */
#ifndef TORG_SPELL_BOUNDS_H
#define TORG_SPELL_BOUNDS_H

enum {
    SPELL_TEXT_SIZE_MAX = 8 << 10,       /* of a query, as QUERY_TEXT_SIZE_MAX */
    SPELL_JUDGED_COUNT_MAX = 8,          /* words judged one by one: two searches each, twice */
    SPELL_LEARN_SIZE_MAX = 256 << 10,    /* of one title or value */
    SPELL_WORD_SIZE_MAX = 32,            /* letters; longer ones are not anybody's words */
    SPELL_WORD_COUNT_MAX = 1 << 20,      /* base and live: 300 MB; further words are not learnt */
    SPELL_PAIR_COUNT_MAX = 2 << 20,      /* 32 MB; then rare pairs are forgotten */
    SPELL_NEAR_COUNT_MAX = 2048,         /* words within two edits that are looked at */
    SPELL_CANDIDATE_COUNT_MAX = 16,      /* meanings of a word that are weighed in its context */
    SPELL_WINDOW_COUNT_MAX = 32,         /* words weighed together; a longer text goes in steps */
    SPELL_SNAPSHOT_SIZE_MAX = 128 << 20, /* all words and pairs at their limits take 60 MB */
};

#endif
