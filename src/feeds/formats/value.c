/* SPDX-License-Identifier: Apache-2.0 */
/* value.c - see value.h. */
#include "feeds/formats/value.h"

#include <assert.h>
#include <strings.h>

#include "base/memory.h"
#include "feeds/bounds.h"

enum { PRICE_DIGITS_MAX = 15, PRICE_GROUP_MAX = 8, DEGREE_DIGITS_MAX = 15, SHOWN_SIZE_MAX = 60 };

struct choice {
    const char *word; /* folded */
    int value;
};

/* U+00A0, U+2007, U+2009, U+202F, U+FEFF: what spreadsheets put between thousands. */
static size_t wide_blank_size(struct bytes text)
{
    static const char *const blanks[] = {"\xc2\xa0", "\xe2\x80\x87", "\xe2\x80\x89", "\xe2\x80\xaf",
                                         "\xef\xbb\xbf"};
    size_t i;

    for (i = 0; i < ARRAY_COUNT(blanks); i++) {
        if (bytes_begin(text, bytes_of(blanks[i])))
            return strlen(blanks[i]);
    }
    return 0;
}

size_t feed_blank_size(struct bytes text)
{
    if (text.size == 0)
        return 0;
    if (text.data[0] <= ' ' || text.data[0] == 0x7f)
        return 1;
    if (text.data[0] == 0xc2 && text.size > 1 && text.data[1] < 0xa0)
        return 2; /* U+0080 to U+009F: control characters */
    return text.data[0] < 0xc2 ? 0 : wide_blank_size(text);
}

static size_t closing_blank_size(struct bytes text)
{
    size_t size;

    for (size = 1; size <= 3 && size <= text.size; size++) {
        if (feed_blank_size(bytes_skip(text, text.size - size)) == size)
            return size;
    }
    return 0;
}

struct bytes feed_trim(struct bytes text)
{
    size_t blank = feed_blank_size(text);

    while (blank) {
        text = bytes_skip(text, blank);
        blank = feed_blank_size(text);
    }
    blank = closing_blank_size(text);
    while (blank) {
        text.size -= blank;
        blank = closing_blank_size(text);
    }
    return text;
}

struct bytes feed_shown(struct bytes text)
{
    if (text.size <= SHOWN_SIZE_MAX)
        return text;
    text.size = SHOWN_SIZE_MAX;
    while (text.size && (text.data[text.size] & 0xc0) == 0x80)
        text.size--;
    return text;
}

/* One character of a word, lowered; how many bytes of the text it was. */
static size_t fold_one(struct bytes text, char out[2], size_t *out_size)
{
    uint8_t a = text.data[0];
    uint8_t b = text.size > 1 ? text.data[1] : 0;

    *out_size = 2;
    if (a == 0xd0 && b >= 0x90 && b <= 0x9f) { /* А–П */
        out[0] = (char)0xd0;
        out[1] = (char)(b + 0x20);
        return 2;
    }
    if (a == 0xd0 && b >= 0xa0 && b <= 0xaf) { /* Р–Я */
        out[0] = (char)0xd1;
        out[1] = (char)(b - 0x20);
        return 2;
    }
    if ((a == 0xd0 && b == 0x81) || (a == 0xd1 && b == 0x91)) { /* Ё ё */
        out[0] = (char)0xd0;
        out[1] = (char)0xb5;
        return 2;
    }
    *out_size = 1;
    out[0] = (char)(a >= 'A' && a <= 'Z' ? a + 0x20 : a);
    return 1;
}

bool feed_fold(struct bytes text, struct feed_word *word)
{
    char folded[2];
    size_t size;

    word->size = 0;
    while (text.size) {
        size_t skip = feed_blank_size(text);

        if (skip == 0 && strchr("-_.:\"", text.data[0]))
            skip = 1;
        if (skip == 0) {
            skip = fold_one(text, folded, &size);
            if (word->size + size > FEED_WORD_SIZE_MAX) {
                word->size = 0;
                word->text[0] = 0;
                return false;
            }
            memcpy(word->text + word->size, folded, size);
            word->size += size;
        }
        text = bytes_skip(text, skip);
    }
    word->text[word->size] = 0;
    return true;
}

static bool choose(struct bytes text, const struct choice *choices, size_t count, int *value)
{
    struct feed_word word;
    size_t i;

    if (!feed_fold(text, &word))
        return false;
    for (i = 0; i < count; i++) {
        if (strcmp(choices[i].word, word.text) == 0) {
            *value = choices[i].value;
            return true;
        }
    }
    return false;
}

bool feed_parse_flag(struct bytes text, bool *flag)
{
    static const struct choice choices[] = {
        {"true", 1},
        {"1", 1},
        {"yes", 1},
        {"y", 1},
        {"да", 1},
        {"есть", 1},
        {"+", 1},
        {"instock", 1},
        {"available", 1},
        {"вналичии", 1},
        {"истина", 1},
        {"false", 0},
        {"0", 0},
        {"no", 0},
        {"n", 0},
        {"нет", 0},
        {"outofstock", 0},
        {"ложь", 0},
        {"нетвналичии", 0},
        {"unavailable", 0},
        {"preorder", 1},
        {"backorder", 1},
        {"availablefororder", 1},
        {"discontinued", 0},
        {"deleted", 1},
        {"удалено", 1},
        {"удален", 1},
    };
    int value;

    if (!choose(text, choices, ARRAY_COUNT(choices), &value))
        return false;
    *flag = value != 0;
    return true;
}

static const struct choice conditions[] = {
    {"new", FEED_CONDITION_NEW},
    {"новое", FEED_CONDITION_NEW},
    {"новый", FEED_CONDITION_NEW},
    {"новая", FEED_CONDITION_NEW},
    {"новые", FEED_CONDITION_NEW},
    {"новыйсбиркой", FEED_CONDITION_NEW},
    {"новоесбиркой", FEED_CONDITION_NEW},
    {"новаясбиркой", FEED_CONDITION_NEW},
    {"новыесбиркой", FEED_CONDITION_NEW},
    {"brandnew", FEED_CONDITION_NEW},
    {"newwithtags", FEED_CONDITION_NEW},
    {"newinbox", FEED_CONDITION_NEW},
    {"used", FEED_CONDITION_USED},
    {"preowned", FEED_CONDITION_USED},
    {"likenew", FEED_CONDITION_USED},
    {"asnew", FEED_CONDITION_USED},
    {"usedlikenew", FEED_CONDITION_USED},
    {"perfect", FEED_CONDITION_USED},
    {"excellent", FEED_CONDITION_USED},
    {"usedexcellent", FEED_CONDITION_USED},
    {"verygood", FEED_CONDITION_USED},
    {"good", FEED_CONDITION_USED},
    {"usedgood", FEED_CONDITION_USED},
    {"fair", FEED_CONDITION_USED},
    {"usedfair", FEED_CONDITION_USED},
    {"acceptable", FEED_CONDITION_USED},
    {"secondhand", FEED_CONDITION_USED},
    {"openbox", FEED_CONDITION_USED},
    {"showcasesample", FEED_CONDITION_USED},
    {"reduction", FEED_CONDITION_USED},
    {"refurbished", FEED_CONDITION_USED},
    {"б/у", FEED_CONDITION_USED},
    {"бу", FEED_CONDITION_USED},
    {"подержанный", FEED_CONDITION_USED},
    {"подержанное", FEED_CONDITION_USED},
    {"подержанная", FEED_CONDITION_USED},
    {"подержанные", FEED_CONDITION_USED},
    {"бывшийвупотреблении", FEED_CONDITION_USED},
    {"какновый", FEED_CONDITION_USED},
    {"какновое", FEED_CONDITION_USED},
    {"какновая", FEED_CONDITION_USED},
    {"какновые", FEED_CONDITION_USED},
    {"идеальный", FEED_CONDITION_USED},
    {"идеальное", FEED_CONDITION_USED},
    {"идеальная", FEED_CONDITION_USED},
    {"идеальные", FEED_CONDITION_USED},
    {"отличный", FEED_CONDITION_USED},
    {"отличное", FEED_CONDITION_USED},
    {"отличная", FEED_CONDITION_USED},
    {"отличные", FEED_CONDITION_USED},
    {"хороший", FEED_CONDITION_USED},
    {"хорошее", FEED_CONDITION_USED},
    {"хорошая", FEED_CONDITION_USED},
    {"хорошие", FEED_CONDITION_USED},
    {"удовлетворительный", FEED_CONDITION_USED},
    {"удовлетворительное", FEED_CONDITION_USED},
    {"удовлетворительная", FEED_CONDITION_USED},
    {"удовлетворительные", FEED_CONDITION_USED},
    {"отличноесостояние", FEED_CONDITION_USED},
    {"хорошеесостояние", FEED_CONDITION_USED},
    {"идеальноесостояние", FEED_CONDITION_USED},
    {"вотличномсостоянии", FEED_CONDITION_USED},
    {"вхорошемсостоянии", FEED_CONDITION_USED},
    {"витринныйобразец", FEED_CONDITION_USED},
    {"broken", FEED_CONDITION_BROKEN},
    {"forparts", FEED_CONDITION_BROKEN},
    {"назапчасти", FEED_CONDITION_BROKEN},
    {"требуетремонта", FEED_CONDITION_BROKEN},
    {"сломано", FEED_CONDITION_BROKEN},
    {"неисправен", FEED_CONDITION_BROKEN},
    {"неисправна", FEED_CONDITION_BROKEN},
    {"неисправно", FEED_CONDITION_BROKEN},
    {"неисправный", FEED_CONDITION_BROKEN},
    {"неисправное", FEED_CONDITION_BROKEN},
    {"неисправная", FEED_CONDITION_BROKEN},
};

bool feed_parse_condition(struct bytes text, enum feed_condition *condition)
{
    size_t said = 0;
    int value;

    while (said < text.size && !strchr(",;(", text.data[said]))
        said++;
    if (!choose(text, conditions, ARRAY_COUNT(conditions), &value) &&
        !choose(bytes_make(text.data, said), conditions, ARRAY_COUNT(conditions), &value))
        return false; /* "б/у, без сколов" is said, too */
    *condition = (enum feed_condition)value;
    return true;
}

struct currency_word {
    const char *word; /* folded */
    const char *code;
};

bool feed_parse_currency(struct bytes text, char currency[4])
{
    static const struct currency_word words[] = {
        {"rur", "RUB"},   {"руб", "RUB"},  {"рубль", "RUB"}, {"рублей", "RUB"}, {"рубля", "RUB"},
        {"рубли", "RUB"}, {"р", "RUB"},    {"₽", "RUB"},   {"byr", "BYN"},    {"белруб", "BYN"},
        {"br", "BYN"},    {"$", "USD"},    {"долл", "USD"},  {"доллар", "USD"}, {"us$", "USD"},
        {"€", "EUR"},     {"евро", "EUR"}, {"₸", "KZT"},     {"тенге", "KZT"},  {"тг", "KZT"},
        {"₴", "UAH"},     {"грн", "UAH"},  {"сум", "UZS"},   {"сом", "KGS"},    {"£", "GBP"},
        {"¥", "CNY"},     {"юань", "CNY"}, {"rmb", "CNY"},
    };
    struct feed_word word;
    size_t i;

    if (!feed_fold(text, &word))
        return false;
    for (i = 0; i < ARRAY_COUNT(words); i++) {
        if (strcmp(words[i].word, word.text) == 0) {
            memcpy(currency, words[i].code, 4);
            return true;
        }
    }
    if (word.size != 3)
        return false;
    for (i = 0; i < 3; i++) {
        if (word.text[i] < 'a' || word.text[i] > 'z')
            return false;
        word.text[i] = (char)(word.text[i] - 0x20);
    }
    memcpy(currency, word.text, 4);
    return true;
}

static bool is_digit(uint8_t c)
{
    return c >= '0' && c <= '9';
}

/* A number taken apart at what stands between its digits. */
struct split {
    unsigned group_count;
    unsigned sizes[PRICE_GROUP_MAX];
    char between[PRICE_GROUP_MAX]; /* behind each group but the last: ' ' . , ' */
    unsigned digit_count;
    char digits[PRICE_DIGITS_MAX];
};

static size_t separator_size(struct bytes text, char *separator)
{
    size_t blank = text.data[0] >= ' ' ? feed_blank_size(text) : 0;

    *separator = blank ? ' ' : (char)text.data[0];
    if (blank)
        return blank;
    return text.data[0] == '.' || text.data[0] == ',' || text.data[0] == '\'' ? 1 : 0;
}

size_t feed_number_size(struct bytes text)
{
    size_t at = 0;
    char separator;

    while (at < text.size) {
        struct bytes rest = bytes_skip(text, at);
        size_t size = is_digit(rest.data[0]) ? 0 : separator_size(rest, &separator);

        if (size == rest.size || !is_digit(rest.data[size]) || (size && !at))
            break;
        at += size + 1;
    }
    return at;
}

static const char *split_number(struct bytes text, struct split *split)
{
    bool digit_before = false;

    while (text.size) {
        size_t size;

        if (is_digit(text.data[0])) {
            if (split->digit_count == PRICE_DIGITS_MAX)
                return "has more than 15 digits";
            split->digits[split->digit_count++] = (char)text.data[0];
            split->sizes[split->group_count - 1]++;
            digit_before = true;
            text = bytes_skip(text, 1);
            continue;
        }
        size = separator_size(text, &split->between[split->group_count - 1]);
        if (size == 0 || !digit_before || split->group_count == PRICE_GROUP_MAX)
            return "is not a number; write 1999 or 1999.50";
        digit_before = false;
        split->group_count++;
        text = bytes_skip(text, size);
    }
    return digit_before ? NULL : "is not a number; write 1999 or 1999.50";
}

/* Whether the last separator is the decimal one; a reason when that cannot be told. */
static const char *find_fraction(const struct split *split, bool is_exact, char decimal,
                                 bool *fraction)
{
    unsigned last = split->group_count - 1;
    char separator = last ? split->between[last - 1] : 0;
    unsigned same = 0;
    unsigned i;

    assert(last < PRICE_GROUP_MAX);
    *fraction = false;
    if (separator != '.' && separator != ',')
        return NULL;
    for (i = 0; i < last; i++)
        same += split->between[i] == separator;
    if (same > 1)
        return NULL;
    *fraction = !decimal || separator == decimal;
    if (decimal || (is_exact && separator == '.'))
        return NULL;
    if (last == 1 && split->sizes[1] == 3 && split->sizes[0] <= 3 && split->digits[0] != '0')
        return "could be thousands or a fraction; write 1999 or 1.99";
    return NULL;
}

static const char *check_groups(const struct split *split, unsigned count, char decimal)
{
    unsigned i;

    for (i = 1; i < count; i++) {
        if (split->sizes[i] != 3 || split->sizes[0] > 3 || split->between[i - 1] == decimal ||
            split->between[i - 1] != split->between[0])
            return "is not a number; write 1999 or 1999.50";
    }
    return NULL;
}

const char *feed_parse_number(struct bytes text, bool is_exact, char decimal,
                              struct feed_number *number)
{
    struct split split = {.group_count = 1};
    bool fraction = false;
    const char *reason = split_number(text, &split);
    unsigned i;

    if (!reason)
        reason = find_fraction(&split, is_exact, decimal, &fraction);
    if (!reason)
        reason = check_groups(&split, split.group_count - fraction, decimal);
    if (reason)
        return reason;
    *number = (struct feed_number){.digits = fraction ? split.sizes[split.group_count - 1] : 0};
    for (i = 0; i < split.digit_count; i++)
        number->mantissa = number->mantissa * 10 + (uint64_t)(split.digits[i] - '0');
    while (number->digits && number->mantissa % 10 == 0) {
        number->mantissa /= 10;
        number->digits--;
    }
    return NULL;
}

const char *feed_parse_price(struct bytes text, char decimal, struct feed_number *number,
                             char currency[4])
{
    size_t from = 0;
    size_t to = text.size;
    struct bytes before;
    struct bytes behind;

    currency[0] = 0;
    while (from < to && !is_digit(text.data[from]))
        from++;
    while (to > from && !is_digit(text.data[to - 1]))
        to--;
    if (from == to)
        return "is not a number; write 1999 or 1999.50";
    before = feed_trim(bytes_make(text.data, from));
    behind = feed_trim(bytes_skip(text, to));
    if (before.size && (before.data[before.size - 1] == '-' ||
                        bytes_equal_text(before, "\xe2\x88\x92"))) /* U+2212, minus */
        return "is negative";
    if (before.size && behind.size)
        return "is not a number; write 1999 or 1999.50";
    if (before.size + behind.size && !feed_parse_currency(before.size ? before : behind, currency))
        return "is not a number with a known currency; write 1999.50, or 1999.50 RUB";
    return feed_parse_number(bytes_make(text.data + from, to - from), false, decimal, number);
}

unsigned feed_currency_digits(const char currency[4])
{
    static const char none[] = "JPY KRW VND CLP ISK PYG UGX XAF XOF ";
    static const char three[] = "KWD BHD OMR TND JOD LYD IQD ";

    if (strstr(none, currency))
        return 0;
    return strstr(three, currency) ? 3 : 2;
}

void feed_number_round(struct feed_number *number, unsigned digits)
{
    bool up = false;

    for (; number->digits > digits; number->digits--) {
        up = number->mantissa % 10 >= 5;
        number->mantissa /= 10;
    }
    number->mantissa += up;
}

const char *feed_price_minor(struct feed_number number, const char currency[4], int64_t *amount)
{
    unsigned wanted = feed_currency_digits(currency);
    uint64_t value = number.mantissa; /* 15 digits at most: three more fit 64 bits */

    if (number.digits > wanted)
        return "has more digits after the point than its currency";
    for (; wanted > number.digits; wanted--)
        value *= 10;
    if (value > UINT64_C(1000000000000000))
        return "is too large";
    *amount = (int64_t)value;
    return NULL;
}

bool feed_parse_degrees(struct bytes text, double max, double *degrees)
{
    bool negative = text.size && text.data[0] == '-';
    double scale = 1;
    uint64_t mantissa = 0;
    bool fraction = false;
    unsigned count = 0;
    size_t i;

    for (i = negative; i < text.size; i++) {
        uint8_t c = text.data[i];

        if ((c == '.' || c == ',') && !fraction && count) {
            fraction = true;
            continue;
        }
        if (!is_digit(c))
            return false;
        if (++count > DEGREE_DIGITS_MAX) {
            if (!fraction)
                return false;
            continue; /* finer than an atom */
        }
        mantissa = mantissa * 10 + (c - '0');
        scale *= fraction ? 10 : 1;
    }
    if (!count || !is_digit(text.data[text.size - 1]))
        return false;
    *degrees = (negative ? -1.0 : 1.0) * ((double)mantissa / scale);
    return *degrees >= -max && *degrees <= max;
}

bool feed_parse_phone(struct bytes text, char phone[FEED_PHONE_SIZE])
{
    bool plus = text.size && text.data[0] == '+';
    char digits[FEED_PHONE_SIZE];
    size_t count = 0;

    text = bytes_skip(text, plus);
    while (text.size) {
        size_t skip = feed_blank_size(text);

        if (skip == 0) {
            if (is_digit(text.data[0])) {
                if (count == FEED_PHONE_SIZE - 2)
                    return false;
                digits[count++] = (char)text.data[0];
            } else if (!strchr("()-.", text.data[0])) {
                return false;
            }
            skip = 1;
        }
        text = bytes_skip(text, skip);
    }
    if (count < 7)
        return false;
    if (!plus && count == 11 && digits[0] == '8')
        digits[0] = '7';
    phone[0] = '+';
    memcpy(phone + 1, digits, count);
    phone[count + 1] = 0;
    return true;
}

bool feed_is_web_url(struct bytes text)
{
    size_t scheme = 0;
    size_t i;

    if (text.size > 7 && strncasecmp((const char *)text.data, "http://", 7) == 0)
        scheme = 7;
    else if (text.size > 8 && strncasecmp((const char *)text.data, "https://", 8) == 0)
        scheme = 8;
    if (!scheme || text.size > FEED_URL_SIZE_MAX || text.data[scheme] == '/')
        return false;
    for (i = 0; i < text.size; i++) {
        if (feed_blank_size(bytes_skip(text, i)) || strchr("<>\"", text.data[i]))
            return false;
    }
    return true;
}
