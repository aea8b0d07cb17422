/* SPDX-License-Identifier: Apache-2.0 */
/* row_fits.h - whether a document of the registry is in the index of an epoch. */
#ifndef TORG_INSPECT_VERIFY_ROW_FITS_H
#define TORG_INSPECT_VERIFY_ROW_FITS_H

#include "inspect/inspect.h"

/* That of its own epoch always; others when it fits their schema. One whose own epoch was given up
 * is to be in the one that serves, or to be told of. */
int row_fits(const struct inspect *inspect, const struct client_view *client, int64_t epoch,
             struct bytes pk, struct arena *arena, bool *fits, struct err *err);

#endif
