/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sim_dir.h - trees of files, for the driver, which must not allocate.
 */
#ifndef TORG_TESTS_SIM_SIM_DIR_H
#define TORG_TESTS_SIM_SIM_DIR_H

void sim_dir_remove(const char *path); /* with all in it; not there is fine */

/* Removes what drivers have left that were killed: PREFIX, the number of a process that is no more,
 * and anything. */
void sim_dir_sweep(const char *path, const char *prefix);

#endif
