/* SPDX-License-Identifier: Apache-2.0 */
/* request.c - see request.h. */
#include "query/request/request.h"

#include <math.h>
#include <stdio.h>

#include "query/bounds.h"
#include "query/filter/value.h"
#include "query/request/request_parts.h"

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
    if (*field && !field_is_hidden(*field))
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
            "%g, %g is not a place on earth: latitudes go from -90 to 90, longitudes from -180 "
            "to 180",
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

static bool is_boost(float boost)
{
    return boost >= 0 && !isinf(boost);
}

static int read_also(const struct request_reader *reader, const struct request_path *path,
                     const Torg__V1__TextClause *message, struct text_clause *clause)
{
    struct request_path at = path_to(path, "also");
    struct text_also *also = arena_array(reader->arena, message->n_also + 1, sizeof(*also));

    clause->also = also;
    if (!message->n_also)
        return 0;
    if (message->kind != TORG__V1__TEXT_CLAUSE__KIND__WORD)
        return request_refuse(reader, &at, ERR_INVALID,
                              "only a clause of the kind WORD has words that count as its own");
    if (message->n_also > QUERY_TEXT_ALSO_COUNT_MAX)
        return request_refuse(reader, &at, ERR_LIMIT, "%zu of them, at most %d are allowed",
                              message->n_also, QUERY_TEXT_ALSO_COUNT_MAX);
    for (size_t i = 0; i < message->n_also; i++) {
        struct request_path one = path_at(path, "also", i);
        const Torg__V1__TextAlso *from = message->also[i];

        if (!is_boost(from->boost))
            return request_refuse(reader, &one, ERR_INVALID, "expected a boost above 0");
        if (strlen(from->text) > QUERY_TEXT_SIZE_MAX)
            return request_refuse(reader, &one, ERR_LIMIT, "more than %d bytes; send less",
                                  QUERY_TEXT_SIZE_MAX);
        also[clause->also_count++] = (struct text_also){bytes_of(from->text), from->boost};
    }
    return 0;
}

static int read_clause(const struct request_reader *reader, const struct request_path *path,
                       const Torg__V1__TextClause *message, struct text_clause *clause)
{
    struct request_path boost = path_to(path, "boost");
    struct request_path text = path_to(path, "text");
    int rc;

    if (message->occur > TORG__V1__TEXT_CLAUSE__OCCUR__BONUS ||
        message->kind > TORG__V1__TEXT_CLAUSE__KIND__FUZZY)
        return request_refuse(reader, path, ERR_INVALID, "occur or kind is unknown");
    if (!is_boost(message->boost))
        return request_refuse(reader, &boost, ERR_INVALID, "expected a number above 0");
    *clause = (struct text_clause){.occur = (uint8_t)message->occur,
                                   .kind = (uint8_t)message->kind,
                                   .boost = message->boost,
                                   .word_max = message->word_max,
                                   .text = bytes_of(message->text)};
    if (clause->text.size > QUERY_TEXT_SIZE_MAX)
        return request_refuse(reader, &text, ERR_LIMIT, "%zu bytes, at most %d are read; send less",
                              clause->text.size, QUERY_TEXT_SIZE_MAX);
    rc = read_also(reader, path, message, clause);
    return rc ? rc : read_mask(reader, path, message, &clause->fields);
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
    text->not_all = message->not_all;
    text->number_boost = message->number_boost;
    text->tied_parts = message->tied_parts;
    if (!is_boost(message->number_boost)) {
        struct request_path at = path_to(path, "numberBoost");

        return request_refuse(reader, &at, ERR_INVALID, "expected a number above 0");
    }
    if (!message->n_clauses)
        return 0;
    if (message->n_clauses + text->count > QUERY_TEXT_CLAUSE_COUNT_MAX) {
        struct request_path at = path_to(path, "clauses");

        return request_refuse(reader, &at, ERR_LIMIT,
                              "%zu of them with those of the text; at most %d are allowed",
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

/* ---- the whole ---- */

uint32_t request_limit(const Torg__V1__QueryStage *message)
{
    return message->_limit_case ? message->limit : LIMIT_DEFAULT;
}

static int check_page(const struct request_reader *reader, const struct request_path *path,
                      const Torg__V1__QueryStage *message)
{
    struct request_path limit = path_to(path, "limit");
    struct request_path offset = path_to(path, "offset");
    struct request_path cursor = path_to(path, "cursor");

    if ((uint64_t)message->offset + request_limit(message) > QUERY_HIT_COUNT_MAX)
        return request_refuse(reader, &limit, ERR_LIMIT,
                              "%u hits after the first %u; together at most %d: go on by the "
                              "cursor",
                              request_limit(message), message->offset, QUERY_HIT_COUNT_MAX);
    if (message->cursor.len && message->offset)
        return request_refuse(reader, &offset, ERR_INVALID, "leave it out with a cursor");
    if (message->cursor.len && message->rerank)
        return request_refuse(reader, &cursor, ERR_INVALID,
                              "leave it out with rerank; page by offset");
    return 0;
}

int request_check(const Torg__V1__Query *message, struct err *err)
{
    const struct request_reader reader = {.err = err};
    struct request_path all = path_to(NULL, "stages");
    int rc = 0;

    if (message->n_stages < 1 || message->n_stages > QUERY_STAGE_COUNT_MAX)
        return request_refuse(&reader, &all, ERR_INVALID, "%zu of them; expected 1 to %d",
                              message->n_stages, QUERY_STAGE_COUNT_MAX);
    for (size_t i = 0; i < message->n_stages && !rc; i++) {
        struct request_path at = path_at(NULL, "stages", i);

        rc = check_page(&reader, &at, message->stages[i]);
    }
    return rc;
}

static void read_page(const Torg__V1__QueryStage *message, struct query_stage *stage)
{
    stage->offset = message->offset;
    stage->limit = request_limit(message);
    stage->cursor = bytes_make(message->cursor.data, message->cursor.len);
    stage->total = message->no_total ? TOTAL_NONE : TOTAL_EXACT;
    stage->no_cursor = message->no_cursor;
}

static int read_stage(struct request_reader *reader, const struct request_path *path,
                      const Torg__V1__QueryStage *message, struct query_stage *stage,
                      struct query_show *show)
{
    struct request_path filter = path_to(path, "filter");
    int rc = read_text(reader, path, message, &stage->text);

    stage->name = bytes_of(message->name);
    read_page(message, stage);
    rc = rc ? rc : request_filter(reader, &filter, message->filter, &stage->filter);
    rc = rc ? rc : request_sorts(reader, path, message, stage);
    rc = rc ? rc : request_rerank(reader, path, message->rerank, stage);
    rc = rc ? rc : request_cap(reader, path, message->cap, stage);
    rc = rc ? rc : request_facets(reader, path, message, stage);
    return rc ? rc : request_show(reader, path, message, show);
}

int request_read(const Torg__V1__Query *message, const struct schema *schema, int64_t now,
                 struct arena *arena, struct query_request *request, struct err *err)
{
    struct request_reader reader = {.schema = schema, .arena = arena, .err = err};
    struct request_path base = path_to(NULL, "baseFilter");
    struct query_stage *stages;
    struct query_show *shows;
    size_t i;
    int rc = request_check(message, err);

    *request = (struct query_request){0};
    if (rc)
        return rc;
    if (message->unknown_is_empty)
        message = request_prune(message, schema, arena);
    stages = arena_array(arena, message->n_stages, sizeof(*stages));
    shows = arena_array(arena, message->n_stages, sizeof(*shows));
    rc = request_filter(&reader, &base, message->base_filter, &request->plan.base);
    for (i = 0; i < message->n_stages && !rc; i++) {
        struct request_path at = path_at(NULL, "stages", i);

        stages[i].now = now;
        stages[i].unknown_is_empty = message->unknown_is_empty;
        rc = read_stage(&reader, &at, message->stages[i], &stages[i], &shows[i]);
    }
    request->plan.stages = stages;
    request->plan.stage_count = (uint32_t)message->n_stages;
    request->shows = shows;
    return rc;
}
