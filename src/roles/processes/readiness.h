/* SPDX-License-Identifier: Apache-2.0 */
/*
 * readiness.h - whether callers of this process are answered: what /readyz says.
 *
 * Roles are asked themselves (role.check): a searcher is ready when its indexes are open and have
 * caught up, a search when a searcher answers it.
 *
 * PostgreSQL, Kafka and ZooKeeper are watched, embedded backends are not. One that has been silent
 * for READY_SILENCE_MS makes the process not ready when callers are refused without it
 * (role.needs); else /readyz tells of it and stays at 200, so that a load balancer goes on with
 * what works. The log tells when a server falls silent and when it answers again;
 * torg_backend_answers says the same to alerts.
 *
 * Threads: one asks the broker, which may take its time; one looks at the clocks of all and asks
 * the roles.
 */
#ifndef TORG_ROLES_PROCESSES_READINESS_H
#define TORG_ROLES_PROCESSES_READINESS_H

#include "roles/processes/process.h"

/* Before the server starts: it says not ready until readiness_start, if a role is to be asked. */
void readiness_hold(struct process *process);
/* The process's server and backends are open; they outlive it. NULL: there is nothing to watch. */
struct readiness *readiness_start(struct process *process);
void readiness_stop(struct readiness *readiness); /* NULL is fine */

#endif
