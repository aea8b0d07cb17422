/* SPDX-License-Identifier: Apache-2.0 */
/* response.c - see response.h. */
#include "query/request/response.h"

#include <assert.h>

#include "base/clock.h"
#include "base/object.h"
#include "index/bounds.h"
#include "query/bounds.h"
#include "query/filter/ordinals.h"
#include "query/filter/value.h"
#include "query/run/engine.h"
#include "query/text/text_highlight.h"

enum { VALUE_TEXT_SIZE_MAX = 64 };

/* What is read for the hits of one stage after the other, inside the query's epoch. */
struct responder {
    struct query_engine *engine;
    const struct query_request *request;
    Torg__V1__QueryAnswer *answer;
    bool is_shown; /* the query itself did not fail */
    const struct snapshot *snapshot;
    int64_t deadline_us;
    struct arena *arena;
    struct arena *scratch; /* of one text that is marked; owned */
    size_t size;           /* of all that is shown */

    const struct query_stage *stage;
    const struct query_show *show;
    const struct text_plan *text; /* what its words mean; NULL: it has none */
    uint32_t shown_max; /* fields that may be shown: those asked for, or the schema's, by number */
    char **names;       /* of them: copies, as an answer outlives the shard; NULL: not shown yet */
    char **mark_names;  /* of those marked */
    bool needs_stored;  /* a text or stored field is shown or marked, or hits have keys */
    const struct field *key_field; /* NULL: they have none */

    uint16_t *ids;               /* of the fields asked for, or those that the document has */
    int64_t *values;             /* of the document at hand, by these: as they are together */
    struct buf record;           /* its texts and stored fields; owned */
    struct stored_value *stored; /* in it */
    uint32_t stored_count;
};

/* ---- fields ---- */

/* There is room for it in shown->values. */
static void add_value(struct responder *responder, Torg__V1__ShownField *shown, struct bytes value)
{
    shown->values[shown->n_values++] = arena_text(responder->arena, value);
    responder->size += value.size;
}

static void show_number(struct responder *responder, const struct field *field, int64_t value,
                        Torg__V1__ShownField *shown)
{
    struct buf buf = BUF_INIT(VALUE_TEXT_SIZE_MAX);
    int32_t lat;
    int32_t lon;

    if (field->type == FIELD_GEO) {
        geo_unpack(value, &lat, &lon);
        buf_printf(&buf, "%.10g, %.10g", lat / 1e7, lon / 1e7);
    } else {
        value_put(field, value, &buf);
    }
    shown->values = arena_array(responder->arena, 1, sizeof(shown->values[0]));
    add_value(responder, shown, buf_bytes(&buf));
    buf_release(&buf);
}

static void show_keywords(struct responder *responder, const struct column *column, int64_t value,
                          Torg__V1__ShownField *shown)
{
    const struct dictionary *dictionary = column_dictionary(column);
    uint32_t known = dictionary_count(dictionary);
    uint32_t kept[ORDINALS_KEPT_COUNT];
    uint32_t count;
    const uint32_t *ordinals = ordinals_of(column, value, kept, &count);
    uint32_t i;

    shown->values = arena_array(responder->arena, count + 1, sizeof(shown->values[0]));
    for (i = 0; i < count; i++)
        if (ordinals[i] < known)
            add_value(responder, shown, dictionary_name(dictionary, ordinals[i]));
}

static const struct stored_value *find_stored(const struct responder *responder,
                                              const struct field *field)
{
    uint32_t i;

    for (i = 0; i < responder->stored_count; i++)
        if (responder->stored[i].field == field->id)
            return &responder->stored[i];
    return NULL;
}

/* What the document has of the field, into the room given. at: of responder->names. */
static void show_field(struct responder *responder, const struct field *field, uint32_t at,
                       int64_t value, const struct stored_value *stored, Torg__V1__Hit *hit,
                       Torg__V1__ShownField *shown)
{
    torg__v1__shown_field__init(shown);
    if (value != COLUMN_NULL && field_has_dictionary(field)) {
        show_keywords(responder, columns_column(responder->snapshot->columns, field->id), value,
                      shown);
    } else if (value != COLUMN_NULL) {
        show_number(responder, field, value, shown);
    } else if (stored) {
        shown->values = arena_array(responder->arena, 1, sizeof(shown->values[0]));
        add_value(responder, shown, stored->text);
    }
    if (!shown->n_values)
        return;
    if (!responder->names[at])
        responder->names[at] = arena_strdup(responder->arena, field->name);
    shown->name = responder->names[at];
    hit->fields[hit->n_fields++] = shown;
}

/* Room for so many values of columns, and for all that is stored. */
static Torg__V1__ShownField *make_room(struct responder *responder, uint32_t value_count,
                                       Torg__V1__Hit *hit)
{
    uint32_t wanted = value_count + responder->stored_count;
    uint32_t count = wanted < responder->shown_max ? wanted : responder->shown_max;
    Torg__V1__ShownField *fields = arena_array(responder->arena, count + 1, sizeof(*fields));

    responder->size += count * sizeof(*fields);
    hit->fields = arena_array(responder->arena, count + 1, sizeof(hit->fields[0]));
    return fields;
}

static void show_named(struct responder *responder, docid id, Torg__V1__Hit *hit)
{
    const struct query_show *show = responder->show;
    Torg__V1__ShownField *fields;
    uint32_t count = 0;

    columns_get(responder->snapshot->columns, id, responder->ids, show->count, responder->values);
    for (uint32_t i = 0; i < show->count; i++)
        count += responder->values[i] != COLUMN_NULL;
    fields = make_room(responder, count, hit);
    for (uint32_t i = 0; i < show->count; i++) {
        const struct stored_value *stored = find_stored(responder, show->fields[i]);

        if (responder->values[i] != COLUMN_NULL || stored)
            show_field(responder, show->fields[i], i, responder->values[i], stored, hit,
                       &fields[hit->n_fields]);
    }
}

/* Of thousands of fields a document has few: no others are looked at. */
static void show_all(struct responder *responder, docid id, Torg__V1__Hit *hit)
{
    uint32_t count = columns_list(responder->snapshot->columns, id, responder->shown_max,
                                  responder->ids, responder->values);
    Torg__V1__ShownField *fields = make_room(responder, count, hit);
    uint32_t i = 0, k = 0;

    while (i < count || k < responder->stored_count) {
        const struct stored_value *stored =
            k < responder->stored_count ? &responder->stored[k] : NULL;
        bool is_stored = i == count || (stored && stored->field < responder->ids[i]);
        uint32_t at = is_stored ? stored->field : responder->ids[i];
        const struct field *field = schema_field(responder->snapshot->schema, at);

        if (at < responder->shown_max && !field_is_hidden(field))
            show_field(responder, field, at, is_stored ? COLUMN_NULL : responder->values[i],
                       is_stored ? stored : NULL, hit, &fields[hit->n_fields]);
        k += is_stored;
        i += !is_stored;
    }
}

static int check_size(const struct responder *responder, struct err *err)
{
    if (responder->size <= QUERY_SHOWN_SIZE_MAX)
        return 0;
    return err_set(
        err, ERR_LIMIT,
        "what is shown of the hits has more than %d bytes: ask for fewer fields or hits, or "
        "for fragments of texts (highlight.fragmentSize)",
        QUERY_SHOWN_SIZE_MAX);
}

static int show_highlights(struct responder *responder, Torg__V1__Hit *hit, struct err *err)
{
    const struct query_show *show = responder->show;
    Torg__V1__ShownField *fields =
        arena_array(responder->arena, show->marked_count + 1, sizeof(*fields));
    uint32_t i;

    hit->highlights =
        arena_array(responder->arena, show->marked_count + 1, sizeof(hit->highlights[0]));
    for (i = 0; i < show->marked_count; i++) {
        const struct stored_value *stored = find_stored(responder, show->marked[i]);
        struct bytes marked;
        int rc;

        if (!stored)
            continue;
        rc = text_highlight_by(responder->text, responder->snapshot, responder->engine->analysis,
                               stored->text, &show->highlight, responder->scratch, &marked, err);
        if (rc)
            return rc;
        torg__v1__shown_field__init(&fields[i]);
        fields[i].name = responder->mark_names[i];
        fields[i].values = arena_array(responder->arena, 1, sizeof(fields[i].values[0]));
        add_value(responder, &fields[i], marked);
        arena_reset(responder->scratch);
        hit->highlights[hit->n_highlights++] = &fields[i];
        rc = check_size(responder, err);
        if (rc)
            return rc;
    }
    return 0;
}

/* ---- hits ---- */

static uint32_t key_count(const struct query_stage *stage)
{
    if (stage->sort_count)
        return stage->sort_count;
    return stage->text.count > 0;
}

static void show_key(struct responder *responder, Torg__V1__Hit *hit)
{
    const struct stored_value *key =
        responder->key_field ? find_stored(responder, responder->key_field) : NULL;

    if (key)
        hit->pk = arena_text(responder->arena, key->text);
}

static int show_hit(struct responder *responder, const struct query_hit *from, Torg__V1__Hit *hit,
                    struct err *err)
{
    uint32_t i;
    int rc = 0;

    torg__v1__hit__init(hit);
    hit->id = from->id;
    hit->score = from->score;
    hit->n_keys = key_count(responder->stage);
    hit->keys = arena_array(responder->arena, hit->n_keys + 1, sizeof(hit->keys[0]));
    for (i = 0; i < hit->n_keys; i++)
        hit->keys[i] = from->keys[i];
    responder->stored_count = 0;
    if (responder->needs_stored)
        rc = shard_stored(responder->snapshot, responder->engine->shard, from->id,
                          &responder->record, responder->stored, STORED_VALUE_COUNT_MAX,
                          &responder->stored_count, err);
    if (rc)
        return rc;
    show_key(responder, hit);
    if (responder->show->is_all)
        show_all(responder, from->id, hit);
    else
        show_named(responder, from->id, hit);
    rc = check_size(responder, err);
    if (!rc)
        rc = show_highlights(responder, hit, err);
    if (!rc && responder->deadline_us &&
        clock_mono_us(shard_clock(responder->engine->shard)) > responder->deadline_us)
        return err_set(err, ERR_TIMEOUT, "the hits were not read before the deadline");
    return rc;
}

static void begin_stage(struct responder *responder, const struct query_stage *stage,
                        const struct query_show *show, const struct query_answer *from)
{
    uint32_t i;

    responder->stage = stage;
    responder->show = show;
    responder->text = from->text;
    responder->shown_max = show->is_all ? schema_count(responder->snapshot->schema) : show->count;
    responder->ids =
        arena_array(responder->arena, responder->shown_max + 1, sizeof(responder->ids[0]));
    responder->names =
        arena_array(responder->arena, responder->shown_max + 1, sizeof(responder->names[0]));
    responder->mark_names =
        arena_array(responder->arena, show->marked_count + 1, sizeof(responder->mark_names[0]));
    responder->values =
        arena_array(responder->arena, responder->shown_max + 1, sizeof(responder->values[0]));
    responder->key_field = schema_find(responder->snapshot->schema, bytes_of(RESPONSE_KEY_FIELD));
    responder->needs_stored = show->is_all || show->marked_count > 0 || responder->key_field;
    for (i = 0; i < show->count; i++) {
        responder->ids[i] = show->fields[i]->id;
        responder->needs_stored |= !field_has_column(show->fields[i]);
    }
    for (i = 0; i < show->marked_count; i++)
        responder->mark_names[i] = arena_strdup(responder->arena, show->marked[i]->name);
}

static int show_hits(struct responder *responder, const struct query_answer *from,
                     Torg__V1__StageAnswer *answer, struct err *err)
{
    Torg__V1__Hit *hits = arena_array(responder->arena, from->hit_count + 1, sizeof(*hits));
    uint32_t i;
    int rc = 0;

    answer->hits = arena_array(responder->arena, from->hit_count + 1, sizeof(answer->hits[0]));
    answer->n_hits = from->hit_count;
    for (i = 0; i < from->hit_count && !rc; i++) {
        answer->hits[i] = &hits[i];
        rc = show_hit(responder, &from->hits[i], &hits[i], err);
    }
    return rc;
}

/* ---- facets ---- */

static char *number_text(struct arena *arena, const struct field *field, int64_t value)
{
    struct buf buf = BUF_INIT(VALUE_TEXT_SIZE_MAX);
    char *text;

    value_put(field, value, &buf);
    text = arena_text(arena, buf_bytes(&buf));
    buf_release(&buf);
    return text;
}

static void show_facet(const struct responder *responder, const struct query_facet *source,
                       const struct facet_answer *from, Torg__V1__FacetAnswer *answer)
{
    /* A column from outside may have been dropped since the query began. */
    const struct field *field = schema_find_any(responder->snapshot->schema, source->field);
    struct arena *arena = responder->arena;
    Torg__V1__FacetValue *values = arena_array(arena, from->count + 1, sizeof(*values));
    uint32_t i;

    assert(field);
    torg__v1__facet_answer__init(answer);
    answer->name = arena_text(arena, source->name.size ? source->name : source->field);
    answer->other_count = from->other_count;
    answer->document_count = from->doc_count;
    if (source->kind == FACET_MIN_MAX && from->has_values) {
        answer->_min_case = TORG__V1__FACET_ANSWER___MIN_MIN;
        answer->_max_case = TORG__V1__FACET_ANSWER___MAX_MAX;
        answer->min = number_text(arena, field, from->min);
        answer->max = number_text(arena, field, from->max);
    }
    answer->values = arena_array(arena, from->count + 1, sizeof(answer->values[0]));
    for (i = 0; i < from->count; i++) {
        torg__v1__facet_value__init(&values[i]);
        values[i].count = from->values[i].count;
        if (source->kind == FACET_RANGES) {
            values[i].value = number_text(arena, field, source->bounds[i]);
            values[i].below = number_text(arena, field, source->bounds[i + 1]);
        } else {
            values[i].value = arena_text(arena, from->values[i].name);
        }
        answer->values[answer->n_values++] = &values[i];
    }
}

static void show_facets(const struct responder *responder, const struct query_answer *from,
                        Torg__V1__StageAnswer *answer)
{
    Torg__V1__FacetAnswer *facets =
        arena_array(responder->arena, from->facet_count + 1, sizeof(*facets));
    uint32_t i;

    answer->facets =
        arena_array(responder->arena, from->facet_count + 1, sizeof(answer->facets[0]));
    answer->n_facets = from->facet_count;
    for (i = 0; i < from->facet_count; i++) {
        answer->facets[i] = &facets[i];
        show_facet(responder, &responder->stage->facets[i], &from->facets[i], &facets[i]);
    }
}

/* ---- the whole ---- */

static int show_stage(struct responder *responder, const struct query_answer *from,
                      Torg__V1__StageAnswer *answer, struct err *err)
{
    torg__v1__stage_answer__init(answer);
    answer->name = arena_text(responder->arena, from->name);
    if (responder->stage->total == TOTAL_EXACT) {
        answer->_total_case = TORG__V1__STAGE_ANSWER___TOTAL_TOTAL;
        answer->total = from->total;
    }
    answer->cursor.data = (uint8_t *)from->cursor.data;
    answer->cursor.len = from->cursor.size;
    show_facets(responder, from, answer);
    return show_hits(responder, from, answer, err);
}

/* What the engine refuses is told with its stage, as what request_read refuses. */
static int tell_stage(int rc, uint32_t stage, struct err *err)
{
    if (err && (rc == ERR_INVALID || rc == ERR_LIMIT))
        err_wrap(err, "stages[%u]", stage);
    return rc;
}

static int show_result(void *context, const struct snapshot *snapshot,
                       const struct query_result *result, struct err *err)
{
    struct responder *responder = context;
    const struct query_request *request = responder->request;
    Torg__V1__QueryAnswer *answer = responder->answer;
    struct arena *arena = responder->arena;
    Torg__V1__StageAnswer *stages = arena_array(arena, result->answer_count, sizeof(*stages));
    uint32_t i;
    int rc = 0;

    torg__v1__query_answer__init(answer);
    responder->snapshot = snapshot;
    responder->size = 0;
    responder->is_shown = true;
    answer->stages = arena_array(arena, result->answer_count, sizeof(answer->stages[0]));
    answer->n_stages = result->answer_count;
    answer->offset = result->offset;
    for (i = 0; i < result->answer_count && !rc; i++) {
        begin_stage(responder, &request->plan.stages[i], &request->shows[i], &result->answers[i]);
        answer->stages[i] = &stages[i];
        rc = tell_stage(show_stage(responder, &result->answers[i], &stages[i], err), i, err);
    }
    return rc;
}

static void keep_hits(void *context, uint32_t stage, const uint32_t *kept, uint32_t count)
{
    const struct responder *responder = context;
    Torg__V1__StageAnswer *shown = responder->answer->stages[stage];
    uint32_t i;

    for (i = 0; i < count; i++)
        shown->hits[i] = shown->hits[kept[i]];
    shown->n_hits = count;
}

int response_run(struct query_engine *engine, const struct query_request *request,
                 int64_t deadline_us, struct arena *arena, struct query_result *result,
                 Torg__V1__QueryAnswer **out, struct err *err)
{
    Torg__V1__QueryAnswer *answer = arena_zero(arena, sizeof(*answer));
    struct responder responder = {.engine = engine,
                                  .request = request,
                                  .answer = answer,
                                  .deadline_us = deadline_us,
                                  .arena = arena};
    const struct query_viewer viewer = {show_result, keep_hits, &responder};
    int rc;

    object_check(engine, QUERY_ENGINE_MAGIC);
    *out = NULL;
    buf_init(&responder.record, 2 * (size_t)STORED_RECORD_SIZE_MAX);
    responder.stored = arena_array(arena, STORED_VALUE_COUNT_MAX, sizeof(responder.stored[0]));
    responder.scratch = arena_new();
    rc = query_run_shown(engine, &request->plan, NULL, deadline_us, &viewer, arena, result, err);
    if (rc && !responder.is_shown && request->plan.stage_count == 1)
        tell_stage(rc, 0, err); /* of several stages query_run names the one */
    arena_free(responder.scratch);
    buf_release(&responder.record);
    if (!rc)
        *out = answer;
    return rc;
}

int response_make(struct query_engine *engine, const struct query_request *request,
                  int64_t deadline_us, struct arena *arena, Torg__V1__QueryAnswer **answer,
                  struct err *err)
{
    struct query_result result;

    object_check(engine, QUERY_ENGINE_MAGIC);
    return response_run(engine, request, deadline_us, arena, &result, answer, err);
}

/* Recursion is as deep as the filter: QUERY_FILTER_DEPTH_MAX and a few. */
static Torg__V1__Explanation *show_explanation(const struct explanation *from, struct arena *arena)
{
    Torg__V1__Explanation *shown = arena_zero(arena, sizeof(*shown));
    uint32_t i;

    torg__v1__explanation__init(shown);
    shown->holds = from->holds;
    shown->value = from->value;
    shown->text = arena_text(arena, from->text);
    shown->parts = arena_array(arena, from->count + 1, sizeof(shown->parts[0]));
    shown->n_parts = from->count;
    for (i = 0; i < from->count; i++)
        shown->parts[i] = show_explanation(&from->children[i], arena);
    return shown;
}

int response_explain(struct query_engine *engine, const struct query_request *request,
                     uint32_t stage, docid id, struct arena *arena, Torg__V1__Explanation **out,
                     struct err *err)
{
    struct explanation explanation;
    int rc = query_explain(engine, &request->plan, stage, id, arena, &explanation, err);

    object_check(engine, QUERY_ENGINE_MAGIC);
    *out = rc ? NULL : show_explanation(&explanation, arena);
    return tell_stage(rc, stage, err);
}
