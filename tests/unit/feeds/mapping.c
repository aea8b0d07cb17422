/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests of feeds/mapping/mapping.h: which category and attributes a row gets, by ids, by names in
 * both languages, by a map; what is left out, and what refuses the row.
 */
#include "feeds/mapping/mapping.h"
#include "offers/bounds.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/memory.h"
#include "feeds/bounds.h"
#include "feeds/formats/reader.h"
#include <cmocka.h>

static const char catalog_json[] =
    "{\"attributes\": ["
    "{\"id\":\"color\",\"name\":{\"ru\":\"Цвет\",\"en\":\"Colour\"},\"type\":\"OPTION\","
    " \"options\":[{\"id\":\"red\",\"name\":{\"ru\":\"Красный\",\"en\":\"Red\"}},"
    "  {\"id\":\"black\",\"name\":{\"ru\":\"Чёрный\",\"en\":\"Black\"}}]},"
    "{\"id\":\"make\",\"name\":{\"ru\":\"Марка\",\"en\":\"Make\"},\"type\":\"OPTION\","
    " \"options\":[{\"id\":\"toyota\",\"name\":{\"ru\":\"Тойота\",\"en\":\"Toyota\"}},"
    "  {\"id\":\"toyota.camry\",\"name\":{\"ru\":\"Камри\",\"en\":\"Camry\"},"
    "\"parent\":\"toyota\"}]},"
    "{\"id\":\"material\",\"name\":{\"ru\":\"Материал\",\"en\":\"Material\"},\"type\":\"OPTIONS\","
    " \"countMax\":3,\"options\":[{\"id\":\"wood\",\"name\":{\"ru\":\"Дерево\",\"en\":\"Wood\"}},"
    "  {\"id\":\"glass\",\"name\":{\"ru\":\"Стекло\",\"en\":\"Glass\"}}]},"
    "{\"id\":\"weight\",\"name\":{\"ru\":\"Вес\",\"en\":\"Weight\"},\"type\":\"DECIMAL\","
    "\"digits\":3,"
    " \"units\":[{\"id\":\"kg\",\"name\":{\"ru\":\"кг\",\"en\":\"kg\"},\"factor\":\"1\"},"
    "  {\"id\":\"g\",\"name\":{\"ru\":\"г\",\"en\":\"g\"},\"factor\":\"0.001\"}]},"
    "{\"id\":\"power\",\"name\":{\"ru\":\"Мощность, Вт\",\"en\":\"Power, W\"},"
    "\"type\":\"INTEGER\"},"
    "{\"id\":\"year\",\"name\":{\"ru\":\"Год\",\"en\":\"Year\"},\"type\":\"YEAR\"},"
    "{\"id\":\"warm\",\"name\":{\"ru\":\"Подогрев\",\"en\":\"Heating\"},\"type\":\"FLAG\"},"
    "{\"id\":\"model\",\"name\":{\"ru\":\"Модель\",\"en\":\"Model\"},\"type\":\"TEXT\"}],"
    "\"categories\": ["
    "{\"id\":\"home\",\"name\":{\"ru\":\"Для дома\",\"en\":\"Home\"},"
    " \"attributes\":[\"color\",\"weight\",\"model\"]},"
    "{\"id\":\"kettles\",\"parent\":\"home\",\"name\":{\"ru\":\"Чайники\",\"en\":\"Kettles\"},"
    " \"attributes\":[\"power\",\"warm\",\"material\",\"year\"],"
    " \"overrides\":[{\"id\":\"power\",\"required\":true}]},"
    "{\"id\":\"other1\",\"parent\":\"home\",\"name\":{\"ru\":\"Прочее\",\"en\":\"Other\"}},"
    "{\"id\":\"cars\",\"name\":{\"ru\":\"Машины\",\"en\":\"Cars\"},\"attributes\":[\"make\","
    "\"year\"]},"
    "{\"id\":\"other2\",\"parent\":\"cars\",\"name\":{\"ru\":\"Прочее\",\"en\":\"Other\"}},"
    "{\"id\":\"jobs\",\"name\":{\"ru\":\"Работа\",\"en\":\"Jobs\"},"
    " \"filters\":[\"SALARY\",\"SELLER_KIND\",\"EXCHANGE\"],\"policy\":{\"price\":\"FORBIDDEN\"}},"
    "{\"id\":\"fix\",\"name\":{\"ru\":\"Ремонт / стройка\",\"en\":\"Repair\"}}]}";

struct fixture {
    struct catalog *catalog;
    struct feed_mapping *mapping;
    struct arena *arena;
    Torg__V1__FeedEvent event;
    struct err err;
};

static int make(struct fixture *fixture, const char *map, struct feed_mapping **made)
{
    const struct feed_mapping_options options = {.categories = bytes_of(map)};

    return feed_mapping_new(fixture->catalog, &options, made, &fixture->err);
}

static void use_map(struct fixture *fixture, const char *map)
{
    feed_mapping_free(fixture->mapping);
    if (make(fixture, map, &fixture->mapping))
        fail_msg("%s", fixture->err.text);
}

static int set_up(void **state)
{
    static struct fixture fixture;
    struct violations violations;

    fixture = (struct fixture){.arena = arena_new()};
    violations = violations_in(fixture.arena);
    if (catalog_from_json(bytes_of(catalog_json), &violations, &fixture.catalog, &fixture.err)) {
        print_message("# %s\n", fixture.err.text);
        return -1;
    }
    use_map(&fixture, "");
    *state = &fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;

    feed_mapping_free(fixture->mapping);
    catalog_unref(fixture->catalog);
    arena_free(fixture->arena);
    return 0;
}

/* The event of one row of CSV, written as "name|name\nvalue|value". */
static const Torg__V1__FeedUpsert *map_row(struct fixture *fixture, const char *csv)
{
    const struct feed_options options = {.format = FEED_FORMAT_CSV, .delimiter = '|'};
    struct feed_source source;
    struct feed_reader *reader;
    const struct feed_row *row;
    const char *text = arena_printf(fixture->arena, "%s\n", csv);

    feed_source_memory(&source, bytes_of(text));
    assert_int_equal(feed_reader_open(&source, &options, &reader, &fixture->err), 0);
    assert_int_equal(feed_reader_next(reader, &row, &fixture->err), 0);
    assert_non_null(row);
    torg__v1__feed_event__init(&fixture->event);
    feed_mapping_row(fixture->mapping, row, fixture->arena, &fixture->event);
    if (fixture->event.event_case == TORG__V1__FEED_EVENT__EVENT_UPSERT) {
        Torg__V1__FeedUpsert *upsert = fixture->event.upsert; /* its texts are the row's */

        upsert->external_id = arena_strdup(fixture->arena, upsert->external_id);
        if (upsert->content)
            upsert->content->title = arena_strdup(fixture->arena, upsert->content->title);
        for (size_t i = 0; i < upsert->n_problems; i++)
            upsert->problems[i]->reason = arena_strdup(fixture->arena, upsert->problems[i]->reason);
    }
    feed_reader_close(reader);
    return fixture->event.upsert;
}

/* "home", or the reason why it is none. */
static const char *category_of(struct fixture *fixture, const char *id, const char *name)
{
    const char *csv = arena_printf(
        fixture->arena, "id|categoryId|category|title|Мощность, Вт\n1|%s|%s|Вещь|5", id, name);
    const Torg__V1__FeedUpsert *upsert = map_row(fixture, csv);

    return upsert->n_problems ? upsert->problems[0]->reason : upsert->content->category;
}

static void a_category_is_found_by_id_and_by_name_along_the_path(void **state)
{
    struct fixture *fixture = *state;

    assert_string_equal(category_of(fixture, "kettles", ""), "kettles");
    assert_string_equal(category_of(fixture, "", "kettles"), "kettles");
    assert_string_equal(category_of(fixture, "17", "чайники"), "kettles");
    assert_string_equal(category_of(fixture, "17", "Everything/KETTLES"), "kettles");
    assert_string_equal(category_of(fixture, "", "Для дома > Прочее"), "other1");
    assert_string_equal(category_of(fixture, "", "Магазин/Cars/Разное/Other"), "other2");
    assert_string_equal(category_of(fixture, "", "Ремонт / стройка"), "fix");
    assert_string_equal(category_of(fixture, "", "Ремонт/Стройка"), "fix");
    for (int i = 0; i < 2; i++) { /* found, and remembered */
        assert_non_null(strstr(category_of(fixture, "", "Прочее"), "may be other1 or other2"));
        assert_non_null(strstr(category_of(fixture, "9", "Чайн"), "perhaps kettles"));
        assert_non_null(strstr(category_of(fixture, "9", "Ложки"), "no category \"Ложки\""));
        assert_non_null(strstr(category_of(fixture, "9", ""), "no name for its category \"9\""));
        assert_non_null(strstr(category_of(fixture, "", ""), "names no category"));
    }
}

static void a_map_goes_first(void **state)
{
    struct fixture *fixture = *state;
    struct feed_mapping *none;

    use_map(fixture,
            "\xef\xbb\xbf"
            "feed;category\r\n9;kettles\r\n\"Дом, сад/Ложки\";home\n\nМусор;\nчайники,fix");
    assert_string_equal(category_of(fixture, "9", "Машины"), "kettles");
    assert_string_equal(category_of(fixture, "1", "дом, сад / ложки"), "home");
    assert_string_equal(category_of(fixture, "1", "Чайники"), "fix");
    assert_string_equal(category_of(fixture, "1", "Всё/Чайники"), "fix");
    assert_non_null(strstr(category_of(fixture, "1", "Мусор"), "none of ours"));
    assert_string_equal(category_of(fixture, "1", "Машины"), "cars");
    assert_int_equal(make(fixture, "a,b\n1,spoons", &none), ERR_INVALID);
    assert_string_equal(fixture->err.text, "line 2: the catalogue has no category \"spoons\"");
    assert_int_equal(make(fixture, "Ложки,spoons\n", &none), ERR_INVALID);
    assert_non_null(strstr(fixture->err.text, "its only line names no category"));
    use_map(fixture, "Машины,\n");
    assert_non_null(strstr(category_of(fixture, "1", "Машины"), "none of ours"));
    assert_int_equal(make(fixture, "a,b\n1", &none), ERR_INVALID);
    assert_int_equal(make(fixture, "\xff", &none), ERR_INVALID);
}

/* "color=red material=wood,glass weight=1.5kg", of the values in their order. */
static const char *values_of(struct fixture *fixture, const char *csv)
{
    const Torg__V1__FeedUpsert *upsert = map_row(fixture, csv);
    struct buf out = BUF_INIT(4096);
    const char *text;

    for (size_t i = 0; upsert->content && i < upsert->content->n_attributes; i++) {
        const Torg__V1__AttributeValue *value = upsert->content->attributes[i];

        buf_printf(&out, "%s%s=", i ? " " : "", value->attribute_id);
        for (size_t j = 0; j < value->n_options; j++)
            buf_printf(&out, "%s%s", j ? "," : "", value->options[j]);
        if (value->value_case == TORG__V1__ATTRIBUTE_VALUE__VALUE_TEXT)
            buf_printf(&out, "'%s'", value->text);
        if (value->value_case == TORG__V1__ATTRIBUTE_VALUE__VALUE_INTEGER)
            buf_printf(&out, "%ld", (long)value->integer);
        if (value->value_case == TORG__V1__ATTRIBUTE_VALUE__VALUE_DECIMAL)
            buf_printf(&out, "%s%s", value->decimal, value->unit);
        if (value->value_case == TORG__V1__ATTRIBUTE_VALUE__VALUE_FLAG)
            buf_put_text(&out, value->flag ? "yes" : "no");
        if (value->value_case == TORG__V1__ATTRIBUTE_VALUE__VALUE_YEAR)
            buf_printf(&out, "y%d", value->year);
    }
    text = arena_strdup(fixture->arena, buf_text(&out));
    buf_release(&out);
    return text;
}

static void attributes_are_read_by_their_types(void **state)
{
    struct fixture *fixture = *state;

    assert_string_equal(
        values_of(fixture, "id|category|title|цвет|Power W|ПОДОГРЕВ|Материал|Вес [г]|Год|model\n"
                           "1|kettles|Чайник|чёрный|2 000|да|дерево, Стекло|1 200,50|2020|К-1"),
        "color=black power=2000 warm=yes material=wood,glass weight=1200.5g year=y2020 "
        "model='К-1'");
    assert_string_equal(values_of(fixture, "id|category|title|color|weight|power\n"
                                           "1|kettles|Чайник|Red|1.5 кг|7"),
                        "color=red weight=1.5kg power=7");
    assert_string_equal(values_of(fixture, "id|category|title|vendor\n1|cars|Машина|toyota camry"),
                        "make=toyota.camry");
    assert_string_equal(values_of(fixture, "id|category|title|бренд\n1|cars|Машина|Камри"),
                        "make=toyota.camry");
    assert_int_equal(fixture->event.upsert->n_notes, 0);
}

/* "power=150000", or the reason of the note that is there instead. */
static const char *number_of(struct fixture *fixture, const char *name, const char *value)
{
    const char *row =
        arena_printf(fixture->arena, "id|category|title|%s\n1|kettles|Чайник|%s", name, value);
    const char *read = values_of(fixture, row);
    const Torg__V1__FeedUpsert *upsert = fixture->event.upsert;

    if (upsert->n_problems)
        return upsert->problems[0]->reason;
    return upsert->n_notes ? upsert->notes[0]->reason : read;
}

static void a_number_is_read_whole(void **state)
{
    static const struct {
        const char *name, *value, *read;
    } cases[] = {
        {"power", "150 000", "power=150000"},
        {"power",
         "150\xc2\xa0"
         "000 вт.",
         "power=150000"},
        {"power", "1,234,567", "power=1234567"},
        {"power", "1'500 W", "power=1500"},
        {"power", "6 шт.", "power=6"},
        {"power", "-7", "power=-7"},
        {"power",
         "\xe2\x88\x92"
         "7",
         "power=-7"},
        {"power", "150,00", "power=150"},
        {"power [W]", "2000", "power=2000"},
        {"power|weight", "1|1.234", "power=1 weight=1.234"},
        {"power|weight", "1|0,125 кг", "power=1 weight=0.125kg"},
        {"power|weight", "1|1 200 000 г", "power=1 weight=1200000g"},
        {"power|year", "1|2015 г.", "power=1 year=y2015"},
    };
    struct fixture *fixture = *state;

    for (size_t i = 0; i < ARRAY_COUNT(cases); i++)
        assert_string_equal(number_of(fixture, cases[i].name, cases[i].value), cases[i].read);
}

static void a_number_is_never_cut(void **state)
{
    static const struct {
        const char *name, *value, *reason;
    } cases[] = {
        {"power", "12abc", "\"12abc\" is not a number; write it without \"abc\""},
        {"power", "150,000km", "without \"km\""},
        {"power", "150,000 W", "\"150,000 W\" could be thousands or a fraction"},
        {"power", "150.000", "could be thousands or a fraction"},
        {"power", "1/2", "without \"/2\""},
        {"power", "10-20", "without \"-20\""},
        {"power", "1e5", "without \"e5\""},
        {"power", "0x10", "without \"x10\""},
        {"power", "12 34", "is not a number"},
        {"power", "1,23,456", "is not a number"},
        {"power", "5.", "without \".\""},
        {"power", "--5", "is not a number"},
        {"power", "1.5", "1.5 is not a whole number"},
        {"power", "1234567890123456", "has more than 15 digits"},
        {"power", "99999999999999", "is too large"},
        {"power|weight", "1|1,234 кг", "could be thousands or a fraction"},
        {"power|weight", "1|1.500 г", "could be thousands or a fraction"},
        {"power|weight", "1|1.1234567", "more than 6 digits after the point"},
        {"power|weight", "1|5 кг 300 г", "it is not measured in \"кг 300 г\""},
        {"power|weight [г]", "1|5 кг", "\"5 кг\" is said to be in \"г\"; write one unit"},
        {"power|year", "1|2015-2017", "without \"-2017\""},
    };
    struct fixture *fixture = *state;

    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        const char *reason = number_of(fixture, cases[i].name, cases[i].value);

        if (!strstr(reason, cases[i].reason))
            fail_msg("\"%s\": %s", cases[i].value, reason);
    }
}

static void what_is_no_value_is_left_out_with_a_note(void **state)
{
    struct fixture *fixture = *state;
    const Torg__V1__FeedUpsert *upsert;

    assert_string_equal(values_of(fixture,
                                  "id|category|title|Цвет|Вес|Материал|Подогрев|Год|power\n"
                                  "1|kettles|Чайник|кофе|3 пуда|дерево,пух|иногда|20.5|1"),
                        "material=wood power=1");
    upsert = fixture->event.upsert;
    assert_int_equal(upsert->n_problems, 0);
    assert_int_equal(upsert->n_notes, 5);
    assert_string_equal(upsert->notes[0]->field, "attributes.color");
    assert_string_equal(upsert->notes[0]->reason, "Цвет: it has no option \"кофе\"");
    assert_string_equal(upsert->notes[1]->reason,
                        "Вес: it is not measured in \"пуда\"; in \"kg\", for example");
    assert_string_equal(upsert->notes[2]->reason, "Материал: it has no option \"пух\"");
    assert_string_equal(upsert->notes[4]->reason, "Год: 20.5 is not a whole number");
}

static void a_required_one_refuses_the_row(void **state)
{
    struct fixture *fixture = *state;
    const Torg__V1__FeedUpsert *upsert =
        map_row(fixture, "id|category|title|power\n7|kettles|Чайник|много");

    assert_int_equal(upsert->n_problems, 1);
    assert_string_equal(upsert->external_id, "7");
    assert_string_equal(upsert->problems[0]->field, "attributes.power");
    assert_string_equal(upsert->content->title, "Чайник"); /* the rest of it is looked at too */
    upsert = map_row(fixture, "id|category|title|price\n7|Ложки|Ложка|-1");
    assert_int_equal(upsert->n_problems, 2); /* the reader's and ours */
}

static void a_map_sets_attributes_and_a_default(void **state)
{
    struct fixture *fixture = *state;
    struct feed_mapping *none;

    use_map(fixture, "feed,category,rows,attributes\r\n"
                     "26,kettles,5,\"Мощность, Вт=2000; material=Стекло\"\r\n"
                     "\"Дом, сад\",home,7,\r\n81,-,1,\r\n82,,1,\r\n*,other1,,color=red\r\n");
    assert_string_equal(values_of(fixture, "id|categoryId|title\n1|26|Вещь"),
                        "power=2000 material=glass");
    assert_string_equal(
        values_of(fixture, "id|categoryId|title|power|material\n1|26|Вещь|5|Дерево"),
        "power=5 material=wood"); /* the row's own first */
    assert_string_equal(category_of(fixture, "", "Дом, сад"), "home");
    assert_string_equal(category_of(fixture, "", "Дом, сад/Лопаты"), "home"); /* what is above */
    assert_non_null(strstr(category_of(fixture, "81", "Машины"), "none of ours"));
    assert_string_equal(category_of(fixture, "82", "Машины"), "cars"); /* nothing said yet */
    assert_string_equal(category_of(fixture, "99", "Нечто"), "other1");
    assert_string_equal(values_of(fixture, "id|categoryId|title\n1|99|Вещь"), "color=red");
    use_map(fixture, "feed,category,attributes\n26,kettles,power=5\n");
    assert_string_equal(values_of(fixture, "id|category|title|power\n1|26|Чайник|много"),
                        "power=5");
    assert_int_equal(fixture->event.upsert->n_problems, 0); /* it is required, and the map has it */
    assert_int_equal(fixture->event.upsert->n_notes, 1);
    assert_string_equal(fixture->event.upsert->notes[0]->field, "attributes.power");
    assert_int_equal(make(fixture, "feed,category,attributes\n1,cars,color=red\n", &none),
                     ERR_INVALID);
    assert_string_equal(fixture->err.text,
                        "line 2: the category \"cars\" has no attribute \"color\"");
    assert_int_equal(make(fixture, "feed,category,attributes\n1,home,color=pink\n", &none),
                     ERR_INVALID);
    assert_int_equal(make(fixture, "feed,category,attributes\n1,home,red\n", &none), ERR_INVALID);
}

static void units_stand_in_names_too(void **state)
{
    struct fixture *fixture = *state;

    assert_string_equal(values_of(fixture, "id|category|title|Вес (г)\n1|home|Вещь|1 500"),
                        "weight=1500g");
    assert_string_equal(values_of(fixture, "id|category|title|Вес, г\n1|home|Вещь|1500"),
                        "weight=1500g");
    assert_string_equal(values_of(fixture, "id|category|title|Вес [г]\n1|home|Вещь|1500"),
                        "weight=1500g");
    assert_string_equal(values_of(fixture, "id|category|title|Вес (кг)\n1|home|Вещь|15 кг"),
                        "weight=15kg");
    assert_string_equal(values_of(fixture, "id|category|title|Вес (в упаковке)\n1|home|Вещь|15"),
                        "");
}

static void what_a_category_does_not_take_is_left_out(void **state)
{
    struct fixture *fixture = *state;
    const struct feed_mapping_options options = {.shorten = true, .decimal = '.'};
    const Torg__V1__FeedUpsert *upsert;
    struct buf csv = BUF_INIT(1 << 16);

    feed_mapping_free(fixture->mapping);
    assert_int_equal(feed_mapping_new(fixture->catalog, &options, &fixture->mapping, &fixture->err),
                     0);
    buf_put_text(&csv, "id|category|title|condition|model|weight|photos\n1|home|");
    for (int i = 0; i < 30; i++)
        buf_put_text(&csv, "слово, ");
    buf_put_text(&csv, "|new|");
    for (int i = 0; i < 2000; i++)
        buf_put_text(&csv, "м");
    buf_put_text(&csv, "|150,000|");
    for (int i = 0; i < 50; i++)
        buf_printf(&csv, "https://a.example/%d.jpg ", i);
    upsert = map_row(fixture, buf_text(&csv));
    assert_int_equal(upsert->n_problems, 0);
    assert_int_equal(upsert->content->n_attributes, 1);
    assert_string_equal(upsert->content->attributes[0]->decimal, "150000");
    assert_true(strlen(upsert->content->title) < 2 * 210);
    assert_int_equal(strcmp(upsert->content->title + strlen(upsert->content->title) - 10, "слово"),
                     0);
    assert_int_equal(upsert->n_notes, 4);
    assert_string_equal(upsert->notes[0]->field, "title");
    assert_non_null(strstr(upsert->notes[1]->reason, "no condition"));
    assert_string_equal(upsert->notes[2]->field, "attributes.model");
    assert_string_equal(upsert->notes[3]->field, "photos");
    buf_release(&csv);
}

static void unknown_names_are_counted(void **state)
{
    struct fixture *fixture = *state;
    const struct feed_unknown *unknown;
    size_t count;

    for (int i = 0; i < 3; i++)
        map_row(fixture, "id|category|title|Вкус|color|Звук\n1|home|Вещь|сладкий|red|");
    map_row(fixture, "id|category|title|Запах|Звук\n1|home|Вещь|роза|ля");
    map_row(fixture, "id|category|title|Звук\n1|home|Вещь|ля");
    unknown = feed_mapping_unknown(fixture->mapping, &count);
    assert_int_equal(count, 3);
    assert_string_equal(unknown[0].name, "Вкус");
    assert_int_equal(unknown[0].count, 3);
    assert_string_equal(unknown[1].name, "Звук");
    assert_int_equal(unknown[1].count, 2);
    for (int i = 0; i < 2 * FEED_UNKNOWN_COUNT_MAX; i++)
        map_row(fixture, arena_printf(fixture->arena, "id|category|title|x%d\n1|home|Вещь|1", i));
    feed_mapping_unknown(fixture->mapping, &count);
    assert_int_equal(count, FEED_UNKNOWN_COUNT_MAX);
}

/* "name=value; ..." */
static const char *properties_of(struct fixture *fixture, const char *csv)
{
    const Torg__V1__FeedUpsert *upsert = map_row(fixture, csv);
    const char *text = "";

    for (size_t i = 0; i < upsert->content->n_properties; i++)
        text = arena_printf(fixture->arena, "%s%s%s=%s", text, i ? "; " : "",
                            upsert->content->properties[i]->name,
                            upsert->content->properties[i]->value);
    return text;
}

static void what_no_attribute_is_for_is_kept(void **state)
{
    struct fixture *fixture = *state;
    const struct feed_unknown *unknown;
    struct buf csv = BUF_INIT(1 << 20);
    const Torg__V1__FeedUpsert *upsert;
    size_t count;

    assert_string_equal(properties_of(fixture,
                                      "id|category|title|Вкус|color|Ток [А]|Закупочная цена|Вкус\n"
                                      "1|home|Вещь|<b>сладкий|red|16|990|<b>сладкий"),
                        "Вкус=сладкий; Ток=16 А");
    unknown = feed_mapping_unknown(fixture->mapping, &count);
    assert_int_equal(count, 3);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(unknown[i].is_left_out, strcmp(unknown[i].name, "Закупочная цена") == 0);
    /* What is too long or too much is told. */
    buf_put_text(&csv, "id|category|title|Длинное");
    for (int i = 0; i < OFFER_PROPERTY_COUNT_MAX + 1; i++)
        buf_printf(&csv, "|x%d", i);
    buf_put_text(&csv, "\n1|home|Вещь|");
    for (int i = 0; i < OFFER_PROPERTY_VALUE_LENGTH_MAX + 1; i++)
        buf_put_text(&csv, "д");
    for (int i = 0; i < OFFER_PROPERTY_COUNT_MAX + 1; i++)
        buf_put_text(&csv, "|да");
    upsert = map_row(fixture, buf_text(&csv));
    assert_int_equal(upsert->content->n_properties, OFFER_PROPERTY_COUNT_MAX);
    assert_int_equal(upsert->n_notes, 2);
    assert_non_null(strstr(upsert->notes[0]->reason, "Длинное: is left out"));
    assert_non_null(strstr(upsert->notes[1]->reason, "x50: is left out"));
    buf_release(&csv);
}

static void what_is_kept_has_so_many_bytes(void **state)
{
    struct fixture *fixture = *state;
    struct buf csv = BUF_INIT(1 << 20);
    const Torg__V1__FeedUpsert *upsert;
    size_t size = 0;

    buf_put_text(&csv, "id|category|title");
    for (int i = 0; i < OFFER_PROPERTY_COUNT_MAX; i++)
        buf_printf(&csv, "|x%02d", i);
    buf_put_text(&csv, "\n1|home|Вещь");
    for (int i = 0; i < OFFER_PROPERTY_COUNT_MAX; i++) {
        buf_put_text(&csv, "|");
        for (int k = 0; k < OFFER_PROPERTY_VALUE_LENGTH_MAX; k++)
            buf_put_text(&csv, "д");
    }
    upsert = map_row(fixture, buf_text(&csv));
    for (size_t i = 0; i < upsert->content->n_properties; i++)
        size += strlen(upsert->content->properties[i]->name) +
                strlen(upsert->content->properties[i]->value);
    assert_in_range(size, FEED_PROPERTY_SIZE_MAX - 1000, FEED_PROPERTY_SIZE_MAX);
    assert_non_null(strstr(upsert->notes[0]->reason, "bytes together, are kept"));
    buf_release(&csv);
}

static void many_names_do_not_make_it_grow(void **state)
{
    struct fixture *fixture = *state;

    for (int i = 0; i < 3 * FEED_MEMO_COUNT_MAX; i++) {
        struct arena_mark mark = arena_mark(fixture->arena);

        assert_non_null(strstr(
            category_of(fixture, "", arena_printf(fixture->arena, "Ложки %d", i)), "no category"));
        assert_string_equal(
            values_of(fixture, arena_printf(fixture->arena,
                                            "id|category|title|x%d|color\n1|home|Вещь|1|red", i)),
            "color=red");
        arena_rewind(fixture->arena, mark);
    }
    assert_string_equal(category_of(fixture, "17", "чайники"), "kettles");
}

static void fields_of_some_categories_stand_among_the_attributes(void **state)
{
    struct fixture *fixture = *state;
    const Torg__V1__FeedUpsert *upsert =
        map_row(fixture, "id|category|title|salary from|Зарплата до|salary_period|Продавец|обмен|"
                         "delivery\n1|jobs|Водитель|80 000|120000 руб.|смена|Компания|да|true");
    const Torg__V1__Salary *salary = upsert->content->salary;

    assert_non_null(salary);
    assert_int_equal(salary->min, 8000000);
    assert_int_equal(salary->max, 12000000);
    assert_int_equal(salary->period, TORG__V1__SALARY__PERIOD__SHIFT);
    assert_string_equal(salary->currency, "RUB");
    assert_int_equal(upsert->content->seller_kind, TORG__V1__OFFER_CONTENT__SELLER_KIND__BUSINESS);
    assert_true(upsert->content->exchange);
    assert_false(upsert->content->delivery); /* jobs have none: feeds say it of everything */
    assert_int_equal(upsert->n_notes, 0);

    upsert = map_row(fixture, "id|category|title|price|exchange\n1|jobs|Водитель|80000|perhaps");
    assert_null(upsert->content->price);
    assert_int_equal(upsert->content->salary->min, 8000000);
    assert_int_equal(upsert->content->salary->period, TORG__V1__SALARY__PERIOD__MONTH);
    assert_int_equal(upsert->n_notes, 1);
    assert_string_equal(upsert->notes[0]->field, "attributes.exchange");
}

static void a_deletion_is_an_event_of_its_own(void **state)
{
    struct fixture *fixture = *state;

    map_row(fixture, "id|deleted\n8|да");
    assert_int_equal(fixture->event.event_case, TORG__V1__FEED_EVENT__EVENT_DELETE);
    assert_int_equal(fixture->event.delete_->row, 1);
}

static void what_is_not_available_is_told(void **state)
{
    struct fixture *fixture = *state;

    map_row(fixture, "id|availability\n8|out of stock");
    assert_true(fixture->event.upsert->unavailable);
    map_row(fixture, "id|наличие\n8|да");
    assert_false(fixture->event.upsert->unavailable);
    map_row(fixture, "id|available\n8|perhaps"); /* noted, and taken for available */
    assert_false(fixture->event.upsert->unavailable);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_category_is_found_by_id_and_by_name_along_the_path,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_map_goes_first, set_up, tear_down),
        cmocka_unit_test_setup_teardown(attributes_are_read_by_their_types, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_number_is_read_whole, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_number_is_never_cut, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_is_no_value_is_left_out_with_a_note, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_required_one_refuses_the_row, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_map_sets_attributes_and_a_default, set_up, tear_down),
        cmocka_unit_test_setup_teardown(units_stand_in_names_too, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_a_category_does_not_take_is_left_out, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(unknown_names_are_counted, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_no_attribute_is_for_is_kept, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_is_kept_has_so_many_bytes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(many_names_do_not_make_it_grow, set_up, tear_down),
        cmocka_unit_test_setup_teardown(fields_of_some_categories_stand_among_the_attributes,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_deletion_is_an_event_of_its_own, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_is_not_available_is_told, set_up, tear_down),
    };

    return cmocka_run_group_tests_name("feed_mapping", tests, NULL, NULL);
}
