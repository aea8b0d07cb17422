/* SPDX-License-Identifier: Apache-2.0 */
/* queue.c - appending to a lane: see queue.h. */
#include "registry/queue.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>

#include "store/sequence.h"

enum { SEQUENCE_NAME_SIZE = 80 };

int queue_append(struct store_tx *tx, int64_t client_id, enum lane lane, uint32_t shard,
                 struct queue_element *elements, size_t count, struct err *err)
{
    char name[SEQUENCE_NAME_SIZE];
    int64_t first;
    int rc;

    assert(count > 0);
    snprintf(name, sizeof(name), "registry/%" PRId64 "/%d/%" PRIu32, client_id, (int)lane, shard);
    rc = store_next_seq(tx, name, (int64_t)count, &first, err);
    for (size_t i = 0; i < count && !rc; i++) {
        struct queue_element *element = &elements[i];
        const struct store_value params[] = {STORE_V_INT(client_id),
                                             STORE_V_INT(lane),
                                             STORE_V_INT(shard),
                                             STORE_V_INT(first + (int64_t)i),
                                             STORE_V_TEXT(element->pk),
                                             STORE_V_INT(element->order.epoch),
                                             STORE_V_INT(element->order.version),
                                             STORE_V_INT(element->order.modify_us),
                                             STORE_V_INT(element->put_us)};

        element->idx = first + (int64_t)i;
        rc = store_exec(tx,
                        "INSERT INTO registry_queue (client_id, lane, shard, idx, pk, epoch, "
                        "version, modify_us, put_us) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)",
                        params, 9, NULL, err);
    }
    return rc;
}
