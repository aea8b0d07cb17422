/* SPDX-License-Identifier: Apache-2.0 */
/* request.c - see request.h. */
#include "query/request.h"

#include <math.h>
#include <stdio.h>

#include "base/limits.h"
#include "query/request_parts.h"
#include "query/value.h"

enum { LIMIT_DEFAULT = 10, TOLD_SIZE_MAX = 64 };

static const double degree = 1e7; /* units of a column in one */

/* ---- errors ---- */

static int put_path(const struct request_path *path, char *text, int size)
{
    int used = 0;

    if (path->above)
        used = put_path(path->above, text, size);
    if (used < size)
        used += snprintf(text + used, (size_t)(size - used), "%s%s", used ? "." : "", path->name);
    if (used < size && path->index != PATH_ALONE)
        used += snprintf(text + used, (size_t)(size - used), "[%jd]", (intmax_t)path->index);
    return used < size ? used : size;
}

int request_refuse(const struct request_reader *reader, const struct request_path *path, int code,
                   const char *format, ...)
{
    char where[PATH_SIZE_MAX];
    va_list args;

    put_path(path, where, sizeof(where));
    va_start(args, format);
    err_set_va(reader->err, code, format, args);
    va_end(args);
    if (reader->err)
        err_wrap(reader->err, "%s", where);
    return code;
}

/* ---- what many parts have ---- */

int request_field(const struct request_reader *reader, const struct request_path *path,
                  const char *name, const struct field **field)
{
    *field = schema_find(reader->schema, bytes_of(name));
    if (*field)
        return 0;
    if (!*name)
        return request_refuse(reader, path, ERR_INVALID, "the name of a field is missing");
    return request_refuse(reader, path, ERR_INVALID, "there is no field \"%.*s\"", TOLD_SIZE_MAX,
                          name);
}

int request_value(const struct request_reader *reader, const struct request_path *path,
                  const struct field *field, const char *text, bool is_end, int64_t *value)
{
    if (value_parse(field, bytes_of(text), is_end, value))
        return 0;
    return request_refuse(reader, path, ERR_INVALID, "\"%.*s\" cannot be of field \"%s\": it is %s",
                          TOLD_SIZE_MAX, text, field->name, value_form(field));
}

int request_point(const struct request_reader *reader, const struct request_path *path,
                  const Torg__V1__GeoPoint *point, int32_t *lat, int32_t *lon)
{
    if (!point)
        return request_refuse(reader, path, ERR_INVALID,
                              "a point is missing: {\"latitude\": 55.75, \"longitude\": 37.62}");
    if (!(fabs(point->latitude) <= 90) || !(fabs(point->longitude) <= 180))
        return request_refuse(
            reader, path, ERR_INVALID,
            "%g, %g is no place on earth: latitudes go from -90 to 90, longitudes "
            "from -180 to 180",
            point->latitude, point->longitude);
    *lat = (int32_t)lround(point->latitude * degree);
    *lon = (int32_t)lround(point->longitude * degree);
    return 0;
}

/* ---- text ---- */

/* Bit i is the i-th text field of the schema. */
static int read_mask(const struct request_reader *reader, const struct request_path *path,
                     const Torg__V1__TextClause *message, uint8_t *mask)
{
    size_t i;

    for (i = 0; i < message->n_fields; i++) {
        struct request_path at = path_at(path, "fields", i);
        const struct field *field;
        unsigned place = 0;
        uint32_t k;
        int rc = request_field(reader, &at, message->fields[i], &field);

        if (rc)
            return rc;
        if (field->type != FIELD_TEXT)
            return request_refuse(reader, &at, ERR_INVALID,
                                  "field \"%s\" is a %s; words are looked for in texts",
                                  field->name, field_type_name(field->type));
        for (k = 0; k < field->id; k++)
            place += schema_field(reader->schema, k)->type == FIELD_TEXT;
        *mask |= (uint8_t)(1U << place);
    }
    return 0;
}

static int read_clause(const struct request_reader *reader, const struct request_path *path,
                       const Torg__V1__TextClause *message, struct text_clause *clause)
{
    struct request_path boost = path_to(path, "boost");
    struct request_path text = path_to(path, "text");

    if (message->occur > TORG__V1__TEXT_CLAUSE__OCCUR__NOT ||
        message->kind > TORG__V1__TEXT_CLAUSE__KIND__FUZZY)
        return request_refuse(reader, path, ERR_INVALID, "occur or kind is not one that is known");
    if (!(message->boost >= 0) || isinf(message->boost))
        return request_refuse(reader, &boost, ERR_INVALID, "a number above 0 is due");
    *clause = (struct text_clause){.occur = (uint8_t)message->occur,
                                   .kind = (uint8_t)message->kind,
                                   .boost = message->boost,
                                   .text = bytes_of(message->text)};
    if (clause->text.size > QUERY_TEXT_SIZE_MAX)
        return request_refuse(reader, &text, ERR_LIMIT, "%zu bytes, at most %d are read; send less",
                              clause->text.size, QUERY_TEXT_SIZE_MAX);
    return read_mask(reader, path, message, &clause->fields);
}

static int read_text(const struct request_reader *reader, const struct request_path *path,
                     const Torg__V1__QueryStage *message, struct query_text *text)
{
    struct text_clause *clauses;
    struct err err = {0};
    uint32_t i;
    int rc =
        query_text_parse(bytes_of(message->text), message->any_word, reader->arena, text, &err);

    if (rc) {
        struct request_path at = path_to(path, "text");

        return request_refuse(reader, &at, rc, "%s", err.text);
    }
    text->should_min = message->should_min;
    if (!message->n_clauses)
        return 0;
    if (message->n_clauses + text->count > QUERY_TEXT_CLAUSE_COUNT_MAX) {
        struct request_path at = path_to(path, "clauses");

        return request_refuse(reader, &at, ERR_LIMIT,
                              "%zu of them with those of the text; at most %d are taken",
                              message->n_clauses + text->count, QUERY_TEXT_CLAUSE_COUNT_MAX);
    }
    clauses = arena_array(reader->arena, text->count + message->n_clauses, sizeof(*clauses));
    for (i = 0; i < text->count; i++)
        clauses[i] = text->clauses[i];
    for (i = 0; i < message->n_clauses && !rc; i++) {
        struct request_path at = path_at(path, "clauses", i);

        rc = read_clause(reader, &at, message->clauses[i], &clauses[text->count + i]);
    }
    text->clauses = clauses;
    text->count += (uint32_t)message->n_clauses;
    return rc;
}

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
                              "exactly one of relevance, field and formula is due");
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

static int read_sorts(const struct request_reader *reader, const struct request_path *path,
                      const Torg__V1__QueryStage *message, struct query_stage *stage)
{
    struct query_sort *sorts;
    size_t i;
    int rc = 0;

    if (message->n_sorts > SORT_COUNT_MAX) {
        struct request_path at = path_to(path, "sorts");

        return request_refuse(reader, &at, ERR_LIMIT, "%zu of them, at most %d are taken",
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

static int read_rerank(const struct request_reader *reader, const struct request_path *path,
                       const Torg__V1__Rerank *message, struct query_stage *stage)
{
    struct request_path at = path_to(path, "rerank");

    if (!message)
        return 0;
    if (!*message->formula)
        return request_refuse(reader, &at, ERR_INVALID, "its formula is missing");
    if (!message->count || message->count > QUERY_RERANK_COUNT_MAX)
        return request_refuse(reader, &at, ERR_INVALID, "its count is %u; 1 to %d hits are taken",
                              message->count, QUERY_RERANK_COUNT_MAX);
    stage->rerank = bytes_of(message->formula);
    stage->rerank_count = message->count;
    return 0;
}

static int read_cap(const struct request_reader *reader, const struct request_path *path,
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
            return request_refuse(reader, &at, ERR_INVALID, "bounds are to ascend");
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
        return request_refuse(reader, path, ERR_INVALID, "kind is not one that is known");
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
                                  .field = bytes_of(field->name),
                                  .limit = message->limit};
    if (message->kind == TORG__V1__FACET__KIND__RANGES)
        return read_bounds(reader, path, message, field, facet);
    return 0;
}

static int read_facets(const struct request_reader *reader, const struct request_path *path,
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

/* ---- what is shown ---- */

/* All fields of the schema, or all texts. */
static void list_all(const struct request_reader *reader, bool texts_only,
                     const struct field *const **out, uint32_t *count)
{
    uint32_t field_count = schema_count(reader->schema);
    const struct field **fields = arena_array(reader->arena, field_count + 1, sizeof(fields[0]));
    uint32_t i;

    *count = 0;
    for (i = 0; i < field_count; i++) {
        const struct field *field = schema_field(reader->schema, i);

        if (!texts_only || field->type == FIELD_TEXT)
            fields[(*count)++] = field;
    }
    *out = fields;
}

static int list_named(const struct request_reader *reader, const struct request_path *path,
                      const char *list, char *const *names, size_t name_count,
                      const struct field *const **out, uint32_t *count)
{
    const struct field **fields;
    size_t i;

    if (name_count > SCHEMA_FIELD_COUNT_MAX) {
        struct request_path at = path_to(path, list);

        return request_refuse(reader, &at, ERR_LIMIT, "%zu of them, at most %d are taken",
                              name_count, SCHEMA_FIELD_COUNT_MAX);
    }
    fields = arena_array(reader->arena, name_count + 1, sizeof(fields[0]));
    for (i = 0; i < name_count; i++) {
        struct request_path at = path_at(path, list, i);
        int rc = request_field(reader, &at, names[i], &fields[i]);
        size_t k;

        if (rc)
            return rc;
        for (k = 0; k < i; k++)
            if (fields[k] == fields[i])
                return request_refuse(reader, &at, ERR_INVALID, "field \"%s\" is named twice",
                                      fields[i]->name);
    }
    *out = fields;
    *count = (uint32_t)name_count;
    return 0;
}

static int read_highlight(const struct request_reader *reader, const struct request_path *above,
                          const Torg__V1__Highlight *message, struct query_show *show)
{
    struct request_path path = path_to(above, "highlight");
    struct request_path count = path_to(&path, "fragmentCount");
    bool has_marks;
    uint32_t i;
    int rc = 0;

    if (!message)
        return 0;
    has_marks = *message->before || *message->after;
    show->highlight =
        (struct highlight_options){.before = bytes_of(has_marks ? message->before : "<b>"),
                                   .after = bytes_of(has_marks ? message->after : "</b>"),
                                   .fragment_size = message->fragment_size,
                                   .fragment_count = message->fragment_count,
                                   .escape_html = message->escape_html};
    if (message->fragment_count > HIGHLIGHT_FRAGMENT_COUNT_MAX)
        return request_refuse(reader, &count, ERR_LIMIT, "%u, at most %d are cut",
                              message->fragment_count, HIGHLIGHT_FRAGMENT_COUNT_MAX);
    if (message->n_fields)
        rc = list_named(reader, &path, "fields", message->fields, message->n_fields, &show->marked,
                        &show->marked_count);
    else
        list_all(reader, true, &show->marked, &show->marked_count);
    for (i = 0; i < show->marked_count && !rc; i++) {
        struct request_path at = path_at(&path, "fields", i);

        if (show->marked[i]->type != FIELD_TEXT)
            rc = request_refuse(reader, &at, ERR_INVALID,
                                "field \"%s\" is a %s; words are marked in texts",
                                show->marked[i]->name, field_type_name(show->marked[i]->type));
    }
    return rc;
}

static int read_show(const struct request_reader *reader, const struct request_path *path,
                     const Torg__V1__QueryStage *message, struct query_show *show)
{
    int rc = 0;

    if (message->n_show == 1 && bytes_equal_text(bytes_of(message->show[0]), "*"))
        list_all(reader, false, &show->fields, &show->count);
    else
        rc = list_named(reader, path, "show", message->show, message->n_show, &show->fields,
                        &show->count);
    return rc ? rc : read_highlight(reader, path, message->highlight, show);
}

/* ---- the whole ---- */

static int read_page(const struct request_reader *reader, const struct request_path *path,
                     const Torg__V1__QueryStage *message, struct query_stage *stage)
{
    struct request_path limit = path_to(path, "limit");

    stage->offset = message->offset;
    stage->limit = message->_limit_case ? message->limit : LIMIT_DEFAULT;
    stage->cursor = bytes_make(message->cursor.data, message->cursor.len);
    stage->total = message->no_total ? TOTAL_NONE : TOTAL_EXACT;
    if ((uint64_t)stage->offset + stage->limit > QUERY_HIT_COUNT_MAX)
        return request_refuse(reader, &limit, ERR_LIMIT,
                              "%u hits behind the first %u; together at most %d: go on by the "
                              "cursor",
                              stage->limit, stage->offset, QUERY_HIT_COUNT_MAX);
    return 0;
}

static int read_stage(struct request_reader *reader, const struct request_path *path,
                      const Torg__V1__QueryStage *message, struct query_stage *stage,
                      struct query_show *show)
{
    struct request_path filter = path_to(path, "filter");
    int rc = read_text(reader, path, message, &stage->text);

    stage->name = bytes_of(message->name);
    rc = rc ? rc : request_filter(reader, &filter, message->filter, &stage->filter);
    rc = rc ? rc : read_sorts(reader, path, message, stage);
    rc = rc ? rc : read_rerank(reader, path, message->rerank, stage);
    rc = rc ? rc : read_cap(reader, path, message->cap, stage);
    rc = rc ? rc : read_facets(reader, path, message, stage);
    rc = rc ? rc : read_page(reader, path, message, stage);
    return rc ? rc : read_show(reader, path, message, show);
}

int request_read(const Torg__V1__Query *message, const struct schema *schema, int64_t now,
                 struct arena *arena, struct query_request *request, struct err *err)
{
    struct request_reader reader = {.schema = schema, .arena = arena, .err = err};
    struct request_path base = path_to(NULL, "baseFilter");
    struct request_path all = path_to(NULL, "stages");
    struct query_stage *stages;
    struct query_show *shows;
    size_t i;
    int rc;

    *request = (struct query_request){0};
    if (message->n_stages < 1 || message->n_stages > QUERY_STAGE_COUNT_MAX)
        return request_refuse(&reader, &all, ERR_INVALID, "%zu of them, 1 to %d are taken",
                              message->n_stages, QUERY_STAGE_COUNT_MAX);
    stages = arena_array(arena, message->n_stages, sizeof(*stages));
    shows = arena_array(arena, message->n_stages, sizeof(*shows));
    rc = request_filter(&reader, &base, message->base_filter, &request->plan.base);
    for (i = 0; i < message->n_stages && !rc; i++) {
        struct request_path at = path_at(NULL, "stages", i);

        stages[i].now = now;
        rc = read_stage(&reader, &at, message->stages[i], &stages[i], &shows[i]);
    }
    request->plan.stages = stages;
    request->plan.stage_count = (uint32_t)message->n_stages;
    request->shows = shows;
    return rc;
}
