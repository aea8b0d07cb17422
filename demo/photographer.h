/* SPDX-License-Identifier: Apache-2.0 */
/*
 * photographer.h - the photos of the demo's offers: files, made when they are asked for.
 *
 *     address ──► drawing.h (SVG) ──► torg-easel ──► a JPEG, as a camera would have made it
 *
 * Offers name addresses at DEMO_PHOTO_PREFIX, which no server has: the photos role asks here
 * (photos/fetch.h) where it would ask a web server, and does with the file what it does with every
 * other. The same address gives the same file.
 *
 * Threads: any; drawing is done by one child process.
 */
#ifndef TORG_DEMO_PHOTOGRAPHER_H
#define TORG_DEMO_PHOTOGRAPHER_H

#include "base/clock.h"
#include "base/err.h"
#include "photos/fetch.h"

struct photographer;

/* program: torg-easel; NULL: beside this one. ERR_NOT_FOUND: there is none. */
int photographer_open(const char *program, const struct clock *clock,
                      struct photographer **photographer, struct err *err);
void photographer_close(struct photographer *photographer); /* NULL is fine; nobody asks any more */

/* What the photos role asks; borrows the photographer. */
struct photo_maker photographer_maker(struct photographer *photographer);

#endif
