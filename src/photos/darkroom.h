/* SPDX-License-Identifier: Apache-2.0 */
/*
 * darkroom.h - a stranger's file becomes the pictures that pages show, in a process of its own.
 *
 * Decoders of pictures are large, written for speed, and fed by anybody. So they run in children
 * (torg-darkroom, photos/darkroom/) that can compute and nothing else; a few are kept, each works
 * on one file at a time. One that dies, takes too long or answers nonsense is killed and replaced,
 * and only its file is not answered.
 *
 * Threads: any; whoever comes while all children are at work waits for one.
 */
#ifndef TORG_PHOTOS_DARKROOM_H
#define TORG_PHOTOS_DARKROOM_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/bytes.h"
#include "base/clock.h"
#include "base/err.h"
#include "model/bounds.h"
#include "photos/bounds.h"

struct darkroom;

struct darkroom_options {
    const char *program;       /* NULL: by its name, beside this one or where it is installed */
    const char *name;          /* NULL: torg-darkroom; torg-easel is the demo's */
    const struct clock *clock; /* borrowed */
    unsigned child_count;      /* 0: DARKROOM_CHILD_COUNT */
    int64_t turn_ms_max;       /* 0: DARKROOM_TURN_MS_MAX */
};

struct darkroom_picture {
    uint32_t width;
    uint32_t height;
    const char *extension; /* ".jpg", ".webp" */
    struct bytes content;
};

/* All of the arena. */
struct darkroom_photo {
    uint32_t width; /* of the file, upright */
    uint32_t height;
    uint64_t look; /* photos that look alike differ in few bits */
    struct bytes preview;
    struct darkroom_picture pictures[PHOTO_SIZE_COUNT_MAX]; /* from small to large */
    size_t count;
};

/* Starts no child yet. ERR_NOT_FOUND: there is no such program. */
int darkroom_open(const struct darkroom_options *options, struct darkroom **darkroom,
                  struct err *err);
void darkroom_close(struct darkroom *darkroom); /* NULL is fine; nobody is inside */

/* ERR_INVALID: the file cannot be used; the text is for who sent it. ERR_TIMEOUT: a child died of
 * it or took too long, by the file's fault or the machine's: worth another try, and if that ends
 * so, too, the text is for who sent it. ERR_UNAVAILABLE: no child can be started, which says
 * nothing of the file. */
int darkroom_develop(struct darkroom *darkroom, struct bytes file, struct arena *arena,
                     struct darkroom_photo *photo, struct err *err);

#endif
