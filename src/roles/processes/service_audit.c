/* SPDX-License-Identifier: Apache-2.0 */
/* service_audit.c - torg.v1.AuditService. */
#include "access/audit.h"
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

static const struct rpc_method methods[] = {
    {.name = "ListAuditEntries", .unary = list_entries, .scope = "admin"},
};

struct rpc_service audit_service(struct process *process)
{
    return RPC_SERVICE(audit, methods, process);
}
