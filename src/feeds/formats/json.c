/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json.c - JSON lines: one object per line, with the same names as CSV's columns, or built like
 * the offer of the API (price.amount, address.point, contacts.phones).
 *
 * Numbers and booleans are as good as texts. A line that is no object is a problem of its row.
 * Lines are bounded, so a line's tree is: some 20 times its size at worst. jansson is used rather
 * than the reader of net/, since sellers' files need lenient types and free names.
 */
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/text.h"
#include "feeds/bounds.h"
#include "feeds/formats/format.h"
#include "feeds/formats/text.h"
#include "feeds/formats/value.h"

enum { SCALAR_SIZE = 40 };

struct json_feed {
    struct feed_reader base;
    struct feed_text text;
    struct bytes block; /* not looked at yet */
    struct buf line;
    uint64_t line_number; /* of the line in `line` */
};

static struct json_feed *json_of(struct feed_reader *reader)
{
    return container_of(reader, struct json_feed, base);
}

static struct feed_reader *json_create(void)
{
    struct json_feed *json = mem_zero(sizeof(*json));

    feed_text_init(&json->text);
    buf_init(&json->line, FEED_ROW_SIZE_MAX);
    return &json->base;
}

static void json_destroy(struct feed_reader *reader)
{
    struct json_feed *json = json_of(reader);

    feed_text_release(&json->text);
    buf_release(&json->line);
    free(json);
}

static int json_start(struct feed_reader *reader, struct err *err)
{
    return 0;
}

/* *ended: with its line's end. *found = false at the end of the text. */
static int read_line(struct json_feed *json, bool *found, bool *ended, struct err *err)
{
    buf_reset(&json->line);
    json->line_number++;
    *ended = false;
    *found = true;
    while (!*ended) {
        const uint8_t *end;
        size_t size;

        if (json->block.size == 0) {
            int rc = feed_text_next(&json->text, &json->base, &json->block, err);

            if (rc)
                return rc;
        }
        if (json->block.size == 0) {
            *found = json->line.size > 0;
            return 0;
        }
        end = memchr(json->block.data, '\n', json->block.size);
        size = end ? (size_t)(end - json->block.data) : json->block.size;
        buf_put_raw(&json->line, json->block.data, size);
        if (buf_failed(&json->line))
            return err_set(err, ERR_LIMIT, "line %" PRIu64 " is longer than %d bytes",
                           json->line_number, FEED_ROW_SIZE_MAX);
        *ended = end != NULL;
        json->block = bytes_skip(json->block, size + *ended);
    }
    return 0;
}

/* The text of a text, number or boolean; false for everything else. */
static bool scalar_text(const json_t *value, char room[SCALAR_SIZE], struct bytes *text)
{
    switch (json_typeof(value)) {
    case JSON_STRING:
        *text = bytes_make(json_string_value(value), json_string_length(value));
        return true;
    case JSON_INTEGER:
        snprintf(room, SCALAR_SIZE, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
        break;
    case JSON_REAL:
        snprintf(room, SCALAR_SIZE, "%.15g", json_real_value(value));
        break;
    case JSON_TRUE:
    case JSON_FALSE:
        snprintf(room, SCALAR_SIZE, "%s", json_is_true(value) ? "true" : "false");
        break;
    default:
        return false;
    }
    *text = bytes_of(room);
    return true;
}

static void put_attribute(struct feed_builder *builder, const char *name, const json_t *value)
{
    const json_t *unit = json_object_get(value, "unit");
    const json_t *inner = json_is_object(value) ? json_object_get(value, "value") : value;
    char room[SCALAR_SIZE];
    char unit_room[SCALAR_SIZE];
    struct bytes text = BYTES_EMPTY;
    struct bytes unit_text = BYTES_EMPTY;
    struct bytes attribute;

    if (json_is_null(value))
        return;
    feed_field_find(bytes_of(name), &attribute);
    if (unit)
        scalar_text(unit, unit_room, &unit_text);
    if (!inner || !scalar_text(inner, room, &text))
        violations_add(feed_builder_faults(builder, FEED_FIELD_ATTRIBUTE), "attributes",
                       "\"%.*s\" is neither a text nor a number",
                       BYTES_ARG(feed_shown(bytes_of(name))));
    else
        feed_builder_attribute(builder, attribute, text, unit_text);
}

/* One attribute a value of a list; a list of lists is refused. */
static void put_attribute_values(struct feed_builder *builder, const char *name, json_t *value)
{
    size_t i;

    if (!json_is_array(value)) {
        put_attribute(builder, name, value);
        return;
    }
    for (i = 0; i < json_array_size(value); i++)
        put_attribute(builder, name, json_array_get(value, i));
}

/* {"Цвет": "синий"} or [{"name": "Цвет", "value": "синий"}] */
static void put_attributes(struct feed_builder *builder, json_t *value)
{
    void *at;
    size_t i;

    if (!json_is_object(value) && !json_is_array(value))
        violations_add(feed_builder_faults(builder, FEED_FIELD_ATTRIBUTE), "attributes",
                       "is neither an object nor a list");
    for (at = json_object_iter(value); at; at = json_object_iter_next(value, at))
        put_attribute_values(builder, json_object_iter_key(at), json_object_iter_value(at));
    for (i = 0; i < json_array_size(value); i++) {
        const json_t *each = json_array_get(value, i);
        const char *name = json_string_value(json_object_get(each, "name"));

        put_attribute(builder, name ? name : "", each);
    }
}

static void put_list(struct feed_builder *builder, enum feed_field field, json_t *list)
{
    char room[SCALAR_SIZE];
    struct bytes text;
    size_t i;

    for (i = 0; i < json_array_size(list); i++) {
        const json_t *each = json_array_get(list, i);
        const json_t *url = json_object_get(each, "url");

        url = url ? url : json_object_get(each, "sourceUrl");
        if (!scalar_text(url ? url : each, room, &text))
            violations_add(feed_builder_faults(builder, field), feed_field_name(field),
                           "[%zu] is not a text", i);
        else
            feed_builder_put(builder, field, text);
    }
}

static void put_member(struct feed_builder *builder, const char *name, json_t *value);

/* What the API nests: price {amount, currency}, address {text, point}, contacts {name, …}. */
static void put_nested(struct feed_builder *builder, const char *name, json_t *object)
{
    static const struct {
        const char *above;
        const char *name;
        const char *meant;
    } renamed[] = {{"price", "amount", "price"},        {"address", "text", "address"},
                   {"contacts", "name", "contactName"}, {"contacts", "phones", "phones"},
                   {"contacts", "email", "email"},      {"price", "currency", "currency"},
                   {"point", "latitude", "latitude"},   {"point", "longitude", "longitude"},
                   {"address", "point", "point"}};
    void *at;
    size_t i;

    for (at = json_object_iter(object); at; at = json_object_iter_next(object, at)) {
        const char *inner = json_object_iter_key(at);
        json_t *value = json_object_iter_value(at);
        const char *meant = NULL;

        for (i = 0; i < ARRAY_COUNT(renamed); i++) {
            if (strcmp(renamed[i].above, name) == 0 && strcmp(renamed[i].name, inner) == 0)
                meant = renamed[i].meant;
        }
        /* No object is deeper than address.point.latitude: the walk ends. */
        if (!meant || (json_is_object(value) && strcmp(meant, "point") != 0))
            violations_add(meant ? &builder->row.problems : &builder->row.notes, name,
                           "\"%.*s\" is not known here", BYTES_ARG(feed_shown(bytes_of(inner))));
        else if (json_is_object(value))
            put_nested(builder, meant, value);
        else
            put_member(builder, meant, value);
    }
    if (strcmp(name, "price") == 0)
        feed_builder_minor_price(builder);
}

static void put_member(struct feed_builder *builder, const char *name, json_t *value)
{
    char room[SCALAR_SIZE];
    struct bytes text = BYTES_EMPTY;
    struct bytes attribute;
    enum feed_field field = feed_field_find(bytes_of(name), &attribute);

    if (json_is_null(value))
        return;
    if (scalar_text(value, room, &text))
        feed_builder_named(builder, bytes_of(name), text);
    else if (json_is_array(value) && field >= FEED_FIELD_SINGLE_COUNT)
        put_list(builder, field, value);
    else if (field == FEED_FIELD_ATTRIBUTE)
        put_attribute_values(builder, name, value);
    else
        violations_add(feed_builder_faults(builder, field), feed_field_name(field),
                       "is neither a text nor a number");
}

static bool is_nest(const char *name, const json_t *value)
{
    return json_is_object(value) && (strcmp(name, "price") == 0 || strcmp(name, "address") == 0 ||
                                     strcmp(name, "contacts") == 0);
}

static void put_object(struct feed_builder *builder, json_t *object)
{
    void *at;

    for (at = json_object_iter(object); at; at = json_object_iter_next(object, at)) {
        const char *name = json_object_iter_key(at);
        json_t *value = json_object_iter_value(at);

        if (strcmp(name, "attributes") == 0 || strcmp(name, "params") == 0)
            put_attributes(builder, value);
        else if (is_nest(name, value))
            put_nested(builder, name, value);
        else
            put_member(builder, name, value);
    }
}

/* What jansson says, which may quote bytes of the line that are no text. */
static const char *why_broken(const json_error_t *problem)
{
    return text_is_utf8(bytes_of(problem->text)) ? problem->text : "it is not valid UTF-8 or JSON";
}

static int json_next(struct feed_reader *reader, bool *found, struct err *err)
{
    struct json_feed *json = json_of(reader);
    struct bytes line;
    json_error_t problem;
    json_t *object;
    bool ended;
    int rc;

    do {
        rc = read_line(json, found, &ended, err);
        if (rc || !*found)
            return rc;
        line = feed_trim(buf_bytes(&json->line));
    } while (line.size == 0);
    rc = feed_begin_row(reader, json->line_number, err);
    if (rc)
        return rc;
    object = json_loadb((const char *)line.data, line.size, JSON_REJECT_DUPLICATES, &problem);
    if (json_is_object(object)) {
        put_object(&reader->builder, object);
    } else {
        violations_add(feed_builder_problems(&reader->builder), "row",
                       "line %" PRIu64 " is not a JSON object: %s", json->line_number,
                       object ? "another value is there" : why_broken(&problem));
        if (!ended && !object)
            reader->cut = "the last line is not a whole object";
    }
    json_decref(object);
    return 0;
}

const struct feed_format_ops feed_json_ops = {
    .create = json_create,
    .start = json_start,
    .next = json_next,
    .destroy = json_destroy,
};
