/* SPDX-License-Identifier: Apache-2.0 */
/*
 * demo_state.h - the file DEMO of a data directory: that torg demo has made it, and how far it is.
 *
 *     torg demo 1
 *     seed 2026            what the offers follow from
 *     target 20000         offers that are to be published
 *     filled 20000         of them, those that are known to be there
 *     seller torg_…        the keys of the links, which are kept so that a page that is open goes
 *     operator torg_…      on working after the next start
 *
 * Written as a whole; the directory is readable by its user alone.
 */
#ifndef TORG_ROLES_COMMANDS_DEMO_STATE_H
#define TORG_ROLES_COMMANDS_DEMO_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "access/key.h"
#include "base/arena.h"
#include "base/err.h"

struct demo_state {
    uint64_t seed;
    uint64_t target;
    uint64_t filled;
    char seller_key[KEY_TEXT_LENGTH + 1]; /* "" = not made yet, as the other */
    char operator_key[KEY_TEXT_LENGTH + 1];
};

/* ERR_NOT_FOUND: there is none. */
int demo_state_read(const char *path, struct demo_state *state, struct err *err);
int demo_state_write(const char *path, const struct demo_state *state, struct err *err);

#endif
