/* SPDX-License-Identifier: Apache-2.0 */
/*
 * text.h - the text of a feed in blocks of UTF-8, whatever it was written in.
 *
 * The encoding is the one asked for, or told by a byte order mark, or guessed at the first byte
 * that is not ASCII: windows-1251 where it cannot be UTF-8. Bytes that stand for nothing there
 * become U+FFFD; UTF-8 goes through unchecked, for the reader to say which row is wrong. A zero
 * byte is in no text and ends it with ERR_INVALID.
 */
#ifndef TORG_FEEDS_FORMATS_TEXT_H
#define TORG_FEEDS_FORMATS_TEXT_H

#include <iconv.h>

#include "base/buf.h"
#include "feeds/bounds.h"
#include "feeds/formats/format.h"

struct feed_text {
    uint8_t raw[FEED_BLOCK_SIZE];
    size_t raw_size; /* the part of a character that a block ended with */
    uint64_t offset; /* of the source, behind raw */
    bool started;
    bool guessing;
    bool converts;
    iconv_t converter; /* when it converts */
    struct buf out;
};

void feed_text_init(struct feed_text *text);
void feed_text_release(struct feed_text *text);
/* *block: valid until the next call; empty at the end. */
int feed_text_next(struct feed_text *text, struct feed_reader *reader, struct bytes *block,
                   struct err *err);

bool feed_encoding_is_known(const char *name);

/* How the table of a single-byte encoding reads: characters[byte], -1 where there is none. False:
 * it is no single-byte encoding that iconv and we know. */
bool feed_encoding_table(const char *name, int characters[256]);

#endif
