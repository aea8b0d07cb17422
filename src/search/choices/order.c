/* SPDX-License-Identifier: Apache-2.0 */
/* order.c - see order.h. */
#include "search/choices/order.h"

#include <string.h>

#include "codec/message.h"
#include "model/offer_fields.h"
#include "search/bounds.h"
#include "search/choices/ranking.h"
#include "search/words/clicked.h"

bool order_is_best_of_text(const struct wanted *wanted)
{
    return wanted->request->order == TORG__V1__SEARCH_OFFERS_REQUEST__ORDER__BEST && *wanted->text;
}

const char order_by_clicks[] = "score * " ORDER_CLICKS_FACTOR;

/* Whether the offer is of a category that is likely meant: 0 or 1. */
static char *likely_formula(const struct wanted *wanted)
{
    const struct likely *likely = &wanted->likely;
    struct arena *arena = wanted->arena;
    char *formula = NULL;

    for (size_t i = 0; i < likely->count; i++) {
        const char *path = category_path_text(likely->list[i].category, arena);
        char *has = arena_printf(arena, "has(" OFFER_FIELD_CATEGORY ", \"%s\")", path);

        formula = formula ? arena_printf(arena, "max(%s, %s)", formula, has) : has;
    }
    return formula;
}

/* The operator's formula for what was chosen or named; NULL: there is none. */
static const char *own_formula(const struct wanted *wanted)
{
    const struct category *category = wanted->category ? wanted->category : wanted->named;
    const char *formula = wanted->ranking ? ranking_find(wanted->ranking, category) : NULL;

    return formula ? ranking_near(formula, wanted->request->near, wanted->arena) : NULL;
}

/* What BEST goes by. Factors of the score that have a bound let those who walk the index skip. */
static char *best_formula(const struct wanted *wanted)
{
    const char *own = own_formula(wanted);
    const char *formula = own ? own : wanted->by_clicks ? order_by_clicks : "score";

    if (!wanted->likely.count)
        return (char *)formula;
    return arena_printf(wanted->arena, own ? "(%s) * (1 + %.2f * %s)" : "%s * (1 + %.2f * %s)",
                        formula, LIKELY_GAIN_PERCENT / 100., likely_formula(wanted));
}

bool order_is_relevance(const struct wanted *wanted)
{
    return order_is_best_of_text(wanted) && !own_formula(wanted);
}

bool order_formula_goes_by_clicks(const char *formula)
{
    return ranking_names(formula, OFFER_FIELD_APPEAL) || ranking_names(formula, OFFER_FIELD_CTR);
}

bool order_goes_by_clicks(const struct wanted *wanted)
{
    return order_is_best_of_text(wanted) && order_formula_goes_by_clicks(best_formula(wanted));
}

static void put_best(const struct wanted *wanted, Torg__V1__Sort *sort)
{
    char *formula = best_formula(wanted);

    if (strcmp(formula, "score") != 0)
        sort->formula = formula;
    else
        sort->relevance = true;
}

void order_put(const struct wanted *wanted, Torg__V1__QueryStage *stage)
{
    struct arena *arena = wanted->arena;
    Torg__V1__Sort *sort = MESSAGE_NEW(sort, arena);

    switch (wanted->request->order) {
    case TORG__V1__SEARCH_OFFERS_REQUEST__ORDER__CHEAPEST:
    case TORG__V1__SEARCH_OFFERS_REQUEST__ORDER__DEAREST:
        sort->field = (char *)OFFER_FIELD_PRICE;
        sort->descending =
            wanted->request->order == TORG__V1__SEARCH_OFFERS_REQUEST__ORDER__DEAREST;
        break;
    case TORG__V1__SEARCH_OFFERS_REQUEST__ORDER__NEAREST:
        sort->field = (char *)OFFER_FIELD_POINT;
        sort->from = wanted->request->near;
        break;
    case TORG__V1__SEARCH_OFFERS_REQUEST__ORDER__BEST:
        if (order_is_best_of_text(wanted)) {
            put_best(wanted, sort);
            break;
        }
        /* fall through */
    default:
        sort->field = (char *)OFFER_FIELD_CREATED;
        sort->descending = true;
    }
    stage->sorts = arena_array(arena, 1, sizeof(stage->sorts[0]));
    stage->sorts[0] = sort;
    stage->n_sorts = 1;
}

/* Of the visits that clicked something after the text, those that clicked an offer of it. */
static unsigned clicked_percent(const struct wanted *wanted, const struct category *category)
{
    struct clicked_share list[CLICKED_SHARE_COUNT];
    size_t count = clicked_shares(wanted->clicked, wanted->meaning.text, wanted->arena, list);

    for (size_t i = 0; i < count; i++)
        if (strcmp(list[i].category, category->id) == 0)
            return (unsigned)(list[i].share * 100);
    return 0;
}

Torg__V1__Ranking *order_tell(const struct wanted *wanted)
{
    const struct likely *likely = &wanted->likely;
    struct arena *arena = wanted->arena;
    Torg__V1__Ranking *ranking;

    if (!order_is_best_of_text(wanted))
        return NULL;
    ranking = MESSAGE_NEW(ranking, arena);
    ranking->formula = best_formula(wanted);
    ranking->categories = arena_array(arena, likely->count, sizeof(ranking->categories[0]));
    for (size_t i = 0; i < likely->count; i++) {
        const struct category *category = likely->list[i].category;
        Torg__V1__LikelyCategory *told = MESSAGE_NEW(likely_category, arena);

        told->id = arena_strdup(arena, category->id);
        told->name = arena_strdup(arena, category->name.in[wanted->language]);
        told->percent = likely->list[i].percent;
        told->clicked_percent = clicked_percent(wanted, category);
        ranking->categories[ranking->n_categories++] = told;
    }
    return ranking;
}
