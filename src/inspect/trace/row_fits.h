/* SPDX-License-Identifier: Apache-2.0 */
/* row_fits.h - whether a document of the registry is in the index of an epoch, and why not. */
#ifndef TORG_INSPECT_TRACE_ROW_FITS_H
#define TORG_INSPECT_TRACE_ROW_FITS_H

#include "inspect/inspect.h"

/* That of its own epoch always; others when it fits their schema. One whose own epoch was given up
 * is to be in the one that serves, or to be told of. */
int row_fits(const struct inspect *inspect, const struct client_view *client, int64_t epoch,
             struct bytes pk, struct arena *arena, bool *fits, struct err *err);

/* Nothing of it waits, it has not failed, and yet no search finds it: somebody has consented to
 * that when epochs were switched or rolled back, or it was written for an epoch by name. */
enum left_out {
    LEFT_OUT_NOT,
    LEFT_OUT_TO_COME, /* of an epoch that is being built */
    LEFT_OUT_STAYS,   /* until it is written in another form, or another epoch serves */
};

enum { LEFT_OUT_TEXT_SIZE = 2 * ERR_TEXT_SIZE };

/* Whether the living document of this order is left out of the epoch that serves; text tells why. A
 * newer write of the key is not judged. */
int row_left_out(const struct inspect *inspect, const struct client_view *client,
                 const struct order *order, struct bytes pk, struct arena *arena,
                 enum left_out *left_out, char text[LEFT_OUT_TEXT_SIZE], struct err *err);

#endif
