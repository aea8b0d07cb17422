/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rank_list.h - in which order do stored keys get their numbers? Ranks and hashes of keys, 16 bytes
 * each, given out sorted: external merge sort's runs, kept in memory.
 *
 *   rank_list_add ── runs of RUN_COUNT, each sorted when it is full
 *   rank_list_next ◄─ a heap of the runs' heads
 *
 * So no step takes long, however many there are: who sorts has other things to do meanwhile. Ties
 * are in order of hashes, so that the order depends on ranks and keys alone. Threads: one.
 */
#ifndef TORG_NUMERATOR_RANK_LIST_H
#define TORG_NUMERATOR_RANK_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RANK_NONE UINT64_MAX /* no value: behind all that have one */

/* The value's rank, the lowest first; values are below INT64_MAX. */
uint64_t rank_of(int64_t value, bool is_ascending);

struct rank_list;

/* count_max: more are refused. */
struct rank_list *rank_list_new(size_t count_max);
void rank_list_free(struct rank_list *list); /* NULL is fine */
/* false: the list is full. Not once any has been given out. */
bool rank_list_add(struct rank_list *list, uint64_t rank, int64_t hash);
size_t rank_list_count(const struct rank_list *list); /* that were added */
/* The hashes that come next, at most max; fewer: those were the last. */
size_t rank_list_next(struct rank_list *list, int64_t *hashes, size_t max);

#endif
