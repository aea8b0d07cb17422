/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pieces.h - the first pass of analysis: text becomes runs of letters and runs of digits.
 *
 * Bytes of a document or a query go in, of any kind; out come folded runs with their place in the
 * source and what stands between them. No language is known here: analysis.c makes words of it.
 */
#ifndef TORG_INDEX_TEXT_PIECES_H
#define TORG_INDEX_TEXT_PIECES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "index/text/unicode.h"

enum piece_kind { PIECE_LETTERS, PIECE_DIGITS, PIECE_IDEOGRAPH };

/* What stands before a piece: nothing, one character (itself, if ASCII), or more. */
enum gap {
    GAP_TIGHT = 0,
    GAP_BLANK = ' ',      /* any single blank but ... */
    GAP_THIN = 0x80,      /* ... one that does not break a line */
    GAP_SIGN = 0x81,      /* a single sign that is not ASCII */
    GAP_DOT_BLANK = 0x82, /* ". " */
    GAP_MANY = 0xFF,      /* more; so begins the text */
};

struct piece {
    uint32_t start, end; /* bytes of the source */
    uint32_t form;       /* offset in forms */
    uint8_t size;        /* of the form, at most TOKEN_SIZE_MAX */
    uint8_t kind;        /* enum piece_kind */
    uint8_t scripts;     /* a bit (1 << enum script) for each script of its letters */
    uint8_t gap;         /* enum gap, or an ASCII sign */
};

struct pieces {
    struct piece *list; /* owned; one more than count is allocated */
    size_t count, capacity;
    uint8_t *forms; /* owned; room is left for what analysis.c adds */
    size_t form_size, form_capacity;
    bool truncated; /* a limit was met; what follows it is not there */
};

void pieces_release(struct pieces *pieces);

/* Replaces the content by that of the text. */
void pieces_scan(struct pieces *pieces, struct bytes text);

/* Room for size more bytes of forms; moves forms. */
void pieces_reserve(struct pieces *pieces, size_t size);

#endif
