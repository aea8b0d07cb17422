/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sim_migrated.h - databases that begin as the migrations leave them.
 *
 * A program that links sim_migrated.c with -Wl,--wrap=sqlite3_open_v2 gives a new database of seven
 * seeds in eight a schema that is there already; the migrations of the others are run.
 */
#ifndef TORG_TESTS_SIM_SIM_MIGRATED_H
#define TORG_TESTS_SIM_SIM_MIGRATED_H

/* In the driver, before there are processes of lives. */
void sim_migrated_prepare(void);

#endif
