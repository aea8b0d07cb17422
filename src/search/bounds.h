/* SPDX-License-Identifier: Apache-2.0 */
/* bounds.h - the bounds of search/, each with its reason; docs/limits.md has those of all. */
#ifndef TORG_SEARCH_BOUNDS_H
#define TORG_SEARCH_BOUNDS_H

enum {
    SEARCH_DEADLINE_MS = 3000,  /* the default of search.deadline */
    SEARCH_PAUSE_MS_MIN = 3,    /* before a write that is waited for is looked for again ... */
    SEARCH_PAUSE_MS_MAX = 50,   /* ... growing; no thread waits meanwhile */
    SEARCH_TEXT_SIZE_MAX = 400, /* a line somebody typed */
    SEARCH_PAGE_COUNT = 20,     /* offers of a page, unless the request says */
    SEARCH_PAGE_COUNT_MAX = 100,
    SEARCH_FILTER_COUNT_MAX = 50,     /* chosen by a buyer */
    SEARCH_VALUE_COUNT_MAX = 200,     /* of one filter */
    SEARCH_OFFERED_COUNT_MAX = 24,    /* filters of attributes that are offered: a screen or two */
    SEARCH_FACET_VALUE_COUNT = 100,   /* values of a filter that are offered */
    SEARCH_TREE_COUNT = 2000,         /* categories that are counted */
    SEARCH_FORMER_COUNT_MAX = 256,    /* paths that a category's offers may have, while it moves */
    SEARCH_CATEGORY_COUNT = 50,       /* of them told to the page */
    SEARCH_COMPLETION_WORD_COUNT = 4, /* that a word may begin, the most frequent */
    SEARCH_COMPLETION_COUNT = 10,     /* offers whose titles say which it is */
    SEARCH_COMPLETION_COUNT_MIN = 3,  /* fewer offers: it may be misspelt as well */
    SEARCH_NEAR_M = 25000,            /* "near me": a large town */
    SEARCH_FRAGMENT_SIZE = 160,       /* of a description, with the words marked */
    SEARCH_SHARE_MIN_PERCENT = 50,    /* of the hits have the attribute: its filter is offered */
    LIKELY_SAMPLE_COUNT = 40,         /* offers that tell which categories are meant: two pages */
    LIKELY_CATEGORY_COUNT_MAX = 4,    /* that a text may be about at once */
    LIKELY_OWN_MIN_PERCENT = 10,      /* of those offers are of each of them ... */
    LIKELY_ALL_MIN_PERCENT = 60,      /* ... and of all; less: the text is about anything */
    LIKELY_GAIN_PERCENT = 50,         /* more that their offers weigh */
    CLICKED_COUNT_MAX = 100000,       /* rows that are read: as many as clicks/ keeps */
    CLICKED_SHARE_COUNT = 4,          /* categories that a text's clicks speak for */
    CLICKED_LINE_COUNT = 2,           /* of the lines suggested: others go by titles */
    CLICKED_PERSON_MIN = 3,           /* of a text: what fewer typed may be private */
    CLICKED_HALF_COUNT = 20,          /* visits of which a text is half known */
    CLICKED_HALF_DAYS = 7,            /* after which a visit weighs half as much */
    CLICKED_GAIN_PERCENT = 40,        /* at most, of what titles say of categories */
    CLICKED_REFRESH_S = 300,          /* how soon it is learnt from: 100 ms of work */
    VOTE_KEEP_MS = 10000,             /* how long that is taken for true without a look: as long as
                                         a buyer looks at a page */
    VOTE_COUNT = 2048,                /* texts it is kept of: 300 KB */
    VOTE_SIZE_MAX = 128,              /* of four ids; longer ones are found out each time */
    RANKING_FORMULA_COUNT_MAX = 16,   /* of ranking.best: one line of the config */
    ARRANGED_PLACE_COUNT = 100,   /* first places of BEST that are not filled by one order alone:
                                     their offers are in the cursor */
    ARRANGED_NEW_LOOKS = 20,      /* an offer with fewer is new: as RATE_PRIOR_LOOKS, at which
                                     its own rate counts as much as its category's */
    ARRANGED_NEW_LIST_EVERY = 4,  /* of so many visits' lists one has places for new offers: they
                                     cost a fifth of a page */
    ARRANGED_CAP_LOOK = 100,      /* offers behind a page that may come before those of a seller
                                     who has enough on it */
    SEARCH_SESSION_SIZE_MAX = 64, /* of a visit's name: as EVENT_ID_SIZE_MAX */
    SUGGEST_COUNT = 8,            /* lines, unless the request says */
    SUGGEST_COUNT_MAX = 20,
    SUGGEST_CATEGORY_COUNT = 5,
    SUGGEST_WORD_COUNT = 64,   /* that the last one may become, the most frequent: a list each */
    SUGGEST_SYNONYM_COUNT = 3, /* of what a word stands for, tried where it does not go on itself */
    SUGGEST_TITLE_COUNT = 100, /* titles that are read: a millisecond */
    SUGGEST_CANDIDATE_COUNT_MAX = 1024, /* beginnings, one to three words, of those titles */
    SIMILAR_COUNT = 10,                 /* offers, unless the request says */
    SIMILAR_COUNT_MAX = 50,
    SIMILAR_RERANK_COUNT = 200,         /* of the most alike, whose price is looked at */
    PAGES_OFFER_COUNT = 200,            /* of a seller's page */
    PAGES_SITEMAP_COUNT = 1000,         /* the newest: a crawler comes again, and follows links */
    SEARCH_SNIPPET_NAME_COUNT_MAX = 20, /* names of snippets: as GetSnippets takes */
    SEARCH_SNIPPET_KEY_COUNT_MAX = 20,  /* further keys of a page */
    SEARCH_SNIPPET_KEY_SIZE_MAX =
        300,                         /* as SNIPPET_KEY_SIZE_MAX: a longer one would fail them all */
    SYNONYM_FILE_SIZE_MAX = 1 << 20, /* of one language: some 20 000 lines */
    SYNONYM_RULE_COUNT_MAX = 10000,  /* lines of a file that are rules */
    SYNONYM_TERM_COUNT_MAX = 16,     /* terms on one side of a rule */
    SYNONYM_TERM_SIZE_MAX = 100,     /* bytes of one */
    SYNONYM_WORD_COUNT_MAX = 4,      /* words of one: so many are looked up together */
    SYNONYM_OTHER_COUNT_MAX = 32,    /* that one term finds, too: as QUERY_TEXT_ALSO_COUNT_MAX */
    SYNONYM_USE_COUNT_MAX = 8,       /* places of one line that are expanded */
    SYNONYM_FAULT_COUNT_MAX = 100,   /* faults of a file that are told at once */
    SYNONYM_LANGUAGE_COUNT_MAX = 16, /* files in force */
    SYNONYM_LANGUAGE_SIZE_MAX = 3,   /* letters of a language, as ISO 639 has them */
    SYNONYM_REFRESH_MS = 1000,       /* how soon a change is in force in other processes */
    SYNONYM_PAIR_COUNT_MAX = 5000,   /* pairs of retyped queries that are looked at */
    SYNONYM_PROPOSAL_COUNT = 50,     /* told, unless the request says */
    SYNONYM_PROPOSAL_COUNT_MAX = 500,
    SYNONYM_PROPOSAL_VISIT_MIN = 3, /* visits that did so: fewer may be one person */
    SYNONYM_EXAMPLE_COUNT = 3,      /* of a proposal */
    SPELL_LEARNT_COUNT = 1 << 20,   /* texts known to be learnt: 32 MB with those before them */
    SPELL_READ_COUNT = 500,         /* records of one read */
    SPELL_IDLE_MS = 200,            /* how soon a new title is looked for */
    SPELL_RETRY_MS = 2000,          /* after a fault of the topic or the disk */
    SPELL_SAVE_S = 60,              /* what a crash may have to learn again */
    SPELL_RECOUNT_S = 6 * 3600,     /* words of offers that are gone are known for so long */
    SPELL_RECOUNT_WAIT_S = 600, /* after a start: an index that is being filled is not counted */
};

#endif
