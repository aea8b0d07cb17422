/* SPDX-License-Identifier: Apache-2.0 */
/* docs_table.h - a table of keys and their numbers: key columns, shard_id, doc_id, and since when
 * or until when. */
#ifndef TORG_NUMERATOR_DOCS_TABLE_H
#define TORG_NUMERATOR_DOCS_TABLE_H

#include "numerator/key_columns.h"
#include "numerator/state.h"
#include "numerator/table.h"

enum { DOCS_BIRTH = 1, DOCS_SEEN = 2 }; /* columns that it has besides */

struct docs_table;

/* keys: borrowed until the end. */
int docs_table_open(const char *name, struct blob *blob, const struct key_columns *keys,
                    unsigned extras, struct docs_table **table, struct err *err);
/* ERR_INVALID: the key has another number of parts. */
int docs_table_put(struct docs_table *table, const struct number_entry *entry, struct err *err);
int docs_table_commit(struct docs_table *table, struct err *err); /* frees it, success or not */
void docs_table_abort(struct docs_table *table);                  /* NULL is fine */

#endif
