/* SPDX-License-Identifier: Apache-2.0 */
/* queue.c - appending to a lane: see queue.h. */
#include "registry/indexing/queue.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>

#include "registry/many.h"
#include "store/sequence.h"

enum { SEQUENCE_NAME_SIZE = 80 };

static void fill_element(const void *elements, size_t place, struct store_value *own)
{
    const struct queue_element *element = &((const struct queue_element *)elements)[place];

    own[0] = STORE_V_INT(element->idx);
    own[1] = STORE_V_TEXT(element->pk);
    own[2] = STORE_V_INT(element->order.epoch);
    own[3] = STORE_V_INT(element->order.version);
    own[4] = STORE_V_INT(element->order.modify_us);
    own[5] = STORE_V_INT(element->put_us);
    own[6] = element->fields.size ? STORE_V_BLOB(element->fields) : STORE_V_NULL;
}

static struct many append_many = {
    .head = "INSERT INTO registry_queue (client_id, lane, shard, idx, pk, epoch, version, "
            "modify_us, put_us, fields) VALUES ",
    .row = "($1, $2, $3, ?, ?, ?, ?, ?, ?, ?)",
    .tail = "",
    .shared_count = 3,
    .own_count = 7,
};

int queue_append(struct store_tx *tx, int64_t client_id, enum lane lane, uint32_t shard,
                 struct queue_element *elements, size_t count, struct err *err)
{
    const struct store_value shared[] = {STORE_V_INT(client_id), STORE_V_INT(lane),
                                         STORE_V_INT(shard)};
    char name[SEQUENCE_NAME_SIZE];
    int64_t first;
    int rc;

    assert(count > 0);
    snprintf(name, sizeof(name), "registry/%" PRId64 "/%d/%" PRIu32, client_id, (int)lane, shard);
    rc = store_next_seq(tx, name, (int64_t)count, &first, err);
    for (size_t i = 0; i < count && !rc; i++)
        elements[i].idx = first + (int64_t)i;
    return rc ? rc : many_exec(tx, &append_many, shared, elements, count, fill_element, err);
}
