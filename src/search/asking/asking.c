/* SPDX-License-Identifier: Apache-2.0 */
/* asking.c - see asking.h. */
#include "search/asking/asking.h"

#include <stdatomic.h>

#include "base/log.h"
#include "codec/message.h"
#include "model/offer_fields.h"
#include "search/bounds.h"
#include "search/synonyms/synonyms.h"

int64_t search_deadline_us(const struct search *search, int64_t begun_us)
{
    return begun_us +
           (search->deadline_us ? search->deadline_us : SEARCH_DEADLINE_MS * (int64_t)MS_US);
}

/* One a second suffices: while searchers are gone every request fails. */
static void note_failure(const struct asking *asking, const struct err *err)
{
    static atomic_int_fast64_t next_us;
    int64_t now_us = clock_mono_us(asking->search->clock);
    int64_t due_us = atomic_load(&next_us);

    if (!asking->search->is_quiet && now_us >= due_us &&
        atomic_compare_exchange_strong(&next_us, &due_us, now_us + SECOND_US))
        log_warn("a search failed", LOG_TEXT("error", err->text));
}

/* What is wrong with the request is for who sent it. Which searcher failed, and where it is, is for
 * operators: visitors are told no more than that it will pass. */
static int tell_failure(const struct asking *asking, int rc, struct err *err)
{
    switch (rc) {
    case ERR_INVALID:
    case ERR_PRECONDITION:
    case ERR_RANGE:
    case ERR_UNSUPPORTED:
    case ERR_CANCELLED:
        return rc;
    case ERR_TIMEOUT:
        if (!asking->looks)
            note_failure(asking, err);
        return err_set(err, rc, "%s",
                       asking->wait_count ? "the write that is waited for is not searchable yet: "
                                            "ask again"
                                          : "the search did not answer in time: try again");
    case ERR_LIMIT:
        note_failure(asking, err);
        return err_set(err, rc, "the search is too busy: try again in a moment");
    default:
        note_failure(asking, err);
        return err_set(err, ERR_UNAVAILABLE, "the search is unavailable at the moment: try again");
    }
}

int asking_run(struct asking *asking, Torg__V1__QueryStage **stages, size_t count,
               const Torg__V1__StageAnswer **answers, struct err *err)
{
    struct arena *arena = asking->arena;
    Torg__V1__SearchRequest *request = MESSAGE_NEW(search_request, arena);
    Torg__V1__SearchResponse *response = MESSAGE_NEW(search_response, arena);
    int rc;

    for (size_t i = 0; i < count && asking->synonyms; i++)
        synonyms_expand(asking->synonyms, asking->kept, asking->kept_count, stages[i], arena);
    request->client = (char *)OFFER_CLIENT;
    request->query = MESSAGE_NEW(query, arena);
    request->query->stages = stages;
    request->query->n_stages = count;
    request->query->unknown_is_empty = true;
    request->wait = asking->wait;
    request->n_wait = asking->wait_count;
    request->seen = asking->seen;
    request->looks = asking->looks;
    request->epoch = asking->epoch;
    request->old_max_seconds = asking->old_max_seconds;
    rc = asking->search->ask(asking->search->ask_arg, request, asking->deadline_us, arena, response,
                             err);
    if (rc == ERR_NOT_FOUND && asking->wait_count) /* there is an offer, and no index of it yet */
        rc = err_set(err, ERR_TIMEOUT, "the offers have no index yet");
    if (rc && rc != ERR_NOT_FOUND)
        return tell_failure(asking, rc, err);
    for (size_t i = 0; i < count; i++) /* not found: there is no index before the first offer */
        answers[i] = rc ? MESSAGE_NEW(stage_answer, arena) : response->answer->stages[i];
    asking->epoch = response->epoch;
    if (response->seen.len)
        asking->seen = response->seen;
    asking->is_partial |= response->is_partial;
    if (response->old_seconds > asking->old_seconds)
        asking->old_seconds = response->old_seconds;
    return 0;
}

Torg__V1__QueryStage *count_stage(const char *text, Torg__V1__Filter *filter, struct arena *arena)
{
    Torg__V1__QueryStage *stage = MESSAGE_NEW(query_stage, arena);

    stage->text = (char *)text;
    stage->filter = filter;
    stage->_limit_case = TORG__V1__QUERY_STAGE___LIMIT_LIMIT;
    stage->limit = 0;
    return stage;
}

void stage_any_word(Torg__V1__QueryStage *stage)
{
    static const float number_boost = 0.6F;

    stage->any_word = true;
    stage->number_boost = number_boost;
    stage->tied_parts = true;
}
