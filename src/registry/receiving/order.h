/* SPDX-License-Identifier: Apache-2.0 */
/*
 * order.h - which of two writes of a document is newer: by epoch, version, moment, in this order
 * (last writer wins, by versions that writers give).
 */
#ifndef TORG_REGISTRY_RECEIVING_ORDER_H
#define TORG_REGISTRY_RECEIVING_ORDER_H

#include <stdint.h>

struct order {
    int64_t epoch;
    int64_t version;
    int64_t modify_us;
};

/* Below zero: a is older; 0: the same; above: a is newer. */
static inline int order_compare(const struct order *a, const struct order *b)
{
    if (a->epoch != b->epoch)
        return a->epoch < b->epoch ? -1 : 1;
    if (a->version != b->version)
        return a->version < b->version ? -1 : 1;
    return (a->modify_us > b->modify_us) - (a->modify_us < b->modify_us);
}

#endif
