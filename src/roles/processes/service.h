/* SPDX-License-Identifier: Apache-2.0 */
/*
 * service.h - the services of the role system. Their context is the process: one that serves, or a
 * command's own (desk.h).
 */
#ifndef TORG_ROLES_PROCESSES_SERVICE_H
#define TORG_ROLES_PROCESSES_SERVICE_H

#include "base/arena.h"
#include "base/err.h"
#include "net/rpc.h"
#include "roles/processes/process.h"
#include "torg/v1/audit.pb-c.h"
#include "torg/v1/key.pb-c.h"
#include "torg/v1/topic.pb-c.h"

struct rpc_service key_service(struct process *process);
struct rpc_service audit_service(struct process *process);
struct rpc_service system_service(struct process *process);
struct rpc_service topic_service(struct process *process);

/* The other way; ERR_INVALID when it cannot be told in microseconds; NULL gives 0. */
int timestamp_us(const Google__Protobuf__Timestamp *timestamp, int64_t *us, struct err *err);

#endif
