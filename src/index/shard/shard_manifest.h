/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shard_manifest.h - the one file that says which others are the shard: DIR/shard.
 *
 * Written whole, synced and renamed when all that it names is durable; a kill at any moment leaves
 * the older or the newer one. Whatever it does not name is left over and removed.
 *
 *     shard            this
 *     lock             who has the directory open
 *     lexicon.log      as much of it as the manifest says
 *     segment-N        text (text_segment_format.h)
 *     live-G           which documents of the segments are dead, at generation G
 *     columns-G/       attributes (columns_checkpoint.h); state-G/: ends, places of stored fields
 *     stored-N         texts and stored fields (stored.h)
 *     dictionary-1     what their records share, once there are enough
 */
#ifndef TORG_INDEX_SHARD_SHARD_MANIFEST_H
#define TORG_INDEX_SHARD_SHARD_MANIFEST_H

#include "base/err.h"
#include "index/bounds.h"
#include "index/postings/text_segment.h"
#include "index/shard/owners.h"
#include "index/shard/stored.h"

/* What the shard's caller wants to be kept; opaque here. */
struct note {
    uint32_t size;
    uint8_t bytes[SHARD_NOTE_SIZE_MAX];
};

struct manifest_segment {
    uint64_t number;
    uint64_t size;
};

struct manifest {
    uint64_t generation; /* 0: an empty shard, nothing but this file */
    uint64_t epoch;
    uint32_t place[4];
    float average_lengths[SEGMENT_FIELD_COUNT];
    uint64_t x0, x1;  /* everything below x0 is in, of what lies between them some */
    struct note note; /* as it was at x0 */
    uint64_t lexicon_size;
    uint64_t segment_number; /* the highest ever used */
    uint64_t live_size;
    uint64_t live_hash;
    uint64_t dictionary_hash; /* 0: there is none */
    uint32_t segment_count;
    struct manifest_segment segments[OWNER_COUNT];
    uint32_t stored_count;
    struct stored_file stored[STORED_FILE_COUNT_MAX];
};

int manifest_write(const struct manifest *manifest, const char *dir, struct err *err);

/* ERR_NOT_FOUND: there is none; ERR_CORRUPT names it. */
int manifest_read(struct manifest *manifest, const char *dir, struct err *err);

/* Removes what is the shard's and not named; a failure leaves only space used. is_used: the shard
 * is open, so that there may be newer ones than the manifest knows; they stay. */
void manifest_clean(const struct manifest *manifest, const char *dir, bool is_used);

/* Whether there is no file that a manifest would name. */
bool manifest_dir_is_empty(const char *dir);

#endif
