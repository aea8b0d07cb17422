/* SPDX-License-Identifier: Apache-2.0 */
/* bounds.h - the bounds of clicks/, each with its reason; docs/limits.md has those of all. */
#ifndef TORG_CLICKS_BOUNDS_H
#define TORG_CLICKS_BOUNDS_H

enum {
    EVENT_COUNT_MAX = 100,         /* of a call: a page of shows */
    EVENT_ID_SIZE_MAX = 64,        /* ids, sessions, queries: random names */
    EVENT_POSITION_MAX = 10000,    /* as far as a list goes by offsets */
    EVENT_SESSION_COUNT_MAX = 600, /* of a session in an hour: ten a minute, no person looks more */
    EVENT_ADDRESS_COUNT_MAX = 20000, /* of an address in an hour, whatever it calls its sessions: an
                                        office has fewer */
    EVENT_WORKER_COUNT = 4,          /* records of the topic that are counted at once */
    RETYPED_TEXT_SIZE_MAX = 200,     /* of a query that was retyped: a line, not a page */
    RETYPED_HOURS = 90 * 24,         /* how long one is kept after it was seen last */
    RETYPED_COUNT_MAX = 100000,      /* pairs that are kept, the newest: 20 MB */
    CLICK_TEXT_DAYS = 30,            /* how long it is kept what was clicked after a text */
    CLICK_TEXT_COUNT_MAX = 100000,   /* rows of it, the newest: 10 MB */
    CLICK_TEXT_MARK_COUNT = 63,      /* of persons: few, so that one tells nobody, yet three
                                        persons have three in 19 of 20 cases */
    EXPERIMENT_PART_COUNT = 16,      /* rows of a side's counts: so many visits write at once */
    EXPERIMENT_LISTED_COUNT = 20,    /* experiments that are told, the newest */
    RATE_WINDOW_HOURS = 7 * 24,      /* what a rate is of, and how long counts are kept */
    RATE_PRIOR_LOOKS = 20,     /* how much the category's rate weighs against the offer's own */
    RATE_APPEAL_MAX = 100,     /* times the category's rate: more says no more */
    HOUR_TABLES_OF_ROUND = 24, /* written, and removed, in a minute: after an outage */
    HOUR_TABLE_KEEP_HOURS = 90 * 24, /* how long a table stays */
    HOUR_TABLE_WAIT_HOURS = 30 * 24, /* how long counts wait for their table to be written */
    RATE_TABLE_ADD_COUNT = 1000,     /* rows of a call */
    RATE_TABLE_ROW_COUNT_MAX = 50 * 1000 * 1000, /* of a table: some 5 GB in the store */
    RATE_TABLE_PUSH_COUNT_MAX = 4,               /* tables that are loaded at once */
    RATE_TABLE_IDLE_S = 3600,                    /* a load that nobody goes on with is given up */
    RATE_TABLE_STILL_S = 60, /* so long alone, one gives way to another of the same caller */
    RATE_TABLE_CATEGORY_COUNT_MAX = 20000,      /* of a table, as of a catalogue: held in memory */
    RATE_TABLE_CATEGORY_SIZE_MAX = 100,         /* of an id: longer than any catalogue's */
    RATE_TABLE_CLICKS_MAX = 1000 * 1000 * 1000, /* of an offer: sums of them stay numbers */
    RATE_TABLE_PAUSE_MS = 1000,  /* between rounds that send a table: other documents come first */
    RATER_PERIOD_MS = 60 * 1000, /* how often changed rates are sent */
    RATER_BATCH_COUNT = 500,     /* offers that are sent together */
    RATER_ROUND_COUNT = 20, /* such batches of a round, which reads counts of categories once */
};

#endif
