/* SPDX-License-Identifier: Apache-2.0 */
/* bounds.h - the bounds of schema/, each with its reason; docs/limits.md has those of all. */
#ifndef TORG_SCHEMA_BOUNDS_H
#define TORG_SCHEMA_BOUNDS_H

enum {
    SCHEMA_NODE_COUNT_MAX = 20 * 1000, /* places of a schema and of what it refers to: large ones of
                                          the wild have some thousand */
    SCHEMA_URI_SIZE_MAX = 2048,        /* of an id or a reference, resolved */
    SCHEMA_CHAIN_MAX = 64,   /* a value looked at by schemas in schemas, none of them deeper */
    SCHEMA_DEPTH_MAX = 1000, /* calls in calls while checking: half a megabyte of stack */
    SCHEMA_STEP_COUNT_MAX = 20000000, /* of one check, patterns included: a second of a processor */
    SCHEMA_REASON_SIZE_MAX = 400,     /* of what is wrong with a value; an answer has room for it */

    PATTERN_TEXT_SIZE_MAX = 2048, /* of a pattern as it is written: bounds recursion, too */
    PATTERN_SIZE_MAX = 4000,      /* instructions: each is looked at for each character */
    PATTERN_DEPTH_MAX = 50,       /* groups in groups: bounds recursion */
    PATTERN_REPEAT_MAX = 1000,    /* the n of x{n}, which is n copies of x */
};

#endif
