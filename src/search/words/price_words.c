/* SPDX-License-Identifier: Apache-2.0 */
/* price_words.c - see price_words.h. */
#include "search/words/price_words.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "index/text/analysis.h"
#include "index/text/unit.h"

enum {
    BARE_MIN = 100,
    YEAR_MIN = 1900,
    YEAR_MAX = 2100,
    DIGIT_COUNT_MAX = 12,
    GROUPED_MAX = 1000000000, /* three more digits fit */
};

struct words {
    const char *const *list;
    size_t count, at;
};

/* Words of several parts stand before those they begin with. */
static const char *const uppers[] = {"не дороже", "до",        "дешевле", "максимум",
                                     "under",     "less than", "below",   "up to"};
static const char *const lowers[] = {"не дешевле", "от",    "дороже",   "from",
                                     "over",       "above", "more than"};
static const char *const thousands[] = {"тыс", "тысяч", "тысячи", "тр", "т.р", "к", "k"};
static const char *const currencies[] = {
    "руб",      "рублей", "рубля", "рубль", "р",    "₽",   "$",     "usd",   "dollars", "доллар",
    "долларов", "евро",   "eur",   "€",     "euro", "euros", "bucks", "тенге", "грн",     "rub"};

/* Whether the words go on so; passes them by. */
static bool accept(struct words *words, const char *text)
{
    size_t at = words->at;

    while (*text) {
        size_t size = strcspn(text, " ");

        if (at == words->count || strlen(words->list[at]) != size ||
            memcmp(words->list[at], text, size) != 0)
            return false;
        at++;
        text += size + (text[size] == ' ');
    }
    words->at = at;
    return true;
}

static bool accept_any(struct words *words, const char *const *list, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (accept(words, list[i]))
            return true;
    }
    return false;
}

static bool is_any(const char *text, const char *const *list, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(text, list[i]) == 0)
            return true;
    }
    return false;
}

static size_t digits(const char *text)
{
    return strspn(text, "0123456789");
}

struct amount {
    int64_t number;
    bool is_sure; /* it has a currency, or is in thousands */
    bool is_thousands;
};

/* What stands behind the digits, in their word: "500$", "20к", "20тыс". */
static bool read_end(const char *end, struct amount *amount)
{
    if (!*end)
        return true;
    amount->is_thousands = is_any(end, thousands, ARRAY_COUNT(thousands));
    amount->is_sure = true;
    return amount->is_thousands || is_any(end, currencies, ARRAY_COUNT(currencies));
}

/* How long a number is that may have commas before each three digits: "5,000". 0: not so. */
static size_t read_number(const char *text, int64_t *number)
{
    size_t size = digits(text);

    if (!size || size > DIGIT_COUNT_MAX)
        return 0;
    *number = strtoll(text, NULL, 10);
    if (size > 3 || *text == '0') /* "0,500" is a part of one */
        return size;
    while (text[size] == ',' && digits(text + size + 1) == 3 && *number < GROUPED_MAX) {
        *number = *number * 1000 + strtoll(text + size + 1, NULL, 10);
        size += 4;
    }
    return size;
}

/* "20000", "20 000", "$5,000", "20 тыс руб" */
static bool read_amount(struct words *words, struct amount *amount)
{
    const char *word = words->at < words->count ? words->list[words->at] : "";
    bool has_sign = *word == '$' || strncmp(word, "€", strlen("€")) == 0;
    size_t size;

    *amount = (struct amount){.is_sure = has_sign};
    word += has_sign ? (*word == '$' ? 1 : strlen("€")) : 0;
    size = read_number(word, &amount->number);
    if (!size || !read_end(word + size, amount))
        return false;
    words->at++;
    /* groups of three digits */
    while (!word[size] && size <= 3 && words->at < words->count &&
           digits(words->list[words->at]) == 3 && !words->list[words->at][3] &&
           amount->number < GROUPED_MAX) {
        amount->number = amount->number * 1000 + strtoll(words->list[words->at++], NULL, 10);
    }
    if (!amount->is_thousands && accept_any(words, thousands, ARRAY_COUNT(thousands)))
        amount->is_thousands = amount->is_sure = true;
    if (accept_any(words, currencies, ARRAY_COUNT(currencies)))
        amount->is_sure = true;
    return true;
}

/* Whether a bare number is one of money: nothing follows that is counted. */
static bool is_price(const struct words *words, const struct amount *amount)
{
    /* units beside those that the index knows */
    static const char *const units[] = {"л.с", "мес",    "лет",     "года",  "год",  "дней", "м2",
                                        "м²",  "кв",     "miles",   "sq",    "cu",   "мач",  "ма·ч",
                                        "x",   "degree", "degrees", "years", "pages"};
    const char *next = words->at < words->count ? words->list[words->at] : "";

    if (amount->is_sure)
        return true;
    return amount->number >= BARE_MIN &&
           !(amount->number >= YEAR_MIN && amount->number <= YEAR_MAX) &&
           !is_any(next, units, ARRAY_COUNT(units)) &&
           !unit_spelling(bytes_of(next), true, ANALYSIS_VERSION);
}

static int64_t in_units(const struct amount *amount)
{
    return amount->is_thousands ? amount->number * 1000 : amount->number;
}

size_t price_read(const char *const *list, size_t count, int64_t *min, int64_t *max)
{
    struct words words = {list, count, 0};
    struct amount low = {0}, high = {0};
    bool has_low = accept_any(&words, lowers, ARRAY_COUNT(lowers)), has_high;
    size_t low_end;

    *min = *max = 0;
    if (has_low && !read_amount(&words, &low))
        return 0;
    low_end = words.at;
    has_high = accept_any(&words, uppers, ARRAY_COUNT(uppers)) && read_amount(&words, &high) &&
               is_price(&words, &high) && high.number > 0;
    if (has_low && has_high && high.is_thousands && low.number < high.number)
        low.is_thousands = low.is_sure = true; /* "от 5 до 10 тыс", not "от 80 000 до 100 тыс" */
    if (!has_high)
        words.at = low_end;
    if (has_low && !(has_high && high.is_sure) && !is_price(&words, &low))
        return 0;
    if (!has_low && !has_high)
        return 0;
    *min = has_low ? in_units(&low) : 0;
    *max = has_high ? in_units(&high) : 0;
    if ((!*min && !*max) || (*max && *min > *max)) /* "от 0 руб" leaves nothing out */
        return 0;
    return words.at;
}
