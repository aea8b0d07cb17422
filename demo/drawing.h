/* SPDX-License-Identifier: Apache-2.0 */
/*
 * drawing.h - placeholder photos of the demo: a simple picture of the thing, as an SVG.
 *
 * The same name, colour and number give the same bytes. Nothing of what was asked for is written
 * into the picture: names and colours are looked up, and what is not known is drawn as a box.
 */
#ifndef TORG_DEMO_DRAWING_H
#define TORG_DEMO_DRAWING_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/bytes.h"

/* A card's size: of a larger one two files more would be made, and a shop fills as fast as that. */
enum { DRAWING_WIDTH = 640, DRAWING_HEIGHT = 480 };

void drawing_put(struct bytes name, struct bytes color, uint64_t number, struct buf *out);

/* Whether there is a picture of this name. */
bool drawing_is_known(struct bytes name);

/* --- drawing_shapes.c --- */

/* The inside of an SVG of 400 by 300; $b $d $l stand for the colour, darker, lighter. */
struct drawing_shape {
    const char *name;
    const char *svg;
};

extern const struct drawing_shape drawing_shapes[];
extern const size_t drawing_shape_count;

#endif
