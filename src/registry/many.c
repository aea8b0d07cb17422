/* SPDX-License-Identifier: Apache-2.0 */
/* many.c - see many.h. */
#include "registry/many.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"

static const size_t form_counts[MANY_FORM_COUNT] = {MANY_ROW_COUNT_MAX, 16, 4, 1};

static char *make_text(const struct many *many, size_t count)
{
    struct buf text = BUF_INIT(STORE_SQL_SIZE_MAX);
    unsigned number = many->shared_count;
    size_t size;

    buf_put_text(&text, many->head);
    for (size_t i = 0; i < count; i++) {
        buf_put_text(&text, !i ? "" : many->join ? many->join : ", ");
        for (const char *at = many->row; *at; at++) {
            if (*at == '?')
                buf_printf(&text, "$%u", ++number);
            else
                buf_put_byte(&text, (uint8_t)*at);
        }
    }
    buf_put_text(&text, many->tail);
    buf_put_byte(&text, 0);
    assert(!buf_failed(&text));
    return (char *)buf_take(&text, &size);
}

/* Of two threads that make it at once one throws its own away. */
static const char *text_of(struct many *many, size_t form)
{
    char *there = atomic_load(&many->texts[form]);
    char *made;

    if (there)
        return there;
    made = make_text(many, form_counts[form]);
    if (atomic_compare_exchange_strong(&many->texts[form], &there, made))
        return made;
    free(made);
    return there;
}

bool many_next(struct many *many, const struct store_value *shared, const void *rows, size_t count,
               many_row_fn fill, struct many_chunk *chunk)
{
    struct store_value *own = chunk->params + many->shared_count;
    size_t form = 0;

    assert(many->shared_count + MANY_ROW_COUNT_MAX * many->own_count <= STORE_PARAM_COUNT_MAX);
    if (chunk->done == count)
        return false;
    while (form_counts[form] > count - chunk->done)
        form++;
    memcpy(chunk->params, shared, many->shared_count * sizeof(*shared));
    for (size_t i = 0; i < form_counts[form]; i++, own += many->own_count)
        fill(rows, chunk->done + i, own);
    chunk->done += form_counts[form];
    chunk->sql = text_of(many, form);
    chunk->param_count = (size_t)(own - chunk->params);
    return true;
}

int many_exec(struct store_tx *tx, struct many *many, const struct store_value *shared,
              const void *rows, size_t count, many_row_fn fill, struct err *err)
{
    struct many_chunk chunk;
    int rc = 0;

    chunk.done = 0;
    while (!rc && many_next(many, shared, rows, count, fill, &chunk))
        rc = store_exec(tx, chunk.sql, chunk.params, chunk.param_count, NULL, err);
    return rc;
}
