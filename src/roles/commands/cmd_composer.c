/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_composer.c - torg composer status: how far documents have followed the catalogue. */
#include <inttypes.h>
#include <stdio.h>

#include "base/object.h"
#include "roles/commands/desk.h"
#include "roles/commands/print.h"
#include "torg/v1/composer.pb-c.h"

static void print_progress(const Torg__V1__CatalogProgress *progress, struct arena *arena)
{
    bool is_going = progress->target_version > progress->done_version;

    printf("catalogue version %" PRId64 ", followed by all documents up to version %" PRId64 "\n",
           progress->version, progress->done_version);
    if (is_going)
        printf("version %" PRId64 ": %" PRId64 " of %" PRId64 " offers since %s, at category %s\n",
               progress->target_version, progress->seen_count, progress->offer_count,
               time_text(progress->begin_time, arena),
               *progress->category ? progress->category : "-");
    else if (progress->version > progress->done_version)
        printf("version %" PRId64 " is about to begin\n", progress->version);
    if (progress->move_time)
        printf("%s: %" PRId64 " composed again, %" PRId64
               " hidden (their category is gone), %" PRId64 " failed; last step %s\n",
               is_going ? "so far" : "the last time", progress->sent_count, progress->hidden_count,
               progress->failed_count, time_text(progress->move_time, arena));
}

enum exit_code cmd_composer_status(const struct invocation *invocation)
{
    Torg__V1__GetCatalogProgressRequest request = TORG__V1__GET_CATALOG_PROGRESS_REQUEST__INIT;
    ProtobufCMessage *progress;
    struct err err;

    object_check(invocation, INVOCATION_MAGIC);
    if (desk_ask(invocation, false, &torg__v1__composer_service__descriptor, "GetCatalogProgress",
                 &request.base, &progress, &err))
        return fail(&err);
    if (invocation->json)
        print_json(progress);
    else
        print_progress((const Torg__V1__CatalogProgress *)progress, invocation->arena);
    return EXIT_OK;
}
