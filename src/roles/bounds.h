/* SPDX-License-Identifier: Apache-2.0 */
/* bounds.h - the bounds of roles/, each with its reason; docs/limits.md has those of all. */
#ifndef TORG_ROLES_BOUNDS_H
#define TORG_ROLES_BOUNDS_H

enum {
    DESK_INDEX_MS = 300 * 1000, /* for a command to open a stopped directory's indexes: they may
                                   have to be made anew from their topics */
    DESK_LOOK_MS = 20,          /* how often it looks whether they are open */
    COLUMN_WAIT_STEP_MS = 200,  /* how often searchers are asked whether they have a column */
    CTR_END_TRY_COUNT = 3,      /* a table is loaded whole: its end is worth another try */
    CTR_WAIT_STEP_MS = 200,     /* how often it is asked whether rates are sent */
    PASSWORD_SIZE_MAX = 1024,   /* of a backend, in its file */
    READY_ASK_MS = 1000,        /* the broker is asked so often whether it is there */
    READY_LOOK_MS = 500,        /* and all servers' last answers are looked at */
    READY_WAIT_MS = 100,        /* likewise while it is not ready: callers wait for it */
    READY_SILENCE_MS = 5000,    /* then /readyz tells; keys are read twice a second, leases renewed
                                   every 1.7 s */
};

#endif
