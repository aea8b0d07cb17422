/* SPDX-License-Identifier: Apache-2.0 */
/* request_filter.c - filters of a request: a tree of messages becomes a tree of structs. */
#include <math.h>

#include "query/bounds.h"
#include "query/filter/value.h"
#include "query/request/request_parts.h"

/* The field of a leaf, which is to have a column. */
static int read_field(const struct request_reader *reader, const struct request_path *path,
                      const char *name, struct query_filter *filter, const struct field **field)
{
    struct request_path at = path_to(path, "field");
    int rc = request_field(reader, &at, name, field);

    if (rc)
        return rc;
    if (!field_has_column(*field))
        return request_refuse(reader, &at, ERR_INVALID,
                              "field \"%s\" is a %s, which cannot be filtered", name,
                              field_type_name((*field)->type));
    filter->field = bytes_of((*field)->name);
    return 0;
}

static int refuse_type(const struct request_reader *reader, const struct request_path *path,
                       const struct field *field, const char *wanted)
{
    struct request_path at = path_to(path, "field");

    return request_refuse(reader, &at, ERR_INVALID, "field \"%s\" is a %s; %s is needed here",
                          field->name, field_type_name(field->type), wanted);
}

/* Recursion ends at QUERY_FILTER_DEPTH_MAX: in read_node. */
static int read_node(struct request_reader *reader, const struct request_path *path,
                     const Torg__V1__Filter *message, uint32_t depth, struct query_filter *filter);

static int read_children(struct request_reader *reader, const struct request_path *path,
                         const Torg__V1__Filters *message, uint32_t depth,
                         struct query_filter *filter)
{
    struct query_filter *children;
    size_t i;
    int rc = 0;

    if (message->n_of > QUERY_FILTER_COUNT_MAX)
        return request_refuse(reader, path, ERR_LIMIT, "%zu filters, at most %d are allowed",
                              message->n_of, QUERY_FILTER_COUNT_MAX);
    children = arena_array(reader->arena, message->n_of + 1, sizeof(*children));
    for (i = 0; i < message->n_of && !rc; i++) {
        struct request_path at = path_at(path, "of", i);

        rc = read_node(reader, &at, message->of[i], depth + 1, &children[i]);
    }
    filter->children = children;
    filter->count = (uint32_t)message->n_of;
    return rc;
}

static int read_not(struct request_reader *reader, const struct request_path *path,
                    const Torg__V1__Filter *message, uint32_t depth, struct query_filter *filter)
{
    struct query_filter *child = arena_zero(reader->arena, sizeof(*child));

    filter->kind = FILTER_NOT;
    filter->children = child;
    filter->count = 1;
    return read_node(reader, path, message, depth + 1, child);
}

static int read_values(const struct request_reader *reader, const struct request_path *path,
                       const Torg__V1__FieldValues *message, bool is_subtree,
                       struct query_filter *filter)
{
    const struct field *field;
    struct bytes *names;
    int64_t *numbers;
    size_t i;
    int rc = read_field(reader, path, message->field, filter, &field);

    filter->kind = is_subtree ? FILTER_SUBTREE : FILTER_IN;
    if (rc)
        return rc;
    if (is_subtree && field->type != FIELD_CATEGORY)
        return refuse_type(reader, path, field, "a category");
    if (!value_is_number(field) && !field_has_dictionary(field))
        return refuse_type(reader, path, field, "a keyword, category or number");
    if (message->n_values > QUERY_FILTER_VALUE_COUNT_MAX)
        return request_refuse(reader, path, ERR_LIMIT, "%zu values, at most %d are allowed",
                              message->n_values, QUERY_FILTER_VALUE_COUNT_MAX);
    names = arena_array(reader->arena, message->n_values + 1, sizeof(*names));
    numbers = arena_array(reader->arena, message->n_values + 1, sizeof(*numbers));
    for (i = 0; i < message->n_values && !rc; i++) {
        struct request_path at = path_at(path, "values", i);

        if (value_is_number(field))
            rc = request_value(reader, &at, field, message->values[i], false, &numbers[i]);
        else
            names[i] = bytes_of(message->values[i]);
    }
    filter->count = (uint32_t)message->n_values;
    filter->names = value_is_number(field) ? NULL : names;
    filter->numbers = value_is_number(field) ? numbers : NULL;
    return rc;
}

static int read_range(const struct request_reader *reader, const struct request_path *path,
                      const Torg__V1__FieldRange *message, struct query_filter *filter)
{
    struct request_path min = path_to(path, "min");
    struct request_path max = path_to(path, "max");
    const struct field *field;
    int rc = read_field(reader, path, message->field, filter, &field);

    filter->kind = FILTER_RANGE;
    filter->low = INT64_MIN;
    filter->high = INT64_MAX;
    if (rc)
        return rc;
    if (!value_is_number(field))
        return refuse_type(reader, path, field, "a number or date");
    if (*message->min)
        rc = request_value(reader, &min, field, message->min, false, &filter->low);
    if (!rc && *message->max)
        rc = request_value(reader, &max, field, message->max, true, &filter->high);
    return rc;
}

static int read_exists(const struct request_reader *reader, const struct request_path *path,
                       const char *name, struct query_filter *filter)
{
    const struct field *field;
    int rc = request_field(reader, path, name, &field);

    filter->kind = FILTER_EXISTS;
    if (rc)
        return rc;
    if (!field_has_column(field))
        return request_refuse(reader, path, ERR_INVALID,
                              "field \"%s\" is a %s, which cannot be filtered", name,
                              field_type_name(field->type));
    filter->field = bytes_of(field->name);
    return 0;
}

static int read_box(const struct request_reader *reader, const struct request_path *path,
                    const Torg__V1__GeoBox *message, struct query_filter *filter)
{
    struct request_path south_west = path_to(path, "southWest");
    struct request_path north_east = path_to(path, "northEast");
    struct geo_box *box = &filter->box;
    const struct field *field;
    int rc = read_field(reader, path, message->field, filter, &field);

    filter->kind = FILTER_BOX;
    if (rc)
        return rc;
    if (field->type != FIELD_GEO)
        return refuse_type(reader, path, field, "a geo point");
    rc = request_point(reader, &south_west, message->south_west, &box->lat_min, &box->lon_min);
    if (!rc)
        rc = request_point(reader, &north_east, message->north_east, &box->lat_max, &box->lon_max);
    if (!rc && box->lat_min > box->lat_max)
        return request_refuse(reader, path, ERR_INVALID,
                              "the south of the box lies north of its north: southWest and "
                              "northEast are its corners");
    return rc;
}

static int read_radius(const struct request_reader *reader, const struct request_path *path,
                       const Torg__V1__GeoRadius *message, struct query_filter *filter)
{
    struct request_path center = path_to(path, "center");
    struct request_path meters = path_to(path, "meters");
    const struct field *field;
    int rc = read_field(reader, path, message->field, filter, &field);

    filter->kind = FILTER_RADIUS;
    filter->radius_m = message->meters;
    if (rc)
        return rc;
    if (field->type != FIELD_GEO)
        return refuse_type(reader, path, field, "a geo point");
    if (!(message->meters >= 0) || isinf(message->meters))
        return request_refuse(reader, &meters, ERR_INVALID,
                              "expected a number of metres, 0 or more");
    return request_point(reader, &center, message->center, &filter->lat, &filter->lon);
}

static int read_kind(struct request_reader *reader, const struct request_path *path,
                     const Torg__V1__Filter *message, uint32_t depth, struct query_filter *filter)
{
    switch (message->kind_case) {
    case TORG__V1__FILTER__KIND_AND:
        filter->kind = FILTER_AND;
        return read_children(reader, path, message->and_, depth, filter);
    case TORG__V1__FILTER__KIND_OR:
        filter->kind = FILTER_OR;
        return read_children(reader, path, message->or_, depth, filter);
    case TORG__V1__FILTER__KIND_NOT:
        return read_not(reader, path, message->not_, depth, filter);
    case TORG__V1__FILTER__KIND_IN:
        return read_values(reader, path, message->in, false, filter);
    case TORG__V1__FILTER__KIND_SUBTREE:
        return read_values(reader, path, message->subtree, true, filter);
    case TORG__V1__FILTER__KIND_RANGE:
        return read_range(reader, path, message->range, filter);
    case TORG__V1__FILTER__KIND_EXISTS:
        return read_exists(reader, path, message->exists, filter);
    case TORG__V1__FILTER__KIND_BOX:
        return read_box(reader, path, message->box, filter);
    case TORG__V1__FILTER__KIND_RADIUS:
        return read_radius(reader, path, message->radius, filter);
    default:
        return request_refuse(reader, path, ERR_INVALID,
                              "an empty filter; it is one of and, or, not, in, range, exists, "
                              "subtree, box, radius");
    }
}

static int read_node(struct request_reader *reader, const struct request_path *path,
                     const Torg__V1__Filter *message, uint32_t depth, struct query_filter *filter)
{
    static const char *const names[] = {
        [TORG__V1__FILTER__KIND_AND] = "and",         [TORG__V1__FILTER__KIND_OR] = "or",
        [TORG__V1__FILTER__KIND_NOT] = "not",         [TORG__V1__FILTER__KIND_IN] = "in",
        [TORG__V1__FILTER__KIND_RANGE] = "range",     [TORG__V1__FILTER__KIND_EXISTS] = "exists",
        [TORG__V1__FILTER__KIND_SUBTREE] = "subtree", [TORG__V1__FILTER__KIND_BOX] = "box",
        [TORG__V1__FILTER__KIND_RADIUS] = "radius",
    };
    struct request_path at = path_to(path, names[message->kind_case]);

    if (depth > QUERY_FILTER_DEPTH_MAX)
        return request_refuse(reader, path, ERR_LIMIT, "filters are nested deeper than %d",
                              QUERY_FILTER_DEPTH_MAX);
    if (++reader->filter_count > QUERY_FILTER_COUNT_MAX)
        return request_refuse(reader, path, ERR_LIMIT, "more than %d filters",
                              QUERY_FILTER_COUNT_MAX);
    return read_kind(reader, message->kind_case ? &at : path, message, depth, filter);
}

int request_filter(struct request_reader *reader, const struct request_path *path,
                   const Torg__V1__Filter *message, const struct query_filter **out)
{
    struct query_filter *filter;
    int rc;

    *out = NULL;
    if (!message)
        return 0;
    filter = arena_zero(reader->arena, sizeof(*filter));
    reader->filter_count = 0;
    rc = read_node(reader, path, message, 1, filter);
    if (!rc)
        *out = filter;
    return rc;
}
