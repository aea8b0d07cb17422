/* SPDX-License-Identifier: Apache-2.0 */
/* bounds.h - the bounds of codec/, each with its reason; docs/limits.md has those of all. */
#ifndef TORG_CODEC_BOUNDS_H
#define TORG_CODEC_BOUNDS_H

enum {
    /* ---- messages ---- */
    MESSAGE_DEPTH_MAX = 64,          /* messages in messages: bounds recursion, ours and clients' */
    MESSAGE_UNKNOWN_COUNT_MAX = 256, /* a newer client has a few; a flood of them is an attack */
    MESSAGE_MEMORY_MAX = 32 << 20,   /* decoded: three wire bytes can ask for 400 of memory */
    JSON_NUMBER_SIZE_MAX = 400,      /* a double written out in full has 310 digits */
    JSON_TREE_DEPTH_MAX = 32,        /* of JSON of no known type: bounds recursion */
    JSON_MEMBER_COUNT_MAX = 500,     /* of an object in it, compared one by one for doubles */
    JSON_TYPE_COUNT_MAX = 4096,      /* message types linked in; each is prepared once */

    /* ---- services and client ---- */
    GUNZIP_EXPANSION_MAX = 200,  /* feeds shrink 10 to 60 times; a bomb, 1000 times ... */
    GUNZIP_FREE_SIZE = 16 << 20, /* ... and this much is not worth a question */
};

#endif
