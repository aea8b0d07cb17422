/* SPDX-License-Identifier: Apache-2.0 */
/* shown.c - see shown.h. */
#include "search/choices/shown.h"

#include <stdlib.h>
#include <string.h>

#include "codec/message.h"
#include "search/asking/found.h"
#include "search/bounds.h"

struct showing {
    const struct wanted *wanted;
    const Torg__V1__StageAnswer *page;
    Torg__V1__SearchOffersResponse *response;
};

static bool is_chosen(const Torg__V1__FilterChoice *choice, const char *value)
{
    for (size_t i = 0; choice && i < choice->n_values; i++) {
        if (strcmp(choice->values[i], value) == 0)
            return true;
    }
    return false;
}

static void put_value(const struct showing *showing, const struct search_filter *filter,
                      const char *id, uint64_t count, Torg__V1__SearchFilter *message)
{
    struct arena *arena = showing->wanted->arena;
    Torg__V1__FilterValue *value = MESSAGE_NEW(filter_value, arena);

    value->id = (char *)id;
    value->name =
        arena_strdup(arena, filter_value_name(filter, id, showing->wanted->language, arena));
    value->count = count;
    value->is_chosen = is_chosen(message->choice, id);
    message->values[message->n_values++] = value;
}

static bool has_value(const Torg__V1__SearchFilter *message, const char *id)
{
    for (size_t i = 0; i < message->n_values; i++) {
        if (strcmp(message->values[i]->id, id) == 0)
            return true;
    }
    return false;
}

static int compare_numbers(const void *a, const void *b)
{
    double x = strtod((*(Torg__V1__FilterValue *const *)a)->id, NULL);
    double y = strtod((*(Torg__V1__FilterValue *const *)b)->id, NULL);

    return (x > y) - (x < y);
}

/* The most frequent ones, and those that were chosen however rare: they can be taken back. */
static void put_values(const struct showing *showing, const struct search_filter *filter,
                       const Torg__V1__FacetAnswer *facet, Torg__V1__SearchFilter *message)
{
    const Torg__V1__FilterChoice *choice = message->choice;
    size_t facet_count = facet ? facet->n_values : 0;
    size_t choice_count = choice ? choice->n_values : 0;

    message->values =
        arena_array(showing->wanted->arena, SEARCH_FACET_VALUE_COUNT + choice_count + 1,
                    sizeof(message->values[0]));
    for (size_t i = 0; i < facet_count; i++) {
        const char *id = facet->values[i]->value;

        if (filter->kind == TORG__V1__SEARCH_FILTER__KIND__TOGGLE && strcmp(id, "true") != 0)
            continue; /* it is on, or does not matter */
        if (i < SEARCH_FACET_VALUE_COUNT || is_chosen(choice, id))
            put_value(showing, filter, id, facet->values[i]->count, message);
    }
    for (size_t i = 0; i < choice_count; i++) {
        if (!has_value(message, choice->values[i]))
            put_value(showing, filter, choice->values[i], 0, message);
    }
    if (filter_has_numbers(filter))
        qsort(message->values, message->n_values, sizeof(message->values[0]), compare_numbers);
}

/* NULL: no offer found has a value of it, and it was not chosen. */
static Torg__V1__SearchFilter *filter_message(const struct showing *showing,
                                              const struct search_filter *filter,
                                              const Torg__V1__FacetAnswer *facet)
{
    struct arena *arena = showing->wanted->arena;
    Torg__V1__SearchFilter *message = MESSAGE_NEW(search_filter, arena);

    message->id = arena_strdup(arena, filter->id);
    message->name = arena_strdup(arena, filter->name.in[showing->wanted->language]);
    message->kind = filter->kind;
    message->is_date = filter->is_date;
    message->choice = (Torg__V1__FilterChoice *)wanted_choice(showing->wanted, filter->id);
    if (filter->is_money)
        message->unit = showing->response->currency;
    if (filter->attribute && filter->attribute->unit_count)
        message->unit =
            arena_strdup(arena, filter->attribute->units[0].name.in[showing->wanted->language]);
    /* of what was chosen every hit has a value; its facet looks at others, too */
    message->coverage = message->choice ? showing->page->total : facet ? facet->document_count : 0;
    if (facet && filter->kind == TORG__V1__SEARCH_FILTER__KIND__RANGE) {
        message->min = facet->_min_case ? facet->min : "";
        message->max = facet->_max_case ? facet->max : "";
    } else if (filter->kind != TORG__V1__SEARCH_FILTER__KIND__RANGE &&
               filter->kind != TORG__V1__SEARCH_FILTER__KIND__DISTANCE) {
        put_values(showing, filter, facet, message);
    }
    if (!message->choice && filter->kind != TORG__V1__SEARCH_FILTER__KIND__DISTANCE &&
        !message->n_values && !*message->min)
        return NULL;
    return message;
}

/* The largest of the upper ends. */
static void put_upper(Torg__V1__SearchFilter *message, const Torg__V1__FacetAnswer *facet)
{
    if (facet && facet->_max_case)
        message->max = facet->max;
}

static void hide(const struct showing *showing, const char *id, const char *reason)
{
    Torg__V1__SearchOffersResponse *response = showing->response;
    struct arena *arena = showing->wanted->arena;
    Torg__V1__HiddenFilter *hidden = MESSAGE_NEW(hidden_filter, arena);

    if (!showing->wanted->request->explain)
        return;
    hidden->id = arena_strdup(arena, id);
    hidden->reason = (char *)reason;
    response->hidden_filters[response->n_hidden_filters++] = hidden;
}

void shown_put(const struct wanted *wanted, const struct offered_filter *list, size_t count,
               const Torg__V1__StageAnswer *page, const Torg__V1__StageAnswer *more,
               Torg__V1__SearchOffersResponse *response)
{
    const struct showing all = {wanted, page, response}, *showing = &all;

    response->filters = arena_array(wanted->arena, count + 1, sizeof(response->filters[0]));
    response->hidden_filters =
        arena_array(wanted->arena, count + 1, sizeof(response->hidden_filters[0]));
    for (size_t i = 0; i < count; i++) {
        const struct search_filter *filter = &list[i].filter;
        const Torg__V1__StageAnswer *answer = filter->attribute ? more : page;
        Torg__V1__SearchFilter *message = NULL;

        if (!list[i].hidden)
            message =
                filter_message(showing, filter, answer ? find_facet(answer, filter->field) : NULL);
        if (message && filter->upper)
            put_upper(message, find_facet(page, filter->upper));
        if (message)
            response->filters[response->n_filters++] = message;
        else
            hide(showing, filter->id,
                 list[i].hidden ? list[i].hidden : "no offer found has a value of it");
    }
}
