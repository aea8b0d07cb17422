/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sim_dir.h - trees of files, for the driver, which must not allocate.
 */
#ifndef TORG_TESTS_SIM_SIM_DIR_H
#define TORG_TESTS_SIM_SIM_DIR_H

void sim_dir_remove(const char *path); /* with all in it; not there is fine */

#endif
