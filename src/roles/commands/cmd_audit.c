/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_audit.c - torg audit list, verify. */
#include <stdio.h>
#include <string.h>

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

        printf("%s  %-12s  %-10s  %-14s  %s  %s\n", time_text(entry->time, arena), entry->principal,
               *entry->key_id ? entry->key_id : "-", entry->action, entry->target, entry->detail);
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

/* "17:9f2c…" */
static int read_expected(const char *text, struct arena *arena,
                         Torg__V1__VerifyAuditRequest *request, struct err *err)
{
    const char *colon = text ? strchr(text, ':') : NULL;
    int64_t seq;

    if (!text)
        return 0;
    if (!colon || !text_to_i64(bytes_make(text, (size_t)(colon - text)), &seq) || seq < 1)
        return err_set(err, ERR_INVALID, "--expect=%.64s: expected NUMBER:HASH", text);
    request->expect_seq = seq;
    request->expect_hash = arena_strdup(arena, colon + 1);
    return 0;
}

static enum exit_code print_verdict(const Torg__V1__VerifyAuditResponse *verdict)
{
    for (size_t i = 0; i < verdict->n_faults; i++)
        printf("entry %jd: %s\n", (intmax_t)verdict->faults[i]->seq, verdict->faults[i]->reason);
    if (verdict->fault_count > (int64_t)verdict->n_faults)
        printf("and %jd more\n", (intmax_t)(verdict->fault_count - (int64_t)verdict->n_faults));
    if (!verdict->fault_count)
        printf("%jd entries, nothing is wrong; the last is %jd:%s\n", (intmax_t)verdict->count,
               (intmax_t)verdict->last_seq, verdict->head);
    return verdict->fault_count ? EXIT_FAILED : EXIT_OK;
}

enum exit_code cmd_audit_verify(const struct invocation *invocation)
{
    Torg__V1__VerifyAuditRequest request = TORG__V1__VERIFY_AUDIT_REQUEST__INIT;
    const Torg__V1__VerifyAuditResponse *verdict;
    ProtobufCMessage *response;
    struct err err;

    object_check(invocation, INVOCATION_MAGIC);
    if (read_expected(invocation_option(invocation, "expect"), invocation->arena, &request, &err) ||
        desk_ask(invocation, false, &torg__v1__audit_service__descriptor, "VerifyAudit",
                 &request.base, &response, &err))
        return fail(&err);
    verdict = (const Torg__V1__VerifyAuditResponse *)response;
    if (!invocation->json)
        return print_verdict(verdict);
    print_json(response);
    return verdict->fault_count ? EXIT_FAILED : EXIT_OK;
}
