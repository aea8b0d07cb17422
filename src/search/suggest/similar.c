/* SPDX-License-Identifier: Apache-2.0 */
/* similar.c - see similar.h. */
#include "search/suggest/similar.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "base/memory.h"
#include "codec/message.h"
#include "index/text/analysis.h"
#include "model/offer_fields.h"
#include "query/bounds.h"
#include "search/asking/asking.h"
#include "search/asking/found.h"
#include "search/bounds.h"
#include "search/choices/choices.h"
#include "search/choices/order.h"

/* Twice the price, or half of it, takes a third of the score. */
#define PRICE_FORMULA                                                                              \
    "score / (1 + 0.7 * abs(log(max(default(" OFFER_FIELD_PRICE ", %" PRId64 "), 1) / %" PRId64    \
    ")))"

struct comparing {
    const Torg__V1__Offer *offer;
    struct asking asking;
    struct arena *arena;
    const struct catalog *catalog;
    const char *currency; /* that prices are compared in */
    size_t limit;
    Torg__V1__SimilarResponse *response;
};

/* As much of the title as a query may have words; the first ones say what it is. */
static char *beginning_of(char *title, struct arena *arena)
{
    struct analysis *analysis;
    struct token_list list;
    size_t size = strlen(title);

    if (size < 2 * QUERY_TEXT_CLAUSE_COUNT_MAX) /* a letter and what parts it from the next */
        return title;
    analysis = analysis_new();
    list = analysis_run(analysis, bytes_make(title, size));
    if (list.count > QUERY_TEXT_CLAUSE_COUNT_MAX)
        size = list.tokens[QUERY_TEXT_CLAUSE_COUNT_MAX].start;
    analysis_free(analysis);
    return arena_text(arena, bytes_make(title, size));
}

/* What the most alike are weighed by; NULL: nothing else. */
static char *formula_of(const struct comparing *comparing)
{
    const Torg__V1__Price *price = comparing->offer->content->price;
    const char *clicks = comparing->asking.search->by_clicks ? " * " ORDER_CLICKS_FACTOR : "";

    if (price && price->amount > 0 && strcmp(price->currency, comparing->currency) == 0)
        return arena_printf(comparing->arena, PRICE_FORMULA "%s", price->amount, price->amount,
                            clicks);
    return *clicks ? arena_printf(comparing->arena, "score%s", clicks) : NULL;
}

/* Any word of the title, in titles and in names of values; of the best the price is looked at,
 * where it can be compared. */
static Torg__V1__QueryStage *similar_stage(const struct comparing *comparing,
                                           const struct category *category)
{
    const Torg__V1__OfferContent *content = comparing->offer->content;
    struct arena *arena = comparing->arena;
    char *formula = formula_of(comparing);
    Torg__V1__QueryStage *stage =
        count_stage("", category_filter(category, comparing->catalog, arena), arena);
    Torg__V1__TextClause *clause = MESSAGE_NEW(text_clause, arena);

    clause->occur = TORG__V1__TEXT_CLAUSE__OCCUR__SHOULD;
    clause->text = beginning_of(content->title, arena);
    stage->clauses = arena_array(arena, 1, sizeof(stage->clauses[0]));
    stage->clauses[0] = clause;
    stage->n_clauses = 1;
    stage->limit = (uint32_t)comparing->limit + 1; /* itself is among them */
    stage->no_total = true;
    stage_show_offers(stage);
    if (formula) {
        stage->rerank = MESSAGE_NEW(rerank, arena);
        stage->rerank->formula = formula;
        stage->rerank->count = SIMILAR_RERANK_COUNT;
    }
    return stage;
}

static bool is_there(const struct comparing *comparing, const char *id)
{
    const Torg__V1__SimilarResponse *response = comparing->response;

    for (size_t i = 0; i < response->n_offers; i++) {
        if (strcmp(response->offers[i]->id, id) == 0)
            return true;
    }
    return strcmp(comparing->offer->id, id) == 0;
}

static int take_category(struct comparing *comparing, const struct category *category,
                         struct err *err)
{
    Torg__V1__SimilarResponse *response = comparing->response;
    Torg__V1__QueryStage *stage = similar_stage(comparing, category);
    const Torg__V1__StageAnswer *answer;
    int rc;

    stage->limit += (uint32_t)response->n_offers; /* found already: they come again */
    rc = asking_run(&comparing->asking, &stage, 1, &answer, err);
    for (size_t i = 0; !rc && i < answer->n_hits && response->n_offers < comparing->limit; i++) {
        if (!is_there(comparing, answer->hits[i]->pk))
            response->offers[response->n_offers++] =
                found_offer(answer->hits[i], NULL, comparing->arena);
    }
    return rc;
}

static int run(struct comparing *comparing, struct err *err)
{
    const struct category *category =
        category_find(comparing->catalog, comparing->offer->content->category);
    int rc = 0;

    comparing->response->offers =
        arena_array(comparing->arena, comparing->limit + 1, sizeof(comparing->response->offers[0]));
    if (!category)
        return 0; /* an offer of an older catalogue is like none */
    rc = take_category(comparing, category, err);
    if (!rc && category->parent && comparing->response->n_offers < comparing->limit)
        rc = take_category(comparing, category->parent, err);
    return rc;
}

int search_similar(const struct search *search, const Torg__V1__SimilarRequest *request,
                   int64_t deadline_us, struct arena *arena, Torg__V1__SimilarResponse *response,
                   struct err *err)
{
    struct comparing comparing = {
        .asking = {.search = search, .arena = arena, .deadline_us = deadline_us},
        .arena = arena,
        .limit = request->limit ? request->limit : SIMILAR_COUNT,
        .response = response};
    struct catalog *catalog;
    Torg__V1__Offer *offer;
    int rc;

    assert(search->clock && search->ask);
    if (request->limit > SIMILAR_COUNT_MAX)
        return err_set(err, ERR_INVALID, "limit: %u, at most %d are allowed", request->limit,
                       SIMILAR_COUNT_MAX);
    rc = search->fetch(search->fetch_arg, request->id, arena, &offer, err);
    if (rc == ERR_INVALID)
        err_wrap(err, "id");
    if (rc)
        return rc;
    comparing.offer = offer;
    catalog = search->catalog(search->catalog_arg);
    comparing.catalog = catalog;
    comparing.currency = catalog_currency(catalog);
    rc = run(&comparing, err);
    catalog_unref(catalog);
    return rc;
}
