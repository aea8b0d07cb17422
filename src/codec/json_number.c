/* SPDX-License-Identifier: Apache-2.0 */
/* json_number.c - see json_number.h. */
#include "codec/json_number.h"

#include <assert.h>
#include <string.h>

#include "base/hash.h"

static bool is_digit(struct bytes text, size_t at)
{
    return at < text.size && text.data[at] >= '0' && text.data[at] <= '9';
}

static size_t skip_digits(struct bytes text, size_t at)
{
    while (is_digit(text, at))
        at++;
    return at;
}

static bool is_at(struct bytes text, size_t at, uint8_t a, uint8_t b)
{
    return at < text.size && (text.data[at] == a || text.data[at] == b);
}

size_t json_number_size(struct bytes text)
{
    size_t at = is_at(text, 0, '-', '-');

    if (!is_digit(text, at))
        return 0;
    at = text.data[at] == '0' ? at + 1 : skip_digits(text, at);
    if (is_at(text, at, '.', '.')) {
        if (!is_digit(text, at + 1))
            return 0;
        at = skip_digits(text, at + 1);
    }
    if (is_at(text, at, 'e', 'E')) {
        size_t begin = at + 1 + is_at(text, at + 1, '-', '+');

        at = skip_digits(text, begin);
        if (at == begin || at - begin > JSON_EXPONENT_DIGIT_COUNT_MAX)
            return 0;
    }
    return at <= JSON_NUMBER_SIZE_MAX ? at : 0;
}

static int32_t read_exponent(struct bytes text)
{
    bool negative = is_at(text, 0, '-', '-');
    int32_t value = 0;
    size_t at;

    for (at = negative || is_at(text, 0, '+', '+'); at < text.size; at++)
        value = value * 10 + (text.data[at] - '0');
    return negative ? -value : value;
}

void json_number_read(struct bytes text, struct json_number *number)
{
    bool in_fraction = false;
    size_t at;

    assert(text.size > 0 && json_number_size(text) == text.size);
    number->negative = text.data[0] == '-';
    number->exponent = 0;
    number->digit_count = 0;
    for (at = number->negative; at < text.size && !is_at(text, at, 'e', 'E'); at++) {
        if (text.data[at] == '.') {
            in_fraction = true;
            continue;
        }
        number->exponent -= in_fraction;
        if (number->digit_count || text.data[at] != '0')
            number->digits[number->digit_count++] = (uint8_t)(text.data[at] - '0');
    }
    if (at < text.size)
        number->exponent += read_exponent(bytes_skip(text, at + 1));
    while (number->digit_count && number->digits[number->digit_count - 1] == 0) {
        number->digit_count--;
        number->exponent++;
    }
    if (number->digit_count == 0) {
        number->negative = false;
        number->exponent = 0;
    }
}

static int compare_magnitude(const struct json_number *a, const struct json_number *b)
{
    int64_t high_a = (int64_t)a->exponent + a->digit_count;
    int64_t high_b = (int64_t)b->exponent + b->digit_count;

    if (!a->digit_count || !b->digit_count)
        return (a->digit_count > 0) - (b->digit_count > 0);
    if (high_a != high_b)
        return high_a < high_b ? -1 : 1;
    return bytes_compare(bytes_make(a->digits, a->digit_count),
                         bytes_make(b->digits, b->digit_count));
}

int json_number_compare(const struct json_number *a, const struct json_number *b)
{
    if (a->negative != b->negative)
        return a->negative ? -1 : 1;
    return a->negative ? compare_magnitude(b, a) : compare_magnitude(a, b);
}

uint64_t json_number_hash(const struct json_number *number)
{
    return hash64_seeded(bytes_make(number->digits, number->digit_count),
                         (uint64_t)(uint32_t)number->exponent * 2 + number->negative);
}

/* 10^power modulo m. */
static uint64_t power_of_ten(uint64_t power, uint64_t m)
{
    unsigned __int128 base = 10 % m, result = 1 % m;

    for (; power; power >>= 1) {
        if (power & 1)
            result = result * base % m;
        base = base * base % m;
    }
    return (uint64_t)result;
}

bool json_number_is_multiple(const struct json_number *number, const struct json_number *step)
{
    uint64_t m = 0;
    unsigned __int128 rest = 0;
    uint32_t i;

    assert(step->digit_count > 0 && step->digit_count <= JSON_STEP_DIGIT_COUNT_MAX);
    for (i = 0; i < step->digit_count; i++)
        m = m * 10 + step->digits[i];
    if (number->digit_count == 0)
        return true;
    if (number->exponent < step->exponent) /* its digits do not end with a zero */
        return false;
    for (i = 0; i < number->digit_count; i++)
        rest = (rest * 10 + number->digits[i]) % m;
    rest = rest * power_of_ten((uint64_t)((int64_t)number->exponent - step->exponent), m) % m;
    return rest == 0;
}
