/* SPDX-License-Identifier: Apache-2.0 */
/* photo_address.h - what an offer may name as the place of a photo besides web addresses. */
#ifndef TORG_MODEL_PHOTO_ADDRESS_H
#define TORG_MODEL_PHOTO_ADDRESS_H

#include <stdbool.h>
#include <string.h>

#define PHOTO_UPLOAD_SCHEME "upload:" /* and the SHA-256 of the file in hex */

enum { PHOTO_UPLOAD_DIGITS = 64 };

static inline bool photo_address_is_upload(const char *url)
{
    size_t size = strlen(PHOTO_UPLOAD_SCHEME);

    return strncmp(url, PHOTO_UPLOAD_SCHEME, size) == 0 &&
           strspn(url + size, "0123456789abcdef") == PHOTO_UPLOAD_DIGITS &&
           !url[size + PHOTO_UPLOAD_DIGITS];
}

#endif
