/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What analysis makes of text: a table of cases, and random text that must break nothing.
 * TORG_SEED repeats a run.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/memory.h"
#include "base/random.h"
#include "base/text.h"
#include "index/bounds.h"
#include "index/text/analysis.h"

/*
 * Tokens are written as form or form/stem, "~" before one that is tied to the one before it, "-"
 * before one behind a single sign; a whole stands in brackets with its span: [128gb:2].
 */
struct golden {
    const char *text;
    const char *tokens;
};

static const struct golden table[] = {
    {"Продам ноутбук", "продам/прод ноутбук"},
    {"НОУТБУКИ Ноутбуками ноутбука", "ноутбуки/ноутбук ноутбуками/ноутбук ноутбука/ноутбук"},
    {"Ёлка ёлки елка", "елка/елк елки/елк елка/елк"},
    {"чай Йод ЙОД", "чай/ча йод йод"},
    {"quick brown foxes jumping", "quick brown foxes/fox jumping/jump"},
    {"iPhone 15 Pro Max", "iphone/iphon 15 pro max"},
    {"iphone15", "iphone/iphon ~15"},
    {"IPHONE15PRO", "iphone/iphon ~15 ~pro"},
    {"128gb", "128 [128gb:2] ~gb"},
    {"128 GB", "128 [128gb:2] gb"},
    {"128 гб", "128 [128gb:2] гб"},
    {"128ГБ", "128 [128gb:2] ~гб"},
    {"128 гигабайт", "128 [128gb:2] гигабайт"},
    {"256 Гб SSD", "256 [256gb:2] гб ssd"},
    {"1,5 л", "1.5 [1.5l:2] л"},
    {"1.5l", "1.5 [1.5l:2] ~l"},
    {"1,5л", "1.5 [1.5l:2] ~л"},
    {"1.5 литра", "1.5 [1.5l:2] литра/литр"},
    {"2 литров молока", "2 [2l:2] литров/литр молока/молок"},
    {"10 кг", "10 [10kg:2] кг"},
    {"10кг", "10 [10kg:2] ~кг"},
    {"10 килограммов", "10 [10kg:2] килограммов/килограмм"},
    {"500 г сахара", "500 [500g:2] г сахара/сахар"},
    {"500гр", "500 [500g:2] ~гр"},
    {"2020 г", "2020 г"},
    {"2020 г. выпуска", "2020 г выпуска/выпуск"},
    {"2.0 tdi 150 л.с.", "2.0 tdi 150 [150hp:3] л -с"},
    {"150 л. с.", "150 [150hp:3] л с"},
    {"150hp", "150 [150hp:2] ~hp"},
    {"54 м2", "54 [54m2:2] m²"},
    {"54 м²", "54 [54m2:2] m²"},
    {"цена за м²", "цена/цен за m²"},
    {"BMW M3", "bmw m ~3"},
    {"12 см³", "12 [12cm3:2] cm³"},
    {"54 кв.м", "54 [54m2:3] кв -м"},
    {"54 кв. м", "54 [54m2:3] кв м"},
    {"54 кв м", "54 [54m2:3] кв м"},
    {"3 м3 земли", "3 [3m3:2] m³ земли/земл"},
    {"220в", "220 [220v:2] ~в"},
    {"220 В", "220 [220v:2] в"},
    {"220 в насос", "220 [220v:2] в насос"},
    {"дрель 18 В, новая", "дрель/дрел 18 [18v:2] в новая/нов"},
    {"iphone 12 в москве", "iphone/iphon 12 в москве/москв"},
    {"18-Volt", "18 [18v:2] -volt"},
    {"18 volt", "18 [18v:2] volt"},
    {"18V drill", "18 [18v:2] ~v drill"},
    {"60 W bulb", "60 [60w:2] w bulb"},
    {"48 in. vanity", "48 [48in:2] [4ft:2] in vanity/vaniti"},
    {"48 in vanity", "48 [48in:2] [4ft:2] in vanity/vaniti"},
    {"48in", "48 [48in:2] [4ft:2] ~in"},
    {"48″", "48 [48in:1] [4ft:1]"},
    {"48\" tv", "48 [48in:1] [4ft:1] tv"},
    {"6' ladder", "6 [6ft:1] [72in:1] ladder"},
    {"7.5 ft. tree", "7.5 [7.5ft:2] [90in:2] ft tree"},
    {"50A breaker", "50 [50a:2] ~a breaker"},
    {"4 in 1", "4 in 1"},
    {"born 2015 in Moscow", "born 2015 in moscow"},
    {"5-Gal. bucket", "5 [5gal:2] -gal bucket"},
    {"5 gallons", "5 [5gal:2] gallons/gallon"},
    {"100 sq. ft.", "100 [100sqft:3] sq ft"},
    {"12 fl. oz.", "12 [12oz:3] fl oz"},
    {"6-Pack", "6 [6pk:2] -pack"},
    {"220 вольт", "220 [220v:2] вольт"},
    {"65W", "65 [65w:2] ~w"},
    {"65 вт", "65 [65w:2] вт"},
    {"5000 mah", "5000 [5000mah:2] mah"},
    {"5000 мАч", "5000 [5000mah:2] мач"},
    {"55 дюймов", "55 [55in:2] дюймов/дюйм"},
    {"55 inch", "55 [55in:2] inch"},
    {"108 мп камера", "108 [108mp:2] мп камера/камер"},
    {"3/4", "0.75"},
    {"1/2 in. pipe", "0.5 [0.5in:2] in pipe"},
    {"1-1/2 in.", "1.5 [1.5in:2] in"},
    {"1 1/2\"", "1.5 [1.5in:1]"},
    {"3/4 этаж", "3 -4 этаж"},
    {"5/9 этаж", "5 -9 этаж"},
    {"4x4", "4 [4x4:2] 4"},
    {"4х4", "4 [4x4:2] 4"},
    {"4×4", "4 [4x4:2] 4"},
    {"4 in. x 4 in. post", "4 [4in:2] [4x4:4] in 4 [4in:2] in post"},
    {"62×100см", "62 [62x100:3] 100 [100cm:2] ~см"},
    {"48\" x 22\"", "48 [48in:1] [4ft:1] [48x22:2] 22 [22in:1]"},
    {"25 in. W x 37 in. H x 13 in. D",
     "25 [25in:2] [25x37:5] in w 37 [37in:2] [37x13:5] in h 13 [13in:2] in d"},
    {"4 by 8", "4 [4x8:2] 8"},
    {"2 by Makita", "2 by makita"},
    {"rtx 3060 x 2", "rtx 3060 x 2"},
    {"60 х 90", "60 [60x90:2] 90"},
    {"5950X 16 ГБ", "5950 ~x 16 [16gb:2] гб"},
    {"5600х 32", "5600 ~x 32"},
    {"120х 200 см", "120 [120x200:3] 200 [200cm:2] см"},
    {"120x 90", "120 [120x90:2] 90"},
    {"2x8 ГБ", "2 [2x8:2] 8 гб"},
    {"60x90x2", "60 [60x90:2] 90 [90x2:2] 2"},
    {"a4", "a ~4"},
    {"А4", "a ~4"},
    {"A4", "a ~4"},
    {"Т-34", "t -34"},
    {"BMW Х5", "bmw x ~5"},
    {"4К телевизор", "4 ~k телевизор"},
    {"М5", "m ~5"},
    {"iРhone", "iphone/iphon"},
    {"кoшка", "кошка/кошк"},
    {"iphoneчехол", "iphone/iphon ~чехол"},
    {"CОМРЮТЕР", "сомрютер"},
    {"ноутбук-трансформер", "ноутбук [ноутбуктрансформер:2] -трансформер"},
    {"wi-fi", "wi [wifi:2] -fi"},
    {"Wi‑Fi", "wi [wifi:2] -fi"},
    {"видео-карта", "видео/виде [видеокарта/видеокарт:2] -карта/карт"},
    {"по-русски", "по [порусски/порусск:2] -русски/русск"},
    {"5-комнатная квартира", "5 -комнатная/комнатн квартира/квартир"},
    {"wh-1000xm4", "wh -1000 ~xm ~4"},
    {"don't", "dont"},
    {"Levi's", "levis/levi"},
    {"L’Oréal", "loreal"},
    {"rock'n'roll", "rocknroll/rocknrol"},
    {"'quoted'", "quoted/quot"},
    {"H&M", "h -m"},
    {"C++ и C#", "c и c"},
    {"vk.com", "vk -com"},
    {"1 000 000", "1000000"},
    {"50 000 руб", "50000 руб"},
    {"iphone 15 128", "iphone/iphon 15 128"},
    {"64 128 256", "64 128 256"},
    {"1 500", "1 500"},
    {"1.000.000", "1000000"},
    {"1,000,000", "1000000"},
    {"10,000 BTU", "10000 [10000btu:2] btu"},
    {"10.000", "10.000"},
    {"0,125", "0.125"},
    {"1,50", "1.50"},
    {"12.05.2024", "12 -05 -2024"},
    {"192.168.1.1", "192 -168 -1 -1"},
    {"v1.5.2", "v ~1 -5 -2"},
    {"1.5.2", "1 -5 -2"},
    {"+7 (999) 123-45-67", "7 999 123 -45 -67"},
    {"10-15", "10 -15"},
    {"50%", "50"},
    {"2019–2021", "2019 -2021"},
    {"✅ Новый!!! 😀 телефон", "новый/нов телефон"},
    {"№5", "5"},
    {"Samsung™ Galaxy®", "samsung galaxy/galaxi"},
    {"ＡＢＣ１２３", "abc ~123"},
    {"ﬁne ℌello 𝐁𝐨𝐥𝐝", "fine hello bold"},
    {"Ⅳ ① Ⓐ", "iv 1 a"},
    {"½ чашки", "0.5 чашки/чашк"},
    {"café naïve Straße", "cafe naive/naiv strasse/strass"},
    {"東京 2024", "東 ~京 2024"},
    {"Ελλάδα", "ελλαδα"},
    {"שלום עולם", "שלום עולם"},
    {"x y z", "x y z"},
    {"... --- !!!", ""},
    {"user_name@mail.ru", "user -name -mail -ru"},
    {"кв. 12", "кв 12"},
    {"д. 5к2", "д 5 ~k ~2"},
    {"ООО \"Рога и Копыта\"", "ооо/оо рога/рог и копыта/копыт"},
    {"машины машина машину машинами", "машины/машин машина/машин машину/машин машинами/машин"},
    {"покупка купить куплю", "покупка/покупк купить/куп куплю/купл"},
    {"the and of", "the and of"},
    {"running runs ran", "running/run runs/run ran"},
    {"объявление подъезд", "объявление/объявлен подъезд"},
    {"12в1", "12 ~в ~1"},
    {"3в1", "3 ~в ~1"},
    {"G-Shock GA-2100-1A1", "g [gshock:2] -shock ga -2100 -1 ~a ~1"},
    {"1к квартира", "1 ~k квартира/квартир"},
    {"16/512 гб", "16 -512 [512gb:2] гб"},
    {"8gb/256gb", "8 [8gb:2] ~gb -256 [256gb:2] ~gb"},
};

static uint64_t start_seed(void)
{
    const char *given = getenv("TORG_SEED");
    uint64_t seed = given ? strtoull(given, NULL, 0) : random_u64();

    printf("# TORG_SEED=%ju\n", (uintmax_t)seed);
    return seed;
}

static void describe(struct analysis *analysis, struct bytes text, struct buf *out)
{
    struct token_list list = analysis_run(analysis, text);

    buf_reset(out);
    for (size_t i = 0; i < list.count; i++) {
        const struct token *token = &list.tokens[i];
        struct bytes stem = analysis_stem(analysis, token->form, token->script);

        buf_put_text(out, i ? " " : "");
        if (token_is_whole(token))
            buf_put_text(out, "[");
        else if (token->joint != JOINT_NONE)
            buf_put_text(out, token->joint == JOINT_TIGHT ? "~" : "-");
        buf_put(out, token->form);
        if (!bytes_equal(stem, token->form)) {
            buf_put_text(out, "/");
            buf_put(out, stem);
        }
        if (token_is_whole(token))
            buf_printf(out, ":%u]", token->span);
    }
}

/* A shard that was begun by the first rules goes on with them. */
static void the_first_rules_are_kept(void **state)
{
    static const struct golden first[] = {
        {"54 м²", "54 [54m2:3] m ~2"},
        {"220 В", "220 в"},
        {"18-Volt", "18 -volt"},
        {"48 in. vanity", "48 in vanity/vaniti"},
        {"48″", "48"},
        {"3/4", "3 -4"},
        {"60 х 90", "60 x 90"},
        {"½ чашки", "1 -2 чашки/чашк"},
        {"5 gal", "5 gal"},
    };
    struct analysis *analysis = analysis_new();
    struct buf out = BUF_INIT(1 << 20);

    analysis_use(analysis, 1);
    for (size_t i = 0; i < ARRAY_COUNT(first); i++) {
        describe(analysis, bytes_of(first[i].text), &out);
        assert_string_equal(buf_text(&out), first[i].tokens);
    }
    buf_release(&out);
    analysis_free(analysis);
}

/* One of the fourth takes the x of a model for that of sizes, as its documents do. */
static void the_fourth_rules_are_kept(void **state)
{
    struct analysis *analysis = analysis_new();
    struct buf out = BUF_INIT(1 << 20);

    analysis_use(analysis, 4);
    describe(analysis, bytes_of("5950X 16 ГБ"), &out);
    assert_string_equal(buf_text(&out), "5950 [5950x16:3] 16 [16gb:2] гб");
    buf_release(&out);
    analysis_free(analysis);
}

static void golden_table(void **state)
{
    struct analysis *analysis = analysis_new();
    struct buf out = BUF_INIT(1 << 20);
    unsigned wrong = 0;

    for (size_t i = 0; i < ARRAY_COUNT(table); i++) {
        describe(analysis, bytes_of(table[i].text), &out);
        if (strcmp(buf_text(&out), table[i].tokens) != 0) {
            printf("# %s\n#   wanted %s\n#   got    %s\n", table[i].text, table[i].tokens,
                   buf_text(&out));
            wrong++;
        }
    }
    printf("# %zu rows\n", ARRAY_COUNT(table));
    assert_int_equal(wrong, 0);
    assert_true(ARRAY_COUNT(table) >= 80);
    buf_release(&out);
    analysis_free(analysis);
}

/* Every row of the table has one token a position at least, none left out. */
static void positions_follow(void **state)
{
    struct analysis *analysis = analysis_new();

    for (size_t i = 0; i < ARRAY_COUNT(table); i++) {
        struct token_list list = analysis_run(analysis, bytes_of(table[i].text));
        uint32_t next = 0;

        for (size_t k = 0; k < list.count; k++) {
            const struct token *token = &list.tokens[k];

            if (token_is_whole(token)) {
                assert_int_equal(token->position + 1, next);
                assert_true(token->position + token->span <= list.position_count);
                assert_int_equal(token->start, list.tokens[k - 1].start);
            } else {
                assert_int_equal(token->position, next);
                next++;
            }
        }
        assert_int_equal(next, list.position_count);
    }
    analysis_free(analysis);
}

static void ranges_are_of_the_source(void **state)
{
    const char *text = "Продам  iРhone15, 128 ГБ - wi-fi!";
    static const char *const wanted[] = {"Продам", "iРhone", "15",    "128", "128 ГБ",
                                         "ГБ",     "wi",     "wi-fi", "fi"};
    struct analysis *analysis = analysis_new();
    struct token_list list = analysis_run(analysis, bytes_of(text));

    assert_int_equal(list.count, ARRAY_COUNT(wanted));
    for (size_t i = 0; i < list.count; i++) {
        struct bytes source = bytes_make(text + list.tokens[i].start, list.tokens[i].size);

        if (!bytes_equal_text(source, wanted[i]))
            fail_msg("token %zu is %.*s, not %s", i, BYTES_ARG(source), wanted[i]);
    }
    analysis_free(analysis);
}

static void composed_and_decomposed_are_one(void **state)
{
    static const char *const pairs[][2] = {
        {"йод", "\xd0\xb8\xcc\x86од"},     {"Йод", "\xd0\x98\xcc\x86од"},
        {"ёлка", "\xd0\xb5\xcc\x88лка"},   {"ёлка", "елка"},
        {"воўк", "во\xd1\x83\xcc\x86к"},   {"їжак", "\xd1\x96\xcc\x88жак"},
        {"café", "cafe\xcc\x81"},          {"за́мок", "замок"},
        {"ноут\xc2\xad\x62ук", "ноутbук"},
    };
    struct analysis *analysis = analysis_new();
    struct buf left = BUF_INIT(1000);
    struct buf right = BUF_INIT(1000);

    for (size_t i = 0; i < ARRAY_COUNT(pairs); i++) {
        describe(analysis, bytes_of(pairs[i][0]), &left);
        describe(analysis, bytes_of(pairs[i][1]), &right);
        assert_string_equal(buf_text(&left), buf_text(&right));
    }
    buf_release(&left);
    buf_release(&right);
    analysis_free(analysis);
}

static void long_words_are_cut(void **state)
{
    struct analysis *analysis = analysis_new();
    struct buf text = BUF_INIT(1 << 20);
    struct token_list list;

    for (int i = 0; i < 1000; i++)
        buf_put_text(&text, "щ");
    buf_put_text(&text, " конец ");
    for (int i = 0; i < 1000; i++)
        buf_put_text(&text, "7");
    list = analysis_run(analysis, buf_bytes(&text));
    assert_int_equal(list.count, 3);
    assert_true(list.tokens[0].form.size <= TOKEN_SIZE_MAX);
    assert_true(list.tokens[0].form.size > TOKEN_SIZE_MAX - 8);
    assert_true(text_is_utf8(list.tokens[0].form));
    assert_int_equal(list.tokens[0].size, 2000);
    assert_true(bytes_equal_text(list.tokens[1].form, "конец"));
    assert_true(list.tokens[2].form.size <= TOKEN_SIZE_MAX);
    assert_false(list.truncated);
    buf_release(&text);
    analysis_free(analysis);
}

static void output_is_bounded(void **state)
{
    struct analysis *analysis = analysis_new();
    struct buf text = BUF_INIT(4 << 20);
    struct token_list list;

    for (int i = 0; i < 200000; i++)
        buf_put_text(&text, "a ");
    list = analysis_run(analysis, buf_bytes(&text));
    assert_int_equal(list.count, TOKEN_COUNT_MAX);
    assert_true(list.truncated);
    buf_reset(&text);
    for (int i = 0; i < 30000; i++)
        buf_put_text(&text, "zюzюzюzюzю ");
    list = analysis_run(analysis, buf_bytes(&text));
    assert_int_equal(list.count, TOKEN_COUNT_MAX);
    assert_true(list.truncated);
    buf_reset(&text);
    for (int i = 0; i <= ANALYSIS_TEXT_SIZE_MAX; i++)
        buf_put_byte(&text, '.');
    list = analysis_run(analysis, buf_bytes(&text));
    assert_int_equal(list.count, 0);
    assert_true(list.truncated);
    list = analysis_run(analysis, BYTES_EMPTY);
    assert_int_equal(list.count, 0);
    assert_false(list.truncated);
    buf_release(&text);
    analysis_free(analysis);
}

/* Analysing a form gives that form again: alone, or for a whole among its parts. */
static void check_idempotent(struct analysis *again, const struct token *token)
{
    struct token_list list = analysis_run(again, token->form);
    bool found = false;

    for (size_t i = 0; i < list.count; i++)
        found = found || bytes_equal(list.tokens[i].form, token->form);
    if (!found || (token->kind != TOKEN_QUANTITY && list.count != 1))
        fail_msg("%.*s gives %zu tokens, the first %.*s", BYTES_ARG(token->form), list.count,
                 BYTES_ARG(list.count ? list.tokens[0].form : BYTES_EMPTY));
}

static void check_text(struct analysis *analysis, struct analysis *again, struct bytes text)
{
    struct token_list list = analysis_run(analysis, text);
    uint32_t position = 0;

    for (size_t i = 0; i < list.count; i++) {
        const struct token *token = &list.tokens[i];

        assert_true(token->size > 0 && (size_t)token->start + token->size <= text.size);
        assert_true(token->form.size > 0 && token->form.size <= TOKEN_SIZE_MAX);
        assert_true(text_is_utf8(token->form));
        assert_true(token->position >= position && token->position < list.position_count);
        position = token->position;
        check_idempotent(again, token);
    }
}

static void put_random_char(struct buf *text, struct rng *rng)
{
    static const char *const spice[] = {" ",  "-",  ".", ",", "'",        "\xc2\xa0", "г",
                                        "гб", "м2", "x", "х", "\xcc\x86", "000",      "л.с",
                                        "½",  "й",  "P", "р", "\xc2\xad", "кв. м"};
    uint8_t utf8[UNICODE_UTF8_SIZE_MAX];

    switch (rng_below(rng, 8)) {
    case 0:
        buf_put_byte(text, (uint8_t)rng_next(rng));
        break;
    case 1:
        buf_put_raw(text, utf8, unicode_encode((uint32_t)rng_below(rng, 0x110000), utf8));
        break;
    case 2:
        buf_put_raw(text, utf8, unicode_encode((uint32_t)rng_below(rng, 0x3000), utf8));
        break;
    case 3:
        buf_put_raw(text, utf8, unicode_encode(0x400 + (uint32_t)rng_below(rng, 0x60), utf8));
        break;
    case 4:
        buf_put_byte(text, (uint8_t)('0' + rng_below(rng, 10)));
        break;
    case 5:
        buf_put_byte(text, (uint8_t)(' ' + rng_below(rng, 95)));
        break;
    default:
        buf_put_text(text, spice[rng_below(rng, ARRAY_COUNT(spice))]);
    }
}

static void random_text_breaks_nothing(void **state)
{
    struct rng rng = rng_seeded(start_seed());
    struct analysis *analysis = analysis_new();
    struct analysis *again = analysis_new();
    struct buf text = BUF_INIT(1 << 20);

    for (int i = 0; i < 20000; i++) {
        uint8_t *exact;

        buf_reset(&text);
        for (uint64_t left = rng_below(&rng, i % 100 ? 40 : 2000); left > 0; left--)
            put_random_char(&text, &rng);
        exact = mem_alloc(text.size + 1); /* of its size, so that a sanitizer sees the end */
        memcpy(exact, text.data ? text.data : exact, text.size);
        exact = mem_resize(exact, text.size ? text.size : 1);
        check_text(analysis, again, bytes_make(exact, text.size));
        free(exact);
    }
    buf_release(&text);
    analysis_free(analysis);
    analysis_free(again);
}

static void every_code_point_folds_once(void **state)
{
    struct analysis *analysis = analysis_new();
    struct analysis *again = analysis_new();

    for (uint32_t code = 1; code < 0x110000; code++) {
        uint8_t text[4 + UNICODE_UTF8_SIZE_MAX] = "a";
        size_t size = 1 + unicode_encode(code, text + 1);

        if (code >= 0xD800 && code < 0xE000)
            continue;
        text[size++] = 'b';
        check_text(analysis, again, bytes_make(text, size));
        check_text(analysis, again, bytes_make(text + 1, size - 2));
    }
    analysis_free(analysis);
    analysis_free(again);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(golden_table),
        cmocka_unit_test(the_first_rules_are_kept),
        cmocka_unit_test(the_fourth_rules_are_kept),
        cmocka_unit_test(positions_follow),
        cmocka_unit_test(ranges_are_of_the_source),
        cmocka_unit_test(composed_and_decomposed_are_one),
        cmocka_unit_test(long_words_are_cut),
        cmocka_unit_test(output_is_bounded),
        cmocka_unit_test(random_text_breaks_nothing),
        cmocka_unit_test(every_code_point_folds_once),
    };

    return cmocka_run_group_tests_name("analysis", tests, NULL, NULL);
}
