/* SPDX-License-Identifier: Apache-2.0 */
/* sim_files.h - descriptors of the life's files. */
#ifndef TORG_TESTS_SIM_SIM_FILES_H
#define TORG_TESTS_SIM_SIM_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct disk_inode;

struct disk_inode *sim_file_of(int fd);                 /* NULL: it is the system's */
int sim_file_open(struct disk_inode *inode, int flags); /* a descriptor; -1: errno says why */
void sim_file_resize(struct disk_inode *inode, uint64_t size);
/* Whether the call fails that changes this file or directory, and errno: others may run meanwhile.
 */
bool sim_file_fails(const struct disk_inode *inode, const char *what, bool needs_space);
bool sim_disk_is_full(void);

#endif
