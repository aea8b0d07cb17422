/* SPDX-License-Identifier: Apache-2.0 */
/*
 * darkroom_child.h - one torg-darkroom: started, asked, ended.
 *
 * Threads: one at a time.
 */
#ifndef TORG_PHOTOS_DARKROOM_CHILD_H
#define TORG_PHOTOS_DARKROOM_CHILD_H

#include <sys/types.h>

#include "photos/darkroom.h"

struct darkroom_child {
    pid_t pid; /* 0: there is none */
    int fd;    /* our end of the socket that is its input and output; -1 */
    unsigned photo_count;
};

void darkroom_child_init(struct darkroom_child *child);
/* One that runs is fine. Returns when it is shut in and ready. */
int darkroom_child_start(struct darkroom_child *child, const char *program,
                         const struct clock *clock, struct err *err);
/* ERR_INVALID: the file was refused, for the reason told. ERR_TIMEOUT, ERR_CORRUPT,
 * ERR_UNAVAILABLE: it did not answer by then, or not in our words; kill it. */
int darkroom_child_ask(struct darkroom_child *child, struct bytes file, int64_t until_us,
                       const struct clock *clock, struct arena *arena, struct darkroom_photo *photo,
                       struct err *err);
/* Its input ends, so it does; waits for that. None is fine. */
void darkroom_child_end(struct darkroom_child *child);
void darkroom_child_kill(struct darkroom_child *child);

#endif
