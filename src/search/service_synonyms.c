/* SPDX-License-Identifier: Apache-2.0 */
/* service_synonyms.c - see service_synonyms.h. */
#include "search/service_synonyms.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "codec/message.h"
#include "codec/moment.h"
#include "search/bounds.h"
#include "search/synonyms/synonym_proposals.h"
#include "search/synonyms/synonym_sets.h"

/* --- reading --- */

static Torg__V1__SynonymSet *set_message(const struct synonym_set *set, struct arena *arena)
{
    Torg__V1__SynonymSet *message = MESSAGE_NEW(synonym_set, arena);
    struct violations faults = violations_in(arena);
    struct synonym_rules rules;
    struct err err;

    message->language = (char *)set->language;
    message->version = set->version;
    message->text = arena_text(arena, set->text);
    message->apply_time = moment_message(set->applied_us, arena);
    message->applied_by = (char *)set->applied_by;
    if (!synonyms_parse(set->text, arena, &rules, &faults, &err))
        message->rule_count = (int32_t)rules.count;
    return message;
}

static int list_synonyms(struct call *call, const ProtobufCMessage *message,
                         ProtobufCMessage *response, struct err *err)
{
    const struct synonym_service *service = call_context(call);
    const char *language = ((const Torg__V1__ListSynonymsRequest *)message)->language;
    Torg__V1__ListSynonymsResponse *answer = (Torg__V1__ListSynonymsResponse *)response;
    struct synonym_sets sets;
    int rc = synonym_sets_read(service->store, call_arena(call), &sets, err);

    if (rc)
        return rc;
    answer->sets = arena_array(call_arena(call), sets.count + 1, sizeof(answer->sets[0]));
    for (size_t i = 0; i < sets.count; i++) {
        if (!*language || strcmp(language, sets.list[i].language) == 0)
            answer->sets[answer->n_sets++] = set_message(&sets.list[i], call_arena(call));
    }
    return 0;
}

static int list_proposals(struct call *call, const ProtobufCMessage *message,
                          ProtobufCMessage *response, struct err *err)
{
    const struct synonym_service *service = call_context(call);
    int32_t limit = ((const Torg__V1__ListSynonymProposalsRequest *)message)->limit;
    struct synonyms *synonyms;
    int rc;

    if (limit < 0 || limit > SYNONYM_PROPOSAL_COUNT_MAX)
        return call_invalid(call, err, "limit", "expected 0 to %d", SYNONYM_PROPOSAL_COUNT_MAX);
    synonyms = synonyms_in_force(service->holder);
    rc = synonym_proposals(service->store, synonyms, limit ? (size_t)limit : SYNONYM_PROPOSAL_COUNT,
                           call_arena(call), (Torg__V1__ListSynonymProposalsResponse *)response,
                           err);
    synonyms_unref(synonyms);
    return rc;
}

/* --- changing --- */

static int compare_texts(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static char **sorted_texts(const struct synonym_rules *rules, struct arena *arena)
{
    char **texts = arena_array(arena, rules->count + 1, sizeof(*texts));

    for (size_t i = 0; i < rules->count; i++)
        texts[i] = (char *)rules->list[i].text;
    qsort(texts, rules->count, sizeof(*texts), compare_texts);
    return texts;
}

/* Rules of the one that the other does not have. */
static char **missing(const struct synonym_rules *rules, const struct synonym_rules *other,
                      struct arena *arena, size_t *count)
{
    char **list = arena_array(arena, rules->count + 1, sizeof(*list));
    char **known = sorted_texts(other, arena);

    *count = 0;
    for (size_t i = 0; i < rules->count; i++) {
        if (!bsearch(&rules->list[i].text, known, other->count, sizeof(*known), compare_texts))
            list[(*count)++] = (char *)rules->list[i].text;
    }
    return list;
}

/* What the file says, and what is in force beside it. */
static int compare(struct call *call, const char *language, const char *text,
                   Torg__V1__SynonymChange *change, struct err *err)
{
    const struct synonym_service *service = call_context(call);
    struct arena *arena = call_arena(call);
    struct violations faults = violations_in(arena), none = violations_in(arena);
    struct synonym_rules next, before = {0};
    const struct synonym_set *set;
    struct synonym_sets sets;
    int rc = synonym_language_check(language, err);

    if (!rc)
        rc = synonyms_parse(bytes_of(text), arena, &next, &faults, err);
    if (faults.count)
        call_violations(call, &faults);
    if (!rc)
        rc = synonym_sets_read(service->store, arena, &sets, err);
    if (rc)
        return rc;
    set = synonym_sets_find(&sets, language);
    if (set && synonyms_parse(set->text, arena, &before, &none, err))
        before = (struct synonym_rules){0}; /* of older rules: then all of it is new */
    change->language = arena_strdup(arena, language);
    change->from_version = change->to_version = set ? set->version : 0;
    change->added = missing(&next, &before, arena, &change->n_added);
    change->removed = missing(&before, &next, arena, &change->n_removed);
    change->rule_count = (int32_t)next.count;
    return 0;
}

static int diff_synonyms(struct call *call, const ProtobufCMessage *message,
                         ProtobufCMessage *response, struct err *err)
{
    const Torg__V1__DiffSynonymsRequest *request = (const Torg__V1__DiffSynonymsRequest *)message;

    return compare(call, request->language, request->text, (Torg__V1__SynonymChange *)response,
                   err);
}

static int apply_synonyms(struct call *call, const ProtobufCMessage *message,
                          ProtobufCMessage *response, struct err *err)
{
    const struct synonym_service *service = call_context(call);
    const Torg__V1__ApplySynonymsRequest *request = (const Torg__V1__ApplySynonymsRequest *)message;
    Torg__V1__SynonymChange *change = (Torg__V1__SynonymChange *)response;
    struct synonym_change wanted = {.language = request->language,
                                    .text = bytes_of(request->text),
                                    .principal = call_actor(call),
                                    .now_us = clock_wall_us(service->clock)};
    int rc = compare(call, request->language, request->text, change, err);

    if (rc)
        return rc;
    wanted.expected =
        request->_expected_version_case ? request->expected_version : change->from_version;
    if (wanted.expected == change->from_version && !change->n_added && !change->n_removed)
        return 0;
    rc = synonym_sets_apply(service->store, &wanted, err);
    if (rc)
        return rc;
    change->to_version = wanted.expected + 1;
    synonym_holder_refresh(service->holder, NULL); /* a failure is logged, and tried again */
    return 0;
}

static const struct rpc_method methods[] = {
    {.name = "ListSynonyms", .unary = list_synonyms, .scope = "catalog"},
    {.name = "DiffSynonyms", .unary = diff_synonyms, .scope = "catalog"},
    {.name = "ApplySynonyms", .unary = apply_synonyms, .scope = "catalog"},
    {.name = "ListSynonymProposals", .unary = list_proposals, .scope = "catalog"},
};

struct rpc_service synonym_rpc_service(struct synonym_service *service)
{
    return RPC_SERVICE(synonym, methods, service);
}
