/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file.h - files that are whole or not there, and durable when a call returns.
 */
#ifndef TORG_BASE_FILE_H
#define TORG_BASE_FILE_H

#include <stdbool.h>
#include <sys/types.h>
#include <time.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "base/err.h"

/* Appends the whole content to out; ERR_LIMIT, naming the file, when it passes out's limit. */
int file_read(const char *path, struct buf *out, struct err *err);

/* Temporary name, write, fsync, rename, fsync of the directory. */
int file_write(const char *path, struct bytes content, struct err *err);

/* Writes all of it, however many calls that takes. */
int file_write_all(int fd, struct bytes content, struct err *err);

/* What tells that a file is another one, or has changed: its time alone moves by milliseconds. */
struct file_stamp {
    struct timespec changed;
    off_t size;
    ino_t inode;
};

/* All zeros if it cannot be looked at. */
struct file_stamp file_stamp(const char *path);
bool file_stamps_equal(const struct file_stamp *a, const struct file_stamp *b);

int dir_create(const char *path, struct err *err); /* with its parents; there already is fine */
int dir_sync(const char *path, struct err *err);   /* makes renames and new names durable */
int dir_remove(const char *path, struct err *err); /* with all in it; links are not followed */

/* An exclusive lock on the file, held until file_unlock or the end of the process.
 * ERR_EXISTS, naming the holder's pid, when another process has it. */
int file_lock(const char *path, int *lock_fd, struct err *err);
void file_unlock(int lock_fd);

#endif
