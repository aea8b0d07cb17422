/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_fault.h - a store that fails when told to, around any other; and a disk that does.
 *
 * store_open("fault:sqlite:…") gives the inner store wrapped, SQLite's files on the faulty disk.
 * A fault is armed for a point: skip so many passes, then fail so many. For tests; safe for all
 * threads.
 */
#ifndef TORG_STORE_STORE_FAULT_H
#define TORG_STORE_STORE_FAULT_H

#include "store/store.h"

enum store_fault_point {
    STORE_FAULT_BEGIN,    /* the transaction cannot start: ERR_UNAVAILABLE */
    STORE_FAULT_EXEC,     /* a statement fails: ERR_UNAVAILABLE */
    STORE_FAULT_TIMEOUT,  /* a statement takes too long: ERR_TIMEOUT */
    STORE_FAULT_ROW,      /* a step to the next row fails: ERR_UNAVAILABLE */
    STORE_FAULT_CONFLICT, /* the transaction ran and must be run again */
    STORE_FAULT_COMMIT,   /* the transaction ran and was rolled back: ERR_UNAVAILABLE */
    STORE_FAULT_ACK,      /* it was committed, and the answer is lost: ERR_UNAVAILABLE */
    STORE_FAULT_DELAY,    /* it stays open for the time of store_fault_delay before its commit */
    STORE_FAULT_POINT_COUNT
};

/* store was opened as fault:…; a count of 0 disarms. */
void store_fault_arm(struct store *store, enum store_fault_point point, unsigned skip,
                     unsigned count);
void store_fault_delay(struct store *store, unsigned delay_ms);

enum disk_fault {
    DISK_FAULT_WRITE, /* nothing is written */
    DISK_FAULT_TORN,  /* half of it is written, then the error */
    DISK_FAULT_FULL,  /* no room */
    DISK_FAULT_SYNC,  /* written, but the sync fails */
    DISK_FAULT_COUNT
};

/* For every file on the faulty disk. Only the database's log and file count, not shared memory. */
void disk_fault_arm(enum disk_fault fault, unsigned skip, unsigned count);
unsigned disk_fault_hits(void); /* how many calls were failed since the process began */

/* The name of SQLite's file layer that is the faulty disk; registered at first use. */
const char *store_fault_vfs(void);

#endif
