/* SPDX-License-Identifier: Apache-2.0 */
/* sim_backends.h - the scheme sim: of the three interfaces, for sim_net.c. */
#ifndef TORG_TESTS_SIM_BACKENDS_H
#define TORG_TESTS_SIM_BACKENDS_H

struct store_ops;
struct topics_ops;
struct coord_ops;

extern const struct store_ops sim_store_ops;
extern const struct topics_ops sim_topics_ops;
extern const struct coord_ops sim_coord_ops;

void sim_backends_add(void);
void sim_backends_remove(void);

#endif
