/* SPDX-License-Identifier: Apache-2.0 */
/* slots_read.c - see slots_read.h. */
#include "inspect/verify/slots_read.h"

#include <assert.h>

static int find_keys(struct store_tx *tx, struct slots_read *read, struct err *err)
{
    const struct verifying *verifying = read->verifying;
    struct bytes *pks = arena_array(verifying->arena, read->count + 1, sizeof(*pks));
    struct row *rows = arena_array(verifying->arena, read->count + 1, sizeof(*rows));
    struct number_ask *asks = arena_array(verifying->arena, read->count + 1, sizeof(*asks));
    uint32_t count = read->count;
    int rc;

    for (uint32_t i = 0; i < count; i++)
        pks[i] = asks[i].key = read->slots[i].key;
    if (!count)
        return 0;
    rc = rows_find(tx, verifying->client->id, pks, count, false, verifying->arena, rows, err);
    if (!rc && read->is_whole)
        rc =
            numbers_find(tx, verifying->numbering.space, verifying->check->shard, asks, count, err);
    for (uint32_t i = 0; i < count && !rc; i++) {
        read->slots[i].row = rows[i];
        read->slots[i].found_id = read->is_whole ? asks[i].doc_id : NUMBER_NONE;
    }
    return rc;
}

/* The signs before space and shard: numbers are read in their order by the index that begins with
 * them, and not all of the shard to be sorted. */
static int read_slots(struct store_tx *tx, void *arg, struct err *err)
{
    struct slots_read *read = arg;
    struct store_rows rows = store_select(
        tx,
        read->is_whole ? "SELECT doc_id, key, class, gone_us, birth_generation, "
                         "(SELECT COUNT(*) FROM number_free f WHERE f.space = $1 AND f.shard = $2 "
                         "AND f.doc_id = s.doc_id) "
                         "FROM number_slot s WHERE doc_id >= $3 AND +space = $1 AND +shard = $2 "
                         "ORDER BY doc_id LIMIT $4"
                       : "SELECT doc_id, key, class, gone_us, birth_generation, 0 FROM number_slot "
                         "WHERE doc_id >= $3 AND +space = $1 AND +shard = $2 "
                         "ORDER BY doc_id LIMIT $4",
        STORE_WITH(STORE_V_INT(read->verifying->numbering.space),
                   STORE_V_INT(read->verifying->check->shard), STORE_V_INT(read->from),
                   STORE_V_INT(read->max)));
    int rc;

    for (read->count = 0; store_next(&rows); read->count++) { /* it may be run again */
        assert(read->count < read->max);
        read->slots[read->count] = (struct slot_read){
            .doc_id = (uint32_t)rows.columns[0].integer,
            .found_id = NUMBER_NONE,
            .key = arena_copy(read->verifying->arena, rows.columns[1].bytes),
            .class = arena_copy(read->verifying->arena, rows.columns[2].bytes),
            .gone_us = rows.columns[3].integer,
            .birth = (uint32_t)rows.columns[4].integer,
            .is_free = rows.columns[5].integer != 0,
        };
    }
    rc = store_rows_end(&rows, err);
    return rc ? rc : find_keys(tx, read, err);
}

int slots_read(struct slots_read *read, struct err *err)
{
    read->slots = arena_array(read->verifying->arena, read->max + 1, sizeof(*read->slots));
    return store_read(read->verifying->inspect->store, read_slots, read, err);
}

const struct slot_read *slots_read_find(const struct slots_read *read, uint32_t doc_id)
{
    uint32_t low = 0;
    uint32_t high = read->count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (read->slots[middle].doc_id < doc_id)
            low = middle + 1;
        else
            high = middle;
    }
    return low < read->count && read->slots[low].doc_id == doc_id ? &read->slots[low] : NULL;
}
