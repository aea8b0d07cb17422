/* SPDX-License-Identifier: Apache-2.0 */
/* special.c - see special.h. */
#include "feeds/mapping/special.h"

#include <string.h>

#include "base/memory.h"
#include "codec/message.h"
#include "feeds/formats/value.h"

#define FILTER(name) TORG__V1__CATEGORY__FILTER__##name
#define PERIOD(name) TORG__V1__SALARY__PERIOD__##name

enum special { DELIVERY, EXCHANGE, SELLER_KIND, SALARY_MIN, SALARY_MAX, SALARY_PERIOD };

static const struct {
    const char *word; /* folded */
    enum special field;
    Torg__V1__Category__Filter filter;
} names[] = {
    {"delivery", DELIVERY, FILTER(DELIVERY)},
    {"доставка", DELIVERY, FILTER(DELIVERY)},
    {"exchange", EXCHANGE, FILTER(EXCHANGE)},
    {"обмен", EXCHANGE, FILTER(EXCHANGE)},
    {"sellerkind", SELLER_KIND, FILTER(SELLER_KIND)},
    {"продавец", SELLER_KIND, FILTER(SELLER_KIND)},
    {"salary", SALARY_MIN, FILTER(SALARY)},
    {"salarymin", SALARY_MIN, FILTER(SALARY)},
    {"salaryfrom", SALARY_MIN, FILTER(SALARY)},
    {"зарплата", SALARY_MIN, FILTER(SALARY)},
    {"зарплатаот", SALARY_MIN, FILTER(SALARY)},
    {"salarymax", SALARY_MAX, FILTER(SALARY)},
    {"salaryto", SALARY_MAX, FILTER(SALARY)},
    {"зарплатадо", SALARY_MAX, FILTER(SALARY)},
    {"salaryperiod", SALARY_PERIOD, FILTER(SALARY)},
    {"периодоплаты", SALARY_PERIOD, FILTER(SALARY)},
};

/* The word's place in the list, in which two follow each other for each value; false: none. */
static bool find_word(struct bytes text, const char *const *words, size_t count, int *value)
{
    struct feed_word word;

    if (!feed_fold(text, &word))
        return false;
    for (size_t i = 0; i < count; i++) {
        if (strcmp(words[i], word.text) == 0) {
            *value = (int)(i / 2) + 1;
            return true;
        }
    }
    return false;
}

static Torg__V1__Salary *salary_of(const struct feed_row *row, struct arena *arena,
                                   Torg__V1__OfferContent *content)
{
    if (!content->salary) {
        content->salary = MESSAGE_NEW(salary, arena);
        content->salary->currency = arena_strdup(arena, *row->currency ? row->currency : "RUB");
        content->salary->period = PERIOD(MONTH);
    }
    return content->salary;
}

/* "80 000", "80 000 руб." */
static bool take_pay(const struct feed_row *row, struct bytes text, Torg__V1__Salary *salary,
                     struct arena *arena, int64_t *amount)
{
    struct feed_number number;
    char currency[4];

    if (feed_parse_price(text, row->decimal, &number, currency))
        return false;
    if (*currency)
        salary->currency = arena_strdup(arena, currency);
    return !feed_price_minor(number, salary->currency, amount);
}

static bool read_special(const struct feed_row *row, enum special field, struct bytes text,
                         struct arena *arena, Torg__V1__OfferContent *content)
{
    static const char *const kinds[] = {"private", "частноелицо", "business", "компания"};
    static const char *const periods[] = {"hour",   "час",   "shift", "смена", "week",
                                          "неделя", "month", "месяц", "year",  "год"};
    Torg__V1__Salary *salary;
    bool flag;
    int value;

    switch (field) {
    case DELIVERY:
    case EXCHANGE:
        if (!feed_parse_flag(text, &flag))
            return false;
        *(field == DELIVERY ? &content->delivery : &content->exchange) = flag;
        return true;
    case SELLER_KIND:
        if (!find_word(text, kinds, ARRAY_COUNT(kinds), &value))
            return false;
        content->seller_kind = (Torg__V1__OfferContent__SellerKind)value;
        return true;
    case SALARY_PERIOD:
        if (!find_word(text, periods, ARRAY_COUNT(periods), &value))
            return false;
        salary_of(row, arena, content)->period = (Torg__V1__Salary__Period)value;
        return true;
    default:
        salary = salary_of(row, arena, content);
        return take_pay(row, text, salary, arena,
                        field == SALARY_MIN ? &salary->min : &salary->max);
    }
}

bool feed_special_take(const struct feed_row *row, const struct feed_attribute *given,
                       const struct category *category, struct arena *arena,
                       Torg__V1__OfferContent *content, struct violations *notes)
{
    struct feed_word word;
    size_t i = 0;

    if (!feed_fold(given->name, &word))
        return false;
    while (i < ARRAY_COUNT(names) && strcmp(names[i].word, word.text) != 0)
        i++;
    if (i == ARRAY_COUNT(names))
        return false;
    if (category_has_filter(category, names[i].filter) &&
        !read_special(row, names[i].field, given->value, arena, content))
        violations_add(notes, arena_printf(arena, "attributes.%s", names[i].word),
                       "\"%.*s\" is not known and left out", BYTES_ARG(feed_shown(given->value)));
    return true;
}

void feed_special_finish(const struct category *category, struct arena *arena,
                         Torg__V1__OfferContent *content)
{
    if (content->salary && !content->salary->min && !content->salary->max)
        content->salary = NULL; /* only a period */
    if (!content->price || !category_has_filter(category, FILTER(SALARY)) ||
        category->policy.price != TORG__V1__POLICY__PRICE__FORBIDDEN)
        return;
    if (!content->salary) {
        content->salary = MESSAGE_NEW(salary, arena);
        content->salary->min = content->price->amount;
        content->salary->currency = content->price->currency;
        content->salary->period = PERIOD(MONTH);
    }
    content->price = NULL;
}
