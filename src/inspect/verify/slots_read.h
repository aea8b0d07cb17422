/* SPDX-License-Identifier: Apache-2.0 */
/* slots_read.h - numbers of a shard with the rows of their keys, as of one moment; for
 * verify*.c. */
#ifndef TORG_INSPECT_VERIFY_SLOTS_READ_H
#define TORG_INSPECT_VERIFY_SLOTS_READ_H

#include "inspect/verify/verify_parts.h"
#include "numerator/numerator.h"

struct slot_read {
    uint32_t doc_id;
    uint32_t found_id; /* what a look-up of the key gives */
    int64_t gone_us;
    uint32_t birth;
    bool is_free; /* it is on the list of free numbers as well */
    struct bytes key;
    struct bytes class;
    struct row row; /* status 0: there is none */
};

struct slots_read {
    const struct verifying *verifying;
    uint32_t from;
    uint32_t max;
    bool is_whole;           /* with found_id and is_free, which cost as much as all others */
    struct slot_read *slots; /* in order of doc_id */
    uint32_t count;
};

/* Fills slots: at most max from `from` on; memory of the step's arena. */
int slots_read(struct slots_read *read, struct err *err);
/* NULL: it is not among them. */
const struct slot_read *slots_read_find(const struct slots_read *read, uint32_t doc_id);

#endif
