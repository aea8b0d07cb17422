/* SPDX-License-Identifier: Apache-2.0 */
/*
 * main.c - torg-darkroom: the process that decodes strangers' pictures, so that torg need not; and
 * torg-easel, which draws the demo's by the same means.
 *
 * Started by photos/darkroom.c with one socket at 0 and 1 and nothing else open. It loads its
 * library, shuts itself in (confine.h), says so, and then answers one file after another
 * (darkroom_wire.h) until its input ends. Whatever a file makes of it, it can only give a wrong
 * picture, or die; then its parent takes another.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "photos/darkroom/confine.h"
#include "photos/darkroom/develop.h"
#include "photos/darkroom_wire.h"

enum { IN = 0, OUT = 1 };

/* Whole, or 0 at the end of the input. */
static int read_whole(void *to, size_t size)
{
    uint8_t *at = to;

    while (size) {
        ssize_t got = read(IN, at, size);

        if (got <= 0)
            return 0;
        at += got;
        size -= (size_t)got;
    }
    return 1;
}

static void write_whole(const void *from, size_t size)
{
    const uint8_t *at = from;

    while (size) {
        ssize_t written = write(OUT, at, size);

        if (written <= 0)
            _exit(1); /* nobody listens any more */
        at += written;
        size -= (size_t)written;
    }
}

static void set32(uint8_t *to, size_t value)
{
    for (int i = 0; i < 4; i++)
        to[i] = (uint8_t)(value >> (8 * i));
}

static size_t get32(const uint8_t *from)
{
    return from[0] | (size_t)from[1] << 8 | (size_t)from[2] << 16 | (size_t)from[3] << 24;
}

static void write32(size_t value)
{
    uint8_t bytes[4];

    set32(bytes, value);
    write_whole(bytes, sizeof(bytes));
}

static void write8(size_t value)
{
    uint8_t byte = (uint8_t)value;

    write_whole(&byte, 1);
}

static void write_refusal(const char *reason)
{
    write32(WIRE_ANSWER);
    write32(1 + strlen(reason));
    write8(WIRE_REFUSED);
    write_whole(reason, strlen(reason));
}

static void write_made(const struct developed *made)
{
    size_t size = 1 + 4 + 4 + WIRE_LOOK_SIZE + 1 + made->preview_size + 1;

    for (size_t i = 0; i < made->count; i++)
        size += 4 + 4 + 1 + 4 + made->pictures[i].size;
    write32(WIRE_ANSWER);
    write32(size);
    write8(WIRE_MADE);
    write32(made->width);
    write32(made->height);
    write32(made->look & UINT32_MAX);
    write32(made->look >> 32u);
    write8(made->preview_size);
    write_whole(made->preview, made->preview_size);
    write8(made->count);
    for (size_t i = 0; i < made->count; i++) {
        const struct picture *picture = &made->pictures[i];

        write32(picture->width);
        write32(picture->height);
        write8(picture->format);
        write32(picture->size);
        write_whole(picture->data, picture->size);
    }
}

static void answer(const void *file, size_t size)
{
    struct developed made;
    const char *refused = craft.make(file, size, &made);

    if (refused) {
        write_refusal(refused);
        return;
    }
    write_made(&made);
    developed_release(&made);
}

int main(void)
{
    uint8_t head[WIRE_HEAD_SIZE];
    const char *refused;

    if (craft.begin()) {
        fprintf(stderr, "%s: libvips cannot be used\n", craft.program);
        return 1;
    }
    refused = confine_process();
    if (refused) {
        fprintf(stderr, "%s: the system refuses: %s\n", craft.program, refused);
        return 1;
    }
    write8(WIRE_READY);
    while (read_whole(head, sizeof(head))) {
        size_t size = get32(head + 4);
        void *file;

        if (get32(head) != WIRE_REQUEST || size > PHOTO_FILE_SIZE_MAX)
            _exit(1);
        file = malloc(size + 1);
        if (!file || !read_whole(file, size))
            _exit(1);
        answer(file, size);
        free(file);
    }
    _exit(0); /* libraries' ends want system calls that are forbidden */
}
