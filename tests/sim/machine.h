/* SPDX-License-Identifier: Apache-2.0 */
/*
 * machine.h - a machine of the simulated cluster: one process of the product, with the stages that
 * it has, on the servers that all share (sim_net.h).
 *
 * A machine is booted, stopped in order, frozen, killed and booted again; its disk outlives it.
 * Callers from outside ask by requests, which threads of the machine answer: one that is frozen or
 * dead answers nobody, and whoever asked gives up after a while and knows nothing.
 * Threads: boot, stop, kill, freeze and thaw by one; requests by any.
 */
#ifndef TORG_TESTS_SIM_MACHINE_H
#define TORG_TESTS_SIM_MACHINE_H

#include "base/arena.h"
#include "sim/sim_net.h"
#include "sim/stages.h"

struct machine_life;

enum { MACHINE_NAME_SIZE = 16, MACHINE_DIR_SIZE = 256 };

struct machine {
    struct sim_net *net; /* borrowed */
    char name[MACHINE_NAME_SIZE];
    char root[MACHINE_DIR_SIZE];
    unsigned disk_number; /* in root; another one after each death */
    struct stages_options options;
    struct machine_life *life; /* NULL: it is off */
};

void machine_init(struct machine *machine, struct sim_net *net, const char *name, const char *root,
                  const struct stages_options *options);

/* Returns before its stages run: they start when their servers answer. */
void machine_boot(struct machine *machine);
void machine_stop(struct machine *machine);
/* loses_disk: the next one begins with an empty one. */
void machine_kill(struct machine *machine, bool loses_disk);
struct sim_node *machine_node(struct machine *machine); /* NULL: it is off */
bool machine_is_up(struct machine *machine);            /* its stages run */

/* What somebody outside wants. Everything in it is its own (the arena's): the machine may go on
 * with it when nobody waits any more. */
struct request {
    void (*run)(struct stages *stages, struct request *request);
    struct arena *arena;
    int rc;
    struct err err;
    /* machine.c's own */
    struct request *next;
    bool is_done;
    bool is_left; /* nobody waits */
};

/* size: of a struct that begins with a request. */
void *request_new(size_t size, void (*run)(struct stages *stages, struct request *request));
void machine_send(struct machine *machine, struct request *request);
/* What it says is in rc, err and the arena; ERR_TIMEOUT: nobody has answered. */
int machine_await(struct machine *machine, struct request *request, int64_t timeout_us);
/* Both. */
int machine_ask(struct machine *machine, struct request *request, int64_t timeout_us);
/* After machine_ask, whatever that said. */
void request_free(struct request *request);

#endif
