/* SPDX-License-Identifier: Apache-2.0 */
/* numbers_parts.h - what the files of live numbers share: their insides. */
#ifndef TORG_NUMERATOR_NUMBERS_PARTS_H
#define TORG_NUMERATOR_NUMBERS_PARTS_H

#include "base/object.h"
#include "numerator/key_table.h"
#include "numerator/number_rows.h"
#include "numerator/numerator.h"
#include "numerator/slots.h"

enum { NUMBERS_MAGIC = OBJECT_MAGIC('n', 'u', 'm', 's') };

/* Keys of the shard that are known without the store: all up to one, in their order. */
struct known_keys {
    struct key_table *table; /* owned; NULL before the first page */
    struct buf last;         /* the last key that was loaded; empty: none was */
    bool is_whole;           /* there are none behind it */
};

struct numbers {
    uint32_t magic;
    struct store *store; /* borrowed */
    struct number_place place;
    struct numbering numbering;
    struct slots slots;
    struct known_keys known;
    struct space_row kept, made;
    struct arena *arena; /* of one call */
};

/* Of known keys; see numbers_known.c. */
void known_reset(struct numbers *numbers);
bool known_covers(const struct numbers *numbers, struct bytes key);
void known_add(struct numbers *numbers, const struct slot_row *row);
void known_mark(struct numbers *numbers, struct bytes key, bool is_gone);
void known_remove(struct numbers *numbers, struct bytes key);
void known_settle(struct numbers *numbers, bool is_committed);

#endif
