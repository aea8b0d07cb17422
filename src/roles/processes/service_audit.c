/* SPDX-License-Identifier: Apache-2.0 */
/* service_audit.c - torg.v1.AuditService. */
#include <string.h>

#include "access/audit.h"
#include "access/audit_chain.h"
#include "base/memory.h"
#include "base/text.h"
#include "base/violation.h"
#include "codec/message.h"
#include "codec/moment.h"
#include "roles/processes/service.h"

enum { PAGE_DEFAULT = 20, PAGE_MAX = 1000 };

static Torg__V1__AuditEntry *entry_message(const struct audit_entry *entry, struct arena *arena)
{
    Torg__V1__AuditEntry *message = MESSAGE_NEW(audit_entry, arena);

    message->seq = entry->seq;
    message->time = moment_or_none(entry->at_us, arena);
    /* The texts are the arena's already. */
    message->principal = (char *)entry->principal;
    message->action = (char *)entry->action;
    message->target = (char *)entry->target;
    message->detail = (char *)entry->detail;
    message->key_id = (char *)entry->key;
    message->hash = (char *)entry->hash;
    return message;
}

static int list_entries(struct call *call, const ProtobufCMessage *message,
                        ProtobufCMessage *response, struct err *err)
{
    const Torg__V1__ListAuditEntriesRequest *request =
        (const Torg__V1__ListAuditEntriesRequest *)message;
    Torg__V1__ListAuditEntriesResponse *answer = (Torg__V1__ListAuditEntriesResponse *)response;
    size_t max = request->page_size ? (size_t)request->page_size : PAGE_DEFAULT;
    const struct process *process = call_context(call);
    struct arena *arena = call_arena(call);
    struct violations violations = violations_in(arena);
    struct audit_entry *entries;
    int64_t before = 0;
    size_t found;
    size_t count;
    int rc;

    if (request->page_size < 0 || request->page_size > PAGE_MAX)
        violations_add(&violations, "page_size", "expected 0 to %d", PAGE_MAX);
    if (*request->page_token &&
        (!text_to_i64(bytes_of(request->page_token), &before) || before <= 0))
        violations_add(&violations, "page_token", "expected next_page_token of another answer");
    call_violations(call, &violations);
    if (violations.count)
        return err_set(err, ERR_INVALID, "%s: %s", violations.first->field,
                       violations.first->reason);
    /* One more than is shown tells whether there is another page. */
    rc = audit_list(process->backends.store, before, max + 1, arena, &entries, &found, err);
    if (rc)
        return rc;
    count = found < max ? found : max;
    answer->entries = arena_array(arena, count ? count : 1, sizeof(answer->entries[0]));
    for (size_t i = 0; i < count; i++)
        answer->entries[i] = entry_message(&entries[i], arena);
    answer->n_entries = count;
    if (found > max)
        answer->next_page_token = arena_printf(arena, "%jd", (intmax_t)entries[count - 1].seq);
    return 0;
}

static int verify_audit(struct call *call, const ProtobufCMessage *message,
                        ProtobufCMessage *response, struct err *err)
{
    const Torg__V1__VerifyAuditRequest *request = (const Torg__V1__VerifyAuditRequest *)message;
    Torg__V1__VerifyAuditResponse *answer = (Torg__V1__VerifyAuditResponse *)response;
    const struct process *process = call_context(call);
    struct arena *arena = call_arena(call);
    struct audit_check check;
    int rc;

    if (request->expect_seq < 0)
        return call_invalid(call, err, "expect_seq", "expected 0 or more");
    if (request->expect_seq && strlen(request->expect_hash) != AUDIT_HASH_TEXT_SIZE - 1)
        return call_invalid(call, err, "expect_hash", "expected %d hex digits",
                            AUDIT_HASH_TEXT_SIZE - 1);
    rc = audit_verify(process->backends.store, request->expect_seq, request->expect_hash, arena,
                      &check, err);
    if (rc)
        return rc;
    answer->count = check.count;
    answer->last_seq = check.last_seq;
    answer->head = arena_strdup(arena, check.head);
    answer->fault_count = check.fault_total;
    answer->faults = arena_array(arena, check.fault_count + 1, sizeof(answer->faults[0]));
    for (size_t i = 0; i < check.fault_count; i++) {
        Torg__V1__AuditFault *fault = MESSAGE_NEW(audit_fault, arena);

        fault->seq = check.faults[i].seq;
        fault->reason = (char *)check.faults[i].reason;
        answer->faults[answer->n_faults++] = fault;
    }
    return 0;
}

static const struct rpc_method methods[] = {
    {.name = "ListAuditEntries", .unary = list_entries, .scope = "admin"},
    {.name = "VerifyAudit", .unary = verify_audit, .scope = "admin"},
};

struct rpc_service audit_service(struct process *process)
{
    return RPC_SERVICE(audit, methods, process);
}
