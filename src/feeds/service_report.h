/* SPDX-License-Identifier: Apache-2.0 */
/* service_report.h - the methods of FeedService that report what became of rows, for service.c's
 * table. */
#ifndef TORG_FEEDS_SERVICE_REPORT_H
#define TORG_FEEDS_SERVICE_REPORT_H

#include "net/rpc.h"

int feed_call_get_report(struct call *call, struct err *err);
int feed_call_get_reasons(struct call *call, const ProtobufCMessage *request,
                          ProtobufCMessage *response, struct err *err);

#endif
