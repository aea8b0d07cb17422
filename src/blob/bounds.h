/* SPDX-License-Identifier: Apache-2.0 */
/* bounds.h - the bounds of blob/, each with its reason; docs/limits.md has those of all. */
#ifndef TORG_BLOB_BOUNDS_H
#define TORG_BLOB_BOUNDS_H

#include <stdint.h>

enum {
    BLOB_NAME_SIZE_MAX = 512,   /* S3 allows 1024; a directory's path stays below PATH_MAX */
    BLOB_PART_SIZE_MAX = 200,   /* between two slashes: file systems allow 255 */
    BLOB_LIST_COUNT_MAX = 1000, /* names of one page, as in S3 */
    BLOB_MIB_MAX = 64 << 10,    /* of one blob that is streamed, in MiB: a state of 50 million keys
                                   takes 2 to 6 GB */
    BLOB_MEMORY_SIZE_MAX = 1 << 30,  /* of one blob that is kept in memory */
    BLOB_WHOLE_SIZE_MAX = 256 << 20, /* put in one call, from memory; larger ones are streamed */
    BLOB_LEFTOVER_AGE_S = 3600,      /* a temporary file older than this has no writer any more */
};
#define BLOB_SIZE_MAX ((uint64_t)BLOB_MIB_MAX << 20)

#endif
