/* SPDX-License-Identifier: Apache-2.0 */
/*
 * photographer.h - stands in for the photos role in the demo: draws what offers ask for.
 *
 *     photo-requests ──► drawing.h ──► blob store ──► photo-results
 *
 * As the real one it reads as the group "photos", puts the files first, answers, and commits the
 * request after the answer was acknowledged: what it was stopped at is done again, to the same
 * effect. A request that cannot be read is parked (stage/parked.h). An address of another kind than
 * the demo's own is answered with a picture too, since nothing is downloaded here.
 */
#ifndef TORG_DEMO_PHOTOGRAPHER_H
#define TORG_DEMO_PHOTOGRAPHER_H

#include "base/err.h"
#include "blob/blob.h"
#include "store/store.h"
#include "topic/topic.h"

struct photographer;

/* All are borrowed until it has stopped. On failure *photographer is NULL. */
int photographer_start(struct topics *topics, struct blob *blob, struct store *store,
                       struct photographer **photographer, struct err *err);
void photographer_stop(struct photographer *photographer); /* NULL is fine */

#endif
