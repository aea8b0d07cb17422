/* SPDX-License-Identifier: Apache-2.0 */
/*
 * supervisor.h - tells whoever started the process that it is ready and alive, as systemd asks for:
 * a datagram to the socket in NOTIFY_SOCKET, "READY=1" once, then "WATCHDOG=1" twice in the time
 * of WATCHDOG_USEC. A process that stands still (SIGSTOP, a frozen group, memory that does not come
 * back) says nothing, is ended by its supervisor, and those who call it are let go. Nobody but a
 * supervisor can do that: what stands still cannot send its callers away.
 *
 * Without these variables nothing happens. Threads: one of its own.
 */
#ifndef TORG_ROLES_PROCESSES_SUPERVISOR_H
#define TORG_ROLES_PROCESSES_SUPERVISOR_H

#include "base/clock.h"

struct supervisor;

/* NULL: nobody asks. A socket that cannot be used is logged. */
struct supervisor *supervisor_start(const struct clock *clock);
void supervisor_stop(struct supervisor *supervisor); /* NULL is fine */

#endif
