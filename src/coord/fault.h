/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fault.h - failures on demand, for tests: what a handle opened by fault:URL does wrong.
 *
 * A failed call either never reached the backend, or was done and its answer lost; a member
 * must survive both. Faults are the process's, so that a test needs no pointer into a handle.
 */
#ifndef TORG_COORD_FAULT_H
#define TORG_COORD_FAULT_H

#include <stdbool.h>

enum coord_fault {
    COORD_FAULT_RENEW,
    COORD_FAULT_JOIN,
    COORD_FAULT_LEAVE,
    COORD_FAULT_LOOK,
    COORD_FAULT_CLAIM,
    COORD_FAULT_RELEASE,
    COORD_FAULT_GET,
    COORD_FAULT_SET,
    COORD_FAULT_COUNT,
};

/* The next `count` calls fail with ERR_UNAVAILABLE; done: after having had their effect. */
void coord_fault_next(enum coord_fault fault, int count, bool done);
void coord_fault_clear(void);

#endif
