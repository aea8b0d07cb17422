/* SPDX-License-Identifier: Apache-2.0 */
/* bounds.h - the bounds of index/, each with its reason; docs/limits.md has those of all. */
#ifndef TORG_INDEX_BOUNDS_H
#define TORG_INDEX_BOUNDS_H

enum {
    /* ---- postings ---- */
    TEXT_SEGMENT_SIZE_MB_MAX = 32 << 10,  /* places of blocks are u32 in steps of 8 bytes */
    TEXT_BUFFER_DOC_COUNT_MAX = 32 << 10, /* versions in a buffer; then it is frozen to an image */
    TEXT_MERGE_INPUT_COUNT_MAX = 64,      /* segments of one merge; eight are usual */

    /* ---- attributes ---- */
    EPOCH_SLOT_COUNT_MAX = 256,    /* reader threads; every reclaim looks at all of them */
    SCHEMA_FIELD_COUNT_MAX = 8192, /* 3 KB each; a column that documents have: some 10 KB more */
    SCHEMA_NAME_SIZE_MAX = 100,    /* told in errors and facets */
    SCHEMA_SIZE_MAX = 1 << 20,     /* encoded */
    KEYWORD_SIZE_MAX = 1024,       /* of one value in bytes; longer is text */
    KEYWORD_COUNT_SHIFT = 24,      /* of the next: */
    KEYWORD_COUNT_MAX = 1 << KEYWORD_COUNT_SHIFT, /* distinct values of an attribute on a shard, 80
                                                     bytes each or so: a runaway one is refused */
    KEYWORD_COUNT_BEFORE = 1 << 16,  /* what was meant by saying nothing, until it proved too few */
    KEYWORD_MASK_COUNT_MAX = 62,     /* multiple values up to this many: bits of one number */
    KEYWORD_VALUES_MAX = 64,         /* values one document may have of one attribute */
    STORED_VALUE_COUNT_MAX = 512,    /* texts and stored fields of a document, which has 250 */
    COLUMN_SET_COUNT_MAX = 4,        /* indexes over one column: value set, buckets, 3 cells */
    OUTSIDE_COLUMN_COUNT_MAX = 32,   /* columns from outside of a client: each put looks at all */
    OUTSIDE_NAME_SIZE_MAX = 40,      /* of a column's name, without the x. before it */
    OUTSIDE_NAME_COUNT_MAX = 1024,   /* their names, in the life of an open shard: none is reused */
    OUTSIDE_FILE_SIZE_MAX = 1 << 30, /* of a shard's part, as of a blob: 256 million of 4 bytes */

    /* ---- text ---- */
    TOKEN_SIZE_MAX = 96,                 /* 48 Cyrillic letters; longer words are cut to it */
    PIECE_COUNT_MAX = 64 << 10,          /* of one text: an offer has 100 KB in all */
    TOKEN_COUNT_MAX = 64 << 10,          /* what follows is not indexed; the caller is told */
    ANALYSIS_TEXT_SIZE_MAX = 1 << 20,    /* likewise */
    LEXICON_FORM_COUNT_MAX = 64 << 20,   /* about 3 GB; fifty million offers have seven million */
    LEXICON_TERM_FORM_COUNT_MAX = 65535, /* a form number has 16 bits; endings are some hundreds */
    LEXICON_FRAME_SIZE_MAX = 4 << 20,    /* one checksum of lexicon.log; held while it is read */
    LEXICON_TAIL_COUNT_MAX = 4096,       /* unsorted forms a lookup may scan before a new sort */
    LEXICON_EXPAND_COUNT_MAX = 1024,     /* terms of one prefix or fuzzy word: each is a list */

    /* ---- shard ---- */
    SHARD_SEGMENT_COUNT_MAX = 40,  /* parts of a snapshot; then applying waits for merges */
    SHARD_MERGE_COUNT = 8,         /* segments of about one size are merged into one */
    SHARD_MERGE_WINDOW_COUNT = 64, /* owners rewritten in one step: 0.2 ms */
    SHARD_WAIT_MS_MAX = 60 * 1000, /* applying waits this long for merges, then fails */
    SHARD_CHECKPOINT_CHANGE_COUNT = 250 * 1000, /* some seconds of replay */
    SHARD_NOTE_SIZE_MAX = 256,             /* of the caller: a ticket, places in some workers */
    SHARD_LIVE_SIZE_MAX = 1 << 30,         /* of one checkpoint: a bit per document and segment */
    SHARD_PENDING_COUNT_MAX = 1 << 16,     /* documents replaced by one publication: 8 MB or so */
    SHARD_PENDING_SIZE_KEPT_MAX = 1 << 20, /* of their values, from one batch to the next */
    SHARD_HOLD_MS_MAX = 200,               /* a publication waits for queries that run once more */
    SHARD_HOLD_WAIT_MS_MAX = 500,          /* such a query waits for a publication that is due */
    STORED_CHUNK_SIZE = 1 << 20,           /* written at once; no record lies across two */
    STORED_FILE_SIZE = 64 << 20,           /* half of one dead: it is written anew */
    STORED_FILE_COUNT_MAX = 4096,          /* 256 GB */
    STORED_RECORD_SIZE_MAX = 768 << 10,    /* texts and stored fields of one document */
    STORED_DICTIONARY_SIZE = 16 << 10,     /* stays in cache; four times more packs no better */
    STORED_SAMPLE_SIZE = 2 << 20,          /* of records a dictionary is trained with */
    STORED_PACK_SIZE_MIN = 256,            /* smaller records are kept as they are */
};

#endif
