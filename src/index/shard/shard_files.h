/* SPDX-License-Identifier: Apache-2.0 */
/* shard_files.h - a shard and its directory: what is loaded at open, what a checkpoint writes. */
#ifndef TORG_INDEX_SHARD_SHARD_FILES_H
#define TORG_INDEX_SHARD_SHARD_FILES_H

#include "index/shard/shard_manifest.h"
#include "index/shard/shard_parts.h"

enum { SHARD_PATH_SIZE = 4096 };

void shard_path(const struct shard *shard, const char *name, uint64_t number,
                char path[SHARD_PATH_SIZE]); /* DIR/name-number */

/* The directory is made or read, and locked. No reader, no thread yet. */
int shard_load(struct shard *shard, struct err *err);

/* Under work: writes a checkpoint. */
int shard_save(struct shard *shard, struct err *err);

/* ---- shard_live_file.c ---- */

/* The dead of the segments, in the order of the manifest, as a file; inside an epoch. */
int live_file_write(const char *path, const struct live *const *lives,
                    const struct text_segment *const *segments, uint32_t count, uint64_t *size,
                    uint64_t *hash, struct err *err);
/* Puts them into writers that were born with all alive. */
int live_file_read(const char *path, uint64_t size, uint64_t hash,
                   struct live_writer *const *writers, uint32_t count, struct err *err);

#endif
