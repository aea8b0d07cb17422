/* SPDX-License-Identifier: Apache-2.0 */
/*
 * seal.h - a keyed hash (SipHash-2-4) that distinguishes what we issued from what somebody made up.
 *
 * For bytes that are handed out and come back: nobody can make the seal of other bytes without the
 * key. It hides nothing.
 */
#ifndef TORG_BASE_SEAL_H
#define TORG_BASE_SEAL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/bytes.h"

enum { SEAL_KEY_SIZE = 16, SEAL_SIZE = 8 };

struct seal {
    uint8_t key[SEAL_KEY_SIZE];
};

uint64_t seal_hash(const struct seal *seal, struct bytes bytes);

/* Appends the seal of all that is in it. */
void seal_put(const struct seal *seal, struct buf *bytes);
/* Cuts the seal off; false when it is not that of what is before it. */
bool seal_check(const struct seal *seal, struct bytes *sealed);

#endif
