/* SPDX-License-Identifier: Apache-2.0 */
/* sim_files.h - which recorded file a descriptor or a path of the life is. */
#ifndef TORG_TESTS_SIM_SIM_FILES_H
#define TORG_TESTS_SIM_SIM_FILES_H

struct disk_inode;

struct disk_inode *sim_file_of(int fd); /* NULL: not on the disk */
struct disk_inode *sim_file_at(int dir, const char *path);

#endif
