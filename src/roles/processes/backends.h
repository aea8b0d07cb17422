/* SPDX-License-Identifier: Apache-2.0 */
/* backends.h - opens what the settings name, or the embedded backend in the data directory. */
#ifndef TORG_ROLES_PROCESSES_BACKENDS_H
#define TORG_ROLES_PROCESSES_BACKENDS_H

#include "base/arena.h"
#include "base/clock.h"
#include "base/err.h"
#include "blob/blob.h"
#include "config/config.h"
#include "coord/coord.h"
#include "store/store.h"
#include "topic/topic.h"

/* What the stages stand on; shared by all threads of the process. */
struct backends {
    struct store *store;
    struct topics *topics;
    struct coord *coord;
    struct blob *blob;
};

/* All of them. On failure those opened before are closed. */
int backends_open(const struct config *config, const struct clock *clock, struct arena *arena,
                  struct backends *backends, struct err *err);
void backends_close(struct backends *backends); /* closed already is fine */

int backends_open_topics(const struct config *config, const struct clock *clock,
                         struct arena *arena, struct topics **topics, struct err *err);

int backends_open_coord(const struct config *config, const struct clock *clock, struct arena *arena,
                        struct coord **coord, struct err *err);

/* The store as it is, beside a server that runs on it: to read from. */
int backends_join_store(const struct config *config, const struct clock *clock, struct arena *arena,
                        struct store **store, struct err *err);

/* A handle of its own: other processes may have theirs. */
int backends_open_blob(const struct config *config, struct arena *arena, struct blob **blob,
                       struct err *err);

/* The store, its tables brought up to date; applied (may be NULL): how many migrations that took.
 */
int backends_open_store(const struct config *config, const struct clock *clock, struct arena *arena,
                        struct store **store, size_t *applied, struct err *err);

#endif
