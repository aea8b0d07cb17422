/* SPDX-License-Identifier: Apache-2.0 */
/* service_load.c - SnippetService's full loads (load.h). */
#include "snippets/bounds.h"
#include "snippets/intake/load.h"
#include "snippets/service_parts.h"

int snippet_begin_load(struct call *call, const ProtobufCMessage *message,
                       ProtobufCMessage *response, struct err *err)
{
    const Torg__V1__BeginSnippetLoadRequest *request =
        (const Torg__V1__BeginSnippetLoadRequest *)message;
    Torg__V1__BeginSnippetLoadResponse *answer = (Torg__V1__BeginSnippetLoadResponse *)response;

    return snippets_load_begin(call_context(call), bytes_of(request->name), &answer->load, err);
}

int snippet_add_loaded(struct call *call, const ProtobufCMessage *message,
                       ProtobufCMessage *response, struct err *err)
{
    const Torg__V1__AddSnippetsRequest *request = (const Torg__V1__AddSnippetsRequest *)message;
    Torg__V1__AddSnippetsResponse *answer = (Torg__V1__AddSnippetsResponse *)response;
    struct arena *arena = call_arena(call);
    struct snippet_load_row *rows =
        arena_array(arena, request->n_records + 1, sizeof(struct snippet_load_row));
    struct snippet_body same = {0};
    struct snippet_load_count counts;
    int rc;

    if (request->n_records > SNIPPET_LOAD_COUNT_MAX)
        return call_invalid(call, err, "records", "%zu records; at most %d at once",
                            request->n_records, SNIPPET_LOAD_COUNT_MAX);
    rc = snippet_format_of(call, request->format, &same, err);
    if (rc)
        return rc;
    for (size_t i = 0; i < request->n_records; i++) {
        const Torg__V1__SnippetRecord *record = request->records[i];

        rows[i] = (struct snippet_load_row){same, record->place};
        rows[i].body.key = bytes_of(record->key);
        rows[i].body.language = bytes_of(record->language);
        rows[i].body.body = bytes_make(record->body.data, record->body.len);
    }
    rc = snippets_load_add(call_context(call), bytes_of(request->name), request->load, rows,
                           request->n_records, arena, &counts, err);
    answer->stored = (int64_t)counts.stored;
    answer->older = (int64_t)counts.older;
    return rc;
}

int snippet_finish_load(struct call *call, const ProtobufCMessage *message,
                        ProtobufCMessage *response, struct err *err)
{
    const Torg__V1__FinishSnippetLoadRequest *request =
        (const Torg__V1__FinishSnippetLoadRequest *)message;
    Torg__V1__FinishSnippetLoadResponse *answer = (Torg__V1__FinishSnippetLoadResponse *)response;
    unsigned percent = request->removed_percent_max ? (unsigned)request->removed_percent_max
                                                    : SNIPPET_LOAD_REMOVED_PERCENT;
    struct snippet_difference difference = {0};
    int rc;

    if (request->removed_percent_max < 0 || percent > 100)
        return call_invalid(call, err, "removed_percent_max", "1 to 100 percent");
    rc = snippets_load_finish(call_context(call), bytes_of(request->name), request->load, percent,
                              request->dry_run, &difference, err);
    answer->before = difference.before;
    answer->after = difference.after;
    answer->kept = difference.kept;
    return rc;
}

int snippet_abandon_load(struct call *call, const ProtobufCMessage *message,
                         ProtobufCMessage *response, struct err *err)
{
    const Torg__V1__AbandonSnippetLoadRequest *request =
        (const Torg__V1__AbandonSnippetLoadRequest *)message;

    (void)response;
    return snippets_load_abandon(call_context(call), bytes_of(request->name), request->load, err);
}

int snippet_roll_back(struct call *call, const ProtobufCMessage *message,
                      ProtobufCMessage *response, struct err *err)
{
    const Torg__V1__RollBackSnippetsRequest *request =
        (const Torg__V1__RollBackSnippetsRequest *)message;

    (void)response;
    return snippets_load_back(call_context(call), bytes_of(request->name), err);
}
