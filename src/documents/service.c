/* SPDX-License-Identifier: Apache-2.0 */
/* service.c - see service.h. */
#include "documents/service.h"

#include <string.h>

#include "base/memory.h"
#include "catalog/versions.h"
#include "codec/message.h"
#include "codec/moment.h"
#include "documents/recompose_mark.h"
#include "model/offer_fields.h"

/* Offers of all sellers: a key of one of them, or of another client of the registry, is not enough.
 */
static int check_caller(const struct call *call, struct err *err)
{
    const struct identity *identity = call_identity(call);
    bool is_foreign = *identity->client && strcmp(identity->client, OFFER_CLIENT) != 0;

    if (*identity->seller || is_foreign)
        return err_set(err, ERR_DENIED, "the key is bound to %s: this call is for operators",
                       is_foreign ? identity->client : identity->seller);
    return 0;
}

static int composer_catalog_progress(const struct composer_context *context, struct arena *arena,
                                     Torg__V1__CatalogProgress *progress, struct err *err)
{
    struct recompose_mark mark;
    int rc = versions_current(context->store, &progress->version, err);

    if (!rc)
        rc = recompose_mark_read(context->store, &mark, err);
    if (rc)
        return rc;
    progress->done_version = mark.done_version;
    progress->target_version = mark.target_version;
    progress->offer_count = mark.offer_count;
    progress->seen_count = mark.seen_count;
    progress->sent_count = mark.sent_count;
    progress->hidden_count = mark.hidden_count;
    progress->failed_count = mark.failed_count;
    progress->category = arena_strdup(arena, mark.category);
    progress->begin_time = moment_or_none(mark.began_us, arena);
    progress->move_time = moment_or_none(mark.moved_us, arena);
    return 0;
}

static int get_catalog_progress(struct call *call, const ProtobufCMessage *request,
                                ProtobufCMessage *response, struct err *err)
{
    int rc = check_caller(call, err);

    (void)request;
    return rc ? rc
              : composer_catalog_progress(call_context(call), call_arena(call),
                                          (Torg__V1__CatalogProgress *)response, err);
}

static const struct rpc_method methods[] = {
    {.name = "GetCatalogProgress",
     .unary = get_catalog_progress,
     .scope = "pipeline.read",
     .flags = RPC_OF_CLIENT},
};

struct rpc_service composer_service(struct composer_context *context)
{
    return RPC_SERVICE(composer, methods, context);
}
