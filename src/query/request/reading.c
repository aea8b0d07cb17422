/* SPDX-License-Identifier: Apache-2.0 */
/* reading.c - see reading.h. */
#include "query/request/reading.h"

#include "base/object.h"
#include "query/run/engine.h"
#include "query/text/text_parts.h"

enum { READING_MAGIC = OBJECT_MAGIC('r', 'e', 'a', 'd') };

/* What a schema of so many fields makes of the message. A schema only grows: its first fields are
 * the same for ever. */
struct reading_form {
    struct reading_form *next;
    const struct schema *schema; /* borrowed of a shard */
    uint32_t field_count;
    uint32_t lent_mark; /* of columns from outside */
    unsigned version;   /* of the analysis */
    struct query_request request;
};

void reading_init(struct reading *reading, const Torg__V1__Query *message, int64_t now,
                  struct arena *arena)
{
    *reading = (struct reading){.message = message, .now = now, .arena = arena};
    object_begin(reading, READING_MAGIC);
    pthread_mutex_init(&reading->lock, NULL);
}

void reading_release(struct reading *reading)
{
    object_check(reading, READING_MAGIC);
    pthread_mutex_destroy(&reading->lock);
    object_end(reading, READING_MAGIC);
}

/* ---- words ---- */

/* The words of a clause of a stage before that has the same text: often all stages have. */
static const struct text_words *find_same(const struct query_stage *stages, uint32_t stage_count,
                                          uint32_t clause, struct bytes text)
{
    for (uint32_t i = 0; i < stage_count; i++)
        if (clause < stages[i].text.count && bytes_equal(stages[i].text.clauses[clause].text, text))
            return stages[i].text.clauses[clause].words;
    return NULL;
}

static void analyse(struct analysis *analysis, unsigned version, struct arena *arena,
                    struct query_plan *plan)
{
    struct query_stage *stages = arena_array(arena, plan->stage_count, sizeof(*stages));

    for (uint32_t i = 0; i < plan->stage_count; i++) {
        const struct query_text *text = &plan->stages[i].text;
        struct text_clause *clauses = arena_array(arena, text->count + 1, sizeof(*clauses));

        for (uint32_t k = 0; k < text->count; k++) {
            clauses[k] = text->clauses[k];
            clauses[k].words = find_same(stages, i, k, clauses[k].text);
            if (!clauses[k].words)
                clauses[k].words = text_analyse(analysis, version, clauses[k].text, arena);
        }
        stages[i] = plan->stages[i];
        stages[i].text.clauses = clauses;
    }
    plan->stages = stages;
}

/* ---- forms ---- */

static const struct reading_form *find_form(const struct reading *reading,
                                            const struct schema *schema, uint32_t field_count,
                                            uint32_t lent_mark, unsigned version)
{
    const struct reading_form *form = reading->forms;

    while (form && (form->schema != schema || form->field_count != field_count ||
                    form->lent_mark != lent_mark || form->version != version))
        form = form->next;
    return form;
}

/* One of another shard that has the same fields. */
static const struct reading_form *find_like(const struct reading *reading,
                                            const struct schema *schema, uint32_t field_count,
                                            unsigned version)
{
    const struct reading_form *form = reading->forms;

    while (form && (form->field_count != field_count || form->version != version ||
                    form->lent_mark != schema_lent_mark(form->schema) ||
                    !schema_begins_alike(form->schema, schema, field_count) ||
                    !schema_lent_alike(form->schema, schema)))
        form = form->next;
    return form;
}

static void keep_form(struct reading *reading, const struct schema *schema, uint32_t field_count,
                      uint32_t lent_mark, unsigned version, const struct query_request *request)
{
    struct reading_form *form = arena_alloc(reading->arena, sizeof(*form));

    *form =
        (struct reading_form){reading->forms, schema, field_count, lent_mark, version, *request};
    reading->forms = form;
}

static int read_form(struct reading *reading, struct query_engine *engine, unsigned version,
                     struct query_request *request, struct err *err)
{
    int rc = request_read(reading->message, shard_schema(engine->shard), reading->now,
                          reading->arena, request, err);

    reading->read_count++;
    if (!rc)
        analyse(engine->analysis, version, reading->arena, &request->plan);
    return rc;
}

int reading_take(struct reading *reading, struct query_engine *engine,
                 struct query_request *request, struct err *err)
{
    const struct schema *schema = shard_schema(engine->shard);
    unsigned version = shard_analysis_version(engine->shard);
    uint32_t field_count = schema_count(schema);
    uint32_t lent_mark = schema_lent_mark(schema);
    const struct reading_form *form;
    bool is_known;
    int rc = 0;

    object_check(reading, READING_MAGIC);
    object_check(engine, QUERY_ENGINE_MAGIC);
    pthread_mutex_lock(&reading->lock);
    form = find_form(reading, schema, field_count, lent_mark, version);
    is_known = form != NULL;
    form = form ? form : find_like(reading, schema, field_count, version);
    if (form)
        *request = form->request;
    else
        rc = read_form(reading, engine, version, request, err);
    /* A field that was added while it was read may be in it: then it is this shard's alone. */
    if (!rc && !is_known && schema_count(schema) == field_count &&
        schema_lent_mark(schema) == lent_mark)
        keep_form(reading, schema, field_count, lent_mark, version, request);
    pthread_mutex_unlock(&reading->lock);
    return rc;
}
