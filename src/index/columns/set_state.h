/* SPDX-License-Identifier: Apache-2.0 */
/*
 * set_state.h - the insides of attribute_set.h: base and overlay, for attribute_set*.c only.
 *
 *   base     entries by value, then window: {window, count, offsets or their place in payload}
 *   overlay  entries {id, previous entry of the same value, key}; heads[value] is the newest
 */
#ifndef TORG_INDEX_COLUMNS_SET_STATE_H
#define TORG_INDEX_COLUMNS_SET_STATE_H

#include <stdatomic.h>

#include "base/object.h"
#include "index/bounds.h"
#include "index/columns/attribute_set.h"
#include "index/columns/ladder.h"

enum {
    SET_BUCKET_COUNT = 64,
    SET_INLINE_MAX = 4,
    SET_LIST_MAX = 256, /* a longer list is bigger than the bitmap */
    OVERLAY_SHIFT = 6,  /* of the first step of entries: most attributes are of few documents */
    OVERLAY_COUNT_SHIFT = 24,
    OVERLAY_COUNT_MAX = 1 << OVERLAY_COUNT_SHIFT, /* past it the set proposes everything */
    OVERLAY_STEP_COUNT = LADDER_STEP_COUNT(OVERLAY_COUNT_SHIFT, OVERLAY_SHIFT),
    HEAD_SHIFT = 5, /* of the first step of heads */
    HEAD_STEP_COUNT = LADDER_STEP_COUNT(KEYWORD_COUNT_SHIFT, HEAD_SHIFT),
};

struct set_entry {
    uint32_t window;
    uint32_t count;
    union {
        uint16_t offsets[SET_INLINE_MAX];
        uint64_t place; /* in payload, in u16: count offsets, or a bitmap of 256 */
    };
};

struct set_base {
    uint32_t value_count;
    uint64_t *firsts; /* value_count + 1: where a value's entries begin */
    uint32_t *totals; /* by value: members of all its entries */
    struct set_entry *entries;
    uint16_t *payload;
    uint64_t payload_count;
    uint64_t member_count;
    int64_t bounds[SET_BUCKET_COUNT - 1]; /* ranges: bucket i ends before bounds[i] */
    uint32_t bound_count;
};

struct overlay_entry {
    docid id;
    uint32_t previous; /* index + 1; 0: none */
    int64_t key;       /* ordinal; for ranges the value, for buckets move */
};

enum { OVERLAY_MAGIC = OBJECT_MAGIC('o', 'v', 'l', 'y') };

struct overlay {
    uint32_t magic;
    _Atomic uint32_t count;
    _Atomic bool full;                                  /* propose everything */
    bool dropped;                                       /* the writer's: an entry found no room */
    _Atomic(_Atomic uint32_t *) heads[HEAD_STEP_COUNT]; /* by ordinal: ladder.h */
    _Atomic(struct overlay_entry *) entries[OVERLAY_STEP_COUNT]; /* in turn: ladder.h */
};

enum { SET_STATE_MAGIC = OBJECT_MAGIC('s', 's', 't', 't') };

struct set_state {
    uint32_t magic;
    struct set_base *base;   /* owned */
    struct overlay *overlay; /* owned */
};

enum { ATTRIBUTE_SET_MAGIC = OBJECT_MAGIC('a', 's', 'e', 't') };

struct attribute_set {
    uint32_t magic;
    struct columns *columns; /* borrowed */
    struct epoch *epoch;     /* borrowed */
    enum set_kind kind;
    uint16_t field;
    uint32_t cell_size;
    bool cells_known;         /* every cell that a document lies in is in `cells` ... */
    bool cells_full;          /* ... or there was no room: the set proposes everything for ever */
    struct dictionary *cells; /* owned; SET_CELLS: the cell's number as 4 bytes -> ordinal */
    _Atomic(void *) state;
    uint32_t begun_at;        /* overlay entries when the rebuild began */
    struct set_base *scanned; /* owned; between scan and commit */
};

struct overlay *overlay_new(void);
void overlay_free(struct overlay *overlay);
void overlay_add(struct overlay *overlay, uint32_t ordinal, docid id, int64_t key);
uint32_t overlay_head(const struct overlay *overlay, uint32_t ordinal);
const struct overlay_entry *overlay_entry(const struct overlay *overlay, uint32_t index);

void set_base_free(struct set_base *base);
uint32_t set_bucket(const struct set_base *base, int64_t value);
uint32_t set_cell(const struct attribute_set *set, int32_t lat, int32_t lon);

/* The ordinals of a column's value, at most KEYWORD_VALUES_MAX; a cell without one has none. */
uint32_t set_ordinals(const struct attribute_set *set, const struct set_base *base, int64_t value,
                      uint32_t *ordinals);

#endif
