/* SPDX-License-Identifier: Apache-2.0 */
/* request_list.c - order and facets of a request: how its hits are listed and counted. */
#include "query/bounds.h"
#include "query/filter/value.h"
#include "query/request/request_parts.h"

/* ---- order ---- */

static int read_field_sort(const struct request_reader *reader, const struct request_path *path,
                           const Torg__V1__Sort *message, struct query_sort *sort)
{
    struct request_path name = path_to(path, "field");
    struct request_path from = path_to(path, "from");
    const struct field *field;
    int rc = request_field(reader, &name, message->field, &field);

    if (rc)
        return rc;
    if (!field_has_column(field) || field->multiple)
        return request_refuse(reader, &name, ERR_INVALID,
                              "field \"%s\" is a %s%s: documents are sorted by one number, date, "
                              "boolean, keyword or point each",
                              field->name, field->multiple ? "multiple " : "",
                              field_type_name(field->type));
    sort->kind = field->type == FIELD_GEO ? SORT_DISTANCE : SORT_FIELD;
    sort->field = bytes_of(field->name);
    sort->descending = message->descending;
    if (field->type == FIELD_GEO)
        return request_point(reader, &from, message->from, &sort->lat, &sort->lon);
    if (message->from)
        return request_refuse(reader, &from, ERR_INVALID, "field \"%s\" has no points",
                              field->name);
    return 0;
}

static int read_sort(const struct request_reader *reader, const struct request_path *path,
                     const Torg__V1__Sort *message, struct query_sort *sort)
{
    if (message->relevance + (*message->field != 0) + (*message->formula != 0) != 1)
        return request_refuse(reader, path, ERR_INVALID,
                              "expected exactly one of relevance, field and formula");
    if (*message->field)
        return read_field_sort(reader, path, message, sort);
    if (message->descending || message->from)
        return request_refuse(reader, path, ERR_INVALID,
                              "descending and from belong to a field; relevance and formulas have "
                              "the highest first (write -x for the lowest)");
    sort->kind = message->relevance ? SORT_RELEVANCE : SORT_FORMULA;
    sort->formula = bytes_of(message->formula);
    return 0;
}

int request_sorts(const struct request_reader *reader, const struct request_path *path,
                  const Torg__V1__QueryStage *message, struct query_stage *stage)
{
    struct query_sort *sorts;
    size_t i;
    int rc = 0;

    if (message->n_sorts > SORT_COUNT_MAX) {
        struct request_path at = path_to(path, "sorts");

        return request_refuse(reader, &at, ERR_LIMIT, "%zu of them, at most %d are allowed",
                              message->n_sorts, SORT_COUNT_MAX);
    }
    sorts = arena_array(reader->arena, message->n_sorts + 1, sizeof(*sorts));
    for (i = 0; i < message->n_sorts && !rc; i++) {
        struct request_path at = path_at(path, "sorts", i);

        rc = read_sort(reader, &at, message->sorts[i], &sorts[i]);
    }
    stage->sorts = sorts;
    stage->sort_count = (uint32_t)message->n_sorts;
    return rc;
}

int request_rerank(const struct request_reader *reader, const struct request_path *path,
                   const Torg__V1__Rerank *message, struct query_stage *stage)
{
    struct request_path at = path_to(path, "rerank");

    if (!message)
        return 0;
    if (!*message->formula)
        return request_refuse(reader, &at, ERR_INVALID, "its formula is missing");
    if (!message->count || message->count > QUERY_RERANK_COUNT_MAX)
        return request_refuse(reader, &at, ERR_INVALID, "its count is %u; expected 1 to %d hits",
                              message->count, QUERY_RERANK_COUNT_MAX);
    stage->rerank = bytes_of(message->formula);
    stage->rerank_count = message->count;
    return 0;
}

int request_cap(const struct request_reader *reader, const struct request_path *path,
                const Torg__V1__Cap *message, struct query_stage *stage)
{
    struct request_path at = path_to(path, "cap");
    struct request_path name = path_to(&at, "field");
    const struct field *field;
    int rc;

    if (!message)
        return 0;
    rc = request_field(reader, &name, message->field, &field);
    if (rc)
        return rc;
    if (field->type != FIELD_KEYWORD || field->multiple)
        return request_refuse(reader, &name, ERR_INVALID,
                              "field \"%s\" is a %s%s; a keyword with one value is needed",
                              field->name, field->multiple ? "multiple " : "",
                              field_type_name(field->type));
    if (!message->count)
        return request_refuse(reader, &at, ERR_INVALID,
                              "its count is 0: say how many hits with one value may be shown");
    stage->cap_field = bytes_of(field->name);
    stage->cap = message->count;
    return 0;
}

/* ---- facets ---- */

static int read_bounds(const struct request_reader *reader, const struct request_path *path,
                       const Torg__V1__Facet *message, const struct field *field,
                       struct query_facet *facet)
{
    struct request_path all = path_to(path, "bounds");
    int64_t *bounds;
    size_t i;

    if (message->n_bounds < 2 || message->n_bounds > QUERY_FACET_BOUND_COUNT_MAX)
        return request_refuse(reader, &all, ERR_INVALID, "%zu of them; 2 to %d make ranges",
                              message->n_bounds, QUERY_FACET_BOUND_COUNT_MAX);
    bounds = arena_array(reader->arena, message->n_bounds, sizeof(*bounds));
    for (i = 0; i < message->n_bounds; i++) {
        struct request_path at = path_at(path, "bounds", i);
        int rc = request_value(reader, &at, field, message->bounds[i], false, &bounds[i]);

        if (rc)
            return rc;
        if (i && bounds[i] <= bounds[i - 1])
            return request_refuse(reader, &at, ERR_INVALID, "bounds must ascend");
    }
    facet->bounds = bounds;
    facet->bound_count = (uint32_t)message->n_bounds;
    return 0;
}

static const char *facet_needs(const struct field *field, unsigned kind)
{
    switch (kind) {
    case FACET_VALUES:
        return field_has_dictionary(field) || field->type == FIELD_BOOLEAN
                   ? NULL
                   : "values are counted of keywords, categories and booleans; ask for RANGES of "
                     "numbers";
    case FACET_TREE:
        return field->type == FIELD_CATEGORY ? NULL : "a TREE is counted of a category";
    default:
        return value_is_number(field) ? NULL : "RANGES and MIN_MAX are of numbers and dates";
    }
}

static int read_facet(const struct request_reader *reader, const struct request_path *path,
                      const Torg__V1__Facet *message, struct query_facet *facet)
{
    struct request_path name = path_to(path, "field");
    struct request_path limit = path_to(path, "limit");
    const struct field *field;
    const char *needs;
    int rc = request_field(reader, &name, message->field, &field);

    if (rc)
        return rc;
    if (message->kind > TORG__V1__FACET__KIND__TREE)
        return request_refuse(reader, path, ERR_INVALID, "kind is unknown");
    needs = facet_needs(field, message->kind);
    if (needs)
        return request_refuse(reader, &name, ERR_INVALID, "field \"%s\" is a %s: %s", field->name,
                              field_type_name(field->type), needs);
    if (message->limit > QUERY_FACET_VALUE_COUNT_MAX)
        return request_refuse(reader, &limit, ERR_LIMIT, "%u values, at most %d are answered",
                              message->limit, QUERY_FACET_VALUE_COUNT_MAX);
    *facet = (struct query_facet){.name = bytes_of(message->name),
                                  .kind = (uint8_t)message->kind,
                                  .sees_own_filter = message->sees_own_filter,
                                  .counts_docs = message->count_documents,
                                  .field = bytes_of(field->name),
                                  .limit = message->limit};
    if (message->kind == TORG__V1__FACET__KIND__RANGES)
        return read_bounds(reader, path, message, field, facet);
    return 0;
}

int request_facets(const struct request_reader *reader, const struct request_path *path,
                   const Torg__V1__QueryStage *message, struct query_stage *stage)
{
    struct query_facet *facets;
    size_t i;
    int rc = 0;

    if (message->n_facets > QUERY_FACET_COUNT_MAX) {
        struct request_path at = path_to(path, "facets");

        return request_refuse(reader, &at, ERR_LIMIT, "%zu of them, at most %d are counted",
                              message->n_facets, QUERY_FACET_COUNT_MAX);
    }
    facets = arena_array(reader->arena, message->n_facets + 1, sizeof(*facets));
    for (i = 0; i < message->n_facets && !rc; i++) {
        struct request_path at = path_at(path, "facets", i);

        rc = read_facet(reader, &at, message->facets[i], &facets[i]);
    }
    stage->facets = facets;
    stage->facet_count = (uint32_t)message->n_facets;
    return rc;
}
