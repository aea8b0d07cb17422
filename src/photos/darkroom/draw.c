/* SPDX-License-Identifier: Apache-2.0 */
/*
 * draw.c - the craft of torg-easel (develop.h): a drawing of ours (SVG) becomes a file as a
 * seller's camera would have made it, one JPEG.
 *
 * torg demo has no photos and draws some (demo/drawing.h); from the JPEG on they go the way of
 * every photo. Strangers' SVG is refused by torg-darkroom and never comes here. By libvips.
 */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <vips/vips.h>

#include <vips/vector.h> /* stands behind what it needs and does not include */

#include "photos/darkroom/develop.h"
#include "photos/darkroom_wire.h"

enum { QUALITY = 92, WHITE = 255 };

static const char sample[] =
    "<svg xmlns='http://www.w3.org/2000/svg' width='64' height='48'><defs><linearGradient id='g'>"
    "<stop stop-color='#fff'/><stop offset='1' stop-color='#000'/></linearGradient></defs>"
    "<rect width='64' height='48' fill='url(#g)'/><path d='M8 8c9 9 9 20 30 30z' opacity='.5' "
    "stroke='#f00' stroke-linejoin='round' stroke-linecap='round'/></svg>";

static void drop(VipsImage *image)
{
    if (image)
        g_object_unref(image);
}

static const char *draw(const void *file, size_t size, struct developed *developed)
{
    VipsArrayDouble *white = vips_array_double_newv(1, (double)WHITE);
    VipsImage *drawn = vips_image_new_from_buffer(file, size, "", NULL);
    VipsImage *flat = NULL;
    struct picture *picture = &developed->pictures[0];
    int rc = drawn ? 0 : -1;

    memset(developed, 0, sizeof(*developed));
    rc = rc ? rc : vips_flatten(drawn, &flat, "background", white, NULL);
    rc = rc ? rc
            : vips_jpegsave_buffer(flat, &picture->data, &picture->size, "Q", QUALITY, "strip",
                                   TRUE, NULL);
    if (!rc) {
        picture->width = developed->width = (unsigned)vips_image_get_width(flat);
        picture->height = developed->height = (unsigned)vips_image_get_height(flat);
        picture->format = WIRE_JPEG;
        developed->count = 1;
    }
    drop(drawn);
    drop(flat);
    vips_area_unref(VIPS_AREA(white));
    vips_error_clear();
    return rc ? "it is not a drawing" : NULL;
}

static int begin(void)
{
    struct developed first;

    if (vips_init("torg-easel"))
        return -1;
    vips_concurrency_set(1);
    vips_cache_set_max(0);
    vips_vector_set_enabled(FALSE); /* it compiles code at run time, which will be forbidden */
    vips_operation_block_set("VipsForeignLoad", TRUE);
    vips_operation_block_set("VipsForeignLoadSvg", FALSE);
    if (draw(sample, strlen(sample), &first))
        return -1;
    developed_release(&first);
    return 0;
}

const struct craft craft = {.program = "torg-easel", .begin = begin, .make = draw};
