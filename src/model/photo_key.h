/* SPDX-License-Identifier: Apache-2.0 */
/*
 * photo_key.h - the keys of a photo's pictures: STEM-MADE-WIDTH.jpg.
 *
 * The stem is the beginning of the file's SHA-256, MADE the time at which its pictures were first
 * put (milliseconds in hex), so that what is swept and comes again gets other names than those
 * that are being deleted. Keys of other programs, and of before, may have any form.
 */
#ifndef TORG_MODEL_PHOTO_KEY_H
#define TORG_MODEL_PHOTO_KEY_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "model/photo_address.h"

enum { PHOTO_STEM_DIGITS = 40 }; /* 160 bits cannot be searched through */

/* What is the same for all pictures of one file; of a key that is not ours, all of it. */
static inline struct bytes photo_key_stem(const char *key)
{
    size_t digits = strspn(key, "0123456789abcdef");

    return digits == PHOTO_STEM_DIGITS && key[digits] == '-' ? bytes_make(key, digits)
                                                             : bytes_of(key);
}

/* 0: it is not ours, or from before keys had it. */
static inline int64_t photo_key_made_ms(const char *key)
{
    struct bytes stem = photo_key_stem(key);
    const char *made = key + stem.size + 1;
    size_t digits;

    if (!key[stem.size])
        return 0;
    digits = strspn(made, "0123456789abcdef");
    return digits && digits <= 12 && made[digits] == '-' ? (int64_t)strtoull(made, NULL, 16) : 0;
}

/* Of an address for which photo_address_is_upload holds: that of its pictures' keys. */
static inline struct bytes photo_upload_stem(const char *url)
{
    return bytes_make(url + strlen(PHOTO_UPLOAD_SCHEME), PHOTO_STEM_DIGITS);
}

#endif
