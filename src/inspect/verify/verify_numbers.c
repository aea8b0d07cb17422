/* SPDX-License-Identifier: Apache-2.0 */
/* verify_numbers.c - the check NUMBERS: each has one key, in its shard, in its class's extent. */
#include <inttypes.h>

#include "inspect/bounds.h"
#include "inspect/verify/slots_read.h"
#include "numerator/bounds.h"

struct extent {
    int64_t first_id; /* -1: none begins at or below */
    int64_t next_id;
    struct bytes class;
};

static int find_extent(const struct verifying *verifying, uint32_t doc_id, struct extent *extent,
                       struct err *err)
{
    struct store_rows rows =
        store_read_rows(verifying->inspect->store,
                        "SELECT first_id, class, next_id FROM number_extent WHERE space = $1 "
                        "AND shard = $2 AND first_id <= $3 ORDER BY first_id DESC LIMIT 1",
                        STORE_WITH(STORE_V_INT(verifying->numbering.space),
                                   STORE_V_INT(verifying->check->shard), STORE_V_INT(doc_id)));

    extent->first_id = -1;
    if (store_next(&rows))
        *extent = (struct extent){.first_id = rows.columns[0].integer,
                                  .class = arena_copy(verifying->arena, rows.columns[1].bytes),
                                  .next_id = rows.columns[2].integer};
    return store_rows_end(&rows, err);
}

static void look_at(const struct verifying *verifying, const struct slot_read *slot,
                    const struct extent *extent, struct suspect *suspect)
{
    if (extent->first_id < 0 || slot->doc_id >= extent->first_id + NUMBER_EXTENT_SIZE)
        suspect_tell(suspect, "the number is in no extent");
    else if (!bytes_equal(extent->class, slot->class))
        suspect_tell(suspect, "the number is of class \"%.*s\", its extent of \"%.*s\"",
                     BYTES_ARG(slot->class), BYTES_ARG(extent->class));
    else if (slot->doc_id >= extent->next_id)
        suspect_tell(suspect, "the number is one that was not given yet");
    if (slot->is_free)
        suspect_tell(suspect, "the number is also on the list of free ones");
    if (number_key_shard(number_key_hash(slot->key), verifying->numbering.scheme) !=
        verifying->check->shard)
        suspect_tell(suspect, "its key belongs to another shard");
    if (slot->found_id != slot->doc_id)
        suspect_tell(suspect, "its key has another number, %" PRIu32, slot->found_id);
    if (slot->gone_us == 0 && slot->row.status != ROW_ALIVE)
        suspect_tell(suspect, "the numerator has it as living, the registry %s",
                     slot->row.status ? "as deleted" : "does not know it");
    if (slot->gone_us != 0 && slot->row.status == ROW_ALIVE)
        suspect_tell(suspect, "the numerator has it as gone, the registry as living");
}

static int numbers_page(struct verifying *verifying, struct err *err)
{
    struct slots_read read = {.verifying = verifying, .max = VERIFY_ROW_COUNT, .is_whole = true};
    struct cursor cursor;
    int rc = cursor_parse(verifying, &cursor, err);

    read.from = (uint32_t)cursor.a;
    if (!rc)
        rc = slots_read(&read, err);
    if (rc)
        return rc;
    for (uint32_t i = 0; i < read.count; i++)
        suspect_add(verifying, read.slots[i].key, read.slots[i].doc_id);
    verifying->checked_count = read.count;
    if (read.count == read.max)
        cursor_next(verifying, (int64_t)read.slots[read.count - 1].doc_id + 1, 0, BYTES_EMPTY);
    return 0;
}

/* The slot among those read, or read by itself where new numbers have come between. */
static int find_slot(const struct slots_read *all, uint32_t doc_id, struct slots_read *one,
                     const struct slot_read **slot, struct err *err)
{
    int rc = 0;

    *slot = slots_read_find(all, doc_id);
    if (!*slot) {
        *one = (struct slots_read){
            .verifying = all->verifying, .from = doc_id, .max = 1, .is_whole = true};
        rc = slots_read(one, err);
        *slot = rc ? NULL : slots_read_find(one, doc_id);
    }
    return rc;
}

/* Extents are long: most numbers are in that of the one before. */
static int numbers_look(struct verifying *verifying, struct err *err)
{
    struct slots_read read = {.verifying = verifying,
                              .from = verifying->suspects[0].doc_id,
                              .max = VERIFY_ROW_COUNT,
                              .is_whole = true};
    struct extent extent = {.first_id = -1};
    struct slots_read one;
    int rc = slots_read(&read, err);

    for (size_t i = 0; i < verifying->count && !rc; i++) {
        struct suspect *suspect = &verifying->suspects[i];
        const struct slot_read *slot;

        rc = find_slot(&read, suspect->doc_id, &one, &slot, err);
        if (!rc && (extent.first_id < 0 || suspect->doc_id >= extent.first_id + NUMBER_EXTENT_SIZE))
            rc = find_extent(verifying, suspect->doc_id, &extent, err);
        if (!rc && slot) /* else it was taken off its key meanwhile */
            look_at(verifying, slot, &extent, suspect);
    }
    return rc;
}

const struct verify_kind verify_numbers = {.page = numbers_page, .look = numbers_look};
