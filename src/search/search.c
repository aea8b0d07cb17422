/* SPDX-License-Identifier: Apache-2.0 */
/* search.c - see search.h. */
#include "search/search.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/metrics.h"
#include "codec/message.h"
#include "model/offer_fields.h"
#include "query/bounds.h"
#include "query/cursor.h"
#include "search/asking.h"
#include "search/bounds.h"
#include "search/found.h"
#include "search/offered.h"
#include "search/spelling.h"

enum { STEP_COUNT = 4, PAGE_STAGE_COUNT = 2 };

/* One request on its way. */
struct searching {
    const struct search *search;
    struct wanted wanted;
    struct asking asking;
    struct arena *arena;
    int64_t step_us; /* when the step under way began */
    int64_t page_us; /* of the time since then, what asking for the page took */
    Torg__V1__SearchOffersResponse *response;
    const Torg__V1__StageAnswer *page; /* of wanted.text; NULL: not asked yet */
    bool has_counted;                  /* texts were counted without the filters */
};

static void put_time(struct searching *searching, const char *name, int64_t duration_us)
{
    struct arena *arena = searching->arena;
    Torg__V1__StepTime *time = MESSAGE_NEW(step_time, arena);

    time->step = (char *)name;
    time->microseconds = (uint64_t)duration_us;
    searching->response->times[searching->response->n_times++] = time;
}

static void step_done(struct searching *searching, const char *name)
{
    int64_t now_us = clock_mono_us(searching->search->clock);

    put_time(searching, name, now_us - searching->step_us);
    searching->step_us = now_us;
}

/* --- offers --- */

static void put_offers(const struct searching *searching, const Torg__V1__StageAnswer *answer)
{
    Torg__V1__SearchOffersResponse *response = searching->response;
    struct bytes cursor;

    response->offers =
        arena_array(searching->arena, answer->n_hits + 1, sizeof(response->offers[0]));
    for (size_t i = 0; i < answer->n_hits; i++)
        response->offers[response->n_offers++] =
            found_offer(answer->hits[i], searching->wanted.request->near, searching->arena);
    response->total = answer->total;
    cursor =
        cursor_with_text(bytes_make(answer->cursor.data, answer->cursor.len),
                         searching->wanted.request->text, searching->wanted.text, searching->arena);
    response->cursor = (ProtobufCBinaryData){.data = (uint8_t *)cursor.data, .len = cursor.size};
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
        list[count++] = found_category(category, found->with_below[i], wanted->language, arena);
    }
    qsort(list, count, sizeof(*list), compare_counts);
    response->categories = list;
    response->n_categories = count < SEARCH_CATEGORY_COUNT ? count : SEARCH_CATEGORY_COUNT;
}

/* --- filters --- */

/* Of what was chosen all values are asked for: the chosen ones may be among the rare. */
static void add_facet(const struct searching *searching, Torg__V1__QueryStage *stage,
                      const struct search_filter *filter)
{
    if (filter->kind == TORG__V1__SEARCH_FILTER__KIND__DISTANCE)
        return;
    stage_facet(stage, filter->field,
                filter->kind == TORG__V1__SEARCH_FILTER__KIND__RANGE
                    ? TORG__V1__FACET__KIND__MIN_MAX
                    : TORG__V1__FACET__KIND__VALUES,
                wanted_choice(&searching->wanted, filter->id) ? QUERY_FACET_VALUE_COUNT_MAX
                                                              : SEARCH_FACET_VALUE_COUNT,
                searching->arena)
        ->count_documents = true;
}

static bool is_chosen(const Torg__V1__FilterChoice *choice, const char *value)
{
    for (size_t i = 0; choice && i < choice->n_values; i++) {
        if (strcmp(choice->values[i], value) == 0)
            return true;
    }
    return false;
}

static void put_value(const struct searching *searching, const struct search_filter *filter,
                      const char *id, uint64_t count, Torg__V1__SearchFilter *message)
{
    struct arena *arena = searching->arena;
    Torg__V1__FilterValue *value = MESSAGE_NEW(filter_value, arena);

    value->id = (char *)id;
    value->name = arena_strdup(arena, filter_value_name(filter, id, searching->wanted.language));
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

/* The most frequent ones, and those that were chosen however rare: they can be taken back. */
static void put_values(const struct searching *searching, const struct search_filter *filter,
                       const Torg__V1__FacetAnswer *facet, Torg__V1__SearchFilter *message)
{
    const Torg__V1__FilterChoice *choice = message->choice;
    size_t facet_count = facet ? facet->n_values : 0;
    size_t choice_count = choice ? choice->n_values : 0;

    message->values = arena_array(searching->arena, SEARCH_FACET_VALUE_COUNT + choice_count + 1,
                                  sizeof(message->values[0]));
    for (size_t i = 0; i < facet_count; i++) {
        const char *id = facet->values[i]->value;

        if (filter->kind == TORG__V1__SEARCH_FILTER__KIND__TOGGLE && strcmp(id, "true") != 0)
            continue; /* it is on, or does not matter */
        if (i < SEARCH_FACET_VALUE_COUNT || is_chosen(choice, id))
            put_value(searching, filter, id, facet->values[i]->count, message);
    }
    for (size_t i = 0; i < choice_count; i++) {
        if (!has_value(message, choice->values[i]))
            put_value(searching, filter, choice->values[i], 0, message);
    }
}

/* NULL: no offer found has a value of it, and it was not chosen. */
static Torg__V1__SearchFilter *filter_message(const struct searching *searching,
                                              const struct search_filter *filter,
                                              const Torg__V1__FacetAnswer *facet)
{
    struct arena *arena = searching->arena;
    Torg__V1__SearchFilter *message = MESSAGE_NEW(search_filter, arena);

    message->id = arena_strdup(arena, filter->id);
    message->name = arena_strdup(arena, filter->name.in[searching->wanted.language]);
    message->kind = filter->kind;
    message->is_date = filter->is_date;
    message->choice = (Torg__V1__FilterChoice *)wanted_choice(&searching->wanted, filter->id);
    if (filter->standard == TORG__V1__CATEGORY__FILTER__PRICE)
        message->unit = searching->response->currency;
    if (filter->attribute && filter->attribute->unit_count)
        message->unit =
            arena_strdup(arena, filter->attribute->units[0].name.in[searching->wanted.language]);
    /* of what was chosen every hit has a value; its facet looks at others, too */
    message->coverage = message->choice ? searching->page->total
                        : facet         ? facet->document_count
                                        : 0;
    if (facet && filter->kind == TORG__V1__SEARCH_FILTER__KIND__RANGE) {
        message->min = facet->_min_case ? facet->min : "";
        message->max = facet->_max_case ? facet->max : "";
    } else if (filter->kind != TORG__V1__SEARCH_FILTER__KIND__RANGE &&
               filter->kind != TORG__V1__SEARCH_FILTER__KIND__DISTANCE) {
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
    Torg__V1__HiddenFilter *hidden = MESSAGE_NEW(hidden_filter, arena);

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
            add_facet(searching, stage, &list[i].filter);
    }
    if (!stage->n_facets)
        return 0;
    stage->limit = 0;
    stage->offset = 0;
    stage->n_show = 0;
    stage->highlight = NULL;
    stage->n_sorts = 0;
    stage->cursor = (ProtobufCBinaryData){0};
    return asking_run(&searching->asking, &stage, 1, answer, err);
}

/* --- the page --- */

static bool is_corrected(const struct searching *searching)
{
    return searching->response->corrected != NULL;
}

/* With it, of a corrected text, what the text that was sent would have found. */
static int ask_page(struct searching *searching, struct err *err)
{
    size_t count;
    const struct search_filter *standard = standard_filters(&count);
    struct arena *arena = searching->arena;
    Torg__V1__QueryStage *stages[PAGE_STAGE_COUNT];
    const Torg__V1__StageAnswer *answers[PAGE_STAGE_COUNT];
    int64_t began_us = clock_mono_us(searching->search->clock);
    int rc = wanted_stage(&searching->wanted, &stages[0], err);

    if (rc)
        return rc;
    stages[0]->facets = arena_array(arena, count + 2, sizeof(stages[0]->facets[0]));
    if (!searching->wanted.request->only_offers) {
        stage_facet(stages[0], OFFER_FIELD_CATEGORY, TORG__V1__FACET__KIND__TREE, SEARCH_TREE_COUNT,
                    arena)
            ->sees_own_filter = true;
        for (size_t i = 0; i < count; i++)
            add_facet(searching, stages[0], &standard[i]);
    }
    stages[1] = count_stage(searching->wanted.request->text, stages[0]->filter, arena);
    rc = asking_run(&searching->asking, stages, is_corrected(searching) ? 2 : 1, answers, err);
    searching->page_us += clock_mono_us(searching->search->clock) - began_us;
    if (rc)
        return rc;
    searching->page = answers[0];
    if (is_corrected(searching))
        searching->response->corrected->original_total = answers[1]->total;
    return 0;
}

/* --- spelling --- */

static int tell_partial(struct err *err)
{
    return err_set(err, ERR_UNAVAILABLE, "a shard did not answer, and what was meant may be there");
}

/* What a text finds, whatever was chosen beside it: whether a word is right does not depend on the
 * filters. The text that was sent is asked for as the page it may become: where that finds
 * something, spelling has cost no query. */
static int count_hits(void *arg, const char *text, uint64_t *count, struct err *err)
{
    struct searching *searching = arg;
    const Torg__V1__SearchOffersRequest *request = searching->wanted.request;
    Torg__V1__QueryStage *stage = count_stage(text, NULL, searching->arena);
    const Torg__V1__StageAnswer *answer;
    int rc = 0;

    if (!searching->page && !searching->has_counted && strcmp(text, request->text) == 0) {
        rc = ask_page(searching, err);
        if (rc)
            return rc;
        if (searching->asking.is_partial)
            return tell_partial(err);
        *count = searching->page->total;
        if (*count || (!request->n_filters && !*request->category))
            return 0;
    }
    searching->has_counted = true;
    rc = asking_run(&searching->asking, &stage, 1, &answer, err);
    *count = rc ? 0 : answer->total;
    return rc || !searching->asking.is_partial ? rc : tell_partial(err);
}

static bool may_correct(const struct searching *searching)
{
    const Torg__V1__SearchOffersRequest *request = searching->wanted.request;

    return *request->text && !request->keep_spelling && !request->offset && !request->cursor.len;
}

static void take_correction(struct searching *searching, const struct correction *correction)
{
    struct arena *arena = searching->arena;
    Torg__V1__CorrectedQuery *corrected = MESSAGE_NEW(corrected_query, arena);

    corrected->original = searching->wanted.request->text;
    corrected->corrected = (char *)correction->text;
    corrected->reason = (char *)correction->reason;
    searching->response->corrected = corrected;
    searching->wanted.text = correction->text;
    searching->page = NULL;
}

/* A correction that finds no more than the text as it was sent, beside the filters, is taken back:
 * words that stem alike, or nothing at all. */
static int keep_or_undo(struct searching *searching, struct err *err)
{
    Torg__V1__SearchOffersResponse *response = searching->response;

    if (!is_corrected(searching) || !response->corrected->original_total ||
        response->corrected->original_total < searching->page->total)
        return 0;
    searching->wanted.text = searching->wanted.request->text;
    response->corrected = NULL;
    return ask_page(searching, err);
}

/* Spelling that fails leaves the text as it is. */
static void correct(struct searching *searching)
{
    struct speller *speller = searching->search->speller
                                  ? searching->search->speller(searching->search->speller_arg)
                                  : NULL;
    struct correction correction;
    struct err err;
    int64_t now_us;

    if (!speller || !may_correct(searching))
        return;
    if (!spelling_correct(speller, searching->wanted.text, count_hits, searching, searching->arena,
                          &correction, &err) &&
        correction.text)
        take_correction(searching, &correction);
    now_us = clock_mono_us(searching->search->clock);
    put_time(searching, "spelling", now_us - searching->step_us - searching->page_us);
    searching->step_us = now_us - searching->page_us; /* told as the page's */
}

/* --- the way --- */

static int find_page(struct searching *searching, struct err *err)
{
    int rc = 0;

    correct(searching);
    if (!searching->page)
        rc = ask_page(searching, err);
    if (!rc)
        rc = keep_or_undo(searching, err);
    if (rc)
        return rc;
    if (is_corrected(searching))
        spelling_count(searching->response->corrected->reason);
    put_offers(searching, searching->page);
    step_done(searching, "page");
    return 0;
}

static int run(struct searching *searching, struct err *err)
{
    const Torg__V1__StageAnswer *more;
    struct found_categories found;
    struct offered_filter *offered;
    size_t count;
    int rc = find_page(searching, err);

    if (rc || searching->wanted.request->only_offers)
        return rc;
    found_categories_read(&found, &searching->wanted,
                          find_facet(searching->page, OFFER_FIELD_CATEGORY));
    put_categories(searching, &found);
    offered_choose(&searching->wanted, &found, &offered, &count);
    step_done(searching, "choice of filters");
    rc = ask_attributes(searching, offered, count, &more, err);
    if (rc)
        return rc;
    put_filters(searching, offered, count, searching->page, more);
    step_done(searching, "filters");
    return 0;
}

int search_offers(const struct search *search, const Torg__V1__SearchOffersRequest *request,
                  enum language language, int64_t deadline_us, struct arena *arena,
                  Torg__V1__SearchOffersResponse *response, struct err *err)
{
    struct searching searching = {.search = search,
                                  .asking = {.search = search,
                                             .arena = arena,
                                             .deadline_us = deadline_us,
                                             .wait = request->wait,
                                             .wait_count = request->n_wait,
                                             .seen = request->seen},
                                  .arena = arena,
                                  .step_us = clock_mono_us(search->clock),
                                  .response = response};
    struct catalog *catalog = search->catalog(search->catalog_arg);
    int rc = wanted_read(&searching.wanted, catalog, request, language, arena, err);

    assert(search->clock && search->ask);
    response->times = arena_array(arena, STEP_COUNT, sizeof(response->times[0]));
    response->currency = arena_strdup(arena, catalog_currency(catalog));
    if (!rc)
        rc = run(&searching, err);
    response->is_partial = searching.asking.is_partial;
    response->seen = searching.asking.seen;
    catalog_unref(catalog);
    return rc;
}
