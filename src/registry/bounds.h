/* SPDX-License-Identifier: Apache-2.0 */
/* bounds.h - the bounds of registry/, each with its reason; docs/limits.md has those of all. */
#ifndef TORG_REGISTRY_BOUNDS_H
#define TORG_REGISTRY_BOUNDS_H

enum {
    /* ---- clients ---- */
    CLIENT_NAME_SIZE_MAX = 40,     /* part of names of topics and sets */
    CLIENT_COUNT_MAX = 256,        /* the map of all of them is one register of coord */
    CLIENT_REFRESH_MS = 1000,      /* a view is looked at again; writes confirm theirs anyway */
    COLUMN_PLACE_SIZE_MAX = 60,    /* of the last part of a place of columns in the blob store */
    COLUMN_SWEEP_COUNT = 1000,     /* files of a column that are looked at by a load or a drop */
    COLUMN_LEFTOVER_S = 24 * 3600, /* files that no column has, and that no load waits for */

    /* ---- documents ---- */
    DOCUMENT_BATCH_COUNT_MAX = 1000,   /* one transaction */
    DOCUMENT_PK_SIZE_MAX = 200,        /* part of keys and of hits */
    DOCUMENT_CLASS_SIZE_MAX = 64,      /* of placement: a category's id */
    DOCUMENT_SCHEMA_COUNT_MAX = 8000,  /* fields of an epoch; the index has some of its own */
    DOCUMENT_TEXT_FIELD_COUNT_MAX = 4, /* a shard keeps lengths of so many */
    DOCUMENT_WEIGHT_MAX = 1000,        /* of a text's words: sums of scores stay finite */
    DOCUMENT_ATTEMPT_COUNT_MAX = 20,   /* a batch outrun this often by changes of the schema */
    DOCUMENT_PACK_SIZE_MIN = 64,       /* smaller ones gain nothing, even with a dictionary */
    SIDE_CHANGE_COUNT_MAX = 16,        /* side fields of one change */
    SIDE_SIZE_MAX = 4 << 10,           /* side fields of a document: some fifty numbers */
    SIDE_ELEMENT_SIZE = 64 << 10,      /* changes in one element of the queue, about */
    INTAKE_GATE_COUNT = 8,          /* clients are spread over so many, each has one transaction */
    INTAKE_COUNT_MAX = 1000,        /* documents of calls that are decided on together */
    SWEEP_CHUNK_COUNT = 200,        /* ends of documents in one transaction: 5 ms of the writer */
    SWEEP_PERIOD_MS = 1000,         /* how late an end is seen */
    SWEEP_DELAY_S = 3600,           /* a tombstone that is still needed is looked at again after */
    SWEEP_ANNOUNCE_COUNT = 30,      /* rounds after which the clients are announced once more */
    DICTIONARY_SIZE_MAX = 16 << 10, /* stays in cache; more packs no better */
    DICTIONARY_SAMPLE_SIZE = 512 << 10, /* of documents it is trained with: thirty times it */
    DICTIONARY_SAMPLE_COUNT_MAX = 4096, /* and how many at most */
    DICTIONARY_COLLECTING_MAX = 16,     /* clients whose samples are held at a time */

    /* ---- plain JSON and CSV ---- */
    PLAIN_COLUMN_COUNT_MAX = 500,     /* names in one request; an epoch has room for 8 000 */
    PLAIN_CELL_SIZE_MAX = 128 << 10,  /* of CSV: as of a text */
    PLAIN_DEPTH_MAX = 4,              /* objects in each other whose members are fields: a.b.c.d */
    PLAIN_DOCUMENT_COUNT_MAX = 20000, /* of one request: some twenty transactions */
    PLAIN_PROBLEM_COUNT_MAX = 100,    /* told; all are counted */
    PLAIN_LONG_TEXT_SIZE = 60,        /* a longer string is text, not a value to choose ... */
    PLAIN_LONG_TEXT_WORDS = 4,        /* ... and so is one of so many words */
    PLAIN_SCALE = 4,                  /* digits of decimals unless more are seen */

    /* ---- the indexer ---- */
    INDEXER_BATCH_COUNT = 1000,       /* elements of one round, all lanes */
    INDEXER_BATCH_SIZE = 8 << 20,     /* their documents as they are kept, packed */
    INDEXER_BATCH_MEMORY = 64 << 20,  /* and unpacked, converted */
    INDEXER_CHANGE_COUNT = 5000,      /* changes of side fields in a round, about */
    INDEXER_SEND_SIZE = 8 << 20,      /* of one produce: half of what a topic takes */
    INDEXER_FAILED_COUNT = 100,       /* elements of a round that failed before */
    INDEXER_MAIN_COUNT_MIN = 100,     /* main's part of a full round, whatever the weights */
    INDEXER_BACKFILL_MS = 50,         /* a backfill's part of a round, while main has little */
    INDEXER_BACKFILL_COUNT_MIN = 20,  /* and at the least so many, or it never ends */
    INDEXER_LATE_MS = 500,            /* main is later than this: backfill waits */
    INDEXER_MARK_MS = 50,             /* how often it is noted how far main is filled ... */
    INDEXER_MARK_COUNT = 16,          /* ... and how many such notes are kept */
    INDEXER_ITEM_US = 200,            /* an element, before any was measured */
    INDEXER_PENDING_COUNT = 4000,     /* sent elements whose offsets are not moved yet ... */
    INDEXER_PENDING_MS = 200,         /* ... and for how long: what a crash sends again */
    INDEXER_TRIM_COUNT = 20000,       /* elements removed by one transaction: all that is pending */
    INDEXER_SWEEP_COUNT = 500,        /* numbers taken off dead keys by one transaction */
    INDEXER_SWEEP_MS = 10 * 1000,     /* how often they are looked for */
    INDEXER_PAUSE_MS = 5,             /* between rounds that are not full: each costs a sync */
    INDEXER_WAIT_MS_MIN = 5,          /* after a round that found nothing; doubled with each ... */
    INDEXER_WAIT_MS_MAX = 50,         /* ... up to this: how late writers elsewhere are seen */
    INDEXER_ALONE_MS_MAX = 1000,      /* at once this where all writers ring: retries, pours */
    INDEXER_RETRY_MS_MAX = 2000,      /* the same after failures */
    INDEXER_KEEPING_MS = 200,         /* new clients, shards gained and lost */
    INDEXER_LAG_MS = 1000,            /* how often the lag is measured */
    INDEXER_RETIRED_MS = 600 * 1000,  /* how often topics of retired epochs are looked for */
    RETIRED_NUMBER_MS = 5000,         /* how often numbers that no epoch has are looked for ... */
    RETIRED_NUMBER_COUNT = 2000,      /* ... and how many rows of a table go in one transaction */
    FAILED_PAUSE_MS_MIN = 1000,       /* before the second try; doubled with each ... */
    FAILED_PAUSE_MS_MAX = 600 * 1000, /* ... up to this */
    REFUSAL_AGAIN_MS = 60 * 1000,     /* before a document is sent again whose record no searcher
                                         could decode: one that never can be costs one a minute */
    FAILED_PAGE_COUNT = 50,           /* of one answer, unless said */
    FAILED_PAGE_COUNT_MAX = 1000,
    FAILED_REPLAY_COUNT = 1000, /* replayed by one transaction */
    POUR_COUNT = 250,           /* stored documents put into a backfill at once: some 10 ms */
    RANK_CHUNK_MAX = 500,       /* stored documents that get their numbers in one transaction */
    POUR_LANE_COUNT_MAX = 2000, /* elements of the lane; then it is waited for */
    POUR_BUSY_MS = 500,         /* main has more all the time: so often nevertheless */
    TEND_MS = 5000,             /* how often the ends of index topics are looked at ... */
    TEND_BUSY_MS = 200,         /* ... and while documents are poured again */
    POUR_SHARE = 4,             /* records of a topic for each document: then they are poured again,
                                 * which costs one in so many at the most */
    PLAN_COUNT = 5000,          /* documents checked by one call of a plan ... */
    PLAN_PAGE_COUNT = 250,      /* ... read so many at a time */
    PLAN_REASON_COUNT_MAX = 50, /* different reasons that are told */
    PLAN_SAMPLE_COUNT = 5,      /* documents named for each */
};

#endif
