/* SPDX-License-Identifier: Apache-2.0 */
/* rest_checks.h - what has to hold when all is at rest, one function each; see rest.h. */
#ifndef TORG_TESTS_SIM_REST_CHECKS_H
#define TORG_TESTS_SIM_REST_CHECKS_H

#include "sim/model.h"
#include "sim/world.h"

/* Documents follow the catalogue in use, after a while: those that fitted no epoch by the one
 * before are parked until then. */
void check_composed(struct world *world, struct model *model);
/* Nothing waits in a stage: queues are empty and topics read to their ends, after a while. */
void check_lanes(struct world *world, struct model *model);
/* Parked is what cannot be read, and nothing else. */
void check_parked(struct world *world, struct model *model);
/* Sellers' figures equal a recount of their offers ... */
void check_counters(struct world *world, struct model *model);
/* ... and what the model says. */
void check_cabinets(struct world *world, struct model *model);
/* Each category of the first catalogue finds its offers, and no others. */
void check_categories(struct world *world, struct model *model);
/* All that `torg verify --rebuild` looks at. */
void check_verify(struct world *world, struct model *model);
/* The auditor has found nothing to repair in any life: nothing was lost that it brought back. */
void check_auditor(struct world *world, struct model *model);

#endif
