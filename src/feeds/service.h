/* SPDX-License-Identifier: Apache-2.0 */
/* service.h - the FeedService; see proto/torg/v1/feed.proto. The offers live as long as it. */
#ifndef TORG_FEEDS_SERVICE_H
#define TORG_FEEDS_SERVICE_H

#include "net/rpc.h"
#include "offers/change/offers.h"

struct rpc_service feed_service(struct offers *offers);

#endif
