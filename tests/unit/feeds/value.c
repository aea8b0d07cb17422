/* SPDX-License-Identifier: Apache-2.0 */
/* Unit tests of feeds/formats/value.h, feed_html.h and feed_field.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/memory.h"
#include "feeds/formats/field.h"
#include "feeds/formats/html.h"
#include "feeds/formats/value.h"

static void prices_are_read_as_people_write_them(void **state)
{
    static const struct {
        const char *text;
        int64_t amount; /* of the currency, RUB when none is told */
        const char *currency;
    } cases[] = {
        {"1999", 199900, ""},
        {"1999.5", 199950, ""},
        {"1 999,00", 199900, ""},
        {"1\xc2\xa0"
         "999,00",
         199900, ""},
        {"1\xe2\x80\xaf"
         "999 999",
         199999900, ""},
        {"1,999.00", 199900, ""},
        {"1.999,50", 199950, ""},
        {"1,999,000", 199900000, ""},
        {"1'999", 199900, ""},
        {"0", 0, ""},
        {"0.5", 50, ""},
        {"1999.5000", 199950, ""},
        {"1999 руб.", 199900, "RUB"},
        {"1999р", 199900, "RUB"},
        {"12 000 ₽", 1200000, "RUB"},
        {"$5", 500, "USD"},
        {"5 USD", 500, "USD"},
        {"5eur", 500, "EUR"},
        {"500 JPY", 500, "JPY"},
        {"1.234 KWD", -1, NULL}, /* still ambiguous */
        {"0.125 KWD", 125, "KWD"},
        {"9999999999999", 999999999999900, ""},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        struct feed_number number;
        char currency[4];
        int64_t amount = -1;
        const char *reason = feed_parse_price(bytes_of(cases[i].text), 0, &number, currency);

        if (!cases[i].currency) {
            assert_non_null(reason);
            continue;
        }
        if (reason)
            fail_msg("%s: %s", cases[i].text, reason);
        assert_string_equal(currency, cases[i].currency);
        reason = feed_price_minor(number, currency[0] ? currency : "RUB", &amount);
        if (reason)
            fail_msg("%s: %s", cases[i].text, reason);
        assert_int_equal(amount, cases[i].amount);
    }
}

static void nonsense_is_no_price(void **state)
{
    static const char *const cases[] = {
        "",       "free",        "-5",     "−5",        "1,999", "1.999",
        "12.345", "1 99",        "1 9999", "1,99,000",  "1..5",  "1.",
        "от 500", "5 x",         "$5 USD", "1e3",       "0x10",  "12 000 000 000 000 000",
        "1.5.5",  "1 999.999,5", "5,5 5",  "1.999 руб", "10-20", "99999999999999999999",
    };
    struct feed_number number;
    char currency[4];
    int64_t amount;

    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        if (!feed_parse_price(bytes_of(cases[i]), 0, &number, currency))
            fail_msg("\"%s\" was taken for a price", cases[i]);
    }
    assert_null(feed_parse_price(bytes_of("0.125"), 0, &number, currency));
    assert_non_null(feed_price_minor(number, "RUB", &amount)); /* no such coin */
    assert_null(feed_parse_price(bytes_of("999999999999999"), 0, &number, currency));
    assert_non_null(feed_price_minor(number, "RUB", &amount)); /* too large */
}

static void a_told_sign_before_fractions_decides(void **state)
{
    static const struct {
        const char *text;
        char decimal;
        int64_t amount; /* -1: refused */
    } cases[] = {
        {"5,000", '.', 500000},
        {"$5,000", '.', 500000},
        {"5.000", ',', 500000},
        {"5,50", ',', 550},
        {"5,50", '.', -1},
        {"1,234,567.5", '.', 123456750},
        {"1.234.567,5", ',', 123456750},
        {"1,234.5", ',', -1},
        {"1 999,5", ',', 199950},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        struct feed_number number;
        char currency[4];
        int64_t amount = -1;

        if (!feed_parse_price(bytes_of(cases[i].text), cases[i].decimal, &number, currency))
            assert_null(feed_price_minor(number, "RUB", &amount));
        if (amount != cases[i].amount)
            fail_msg("%s", cases[i].text);
    }
}

static void numbers_are_rounded_by_their_first_digit_left_out(void **state)
{
    struct feed_number number = {123456, 4};

    (void)state;
    feed_number_round(&number, 2);
    assert_true(number.mantissa == 1235 && number.digits == 2);
    number = (struct feed_number){12349, 3};
    feed_number_round(&number, 1);
    assert_true(number.mantissa == 123 && number.digits == 1);
    number = (struct feed_number){5, 0};
    feed_number_round(&number, 2);
    assert_true(number.mantissa == 5 && number.digits == 0);
}

static void a_word_that_is_no_currency_changes_nothing(void **state)
{
    char currency[4] = "";

    (void)state;
    assert_false(feed_parse_currency(bytes_of("us1"), currency));
    assert_string_equal(currency, "");
    assert_true(feed_parse_currency(bytes_of("Rur"), currency));
    assert_string_equal(currency, "RUB");
    assert_true(feed_parse_currency(bytes_of("BYR"), currency));
    assert_string_equal(currency, "BYN");
    assert_true(feed_parse_currency(bytes_of("р."), currency));
    assert_string_equal(currency, "RUB");
}

static void degrees_flags_conditions_phones_and_urls(void **state)
{
    enum feed_condition condition;
    char phone[FEED_PHONE_SIZE];
    double degrees;
    bool flag;

    (void)state;
    assert_true(feed_parse_degrees(bytes_of("-55,75"), 90, &degrees) && degrees == -55.75);
    assert_true(feed_parse_degrees(bytes_of("37.61730000000000018"), 180, &degrees));
    assert_true(degrees > 37.6172999 && degrees < 37.6173001);
    assert_false(feed_parse_degrees(bytes_of("90.1"), 90, &degrees));
    assert_false(feed_parse_degrees(bytes_of("5."), 90, &degrees));
    assert_false(feed_parse_degrees(bytes_of(".5"), 90, &degrees));
    assert_false(feed_parse_degrees(bytes_of("-"), 90, &degrees));
    assert_false(feed_parse_degrees(bytes_of("55°"), 90, &degrees));
    assert_true(feed_parse_flag(bytes_of("В наличии"), &flag) && flag);
    assert_true(feed_parse_flag(bytes_of("НЕТ"), &flag) && !flag);
    assert_false(feed_parse_flag(bytes_of("perhaps"), &flag));
    assert_true(feed_parse_condition(bytes_of("Б/У"), &condition));
    assert_int_equal(condition, FEED_CONDITION_USED);
    static const char *const used[] = {"отличное",        "Хорошее",    "как новый",
                                       "Like new",        "excellent",  "used_like_new",
                                       "б/у, без сколов", "Good (9/10)"};

    for (size_t i = 0; i < ARRAY_COUNT(used); i++) {
        assert_true(feed_parse_condition(bytes_of(used[i]), &condition));
        assert_int_equal(condition, FEED_CONDITION_USED);
    }
    assert_true(feed_parse_condition(bytes_of("Новый с биркой"), &condition));
    assert_int_equal(condition, FEED_CONDITION_NEW);
    assert_false(feed_parse_condition(bytes_of("не новое"), &condition));
    assert_false(feed_parse_condition(bytes_of(", новое"), &condition));
    assert_true(feed_parse_condition(bytes_of("На запчасти"), &condition));
    assert_int_equal(condition, FEED_CONDITION_BROKEN);
    assert_true(feed_parse_phone(bytes_of("8 (900) 123-45-67"), phone));
    assert_string_equal(phone, "+79001234567");
    assert_true(feed_parse_phone(bytes_of("+371 2000 0000"), phone));
    assert_string_equal(phone, "+37120000000");
    assert_false(feed_parse_phone(bytes_of("12345"), phone));
    assert_false(feed_parse_phone(bytes_of("1234567890123456"), phone));
    assert_false(feed_parse_phone(bytes_of("call me 12345678"), phone));
    assert_true(feed_is_web_url(bytes_of("HTTPS://x.example/ф.jpg")));
    assert_false(feed_is_web_url(bytes_of("javascript:alert(1)")));
    assert_false(feed_is_web_url(bytes_of("http:///etc/passwd")));
    assert_false(feed_is_web_url(bytes_of("http://x.example/a b")));
    assert_false(feed_is_web_url(bytes_of("http://")));
}

static void html_becomes_plain_text(void **state)
{
    static const struct {
        const char *html;
        const char *text;
    } cases[] = {
        {"plain", "plain"},
        {"two\nlines\r\n\r\n\r\n\r\nof  text ", "two\nlines\n\nof text"},
        {"<p>one</p><p>two</p>", "one\n\ntwo"},
        {"a<br>b<br/>c<BR />\nd", "a\nb\nc\nd"},
        {"<b>bold</b>\nline", "bold\nline"},
        {"<ul><li>x</li><li>y</li></ul>z", "- x\n- y\nz"},
        {"<script>var a = '<p>';</script>ok<style>p{}</style>", "ok"},
        {"a<!-- hidden <p> -->b", "ab"},
        {"a<!-- open", "a"},
        {"5 < 6 and 7 > 6", "5 < 6 and 7 > 6"},
        {"&lt;b&gt; &amp;amp; &laquo;x&raquo;&nbsp;&#8212;&#x20ac;", "<b> &amp; «x» —€"},
        {"&unknown; &#0; &#xd800; &#99999999; & &;", "&unknown; &#0; &#xd800; &#99999999; & &;"},
        {"<a href='>'>link</a>", "link"},
        {"<td>a</td><td>b</td>", "a b"},
        {"tail<", "tail<"},
        {"tail<b", "tail<b"},
        {"\x01\x02ok\x7f", "ok"},
        {"é ü – …", "é ü – …"},
        {"", ""},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        struct buf out = BUF_INIT(1000);

        feed_html_to_text(bytes_of(cases[i].html), &out);
        assert_string_equal(buf_text(&out), cases[i].text);
        buf_release(&out);
    }
}

static void columns_are_known_by_their_many_names(void **state)
{
    static const struct {
        const char *name;
        enum feed_field field;
    } cases[] = {
        {"ID", FEED_FIELD_ID},
        {"external_id", FEED_FIELD_ID},
        {"  Цена ", FEED_FIELD_PRICE},
        {"СТАРАЯ ЦЕНА", FEED_FIELD_OLD_PRICE},
        {"old_price", FEED_FIELD_OLD_PRICE},
        {"В наличии", FEED_FIELD_AVAILABLE},
        {"ContactPhone", FEED_FIELD_PHONES},
        {"Изображения", FEED_FIELD_PHOTOS},
        {"Цвет", FEED_FIELD_ATTRIBUTE},
        {"", FEED_FIELD_ATTRIBUTE},
        {"a name that is longer than every word we know, by far, and then some more of it",
         FEED_FIELD_ATTRIBUTE},
    };
    struct bytes attribute;

    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++)
        assert_int_equal(feed_field_find(bytes_of(cases[i].name), &attribute), cases[i].field);
    feed_field_find(bytes_of("Производитель"), &attribute);
    assert_true(bytes_equal_text(attribute, "vendor"));
    feed_field_find(bytes_of("Цвет"), &attribute);
    assert_true(bytes_equal_text(attribute, "Цвет"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(prices_are_read_as_people_write_them),
        cmocka_unit_test(nonsense_is_no_price),
        cmocka_unit_test(a_told_sign_before_fractions_decides),
        cmocka_unit_test(numbers_are_rounded_by_their_first_digit_left_out),
        cmocka_unit_test(a_word_that_is_no_currency_changes_nothing),
        cmocka_unit_test(degrees_flags_conditions_phones_and_urls),
        cmocka_unit_test(html_becomes_plain_text),
        cmocka_unit_test(columns_are_known_by_their_many_names),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
