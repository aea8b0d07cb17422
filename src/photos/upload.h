/* SPDX-License-Identifier: Apache-2.0 */
/*
 * upload.h - photos that sellers send to us: POST /v1/photos with the file as body.
 *
 * The file is developed at once, so that what cannot be used is told at once; then it is kept as it
 * came and has an address, "upload:" and the SHA-256 of it, for the offer to name, which is
 * answered with what was made of it (source.h). Who asks for the address of one from before that
 * was kept gets the kept file.
 */
#ifndef TORG_PHOTOS_UPLOAD_H
#define TORG_PHOTOS_UPLOAD_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/err.h"
#include "net/rest.h"
#include "photos/intake.h"
#include "photos/ledger.h"

bool upload_is_address(const char *url);
/* Appends the kept file. ERR_NOT_FOUND: there is none of this address. */
int upload_read(const struct ledger *ledger, const char *url, struct buf *file, struct err *err);

/* Also GET /v1/own-photos/KEY, for those whose photo nobody else may see yet, or any more. The
 * intake is borrowed for the service's life. */
struct rest_service upload_service(const struct intake *intake);

#endif
