/* SPDX-License-Identifier: Apache-2.0 */
/* service_plain_answer.c - hits and facets as plain JSON; see service_plain.h. */
#include <string.h>

#include "base/text.h"
#include "codec/json_value.h"
#include "codec/placed_json.h"
#include "searcher/service_plain.h"

/* As registry/plain/columns.h writes them. */
#define SOURCE_FIELD "plain-source"
#define WORDS_FIELD "plain-words"

static void put_name(struct buf *out, bool *is_first, struct bytes name)
{
    if (!*is_first)
        buf_put_byte(out, ',');
    *is_first = false;
    json_put_text(out, name);
    buf_put_byte(out, ':');
}

/* "5.0000" is 5, "5.50" is 5.5. */
static struct bytes trim_number(struct bytes text)
{
    const uint8_t *point = text.size ? memchr(text.data, '.', text.size) : NULL;

    if (!point)
        return text;
    while (text.data[text.size - 1] == '0')
        text.size--;
    if (text.data + text.size - 1 == point)
        text.size--;
    return text;
}

/* A number as one, all else as a string. */
static void put_number(struct buf *out, const char *text)
{
    double value;

    if (json_double(bytes_of(text), &value))
        buf_put(out, trim_number(bytes_of(text)));
    else
        json_put_text(out, bytes_of(text));
}

static void put_point(struct buf *out, const char *text)
{
    const char *comma = strstr(text, ", ");

    if (comma)
        buf_printf(out, "{\"lat\":%.*s,\"lon\":%s}", (int)(comma - text), text, comma + 2);
    else
        json_put_text(out, bytes_of(text));
}

static void put_value(struct buf *out, const struct field *field, const char *text)
{
    enum field_type type = field ? field->type : FIELD_STORED;

    if (type == FIELD_INTEGER || type == FIELD_DECIMAL)
        put_number(out, text);
    else if (type == FIELD_BOOLEAN)
        buf_put_text(out, text);
    else if (type == FIELD_GEO)
        put_point(out, text);
    else
        json_put_text(out, bytes_of(text));
}

static bool is_wanted(const struct plain_query *query, struct bytes name)
{
    struct bytes rest = query->fields;

    if (!rest.size)
        return true;
    while (rest.size)
        if (bytes_equal(plain_cut(&rest), name))
            return true;
    return false;
}

static const Torg__V1__ShownField *shown(const Torg__V1__Hit *hit, const char *name)
{
    for (size_t i = 0; i < hit->n_fields; i++)
        if (strcmp(hit->fields[i]->name, name) == 0 && hit->fields[i]->n_values)
            return hit->fields[i];
    return NULL;
}

static void put_fields(const struct plain_query *query, const Torg__V1__Hit *hit, struct buf *out,
                       bool *is_first)
{
    put_name(out, is_first, bytes_of("id"));
    json_put_text(out, bytes_of(hit->pk));
    for (size_t i = 0; i < hit->n_fields; i++) {
        const Torg__V1__ShownField *one = hit->fields[i];
        const struct field *field =
            query->schema ? schema_find(query->schema, bytes_of(one->name)) : NULL;
        bool is_list = field ? field->multiple : one->n_values > 1;

        if (strcmp(one->name, WORDS_FIELD) == 0 || !is_wanted(query, bytes_of(one->name)))
            continue;
        put_name(out, is_first, bytes_of(one->name));
        if (is_list)
            buf_put_byte(out, '[');
        for (size_t k = 0; k < one->n_values; k++) {
            if (k)
                buf_put_byte(out, ',');
            put_value(out, field, one->values[k]);
        }
        if (is_list)
            buf_put_byte(out, ']');
    }
}

/* The document as it was sent; false: it is none that can be read. */
static bool put_source(const struct plain_query *query, const char *source, struct buf *out,
                       bool *is_first)
{
    const struct placed_json *list;

    if (placed_json_read_all(bytes_of(source), query->arena, &list, NULL) || list->count != 1 ||
        list->first->kind != PLACED_OBJECT)
        return false;
    for (const struct placed_json *one = list->first->first; one; one = one->next) {
        if (!is_wanted(query, one->key))
            continue;
        put_name(out, is_first, one->key);
        placed_json_put(one, out);
    }
    return true;
}

static void put_hit(const struct plain_query *query, const Torg__V1__Hit *hit, struct buf *out)
{
    const Torg__V1__ShownField *source = shown(hit, SOURCE_FIELD);
    bool is_first = true;

    buf_put_byte(out, '{');
    if (!source || !put_source(query, source->values[0], out, &is_first))
        put_fields(query, hit, out, &is_first);
    if (query->has_text) {
        put_name(out, &is_first, bytes_of("_score"));
        json_put_float(out, hit->score);
    }
    if (hit->n_highlights) {
        bool is_first_mark = true;

        put_name(out, &is_first, bytes_of("_marked"));
        buf_put_byte(out, '{');
        for (size_t i = 0; i < hit->n_highlights; i++) {
            if (!hit->highlights[i]->n_values || !strcmp(hit->highlights[i]->name, WORDS_FIELD))
                continue;
            put_name(out, &is_first_mark, bytes_of(hit->highlights[i]->name));
            json_put_text(out, bytes_of(hit->highlights[i]->values[0]));
        }
        buf_put_byte(out, '}');
    }
    buf_put_byte(out, '}');
}

/* --- facets --- */

static void put_counts(const Torg__V1__FacetAnswer *facet, struct buf *out)
{
    bool is_first = true;

    buf_put_byte(out, '{');
    for (size_t i = 0; i < facet->n_values; i++) {
        put_name(out, &is_first, bytes_of(facet->values[i]->value));
        json_put_u64(out, facet->values[i]->count);
    }
    buf_put_byte(out, '}');
}

/* Counts of values, and ranges of numbers and dates, apart. */
static void put_facets(const Torg__V1__StageAnswer *stage, const Torg__V1__QueryStage *asked,
                       bool is_range, struct buf *out)
{
    bool is_first = true;

    for (size_t i = 0; i < stage->n_facets && i < asked->n_facets; i++) {
        const Torg__V1__FacetAnswer *facet = stage->facets[i];

        if ((asked->facets[i]->kind == TORG__V1__FACET__KIND__MIN_MAX) != is_range)
            continue;
        if (is_first)
            buf_put_text(out, is_range ? ",\"ranges\":{" : ",\"facets\":{");
        put_name(out, &is_first, bytes_of(facet->name));
        if (!is_range) {
            put_counts(facet, out);
        } else if (facet->_min_case && facet->_max_case) {
            buf_put_text(out, "{\"min\":");
            put_number(out, facet->min);
            buf_put_text(out, ",\"max\":");
            put_number(out, facet->max);
            buf_put_byte(out, '}');
        } else {
            buf_put_text(out, "null");
        }
    }
    if (!is_first)
        buf_put_byte(out, '}');
}

/* Its depth is that of a query's filters, which is bounded. */
static void put_explanation(const Torg__V1__Explanation *said, struct buf *out)
{
    buf_printf(out, "{\"holds\":%s,\"text\":", said->holds ? "true" : "false");
    json_put_text(out, bytes_of(said->text));
    if (said->n_parts)
        buf_put_text(out, ",\"parts\":[");
    for (size_t i = 0; i < said->n_parts; i++) {
        if (i)
            buf_put_byte(out, ',');
        put_explanation(said->parts[i], out);
    }
    buf_put_text(out, said->n_parts ? "]}" : "}");
}

static void put_cursor(const Torg__V1__StageAnswer *stage, struct buf *out)
{
    if (!stage->cursor.len)
        return;
    buf_put_text(out, ",\"cursor\":\"");
    text_put_base64_url(out, bytes_make(stage->cursor.data, stage->cursor.len));
    buf_put_byte(out, '"');
}

void plain_answer_write(const struct plain_query *query, const Torg__V1__SearchResponse *response,
                        const Torg__V1__Explanation *explanation, int64_t took_us, struct buf *out)
{
    const Torg__V1__StageAnswer *stage = response->answer->stages[0];
    const Torg__V1__QueryStage *asked = query->request->query->stages[0];

    buf_put_text(out, "{\"total\":");
    json_put_u64(out, stage->total);
    buf_put_text(out, ",\"hits\":[");
    for (size_t i = 0; i < stage->n_hits; i++) {
        if (i)
            buf_put_byte(out, ',');
        put_hit(query, stage->hits[i], out);
    }
    buf_put_byte(out, ']');
    put_facets(stage, asked, false, out);
    put_facets(stage, asked, true, out);
    put_cursor(stage, out);
    if (explanation) {
        buf_put_text(out, ",\"explanation\":");
        put_explanation(explanation, out);
    }
    if (response->is_partial)
        buf_put_text(out, ",\"partial\":true");
    buf_printf(out, ",\"ms\":%.3f}\n", (double)took_us / 1000);
}
