/* SPDX-License-Identifier: Apache-2.0 */
/*
 * id_sort.h - sorts ids, each together with the place it had before (radix sort).
 *
 * What changed last (a buffer's postings, a set's additions) stands in the order it came in, and
 * queries want it by id: some thousand entries each time, too many to compare one by one.
 */
#ifndef TORG_INDEX_POSTINGS_ID_SORT_H
#define TORG_INDEX_POSTINGS_ID_SORT_H

#include <stddef.h>
#include <stdint.h>

#include "index/postings/window.h"

struct id_place {
    docid id;
    uint32_t place;
};

/* By id; entries of the same id stay in their order. spare has room for as many. */
void id_sort(struct id_place *list, struct id_place *spare, size_t count);

#endif
