/* SPDX-License-Identifier: Apache-2.0 */
/* choices.c - see choices.h. */
#include "search/choices/choices.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "codec/message.h"
#include "model/offer_fields.h"
#include "query/bounds.h"
#include "query/filter/value.h"
#include "query/run/cursor.h"
#include "search/asking/found.h"
#include "search/bounds.h"
#include "search/choices/likely.h"
#include "search/choices/nearness.h"
#include "search/choices/order.h"

/* with those of category and currency, a second end, and what words of the text choose */
enum { PAGE_FILTER_MAX = SEARCH_FILTER_COUNT_MAX + 5 };

/* --- reading --- */

/* The index would refuse it too, by names that the buyer's page never sent. */
static int check_value(const struct field *field, size_t place, const char *name, const char *text,
                       struct err *err)
{
    int64_t value;

    if (!*text || value_parse(field, bytes_of(text), false, &value))
        return 0;
    return err_set(err, ERR_INVALID, "filters[%zu].%s: \"%.40s\" is not %s", place, name, text,
                   value_form(field));
}

/* A range that nothing can be in was not meant. Both ends were read before. */
static int check_order(const struct field *field, size_t place,
                       const Torg__V1__FilterChoice *choice, struct err *err)
{
    int64_t min;
    int64_t max;

    if (!*choice->min || !*choice->max || !value_parse(field, bytes_of(choice->min), false, &min) ||
        !value_parse(field, bytes_of(choice->max), true, &max) || min <= max)
        return 0;
    return err_set(err, ERR_INVALID,
                   "filters[%zu]: \"%.80s\" has min %.40s above max %.40s: swap them, or leave one "
                   "out",
                   place, choice->id, choice->min, choice->max);
}

static struct field range_field(const struct search_filter *filter)
{
    if (filter->is_date)
        return (struct field){.type = FIELD_DATE};
    if (filter->attribute && filter->attribute->type == TORG__V1__ATTRIBUTE__TYPE__DECIMAL)
        return (struct field){.type = FIELD_DECIMAL, .scale = (uint8_t)filter->attribute->digits};
    return (struct field){.type = FIELD_INTEGER};
}

static int check_values(const struct search_filter *filter, const Torg__V1__FilterChoice *choice,
                        size_t place, struct err *err)
{
    const struct field flag = {.type = FIELD_BOOLEAN};
    const struct field range = range_field(filter);
    int rc = 0;

    if (filter->kind == TORG__V1__SEARCH_FILTER__KIND__TOGGLE) {
        for (size_t i = 0; i < choice->n_values && !rc; i++)
            rc = check_value(&flag, place, "values", choice->values[i], err);
    } else if (filter->kind == TORG__V1__SEARCH_FILTER__KIND__RANGE) {
        rc = check_value(&range, place, "min", choice->min, err);
        rc = rc ? rc : check_value(&range, place, "max", choice->max, err);
        rc = rc ? rc : check_order(&range, place, choice, err);
    }
    return rc;
}

static int read_choice(struct wanted *wanted, size_t place, struct search_filter *filter,
                       struct err *err)
{
    const Torg__V1__FilterChoice *choice = wanted->request->filters[place];
    bool has_range = *choice->min || *choice->max;

    if (!filter_find(wanted->catalog, wanted->category, choice->id, wanted->arena, filter))
        return err_set(err, ERR_INVALID,
                       "filters[%zu].id: \"%.80s\" is not a filter; use the ids of an answer's "
                       "filters",
                       place, choice->id);
    for (size_t i = 0; i < place; i++) {
        if (strcmp(wanted->request->filters[i]->id, choice->id) == 0)
            return err_set(err, ERR_INVALID, "filters[%zu].id: \"%.80s\" is there twice", place,
                           choice->id);
    }
    if (has_range == (choice->n_values > 0))
        return err_set(err, ERR_INVALID, "filters[%zu]: expected values, or min and max", place);
    if (has_range && filter_has_numbers(filter)) { /* they can be ordered, too */
        filter->kind = TORG__V1__SEARCH_FILTER__KIND__RANGE;
        filter->field = filter->id;
    }
    if (has_range == (filter->kind == TORG__V1__SEARCH_FILTER__KIND__VALUES ||
                      filter->kind == TORG__V1__SEARCH_FILTER__KIND__TOGGLE))
        return err_set(err, ERR_INVALID, "filters[%zu]: \"%s\" is chosen by %s", place, choice->id,
                       has_range ? "values" : "min and max");
    if (choice->n_values > SEARCH_VALUE_COUNT_MAX)
        return err_set(err, ERR_LIMIT, "filters[%zu].values: %zu, at most %d are allowed", place,
                       choice->n_values, SEARCH_VALUE_COUNT_MAX);
    if (filter->kind == TORG__V1__SEARCH_FILTER__KIND__DISTANCE && !wanted->request->near)
        return err_set(err, ERR_INVALID, "near: a distance needs the point it is counted from");
    return check_values(filter, choice, place, err);
}

static int check_near(const Torg__V1__GeoPoint *near, struct err *err)
{
    if (near && (!(fabs(near->latitude) <= 90) || !(fabs(near->longitude) <= 180)))
        return err_set(err, ERR_INVALID,
                       "near: %g, %g is not a place on earth: latitudes go from -90 to 90, "
                       "longitudes from -180 to 180",
                       near->latitude, near->longitude);
    return 0;
}

static int check_page(const Torg__V1__SearchOffersRequest *request, struct err *err)
{
    uint32_t limit = request->_limit_case ? request->limit : SEARCH_PAGE_COUNT;

    if (strlen(request->text) > SEARCH_TEXT_SIZE_MAX)
        return err_set(err, ERR_INVALID, "text: %zu bytes, at most %d are allowed",
                       strlen(request->text), SEARCH_TEXT_SIZE_MAX);
    if (strlen(request->session) > SEARCH_SESSION_SIZE_MAX)
        return err_set(err, ERR_INVALID, "session: %zu bytes, at most %d are allowed",
                       strlen(request->session), SEARCH_SESSION_SIZE_MAX);
    if (limit > SEARCH_PAGE_COUNT_MAX)
        return err_set(err, ERR_INVALID, "limit: %u, a page has at most %d offers", limit,
                       SEARCH_PAGE_COUNT_MAX);
    if (request->offset > QUERY_HIT_COUNT_MAX - limit)
        return err_set(err, ERR_INVALID,
                       "offset: %u, with the limit at most %d; go on by the cursor",
                       request->offset, QUERY_HIT_COUNT_MAX);
    if (request->offset && request->cursor.len)
        return err_set(err, ERR_INVALID,
                       "offset: leave it out with a cursor, which knows its place");
    if (request->n_filters > SEARCH_FILTER_COUNT_MAX)
        return err_set(err, ERR_LIMIT, "filters: %zu, at most %d are allowed", request->n_filters,
                       SEARCH_FILTER_COUNT_MAX);
    if (request->order == TORG__V1__SEARCH_OFFERS_REQUEST__ORDER__NEAREST && !request->near)
        return err_set(err, ERR_INVALID, "near: is not set, and the nearest are counted from it");
    if (request->order > TORG__V1__SEARCH_OFFERS_REQUEST__ORDER__NEAREST)
        return err_set(err, ERR_INVALID, "order: %d is unknown", request->order);
    return check_near(request->near, err);
}

/* --- words that are choices --- */

static Torg__V1__FilterChoice *meant_choice(const struct wanted *wanted, const struct meant *meant)
{
    enum meant_kind kind = meant->kind;
    static char *conditions[] = {"new", "used"};
    struct arena *arena = wanted->arena;
    Torg__V1__FilterChoice *choice;

    if (kind < MEANT_NEW || (kind == MEANT_NEAR && !wanted->sent->near))
        return NULL;
    choice = MESSAGE_NEW(filter_choice, arena);
    if (kind == MEANT_PRICE) {
        int units = currency_minor_units(catalog_currency(wanted->catalog));

        choice->id = wanted->is_pay ? "salary" : "price";
        if (meant->min)
            choice->min = arena_printf(arena, "%" PRIi64, meant->min * units);
        if (meant->max)
            choice->max = arena_printf(arena, "%" PRIi64, meant->max * units);
        return choice;
    }
    if (kind == MEANT_NEAR) {
        choice->id = "distance";
        choice->max = arena_printf(arena, "%d", SEARCH_NEAR_M);
        return choice;
    }
    choice->id = "condition";
    choice->values = &conditions[kind == MEANT_USED];
    choice->n_values = 1;
    return choice;
}

/* Whether what is looked for is work, which is paid, and has no price. */
static bool has_pay_alone(const struct category *category)
{
    return category && category_has_filter(category, TORG__V1__CATEGORY__FILTER__SALARY) &&
           !category_has_filter(category, TORG__V1__CATEGORY__FILTER__PRICE);
}

/* What words of the text choose, unless that was chosen otherwise. */
static void choose_meant(struct wanted *wanted)
{
    const struct meaning *meaning = &wanted->meaning;
    Torg__V1__SearchOffersRequest *request = arena_alloc(wanted->arena, sizeof(*request));
    size_t room = wanted->sent->n_filters + meaning->count;

    if (!meaning->count)
        return;
    *request = *wanted->sent;
    request->filters = arena_array(wanted->arena, room, sizeof(request->filters[0]));
    for (size_t i = 0; i < wanted->sent->n_filters; i++)
        request->filters[i] = wanted->sent->filters[i];
    wanted->request = request;
    for (size_t i = 0; i < meaning->count; i++) {
        Torg__V1__FilterChoice *choice = meant_choice(wanted, &meaning->list[i]);

        if (choice && !wanted_choice(wanted, choice->id))
            request->filters[request->n_filters++] = choice;
    }
}

bool text_has_signs(const char *text)
{
    for (const char *at = text; *at; at++) {
        bool is_first = at == text || at[-1] == ' ', is_last = !at[1] || at[1] == ' ';

        /* inside a word they are letters of it: "self-propelled", 30" */
        if ((is_first && !is_last && strchr("\"-!", *at)) ||
            (is_last && !is_first && strchr("*~", *at)))
            return true;
    }
    return false;
}

/* A text that names a category, unless it is to be searched as words. */
static void find_named(struct wanted *wanted)
{
    const Torg__V1__SearchOffersRequest *sent = wanted->sent;
    const char *said;

    for (size_t i = 0; i < sent->n_keep_words; i++) {
        if (strcmp(sent->keep_words[i], wanted->meaning.text) == 0)
            return;
    }
    wanted->named_by = wanted->meaning.text;
    wanted->named =
        catalog_named(wanted->catalog, bytes_of(wanted->meaning.text), wanted->arena, &said);
    if (wanted->named) /* stemmers do not know every form: "диванов" */
        wanted->meaning.text = arena_strdup(wanted->arena, said);
}

int wanted_search(struct wanted *wanted, const char *text, struct err *err)
{
    const Torg__V1__SearchOffersRequest *sent = wanted->sent;
    int rc = meaning_read(text, sent->keep_words, sent->n_keep_words, wanted->arena,
                          &wanted->meaning, err);

    wanted->text = text;
    wanted->named = NULL;
    if (!rc && !sent->all_words && *wanted->meaning.text && !text_has_signs(wanted->meaning.text))
        find_named(wanted);
    if (rc || !sent->all_words)
        return rc;
    wanted->meaning.text = text;
    wanted->meaning.count = 0;
    return 0;
}

static int read_choices(struct wanted *wanted, struct err *err)
{
    struct search_filter *chosen =
        arena_array(wanted->arena, wanted->request->n_filters + 1, sizeof(*chosen));
    int rc = 0;

    for (size_t i = 0; i < wanted->request->n_filters && !rc; i++)
        rc = read_choice(wanted, i, &chosen[i], err);
    wanted->chosen = chosen;
    return rc;
}

static bool catalog_has_pay(const struct catalog *catalog)
{
    size_t count;
    const struct category *const *all = catalog_categories(catalog, &count);

    for (size_t i = 0; i < count; i++) {
        if (category_has_filter(all[i], TORG__V1__CATEGORY__FILTER__SALARY))
            return true;
    }
    return false;
}

static bool chooses_money(const struct wanted *wanted)
{
    for (size_t i = 0; i < wanted->meaning.count; i++) {
        if (wanted->meaning.list[i].kind == MEANT_PRICE)
            return true;
    }
    return false;
}

bool wanted_may_mean_pay(const struct wanted *wanted)
{
    return !wanted->is_pay && chooses_money(wanted) && catalog_has_pay(wanted->catalog);
}

int wanted_mean_pay(struct wanted *wanted, struct err *err)
{
    wanted->is_pay = true;
    wanted->request = wanted->sent;
    choose_meant(wanted);
    return read_choices(wanted, err);
}

int wanted_drop_meant(struct wanted *wanted, struct err *err)
{
    wanted->request = wanted->sent;
    return read_choices(wanted, err);
}

enum tier_chooses wanted_chooses(const struct wanted *wanted)
{
    if (wanted->request->n_filters > wanted->sent->n_filters)
        return wanted->is_pay ? TIER_CHOOSES_PAY : TIER_CHOOSES_PRICE;
    return wanted->meaning.count && wanted->request == wanted->sent ? TIER_CHOOSES_NOTHING
                                                                    : TIER_CHOOSES_UNTOLD;
}

int wanted_read(struct wanted *wanted, const struct catalog *catalog,
                const Torg__V1__SearchOffersRequest *request, enum language language,
                struct arena *arena, struct err *err)
{
    const char *text = request->text;
    int rc = check_page(request, err);

    *wanted = (struct wanted){.sent = request,
                              .request = request,
                              .catalog = catalog,
                              .language = language,
                              .arena = arena};
    if (!rc)
        rc = tier_read(bytes_make(request->cursor.data, request->cursor.len), request->text, arena,
                       &wanted->tier, &text, err);
    if (!rc)
        rc = wanted_search(wanted, text, err);
    if (!rc && wanted->tier.likely) /* in the order of the first page */
        rc = likely_read(catalog, wanted->tier.likely, arena, &wanted->likely, err);
    if (rc)
        return rc;
    if (*request->category) {
        wanted->category = category_find(catalog, request->category);
        if (!wanted->category)
            return err_set(err, ERR_INVALID, "category: there is no \"%.64s\"", request->category);
    }
    wanted->is_pay = wanted->tier.chooses
                         ? wanted->tier.chooses == TIER_CHOOSES_PAY
                         : has_pay_alone(wanted->category ? wanted->category : wanted->named);
    if (wanted->tier.chooses != TIER_CHOOSES_NOTHING)
        choose_meant(wanted);
    return read_choices(wanted, err);
}

const Torg__V1__FilterChoice *wanted_choice(const struct wanted *wanted, const char *id)
{
    for (size_t i = 0; i < wanted->request->n_filters; i++) {
        if (strcmp(wanted->request->filters[i]->id, id) == 0)
            return wanted->request->filters[i];
    }
    return NULL;
}

/* --- filters --- */

static Torg__V1__Filter *values_filter(const char *field, char **values, size_t count,
                                       struct arena *arena)
{
    Torg__V1__Filter *filter = MESSAGE_NEW(filter, arena);

    filter->kind_case = TORG__V1__FILTER__KIND_IN;
    filter->in = MESSAGE_NEW(field_values, arena);
    filter->in->field = (char *)field;
    filter->in->values = values;
    filter->in->n_values = count;
    return filter;
}

static bool is_covered(char *const *paths, size_t count, const char *path)
{
    for (size_t i = 0; i < count; i++) {
        size_t size = strlen(paths[i]);

        if (strncmp(paths[i], path, size) == 0 && (path[size] == '/' || path[size] == '\0'))
            return true;
    }
    return false;
}

/* Where those at and below it were before: their documents may be there still. */
static size_t add_former(const struct category *category, const struct catalog *catalog,
                         char **paths, size_t count)
{
    size_t all_count;
    const struct category *const *all = catalog_categories(catalog, &all_count);

    for (uint32_t i = category->number; category->has_former && i <= category->last; i++)
        for (size_t k = 0; k < all[i]->former_count && count < SEARCH_FORMER_COUNT_MAX; k++)
            if (!is_covered(paths, count, all[i]->former[k]))
                paths[count++] = (char *)all[i]->former[k];
    return count;
}

Torg__V1__Filter *category_filter(const struct category *category, const struct catalog *catalog,
                                  struct arena *arena)
{
    Torg__V1__Filter *filter = MESSAGE_NEW(filter, arena);
    char **values =
        arena_array(arena, category->has_former ? SEARCH_FORMER_COUNT_MAX : 1, sizeof(*values));

    values[0] = category_path_text(category, arena);
    filter->kind_case = TORG__V1__FILTER__KIND_SUBTREE;
    filter->subtree = MESSAGE_NEW(field_values, arena);
    filter->subtree->field = (char *)OFFER_FIELD_CATEGORY;
    filter->subtree->values = values;
    filter->subtree->n_values = add_former(category, catalog, values, 1);
    return filter;
}

static int distance_filter(const struct wanted *wanted, size_t place, Torg__V1__Filter **filter,
                           struct err *err)
{
    const Torg__V1__FilterChoice *choice = wanted->request->filters[place];
    struct arena *arena = wanted->arena;
    char *end;
    double meters = strtod(choice->max, &end);

    if (*choice->min || end == choice->max || *end || !(meters >= 0) || !isfinite(meters))
        return err_set(err, ERR_INVALID,
                       "filters[%zu].max: \"%.40s\" is not a distance: send a number of meters, "
                       "and no min",
                       place, choice->max);
    *filter = MESSAGE_NEW(filter, arena);
    (*filter)->kind_case = TORG__V1__FILTER__KIND_RADIUS;
    (*filter)->radius = MESSAGE_NEW(geo_radius, arena);
    (*filter)->radius->field = (char *)wanted->chosen[place].field;
    (*filter)->radius->center = wanted->request->near;
    (*filter)->radius->meters = meters;
    return 0;
}

Torg__V1__Filter *range_filter(const char *field, const char *min, const char *max,
                               struct arena *arena)
{
    Torg__V1__Filter *filter = MESSAGE_NEW(filter, arena);

    filter->kind_case = TORG__V1__FILTER__KIND_RANGE;
    filter->range = MESSAGE_NEW(field_range, arena);
    filter->range->field = (char *)field;
    filter->range->min = (char *)min;
    filter->range->max = (char *)max;
    return filter;
}

static int choice_filter(const struct wanted *wanted, size_t place, Torg__V1__Filter **filter,
                         struct err *err)
{
    const Torg__V1__FilterChoice *choice = wanted->request->filters[place];
    const struct search_filter *chosen = &wanted->chosen[place];
    struct arena *arena = wanted->arena;

    if (chosen->kind == TORG__V1__SEARCH_FILTER__KIND__DISTANCE)
        return distance_filter(wanted, place, filter, err);
    if (choice->n_values) {
        *filter = values_filter(chosen->field, choice->values, choice->n_values, arena);
        return 0;
    }
    *filter = range_filter(chosen->field, choice->min, choice->max, arena);
    return 0;
}

/* Of a range that is a range in offers, too: its ends meet those that were chosen. */
static size_t put_overlap(const struct wanted *wanted, size_t place, Torg__V1__Filter **list)
{
    const Torg__V1__FilterChoice *choice = wanted->request->filters[place];
    const struct search_filter *chosen = &wanted->chosen[place];
    size_t count = 0;

    if (*choice->min)
        list[count++] = range_filter(chosen->upper, choice->min, "", wanted->arena);
    if (*choice->max)
        list[count++] = range_filter(chosen->field, "", choice->max, wanted->arena);
    return count;
}

/* Documents made before the currency was the catalogue's may have a number of another one. */
static Torg__V1__Filter *currency_filter(const struct wanted *wanted)
{
    char **values = arena_array(wanted->arena, 1, sizeof(*values));

    values[0] = (char *)catalog_currency(wanted->catalog);
    return values_filter(OFFER_FIELD_CURRENCY, values, 1, wanted->arena);
}

/* Side by side under one AND, so that a facet can leave its own out. */
static int all_filters(const struct wanted *wanted, Torg__V1__Filter **filter, struct err *err)
{
    struct arena *arena = wanted->arena;
    Torg__V1__Filters *all = MESSAGE_NEW(filters, arena);
    int rc = 0;

    all->of = arena_array(arena, PAGE_FILTER_MAX, sizeof(all->of[0]));
    if (wanted->category)
        all->of[all->n_of++] = category_filter(wanted->category, wanted->catalog, arena);
    for (size_t i = 0; i < wanted->request->n_filters && !rc; i++) {
        if (wanted->chosen[i].upper) {
            all->n_of += put_overlap(wanted, i, &all->of[all->n_of]);
            continue;
        }
        rc = choice_filter(wanted, i, &all->of[all->n_of++], err);
        if (!rc && wanted->chosen[i].standard == TORG__V1__CATEGORY__FILTER__PRICE)
            all->of[all->n_of++] = currency_filter(wanted);
    }
    *filter = NULL;
    if (rc || !all->n_of)
        return rc;
    *filter = MESSAGE_NEW(filter, arena);
    (*filter)->kind_case = TORG__V1__FILTER__KIND_AND;
    (*filter)->and_ = all;
    return 0;
}

/* --- the stage --- */

static void put_shown(const struct wanted *wanted, Torg__V1__QueryStage *stage)
{
    static char *const marked[] = {OFFER_FIELD_TITLE, OFFER_FIELD_DESCRIPTION};
    struct arena *arena = wanted->arena;

    stage_show_offers(stage);
    if (!*wanted->text)
        return;
    stage->highlight = MESSAGE_NEW(highlight, arena);
    stage->highlight->fields = (char **)marked;
    stage->highlight->n_fields = ARRAY_COUNT(marked);
    stage->highlight->fragment_size = SEARCH_FRAGMENT_SIZE;
    stage->highlight->escape_html = true;
}

static void prefer_named(const struct wanted *wanted, Torg__V1__QueryStage *stage)
{
    static char *const fields[] = {OFFER_FIELD_WORDS};
    struct arena *arena = wanted->arena;
    Torg__V1__TextClause *clause;

    if (!wanted->named)
        return;
    clause = MESSAGE_NEW(text_clause, arena);
    clause->occur = TORG__V1__TEXT_CLAUSE__OCCUR__BONUS;
    clause->kind = TORG__V1__TEXT_CLAUSE__KIND__PHRASE;
    clause->text = arena_strdup(arena, wanted->named->name.in[0]);
    clause->fields = (char **)fields;
    clause->n_fields = ARRAY_COUNT(fields);
    stage->clauses = arena_array(arena, 1, sizeof(stage->clauses[0]));
    stage->clauses[0] = clause;
    stage->n_clauses = 1;
}

/* What is paid, or a price that leaves nothing, may be in the title: "Accountant, from 75 000". */
static void prefer_number(const char *text, Torg__V1__QueryStage *stage, struct arena *arena)
{
    static const char digits[] = "0123456789";
    const char *first = text + strcspn(text, digits), *end = first;

    for (const char *at = first; *at; at++) {
        if (strchr(digits, *at))
            end = at + 1;
    }
    if (end > first)
        nearness_prefer(arena_text(arena, bytes_make(first, (size_t)(end - first))), stage, arena);
}

void wanted_prefer(const struct wanted *wanted, bool is_whole, Torg__V1__QueryStage *stage)
{
    const struct meaning *meaning = &wanted->meaning;

    if (wanted->request->order != TORG__V1__SEARCH_OFFERS_REQUEST__ORDER__BEST)
        return;
    prefer_named(wanted, stage);
    nearness_add(meaning->text, is_whole, stage, wanted->arena);
    nearness_head(wanted->text, stage, wanted->arena);
    nearness_values(meaning->text, wanted->catalog, wanted->sent->keep_words,
                    wanted->sent->n_keep_words, stage, wanted->arena);
    for (size_t i = 0; i < meaning->count; i++) {
        if (meaning->list[i].kind == MEANT_FILLER)
            nearness_prefer(meaning->list[i].text, stage, wanted->arena);
        if (meaning->list[i].kind == MEANT_PRICE &&
            (wanted->is_pay || wanted->request == wanted->sent))
            prefer_number(meaning->list[i].text, stage, wanted->arena);
    }
}

int wanted_stage(const struct wanted *wanted, Torg__V1__QueryStage **out, struct err *err)
{
    const Torg__V1__SearchOffersRequest *request = wanted->request;
    struct arena *arena = wanted->arena;
    Torg__V1__QueryStage *stage = MESSAGE_NEW(query_stage, arena);
    int rc = all_filters(wanted, &stage->filter, err);

    stage->text = (char *)wanted->meaning.text;
    order_put(wanted, stage);
    put_shown(wanted, stage);
    stage->offset = request->offset;
    stage->_limit_case = TORG__V1__QUERY_STAGE___LIMIT_LIMIT;
    stage->limit = request->_limit_case ? request->limit : SEARCH_PAGE_COUNT;
    stage->cursor = (ProtobufCBinaryData){.data = (uint8_t *)wanted->tier.cursor.data,
                                          .len = wanted->tier.cursor.size};
    *out = stage;
    return rc;
}

Torg__V1__Facet *stage_facet(Torg__V1__QueryStage *stage, const char *field,
                             Torg__V1__Facet__Kind kind, uint32_t limit, struct arena *arena)
{
    Torg__V1__Facet *facet = MESSAGE_NEW(facet, arena);

    facet->field = (char *)field;
    facet->kind = kind;
    facet->limit = limit;
    stage->facets[stage->n_facets++] = facet;
    return facet;
}
