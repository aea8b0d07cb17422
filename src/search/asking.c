/* SPDX-License-Identifier: Apache-2.0 */
/* asking.c - see asking.h. */
#include "search/asking.h"

#include "model/offer_fields.h"
#include "net/message.h"

#define NEW(type, lower) ((Torg__V1__##type *)message_new(&torg__v1__##lower##__descriptor, arena))

int asking_run(struct asking *asking, Torg__V1__QueryStage **stages, size_t count,
               const Torg__V1__StageAnswer **answers, struct err *err)
{
    struct arena *arena = asking->arena;
    Torg__V1__SearchRequest *request = NEW(SearchRequest, search_request);
    Torg__V1__SearchResponse *response = NEW(SearchResponse, search_response);
    int rc;

    request->client = (char *)OFFER_CLIENT;
    request->query = NEW(Query, query);
    request->query->stages = stages;
    request->query->n_stages = count;
    request->query->unknown_is_empty = true;
    request->wait = asking->wait;
    request->n_wait = asking->wait_count;
    request->epoch = asking->epoch;
    rc = asking->search->ask(asking->search->ask_arg, request, asking->deadline_us, arena, response,
                             err);
    if (rc && rc != ERR_NOT_FOUND)
        return rc;
    for (size_t i = 0; i < count; i++) /* not found: there is no index before the first offer */
        answers[i] = rc ? NEW(StageAnswer, stage_answer) : response->answer->stages[i];
    asking->epoch = response->epoch;
    asking->is_partial |= response->is_partial;
    return 0;
}

Torg__V1__QueryStage *count_stage(const char *text, Torg__V1__Filter *filter, struct arena *arena)
{
    Torg__V1__QueryStage *stage = NEW(QueryStage, query_stage);

    stage->text = (char *)text;
    stage->filter = filter;
    stage->_limit_case = TORG__V1__QUERY_STAGE___LIMIT_LIMIT;
    stage->limit = 0;
    return stage;
}
