/* SPDX-License-Identifier: Apache-2.0 */
/*
 * door.h - searchers as this folder asks them: of this process or of another, which roles/ wires.
 *
 * A replica is named as ShardFreshness names it: "" is this process. Answers are in the arena.
 * Threads: any, at once.
 */
#ifndef TORG_INSPECT_DOORS_DOOR_H
#define TORG_INSPECT_DOORS_DOOR_H

#include "base/arena.h"
#include "base/err.h"
#include "torg/v1/searcher.pb-c.h"

struct index_door {
    /* Shards of the client on all replicas that can be reached. */
    int (*freshness)(void *arg, const char *client, struct arena *arena,
                     Torg__V1__Freshness **freshness, struct err *err);
    int (*list)(void *arg, const char *replica, const Torg__V1__ListIndexedRequest *request,
                struct arena *arena, Torg__V1__ListIndexedResponse **response, struct err *err);
    /* ERR_CORRUPT names the damaged file. */
    int (*check)(void *arg, const char *replica, const Torg__V1__CheckShardRequest *request,
                 struct arena *arena, Torg__V1__CheckShardResponse **response, struct err *err);
    void *arg;
    /* Whether the replica, of another process, shows what the token of a document's write tells.
     * NULL: it is not to be asked; those with shards of their own are not, so that no two of them
     * ask each other. */
    int (*shows)(void *arg, const char *replica, const char *client, const char *token,
                 struct arena *arena, bool *is_shown, struct err *err);
};

#endif
