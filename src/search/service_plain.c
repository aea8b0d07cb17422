/* SPDX-License-Identifier: Apache-2.0 */
/*
 * service_plain.c - SearchOffers by an address, answered in plain JSON.
 *
 *   GET /v1/offers/search?q=велосипед&category=bikes&filter=price<20000 AND color=red&sort=cheapest
 *
 * The same search as the call: only the form differs. Prices are in whole units of their currency,
 * numbers are numbers. A filter has conditions joined by AND, as a buyer's choices are.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "codec/json_value.h"
#include "codec/message.h"
#include "query/request/filter_text.h"
#include "search/asking/found.h"
#include "search/bounds.h"
#include "search/choices/filters.h"
#include "search/service.h"

struct plain_offers {
    struct arena *arena;
    Torg__V1__SearchOffersRequest *request;
    const char *currency; /* that prices are compared in */
    bool has_facets;
};

/* --- the filter --- */

static int refuse_filter(struct err *err, const char *what)
{
    return err_set(
        err, ERR_INVALID,
        "filter: %s: of offers a filter has conditions joined by AND; FIELD IN (a, b) is "
        "one of several, FIELD = 5..10, <= and >= are ranges",
        what);
}

static bool is_money(const char *id)
{
    return strcmp(id, "price") == 0 || strcmp(id, "salary") == 0;
}

/* Numbers of a price are typed in whole units and asked for in the smallest. */
static int put_end(const struct plain_offers *plain, const char *id, const char *typed, char **end,
                   struct err *err)
{
    char *rest;
    double value;

    if (!*typed)
        return 0;
    *end = (char *)typed;
    if (!is_money(id))
        return 0;
    value = strtod(typed, &rest);
    if (*rest || !isfinite(value) || fabs(value) > 1e15)
        return err_set(err, ERR_INVALID, "filter: %s: \"%.40s\" is not a number", id, typed);
    *end = arena_printf(plain->arena, "%.0f", value * currency_minor_units(plain->currency));
    return 0;
}

static bool is_standard(const char *field)
{
    size_t count;
    const struct search_filter *standard = standard_filters(&count);

    for (size_t i = 0; i < count; i++)
        if (strcmp(field, standard[i].id) == 0)
            return true;
    return strncmp(field, "a.", 2) == 0;
}

/* The choice of a filter, made if it is not there: "price >= 5 AND price <= 10" is one. */
static int choice_of(struct plain_offers *plain, const char *field, Torg__V1__FilterChoice **choice,
                     struct err *err)
{
    Torg__V1__SearchOffersRequest *request = plain->request;
    const char *id = is_standard(field) ? field : arena_printf(plain->arena, "a.%s", field);

    for (size_t i = 0; i < request->n_filters; i++) {
        *choice = request->filters[i];
        if (strcmp((*choice)->id, id) == 0)
            return 0;
    }
    if (request->n_filters == SEARCH_FILTER_COUNT_MAX)
        return err_set(err, ERR_INVALID, "filter: more than %d fields", SEARCH_FILTER_COUNT_MAX);
    *choice = MESSAGE_NEW(filter_choice, plain->arena);
    (*choice)->id = (char *)id;
    request->filters[request->n_filters++] = *choice;
    return 0;
}

static int take_range(struct plain_offers *plain, const Torg__V1__FieldRange *range,
                      struct err *err)
{
    Torg__V1__FilterChoice *choice;
    int rc = choice_of(plain, range->field, &choice, err);

    rc = rc ? rc : put_end(plain, choice->id, range->min, &choice->min, err);
    return rc ? rc : put_end(plain, choice->id, range->max, &choice->max, err);
}

/* "price < 10", read as "not from 10 on": up to the smallest unit before it. */
static int take_open_range(struct plain_offers *plain, const Torg__V1__Filter *filter,
                           struct err *err)
{
    Torg__V1__FieldRange *range =
        filter && filter->kind_case == TORG__V1__FILTER__KIND_RANGE ? filter->range : NULL;
    Torg__V1__FilterChoice *choice;
    char *end = NULL;
    int rc;

    if (!range || !is_money(range->field))
        return refuse_filter(err, "< and > of anything but a price");
    rc = choice_of(plain, range->field, &choice, err);
    rc = rc ? rc : put_end(plain, choice->id, *range->min ? range->min : range->max, &end, err);
    if (rc)
        return rc;
    if (*range->min)
        choice->max = arena_printf(plain->arena, "%.0f", strtod(end, NULL) - 1);
    else
        choice->min = arena_printf(plain->arena, "%.0f", strtod(end, NULL) + 1);
    return 0;
}

static int take_filter(struct plain_offers *plain, const Torg__V1__Filter *filter, struct err *err)
{
    Torg__V1__FilterChoice *choice;
    int rc = 0;

    switch (filter->kind_case) {
    case TORG__V1__FILTER__KIND_RANGE:
        return take_range(plain, filter->range, err);
    case TORG__V1__FILTER__KIND_IN:
        rc = choice_of(plain, filter->in->field, &choice, err);
        if (!rc && choice->n_values)
            return refuse_filter(err, "a field that is compared twice");
        if (!rc) {
            choice->values = filter->in->values;
            choice->n_values = filter->in->n_values;
        }
        return rc;
    case TORG__V1__FILTER__KIND_AND:
        if (filter->and_->n_of == 2 &&
            filter->and_->of[0]->kind_case == TORG__V1__FILTER__KIND_EXISTS)
            return take_open_range(plain, filter->and_->of[1]->not_, err);
        for (size_t i = 0; i < filter->and_->n_of && !rc; i++)
            rc = take_filter(plain, filter->and_->of[i], err); /* as deep as its brackets */
        return rc;
    case TORG__V1__FILTER__KIND_OR:
        return refuse_filter(err, "OR");
    case TORG__V1__FILTER__KIND_NOT:
        return refuse_filter(err, "NOT, !=");
    default:
        return refuse_filter(err, "EXISTS, UNDER, NEAR");
    }
}

static int read_filter(struct plain_offers *plain, struct bytes text, struct err *err)
{
    Torg__V1__Filter *filter;
    int rc = filter_text_read(text, plain->arena, &filter, err);

    plain->request->filters =
        arena_array(plain->arena, SEARCH_FILTER_COUNT_MAX, sizeof(*plain->request->filters));
    return rc || !filter ? rc : take_filter(plain, filter, err);
}

/* --- the other parameters --- */

static int read_order(struct plain_offers *plain, struct bytes name, struct err *err)
{
    static const char *const names[] = {
        [TORG__V1__SEARCH_OFFERS_REQUEST__ORDER__BEST] = "best",
        [TORG__V1__SEARCH_OFFERS_REQUEST__ORDER__NEWEST] = "newest",
        [TORG__V1__SEARCH_OFFERS_REQUEST__ORDER__CHEAPEST] = "cheapest",
        [TORG__V1__SEARCH_OFFERS_REQUEST__ORDER__DEAREST] = "dearest",
        [TORG__V1__SEARCH_OFFERS_REQUEST__ORDER__NEAREST] = "nearest",
    };

    for (size_t i = 0; i < ARRAY_COUNT(names); i++)
        if (bytes_equal_text(name, names[i])) {
            plain->request->order = (Torg__V1__SearchOffersRequest__Order)i;
            return 0;
        }
    return err_set(err, ERR_INVALID,
                   "sort: \"%.*s\": expected best, newest, cheapest, dearest or nearest",
                   BYTES_ARG(name));
}

static int read_near(struct plain_offers *plain, struct bytes text, struct err *err)
{
    char *typed = arena_text(plain->arena, text);
    char *end;

    plain->request->near = MESSAGE_NEW(geo_point, plain->arena);
    plain->request->near->latitude = strtod(typed, &end);
    if (end > typed && *end == ',') {
        typed = end + 1;
        plain->request->near->longitude = strtod(typed, &end);
        if (end > typed && !*end)
            return 0;
    }
    return err_set(err, ERR_INVALID, "near: expected LATITUDE,LONGITUDE");
}

static int read_number(const char *name, struct bytes text, uint32_t *number, struct err *err)
{
    uint64_t value;

    if (!text_to_u64(text, &value) || value > UINT32_MAX)
        return err_set(err, ERR_INVALID, "%s: \"%.*s\": expected a whole number", name,
                       BYTES_ARG(text));
    *number = (uint32_t)value;
    return 0;
}

static int read_cursor(struct plain_offers *plain, struct bytes text, struct err *err)
{
    struct buf cursor = BUF_INIT(256 << 10);
    bool ok = text_from_base64(text, &cursor);
    struct bytes kept = arena_copy(plain->arena, buf_bytes(&cursor));

    plain->request->cursor = (ProtobufCBinaryData){kept.size, (uint8_t *)kept.data};
    buf_release(&cursor);
    return ok ? 0 : err_set(err, ERR_INVALID, "cursor: is not one of an earlier answer");
}

static void read_wait(struct plain_offers *plain, struct bytes text)
{
    plain->request->wait = arena_array(plain->arena, 1, sizeof(char *));
    plain->request->wait[0] = arena_text(plain->arena, text);
    plain->request->n_wait = 1;
}

static int read_one(struct plain_offers *plain, const struct rest_parameter *one, struct err *err)
{
    Torg__V1__SearchOffersRequest *request = plain->request;
    char *text = arena_text(plain->arena, one->value);
    char *name = arena_text(plain->arena, one->name);

    if (strcmp(name, "q") == 0)
        request->text = text;
    else if (strcmp(name, "category") == 0)
        request->category = text;
    else if (strcmp(name, "language") == 0)
        request->language = text;
    else if (strcmp(name, "filter") == 0)
        return read_filter(plain, one->value, err);
    else if (strcmp(name, "sort") == 0)
        return read_order(plain, one->value, err);
    else if (strcmp(name, "near") == 0)
        return read_near(plain, one->value, err);
    else if (strcmp(name, "offset") == 0)
        return read_number(name, one->value, &request->offset, err);
    else if (strcmp(name, "cursor") == 0)
        return one->value.size ? read_cursor(plain, one->value, err) : 0;
    else if (strcmp(name, "wait") == 0)
        read_wait(plain, one->value);
    else if (strcmp(name, "facets") == 0)
        plain->has_facets = strcmp(text, "false") != 0;
    else if (strcmp(name, "exact") == 0)
        request->keep_spelling = strcmp(text, "false") != 0;
    else if (strcmp(name, "limit") == 0) {
        request->_limit_case = TORG__V1__SEARCH_OFFERS_REQUEST___LIMIT_LIMIT;
        return read_number(name, one->value, &request->limit, err);
    } else
        return err_set(
            err, ERR_INVALID,
            "%s: is not a parameter of this search; known are q, category, filter, sort, "
            "near, limit, offset, cursor, facets, language, exact, wait",
            name);
    return 0;
}

/* --- the answer --- */

static void put_text(struct buf *out, const char *name, const char *text)
{
    if (!*text)
        return;
    buf_printf(out, ",\"%s\":", name);
    json_put_text(out, bytes_of(text));
}

static void put_price(struct buf *out, const char *name, int64_t amount, const char *currency)
{
    int units = currency_minor_units(currency);

    buf_printf(out, "%s\"%s\":%s%" PRId64, name[0] == '{' ? "" : ",", name,
               amount < 0 && amount > -units ? "-" : "", amount / units);
    if (amount % units)
        buf_printf(out, ".%02d", (int)llabs(amount % units));
}

static void put_salary(struct buf *out, const Torg__V1__Salary *salary)
{
    const ProtobufCEnumValue *period = protobuf_c_enum_descriptor_get_value(
        &torg__v1__salary__period__descriptor, (int)salary->period);

    if (salary->min)
        put_price(out, "salary_min", salary->min, salary->currency);
    if (salary->max)
        put_price(out, "salary_max", salary->max, salary->currency);
    put_text(out, "salary_currency", salary->currency);
    put_text(out, "salary_period", period ? period->name : "");
}

static void put_offer(struct buf *out, const Torg__V1__FoundOffer *offer)
{
    buf_put_text(out, "{\"id\":");
    json_put_text(out, bytes_of(offer->id));
    put_text(out, "title", offer->title);
    if (offer->price) {
        put_price(out, "price", offer->price->amount, offer->price->currency);
        put_text(out, "currency", offer->price->currency);
    }
    if (offer->salary)
        put_salary(out, offer->salary);
    put_text(out, "category", offer->category);
    put_text(out, "place", offer->place);
    put_text(out, "seller", offer->seller);
    put_text(out, "photo", offer->photo);
    if (offer->_distance_m_case)
        buf_printf(out, ",\"distance_m\":%.0f", offer->distance_m);
    if (offer->create_time) {
        buf_put_text(out, ",\"created\":");
        json_put_timestamp(out, offer->create_time->seconds, offer->create_time->nanos);
    }
    if (offer->score > 0) {
        buf_put_text(out, ",\"_score\":");
        json_put_float(out, offer->score);
    }
    put_text(out, "_title_marked", offer->title_marked);
    buf_put_byte(out, '}');
}

static void put_values(struct buf *out, const Torg__V1__SearchFilter *filter)
{
    for (size_t i = 0; i < filter->n_values; i++) {
        buf_put_text(out, i ? ",{\"id\":" : "{\"id\":");
        json_put_text(out, bytes_of(filter->values[i]->id));
        put_text(out, "name", filter->values[i]->name);
        buf_printf(out, ",\"count\":%" PRIu64 "}", filter->values[i]->count);
    }
}

static void put_limit(struct buf *out, const char *name, const Torg__V1__SearchFilter *filter,
                      const char *value)
{
    double number;

    if (is_money(filter->id) && json_double(bytes_of(value), &number)) {
        put_price(out, name, (int64_t)number, filter->unit);
        return;
    }
    if (json_double(bytes_of(value), &number))
        buf_printf(out, ",\"%s\":%s", name, value);
    else
        put_text(out, name, value);
}

static void put_facets(struct buf *out, const Torg__V1__SearchOffersResponse *response)
{
    buf_put_text(out, ",\"categories\":[");
    for (size_t i = 0; i < response->n_categories; i++) {
        const Torg__V1__FoundCategory *one = response->categories[i];

        buf_put_text(out, i ? ",{\"id\":" : "{\"id\":");
        json_put_text(out, bytes_of(one->id));
        put_text(out, "name", one->name);
        put_text(out, "parent", one->parent);
        buf_printf(out, ",\"count\":%" PRIu64 "}", one->count);
    }
    buf_put_text(out, "],\"filters\":[");
    for (size_t i = 0; i < response->n_filters; i++) {
        const Torg__V1__SearchFilter *one = response->filters[i];

        buf_put_text(out, i ? ",{\"id\":" : "{\"id\":");
        json_put_text(out, bytes_of(one->id));
        put_text(out, "name", one->name);
        put_text(out, "unit", one->unit);
        put_limit(out, "min", one, one->min);
        put_limit(out, "max", one, one->max);
        buf_put_text(out, ",\"values\":[");
        put_values(out, one);
        buf_put_text(out, "]}");
    }
    buf_put_byte(out, ']');
}

static void write_answer(const Torg__V1__SearchOffersResponse *response, bool has_facets,
                         int64_t took_us, struct buf *out)
{
    buf_printf(out, "{\"total\":%" PRIu64 ",\"offers\":[", response->total);
    for (size_t i = 0; i < response->n_offers; i++) {
        if (i)
            buf_put_byte(out, ',');
        put_offer(out, response->offers[i]);
    }
    buf_put_byte(out, ']');
    if (has_facets)
        put_facets(out, response);
    if (response->corrected)
        put_text(out, "corrected", response->corrected->corrected);
    if (response->cursor.len) {
        buf_put_text(out, ",\"cursor\":\"");
        text_put_base64_url(out, bytes_make(response->cursor.data, response->cursor.len));
        buf_put_byte(out, '"');
    }
    if (response->is_partial)
        buf_put_text(out, ",\"partial\":true");
    if (response->old_seconds)
        buf_printf(out, ",\"old_seconds\":%" PRIu64, response->old_seconds);
    buf_printf(out, ",\"ms\":%.3f}\n", (double)took_us / 1000);
}

static int search_plain(struct call *call, const struct rest_request *request,
                        struct rest_answer *answer, struct err *err)
{
    const struct search *search = call_context(call);
    struct arena *arena = call_arena(call);
    int64_t began_us = clock_mono_us(search->clock);
    struct catalog *catalog = search->catalog(search->catalog_arg);
    struct plain_offers plain = {.arena = arena,
                                 .request = MESSAGE_NEW(search_offers_request, arena),
                                 .currency = arena_strdup(arena, catalog_currency(catalog))};
    Torg__V1__SearchOffersResponse *response = MESSAGE_NEW(search_offers_response, arena);
    int rc = 0;

    catalog_unref(catalog);
    for (size_t i = 0; i < request->parameter_count && !rc; i++)
        rc = read_one(&plain, &request->parameters[i], err);
    plain.request->only_offers = !plain.has_facets;
    rc = rc ? rc : search_offers_call(call, &plain.request->base, &response->base, err);
    if (rc && strncmp(err->text, "text: ", strlen("text: ")) == 0) { /* as this address calls it */
        struct err told = *err;

        err_set(err, rc, "q: %s", told.text + strlen("text: "));
    }
    if (rc)
        return rc;
    answer->content_type = "application/json";
    write_answer(response, plain.has_facets, clock_mono_us(search->clock) - began_us, answer->body);
    return 0;
}

/* As write_answer and the functions above it write it. */
#define FOUND_SCHEMA                                                                               \
    "{\"type\":\"object\",\"properties\":{\"total\":{\"type\":\"integer\",\"minimum\":0},"         \
    "\"offers\":{\"type\":\"array\",\"items\":{\"type\":\"object\",\"properties\":{\"id\":{"       \
    "\"type\":\"string\"},\"title\":{\"type\":\"string\"},\"price\":{\"type\":\"number\"},"        \
    "\"currency\":{\"type\":\"string\"},\"salary_min\":{\"type\":\"number\"},\"salary_max\":{"     \
    "\"type\":\"number\"},\"salary_currency\":{\"type\":\"string\"},\"salary_period\":{"           \
    "\"type\":\"string\"},\"category\":{\"type\":\"string\"},\"place\":{\"type\":\"string\"},"     \
    "\"seller\":{\"type\":\"string\"},\"photo\":{\"type\":\"string\"},\"distance_m\":{"            \
    "\"type\":\"number\"},\"created\":{\"type\":\"string\",\"format\":\"date-time\"},"             \
    "\"_score\":{\"type\":\"number\"},\"_title_marked\":{\"type\":\"string\"}},\"required\":"      \
    "[\"id\"]}},\"categories\":{\"type\":\"array\",\"items\":{\"type\":\"object\","                \
    "\"properties\":{\"id\":{\"type\":\"string\"},\"name\":{\"type\":\"string\"},\"parent\":{"     \
    "\"type\":\"string\"},\"count\":{\"type\":\"integer\",\"minimum\":0}},\"required\":"           \
    "[\"id\",\"count\"]}},\"filters\":{\"type\":\"array\",\"items\":{\"type\":\"object\","         \
    "\"properties\":{\"id\":{\"type\":\"string\"},\"name\":{\"type\":\"string\"},\"unit\":{"       \
    "\"type\":\"string\"},\"min\":{},\"max\":{},\"values\":{\"type\":\"array\",\"items\":{"        \
    "\"type\":\"object\",\"properties\":{\"id\":{\"type\":\"string\"},\"name\":{\"type\":"         \
    "\"string\"},\"count\":{\"type\":\"integer\",\"minimum\":0}},\"required\":[\"id\","            \
    "\"count\"]}}},\"required\":[\"id\",\"values\"]}},\"corrected\":{\"type\":\"string\"},"        \
    "\"cursor\":{\"type\":\"string\"},\"partial\":{\"type\":\"boolean\"},\"old_seconds\":{"        \
    "\"type\":\"integer\",\"minimum\":0},\"ms\":{\"type\":\"number\"}},\"required\":"              \
    "[\"total\",\"offers\",\"ms\"]}"

static const struct rest_field parameters[] = {
    {"q", REST_TEXT, "What a buyer typed."},
    {"category", REST_TEXT, "Its id in the catalogue."},
    {"filter", REST_TEXT, "As \"price <= 10000 AND condition = new\"."},
    {"sort",
     "{\"type\":\"string\",\"enum\":[\"best\",\"newest\",\"cheapest\",\"dearest\","
     "\"nearest\"]}",
     "The order; best unless said."},
    {"near", REST_TEXT, "LATITUDE,LONGITUDE."},
    {"limit", REST_NUMBER, "Offers answered."},
    {"offset", REST_NUMBER, "Offers skipped before them."},
    {"cursor", REST_TEXT, "Of an earlier answer: the next page."},
    {"facets", REST_FLAG, "Also answers categories and filters."},
    {"language", REST_TEXT, "Of names: ru or en."},
    {"exact", REST_FLAG, "Corrects no word."},
    {"wait", REST_TEXT, "The token of a write that has to be seen."},
    {0},
};

static const struct rest_method methods[] = {
    {.verb = "GET",
     .path = "/v1/offers/search",
     .run = search_plain,
     .flags = RPC_PUBLIC | RPC_COMPUTE,
     .about = "Searches offers: ?q=, category, filter, sort, near, limit, facets.",
     .query = parameters,
     .answer = REST_CONTENT("application/json", FOUND_SCHEMA)},
};

struct rest_service search_plain_service(struct search *search)
{
    return (struct rest_service){
        .methods = methods, .method_count = ARRAY_COUNT(methods), .context = search};
}
