/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rest.h - the judge at rest: nobody writes any more and no fault is made. What was not answered is
 * found out, time passes until searches show what the model says, and then every count, queue and
 * check of the world has to agree.
 */
#ifndef TORG_TESTS_SIM_REST_H
#define TORG_TESTS_SIM_REST_H

#include "sim/crowd.h"

/* Finds out what became of all that was not answered. */
void rest_resolve(struct world *world, struct model *model);
/* Ends the life when something is violated. */
void rest_judge(struct world *world, struct model *model);

#endif
