/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which categories another catalogue concerns: those whose documents it changes, and no others.
 * Each case composes one offer a category, with a value of every kind, by both catalogues.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/memory.h"
#include "codec/message.h"
#include "documents/category_digest.h"
#include "documents/offer_document.h"

static const char plain[] =
    "{\"attributes\": ["
    "{\"id\": \"o\", \"name\": {\"en\": \"Option\"}, \"type\": \"OPTIONS\", \"filter\": \"LIST\","
    " \"options\": [{\"id\": \"top\", \"name\": {\"en\": \"Upper\"}},"
    " {\"id\": \"leaf\", \"name\": {\"en\": \"Leaf\"}, \"parent\": \"top\"}]},"
    "{\"id\": \"d\", \"name\": {\"en\": \"Decimal\"}, \"type\": \"DECIMAL\", \"digits\": 2,"
    " \"units\": [{\"id\": \"m\", \"name\": {\"en\": \"m\"}}, {\"id\": \"k\", \"name\": "
    "{\"en\": \"k\"}, \"factor\": \"1000\"}]},"
    "{\"id\": \"i\", \"name\": {\"en\": \"Integer\"}, \"type\": \"INTEGER\", \"max\": \"99\"},"
    "{\"id\": \"t\", \"name\": {\"en\": \"Text\"}, \"type\": \"TEXT\"}],"
    " \"defaults\": {\"filters\": [\"PRICE\"], \"policy\": {\"currencies\": [\"RUB\"]}},"
    " \"categories\": ["
    "{\"id\": \"a\", \"name\": {\"en\": \"Alpha\"}, \"attributes\": [\"o\", \"d\"]},"
    "{\"id\": \"b\", \"name\": {\"en\": \"Beta\"}, \"parent\": \"a\", \"attributes\": [\"t\"]},"
    "{\"id\": \"c\", \"name\": {\"en\": \"Gamma\"}, \"attributes\": [\"i\"], \"synonyms\": "
    "{\"en\": [\"third\"]}}]}";

/* plain with one text in place of another, and the categories that this concerns. */
struct edit {
    const char *from, *to, *wanted;
};

static const struct edit edits[] = {
    {"", "", ""},
    {"\"Alpha\"", "\"First\"", "a b "},
    {"\"Beta\"", "\"Second\"", "b "},
    {"\"parent\": \"a\"", "\"parent\": \"c\"", "b "},
    {"\"Upper\"", "\"Above\"", "a b "},
    {"\"Leaf\"", "\"Page\"", "a b "},
    {"\"digits\": 2", "\"digits\": 0", "a b "},
    {"\"factor\": \"1000\"", "\"factor\": \"100\"", "a b "},
    {"\"attributes\": [\"t\"]", "\"attributes\": []", "b "},
    {"\"attributes\": [\"i\"]", "\"attributes\": []", "c "},
    {"\"third\"", "\"3rd\"", "c "},
    {"\"id\": \"c\"", "\"id\": \"z\"", "c z "},
    {"[\"RUB\"]", "[\"USD\", \"RUB\"]", "a b c "}, /* what is compared is another */
    /* Of the catalogue, not of documents. */
    {"[\"RUB\"]", "[\"RUB\", \"USD\"]", ""},
    {"\"Option\"", "\"Choice\"", ""},
    {"\"max\": \"99\"", "\"max\": \"98\"", ""},
    {"\"PRICE\"", "\"DATE\"", ""},
    {"\"attributes\": [\"o\", \"d\"]", "\"attributes\": [\"d\", \"o\"]", ""},
};

static struct catalog *load(const char *from, const char *to)
{
    const char *place = strstr(plain, from);
    struct buf json = BUF_INIT(1 << 14);
    struct catalog *catalog;
    struct err err;

    assert_non_null(place);
    buf_printf(&json, "%.*s%s%s", (int)(place - plain), plain, to, place + strlen(from));
    if (catalog_from_json(buf_bytes(&json), NULL, &catalog, &err))
        fail_msg("%s: %s", to, err.text);
    buf_release(&json);
    return catalog;
}

static Torg__V1__AttributeValue *value_of(const char *id, struct arena *arena)
{
    Torg__V1__AttributeValue *value =
        (Torg__V1__AttributeValue *)message_new(&torg__v1__attribute_value__descriptor, arena);

    value->attribute_id = arena_strdup(arena, id);
    return value;
}

static Torg__V1__Offer *offer_of(const char *category, struct arena *arena)
{
    Torg__V1__Offer *offer = (Torg__V1__Offer *)message_new(&torg__v1__offer__descriptor, arena);
    Torg__V1__OfferContent *content =
        (Torg__V1__OfferContent *)message_new(&torg__v1__offer_content__descriptor, arena);
    Torg__V1__AttributeValue **values = arena_array(arena, 4, sizeof(*values));

    values[0] = value_of("o", arena);
    values[0]->options = arena_array(arena, 1, sizeof(char *));
    values[0]->options[values[0]->n_options++] = arena_strdup(arena, "leaf");
    values[1] = value_of("d", arena);
    values[1]->value_case = TORG__V1__ATTRIBUTE_VALUE__VALUE_DECIMAL;
    values[1]->decimal = arena_strdup(arena, "1.25");
    values[1]->unit = arena_strdup(arena, "k");
    values[2] = value_of("i", arena);
    values[2]->value_case = TORG__V1__ATTRIBUTE_VALUE__VALUE_INTEGER;
    values[2]->integer = 7;
    values[3] = value_of("t", arena);
    values[3]->value_case = TORG__V1__ATTRIBUTE_VALUE__VALUE_TEXT;
    values[3]->text = arena_strdup(arena, "said");
    content->category = arena_strdup(arena, category);
    content->title = arena_strdup(arena, "thing");
    content->price = (Torg__V1__Price *)message_new(&torg__v1__price__descriptor, arena);
    content->price->amount = 100;
    content->price->currency = arena_strdup(arena, "RUB");
    content->attributes = values;
    content->n_attributes = 4;
    offer->id = arena_strdup(arena, "1");
    offer->seller = arena_strdup(arena, "s");
    offer->status = TORG__V1__OFFER__STATUS__ACTIVE;
    offer->content = content;
    offer->update_time =
        (Google__Protobuf__Timestamp *)message_new(&google__protobuf__timestamp__descriptor, arena);
    return offer;
}

static void put_document(const struct catalog *catalog, const char *category, struct arena *arena,
                         struct buf *out)
{
    Torg__V1__RawDocument *document;
    struct err err;

    if (!offer_document(offer_of(category, arena), catalog, arena, &document, &err))
        message_encode(&document->base, out);
}

static bool makes_the_same(const struct catalog *before, const struct catalog *after,
                           const char *category, struct arena *arena)
{
    struct buf sides[] = {BUF_INIT(1 << 16), BUF_INIT(1 << 16)};
    bool is_same;

    put_document(before, category, arena, &sides[0]);
    put_document(after, category, arena, &sides[1]);
    is_same = bytes_equal(buf_bytes(&sides[0]), buf_bytes(&sides[1]));
    buf_release(&sides[0]);
    buf_release(&sides[1]);
    return is_same;
}

static void what_changes_documents_is_listed_and_nothing_else(void **state)
{
    static const char *const all[] = {"a", "b", "c", "z"};

    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(edits); i++) {
        struct catalog *before = load("", "");
        struct catalog *after = load(edits[i].from, edits[i].to);
        struct arena *arena = arena_new();
        struct category_ids ids = {0};
        struct buf listed = BUF_INIT(256);
        struct buf differ = BUF_INIT(256);

        category_ids_add_changed(&ids, before, after, arena);
        category_ids_add_changed(&ids, before, after,
                                 arena); /* of another step: once all the same */
        category_ids_settle(&ids);
        for (size_t k = 0; k < ids.count; k++)
            buf_printf(&listed, "%s ", ids.list[k]);
        for (size_t k = 0; k < ARRAY_COUNT(all); k++) {
            if (!makes_the_same(before, after, all[k], arena))
                buf_printf(&differ, "%s ", all[k]);
        }
        print_message("# %s > %s\n", edits[i].from, edits[i].to);
        assert_string_equal(buf_text(&listed), edits[i].wanted);
        assert_string_equal(buf_text(&differ), edits[i].wanted);
        category_ids_release(&ids);
        buf_release(&listed);
        buf_release(&differ);
        arena_free(arena);
        catalog_unref(before);
        catalog_unref(after);
    }
}

static void before_the_first_version_everything_is_new(void **state)
{
    struct catalog *after = load("", "");
    struct arena *arena = arena_new();
    struct category_ids ids = {0};

    (void)state;
    category_ids_add_changed(&ids, NULL, after, arena);
    category_ids_settle(&ids);
    assert_int_equal(ids.count, 3);
    category_ids_release(&ids);
    arena_free(arena);
    catalog_unref(after);
}

static void a_newer_catalogue_outdoes_an_older_and_no_newer_change(void **state)
{
    struct catalog *catalogs[] = {load("", ""), load("", "")};
    struct arena *arena = arena_new();
    Torg__V1__RawDocument *documents[2], *hidden;
    struct err err;

    (void)state;
    catalog_set_version(catalogs[0], 7);
    catalog_set_version(catalogs[1], 1000001);
    for (int i = 0; i < 2; i++) {
        Torg__V1__Offer *offer = offer_of("a", arena);

        offer->update_time->seconds = 10;
        offer->update_time->nanos = 999999000;
        assert_int_equal(offer_document(offer, catalogs[i], arena, &documents[i], &err), 0);
        assert_int_equal(documents[i]->version, 10999999);
    }
    assert_int_equal(documents[0]->modify_timestamp->seconds, 11);
    assert_int_equal(documents[0]->modify_timestamp->nanos, 6000);
    assert_int_equal(documents[1]->modify_timestamp->seconds, 12);
    assert_int_equal(documents[1]->modify_timestamp->nanos, 0);
    assert_int_equal(
        offer_document_hidden(offer_of("gone", arena), catalogs[0], false, arena, &hidden, &err),
        0);
    assert_int_equal(hidden->event, TORG__V1__RAW_DOCUMENT__EVENT__DELETE);
    assert_int_equal(hidden->modify_timestamp->nanos, 7000);
    assert_int_equal(hidden->version, 0);
    assert_int_equal(
        offer_document_hidden(offer_of("gone", arena), catalogs[0], true, arena, &hidden, &err), 0);
    assert_int_equal(hidden->version, -1);
    arena_free(arena);
    catalog_unref(catalogs[0]);
    catalog_unref(catalogs[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_changes_documents_is_listed_and_nothing_else),
        cmocka_unit_test(before_the_first_version_everything_is_new),
        cmocka_unit_test(a_newer_catalogue_outdoes_an_older_and_no_newer_change),
    };

    return cmocka_run_group_tests_name("documents-category_digest", tests, NULL, NULL);
}
