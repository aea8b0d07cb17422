/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file_calls.h - the system calls by which files become durable, and how tests make them fail.
 *
 * Each is the call of its name. All code that keeps data in files uses these, so a test can have
 * the disk full or broken at any of them: we know no other way to find what is left half done.
 */
#ifndef TORG_BASE_FILE_CALLS_H
#define TORG_BASE_FILE_CALLS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

ssize_t file_call_write(int fd, const void *data, size_t size);
ssize_t file_call_pwrite(int fd, const void *data, size_t size, uint64_t offset);
int file_call_fsync(int fd);
int file_call_fdatasync(int fd);
int file_call_rename(const char *from, const char *to);

/* ---- for tests ---- */

enum file_fault {
    FILE_FAULT_WRITE,  /* ENOSPC; half of what is to be written may be there */
    FILE_FAULT_SYNC,   /* EIO */
    FILE_FAULT_RENAME, /* ENOSPC */
    FILE_FAULT_COUNT,
};

/* After `skip` more calls that go well, `count` fail, in the whole process; 0: none. */
void file_fault_arm(enum file_fault fault, unsigned skip, unsigned count);
unsigned file_fault_hits(void); /* calls that were failed so far */

#endif
