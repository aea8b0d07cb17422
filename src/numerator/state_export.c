/* SPDX-License-Identifier: Apache-2.0 */
/* state_export.c - live numbers of a shard as a state: see state.h. */
#include <assert.h>
#include <inttypes.h>

#include "numerator/bounds.h"
#include "numerator/number_rows.h"
#include "numerator/state_parts.h"

struct export
{
    struct number_place place;
    uint32_t shard_count;
    const struct number_rules *rules;
    struct number_state *state;
    uint64_t page_count;
};

static int take_key(void *arg, const struct slot_row *row, struct err *err)
{
    struct export *export = arg;
    struct number_state *state = export->state;
    struct state_key key = {
        .shard = export->place.shard,
        .class_no = slots_class(&state->shards[export->place.shard], row->class),
        .doc_id = row->doc_id,
        .birth = row->birth,
        .seen = row->gone_us > 0 ? row->seen : state->version.generation,
    };

    state_add(state, row->key, &key, state->shard_count);
    export->page_count++;
    return 0;
}

static int load_keys(struct store_tx *tx, struct export *export, struct err *err)
{
    struct number_state *state = export->state;
    struct bytes last = BYTES_EMPTY;
    uint8_t copy[NUMBER_KEY_SIZE_MAX];
    int rc;

    do {
        export->page_count = 0;
        rc = slot_rows_after(tx, &export->place, last, NUMBER_LOAD_COUNT, take_key, export, err);
        if (rc == 0 &&
            export->page_count > 0) { /* the key's own bytes move while others are added */
            last = state_key_bytes(state, &state->keys[state->key_count - 1]);
            assert(last.size <= sizeof(copy));
            memcpy(copy, last.data, last.size);
            last.data = copy;
        }
    } while (rc == 0 && export->page_count == NUMBER_LOAD_COUNT);
    return rc;
}

static int export_fn(struct store_tx *tx, void *arg, struct err *err)
{
    struct export *export = arg;
    struct space_row row;
    struct slots *slots;
    int rc;

    number_state_free(export->state); /* may be run again */
    export->state = NULL;
    rc = space_row_find(tx, &export->place, &row, err);
    if (rc == 0 && row.change_no == 0)
        rc = err_set(err, ERR_NOT_FOUND, "space %" PRId64 " has given no numbers in shard %" PRIu32,
                     export->place.space, export->place.shard);
    if (rc)
        return rc;
    export->state = number_state_new(&row.version, export->shard_count, export->rules);
    number_state_set_lineage(export->state, row.lineage);
    slots = &export->state->shards[export->place.shard];
    rc = extent_rows_load(tx, &export->place, slots, err);
    if (rc == 0)
        rc = free_rows_load(tx, &export->place, slots, err);
    for (size_t i = 0; i < slots->held_count; i++) /* times are for live numbers alone */
        slots->held[i].freed_us = 0;
    slots_restored(slots, row.version.generation);
    return rc ? rc : load_keys(tx, export, err);
}

int number_state_export(struct store *store, int64_t space, uint32_t shard, uint32_t shard_count,
                        const struct number_rules *rules, struct number_state **state,
                        struct err *err)
{
    struct export export = {.place = {space, shard}, .shard_count = shard_count, .rules = rules};
    int rc;

    assert(shard < shard_count);
    rc = store_read(store, export_fn, &export, err);
    if (rc == 0)
        rc = state_sort(export.state, err);
    if (rc) {
        number_state_free(export.state);
        export.state = NULL;
    }
    *state = export.state;
    return rc;
}
