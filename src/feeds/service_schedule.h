/* SPDX-License-Identifier: Apache-2.0 */
/* service_schedule.h - the methods of FeedService about feeds by address, for service.c's table. */
#ifndef TORG_FEEDS_SERVICE_SCHEDULE_H
#define TORG_FEEDS_SERVICE_SCHEDULE_H

#include "feeds/tasks/task.h"
#include "net/rpc.h"

/* Of service.c: whose feed a call means. acts: it changes what is the seller's. */
int feed_call_key(struct call *call, bool acts, const char *seller, const char *feed,
                  int64_t task_id, struct feed_key *key, struct err *err);

int feed_call_set_schedule(struct call *call, const ProtobufCMessage *request,
                           ProtobufCMessage *response, struct err *err);
int feed_call_get_schedule(struct call *call, const ProtobufCMessage *request,
                           ProtobufCMessage *response, struct err *err);
int feed_call_list_schedules(struct call *call, const ProtobufCMessage *request,
                             ProtobufCMessage *response, struct err *err);
int feed_call_pause_schedule(struct call *call, const ProtobufCMessage *request,
                             ProtobufCMessage *response, struct err *err);
int feed_call_resume_schedule(struct call *call, const ProtobufCMessage *request,
                              ProtobufCMessage *response, struct err *err);
int feed_call_run_schedule(struct call *call, const ProtobufCMessage *request,
                           ProtobufCMessage *response, struct err *err);
int feed_call_remove_schedule(struct call *call, const ProtobufCMessage *request,
                              ProtobufCMessage *response, struct err *err);

#endif
