/* SPDX-License-Identifier: Apache-2.0 */
/*
 * intake.h - from a file's bytes to pictures in the blob store, as a result message describes them.
 *
 * Keys are made of the SHA-256 of the file: the same file is developed again to the same names, so
 * whatever was stopped halfway is done again to the same effect, and nobody can make a file whose
 * pictures would take another's place.
 */
#ifndef TORG_PHOTOS_INTAKE_H
#define TORG_PHOTOS_INTAKE_H

#include "photos/darkroom.h"
#include "photos/ledger.h"
#include "torg/v1/photo.pb-c.h"

struct intake {
    struct darkroom *darkroom; /* both borrowed */
    struct ledger *ledger;
};

/* NULL: the first bytes are those of a picture that can be developed. Else why not, for people. */
const char *intake_refusal(struct bytes file);

/* The pictures are durable when it returns 0; the item's state, sizes, hash, look and preview are
 * set. uploader: the seller whose upload it is, which is kept, too; NULL: it is none. ERR_INVALID,
 * ERR_TIMEOUT, ERR_UNAVAILABLE: as of darkroom_develop. */
int intake_develop(const struct intake *intake, struct bytes file, const char *uploader,
                   struct arena *arena, Torg__V1__PhotoResult__Item *item, struct err *err);

#endif
