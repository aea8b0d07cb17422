/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schema.h - JSON Schema, drafts 3 and 4: compiled once, then values are checked by it.
 *
 *   JSON ── schema.c: every place of it, and of what it refers to, becomes a rule ──> rules
 *           schema_keywords.c: one function a keyword
 *   value ── schema_check.c: rules that lead to rules ──> fine, or what is wrong and where
 *
 * A schema that cannot be compiled is refused with its place, by JSON pointer, line and column: a
 * keyword of a wrong type, a pattern that pattern.h refuses, a reference to nothing, and rules that
 * lead to each other without going deeper into the value, which no check would ever end.
 * References lead into the schema itself, to the documents that were given and to the two drafts'
 * own schemas; nothing is ever fetched. `format` is a remark by default (options.with_formats).
 *
 * Threads: a compiled schema is read by any.
 */
#ifndef TORG_SCHEMA_SCHEMA_H
#define TORG_SCHEMA_SCHEMA_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/bytes.h"
#include "base/err.h"
#include "codec/placed_json.h"

struct json_schema;

enum schema_draft { SCHEMA_DRAFT_3 = 3, SCHEMA_DRAFT_4 = 4 };

struct schema_document {
    struct bytes uri;
    struct bytes json;
};

struct schema_options {
    enum schema_draft draft; /* of documents whose $schema does not say; 0: draft 4 */
    bool with_formats;       /* a text that is not of its format is refused */
    struct bytes uri;        /* of the schema itself, if it does not say; may be empty */
    const struct schema_document *documents; /* others that it may refer to; borrowed meanwhile */
    size_t document_count;
};

/* options may be NULL. On failure *schema is NULL. */
int json_schema_compile(struct bytes json, const struct schema_options *options,
                        struct json_schema **schema, struct err *err);
void json_schema_free(struct json_schema *schema); /* NULL is fine */

/* 0: it is valid. ERR_INVALID tells where it is not, and why: "/price: expected integer, found
 * string". ERR_LIMIT: that cannot be said within the bounds. Works in `scratch`. */
int json_schema_check(const struct json_schema *schema, const struct placed_json *value,
                      struct arena *scratch, struct err *err);

#endif
