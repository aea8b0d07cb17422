/* SPDX-License-Identifier: Apache-2.0 */
/* digest.h - SHA-256: names for contents that strangers choose, where hash64 could be tricked. */
#ifndef TORG_ACCESS_DIGEST_H
#define TORG_ACCESS_DIGEST_H

#include <stdint.h>

#include "base/bytes.h"

enum { DIGEST_SIZE = 32 };

void digest_of(struct bytes bytes, uint8_t digest[DIGEST_SIZE]);

#endif
