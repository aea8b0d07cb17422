/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pieces.c - see pieces.h. One pass over the source; runs of letters and blanks of one and two
 * bytes, which is nearly all of Russian and English, never leave the inner loops.
 */
#include "index/text/pieces.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "index/bounds.h"

enum { FORM_SLACK = 2 * TOKEN_SIZE_MAX };

_Static_assert(TOKEN_SIZE_MAX <= UINT8_MAX, "piece.size is a byte");

struct scanner {
    struct pieces *pieces;
    struct piece *open; /* NULL: between pieces */
    uint8_t *out;       /* end of the open piece's form */
    bool cut;           /* the open piece is as long as a word may be */
    bool apostrophe;    /* one follows the open piece's letters: a letter must come next */
    uint8_t gap;
};

void pieces_release(struct pieces *pieces)
{
    free(pieces->list);
    free(pieces->forms);
    *pieces = (struct pieces){0};
}

void pieces_reserve(struct pieces *pieces, size_t size)
{
    if (pieces->form_capacity - pieces->form_size >= size)
        return;
    pieces->form_capacity = 2 * pieces->form_capacity + size;
    pieces->forms = mem_resize(pieces->forms, pieces->form_capacity);
}

static bool open_piece(struct scanner *scanner, enum piece_kind kind, size_t start)
{
    struct pieces *pieces = scanner->pieces;
    struct piece *piece;

    if (pieces->count == PIECE_COUNT_MAX) {
        pieces->truncated = true;
        return false;
    }
    if (pieces->count == pieces->capacity) {
        pieces->capacity = pieces->capacity ? 2 * pieces->capacity : 256;
        pieces->list = mem_resize(pieces->list, pieces->capacity * sizeof(*pieces->list));
    }
    pieces_reserve(pieces, FORM_SLACK);
    piece = &pieces->list[pieces->count++];
    *piece = (struct piece){
        .start = (uint32_t)start,
        .form = (uint32_t)pieces->form_size,
        .kind = (uint8_t)kind,
        .gap = scanner->gap,
    };
    scanner->open = piece;
    scanner->out = pieces->forms + pieces->form_size;
    scanner->cut = false;
    scanner->apostrophe = false;
    scanner->gap = GAP_TIGHT;
    return true;
}

static void close_piece(struct scanner *scanner)
{
    struct pieces *pieces = scanner->pieces;

    if (!scanner->open)
        return;
    scanner->open->size = (uint8_t)(scanner->out - pieces->forms - scanner->open->form);
    pieces->form_size = (size_t)(scanner->out - pieces->forms);
    scanner->open = NULL;
    if (scanner->apostrophe)
        scanner->gap = '\'';
    scanner->apostrophe = false;
}

/* Makes the open piece one of this kind; false when there is no room for more. */
static bool continue_piece(struct scanner *scanner, enum piece_kind kind, size_t start)
{
    if (scanner->open && scanner->open->kind == kind && kind != PIECE_IDEOGRAPH) {
        scanner->apostrophe = false;
        return true;
    }
    close_piece(scanner);
    return open_piece(scanner, kind, start);
}

static void append(struct scanner *scanner, uint32_t code)
{
    size_t used = (size_t)(scanner->out - scanner->pieces->forms) - scanner->open->form;

    if (scanner->cut || used > TOKEN_SIZE_MAX - UNICODE_UTF8_SIZE_MAX) {
        scanner->cut = true;
        return;
    }
    scanner->out += unicode_encode(code, scanner->out);
}

/* й ў ї written as a letter and a mark are the letters they look like; other accents go. */
static void compose(struct scanner *scanner, uint32_t accent)
{
    static const struct {
        uint16_t accent;
        uint8_t base[2], whole[2];
    } known[] = {
        {0x306, {0xD0, 0xB8}, {0xD0, 0xB9}},
        {0x306, {0xD1, 0x83}, {0xD1, 0x9E}},
        {0x308, {0xD1, 0x96}, {0xD1, 0x97}},
    };
    size_t used = (size_t)(scanner->out - scanner->pieces->forms) - scanner->open->form;

    for (size_t i = 0; i < ARRAY_COUNT(known) && used >= 2 && !scanner->cut; i++) {
        if (known[i].accent == accent && memcmp(scanner->out - 2, known[i].base, 2) == 0) {
            memcpy(scanner->out - 2, known[i].whole, 2);
            break;
        }
    }
}

static uint8_t gap_after(uint8_t gap, uint32_t code, enum char_class class)
{
    if (gap == '.' && class == CHAR_BLANK)
        return GAP_DOT_BLANK;
    if (gap != GAP_TIGHT)
        return GAP_MANY;
    if (class == CHAR_BLANK)
        return code == 0xA0 || code == 0x202F || code == 0x2007 || code == 0x2009 ? GAP_THIN
                                                                                  : GAP_BLANK;
    if (class == CHAR_HYPHEN)
        return '-';
    if (class == CHAR_APOSTROPHE)
        return '\'';
    return code > 0x20 && code < 0x7F ? (uint8_t)code : GAP_SIGN;
}

/* One folded code point, from [start, end) of the source; false when there is no room for more. */
static bool add_folded(struct scanner *scanner, const struct folded *folded, size_t start,
                       size_t end)
{
    bool in_word = scanner->open && scanner->open->kind == PIECE_LETTERS;

    switch (folded->class) {
    case CHAR_LETTER:
    case CHAR_DIGIT:
    case CHAR_IDEOGRAPH:
        if (!continue_piece(scanner,
                            folded->class == CHAR_LETTER  ? PIECE_LETTERS
                            : folded->class == CHAR_DIGIT ? PIECE_DIGITS
                                                          : PIECE_IDEOGRAPH,
                            start))
            return false;
        append(scanner, folded->code);
        scanner->open->scripts |= (uint8_t)(1U << folded->script);
        scanner->open->end = (uint32_t)end;
        return true;
    case CHAR_MARK:
    case CHAR_ACCENT:
        if (!in_word)
            return true;
        if (folded->class == CHAR_MARK)
            append(scanner, folded->code);
        else
            compose(scanner, folded->code);
        scanner->open->end = (uint32_t)end;
        return true;
    case CHAR_IGNORE:
        return true;
    case CHAR_APOSTROPHE:
        if (in_word && !scanner->apostrophe) {
            scanner->apostrophe = true;
            return true;
        }
        break;
    case CHAR_BREAK:
    case CHAR_BLANK:
    case CHAR_HYPHEN:
        break;
    }
    close_piece(scanner);
    scanner->gap = gap_after(scanner->gap, folded->code, folded->class);
    return true;
}

/* The entry of a character of one or two bytes, and its size; size 0: it is another. */
static inline uint32_t fast_entry(const uint8_t *at, const uint8_t *end, size_t *size)
{
    if (*at < 0x80) {
        *size = 1;
        return unicode_fast[*at];
    }
    if (*at >= 0xC2 && *at < 0xE0 && end - at >= 2 && (at[1] & 0xC0) == 0x80) {
        *size = 2;
        return unicode_fast[(size_t)(at[0] & 0x1F) << 6 | (at[1] & 0x3F)];
    }
    *size = 0;
    return FAST_SLOW;
}

/* Takes as many letters as follow; the open piece is one of letters. Returns where it stopped. */
static const uint8_t *take_letters(struct scanner *scanner, const uint8_t *at, const uint8_t *end)
{
    uint8_t *last =
        scanner->pieces->forms + scanner->open->form + TOKEN_SIZE_MAX - UNICODE_UTF8_SIZE_MAX;
    uint8_t *out = scanner->out;
    unsigned scripts = 0;

    while (at < end && out <= last) {
        size_t size;
        uint32_t entry = fast_entry(at, end, &size);

        if (fast_class(entry) != CHAR_LETTER || entry & FAST_SLOW)
            break;
        out[0] = (uint8_t)entry; /* two bytes always: there is slack behind */
        out[1] = (uint8_t)(entry >> 8);
        out += fast_size(entry);
        scripts |= 1U << fast_script(entry);
        at += size;
    }
    scanner->out = out;
    scanner->open->scripts |= (uint8_t)scripts;
    return at;
}

static bool take_slow(struct scanner *scanner, const uint8_t *base, const uint8_t **at,
                      const uint8_t *end)
{
    struct folded folded[UNICODE_FOLD_COUNT_MAX];
    uint32_t code;
    size_t start = (size_t)(*at - base);
    size_t count;
    size_t i;

    *at += unicode_decode(*at, end, &code);
    count = unicode_fold(code, folded);
    for (i = 0; i < count; i++) {
        if (!add_folded(scanner, &folded[i], start, (size_t)(*at - base)))
            return false;
    }
    return true;
}

void pieces_scan(struct pieces *pieces, struct bytes text)
{
    struct scanner scanner = {.pieces = pieces, .gap = GAP_MANY};
    const uint8_t *at = text.data;
    const uint8_t *end;

    pieces->count = 0;
    pieces->form_size = 0;
    pieces->truncated = text.size > ANALYSIS_TEXT_SIZE_MAX;
    if (text.size == 0)
        return; /* it may have no address either */
    end = at + (pieces->truncated ? ANALYSIS_TEXT_SIZE_MAX : text.size);
    while (at < end) {
        size_t size;
        uint32_t entry = fast_entry(at, end, &size);

        if (fast_class(entry) == CHAR_LETTER && !(entry & FAST_SLOW) && !scanner.cut) {
            if (!continue_piece(&scanner, PIECE_LETTERS, (size_t)(at - text.data)))
                break;
            at = take_letters(&scanner, at, end);
            scanner.open->end = (uint32_t)(at - text.data);
            scanner.cut = (size_t)(scanner.out - pieces->forms) - scanner.open->form >
                          TOKEN_SIZE_MAX - UNICODE_UTF8_SIZE_MAX;
        } else if (*at == ' ') {
            close_piece(&scanner);
            scanner.gap = gap_after(scanner.gap, ' ', CHAR_BLANK);
            scanner.cut = false;
            at++;
        } else if (!take_slow(&scanner, text.data, &at, end)) {
            break;
        }
    }
    close_piece(&scanner);
}
