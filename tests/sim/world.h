/* SPDX-License-Identifier: Apache-2.0 */
/*
 * world.h - the whole program in this process: every role on embedded backends, no sockets.
 *
 * Opened on a directory, as `torg up` would be, and closed in order; a life that ends otherwise
 * just ends. Services are called within, each call with an arena of its own.
 * Threads: calls come from any.
 */
#ifndef TORG_TESTS_SIM_WORLD_H
#define TORG_TESTS_SIM_WORLD_H

#include "config/config.h"
#include "net/local_call.h"
#include "roles/processes/process.h"

struct world {
    struct arena *arena;
    struct config config;
    struct process process;
};

/* Snippets of JSON, by the way that they come; the topic's keys are those of its records. */
#define WORLD_SNIPPET_BY_CALL "note"
#define WORLD_SNIPPET_BY_TOPIC "wire"
#define WORLD_SNIPPET_TOPIC "snippets"

/* How a world is set up; what is not said is as in the product. */
struct world_options {
    const char *dir;
    bool spelling;       /* the learner runs: costs some tens of ms a start */
    unsigned shards;     /* of new clients; 0: 1 */
    unsigned checkpoint; /* seconds between those of searchers; 0: 10 minutes */
    bool numbers_return; /* those of deleted documents, within seconds */
};

/* Who calls. */
struct caller {
    const char *seller; /* NULL: an operator */
    const char *client;
    const char *once_key;
};

/* On failure the world is closed. */
int world_open(struct world *world, const struct world_options *options, struct err *err);
void world_close(struct world *world);

/* The response is in the arena. */
int world_call(struct world *world, const ProtobufCServiceDescriptor *service, const char *method,
               const struct caller *caller, const ProtobufCMessage *request, struct arena *arena,
               ProtobufCMessage **response, struct err *err);
int world_stream(struct world *world, const ProtobufCServiceDescriptor *service, const char *method,
                 const ProtobufCMessage *request,
                 int (*take)(void *arg, const ProtobufCMessage *message, struct err *err),
                 void *arg, struct err *err);

/* Catalogues that all offers of the crowd fit; which: 0 to WORLD_CATALOG_COUNT - 1. In the last one
 * a number has other digits: documents of offers with it do not fit an epoch that has had some
 * before, and are parked; one that meets it first has those digits from then on. */
enum { WORLD_CATALOG_COUNT = 4 };
int world_apply_catalog(struct world *world, unsigned which, struct err *err);
/* The first one again, with the digits that the epoch has. */
int world_mend_catalog(struct world *world, struct err *err);

#endif
