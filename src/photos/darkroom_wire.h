/* SPDX-License-Identifier: Apache-2.0 */
/*
 * darkroom_wire.h - what goes between darkroom.c and its child processes.
 *
 *   to the child     magic  size  the file
 *   and back         magic  size  verdict  what it says:
 *       MADE         width height  look(8)  preview_size preview  count, and so often:
 *                    width height  format  size  the file
 *       REFUSED      why, for the seller to read
 *
 * Numbers are four bytes, little-endian, where nothing else is said; verdict, preview_size, count
 * and format have one. Neither side trusts the other: sizes are checked against the bounds below.
 */
#ifndef TORG_PHOTOS_DARKROOM_WIRE_H
#define TORG_PHOTOS_DARKROOM_WIRE_H

enum {
    WIRE_REQUEST = 0x51485054, /* "TPHQ" */
    WIRE_ANSWER = 0x41485054,  /* "TPHA" */
    WIRE_HEAD_SIZE = 8,
    WIRE_LOOK_SIZE = 8,
    WIRE_READY = 'r', /* what a child says, once, when it is shut in */
};

enum wire_verdict { WIRE_MADE = 1, WIRE_REFUSED = 2 };
enum wire_format { WIRE_JPEG = 0, WIRE_WEBP = 1 };

#endif
