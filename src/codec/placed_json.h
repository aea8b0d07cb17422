/* SPDX-License-Identifier: Apache-2.0 */
/*
 * placed_json.h - any JSON text as a tree, for those whose names and types are free: schemas,
 * snippets, documents of strangers.
 *
 *   {"a": [1, "x"]}      object ── child "a": list ── child 0: number "1"
 *                                                └─── child 1: text "x"
 *
 * Every node knows where it begins, what it is in and under which name, so that what is wrong with
 * it can be told by JSON pointer, line and column. Numbers keep their text (json_number.h): nothing
 * is rounded. The reader is our own, as yajl tells where a value ends and not where it begins, and
 * makes a question mark of half a surrogate pair. Stricter than most: a key that comes twice is
 * refused, and so are depth, nodes and numbers above their bounds (bounds.h).
 *
 * A tree lives in its arena and borrows nothing but that. Threads: no state; any thread.
 */
#ifndef TORG_CODEC_PLACED_JSON_H
#define TORG_CODEC_PLACED_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/bytes.h"
#include "base/err.h"

enum placed_kind {
    PLACED_NULL,
    PLACED_FALSE,
    PLACED_TRUE,
    PLACED_NUMBER,
    PLACED_TEXT,
    PLACED_LIST,
    PLACED_OBJECT,
};

struct placed_json {
    enum placed_kind kind;
    uint32_t offset;                  /* of its first byte */
    uint32_t index;                   /* among its parent's children */
    uint32_t count;                   /* of children */
    const struct placed_json *parent; /* NULL: the root */
    struct bytes key;                 /* in an object */
    struct bytes text;                /* without escapes; of what is no text as it was written */
    struct placed_json *first, *next; /* children one after the other, in the order of the text */
    struct placed_json **children;    /* the same as an array */
    struct placed_json **sorted;      /* of an object: by key */
};

/* ERR_INVALID and ERR_LIMIT tell line and column. On failure *root is NULL. */
int placed_json_read(struct bytes json, struct arena *arena, const struct placed_json **root,
                     struct err *err);

/* One value, or several one after the other (JSON lines), of programs that send what they have:
 * *list has them all; a value that is the only one and a list is *list itself. No text has the
 * character U+0000, so that each can be a string of C. Bounded by memory, not by PLACED_JSON_…. */
int placed_json_read_all(struct bytes json, struct arena *arena, const struct placed_json **list,
                         struct err *err);

/* For who makes a tree by hand: count, children and sorted of what hangs on first. Of two children
 * with one key it gives one; NULL: there are none such. */
const struct placed_json *placed_json_end(struct placed_json *node, struct arena *arena);

/* The value of a key; NULL: it has none, or is no object. */
const struct placed_json *placed_json_find(const struct placed_json *object, struct bytes key);
/* By JSON pointer, "" or "/a/0/b~1c"; NULL: there is none. */
const struct placed_json *placed_json_at(const struct placed_json *node, struct bytes pointer);

/* From the root to the node; "" for the root. */
void placed_json_put_pointer(const struct placed_json *node, struct buf *out);
/* Both from 1; columns are characters. */
void placed_json_place(struct bytes json, size_t offset, unsigned *line, unsigned *column);

/* As JSON values: 1 is 1.0, and the order of keys is no matter. */
bool placed_json_equal(const struct placed_json *a, const struct placed_json *b);
uint64_t placed_json_hash(const struct placed_json *node); /* of equal ones the same */

/* Writes it without blanks, keys in their order. */
void placed_json_put(const struct placed_json *node, struct buf *out);

static inline bool placed_is_boolean(const struct placed_json *node)
{
    return node->kind == PLACED_FALSE || node->kind == PLACED_TRUE;
}

/* "null", "boolean", "number", "string", "array", "object". */
const char *placed_kind_name(enum placed_kind kind);

#endif
