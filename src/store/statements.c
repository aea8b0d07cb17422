/* SPDX-License-Identifier: Apache-2.0 */
/* statements.c - see statements.h. */
#include "store/statements.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/hash.h"
#include "base/memory.h"

static struct statement **set_of(struct statements *statements, uint64_t hash)
{
    return statements->slots[hash % STORE_STATEMENT_SET_COUNT];
}

struct statement *statements_find(struct statements *statements, const char *sql)
{
    uint64_t hash = hash64(bytes_of(sql));
    struct statement **set = set_of(statements, hash);
    int i;

    for (i = 0; i < STORE_STATEMENT_WAY_COUNT; i++) {
        struct statement *found = set[i];

        assert(!found || found->kept);
        if (found && found->hash == hash && !found->busy && strcmp(found->sql, sql) == 0) {
            found->used = ++statements->use_count;
            return found;
        }
    }
    return NULL;
}

struct statement *statements_keep(struct statements *statements, struct statement *statement)
{
    struct statement **set = set_of(statements, statement->hash);
    struct statement *evicted;
    int oldest = -1;
    int i;

    assert(!statement->kept);
    for (i = 0; i < STORE_STATEMENT_WAY_COUNT; i++) {
        if (!set[i]) {
            oldest = i;
            break;
        }
        if (!set[i]->busy && (oldest < 0 || set[i]->used < set[oldest]->used))
            oldest = i;
    }
    if (oldest < 0)
        return NULL;
    evicted = set[oldest];
    if (evicted)
        evicted->kept = false;
    if (evicted)
        assert(!evicted->busy && evicted != statement);
    set[oldest] = statement;
    statement->kept = true;
    statement->used = ++statements->use_count;
    return evicted;
}

struct statement *statements_take(struct statements *statements)
{
    int i;
    int j;

    for (i = 0; i < STORE_STATEMENT_SET_COUNT; i++) {
        for (j = 0; j < STORE_STATEMENT_WAY_COUNT; j++) {
            struct statement *statement = statements->slots[i][j];

            if (statement) {
                assert(statement->kept && !statement->busy);
                statements->slots[i][j] = NULL;
                statement->kept = false;
                return statement;
            }
        }
    }
    return NULL;
}

void statement_init(struct statement *statement, const char *sql)
{
    *statement = (struct statement){.sql = mem_strdup(sql), .hash = hash64(bytes_of(sql))};
}

void statement_release(struct statement *statement)
{
    assert(!statement->busy && !statement->kept);
    free(statement->sql);
    statement->sql = NULL;
}
