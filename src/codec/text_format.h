/* SPDX-License-Identifier: Apache-2.0 */
/*
 * text_format.h - protobuf's text format as a tree of fields that know where they stand.
 *
 *   Name: "a"  Body { Input: [TEXT, JSON]  # two fields of one name
 *   }
 *
 * No message type is asked for: who reads the tree knows the names, and tells what is wrong by line
 * and column. Names of extensions and of Any are refused, all else of the format is read: lists,
 * both kinds of brackets and quotation marks, texts in several pieces, commas or semicolons or
 * none, comments. protobuf-c has no reader of it.
 *
 * A tree lives in its arena and borrows nothing but that. Threads: no state; any thread.
 */
#ifndef TORG_CODEC_TEXT_FORMAT_H
#define TORG_CODEC_TEXT_FORMAT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/bytes.h"
#include "base/err.h"

enum text_field_kind {
    TEXT_FIELD_WORD,    /* true, JSON, 15, -3.5 */
    TEXT_FIELD_STRING,  /* without quotation marks and escapes; any bytes */
    TEXT_FIELD_MESSAGE, /* fields */
};

struct text_field {
    enum text_field_kind kind;
    unsigned line; /* of its name; from 1 */
    unsigned column;
    struct bytes name;
    struct bytes value;
    const struct text_field *fields; /* of a message: the first */
    const struct text_field *next;   /* behind it, in the same message */
};

/* The fields of a message's text; *fields is NULL when it has none. Failures tell line and column,
 * and that TEXT_FORMAT_* of bounds.h is passed. */
int text_format_read(struct bytes text, struct arena *arena, const struct text_field **fields,
                     struct err *err);

#endif
