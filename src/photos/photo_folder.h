/* SPDX-License-Identifier: Apache-2.0 */
/*
 * photo_folder.h - photos for those who look at offers: GET /v1/photos/KEY, KEY of a PhotoSize.
 *
 * Only while an offer that everybody may see refers to the photo (ledger.h).
 *
 * The blob of a photo is named PHOTO_BLOB_PREFIX and the key, so no key leads to what else is in
 * the blob store. Keys are made of a hash of the content: what a key gives never changes, and may
 * be kept by browsers for a year.
 *
 * What it is, is told by its first bytes, never by its name. Anything but a picture is handed out
 * as a file to be saved; and every answer forbids what it shows to run or load anything, so that
 * an SVG that was opened by itself is as harmless as a JPEG.
 */
#ifndef TORG_PHOTOS_PHOTO_FOLDER_H
#define TORG_PHOTOS_PHOTO_FOLDER_H

#include "net/server/calls/folder.h"
#include "photos/ledger.h"

#define PHOTO_BLOB_PREFIX "photos/"
#define UPLOAD_BLOB_PREFIX "uploads/"

/* For server_add_folder; the ledger is borrowed for its life. */
struct folder photo_folder(struct ledger *ledger);

/* What a key gives to who may see it: seller as in ledger_may_see. ERR_NOT_FOUND: there is none, or
 * it is none of his. */
int photo_read(struct ledger *ledger, struct bytes key, const char *seller, struct arena *arena,
               struct buf *content, struct folder_file *file, struct err *err);

/* "image/jpeg"; NULL: it is none of the pictures we show. */
const char *photo_content_type(struct bytes content);

#endif
