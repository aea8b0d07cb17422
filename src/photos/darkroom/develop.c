/* SPDX-License-Identifier: Apache-2.0 */
/*
 * develop.c - see develop.h; by libvips.
 *
 * A file is decoded whole and strictly: vips_thumbnail would read a truncated JPEG as if it were
 * whole. The largest picture is made of it, the others of that one.
 */
#include "photos/darkroom/develop.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <vips/vips.h>

#include <vips/vector.h> /* stands behind what it needs and does not include */

#include "photos/darkroom_wire.h"

enum {
    JPEG_QUALITY = 84,
    WEBP_QUALITY = 80,
    WEBP_EFFORT = 2, /* 0 to 6: half the time of the default for 3 % more bytes */
    PREVIEW_LONG = 4,
    PREVIEW_SHORT = 3,
    LOOK_SIDE = 8,
    WHITE = 255,
};

/* Those whose decoders are read by many eyes. Others are refused by their first bytes before. */
static const char *const loaders[] = {"VipsForeignLoadJpeg", "VipsForeignLoadPng",
                                      "VipsForeignLoadWebp", "VipsForeignLoadNsgif"};

static char reason[PHOTO_REFUSAL_SIZE_MAX];

static void drop(VipsImage **image)
{
    if (*image)
        g_object_unref(*image);
    *image = NULL;
}

/* The first line of what the library says, without what only its authors can use. */
static const char *why(const char *what)
{
    const char *said = vips_error_buffer();
    size_t size = strcspn(said, "\n");

    snprintf(reason, sizeof(reason), "%s%s%.*s", what, size ? ": " : "",
             (int)(size < 200 ? size : 200), said);
    vips_error_clear();
    return reason;
}

static const char *check_sides(const VipsImage *image)
{
    int width = vips_image_get_width(image);
    int height = vips_image_get_height(image);

    if (width < PHOTO_SIDE_MIN || height < PHOTO_SIDE_MIN)
        snprintf(reason, sizeof(reason),
                 "the picture has %d x %d pixels; a photo has at least %d on each side", width,
                 height, PHOTO_SIDE_MIN);
    else if (width > PHOTO_SIDE_MAX || height > PHOTO_SIDE_MAX ||
             (int64_t)width * height > PHOTO_PIXEL_COUNT_MAX)
        snprintf(reason, sizeof(reason),
                 "the picture has %d x %d pixels; at most %d on a side and %d million in all are "
                 "taken: make it smaller",
                 width, height, PHOTO_SIDE_MAX, PHOTO_PIXEL_COUNT_MAX / 1000000);
    else
        return NULL;
    return reason;
}

/* To sRGB where the picture brings a profile. One that brings none is sRGB: by an exported profile
 * it would go through a white of its own, and blue would come out purple. */
static int scale(VipsImage *from, int side, VipsImage **to)
{
    if (vips_image_get_typeof(from, VIPS_META_ICC_NAME))
        return vips_thumbnail_image(from, to, side, "height", side, "size", VIPS_SIZE_DOWN,
                                    "export_profile", "srgb", NULL);
    return vips_thumbnail_image(from, to, side, "height", side, "size", VIPS_SIZE_DOWN, NULL);
}

/* Upright, sRGB, three bands, no larger than side. */
static int shrink(VipsImage *from, int side, VipsImage **to)
{
    VipsImage *small = NULL;
    VipsImage *flat = NULL;
    VipsArrayDouble *white = vips_array_double_newv(1, (double)WHITE);
    int rc = scale(from, side, &small);

    if (!rc && vips_image_hasalpha(small))
        rc = vips_flatten(small, &flat, "background", white, NULL);
    else if (!rc) {
        flat = small;
        small = NULL;
    }
    if (!rc)
        rc = vips_colourspace(flat, to, VIPS_INTERPRETATION_sRGB, NULL);
    vips_area_unref(VIPS_AREA(white));
    drop(&small);
    drop(&flat);
    return rc;
}

/* Camera, place, owner, profile: `strip` of the savers leaves some of it in (EXIF in WebP). */
static void remove_metadata(VipsImage *image)
{
    gchar **fields = vips_image_get_fields(image);

    for (gchar **field = fields; field && *field; field++) {
        GType type = vips_image_get_typeof(image, *field);

        if (type == VIPS_TYPE_BLOB || g_str_has_prefix(*field, "exif-"))
            vips_image_remove(image, *field);
    }
    g_strfreev(fields);
}

/* As shrink, but in memory: what is made of it more than once is computed once. */
static int shrink_kept(VipsImage *from, int side, VipsImage **to)
{
    VipsImage *lazy = NULL;
    int rc = shrink(from, side, &lazy);

    if (!rc) {
        *to = vips_image_copy_memory(lazy);
        rc = *to ? 0 : -1;
        if (*to)
            remove_metadata(*to);
    }
    drop(&lazy);
    return rc;
}

static int save(VipsImage *image, uint8_t format, struct developed *developed)
{
    struct picture *picture = &developed->pictures[developed->count];
    int rc;

    if (format == WIRE_JPEG)
        rc = vips_jpegsave_buffer(image, &picture->data, &picture->size, "Q", JPEG_QUALITY, "strip",
                                  TRUE, "optimize_coding", TRUE, NULL);
    else
        rc = vips_webpsave_buffer(image, &picture->data, &picture->size, "Q", WEBP_QUALITY, "strip",
                                  TRUE, "effort", WEBP_EFFORT, NULL);
    if (rc)
        return rc;
    picture->width = (unsigned)vips_image_get_width(image);
    picture->height = (unsigned)vips_image_get_height(image);
    picture->format = format;
    developed->count++;
    return 0;
}

static int save_both(VipsImage *image, struct developed *developed)
{
    int rc = save(image, WIRE_JPEG, developed);

    return rc ? rc : save(image, WIRE_WEBP, developed);
}

/* Exactly width x height cells of so many bands. */
static uint8_t *cells(VipsImage *image, int width, int height, bool is_grey)
{
    VipsImage *small = NULL;
    VipsImage *toned = NULL;
    uint8_t *made = NULL;
    size_t size = 0;
    size_t wanted = (size_t)width * (size_t)height * (is_grey ? 1 : 3);

    if (!vips_thumbnail_image(image, &small, width, "height", height, "size", VIPS_SIZE_FORCE,
                              NULL) &&
        !vips_colourspace(small, &toned,
                          is_grey ? VIPS_INTERPRETATION_B_W : VIPS_INTERPRETATION_sRGB, NULL))
        made = vips_image_write_to_memory(toned, &size);
    drop(&small);
    drop(&toned);
    if (made && size != wanted) {
        g_free(made);
        made = NULL;
    }
    return made;
}

/* Columns and rows in one byte, then each cell as RGB 5-6-5, big-endian. */
static int put_preview(VipsImage *image, struct developed *developed)
{
    bool is_wide = vips_image_get_width(image) >= vips_image_get_height(image);
    int columns = is_wide ? PREVIEW_LONG : PREVIEW_SHORT;
    int rows = is_wide ? PREVIEW_SHORT : PREVIEW_LONG;
    uint8_t *made = cells(image, columns, rows, false);
    uint8_t *at = developed->preview;

    if (!made)
        return -1;
    *at++ = (uint8_t)(columns << 4 | rows);
    for (int i = 0; i < columns * rows; i++) {
        const uint8_t *cell = made + (ptrdiff_t)3 * i;
        unsigned both = (cell[0] >> 3u) << 11u | (cell[1] >> 2u) << 5u | cell[2] >> 3u;

        *at++ = (uint8_t)(both >> 8u);
        *at++ = (uint8_t)both;
    }
    developed->preview_size = (size_t)(at - developed->preview);
    g_free(made);
    return 0;
}

/* A difference hash: whether each of 8 x 8 grey cells is darker than its right neighbour. */
static int put_look(VipsImage *image, struct developed *developed)
{
    uint8_t *made = cells(image, LOOK_SIDE + 1, LOOK_SIDE, true);

    if (!made)
        return -1;
    for (int row = 0; row < LOOK_SIDE; row++)
        for (int column = 0; column < LOOK_SIDE; column++) {
            const uint8_t *cell = made + (ptrdiff_t)row * (LOOK_SIDE + 1) + column;

            developed->look = developed->look << 1u | (cell[0] < cell[1]);
        }
    g_free(made);
    return 0;
}

static int longer_side(const VipsImage *image)
{
    int width = vips_image_get_width(image);
    int height = vips_image_get_height(image);

    return width > height ? width : height;
}

/* A size that the photo does not fill is left out: the next smaller one is as good. */
static int make_all(VipsImage *whole, struct developed *developed)
{
    VipsImage *full = NULL;
    VipsImage *card = NULL;
    VipsImage *list = NULL;
    int rc = shrink_kept(whole, PHOTO_FULL_SIDE, &full);

    rc = rc ? rc : shrink_kept(full, PHOTO_CARD_SIDE, &card);
    rc = rc ? rc : shrink_kept(card, PHOTO_LIST_SIDE, &list);
    rc = rc ? rc : save_both(list, developed);
    if (!rc && longer_side(whole) > PHOTO_LIST_SIDE)
        rc = save_both(card, developed);
    if (!rc && longer_side(whole) > PHOTO_CARD_SIDE)
        rc = save_both(full, developed);
    rc = rc ? rc : put_preview(list, developed);
    rc = rc ? rc : put_look(list, developed);
    drop(&full);
    drop(&card);
    drop(&list);
    return rc;
}

static const char *develop(const void *file, size_t size, struct developed *developed)
{
    VipsImage *lazy = vips_image_new_from_buffer(file, size, "", "access", VIPS_ACCESS_SEQUENTIAL,
                                                 "fail_on", VIPS_FAIL_ON_TRUNCATED, NULL);
    VipsImage *whole = NULL;
    const char *refused;

    memset(developed, 0, sizeof(*developed));
    if (!lazy)
        return why("the file cannot be read as a picture");
    refused = check_sides(lazy);
    if (!refused) {
        bool is_turned = vips_image_get_orientation(lazy) >= 5;

        developed->width = (unsigned)(is_turned ? lazy->Ysize : lazy->Xsize);
        developed->height = (unsigned)(is_turned ? lazy->Xsize : lazy->Ysize);
        whole = vips_image_copy_memory(lazy);
        if (!whole)
            refused = why("the picture is damaged or cut short");
        else if (make_all(whole, developed))
            refused = why("the picture cannot be scaled");
    }
    drop(&whole);
    drop(&lazy);
    if (refused)
        developed_release(developed);
    return refused;
}

/* A picture goes the whole way in every format: what libraries load on first use is loaded. */
static int warm_up(void)
{
    VipsImage *black = NULL;
    struct developed first = {.count = 0};
    struct developed second;
    int rc = vips_black(&black, PHOTO_LIST_SIDE, PHOTO_SIDE_MIN, "bands", 3, NULL);

    rc = rc ? rc : make_all(black, &first);
    for (size_t i = 0; i < 2 && !rc; i++) {
        rc = develop(first.pictures[i].data, first.pictures[i].size, &second) ? -1 : 0;
        if (!rc)
            developed_release(&second);
    }
    developed_release(&first);
    drop(&black);
    return rc;
}

static int begin(void)
{
    if (vips_init("torg-darkroom"))
        return -1;
    vips_concurrency_set(1);
    vips_cache_set_max(0);
    vips_vector_set_enabled(FALSE); /* it compiles code at run time, which will be forbidden */
    vips_operation_block_set("VipsForeignLoad", TRUE);
    for (size_t i = 0; i < sizeof(loaders) / sizeof(loaders[0]); i++)
        vips_operation_block_set(loaders[i], FALSE);
    return warm_up();
}

const struct craft craft = {.program = "torg-darkroom", .begin = begin, .make = develop};
