/* SPDX-License-Identifier: Apache-2.0 */
/* service_feed.c - torg.v1.FeedService. */
#include "base/memory.h"
#include "offers/service.h"
#include "torg/v1/feed.pb-c.h"

static int import(struct call *call, struct err *err)
{
    const char *seller;

    (void)caller_seller(call, &seller, err);
    return err_set(err, ERR_UNSUPPORTED, "feeds are not applied yet");
}

static const struct rpc_method methods[] = {
    {.name = "Import", .stream = import, .flags = RPC_CLIENT_STREAM, .scope = "offers.write"},
};

struct rpc_service feed_service(struct offers *offers)
{
    return (struct rpc_service){
        .descriptor = &torg__v1__feed_service__descriptor,
        .methods = methods,
        .method_count = ARRAY_COUNT(methods),
        .context = offers,
    };
}
