/* SPDX-License-Identifier: Apache-2.0 */
/* bounds.h - the bounds of demo/, each with its reason; docs/limits.md has those of all. */
#ifndef TORG_DEMO_BOUNDS_H
#define TORG_DEMO_BOUNDS_H

enum {
    DEMO_OFFER_COUNT = 20000,       /* as many as fill a shop, and a minute at the most */
    DEMO_OFFER_COUNT_MAX = 1000000, /* filled in minutes, some gigabytes */
    DEMO_CHANGE_RATE = 5,           /* changes a second: a console that lives, a machine at rest */
    DEMO_CHANGE_RATE_MAX = 1000,
    DEMO_RETRY_MS = 500,        /* after a failure of the store or the topics */
    DEMO_AGE_DAYS = 20,         /* of the oldest offer; half of its life where that is shorter */
    DEMO_FILLER_COUNT = 32,     /* threads that publish: each group of commits has as many */
    DEMO_STALL_S = 60,          /* nothing becomes searchable for so long: go on without */
    DEMO_STATE_SIZE_MAX = 4096, /* of the file DEMO */
    DEMO_PICTURE_SIZE_MAX = 16 << 10,
    DEMO_PICTURE_VARIANT_COUNT = 3, /* of a kind and colour: each is 0.05 s of work */
    DEMO_DEPTH_MAX = 16,            /* of templates and formulas in each other */
    DEMO_VARIABLE_COUNT_MAX = 64,   /* of one kind */
    DEMO_COLUMN_COUNT_MAX = 16,
    DEMO_CHOICE_COUNT_MAX = 64,
    DEMO_PLACE_COUNT_MAX = 24, /* of a city */
    DEMO_WEIGHT_MAX = 1000,
    DEMO_TEXT_SIZE_MAX = 8 << 10,
};

#endif
