/* SPDX-License-Identifier: Apache-2.0 */
/*
 * learnt.h - was this learnt before? A memory of hashes that is bounded: the newest
 * SPELL_LEARNT_COUNT at least, at most twice as many.
 *
 * Two tables: the one being filled, and the one filled before it. A full one takes the other's
 * place, whose hashes are forgotten; one that is met again moves to the newer table, so what is
 * still spoken of stays.
 */
#ifndef TORG_SEARCH_LEARNING_LEARNT_H
#define TORG_SEARCH_LEARNING_LEARNT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/bytes.h"

struct hash_table {
    uint64_t *slots; /* owned; 0: empty */
    unsigned bits;
    uint32_t count;
};

struct learnt {
    struct hash_table newer, older;
};

void learnt_init(struct learnt *learnt);
void learnt_release(struct learnt *learnt);

/* False: it is there already. */
bool learnt_add(struct learnt *learnt, uint64_t hash);
void learnt_remove(struct learnt *learnt, uint64_t hash); /* as if it had never been added */

/* As bytes: count | hashes, le64, of the older table, then of the newer. */
void learnt_put(const struct learnt *learnt, struct buf *out);
bool learnt_take(struct learnt *learnt, struct bytes *in); /* false: they are not its bytes */

#endif
