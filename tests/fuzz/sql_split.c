/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz target: a migration's text as statements. They are parts of the text, in order, and a
 * statement that is split again is one statement: itself.
 */
#include <stdlib.h>

#include "store/sql_split.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool truth)
{
    if (!truth)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct bytes text = bytes_make(data, size);
    const uint8_t *end = data;
    struct bytes statement;

    while (sql_next(&text, &statement)) {
        struct bytes whole = statement;
        struct bytes again;

        require(statement.data >= end && statement.size > 0);
        end = statement.data + statement.size;
        require(end <= data + size && text.data == end);
        require(sql_next(&whole, &again) && bytes_equal(again, statement) && whole.size == 0);
    }
    require(text.size == 0);
    return 0;
}
