/* SPDX-License-Identifier: Apache-2.0 */
/*
 * numbers_known.c - known keys without SQL per key: see numerator.h, key_table.h.
 *
 * The owner of a shard learns its keys as it is asked: each look reads some more of them, in their
 * order, four for each that is asked for. Those up to the last that was read are known: the table
 * has them, and each change that the owner makes, and what it has not is not there. Those behind it
 * are looked up in the store. So an owner begins at once, with nothing, and a shard of any size is
 * known after a quarter as many looks as it has keys.
 *
 * The table follows the store as all that is in memory does: it is as of the change `kept` (or
 * `made`, within a transaction), and is not asked when the store is at another.
 */
#include <assert.h>

#include "numerator/bounds.h"
#include "numerator/numbers_parts.h"

enum {
    LOAD_COUNT_MIN = 32, /* keys of a page ... */
    LOAD_EACH = 4,       /* ... and for each that is asked for, up to NUMBER_LOAD_COUNT */
};

void known_reset(struct numbers *numbers)
{
    key_table_free(numbers->known.table);
    buf_release(&numbers->known.last);
    numbers->known = (struct known_keys){0};
    buf_init(&numbers->known.last, NUMBER_KEY_SIZE_MAX);
}

bool known_covers(const struct numbers *numbers, struct bytes key)
{
    const struct known_keys *known = &numbers->known;

    return known->is_whole ||
           (known->last.size > 0 && bytes_compare(key, buf_bytes(&known->last)) <= 0);
}

/* Two keys that look alike: another secret tells them from one another. */
static bool add(struct numbers *numbers, const struct slot_row *row)
{
    if (key_table_add(numbers->known.table, row->key, row->doc_id, row->birth, row->gone_us > 0))
        return true;
    known_reset(numbers);
    return false;
}

void known_add(struct numbers *numbers, const struct slot_row *row)
{
    if (known_covers(numbers, row->key))
        add(numbers, row);
}

void known_mark(struct numbers *numbers, struct bytes key, bool is_gone)
{
    if (known_covers(numbers, key))
        key_table_mark(numbers->known.table, key, is_gone);
}

void known_remove(struct numbers *numbers, struct bytes key)
{
    if (known_covers(numbers, key))
        key_table_remove(numbers->known.table, key);
}

void known_settle(struct numbers *numbers, bool is_committed)
{
    if (!numbers->known.table)
        return;
    if (is_committed)
        key_table_commit(numbers->known.table);
    else
        key_table_rollback(numbers->known.table);
}

/* --- learning --- */

struct page {
    struct numbers *numbers;
    struct buf last;
    uint32_t count;
    bool is_refused; /* by add, which has forgotten everything */
};

static int take_key(void *arg, const struct slot_row *row, struct err *err)
{
    struct page *page = arg;

    (void)err;
    if (!page->is_refused)
        page->is_refused = !add(page->numbers, row);
    buf_reset(&page->last);
    buf_put(&page->last, row->key);
    page->count++;
    return 0;
}

/* With room for what will be learnt: of a shard that owns more, the rest stays in the store. */
static struct key_table *new_table(const struct numbers *numbers)
{
    uint64_t owned = slots_owned(&numbers->slots);

    return key_table_new(owned < NUMBER_KNOWN_COUNT_MAX ? owned : NUMBER_KNOWN_COUNT_MAX);
}

/* The next keys, as of the change that the table is as of. */
static int learn(struct numbers *numbers, struct store_tx *tx, uint32_t asked, struct err *err)
{
    struct known_keys *known = &numbers->known;
    struct page page = {.numbers = numbers};
    struct bytes after = arena_copy(numbers->arena, buf_bytes(&known->last));
    uint32_t max = asked > NUMBER_LOAD_COUNT / LOAD_EACH ? NUMBER_LOAD_COUNT : asked * LOAD_EACH;
    int rc;

    max = max < LOAD_COUNT_MIN ? LOAD_COUNT_MIN : max;
    if (known->is_whole ||
        (known->table && key_table_count(known->table) >= NUMBER_KNOWN_COUNT_MAX))
        return 0;
    if (!known->table)
        known->table = new_table(numbers);
    buf_init(&page.last, NUMBER_KEY_SIZE_MAX);
    rc = slot_rows_after(tx, &numbers->place, after, max, take_key, &page, err);
    if (rc == 0 && !page.is_refused) {
        known->is_whole = page.count < max;
        buf_reset(&known->last);
        buf_put(&known->last, buf_bytes(&page.last));
    }
    known_settle(numbers, rc == 0);
    buf_release(&page.last);
    return rc;
}

/* A table that has outgrown its leaves, or its share of memory, is made anew. */
static void mind_size(struct numbers *numbers)
{
    const struct key_table *table = numbers->known.table;

    if (table && (key_table_is_crowded(table) ||
                  key_table_count(table) >= 2 * (uint64_t)NUMBER_KNOWN_COUNT_MAX))
        known_reset(numbers);
}

/* --- looking --- */

/* Those of the asks that are not known: looked up in the store. */
static int find_rest(struct numbers *numbers, struct store_tx *tx, struct number_ask *asks,
                     uint32_t count, struct err *err)
{
    struct number_ask *rest = arena_array(numbers->arena, count, sizeof(*rest));
    uint32_t rest_count = 0;
    int rc;

    for (uint32_t i = 0; i < count; i++)
        if (!known_covers(numbers, asks[i].key))
            rest[rest_count++] = asks[i];
    if (rest_count == 0)
        return 0;
    rc = numbers_find(tx, numbers->place.space, numbers->place.shard, rest, rest_count, err);
    rest_count = 0;
    for (uint32_t i = 0; i < count && rc == 0; i++)
        if (!known_covers(numbers, asks[i].key))
            asks[i] = rest[rest_count++];
    return rc;
}

int numbers_find_known(struct numbers *numbers, struct store_tx *tx, struct number_ask *asks,
                       uint32_t count, struct err *err)
{
    struct space_row row;
    int rc;

    object_check(numbers, NUMBERS_MAGIC);
    arena_reset(numbers->arena);
    rc = space_row_find(tx, &numbers->place, &row, err);
    if (rc)
        return rc;
    if (row.change_no != numbers->kept.change_no || row.change_no != numbers->made.change_no)
        return numbers_find(tx, numbers->place.space, numbers->place.shard, asks, count, err);
    mind_size(numbers);
    if (numbers->known.table)
        key_table_find(numbers->known.table, asks, count);
    if (!numbers->known.is_whole)
        rc = find_rest(numbers, tx, asks, count, err);
    return rc ? rc : learn(numbers, tx, count, err);
}

struct numbers_known numbers_known(const struct numbers *numbers)
{
    const struct key_table *table = numbers->known.table;

    object_check(numbers, NUMBERS_MAGIC);
    return (struct numbers_known){
        .key_count = table ? key_table_count(table) : 0,
        .size = table ? key_table_size(table) : 0,
        .is_all = numbers->known.is_whole,
    };
}
