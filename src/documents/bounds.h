/* SPDX-License-Identifier: Apache-2.0 */
/* bounds.h - the bounds of documents/, each with its reason; docs/limits.md has those of all. */
#ifndef TORG_DOCUMENTS_BOUNDS_H
#define TORG_DOCUMENTS_BOUNDS_H

enum {
    COMPOSER_BATCH_COUNT = 100,          /* documents of one record; default, a setting */
    COMPOSER_BATCH_MS = 20,              /* ... or so long since the last; default, a setting */
    COMPOSER_BATCH_SIZE = 512 << 10,     /* bytes of one record; a topic takes 960 KB */
    COMPOSER_WORDS_SIZE_MAX = 128 << 10, /* names of an offer's attribute values: a text field */
    COMPOSER_VALUE_SIZE_MAX = 200,       /* free text as a value to choose by */
    COMPOSER_SURE_MS = 2000, /* a catalogue is used so long after the store was asked; it is asked
                                each second */
    RECOMPOSE_SETTLE_MS =
        2500,                  /* after that nobody uses an older one: a quarter more, for clocks */
    RECOMPOSE_RETRY_MS = 1000, /* after a fault */
    RECOMPOSE_LOOK_MS = 200,   /* how soon another catalogue is noticed */
    RECOMPOSE_TAKEN_MS = 5,    /* how often the receiver is asked whether it has taken a page */
    RECOMPOSE_PAGE_COUNT = 250, /* offers on their way at a time: what a live change may wait for */
    RECOMPOSE_RECENT_S = 10,    /* so new a change may still be under way in the lane main */
    RECOMPOSE_PARKED_COUNT_MAX = 50 * 1000, /* half of the composer's room: a catalogue that breaks
                                               all offers leaves live changes the other */
    RECOMPOSE_STEP_COUNT = 64,              /* versions of the catalogue caught up with at a time */
};

#endif
