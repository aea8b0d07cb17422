/* SPDX-License-Identifier: Apache-2.0 */
/*
 * snapshot.h - what was learnt from live data, kept in one file.
 *
 *     "torg learnt 2\n" | crc32c of the rest, le32 |
 *     size of the note | note: what whoever learns wants to know again |
 *     count of words | for each: size, letters, times it was seen |
 *     count of pairs | for each: first, second (places in the list of words), count
 *
 * Numbers are varints. The file is written whole beside its name, synced and renamed: a crash
 * leaves the old one or the new one.
 */
#ifndef TORG_SPELL_SNAPSHOT_H
#define TORG_SPELL_SNAPSHOT_H

#include "base/err.h"
#include "spell/pairs.h"
#include "spell/words.h"

int snapshot_save(const char *path, struct bytes note, const struct words *words,
                  const struct pairs *pairs, struct err *err);

/* Adds to note, words and pairs what the file has. Nothing is added unless the checksum is right:
 * ERR_CORRUPT if not, ERR_NOT_FOUND if there is no file. */
int snapshot_load(const char *path, struct buf *note, struct words *words, struct pairs *pairs,
                  struct err *err);

/* The same of a file's bytes. */
int snapshot_read(struct bytes file, struct buf *note, struct words *words, struct pairs *pairs,
                  struct err *err);

#endif
