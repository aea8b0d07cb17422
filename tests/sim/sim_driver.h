/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sim_driver.h - one run of one seed, for the driver that runs many (sim_driver.c).
 */
#ifndef TORG_TESTS_SIM_SIM_DRIVER_H
#define TORG_TESTS_SIM_SIM_DRIVER_H

#include <stdbool.h>
#include <stdint.h>

#include "sim.h"
#include "sim_core.h"

struct sim_run {
    uint64_t seed;
    unsigned steps;
    struct sim_names without;
    bool is_traced;
    bool is_alone; /* each life has a process of its own */
};

/* Once in a process, in the directory that its seeds are to use; sim is there afterwards. */
void sim_seeds_open(const struct sim_program *program);
void sim_seeds_close(void);
/* False: it fails, and sim has its failure and history. */
bool sim_run_seed(const struct sim_run *run);

#endif
