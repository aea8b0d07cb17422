/* SPDX-License-Identifier: Apache-2.0 */
/* many.c - see many.h. */
#include "registry/many.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/limits.h"

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

int many_query(struct store_tx *tx, struct many *many, const struct store_value *shared,
               const void *rows, size_t count, many_row_fn fill, store_row_fn take, void *arg,
               struct err *err)
{
    struct store_value params[STORE_PARAM_COUNT_MAX];
    size_t done = 0;
    int rc = 0;

    assert(many->shared_count + MANY_ROW_COUNT_MAX * many->own_count <= STORE_PARAM_COUNT_MAX);
    memcpy(params, shared, many->shared_count * sizeof(*params));
    for (size_t form = 0; form < MANY_FORM_COUNT; form++) {
        while (count - done >= form_counts[form] && !rc) {
            const char *sql = text_of(many, form);
            struct store_value *own = params + many->shared_count;

            for (size_t i = 0; i < form_counts[form]; i++, own += many->own_count)
                fill(rows, done + i, own);
            if (take)
                rc = store_query(tx, sql, params, (size_t)(own - params), take, arg, err);
            else
                rc = store_exec(tx, sql, params, (size_t)(own - params), NULL, err);
            done += form_counts[form];
        }
    }
    return rc;
}

int many_exec(struct store_tx *tx, struct many *many, const struct store_value *shared,
              const void *rows, size_t count, many_row_fn fill, struct err *err)
{
    return many_query(tx, many, shared, rows, count, fill, NULL, NULL, err);
}
