/* SPDX-License-Identifier: Apache-2.0 */
/*
 * text_segment_format.h - the bytes of a segment, for its writer and its readers only.
 *
 *     header   320 bytes: magic, format, places, counts, section table, XXH3-64 of all before it
 *     POST     blocks and short lists, in the order of terms
 *     POS      positions and forms of the blocks, and of the rests of long lists
 *     TAILS    positions and forms of short lists: apart, for they are rarely asked for
 *     DIR      16 bytes a block of 256 postings, and one for the rest of a long list
 *     CODES    u32 a code: the four term frequencies it stands for, a byte each
 *     TERMS    bitmap of the term ids present, from 0
 *     RANKS    u32 a 512 bits of TERMS: terms before them
 *     ENTRIES  u64 a term: where its postings are (see below)
 *     OWNED    ids the segment was born with: count u32, 0 u32, 16 bytes a window, containers
 *     LENGTHS  4 bytes an owned document, in the order of ids: its fields' lengths
 *     SUMS     XXH3-64 of every 64 KB from byte 0 up to here
 *     footer   XXH3-64 of SUMS, length of the file, magic
 *
 * Sections begin at multiples of 64; the gaps are zeros. All integers are little-endian.
 *
 * entry    bit 63 set: one posting, whole: id 32 | code 8 | position 15 | form 8
 *          bit 62 set: a short list: count 8 bits from bit 54 | byte offset in POST
 *          else a long list: count 30 bits from bit 32 | first entry of DIR
 * DIR      last id u32 | POST offset / 8 u32 | kind 2 bits, width 6 | high size 2 bits, code
 *          width 6 | code exceptions u8 | bounds of four fields u8 | 0 u8
 * block    POS offset / 8 u32 | ids | codes, patched | zeros to 8
 *          ids: gaps - 1 packed wide or narrow, or 64-bit words from that of the id after the
 *          block before
 * list     a short one, or the rest of a long one: id width 6 bits, code width 6, fields 4 |
 *          bounds of those fields u8 | offset of its occurrences, varint | bits: gaps - 1, codes |
 *          The rest of a long list has no bounds, they are in DIR, and its occurrences are in POS.
 *          Those of a short list are in TAILS; of less than SHORT_APART_MIN postings they follow
 *          here, and there is no offset.
 * occurrences of a list: position width 6 bits, form width 6, 0 4 | bits: distances from the
 *          position before in the field, forms
 * POS      size u32 | position width u8, exceptions u24 | form width u8, exceptions u24 |
 *          position bits | form bits | position exceptions | form exceptions | zeros to 8
 *
 * The gap of a list's first id is counted from first_id - 1 of the header.
 */
#ifndef TORG_INDEX_POSTINGS_TEXT_SEGMENT_FORMAT_H
#define TORG_INDEX_POSTINGS_TEXT_SEGMENT_FORMAT_H

#include "base/endian.h"
#include "index/bounds.h"
#include "index/postings/text_segment.h"

/* Eight bytes; not a string, no terminator is written. */
static const uint8_t segment_magic[8] = {'T', 'O', 'R', 'G', 'P', 'S', 'T', '1'};
#define SEGMENT_SIZE_MAX ((uint64_t)TEXT_SEGMENT_SIZE_MB_MAX << 20)
#define SEGMENT_INLINE (UINT64_C(1) << 63)
#define SEGMENT_SHORT (UINT64_C(1) << 62)

enum {
    SEGMENT_FORMAT = 2,
    SEGMENT_HEADER_SIZE = 320,
    SEGMENT_FOOTER_SIZE = 24,
    SEGMENT_CHUNK_SIZE = 64 << 10,
    SEGMENT_ALIGN = 64,
    SEGMENT_RANK_BITS = 512,

    DIR_ENTRY_SIZE = 16,
    DIR_BOUNDS = 11,
    OWNED_HEAD_SIZE = 8,
    OWNED_ENTRY_SIZE =
        16, /* window u32, offset of its container u32, documents before u32, count u32 */
    OWNED_LIST_MAX = 256, /* a container of more is a bitmap */
    POS_HEAD_SIZE = 12,
    BLOCK_HEAD_SIZE = 4,
    SHORT_COUNT_SHIFT = 54,
    SHORT_APART_MIN = 8, /* below, an offset is as long as what it leads to */
    LIST_HEAD_SIZE = 2,
    LIST_WIDTH_BITS = 6,
    LIST_FIELDS_SHIFT = 12,
    LONG_COUNT_SHIFT = 32,
    BITS_WORDS_MAX = 4 * 33, /* more and packing is smaller at any width */

    INLINE_CODE_MAX = 255,
    INLINE_POSITION_MAX = (1 << 15) - 1,
    INLINE_FORM_MAX = 255,
};

enum block_kind { BLOCK_WIDE = 0, BLOCK_NARROW = 1, BLOCK_BITS = 2, BLOCK_REST = 3 };

/* Where fields stand in the header. */
enum {
    HEADER_FORMAT = 8,
    HEADER_SECTION_COUNT = 12,
    HEADER_EPOCH = 16,
    HEADER_SEGMENT = 24,
    HEADER_TOPIC_OFFSET = 32,
    HEADER_PLACE = 40, /* T, S, V, G: u32 each */
    HEADER_FIRST_ID = 56,
    HEADER_LAST_ID = 60,
    HEADER_DOCS = 64,
    HEADER_TERM_END = 68,
    HEADER_POSTINGS = 72,
    HEADER_OCCURRENCES = 80,
    HEADER_CODES = 88,
    HEADER_TERMS = 92,
    HEADER_SECTIONS = 96, /* offset u64, size u64 each */
    HEADER_HASH = SEGMENT_HEADER_SIZE - 8,
};

_Static_assert(HEADER_SECTIONS + SECTION_COUNT * 16 <= HEADER_HASH, "the section table fits");

static inline uint32_t tfs_count(uint32_t packed)
{
    return (packed & 255) + (packed >> 8 & 255) + (packed >> 16 & 255) + (packed >> 24);
}

#endif
