/* SPDX-License-Identifier: Apache-2.0 */
/*
 * develop.h - a stranger's file becomes the pictures that pages show, or a sentence why not.
 *
 * Turned upright, in sRGB, without metadata, in three sizes as JPEG and WebP; and what lists show
 * while they load (a few coloured cells), and what tells that two photos look alike.
 */
#ifndef TORG_PHOTOS_DARKROOM_DEVELOP_H
#define TORG_PHOTOS_DARKROOM_DEVELOP_H

#include <stddef.h>
#include <stdint.h>

#include "model/bounds.h"
#include "photos/bounds.h"

struct picture {
    unsigned width;
    unsigned height;
    uint8_t format; /* enum wire_format */
    void *data;     /* owned */
    size_t size;
};

struct developed {
    unsigned width; /* of the file, upright */
    unsigned height;
    uint64_t look; /* differs in few bits from that of a photo that looks like it */
    uint8_t preview[PHOTO_PREVIEW_SIZE_MAX];
    size_t preview_size;
    struct picture pictures[PHOTO_SIZE_COUNT_MAX];
    size_t count;
};

/* What a program of this folder makes of a file. */
struct craft {
    const char *program;
    /* Once, before make: loads what is loaded lazily, as no file can be opened later. 0, or -1. */
    int (*begin)(void);
    /* NULL, or why it cannot be: static, or valid until the next call. */
    const char *(*make)(const void *file, size_t size, struct developed *developed);
};

extern const struct craft craft; /* of develop.c, or of draw.c */

void developed_release(struct developed *developed);

#endif
