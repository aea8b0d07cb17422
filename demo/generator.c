/* SPDX-License-Identifier: Apache-2.0 */
/* generator.c - see generator.h: a kind's lines worked off, then what every offer has. */
#include "demo/generator.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "base/object.h"
#include "base/text.h"
#include "codec/message.h"
#include "demo/bounds.h"
#include "demo/formula.h"
#include "demo/grammar.h"
#include "demo/phrase.h"
#include "demo/seller.h"
#include "demo_offers.h"

enum {
    KOPECKS = 100,
    TITLE_TRY_COUNT = 8,
    PHOTO_COUNT_MAX = 3,
    NO_PHOTO_EVERY = 12,
    LENGTH_FIRST_MASK = 0xc0
};

/* Multiples of it fall as far from each other as they can: neighbours differ in kind. */
static const uint64_t golden = UINT64_C(0x9e3779b97f4a7c15);

enum { GENERATOR_MAGIC = OBJECT_MAGIC('g', 'e', 'n', 'r') };

struct generator {
    uint32_t magic;
    uint64_t seed;
    struct arena *arena;
    struct grammar *grammar;
};

int generator_new(uint64_t seed, struct generator **generator, struct err *err)
{
    struct generator *made = mem_zero(sizeof(*made));
    int rc;

    object_begin(made, GENERATOR_MAGIC);
    made->seed = seed;
    made->arena = arena_new();
    rc = grammar_read(bytes_make(demo_offers, demo_offers_size), made->arena, &made->grammar, err);
    if (rc) {
        generator_free(made);
        made = NULL;
    }
    *generator = made;
    return rc;
}

void generator_free(struct generator *generator)
{
    if (!generator)
        return;
    object_check(generator, GENERATOR_MAGIC);
    arena_free(generator->arena);
    object_end(generator, GENERATOR_MAGIC);
    free(generator);
}

const char *generator_main_seller(const struct generator *generator)
{
    const struct shop *shop = generator->grammar->shops;

    object_check(generator, GENERATOR_MAGIC);
    while (shop->next) /* the first of the file is the last of the list */
        shop = shop->next;
    return shop->id;
}

char *generator_external_id(uint64_t number, struct arena *arena)
{
    return arena_printf(arena, "demo-%ju", (uintmax_t)number);
}

bool generator_is_own(const char *external_id)
{
    return strncmp(external_id, "demo-", strlen("demo-")) == 0;
}

/* An offer that is being made. */
struct making {
    const struct generator *generator;
    const struct kind *kind;
    const struct category *category;
    struct arena *arena;
    struct rng rng;
    struct scope scope;
    struct seller seller;
    Torg__V1__OfferContent *content;
    bool has_price;
    double price; /* roubles */
};

static const struct kind *choose_kind(const struct generator *generator, uint64_t number)
{
    const struct grammar *grammar = generator->grammar;
    uint64_t share = (number * golden + generator->seed) >> 32;
    uint64_t place = share * grammar->kind_weight >> 32;

    for (size_t i = 0;; i++) {
        if (place < grammar->kinds[i]->weight)
            return grammar->kinds[i];
        place -= grammar->kinds[i]->weight;
    }
}

/* --- the kind's lines --- */

/* With values as they are, not their words. */
static int expand_raw(struct making *making, const char *template, const char **text,
                      struct err *err)
{
    int rc;

    making->scope.raw = true;
    rc = phrase_text(&making->scope, template, text, err);
    making->scope.raw = false;
    return rc;
}

static bool find_number(void *arg, struct bytes name, double *value)
{
    const char *text = scope_get(arg, name);
    char *end;

    if (!text || !*text)
        return false;
    *value = strtod(text, &end);
    return !*end;
}

static int work_out(struct making *making, const struct rule *rule, double *value, struct err *err)
{
    const struct formula_scope scope = {
        .rng = &making->rng, .find = find_number, .arg = &making->scope};
    int rc = formula_eval(rule->text, &scope, value, err);

    if (rc)
        return err_wrap(err, "demo/offers.grammar:%u", rule->line);
    return 0;
}

static const char *number_text(struct making *making, double value)
{
    if (fabs(value - round(value)) < 1e-6)
        return arena_printf(making->arena, "%.0f", value);
    return arena_printf(making->arena, "%.1f", value);
}

/* One of "a b*3 c"; "-" is nothing. */
static const char *pick(struct making *making, const char *list)
{
    uint64_t total = 0;
    uint64_t place = 0;

    for (int round = 0; round < 2; round++) {
        const char *at = list;

        if (round)
            place = rng_below(&making->rng, total);
        while (*at) {
            size_t size = strcspn(at, " ");
            size_t name = strcspn(at, " *");
            uint64_t weight = name < size ? strtoull(at + name + 1, NULL, 10) : 1;

            if (!round)
                total += weight;
            else if (place < weight)
                return *at == '-' && name == 1 ? ""
                                               : arena_text(making->arena, bytes_make(at, name));
            else
                place -= weight;
            at += size + strspn(at + size, " ");
        }
        if (!total)
            return "";
    }
    return "";
}

/* What is left of the price of a new one. */
static void set_condition(struct making *making, const char *condition)
{
    double worn = 1;

    if (strcmp(condition, "used") == 0)
        worn = 0.45 + (double)rng_below(&making->rng, 36) / 100;
    else if (strcmp(condition, "broken") == 0)
        worn = 0.1 + (double)rng_below(&making->rng, 16) / 100;
    scope_set(&making->scope, "cond", condition);
    scope_set(&making->scope, "worn", arena_printf(making->arena, "%.2f", worn));
    making->content->condition =
        strcmp(condition, "new") == 0      ? TORG__V1__OFFER_CONTENT__CONDITION__NEW
        : strcmp(condition, "broken") == 0 ? TORG__V1__OFFER_CONTENT__CONDITION__BROKEN
                                           : TORG__V1__OFFER_CONTENT__CONDITION__USED;
}

/* "256 gb": the number and its unit. */
static void set_decimal(struct making *making, Torg__V1__AttributeValue *value, const char *text)
{
    size_t size = strcspn(text, " ");

    value->value_case = TORG__V1__ATTRIBUTE_VALUE__VALUE_DECIMAL;
    value->decimal = arena_text(making->arena, bytes_make(text, size));
    if (text[size])
        value->unit = arena_strdup(making->arena, text + size + 1);
}

/* "a,b" or "a+b". */
static void set_options(struct making *making, Torg__V1__AttributeValue *value, const char *text)
{
    value->options = arena_array(making->arena, strlen(text) / 2 + 1, sizeof(char *));
    while (*text) {
        size_t size = strcspn(text, ",+ ");

        if (size)
            value->options[value->n_options++] = arena_text(making->arena, bytes_make(text, size));
        text += size + strspn(text + size, ",+ ");
    }
}

static int set_attribute(struct making *making, const struct rule *rule, const char *text,
                         struct err *err)
{
    const struct attribute *attribute = attribute_find(making->category, rule->name);
    Torg__V1__OfferContent *content = making->content;
    Torg__V1__AttributeValue *value = MESSAGE_NEW(attribute_value, making->arena);
    int64_t number = 0;

    if (!attribute)
        return err_set(err, ERR_INVALID, "demo/offers.grammar:%u: %s has no attribute %s",
                       rule->line, making->category->id, rule->name);
    value->attribute_id = (char *)attribute->id;
    if ((attribute->type == TORG__V1__ATTRIBUTE__TYPE__INTEGER ||
         attribute->type == TORG__V1__ATTRIBUTE__TYPE__YEAR) &&
        !text_to_i64(bytes_of(text), &number))
        return err_set(err, ERR_INVALID, "demo/offers.grammar:%u: \"%.60s\" is not a whole number",
                       rule->line, text);
    switch (attribute->type) {
    case TORG__V1__ATTRIBUTE__TYPE__TEXT:
        value->value_case = TORG__V1__ATTRIBUTE_VALUE__VALUE_TEXT;
        value->text = (char *)text;
        break;
    case TORG__V1__ATTRIBUTE__TYPE__INTEGER:
        value->value_case = TORG__V1__ATTRIBUTE_VALUE__VALUE_INTEGER;
        value->integer = number;
        break;
    case TORG__V1__ATTRIBUTE__TYPE__YEAR:
        value->value_case = TORG__V1__ATTRIBUTE_VALUE__VALUE_YEAR;
        value->year = (int32_t)number;
        break;
    case TORG__V1__ATTRIBUTE__TYPE__FLAG:
        value->value_case = TORG__V1__ATTRIBUTE_VALUE__VALUE_FLAG;
        value->flag = strcmp(text, "yes") == 0;
        break;
    case TORG__V1__ATTRIBUTE__TYPE__DECIMAL:
        set_decimal(making, value, text);
        break;
    default:
        set_options(making, value, text);
        break;
    }
    content->attributes[content->n_attributes++] = value;
    return 0;
}

static int follow(struct making *making, const struct rule *rule, struct err *err)
{
    const char *text = NULL;
    double number;
    int rc;

    switch (rule->type) {
    case RULE_NUM:
        rc = work_out(making, rule, &number, err);
        if (!rc)
            scope_set(&making->scope, rule->name, number_text(making, number));
        return rc;
    case RULE_PRICE:
        making->has_price = true;
        return work_out(making, rule, &making->price, err);
    default:
        break;
    }
    rc = expand_raw(making, rule->text, &text, err);
    if (rc)
        return err_wrap(err, "demo/offers.grammar:%u", rule->line);
    if (rule->type == RULE_ATTRIBUTE)
        return *text ? set_attribute(making, rule, text, err) : 0;
    if (rule->type == RULE_CONDITION)
        set_condition(making, pick(making, text));
    else
        scope_set(&making->scope, rule->name, rule->type == RULE_PICK ? pick(making, text) : text);
    return 0;
}

static int follow_all(struct making *making, struct err *err)
{
    const struct kind *kind = making->kind;
    int rc = 0;

    making->content->attributes =
        arena_array(making->arena, kind->rule_count, sizeof(making->content->attributes[0]));
    for (size_t i = 0; i < kind->rule_count && !rc; i++)
        rc = follow(making, &kind->rules[i], err);
    return rc;
}

/* --- what every offer has --- */

static size_t length_of(const char *text)
{
    size_t length = 0;

    for (; *text; text++)
        length += ((unsigned char)*text & LENGTH_FIRST_MASK) != 0x80;
    return length;
}

/* A title that is too long for the category is said otherwise. */
static int write_title(struct making *making, struct err *err)
{
    const char *text;

    for (int i = 0; i < TITLE_TRY_COUNT; i++) {
        int rc = phrase_say(&making->scope, "title", &text, err);

        if (rc)
            return rc;
        making->content->title = phrase_tidy(text, making->arena);
        if (length_of(making->content->title) <= making->category->policy.title_max)
            return 0;
    }
    return err_set(err, ERR_INVALID, "kind %s: \"%s\" is too long for a title", making->kind->name,
                   making->content->title);
}

static int write_texts(struct making *making, struct err *err)
{
    const char *text;
    int rc = write_title(making, err);

    if (!rc)
        rc = phrase_say(&making->scope, "text", &text, err);
    if (!rc)
        making->content->description = phrase_tidy(text, making->arena);
    return rc;
}

int64_t generator_round_price(double price, bool is_shop)
{
    static const struct {
        double below;
        double step;
    } steps[] = {{300, 10},     {1000, 50},      {10000, 100},
                 {100000, 500}, {1000000, 5000}, {10000000, 50000}};
    double step = 100000;

    for (size_t i = 0; i < ARRAY_COUNT(steps); i++) {
        if (price < steps[i].below) {
            step = steps[i].step;
            break;
        }
    }
    if (price <= 0)
        return 0;
    if (is_shop && price >= 1000 && price < 300000)
        return (int64_t)(fmax(round(price / 500) * 500, 1000) - 10);
    return (int64_t)fmax(round(price / step) * step, step);
}

static bool has_filter(const struct making *making, Torg__V1__Category__Filter filter)
{
    return category_has_filter(making->category, filter);
}

/* Of a job the price is what it pays; a few that look for one want it by the shift or the hour. */
static void write_salary(struct making *making)
{
    static const struct {
        Torg__V1__Salary__Period period;
        double share; /* of a month */
    } periods[] = {{TORG__V1__SALARY__PERIOD__MONTH, 1},
                   {TORG__V1__SALARY__PERIOD__SHIFT, 1.0 / 15},
                   {TORG__V1__SALARY__PERIOD__HOUR, 1.0 / 165}};
    bool is_wanted = strncmp(making->category->id, "resumes", strlen("resumes")) == 0;
    uint64_t dice = rng_below(&making->rng, 10);
    size_t place = is_wanted && dice < 3 ? 1 + dice % 2 : 0;
    double pay = making->price * periods[place].share;
    Torg__V1__Salary *salary = MESSAGE_NEW(salary, making->arena);

    salary->min = generator_round_price(pay, false) * KOPECKS;
    if (!is_wanted && dice < 5)
        salary->max = generator_round_price(pay * 1.4, false) * KOPECKS;
    salary->currency = arena_strdup(making->arena, "RUB");
    salary->period = periods[place].period;
    making->content->salary = salary;
}

/* What some categories have beside the price and the condition. */
static void write_special(struct making *making)
{
    Torg__V1__OfferContent *content = making->content;
    uint64_t dice = rng_below(&making->rng, 100);

    if (has_filter(making, TORG__V1__CATEGORY__FILTER__DELIVERY))
        content->delivery = dice < (making->seller.shop ? 85 : 40);
    if (has_filter(making, TORG__V1__CATEGORY__FILTER__EXCHANGE))
        content->exchange = !making->seller.shop && dice % 5 == 0;
    if (has_filter(making, TORG__V1__CATEGORY__FILTER__SELLER_KIND))
        content->seller_kind = making->seller.shop ? TORG__V1__OFFER_CONTENT__SELLER_KIND__BUSINESS
                                                   : TORG__V1__OFFER_CONTENT__SELLER_KIND__PRIVATE;
    if (making->has_price && has_filter(making, TORG__V1__CATEGORY__FILTER__SALARY))
        write_salary(making);
}

/* Goods of shops cost 990; wages and rents do not. */
static void write_price(struct making *making)
{
    Torg__V1__OfferContent *content = making->content;
    bool is_shop = making->seller.shop && has_filter(making, TORG__V1__CATEGORY__FILTER__CONDITION);

    if (!making->has_price || making->category->policy.price == TORG__V1__POLICY__PRICE__FORBIDDEN)
        return;
    content->price = MESSAGE_NEW(price, making->arena);
    content->price->amount = generator_round_price(making->price, is_shop) * KOPECKS;
    content->price->currency = arena_strdup(making->arena, "RUB");
}

static int write_photos(struct making *making, struct err *err)
{
    Torg__V1__OfferContent *content = making->content;
    const struct policy *policy = &making->category->policy;
    const char *color = scope_get(&making->scope, bytes_of("color"));
    size_t count = 1 + rng_below(&making->rng, PHOTO_COUNT_MAX);
    uint64_t first = rng_below(&making->rng, DEMO_PICTURE_VARIANT_COUNT);
    const char *picture;
    int rc;

    rc = expand_raw(making, making->kind->picture, &picture, err);
    if (rc)
        return rc;
    if (!policy->photos_min && rng_below(&making->rng, NO_PHOTO_EVERY) == 0)
        count = 0;
    if (count < policy->photos_min)
        count = policy->photos_min;
    if (count > policy->photos_max)
        count = policy->photos_max;
    content->photos = arena_array(making->arena, count + 1, sizeof(content->photos[0]));
    for (size_t i = 0; i < count; i++) {
        Torg__V1__Photo *photo = MESSAGE_NEW(photo, making->arena);

        photo->source_url = arena_printf(making->arena, DEMO_PHOTO_PREFIX "%s/%s/%ju", picture,
                                         color && *color ? color : "any",
                                         (uintmax_t)((first + i) % DEMO_PICTURE_VARIANT_COUNT));
        content->photos[content->n_photos++] = photo;
    }
    return 0;
}

static void write_place(struct making *making)
{
    Torg__V1__OfferContent *content = making->content;
    const struct seller *seller = &making->seller;

    content->address = MESSAGE_NEW(address, making->arena);
    content->address->text = (char *)seller->place;
    content->address->point = MESSAGE_NEW(geo_point, making->arena);
    content->address->point->latitude = seller->latitude;
    content->address->point->longitude = seller->longitude;
    content->contacts = MESSAGE_NEW(contacts, making->arena);
    content->contacts->name = (char *)seller->name;
    content->contacts->phones = arena_array(making->arena, 1, sizeof(char *));
    content->contacts->phones[content->contacts->n_phones++] = (char *)seller->phone;
}

/* Draws the row; the category may follow from it. */
static int choose_row(struct making *making, const struct catalog *catalog, struct err *err)
{
    const struct kind *kind = making->kind;
    const struct row *row = &kind->rows[rng_below(&making->rng, kind->row_count)];
    const char *category;
    int rc;

    for (size_t i = 0; i < kind->column_count; i++)
        scope_set(&making->scope, kind->columns[i], row->values[i]);
    rc = expand_raw(making, kind->category, &category, err);
    if (rc)
        return rc;
    making->category = category_find(catalog, category);
    if (!making->category)
        return err_set(err, ERR_INVALID, "the catalogue has no category %s", category);
    making->content->category = (char *)making->category->id;
    return 0;
}

static void begin(struct making *making, uint64_t number)
{
    const struct kind *kind = making->kind;
    bool english = rng_below(&making->rng, 100) < kind->english_percent;
    bool by_shop = kind->shop_count && rng_below(&making->rng, 100) < kind->shop_percent;
    const struct shop *shop =
        by_shop ? kind->shops[rng_below(&making->rng, kind->shop_count)] : NULL;

    making->scope = (struct scope){.grammar = making->generator->grammar,
                                   .kind = kind,
                                   .arena = making->arena,
                                   .rng = &making->rng,
                                   .language = english ? LANGUAGE_EN : LANGUAGE_RU};
    making->seller = seller_choose(&making->scope, shop, making->generator->seed, number);
    scope_set(&making->scope, "seller", shop ? "shop" : "person");
    scope_set(&making->scope, "sex", making->seller.sex);
    scope_set(&making->scope, "city", making->seller.city);
    scope_set(&making->scope, "cond", ""); /* asked for by common lists; kinds may say more */
    scope_set(&making->scope, "heavy", "");
    making->content = MESSAGE_NEW(offer_content, making->arena);
    making->content->external_id = generator_external_id(number, making->arena);
}

int generator_make(const struct generator *generator, const struct catalog *catalog,
                   uint64_t number, struct arena *arena, struct made_offer *offer, struct err *err)
{
    struct making making = {
        .generator = generator,
        .kind = choose_kind(generator, number),
        .arena = arena,
        .rng = rng_seeded(hash64_seeded(bytes_make(&number, sizeof(number)), generator->seed))};
    int rc;

    object_check(generator, GENERATOR_MAGIC);
    begin(&making, number);
    rc = choose_row(&making, catalog, err);
    if (!rc)
        rc = follow_all(&making, err);
    if (!rc)
        rc = write_texts(&making, err);
    if (!rc)
        rc = write_photos(&making, err);
    if (rc)
        return rc;
    write_price(&making);
    write_place(&making);
    write_special(&making);
    if (!category_has_filter(making.category, TORG__V1__CATEGORY__FILTER__CONDITION))
        making.content->condition = TORG__V1__OFFER_CONTENT__CONDITION__CONDITION_UNSPECIFIED;
    *offer = (struct made_offer){.kind = making.kind->name,
                                 .seller = making.seller.id,
                                 .language = making.scope.language,
                                 .content = making.content};
    return 0;
}
