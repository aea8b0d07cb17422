/* SPDX-License-Identifier: Apache-2.0 */
/* search.c - see search.h. */
#include "search/search.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/text.h"
#include "model/offer_fields.h"
#include "net/message.h"
#include "query/value.h"
#include "search/offered.h"

#define NEW(type, lower) ((Torg__V1__##type *)message_new(&torg__v1__##lower##__descriptor, arena))

enum { STEP_COUNT = 4, EARTH_RADIUS_M = 6371009 };

/* One request on its way. */
struct searching {
    const struct search *search;
    struct wanted wanted;
    struct arena *arena;
    int64_t deadline_us;
    int64_t step_us; /* when the step under way began */
    Torg__V1__SearchOffersResponse *response;
    int64_t epoch; /* of the first answer: the second is asked of the same */
};

static void step_done(struct searching *searching, const char *name)
{
    struct arena *arena = searching->arena;
    Torg__V1__StepTime *time = NEW(StepTime, step_time);
    int64_t now_us = clock_mono_us(searching->search->clock);

    time->step = (char *)name;
    time->microseconds = (uint64_t)(now_us - searching->step_us);
    searching->step_us = now_us;
    searching->response->times[searching->response->n_times++] = time;
}

/* --- asking --- */

static int ask(struct searching *searching, Torg__V1__QueryStage *stage,
               const Torg__V1__StageAnswer **answer, struct err *err)
{
    struct arena *arena = searching->arena;
    const Torg__V1__SearchOffersRequest *wanted = searching->wanted.request;
    Torg__V1__SearchRequest *request = NEW(SearchRequest, search_request);
    Torg__V1__SearchResponse *response = NEW(SearchResponse, search_response);
    Torg__V1__QueryStage **stages = arena_array(arena, 1, sizeof(*stages));
    int rc;

    stages[0] = stage;
    request->client = (char *)OFFER_CLIENT;
    request->query = NEW(Query, query);
    request->query->stages = stages;
    request->query->n_stages = 1;
    request->query->unknown_is_empty = true;
    request->wait = wanted->wait;
    request->n_wait = wanted->n_wait;
    request->epoch = searching->epoch;
    rc = searching->search->ask(searching->search->ask_arg, request, searching->deadline_us, arena,
                                response, err);
    if (rc == ERR_NOT_FOUND) { /* no offer was ever sent: there is no index yet */
        *answer = NEW(StageAnswer, stage_answer);
        return 0;
    }
    if (rc)
        return rc;
    searching->epoch = response->epoch;
    searching->response->is_partial |= response->is_partial;
    *answer = response->answer->stages[0];
    return 0;
}

static const Torg__V1__FacetAnswer *find_facet(const Torg__V1__StageAnswer *answer,
                                               const char *name)
{
    for (size_t i = 0; i < answer->n_facets; i++) {
        if (strcmp(answer->facets[i]->name, name) == 0)
            return answer->facets[i];
    }
    return NULL;
}

/* --- offers --- */

static const char *shown(const Torg__V1__Hit *hit, const char *name)
{
    for (size_t i = 0; i < hit->n_fields; i++) {
        if (strcmp(hit->fields[i]->name, name) == 0 && hit->fields[i]->n_values)
            return hit->fields[i]->values[0];
    }
    return "";
}

static const char *marked(const Torg__V1__Hit *hit, const char *name)
{
    for (size_t i = 0; i < hit->n_highlights; i++) {
        if (strcmp(hit->highlights[i]->name, name) == 0 && hit->highlights[i]->n_values)
            return hit->highlights[i]->values[0];
    }
    return "";
}

static Google__Protobuf__Timestamp *time_of(const char *text, struct arena *arena)
{
    static const struct field date = {.type = FIELD_DATE};
    Google__Protobuf__Timestamp *time;
    int64_t seconds;

    if (!value_parse(&date, bytes_of(text), false, &seconds))
        return NULL;
    time =
        (Google__Protobuf__Timestamp *)message_new(&google__protobuf__timestamp__descriptor, arena);
    time->seconds = seconds;
    return time;
}

/* Metres along the great circle. */
static double distance(const Torg__V1__GeoPoint *from, double latitude, double longitude)
{
    double a = from->latitude * M_PI / 180;
    double b = latitude * M_PI / 180;
    double up = sin((b - a) / 2);
    double along = sin((longitude - from->longitude) * M_PI / 360);
    double h = up * up + cos(a) * cos(b) * along * along;

    return 2 * EARTH_RADIUS_M * asin(sqrt(h < 1 ? h : 1));
}

static void put_distance(const struct searching *searching, const char *point,
                         Torg__V1__FoundOffer *offer)
{
    const Torg__V1__GeoPoint *near = searching->wanted.request->near;
    char *end;
    double latitude = strtod(point, &end);

    if (!near || *end != ',')
        return;
    offer->_distance_m_case = TORG__V1__FOUND_OFFER___DISTANCE_M_DISTANCE_M;
    offer->distance_m = distance(near, latitude, strtod(end + 1, NULL));
}

static Torg__V1__FoundOffer *found_offer(const struct searching *searching,
                                         const Torg__V1__Hit *hit)
{
    struct arena *arena = searching->arena;
    Torg__V1__FoundOffer *offer = NEW(FoundOffer, found_offer);
    const char *path = shown(hit, OFFER_FIELD_CATEGORY);
    const char *last = strrchr(path, '/');

    offer->id = hit->pk;
    offer->title = (char *)shown(hit, OFFER_FIELD_TITLE);
    offer->title_marked = (char *)marked(hit, OFFER_FIELD_TITLE);
    offer->fragment_marked = (char *)marked(hit, OFFER_FIELD_DESCRIPTION);
    offer->place = (char *)shown(hit, OFFER_FIELD_PLACE);
    offer->category = (char *)(last ? last + 1 : path);
    offer->photo = (char *)shown(hit, OFFER_FIELD_PHOTO);
    offer->seller = (char *)shown(hit, OFFER_FIELD_SELLER);
    offer->create_time = time_of(shown(hit, OFFER_FIELD_CREATED), arena);
    offer->score = hit->score;
    if (*shown(hit, OFFER_FIELD_CURRENCY)) {
        offer->price = NEW(Price, price);
        text_to_i64(bytes_of(shown(hit, OFFER_FIELD_PRICE)), &offer->price->amount);
        offer->price->currency = (char *)shown(hit, OFFER_FIELD_CURRENCY);
    }
    put_distance(searching, shown(hit, OFFER_FIELD_POINT), offer);
    return offer;
}

static void put_offers(const struct searching *searching, const Torg__V1__StageAnswer *answer)
{
    Torg__V1__SearchOffersResponse *response = searching->response;

    response->offers =
        arena_array(searching->arena, answer->n_hits + 1, sizeof(response->offers[0]));
    for (size_t i = 0; i < answer->n_hits; i++)
        response->offers[response->n_offers++] = found_offer(searching, answer->hits[i]);
    response->total = answer->total;
    response->cursor = answer->cursor;
}

/* --- categories --- */

static int compare_counts(const void *a, const void *b)
{
    const Torg__V1__FoundCategory *x = *(Torg__V1__FoundCategory *const *)a;
    const Torg__V1__FoundCategory *y = *(Torg__V1__FoundCategory *const *)b;

    if (x->count != y->count)
        return x->count < y->count ? 1 : -1;
    return strcmp(x->id, y->id);
}

static void put_categories(const struct searching *searching, const struct found_categories *found)
{
    const struct wanted *wanted = &searching->wanted;
    Torg__V1__SearchOffersResponse *response = searching->response;
    struct arena *arena = searching->arena;
    Torg__V1__FoundCategory **list = arena_array(arena, found->count + 1, sizeof(*list));
    size_t count = 0;

    for (size_t i = 0; i < found->count; i++) {
        const struct category *category = found->list[i];

        if (!found->with_below[i] || category == wanted->category ||
            (wanted->category && !category_is_within(category, wanted->category)))
            continue;
        list[count] = NEW(FoundCategory, found_category);
        list[count]->id = (char *)category->id;
        list[count]->name = arena_strdup(arena, category->name.in[wanted->language]);
        list[count]->parent = (char *)(category->parent ? category->parent->id : "");
        list[count++]->count = found->with_below[i];
    }
    qsort(list, count, sizeof(*list), compare_counts);
    for (size_t i = 0; i < count; i++) { /* what outlives the catalogue */
        list[i]->id = arena_strdup(arena, list[i]->id);
        list[i]->parent = arena_strdup(arena, list[i]->parent);
    }
    response->categories = list;
    response->n_categories = count < SEARCH_CATEGORY_COUNT ? count : SEARCH_CATEGORY_COUNT;
}

/* --- filters --- */

static void add_facet(Torg__V1__QueryStage *stage, const struct search_filter *filter,
                      struct arena *arena)
{
    if (filter->kind == TORG__V1__SEARCH_FILTER__KIND__DISTANCE)
        return;
    stage_facet(stage, filter->field,
                filter->kind == TORG__V1__SEARCH_FILTER__KIND__RANGE
                    ? TORG__V1__FACET__KIND__MIN_MAX
                    : TORG__V1__FACET__KIND__VALUES,
                SEARCH_FACET_VALUE_COUNT, arena);
}

static bool is_chosen(const Torg__V1__FilterChoice *choice, const char *value)
{
    for (size_t i = 0; choice && i < choice->n_values; i++) {
        if (strcmp(choice->values[i], value) == 0)
            return true;
    }
    return false;
}

static void put_values(const struct searching *searching, const struct search_filter *filter,
                       const Torg__V1__FacetAnswer *facet, Torg__V1__SearchFilter *message)
{
    struct arena *arena = searching->arena;

    message->values = arena_array(arena, facet->n_values + 1, sizeof(message->values[0]));
    for (size_t i = 0; i < facet->n_values; i++) {
        Torg__V1__FilterValue *value = NEW(FilterValue, filter_value);

        if (filter->kind == TORG__V1__SEARCH_FILTER__KIND__TOGGLE &&
            strcmp(facet->values[i]->value, "true") != 0)
            continue; /* it is on, or does not matter */
        value->id = facet->values[i]->value;
        value->name =
            arena_strdup(arena, filter_value_name(filter, value->id, searching->wanted.language));
        value->count = facet->values[i]->count;
        value->is_chosen = is_chosen(message->choice, value->id);
        message->values[message->n_values++] = value;
    }
}

/* NULL: no offer found has a value of it, and it was not chosen. */
static Torg__V1__SearchFilter *filter_message(const struct searching *searching,
                                              const struct search_filter *filter,
                                              const Torg__V1__FacetAnswer *facet)
{
    struct arena *arena = searching->arena;
    Torg__V1__SearchFilter *message = NEW(SearchFilter, search_filter);

    message->id = arena_strdup(arena, filter->id);
    message->name = arena_strdup(arena, filter->name.in[searching->wanted.language]);
    message->kind = filter->kind;
    message->is_date = filter->is_date;
    message->choice = (Torg__V1__FilterChoice *)wanted_choice(&searching->wanted, filter->id);
    if (filter->attribute && filter->attribute->unit_count)
        message->unit =
            arena_strdup(arena, filter->attribute->units[0].name.in[searching->wanted.language]);
    if (facet && filter->kind == TORG__V1__SEARCH_FILTER__KIND__RANGE) {
        message->min = facet->_min_case ? facet->min : "";
        message->max = facet->_max_case ? facet->max : "";
    } else if (facet) {
        put_values(searching, filter, facet, message);
    }
    if (!message->choice && filter->kind != TORG__V1__SEARCH_FILTER__KIND__DISTANCE &&
        !message->n_values && !*message->min)
        return NULL;
    return message;
}

static void hide(const struct searching *searching, const char *id, const char *reason)
{
    Torg__V1__SearchOffersResponse *response = searching->response;
    struct arena *arena = searching->arena;
    Torg__V1__HiddenFilter *hidden = NEW(HiddenFilter, hidden_filter);

    if (!searching->wanted.request->explain)
        return;
    hidden->id = arena_strdup(arena, id);
    hidden->reason = (char *)reason;
    response->hidden_filters[response->n_hidden_filters++] = hidden;
}

static void put_filters(const struct searching *searching, const struct offered_filter *list,
                        size_t count, const Torg__V1__StageAnswer *page,
                        const Torg__V1__StageAnswer *more)
{
    Torg__V1__SearchOffersResponse *response = searching->response;

    response->filters = arena_array(searching->arena, count + 1, sizeof(response->filters[0]));
    response->hidden_filters =
        arena_array(searching->arena, count + 1, sizeof(response->hidden_filters[0]));
    for (size_t i = 0; i < count; i++) {
        const struct search_filter *filter = &list[i].filter;
        const Torg__V1__StageAnswer *answer = filter->attribute ? more : page;
        Torg__V1__SearchFilter *message = NULL;

        if (!list[i].hidden)
            message = filter_message(searching, filter,
                                     answer ? find_facet(answer, filter->field) : NULL);
        if (message)
            response->filters[response->n_filters++] = message;
        else
            hide(searching, filter->id,
                 list[i].hidden ? list[i].hidden : "no offer found has a value of it");
    }
}

/* Facets of the attributes that are offered; *answer NULL: there are none. */
static int ask_attributes(struct searching *searching, const struct offered_filter *list,
                          size_t count, const Torg__V1__StageAnswer **answer, struct err *err)
{
    Torg__V1__QueryStage *stage;
    int rc = wanted_stage(&searching->wanted, &stage, err);

    *answer = NULL;
    if (rc)
        return rc;
    stage->facets = arena_array(searching->arena, count + 1, sizeof(stage->facets[0]));
    for (size_t i = 0; i < count && stage->n_facets < QUERY_FACET_COUNT_MAX; i++) {
        if (list[i].filter.attribute && !list[i].hidden)
            add_facet(stage, &list[i].filter, searching->arena);
    }
    if (!stage->n_facets)
        return 0;
    stage->limit = 0;
    stage->offset = 0;
    stage->n_show = 0;
    stage->highlight = NULL;
    stage->n_sorts = 0;
    stage->cursor = (ProtobufCBinaryData){0};
    return ask(searching, stage, answer, err);
}

/* --- the way --- */

static int ask_page(struct searching *searching, const Torg__V1__StageAnswer **answer,
                    struct err *err)
{
    size_t count;
    const struct search_filter *standard = standard_filters(&count);
    Torg__V1__QueryStage *stage;
    int rc = wanted_stage(&searching->wanted, &stage, err);

    if (rc)
        return rc;
    stage->facets = arena_array(searching->arena, count + 2, sizeof(stage->facets[0]));
    if (!searching->wanted.request->only_offers) {
        stage_facet(stage, OFFER_FIELD_CATEGORY, TORG__V1__FACET__KIND__TREE, SEARCH_TREE_COUNT,
                    searching->arena)
            ->sees_own_filter = true;
        for (size_t i = 0; i < count; i++)
            add_facet(stage, &standard[i], searching->arena);
    }
    return ask(searching, stage, answer, err);
}

static int run(struct searching *searching, struct err *err)
{
    const Torg__V1__StageAnswer *page;
    const Torg__V1__StageAnswer *more;
    struct found_categories found;
    struct offered_filter *offered;
    size_t count;
    int rc = ask_page(searching, &page, err);

    if (rc)
        return rc;
    put_offers(searching, page);
    step_done(searching, "page");
    if (searching->wanted.request->only_offers)
        return 0;
    found_categories_read(&found, &searching->wanted, find_facet(page, OFFER_FIELD_CATEGORY));
    put_categories(searching, &found);
    offered_choose(&searching->wanted, &found, &offered, &count);
    step_done(searching, "choice of filters");
    rc = ask_attributes(searching, offered, count, &more, err);
    if (rc)
        return rc;
    put_filters(searching, offered, count, page, more);
    step_done(searching, "filters");
    return 0;
}

int search_offers(const struct search *search, const Torg__V1__SearchOffersRequest *request,
                  enum language language, int64_t deadline_us, struct arena *arena,
                  Torg__V1__SearchOffersResponse *response, struct err *err)
{
    struct searching searching = {.search = search,
                                  .arena = arena,
                                  .deadline_us = deadline_us,
                                  .step_us = clock_mono_us(search->clock),
                                  .response = response};
    struct catalog *catalog = search->catalog(search->catalog_arg);
    int rc = wanted_read(&searching.wanted, catalog, request, language, arena, err);

    response->times = arena_array(arena, STEP_COUNT, sizeof(response->times[0]));
    if (!rc)
        rc = run(&searching, err);
    catalog_unref(catalog);
    return rc;
}
