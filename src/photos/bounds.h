/* SPDX-License-Identifier: Apache-2.0 */
/* bounds.h - the bounds of photos/, each with its reason; docs/limits.md has those of all. */
#ifndef TORG_PHOTOS_BOUNDS_H
#define TORG_PHOTOS_BOUNDS_H

enum {
    PHOTO_FILE_SIZE_MAX = 16 << 20, /* a file as it is sent or fetched: a phone's best has 8 MB */
    PHOTO_PIXEL_COUNT_MAX = 50 * 1000 * 1000, /* decoded it is in memory whole: 150 MB */
    PHOTO_SIDE_MAX = 16000,                   /* a strip is no photo */
    PHOTO_SIDE_MIN = 32,                      /* smaller ones are icons and tracking pixels */
    PHOTO_FULL_SIDE = 1600,                   /* the longer side of what a visitor can open */
    PHOTO_CARD_SIDE = 640,                    /* ... of an offer's card, sharp on a phone */
    PHOTO_LIST_SIDE = 240,                    /* ... in lists */
    PHOTO_ANSWER_SIZE_MAX = 8 << 20,          /* of a child: all its files together */
    PHOTO_REFUSAL_SIZE_MAX = 400,             /* of a file; an offer keeps 500 of a reason */
    PHOTO_FETCH_MS_MAX = 30 * 1000, /* of one file: a server that takes longer holds up others */
    PHOTO_FETCH_STALL_MS_MAX = 10 * 1000, /* without a byte */
    PHOTO_FETCH_FIRST_MS_MAX = 3 * 1000,  /* of the first try: then it is left to the slow lane */
    PHOTO_LOST_TRY_COUNT = 1,     /* of the slow lane behind its first, and so the third decoder */
    PHOTO_FETCH_THREAD_COUNT = 8, /* they wait for other people's servers */
    PHOTO_FETCH_POLL_COUNT = 16,  /* requests read at once: a slow one holds up so many */

    LEDGER_FORMS_SIZE_MAX = 1000, /* names of one photo's files: a dozen versions of its sizes */
    LEDGER_SWEEP_COUNT = 100,     /* photos removed by one transaction */
    LEDGER_SWEEP_PERIOD_S = 60,   /* those that are old enough are looked for this often */

    DARKROOM_CHILD_COUNT = 2,           /* decoding is work: as many as the yardstick has cores */
    DARKROOM_MEMORY_SIZE_MAX = 1 << 30, /* of a child, addresses included: libraries take 300 MB */
    DARKROOM_TURN_MS_MAX = 30 * 1000,   /* a photo takes 0.2 s; then the child is killed */
    DARKROOM_CPU_S_MAX = 600,           /* of a child, for all its photos ... */
    DARKROOM_PHOTO_COUNT_MAX = 500,     /* ... after so many it is replaced: libraries leak */
    DARKROOM_START_MS_MAX = 60 * 1000,  /* to load libraries and shut itself in; usually 0.1 s */
};

#endif
