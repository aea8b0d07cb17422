/* SPDX-License-Identifier: Apache-2.0 */
/* text.c - see text.h. The only place that uses iconv. */
#include "feeds/formats/text.h"

#include <errno.h>
#include <inttypes.h>
#include <strings.h>

#include "base/memory.h"
#include "base/text.h"

enum { CONVERTED_SIZE_MAX = 4 * FEED_BLOCK_SIZE + 16 };

void feed_text_init(struct feed_text *text)
{
    *text = (struct feed_text){.out = BUF_INIT(CONVERTED_SIZE_MAX)};
}

void feed_text_release(struct feed_text *text)
{
    if (text->converts)
        iconv_close(text->converter);
    text->converts = false;
    buf_release(&text->out);
}

static int set_encoding(struct feed_text *text, const char *name, struct err *err)
{
    if (strcasecmp(name, "utf-8") == 0 || strcasecmp(name, "utf8") == 0)
        return 0;
    text->converter = iconv_open("UTF-8", name);
    text->converts = text->converter != (iconv_t)-1; /* NOLINT */
    if (!text->converts)
        return err_set(err, ERR_INVALID, "encoding \"%s\" is not known; save the file as UTF-8",
                       name);
    return 0;
}

bool feed_encoding_is_known(const char *name)
{
    struct feed_text text;
    bool is_known;

    feed_text_init(&text);
    is_known = set_encoding(&text, name, NULL) == 0;
    feed_text_release(&text);
    return is_known;
}

static bool begins(const struct feed_text *text, const char *mark)
{
    return bytes_begin(bytes_make(text->raw, text->raw_size), bytes_of(mark));
}

static void drop(struct feed_text *text, size_t count)
{
    memmove(text->raw, text->raw + count, text->raw_size - count);
    text->raw_size -= count;
}

/* At the first block: what was asked for, and what a byte order mark tells. */
static int start(struct feed_text *text, const char *asked, struct err *err)
{
    int rc = 0;

    text->started = true;
    if (begins(text, "\xef\xbb\xbf")) {
        drop(text, 3);
    } else if (begins(text, "\xff\xfe")) {
        drop(text, 2);
        rc = set_encoding(text, "UTF-16LE", err);
    } else if (begins(text, "\xfe\xff")) {
        drop(text, 2);
        rc = set_encoding(text, "UTF-16BE", err);
    } else if (asked[0]) {
        rc = set_encoding(text, asked, err);
    } else {
        text->guessing = true;
    }
    return rc;
}

/* Length of the character at the front; 0: it is none of UTF-8. */
static size_t utf8_length(struct bytes text)
{
    size_t length;

    for (length = 2; length <= 4 && length <= text.size; length++) {
        if (text_is_utf8(bytes_make(text.data, length)))
            return length;
    }
    return 0;
}

/* By majority, so that one damaged byte does not change the reading of the whole file: letters
 * of windows-1251 rarely look like a character of UTF-8. */
static bool looks_like_utf8(struct bytes block)
{
    size_t good = 0;
    size_t bad = 0;
    size_t i = 0;

    while (i < block.size) {
        size_t length = 1;

        if (block.data[i] >= 0x80) {
            length = utf8_length(bytes_skip(block, i));
            good += length > 0;
            bad += length == 0 && block.size - i >= 4; /* the block's end may cut one */
            length += length == 0;
        }
        i += length;
    }
    return good >= bad && (good > 0 || bad == 0);
}

static bool is_ascii(struct bytes block)
{
    size_t i;
    uint8_t high = 0;

    for (i = 0; i < block.size; i++)
        high |= block.data[i];
    return high < 0x80;
}

static int guess(struct feed_text *text, struct err *err)
{
    struct bytes block = bytes_make(text->raw, text->raw_size);

    if (is_ascii(block))
        return 0;
    text->guessing = false;
    return looks_like_utf8(block) ? 0 : set_encoding(text, "WINDOWS-1251", err);
}

/* Everything in raw but a cut last character, into out. */
static void convert(struct feed_text *text, bool last)
{
    char *from = (char *)text->raw;
    size_t left = text->raw_size;

    while (left) {
        char *to = (char *)buf_reserve(&text->out, 4 * left + 16);
        size_t room = 4 * left + 16;
        size_t done;
        int problem;

        if (!to)
            return;
        done = iconv(text->converter, &from, &left, &to, &room);
        problem = errno;
        buf_advance(&text->out, (size_t)(to - (char *)(text->out.data + text->out.size)));
        if (done != (size_t)-1 || (problem == EINVAL && !last))
            break;
        buf_put_text(&text->out, "\xef\xbf\xbd");
        from++;
        left--;
    }
    memmove(text->raw, from, left);
    text->raw_size = left;
}

/* block was made of the source's bytes begin to end, and may be longer or shorter than they are. */
static int check_zero(struct bytes block, uint64_t begin, uint64_t end, struct err *err)
{
    const uint8_t *zero = block.size ? memchr(block.data, 0, block.size) : NULL;

    if (!zero)
        return 0;
    return err_set(err, ERR_INVALID,
                   "a zero byte near byte %" PRIu64 ": this is not text; save the file as UTF-8",
                   begin + (uint64_t)(zero - block.data) * (end - begin) / block.size);
}

int feed_text_next(struct feed_text *text, struct feed_reader *reader, struct bytes *block,
                   struct err *err)
{
    uint64_t begin = 0;
    size_t got = 0;
    int rc = 0;

    *block = BYTES_EMPTY;
    buf_reset(&text->out);
    while (block->size == 0) {
        rc = feed_input(reader, text->raw + text->raw_size, sizeof(text->raw) - text->raw_size,
                        &got, err);
        if (rc)
            return rc;
        text->raw_size += got;
        text->offset += got;
        if (!text->started)
            rc = start(text, reader->encoding, err);
        if (!rc && text->guessing)
            rc = guess(text, err);
        if (rc)
            return rc;
        begin = text->offset - text->raw_size;
        if (text->converts) {
            convert(text, got == 0);
            *block = buf_bytes(&text->out);
        } else {
            *block = bytes_make(text->raw, text->raw_size);
            text->raw_size = 0;
        }
        if (got == 0)
            break;
    }
    return check_zero(*block, begin, text->offset - text->raw_size, err);
}

bool feed_encoding_table(const char *name, int characters[256])
{
    static const char *const known[] = {"windows-1251", "cp1251",     "windows-1252", "koi8-r",
                                        "koi8-u",       "ibm866",     "cp866",        "iso-8859-5",
                                        "x-cp1251",     "iso-8859-15"};
    const char *spelled = strcasecmp(name, "x-cp1251") == 0 ? "cp1251" : name;
    bool found = false;
    iconv_t converter;
    size_t i;

    for (i = 0; i < ARRAY_COUNT(known); i++)
        found = found || strcasecmp(known[i], name) == 0;
    if (!found)
        return false;
    converter = iconv_open("UCS-4LE", spelled);
    if (converter == (iconv_t)-1) /* NOLINT */
        return false;
    for (i = 0; i < 256; i++) {
        char byte = (char)i;
        char *from = &byte;
        uint8_t wide[4];
        char *to = (char *)wide;
        size_t left = 1;
        size_t room = sizeof(wide);

        characters[i] = -1;
        if (iconv(converter, &from, &left, &to, &room) != (size_t)-1 && room == 0)
            characters[i] = wide[0] | wide[1] << 8 | wide[2] << 16;
        else
            iconv(converter, NULL, NULL, NULL, NULL);
    }
    iconv_close(converter);
    return true;
}
