/* SPDX-License-Identifier: Apache-2.0 */
/* found.c - see found.h. */
#include "search/asking/found.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "catalog/words.h"
#include "codec/message.h"
#include "model/bounds.h"
#include "model/offer_fields.h"
#include "query/filter/value.h"

enum { EARTH_RADIUS_M = 6371009 };

int found_leave_out_gone(const struct search *search, struct arena *arena,
                         Torg__V1__SearchOffersResponse *response, struct err *err)
{
    size_t count = 0;

    for (size_t i = 0; i < response->n_offers; i++) {
        Torg__V1__Offer *offer;
        int rc = search->fetch(search->fetch_arg, response->offers[i]->id, arena, &offer, err);

        if (rc && rc != ERR_NOT_FOUND) /* what cannot be looked up is not shown */
            return err_set(err, ERR_UNAVAILABLE,
                           "the search is unavailable at the moment: try again");
        if (!rc)
            response->offers[count++] = response->offers[i];
    }
    response->n_offers = count;
    return 0;
}

void stage_show_offers(Torg__V1__QueryStage *stage)
{
    static char *const shown[] = {
        OFFER_FIELD_TITLE,   OFFER_FIELD_PRICE,  OFFER_FIELD_AMOUNT,   OFFER_FIELD_CURRENCY,
        OFFER_FIELD_PLACE,   OFFER_FIELD_SELLER, OFFER_FIELD_CATEGORY, OFFER_FIELD_PHOTO,
        OFFER_FIELD_CREATED, OFFER_FIELD_POINT,  OFFER_FIELD_SALARY,
    };

    stage->show = (char **)shown;
    stage->n_show = ARRAY_COUNT(shown);
}

const Torg__V1__FacetAnswer *find_facet(const Torg__V1__StageAnswer *answer, const char *name)
{
    for (size_t i = 0; i < answer->n_facets; i++) {
        if (strcmp(answer->facets[i]->name, name) == 0)
            return answer->facets[i];
    }
    return NULL;
}

const char *hit_shown(const Torg__V1__Hit *hit, const char *name)
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

const char *hit_marked_word(const Torg__V1__Hit *hit, const char *name, struct arena *arena)
{
    const char *start = strstr(marked(hit, name), "<b>");
    const char *end = start ? strstr(start, "</b>") : NULL;

    if (!end)
        return NULL;
    start += strlen("<b>");
    return words_fold_name(bytes_make(start, (size_t)(end - start)), arena);
}

static Torg__V1__Price *price_of(const Torg__V1__Hit *hit, struct arena *arena)
{
    const char *currency = hit_shown(hit, OFFER_FIELD_CURRENCY);
    const char *amount = hit_shown(hit, OFFER_FIELD_PRICE);
    Torg__V1__Price *price;

    if (!*currency)
        return NULL;
    price = MESSAGE_NEW(price, arena);
    text_to_i64(bytes_of(*amount ? amount : hit_shown(hit, OFFER_FIELD_AMOUNT)), &price->amount);
    price->currency = (char *)currency;
    return price;
}

Torg__V1__Salary *salary_read(const char *text, struct arena *arena)
{
    Torg__V1__Salary *salary = MESSAGE_NEW(salary, arena);
    char currency[8], period[8] = "", name[8];
    const ProtobufCEnumValue *value;

    if (sscanf(text, "%" SCNd64 " %" SCNd64 " %7s %7s", &salary->min, &salary->max, currency,
               period) != 4)
        return NULL;
    for (size_t i = 0; i < sizeof(name); i++)
        name[i] = (char)toupper((unsigned char)period[i]);
    value =
        protobuf_c_enum_descriptor_get_value_by_name(&torg__v1__salary__period__descriptor, name);
    salary->currency = arena_strdup(arena, currency);
    salary->period = value ? (Torg__V1__Salary__Period)value->value
                           : TORG__V1__SALARY__PERIOD__PERIOD_UNSPECIFIED;
    return salary;
}

static Google__Protobuf__Timestamp *time_of(const char *text, struct arena *arena)
{
    static const struct field date = {.type = FIELD_DATE};
    Google__Protobuf__Timestamp *time;
    int64_t seconds;

    if (!value_parse(&date, bytes_of(text), false, &seconds))
        return NULL;
    time = message_new(&google__protobuf__timestamp__descriptor, arena);
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

static void put_place(const Torg__V1__GeoPoint *near, const char *point,
                      Torg__V1__FoundOffer *offer, struct arena *arena)
{
    char *end;
    double latitude = strtod(point, &end);

    if (*end != ',')
        return;
    offer->point = MESSAGE_NEW(geo_point, arena);
    offer->point->latitude = latitude;
    offer->point->longitude = strtod(end + 1, NULL);
    if (!near)
        return;
    offer->_distance_m_case = TORG__V1__FOUND_OFFER___DISTANCE_M_DISTANCE_M;
    offer->distance_m = distance(near, latitude, offer->point->longitude);
}

/* Documents of before have the key alone. */
void hit_read_photo(const Torg__V1__Hit *hit, Torg__V1__FoundOffer *offer, struct arena *arena)
{
    const char *text = hit_shown(hit, OFFER_FIELD_PHOTO);
    const char *rest = strchr(text, ' ');
    struct buf preview = BUF_INIT(PHOTO_PREVIEW_SIZE_MAX);
    const char *end = rest ? strchr(rest + 1, ' ') : NULL;

    offer->photo = arena_printf(arena, "%.*s", (int)strcspn(text, " "), text);
    if (rest && sscanf(rest, " %ux%u", &offer->photo_width, &offer->photo_height) == 2 && end &&
        text_from_base64(bytes_of(end + 1), &preview)) {
        struct bytes kept = arena_copy(arena, buf_bytes(&preview));

        offer->photo_preview.data = (uint8_t *)kept.data;
        offer->photo_preview.len = kept.size;
    }
    buf_release(&preview);
}

Torg__V1__FoundOffer *found_offer(const Torg__V1__Hit *hit, const Torg__V1__GeoPoint *near,
                                  struct arena *arena)
{
    Torg__V1__FoundOffer *offer = MESSAGE_NEW(found_offer, arena);
    const char *path = hit_shown(hit, OFFER_FIELD_CATEGORY);
    const char *last = strrchr(path, '/');

    offer->id = hit->pk;
    offer->title = (char *)hit_shown(hit, OFFER_FIELD_TITLE);
    offer->title_marked = (char *)marked(hit, OFFER_FIELD_TITLE);
    offer->fragment_marked = (char *)marked(hit, OFFER_FIELD_DESCRIPTION);
    offer->place = (char *)hit_shown(hit, OFFER_FIELD_PLACE);
    offer->category = (char *)(last ? last + 1 : path);
    hit_read_photo(hit, offer, arena);
    offer->seller = (char *)hit_shown(hit, OFFER_FIELD_SELLER);
    offer->create_time = time_of(hit_shown(hit, OFFER_FIELD_CREATED), arena);
    offer->score = hit->score;
    offer->price = price_of(hit, arena);
    offer->salary = salary_read(hit_shown(hit, OFFER_FIELD_SALARY), arena);
    put_place(near, hit_shown(hit, OFFER_FIELD_POINT), offer, arena);
    return offer;
}

/* Copies: it outlives the catalogue. */
Torg__V1__FoundCategory *found_category(const struct category *category, uint64_t count,
                                        enum language language, struct arena *arena)
{
    Torg__V1__FoundCategory *found = MESSAGE_NEW(found_category, arena);
    const struct category **path = category_path(category, arena);

    found->id = arena_strdup(arena, category->id);
    found->name = arena_strdup(arena, category->name.in[language]);
    found->parent = arena_strdup(arena, category->parent ? category->parent->id : "");
    found->count = count;
    found->path = arena_array(arena, category->depth, sizeof(found->path[0]));
    for (size_t i = 0; i + 1 < category->depth; i++)
        found->path[found->n_path++] = arena_strdup(arena, path[i]->name.in[language]);
    return found;
}

int currency_minor_units(const char *currency)
{
    static const char *const whole[] = {"JPY", "KRW", "VND", "CLP", "ISK", "XAF", "XOF", "UGX"};

    for (size_t i = 0; i < ARRAY_COUNT(whole); i++) {
        if (strcmp(currency, whole[i]) == 0)
            return 1;
    }
    return 100;
}
