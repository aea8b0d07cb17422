/* SPDX-License-Identifier: Apache-2.0 */
/*
 * prepare.h - a body as it came, made into the rows that are stored: checked, converted, for each
 * snippet of a group and each of its languages.
 *
 *   body ── is it what its format says? ── schema, validator
 *                        row <── schema of the output <── convertor
 *
 * All or nothing: the first that is refused refuses the whole, with the snippet's name.
 */
#ifndef TORG_SNIPPETS_REQUESTS_PREPARE_H
#define TORG_SNIPPETS_REQUESTS_PREPARE_H

#include "snippets/config/config.h"
#include "snippets/rows/rows.h"

struct snippet_body {
    struct bytes key;
    struct bytes language; /* of a body in one language; empty: none */
    bool has_format;       /* false: of what the snippet takes, if that is one */
    enum snippet_format format;
    struct bytes body;
};

/* Rows of a write; they live in the arena, as long as the body, without the snippets. ERR_INVALID
 * and ERR_LIMIT tell the sender why not. */
int snippet_prepare(const struct snippet *const *snippets, size_t snippet_count,
                    const struct snippet_body *body, struct arena *arena, struct snippet_row **rows,
                    size_t *count, struct err *err);
/* Rows of a deletion: in all languages that the snippet is converted to, or in the body's. */
int snippet_prepare_delete(const struct snippet *const *snippets, size_t snippet_count,
                           const struct snippet_body *body, struct arena *arena,
                           struct snippet_row **rows, size_t *count, struct err *err);

/* Whether the body is what its format says; JSON is read into *json. */
int snippet_input_read(struct snippet_input *input, struct arena *arena, struct err *err);

#endif
