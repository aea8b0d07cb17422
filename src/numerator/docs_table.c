/* SPDX-License-Identifier: Apache-2.0 */
/* docs_table.c - see docs_table.h. */
#include "numerator/docs_table.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/memory.h"

struct docs_table {
    struct table_writer *writer; /* owned */
    uint32_t part_count;
    unsigned extras;
};

int docs_table_open(const char *name, struct blob *blob, const struct key_columns *keys,
                    unsigned extras, struct docs_table **table, struct err *err)
{
    struct table_column columns[TABLE_WRITE_COLUMN_MAX];
    struct table_writer *writer;
    uint32_t count = 0;
    int rc;

    for (; count < keys->count; count++)
        columns[count] = (struct table_column){keys->names[count], TABLE_TEXT};
    columns[count++] = (struct table_column){"shard_id", TABLE_INTEGER};
    columns[count++] = (struct table_column){"doc_id", TABLE_INTEGER};
    if (extras & DOCS_BIRTH)
        columns[count++] = (struct table_column){"birth", TABLE_INTEGER};
    if (extras & DOCS_SEEN)
        columns[count++] = (struct table_column){"seen", TABLE_INTEGER};
    *table = NULL;
    rc = table_writer_open(name, blob, columns, count, &writer, err);
    if (rc)
        return rc;
    *table = mem_zero(sizeof(**table));
    **table = (struct docs_table){writer, keys->count, extras};
    return 0;
}

int docs_table_put(struct docs_table *table, const struct number_entry *entry, struct err *err)
{
    struct table_cell cells[TABLE_WRITE_COLUMN_MAX] = {0};
    struct bytes parts[NUMBER_KEY_PART_MAX];
    uint32_t count = number_key_split(entry->key, parts);

    if (count != table->part_count)
        return err_set(err, ERR_INVALID, "a key of %" PRIu32 " parts among those of %" PRIu32,
                       count, table->part_count);
    for (uint32_t i = 0; i < count; i++)
        cells[i].text = parts[i];
    cells[count++].integer = entry->shard;
    cells[count++].integer = entry->doc_id;
    if (table->extras & DOCS_BIRTH)
        cells[count++].integer = entry->birth;
    if (table->extras & DOCS_SEEN)
        cells[count++].integer = entry->seen;
    table_put(table->writer, cells);
    return 0;
}

int docs_table_commit(struct docs_table *table, struct err *err)
{
    int rc = table_commit(table->writer, err);

    table->writer = NULL;
    docs_table_abort(table);
    return rc;
}

void docs_table_abort(struct docs_table *table)
{
    if (!table)
        return;
    table_abort(table->writer);
    free(table);
}
