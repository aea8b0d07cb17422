/* SPDX-License-Identifier: Apache-2.0 */
/* service_categories.h - the methods of FeedService about what a feed's categories are, for
 * service.c's table. */
#ifndef TORG_FEEDS_SERVICE_CATEGORIES_H
#define TORG_FEEDS_SERVICE_CATEGORIES_H

#include "net/rpc.h"

int feed_call_set_categories(struct call *call, const ProtobufCMessage *request,
                             ProtobufCMessage *response, struct err *err);
int feed_call_get_categories(struct call *call, const ProtobufCMessage *request,
                             ProtobufCMessage *response, struct err *err);
int feed_call_remove_categories(struct call *call, const ProtobufCMessage *request,
                                ProtobufCMessage *response, struct err *err);

#endif
