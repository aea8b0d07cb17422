/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_audit.c - torg audit. */
#include <stdio.h>

#include "base/object.h"
#include "base/text.h"
#include "roles/commands/desk.h"
#include "roles/commands/print.h"
#include "torg/v1/audit.pb-c.h"

enum { LIMIT_MAX = 1000 };

static void print_entries(const Torg__V1__ListAuditEntriesResponse *list, struct arena *arena)
{
    for (size_t i = 0; i < list->n_entries; i++) {
        const Torg__V1__AuditEntry *entry = list->entries[i];

        printf("%s  %-12s  %-14s  %s  %s\n", time_text(entry->time, arena), entry->principal,
               entry->action, entry->target, entry->detail);
    }
}

enum exit_code cmd_audit(const struct invocation *invocation)
{
    Torg__V1__ListAuditEntriesRequest request = TORG__V1__LIST_AUDIT_ENTRIES_REQUEST__INIT;
    ProtobufCMessage *response;
    const char *limit = invocation_option(invocation, "limit");
    uint64_t count = 0;
    struct err err;

    object_check(invocation, INVOCATION_MAGIC);
    if (limit && (!text_to_u64(bytes_of(limit), &count) || !count || count > LIMIT_MAX)) {
        complain("--limit=%.64s: expected a number from 1 to %d", limit, LIMIT_MAX);
        return EXIT_USAGE;
    }
    request.page_size = (int32_t)count;
    if (desk_ask(invocation, false, &torg__v1__audit_service__descriptor, "ListAuditEntries",
                 &request.base, &response, &err))
        return fail(&err);
    if (invocation->json)
        print_json(response);
    else
        print_entries((const Torg__V1__ListAuditEntriesResponse *)response, invocation->arena);
    return EXIT_OK;
}
