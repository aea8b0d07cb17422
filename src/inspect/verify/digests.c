/* SPDX-License-Identifier: Apache-2.0 */
/* digests.c - see digests.h. */
#include "inspect/verify/digests.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "inspect/bounds.h"
#include "searcher/range_sum.h"

enum { ROW_SHIFT = 64 - DIGEST_ROW_RANGE_BITS, ROW_RANGE_COUNT = 1 << DIGEST_ROW_RANGE_BITS };

/* What is told twice, or not at all, is no range that was seen empty. */
enum { DUE_UNTOLD = 255 };

void digests_init(struct digests *digests)
{
    *digests = (struct digests){.rows = mem_array(ROW_RANGE_COUNT, sizeof(digests->rows[0]))};
}

void digests_release(struct digests *digests)
{
    free(digests->rows);
    free(digests->numbers);
    free(digests->due);
}

void digests_begin_round(struct digests *digests)
{
    digests->round++;
    digests->has_rows = digests->takes_rows = digests->has_numbers = false;
    digests->looked_count = digests->content_count = 0;
}

bool digests_is_turn(const struct digests *digests, uint64_t number)
{
    return number % AUDITOR_CONTENT_ROUNDS == digests->round % AUDITOR_CONTENT_ROUNDS;
}

/* --- rows --- */

/* Hashes are in the order of signed numbers. */
static uint32_t row_range(int64_t hash)
{
    return (uint32_t)(((uint64_t)hash ^ UINT64_C(1) << 63) >> ROW_SHIFT);
}

static uint64_t row_sum(int64_t hash, int64_t version)
{
    return hash64_seeded(bytes_make(&version, sizeof(version)), (uint64_t)hash);
}

void digests_begin_rows(struct digests *digests)
{
    memset(digests->rows, 0, ROW_RANGE_COUNT * sizeof(digests->rows[0]));
    digests->has_rows = true;
    digests->takes_rows = false;
}

void digests_end_offers(struct digests *digests)
{
    digests->takes_rows = digests->has_rows;
}

void digests_drop_rows(struct digests *digests)
{
    digests->has_rows = digests->takes_rows = false;
}

void digests_add_row(struct digests *digests, int64_t hash, int64_t version)
{
    digests->rows[row_range(hash)] += row_sum(hash, version);
}

void digests_take_row(struct digests *digests, int64_t hash, int64_t version)
{
    if (digests->takes_rows)
        digests->rows[row_range(hash)] -= row_sum(hash, version);
}

bool digests_next_rows(const struct digests *digests, int64_t from, int64_t *first, int64_t *last)
{
    for (uint32_t i = row_range(from); i < ROW_RANGE_COUNT; i++) {
        if (!digests->rows[i])
            continue;
        *first = (int64_t)((uint64_t)i << ROW_SHIFT ^ UINT64_C(1) << 63);
        *last = (int64_t)((uint64_t)*first + ((UINT64_C(1) << ROW_SHIFT) - 1));
        return true;
    }
    return false;
}

/* --- numbers --- */

void digests_begin_numbers(struct digests *digests, int64_t space, uint32_t shard)
{
    if (digests->capacity)
        memset(digests->numbers, 0, digests->capacity * sizeof(digests->numbers[0]));
    digests->number_count = 0;
    digests->space = space;
    digests->shard = shard;
    digests->has_numbers = true;
}

/* False: there are too many. */
static bool make_room(struct digests *digests, uint32_t range)
{
    uint32_t capacity = digests->capacity ? digests->capacity : 64;

    if (range >= DIGEST_RANGE_COUNT_MAX)
        return false;
    while (capacity <= range)
        capacity *= 2;
    if (capacity > digests->capacity) {
        digests->numbers = mem_resize(digests->numbers, capacity * sizeof(digests->numbers[0]));
        memset(digests->numbers + digests->capacity, 0,
               (capacity - digests->capacity) * sizeof(digests->numbers[0]));
        digests->capacity = capacity;
    }
    if (range >= digests->number_count)
        digests->number_count = range + 1;
    return true;
}

void digests_add_number(struct digests *digests, uint32_t doc_id, int64_t version)
{
    uint32_t range = doc_id / DIGEST_RANGE_SIZE;

    if (!make_room(digests, range))
        digests->has_numbers = false;
    else
        digests->numbers[range] += range_sum(doc_id, version);
}

bool digests_have_numbers(const struct digests *digests, int64_t space, uint32_t shard)
{
    return digests && digests->has_numbers && digests->space == space && digests->shard == shard;
}

void digests_begin_due(struct digests *digests)
{
    digests->due_count = digests->number_count;
    digests->due = mem_resize(digests->due, digests->due_count + 1);
    memset(digests->due, DUE_UNTOLD, digests->due_count + 1);
}

static uint8_t judge(const struct digests *digests, uint32_t range, uint64_t sum)
{
    if (digests_is_turn(digests, range))
        return DUE_CONTENT;
    return digests->numbers[range] == sum ? DUE_NOT : DUE_DIFFERS;
}

void digests_compare(struct digests *digests, uint32_t first_id, uint64_t sum)
{
    uint32_t range = first_id / DIGEST_RANGE_SIZE;

    if (!make_room(digests, range)) { /* it is looked at as a whole */
        digests->has_numbers = false;
        return;
    }
    if (range >= digests->due_count) { /* behind all that was known when it was summed up */
        digests->due = mem_resize(digests->due, digests->number_count + 1);
        memset(digests->due + digests->due_count, DUE_UNTOLD,
               digests->number_count + 1 - digests->due_count);
        digests->due_count = digests->number_count;
    }
    digests->due[range] = judge(digests, range, sum);
}

void digests_end_due(struct digests *digests)
{
    for (uint32_t i = 0; i < digests->due_count; i++)
        if (digests->due[i] == DUE_UNTOLD)
            digests->due[i] = digests->numbers[i] ? judge(digests, i, 0) : DUE_NOT;
}

enum digest_due digests_next_due(const struct digests *digests, int64_t *from, int64_t *end)
{
    uint32_t range = *from / DIGEST_RANGE_SIZE < digests->due_count
                         ? (uint32_t)(*from / DIGEST_RANGE_SIZE)
                         : digests->due_count;
    uint32_t last;

    assert(*from >= 0);
    while (range < digests->due_count && digests->due[range] == DUE_NOT)
        range++;
    if (range == digests->due_count)
        return DUE_NOT;
    if (*from < (int64_t)range * DIGEST_RANGE_SIZE)
        *from = (int64_t)range * DIGEST_RANGE_SIZE;
    for (last = range;
         last + 1 < digests->due_count && digests->due[last + 1] == digests->due[range];)
        last++;
    *end = ((int64_t)last + 1) * DIGEST_RANGE_SIZE;
    return (enum digest_due)digests->due[range];
}
