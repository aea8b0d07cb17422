/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sim_disk.h - what a disk keeps of the files below "disk" when its power goes.
 *
 * The files are real ones, of a file system in memory: reads, maps and listings are the kernel's.
 * Recorded is what is not durable yet, with what was there before: of each file the writes and
 * changes of size since its last sync, of each directory the names made, moved and removed since
 * its last sync. A power loss takes some of it back (sim_power.c).
 */
#ifndef TORG_TESTS_SIM_SIM_DISK_H
#define TORG_TESTS_SIM_SIM_DISK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SIM_DISK_MEMORY_SIZE ((size_t)1 << 32) /* reserved, not used: only touched pages are */

/* The driver's, once: memory that lives and driver share, zeroed. */
void sim_disk_open(void *memory);
/* The driver's, at a seed's start: an empty disk. */
void sim_disk_begin(void);
/* The driver's, between two lives. */
void sim_disk_lose_power(void);

#endif
