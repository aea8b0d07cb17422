/* SPDX-License-Identifier: Apache-2.0 */
/*
 * feed_value.c - any bytes as a price, a coordinate, a phone number, a description: what is taken
 * keeps its bounds, and a price that was read is read the same when written plainly.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/text.h"
#include "feeds/formats/field.h"
#include "feeds/formats/html.h"
#include "feeds/formats/value.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int truth)
{
    if (!truth)
        abort();
}

static void check_price(struct bytes text)
{
    struct feed_number number;
    struct feed_number again;
    char currency[4];
    char plain[64];
    int64_t amount;
    int64_t second;

    if (feed_parse_price(text, 0, &number, currency))
        return;
    require(currency[0] == 0 || strlen(currency) == 3);
    if (!currency[0])
        memcpy(currency, "RUB", 4);
    if (strcmp(currency, "RUB") != 0 || feed_price_minor(number, currency, &amount))
        return;
    require(amount >= 0);
    snprintf(plain, sizeof(plain), "%" PRId64 ".%02d", amount / 100, (int)(amount % 100));
    require(!feed_parse_price(bytes_of(plain), 0, &again, currency));
    require(!feed_price_minor(again, "RUB", &second) && second == amount);
}

/* A number is taken whole: plainly written it is the same one, and with a letter behind it none. */
static void check_number(struct bytes text)
{
    struct feed_number number;
    struct feed_number again;
    char plain[64];

    require(feed_number_size(text) <= text.size);
    for (int is_exact = 0; is_exact < 2; is_exact++) {
        int size;

        if (feed_parse_number(text, is_exact, 0, &number))
            continue;
        require(feed_number_size(text) == text.size);
        size =
            snprintf(plain, sizeof(plain), "%0*" PRIu64, (int)number.digits + 1, number.mantissa);
        if (number.digits) {
            char *point = plain + size - number.digits;

            memmove(point + 1, point, number.digits + 1);
            *point = '.';
        }
        require(!feed_parse_number(bytes_of(plain), true, 0, &again));
        require(again.mantissa == number.mantissa && again.digits == number.digits);
        memcpy(plain + strlen(plain), "x", 2);
        require(feed_parse_number(bytes_of(plain), true, 0, &again) != NULL);
    }
}

static void check_html(struct bytes text)
{
    struct buf out = BUF_INIT(64 << 10);

    if (!text_is_utf8(text))
        return;
    feed_html_to_text(text, &out);
    require(text_is_utf8(buf_bytes(&out)));
    for (size_t i = 0; i < out.size; i++)
        require(out.data[i] >= ' ' || out.data[i] == '\n');
    buf_release(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct bytes text = feed_trim(bytes_make(data, size));
    char phone[FEED_PHONE_SIZE];
    struct bytes attribute;
    double degrees;

    check_price(text);
    check_number(text);
    check_html(text);
    if (feed_parse_degrees(text, 90, &degrees))
        require(degrees >= -90 && degrees <= 90);
    if (feed_parse_phone(text, phone))
        require(phone[0] == '+' && strlen(phone) < FEED_PHONE_SIZE);
    feed_is_web_url(text);
    feed_field_find(text, &attribute);
    return 0;
}
