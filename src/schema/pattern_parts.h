/* SPDX-License-Identifier: Apache-2.0 */
/* pattern_parts.h - what the files of a pattern share (pattern.h). */
#ifndef TORG_SCHEMA_PATTERN_PARTS_H
#define TORG_SCHEMA_PATTERN_PARTS_H

#include <stddef.h>

#include "schema/pattern.h"

struct char_range {
    uint32_t first;
    uint32_t last;
};

struct char_class {
    struct char_range *ranges;
    size_t count;
    size_t capacity;     /* the parser's */
    uint32_t categories; /* of Unicode, that are in it as well (categories.h) */
    bool is_negated;     /* what is in none of them */
};

enum pattern_kind {
    PATTERN_EMPTY,
    PATTERN_CLASS,
    PATTERN_THEN,   /* left, then right */
    PATTERN_OR,     /* left or right */
    PATTERN_REPEAT, /* left, min to max times */
    PATTERN_BEGIN,  /* ^ */
    PATTERN_END,    /* $ */
    PATTERN_WORD,   /* \b */
    PATTERN_INSIDE, /* \B */
};

enum { PATTERN_FOR_EVER = -1 };

struct pattern_node {
    enum pattern_kind kind;
    const struct pattern_node *left;
    const struct pattern_node *right;
    int min;
    int max; /* PATTERN_FOR_EVER */
    const struct char_class *chars;
};

enum pattern_op {
    OP_CLASS, /* a character of chars, then the next instruction */
    OP_SPLIT, /* to and other */
    OP_JUMP,  /* to */
    OP_CHECK, /* BEGIN, END, WORD or INSIDE, then the next instruction */
    OP_MATCH,
};

struct pattern_step {
    enum pattern_op op;
    enum pattern_kind check;
    uint32_t to;
    uint32_t other;
    const struct char_class *chars;
};

struct pattern {
    struct pattern_step *steps;
    size_t count;
};

int pattern_parse(struct bytes text, struct arena *arena, const struct pattern_node **root,
                  struct err *err);

/* The character that text begins with, and its size; text is valid UTF-8 and not empty. */
static inline uint32_t pattern_char(struct bytes text, size_t *size)
{
    uint8_t c = text.data[0];

    *size = c < 0x80 ? 1 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4;
    if (*size > text.size || c < 0x80) {
        *size = 1;
        return c;
    }
    if (*size == 2)
        return (uint32_t)(c & 31) << 6 | (text.data[1] & 63);
    if (*size == 3)
        return (uint32_t)(c & 15) << 12 | (uint32_t)(text.data[1] & 63) << 6 | (text.data[2] & 63);
    return (uint32_t)(c & 7) << 18 | (uint32_t)(text.data[1] & 63) << 12 |
           (uint32_t)(text.data[2] & 63) << 6 | (text.data[3] & 63);
}

#endif
