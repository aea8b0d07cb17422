/* SPDX-License-Identifier: Apache-2.0 */
/* bounds.h - the bounds of numerator/, each with its reason; docs/limits.md has those of all. */
#ifndef TORG_NUMERATOR_BOUNDS_H
#define TORG_NUMERATOR_BOUNDS_H

enum {
    NUMBER_EXTENT_SIZE = 4096,      /* numbers of a placement class that lie together: a window */
    NUMBER_CLASS_COUNT_MAX = 256,   /* of a shard: each may leave most of an extent empty */
    NUMBER_CLASS_SIZE_MAX = 64,     /* bytes of a class's name: what documents may say */
    NUMBER_KEY_SIZE_MAX = 1024,     /* bytes: four parts of a pk's size, and some */
    NUMBER_ID_END = 1 << 30,        /* numbers of a shard: the index has columns by position */
    NUMBER_SHARD_COUNT_MAX = 4096,  /* of a collection; a topic has 256 partitions */
    NUMBER_STATE_KEY_MAX = 1 << 30, /* keys of one state */
    NUMBER_BLOCK_SIZE = 256 << 10,  /* of a state's file: what one checksum covers */
    NUMBER_PIECE_SIZE = 1 << 20,    /* of files of a batch: one read or write */
    NUMBER_ROW_SIZE_MAX = 64 << 10, /* of a table of a batch: a key and what else is beside it */
    NUMBER_COLUMN_COUNT_MAX = 1000, /* of a table of a batch */
    NUMBER_CLUSTER_SIZE_MAX = 64,   /* of a master's cluster: as members of coord/ */
    NUMBER_NUMBERING_SIZE_MAX = 48, /* of a numbering's name: a key of coord/ with its prefix */
    NUMBER_PLACE_SIZE_MAX = 512,    /* of a state's name in a store: as blob/ has them */
    NUMBER_LOAD_COUNT = 4000,       /* rows of one read when what is free, or keys, are loaded */
    NUMBER_KNOWN_COUNT_MAX = 64 << 20, /* keys that an owner learns of a shard: 1 GB of memory */
    NUMBER_RANK_COUNT_MAX =
        64 << 20, /* keys of a shard that are numbered by rank: 1 GB of memory */
    NUMBER_COLUMN_ROW_COUNT_MAX = 4096, /* columns from outside that a searcher follows, of all */

    /* ---- the pipeline ---- */
    NUMBER_COUNT_MAX = 100000, /* numbers counted for those who look: some milliseconds */
};

#endif
