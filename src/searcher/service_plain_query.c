/* SPDX-License-Identifier: Apache-2.0 */
/* service_plain_query.c - the parameters of an address as a query; see service_plain.h. */
#include <stdlib.h>

#include "base/memory.h"
#include "base/text.h"
#include "codec/message.h"
#include "model/bounds.h"
#include "model/field_name.h"
#include "query/bounds.h"
#include "query/request/filter_text.h"
#include "searcher/service_plain.h"

struct bytes plain_cut(struct bytes *rest)
{
    int depth = 0;
    size_t size = 0;
    struct bytes part;

    while (size < rest->size && (depth || rest->data[size] != ',')) {
        depth += rest->data[size] == '(';
        depth -= rest->data[size] == ')' && depth;
        size++;
    }
    part = bytes_make(rest->data, size);
    *rest = bytes_skip(*rest, size + (size < rest->size));
    while (part.size && part.data[0] == ' ')
        part = bytes_skip(part, 1);
    while (part.size && part.data[part.size - 1] == ' ')
        part.size--;
    return part;
}

/* How many parts a list has at most. */
static size_t count_parts(struct bytes list)
{
    size_t count = 1;

    for (size_t i = 0; i < list.size; i++)
        count += list.data[i] == ',';
    return count;
}

static int read_name(const struct plain_query *query, const char *parameter, struct bytes given,
                     char **name, struct err *err)
{
    struct buf buf = BUF_INIT(2 * DOCUMENT_FIELD_NAME_SIZE_MAX);
    bool ok = field_name_put(given, &buf);

    *name = arena_text(query->arena, buf_bytes(&buf));
    buf_release(&buf);
    if (!ok)
        return err_set(err, ERR_INVALID, "%s: \"%.*s\" is not the name of a field", parameter,
                       BYTES_ARG(given));
    if (query->schema && !schema_find(query->schema, bytes_of(*name)))
        return err_set(err, ERR_INVALID, "%s: no document has a field \"%.*s\"", parameter,
                       BYTES_ARG(given));
    return 0;
}

static const struct field *field_of(const struct plain_query *query, const char *name)
{
    return query->schema ? schema_find(query->schema, bytes_of(name)) : NULL;
}

/* --- single parameters --- */

static int read_number(const char *name, struct bytes value, uint32_t max, uint32_t *number,
                       struct err *err)
{
    uint64_t read;

    if (!text_to_u64(value, &read) || read > max)
        return err_set(err, ERR_INVALID, "%s: \"%.*s\": expected a whole number, at most %u", name,
                       BYTES_ARG(value), max);
    *number = (uint32_t)read;
    return 0;
}

static int read_bool(const char *name, struct bytes value, bool *truth, struct err *err)
{
    *truth = !value.size || bytes_equal_text(value, "true") || bytes_equal_text(value, "1");
    if (*truth || bytes_equal_text(value, "false") || bytes_equal_text(value, "0"))
        return 0;
    return err_set(err, ERR_INVALID, "%s: \"%.*s\": expected true or false", name,
                   BYTES_ARG(value));
}

/* at(55.75,37.62): by the distance from there. */
static int read_origin(struct bytes part, Torg__V1__Sort *sort, struct bytes *name,
                       struct arena *arena, struct err *err)
{
    const uint8_t *open = memchr(part.data, '(', part.size);
    char *rest;
    char *end;

    if (!open)
        return 0;
    *name = bytes_make(part.data, (size_t)(open - part.data));
    rest = arena_text(arena, bytes_skip(part, name->size + 1));
    sort->from = MESSAGE_NEW(geo_point, arena);
    sort->from->latitude = strtod(rest, &end);
    if (end == rest || *end != ',')
        return err_set(err, ERR_INVALID, "sort: \"%.*s\": expected NAME(latitude,longitude)",
                       BYTES_ARG(part));
    rest = end + 1;
    sort->from->longitude = strtod(rest, &end);
    if (end == rest || strcmp(end, ")") != 0)
        return err_set(err, ERR_INVALID, "sort: \"%.*s\": expected NAME(latitude,longitude)",
                       BYTES_ARG(part));
    return 0;
}

static bool cut_ending(struct bytes *text, const char *ending)
{
    size_t size = strlen(ending);

    if (text->size <= size || memcmp(text->data + text->size - size, ending, size) != 0)
        return false;
    text->size -= size;
    return true;
}

static int read_sort(struct plain_query *query, Torg__V1__QueryStage *stage, struct bytes list,
                     struct err *err)
{
    struct arena *arena = query->arena;
    int rc = 0;

    stage->sorts = arena_array(arena, count_parts(list), sizeof(*stage->sorts));
    while (list.size && !rc) {
        struct bytes part = plain_cut(&list);
        Torg__V1__Sort *sort = MESSAGE_NEW(sort, arena);
        bool is_minus = part.size && part.data[0] == '-';

        part = bytes_skip(part, is_minus);
        sort->descending = cut_ending(&part, ":desc") || is_minus;
        cut_ending(&part, ":asc");
        stage->sorts[stage->n_sorts++] = sort;
        if (bytes_equal_text(part, "relevance")) {
            sort->relevance = true;
            sort->descending = false;
            continue;
        }
        rc = part.size ? read_origin(part, sort, &part, arena, err) : 0;
        rc = rc ? rc : read_name(query, "sort", part, &sort->field, err);
    }
    return rc;
}

static Torg__V1__Facet__Kind kind_of(const struct field *field)
{
    if (!field)
        return TORG__V1__FACET__KIND__VALUES;
    if (field->type == FIELD_CATEGORY)
        return TORG__V1__FACET__KIND__TREE;
    if (field->type == FIELD_INTEGER || field->type == FIELD_DECIMAL || field->type == FIELD_DATE)
        return TORG__V1__FACET__KIND__MIN_MAX;
    return TORG__V1__FACET__KIND__VALUES;
}

static int read_facets(struct plain_query *query, Torg__V1__QueryStage *stage, struct bytes list,
                       uint32_t limit, struct err *err)
{
    int rc = 0;

    stage->facets = arena_array(query->arena, count_parts(list), sizeof(*stage->facets));
    while (list.size && !rc) {
        struct bytes part = plain_cut(&list);
        Torg__V1__Facet *facet = MESSAGE_NEW(facet, query->arena);
        bool is_range = cut_ending(&part, ":range");

        rc = read_name(query, "facets", part, &facet->field, err);
        facet->name = arena_text(query->arena, part);
        facet->kind = is_range ? TORG__V1__FACET__KIND__MIN_MAX
                               : kind_of(rc ? NULL : field_of(query, facet->field));
        facet->limit = limit;
        stage->facets[stage->n_facets++] = facet;
    }
    return rc;
}

static int read_highlight(struct plain_query *query, Torg__V1__QueryStage *stage, struct bytes list,
                          struct err *err)
{
    int rc = 0;

    stage->highlight = MESSAGE_NEW(highlight, query->arena);
    stage->highlight->escape_html = true;
    stage->highlight->fields =
        arena_array(query->arena, count_parts(list), sizeof(*stage->highlight->fields));
    while (list.size && !rc && !bytes_equal_text(list, "*"))
        rc = read_name(query, "highlight", plain_cut(&list),
                       &stage->highlight->fields[stage->highlight->n_fields++], err);
    return rc;
}

static int read_wait(struct plain_query *query, struct bytes list, struct err *err)
{
    query->request->wait =
        arena_array(query->arena, count_parts(list), sizeof(*query->request->wait));
    while (list.size)
        query->request->wait[query->request->n_wait++] = arena_text(query->arena, plain_cut(&list));
    (void)err;
    return 0;
}

static int read_cursor(struct plain_query *query, Torg__V1__QueryStage *stage, struct bytes text,
                       struct err *err)
{
    struct buf cursor = BUF_INIT(QUERY_CURSOR_SIZE_MAX);
    bool ok = text_from_base64(text, &cursor);
    struct bytes kept = arena_copy(query->arena, buf_bytes(&cursor));

    stage->cursor = (ProtobufCBinaryData){kept.size, (uint8_t *)kept.data};
    buf_release(&cursor);
    return ok ? 0 : err_set(err, ERR_INVALID, "cursor: is not one of an earlier answer");
}

/* --- all of them --- */

static int read_page(Torg__V1__QueryStage *stage, const char *name, struct bytes value,
                     struct err *err)
{
    if (strcmp(name, "offset") == 0)
        return read_number(name, value, QUERY_HIT_COUNT_MAX, &stage->offset, err);
    stage->_limit_case = TORG__V1__QUERY_STAGE___LIMIT_LIMIT;
    return read_number(name, value, 1000, &stage->limit, err);
}

static int read_one(struct plain_query *query, Torg__V1__QueryStage *stage,
                    const struct rest_request *request, const char *name, struct bytes value,
                    struct err *err)
{
    const struct rest_parameter *facet_limit = rest_parameter_find(request, "facet_limit");
    uint32_t limit = 0;
    bool truth = false;
    int rc = 0;

    if (strcmp(name, "q") == 0) {
        stage->text = arena_text(query->arena, value);
        query->has_text = value.size > 0;
    } else if (strcmp(name, "filter") == 0) {
        rc = filter_text_read(value, query->arena, &stage->filter, err);
    } else if (strcmp(name, "facets") == 0) {
        rc = facet_limit ? read_number("facet_limit", facet_limit->value, 1000, &limit, err) : 0;
        rc = rc ? rc : read_facets(query, stage, value, limit, err);
    } else if (strcmp(name, "sort") == 0) {
        rc = read_sort(query, stage, value, err);
    } else if (strcmp(name, "limit") == 0 || strcmp(name, "offset") == 0) {
        rc = read_page(stage, name, value, err);
    } else if (strcmp(name, "cursor") == 0) {
        rc = value.size ? read_cursor(query, stage, value, err) : 0;
    } else if (strcmp(name, "highlight") == 0) {
        rc = read_highlight(query, stage, value, err);
    } else if (strcmp(name, "any") == 0) {
        rc = read_bool(name, value, &truth, err);
        stage->any_word = truth;
    } else if (strcmp(name, "wait") == 0) {
        rc = read_wait(query, value, err);
    } else if (strcmp(name, "fields") == 0) {
        query->fields = value;
    } else if (strcmp(name, "explain") == 0) {
        query->explain_id = value;
    }
    return rc;
}

int plain_query_read(const struct rest_request *request, struct plain_query *query, struct err *err)
{
    static const char *const names[] = {"q",     "filter", "facets", "facet_limit", "sort",
                                        "limit", "offset", "cursor", "fields",      "highlight",
                                        "any",   "wait",   "explain"};
    struct arena *arena = query->arena;
    Torg__V1__QueryStage *stage = MESSAGE_NEW(query_stage, arena);
    int rc = 0;

    query->request = MESSAGE_NEW(search_request, arena);
    query->request->query = MESSAGE_NEW(query, arena);
    query->request->query->stages = arena_array(arena, 1, sizeof(Torg__V1__QueryStage *));
    query->request->query->stages[0] = stage;
    query->request->query->n_stages = 1;
    stage->show = arena_array(arena, 1, sizeof(char *));
    stage->show[stage->n_show++] = (char *)"*";
    for (size_t i = 0; i < request->parameter_count && !rc; i++) {
        const struct rest_parameter *one = &request->parameters[i];
        const char *known = NULL;

        for (size_t k = 0; k < ARRAY_COUNT(names) && !known; k++)
            known = bytes_equal_text(one->name, names[k]) ? names[k] : NULL;
        if (!known)
            rc = err_set(err, ERR_INVALID,
                         "%.*s: is not a parameter of a search; known are q, filter, facets, "
                         "facet_limit, sort, limit, offset, cursor, fields, highlight, any, wait, "
                         "explain",
                         BYTES_ARG(one->name));
        else if (rest_parameter_find(request, known) != one)
            rc = err_set(err, ERR_INVALID, "%s: comes twice", known);
        else
            rc = read_one(query, stage, request, known, one->value, err);
    }
    return rc;
}
