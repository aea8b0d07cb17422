/* SPDX-License-Identifier: Apache-2.0 */
/*
 * feed_local.h - the deeds of FeedService on the store itself, for a command when no server runs.
 *
 * The same functions of offers/ as the service's; the changes leave the store when a worker runs
 * next. Only feed_desk.c includes this.
 */
#ifndef TORG_ROLES_FEED_LOCAL_H
#define TORG_ROLES_FEED_LOCAL_H

#include "catalog/holder.h"
#include "config/config.h"
#include "offers/feed_intake.h"
#include "offers/feed_rules.h"
#include "offers/offers.h"
#include "roles/feed_desk.h"

struct feed_local {
    struct offers offers;
    struct feed_rules rules;
    struct catalog_holder *catalog;
    struct feed_intake intake; /* its arena is NULL before the first event */
    struct feed_task task;     /* of the events, once the end has come */
    struct arena *arena;       /* borrowed: of answers */
};

int feed_local_open(const struct config *config, struct store *store, struct arena *arena,
                    struct feed_local *local, struct err *err);
void feed_local_close(struct feed_local *local);

int feed_local_send(struct feed_local *local, const Torg__V1__FeedEvent *event, struct err *err);
int feed_local_finish(struct feed_local *local, Torg__V1__FeedTask **task, struct err *err);
int feed_local_do(struct feed_local *local, enum feed_deed deed,
                  const Torg__V1__FeedTaskRequest *request, Torg__V1__FeedTask **task,
                  struct err *err);
int feed_local_list(struct feed_local *local, const Torg__V1__ListFeedTasksRequest *request,
                    Torg__V1__ListFeedTasksResponse **response, struct err *err);
int feed_local_report(struct feed_local *local, const Torg__V1__GetFeedReportRequest *request,
                      int (*take)(void *arg, const Torg__V1__FeedReportRow *row, struct err *err),
                      void *arg, struct err *err);

#endif
