/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fault.h - failures on demand, for tests: what a handle opened by fault:URL does wrong.
 *
 * The first kind fails calls of any backend; the DISK kind fails the system calls of dir:.
 */
#ifndef TORG_BLOB_FAULT_H
#define TORG_BLOB_FAULT_H

enum blob_fault {
    BLOB_FAULT_READ,
    BLOB_FAULT_APPEND,
    BLOB_FAULT_COMMIT,
    BLOB_FAULT_DELETE,
    BLOB_FAULT_LIST,
    BLOB_FAULT_DISK_WRITE,       /* nothing is written, EIO */
    BLOB_FAULT_DISK_SHORT_WRITE, /* half is written, then ENOSPC */
    BLOB_FAULT_DISK_SYNC,
    BLOB_FAULT_DISK_RENAME,
    BLOB_FAULT_COUNT,
};

/* After `skip` more calls that work, the next `count` fail. */
void blob_fault_next(enum blob_fault fault, int skip, int count);
void blob_fault_clear(void);

#endif
