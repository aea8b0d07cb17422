/* SPDX-License-Identifier: Apache-2.0 */
/* sequence.c - see sequence.h. */
#include "store/sequence.h"

#include <assert.h>

int store_next_seq(struct store_tx *tx, const char *name, int64_t count, int64_t *first,
                   struct err *err)
{
    const struct store_value params[] = {STORE_V_TEXT(bytes_of(name)), STORE_V_INT(count)};
    int64_t next = 0;
    int rc;

    assert(count > 0);
    rc = store_find_integer(
        tx,
        "INSERT INTO sequence (name, next) VALUES ($1, 1 + CAST($2 AS BIGINT)) "
        "ON CONFLICT (name) DO UPDATE SET next = sequence.next + CAST($2 AS BIGINT) "
        "RETURNING next",
        params, 2, &next, err);
    if (rc == 0)
        *first = next - count;
    return rc;
}
