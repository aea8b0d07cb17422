/* SPDX-License-Identifier: Apache-2.0 */
/* bounds.h - the bounds of blob/, each with its reason; docs/limits.md has those of all. */
#ifndef TORG_BLOB_BOUNDS_H
#define TORG_BLOB_BOUNDS_H

enum {
    BLOB_NAME_SIZE_MAX = 512,   /* S3 allows 1024; a directory's path stays below PATH_MAX */
    BLOB_PART_SIZE_MAX = 200,   /* between two slashes: file systems allow 255 */
    BLOB_LIST_COUNT_MAX = 1000, /* names of one page, as in S3 */
    BLOB_SIZE_MAX = 1 << 30,    /* of one blob: numerator states and cold logs are cut below it */
    BLOB_WHOLE_SIZE_MAX = 256 << 20, /* put in one call, from memory; larger ones are streamed */
    BLOB_LEFTOVER_AGE_S = 3600,      /* a temporary file older than this has no writer any more */
};

#endif
