/* SPDX-License-Identifier: Apache-2.0 */
/*
 * data_dir.h - the directory that holds everything of the embedded backends; one process at a time.
 *
 *     LOCK          held while a process uses the directory; its pid
 *     VERSION       "torg-data 1": the form of what is here
 *     store.sqlite  tables          topics/  the topics' logs
 *     coord/        owners, tickets blobs/   files
 *     index/        shards          spell/   what spelling has learnt
 *     DEMO          torg demo has made it (demo_state.h)
 *     server.url, operator.key      while a server runs: how local commands reach it
 */
#ifndef TORG_ROLES_PROCESSES_DATA_DIR_H
#define TORG_ROLES_PROCESSES_DATA_DIR_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/err.h"

struct data_dir {
    const char *path; /* borrowed */
    int lock_fd;
};

#define DATA_DIR_CLOSED ((struct data_dir){.lock_fd = -1})

/* Locks the directory; create: makes it when it is missing, else ERR_NOT_FOUND. ERR_UNAVAILABLE
 * names the process that has it; a directory of something else is ERR_PRECONDITION. */
int data_dir_open(const char *path, bool create, struct data_dir *dir, struct err *err);
void data_dir_close(struct data_dir *dir); /* closed already is fine */

/* The path of something in it, in the arena. */
char *data_dir_path(const char *path, const char *name, struct arena *arena);

#endif
