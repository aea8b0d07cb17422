/* SPDX-License-Identifier: Apache-2.0 */
/* backfill.c - how far a pour is: each step is made once, from where the one before has left it. */
#include "registry/indexing/backfill.h"

#include "unit/registry/memory_store.h"

enum { CLIENT = 4, EPOCH = 2, SHARD_COUNT = 4 };
static const struct backfill_place place = {CLIENT, EPOCH, 0};

static int begin(struct store_tx *tx, void *arg, struct err *err)
{
    return backfill_begin(tx, arg, EPOCH, SHARD_COUNT, true, err);
}

struct looking {
    int64_t epoch;
    uint32_t shard;
    struct backfill backfill;
    bool found;
};

static int look(struct store_tx *tx, void *arg, struct err *err)
{
    struct looking *looking = arg;

    return backfill_find(tx, CLIENT, looking->epoch, looking->shard, &looking->backfill,
                         &looking->found, err);
}

static struct backfill now(int64_t epoch, uint32_t shard)
{
    struct looking looking = {.epoch = epoch, .shard = shard};

    assert_int_equal(change(look, &looking), 0);
    assert_true(looking.found);
    return looking.backfill;
}

static void an_epoch_begins_with_nothing_poured_and_others_are_whole(void **state)
{
    struct client_view client = {.id = CLIENT,
                                 .shard_count = 2,
                                 .epoch_count = 1,
                                 .numberings = {{.scheme = 2}},
                                 .numbering_count = 1};
    struct looking looking = {.epoch = EPOCH};

    (void)state;
    client.epochs[0].epoch = 1;
    assert_int_equal(change(look, &looking), 0);
    assert_false(looking.found);
    assert_true(looking.backfill.is_whole);
    assert_int_equal(change(begin, &client), 0);
    for (uint32_t shard = 0; shard < 2; shard++) { /* the other one has shards of its own */
        assert_true(now(1, shard).is_done);
        assert_true(now(1, shard).hash > now(EPOCH, 2 * shard + 1).hash);
    }
    for (uint32_t shard = 0; shard < SHARD_COUNT; shard++)
        assert_false(now(EPOCH, shard).is_done);
    for (uint32_t shard = 1; shard < SHARD_COUNT; shard++)
        assert_true(now(EPOCH, shard).hash > now(EPOCH, shard - 1).hash);
}

static int find_unnumbered(struct store_tx *tx, void *arg, struct err *err)
{
    const struct backfill_place first = {CLIENT, EPOCH, 1};

    return backfill_find_unnumbered(tx, &first, 2, arg, err); /* shards 1 and 2 */
}

static int note_numbered(struct store_tx *tx, void *arg, struct err *err)
{
    const struct backfill_place one = {CLIENT, EPOCH, *(uint32_t *)arg};

    return backfill_note_numbered(tx, &one, -1000, err);
}

static void a_shard_is_numbered_by_itself(void **state)
{
    static const uint64_t left[SHARD_COUNT] = {3, 2, 0, 0}; /* after each: bits from shard 1 on */
    uint64_t shards;

    (void)state;
    assert_int_equal(change(find_unnumbered, &shards), 0);
    assert_int_equal(shards, 3);
    assert_true(now(1, 0).is_numbered);
    for (uint32_t shard = 0; shard < SHARD_COUNT; shard++) {
        assert_false(now(EPOCH, shard).is_numbered);
        assert_int_equal(change(note_numbered, &shard), 0);
        assert_true(now(EPOCH, shard).is_numbered);
        assert_int_equal(now(EPOCH, shard).hash, -1000);
        assert_int_equal(change(find_unnumbered, &shards), 0);
        assert_int_equal(shards, left[shard]);
    }
}

static int find_unpoured(struct store_tx *tx, void *arg, struct err *err)
{
    return backfill_find_unpoured(tx, CLIENT, EPOCH, arg, err);
}

static int finish(struct store_tx *tx, void *arg, struct err *err)
{
    static const struct backfill done = {.hash = -1, .is_done = true, .poured_count = 7};

    return backfill_move(tx, CLIENT, EPOCH, *(uint32_t *)arg, -1000, &done, err);
}

/* What was poured before the shard was numbered is poured once more. */
static void a_shard_is_poured_from_where_it_was_numbered(void **state)
{
    int64_t shard;

    (void)state;
    for (uint32_t i = 0; i < SHARD_COUNT; i++) {
        assert_int_equal(change(find_unpoured, &shard), 0);
        assert_int_equal(shard, i);
        assert_int_equal(change(finish, &i), 0);
    }
    assert_int_equal(change(find_unpoured, &shard), 0);
    assert_int_equal(shard, -1);
    for (uint32_t i = SHARD_COUNT; i-- > 0;) {
        assert_int_equal(change(note_numbered, &i), 0);
        assert_false(now(EPOCH, i).is_done);
        assert_int_equal(now(EPOCH, i).poured_count, 0);
        assert_int_equal(change(find_unpoured, &shard), 0);
        assert_int_equal(shard, i);
    }
}

struct moving {
    int64_t from;
    struct backfill to;
};

static int move(struct store_tx *tx, void *arg, struct err *err)
{
    const struct moving *moving = arg;

    return backfill_move(tx, CLIENT, EPOCH, 0, moving->from, &moving->to, err);
}

static void a_chunk_is_poured_once(void **state)
{
    int64_t first = now(EPOCH, 0).hash;
    struct moving moving = {first, {.hash = -50, .poured_count = 3, .refused_count = 1}};

    (void)state;
    assert_int_equal(change(move, &moving), 0);
    assert_int_equal(change(move, &moving), ERR_STALE);
    moving = (struct moving){
        -50, {.hash = -1, .is_done = true, .poured_count = 5, .refused_count = 1, .end_idx = 9}};
    assert_int_equal(change(move, &moving), 0);
    assert_true(now(EPOCH, 0).is_done);
    assert_int_equal(now(EPOCH, 0).poured_count, 5);
    moving.from = -1; /* it is over */
    assert_int_equal(change(move, &moving), ERR_STALE);
}

struct pouring {
    struct backfill from;
    int64_t pour_no;
    uint64_t offset;
};

static int begin_again(struct store_tx *tx, void *arg, struct err *err)
{
    return backfill_begin_again(tx, &place, &((struct pouring *)arg)->from, -1000, err);
}

static int note_begin(struct store_tx *tx, void *arg, struct err *err)
{
    const struct pouring *pouring = arg;

    return backfill_note_begin(tx, &place, pouring->pour_no, 77, pouring->offset, err);
}

static int note_end(struct store_tx *tx, void *arg, struct err *err)
{
    return backfill_note_end(tx, &place, ((struct pouring *)arg)->pour_no, 123456, err);
}

static void a_pour_is_whole_after_both_marks(void **state)
{
    struct pouring pouring = {.from = now(EPOCH, 0), .offset = 40};
    struct moving moving = {-1000, {.hash = -1, .is_done = true, .poured_count = 4}};
    struct backfill backfill;

    (void)state;
    assert_int_equal(change(begin_again, &pouring), 0);
    assert_int_equal(change(begin_again, &pouring), ERR_STALE); /* by who has read the one before */
    pouring.pour_no = pouring.from.pour_no + 1;
    assert_false(now(EPOCH, 0).is_whole);
    assert_int_equal(now(EPOCH, 0).mark_offset, -1);
    assert_int_equal(change(note_end, &pouring), ERR_STALE);
    assert_int_equal(change(note_begin, &pouring), 0);
    pouring.offset = 50;
    assert_int_equal(change(note_begin, &pouring), ERR_STALE); /* the first one counts */
    assert_int_equal(change(note_end, &pouring), ERR_STALE);   /* not all are poured */
    assert_int_equal(change(move, &moving), 0);
    assert_int_equal(change(note_end, &pouring), 0);
    assert_int_equal(change(note_end, &pouring), ERR_STALE);
    backfill = now(EPOCH, 0);
    assert_true(backfill.is_whole);
    assert_int_equal(backfill.whole_offset, 40);
    assert_int_equal(backfill.whole_us, 123456);
    assert_int_equal(backfill.mark_ticket, 77);
}

static int add_late(struct store_tx *tx, void *arg, struct err *err)
{
    (void)arg;
    return backfill_add_late(tx, CLIENT, EPOCH, 0, 2, err);
}

/* What does not fit is told too often rather than too seldom while it is counted anew. */
static void misfits_stay_counted_until_a_pour_has_counted_them(void **state)
{
    struct pouring pouring = {.from = now(EPOCH, 0), .offset = 90};
    int64_t before = pouring.from.late_count;
    struct moving moving = {-1000, {.hash = -1, .is_done = true, .refused_count = 3}};

    (void)state;
    assert_int_equal(change(add_late, NULL), 0);
    assert_int_equal(now(EPOCH, 0).late_count, before + 2);
    assert_int_equal(change(begin_again, &pouring), 0);
    assert_true(now(EPOCH, 0).late_count >= before + 2);
    pouring.pour_no = pouring.from.pour_no + 1;
    assert_int_equal(change(note_begin, &pouring), 0);
    assert_int_equal(change(move, &moving), 0);
    assert_true(now(EPOCH, 0).late_count >= before + 2);
    assert_int_equal(change(note_end, &pouring), 0);
    assert_int_equal(now(EPOCH, 0).late_count, 0);
    assert_int_equal(now(EPOCH, 0).refused_count, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_epoch_begins_with_nothing_poured_and_others_are_whole),
        cmocka_unit_test(a_shard_is_numbered_by_itself),
        cmocka_unit_test(a_shard_is_poured_from_where_it_was_numbered),
        cmocka_unit_test(a_chunk_is_poured_once),
        cmocka_unit_test(a_pour_is_whole_after_both_marks),
        cmocka_unit_test(misfits_stay_counted_until_a_pour_has_counted_them),
    };

    return cmocka_run_group_tests(tests, open_memory, close_memory);
}
