/* SPDX-License-Identifier: Apache-2.0 */
/* field_name.c - see field_name.h. */
#include "model/field_name.h"

#include "base/memory.h"
#include "model/bounds.h"

/* From U+0430 on. */
static const char *const cyrillic[] = {
    "a", "b", "v", "g", "d", "e", "zh", "z",  "i",  "y",   "k", "l", "m", "n", "o",  "p",
    "r", "s", "t", "u", "f", "h", "c",  "ch", "sh", "sch", "",  "y", "",  "e", "yu", "ya",
};

/* The letter that begins at *at, in lower case; 0: none of those that are known. */
static unsigned take_cyrillic(struct bytes name, size_t *at)
{
    unsigned letter;

    if (*at + 1 >= name.size || (name.data[*at] & 0xfe) != 0xd0)
        return 0;
    letter = (unsigned)(name.data[*at] & 0x1f) << 6 | (name.data[*at + 1] & 0x3f);
    *at += 2;
    if (letter == 0x401 || letter == 0x451)
        return 0x435; /* ё as е */
    if (letter >= 0x410 && letter < 0x430)
        letter += 0x20;
    return letter >= 0x430 && letter < 0x450 ? letter : 0;
}

static bool put_letters(struct bytes name, struct buf *out)
{
    for (size_t at = 0; at < name.size;) {
        uint8_t byte = name.data[at];

        if (byte >= 0x80) {
            unsigned letter = take_cyrillic(name, &at);

            if (!letter)
                return false;
            buf_put_text(out, cyrillic[letter - 0x430]);
            continue;
        }
        at++;
        if (byte >= 'A' && byte <= 'Z')
            byte = (uint8_t)(byte - 'A' + 'a');
        if ((byte < 'a' || byte > 'z') && (byte < '0' || byte > '9') && byte != '.' && byte != '-')
            byte = '_';
        buf_put_byte(out, byte);
    }
    return true;
}

bool field_name_put(struct bytes name, struct buf *out)
{
    size_t start = out->size;
    bool ok = put_letters(name, out) && !buf_failed(out) && out->size > start &&
              out->size - start <= DOCUMENT_FIELD_NAME_SIZE_MAX && out->data[start] >= 'a' &&
              out->data[start] <= 'z';

    _Static_assert(ARRAY_COUNT(cyrillic) == 0x20, "one for each letter");
    if (!ok)
        buf_truncate(out, start);
    return ok;
}
