/* SPDX-License-Identifier: Apache-2.0 */
/*
 * key_table.h - keys and their numbers in memory: which number has this key, in some 25 ns and 13
 * to 15 bytes, however long keys are.
 *
 * A key itself is not kept, but its hash by a secret: 32 bits choose a leaf, 64 more tell the
 * entries within it from one another.
 *
 *     leaf   where each of 54 parts of its entries ends, -> more     a cache line
 *     own    the first 134 entries of each leaf, leaf after leaf      in huge pages
 *     more   those behind them, some ten                              of the heap
 *     entry  [ hash u64 | doc_id, is_gone u32 ]                       12 bytes, by parts, no gaps
 *
 * So a look reads the line of the leaf, and one or two lines of some three entries. With pages of
 * 4 KB it would miss the TLB as often as the caches. A leaf is for some 144 keys;
 * key_table_is_crowded tells that the table should be made anew, for more.
 *
 * Keys that are there are told from one another exactly: one that looks like another is refused
 * (key_table_add), and its table is made anew, with another secret. A key that is not there is
 * taken for one of its leaf once in 2^64 / 144, some 10^-17: of ten million keys that never came
 * before, one is with a chance of 10^-10. Without the secret nobody can look for such a key.
 *
 * What was changed is kept until key_table_commit, or taken back by key_table_rollback. Threads:
 * one.
 */
#ifndef TORG_NUMERATOR_KEY_TABLE_H
#define TORG_NUMERATOR_KEY_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "numerator/numerator.h"

struct key_table;

struct key_table *key_table_new(uint64_t expected_count);
void key_table_free(struct key_table *table); /* NULL is fine */
uint64_t key_table_count(const struct key_table *table);
size_t key_table_size(const struct key_table *table); /* bytes of memory */
bool key_table_is_crowded(const struct key_table *table);

/* Answers doc_id (NUMBER_NONE: it is not there), birth and is_gone of each. */
void key_table_find(const struct key_table *table, struct number_ask *asks, uint32_t count);

/* false: one that looks the same is there, or its leaf is full: nothing was done, and the table is
 * to be made anew. */
bool key_table_add(struct key_table *table, struct bytes key, uint32_t doc_id, uint32_t birth,
                   bool is_gone);
/* Keys that are not there are passed. */
void key_table_mark(struct key_table *table, struct bytes key, bool is_gone);
void key_table_remove(struct key_table *table, struct bytes key);

void key_table_commit(struct key_table *table);
void key_table_rollback(struct key_table *table);

#endif
