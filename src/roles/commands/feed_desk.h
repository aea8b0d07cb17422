/* SPDX-License-Identifier: Apache-2.0 */
/*
 * feed_desk.h - what the commands of feeds ask: a desk (desk.h) at FeedService.
 */
#ifndef TORG_ROLES_COMMANDS_FEED_DESK_H
#define TORG_ROLES_COMMANDS_FEED_DESK_H

#include "catalog/catalog.h"
#include "roles/commands/command.h"
#include "torg/v1/feed.pb-c.h"

struct feed_desk;

int feed_desk_open(const struct invocation *invocation, struct feed_desk **desk, struct err *err);
void feed_desk_close(struct feed_desk *desk); /* NULL is fine */

/* The catalogue in use; to be given back by catalog_unref. */
int feed_desk_catalog(struct feed_desk *desk, struct catalog **catalog, struct err *err);

/* --- a task's events, open first and end last; answers are in the invocation's arena --- */

int feed_desk_send(struct feed_desk *desk, const Torg__V1__FeedEvent *event, struct err *err);
int feed_desk_finish(struct feed_desk *desk, Torg__V1__FeedTask **task, struct err *err);

/* --- tasks --- */

/* method: GetTask, ConfirmTask, CancelTask or UndoTask. */
int feed_desk_do(struct feed_desk *desk, const char *method,
                 const Torg__V1__FeedTaskRequest *request, Torg__V1__FeedTask **task,
                 struct err *err);
int feed_desk_list(struct feed_desk *desk, const Torg__V1__ListFeedTasksRequest *request,
                   Torg__V1__ListFeedTasksResponse **response, struct err *err);
/* Any method of FeedService. */
int feed_desk_call(struct feed_desk *desk, const char *method, const ProtobufCMessage *request,
                   ProtobufCMessage **response, struct err *err);
/* A server runs: there is one who fetches feeds. */
bool feed_desk_is_served(const struct feed_desk *desk);
/* Gives each row to take, which has it for the call. */
int feed_desk_report(struct feed_desk *desk, const Torg__V1__GetFeedReportRequest *request,
                     int (*take)(void *arg, const Torg__V1__FeedReportRow *row, struct err *err),
                     void *arg, struct err *err);

#endif
