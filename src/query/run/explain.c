/* SPDX-License-Identifier: Apache-2.0 */
/*
 * explain.c - why a document is a hit, or is not: the plans of the query itself, asked about one
 * document, so that an explanation cannot differ from what is done.
 */
#include <inttypes.h>
#include <math.h>

#include "base/buf.h"
#include "base/object.h"
#include "query/run/engine.h"

enum { TOLD_SIZE_MAX = 4096, PART_COUNT_MAX = 8 };

struct explainer {
    struct query_context *context;
    docid id;
    struct arena *arena;
};

static struct bytes print_text(struct arena *arena, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static struct bytes print_text(struct arena *arena, const char *format, ...)
{
    va_list args;
    struct bytes told;

    va_start(args, format);
    told = bytes_of(arena_vprintf(arena, format, args));
    va_end(args);
    return told;
}

/* ---- text ---- */

/* Whether the text matches the document, and the score then. */
static int ask_text(const struct explainer *explainer, const struct query_text *text, bool *matches,
                    float *score, struct text_stats *stats, struct err *err)
{
    struct query_context *context = explainer->context;
    uint32_t window = window_of(explainer->id);
    uint16_t offset = (uint16_t)(explainer->id & (WINDOW_SIZE - 1));
    struct window_bits among = {0};
    struct window_bits bits = {0};
    struct text_plan *plan = NULL;
    int rc = text_plan_new(context->snapshot, context->analysis, text, context->tuning,
                           explainer->arena, &plan, err);

    *matches = true;
    *score = 0;
    if (rc || !plan)
        return rc;
    text_plan_stats(plan, explainer->arena, stats);
    window_set(&among, offset);
    rc = text_plan_match(plan, window, &among, &bits, err);
    *matches = window_test(&bits, offset);
    if (!rc && *matches)
        rc = text_plan_score(plan, window, &offset, 1, -INFINITY, score, err);
    return rc;
}

static struct bytes tell_terms(const struct explainer *explainer, const struct text_stats *stats)
{
    const struct lexicon *lexicon = explainer->context->snapshot->lexicon;
    struct buf buf = BUF_INIT(TOLD_SIZE_MAX);
    struct bytes told;
    uint32_t i;

    for (i = 0; i < stats->count && i < PART_COUNT_MAX; i++)
        buf_printf(&buf, "%s%.*s in %" PRIu64, i ? ", " : "",
                   BYTES_ARG(lexicon_term(lexicon, stats->terms[i].term)),
                   stats->terms[i].doc_count);
    if (stats->count > PART_COUNT_MAX)
        buf_printf(&buf, " and %u more", stats->count - PART_COUNT_MAX);
    if (stats->count == 0)
        buf_put_text(&buf, "no document has such a word");
    else
        buf_printf(&buf, " of %" PRIu64 " documents", stats->doc_count);
    told = arena_copy(explainer->arena, buf_bytes(&buf));
    buf_release(&buf);
    return told;
}

/* What counts as the clause's words, too. */
static struct bytes tell_also(const struct explainer *explainer, const struct text_clause *clause)
{
    struct buf buf = BUF_INIT(TOLD_SIZE_MAX);
    struct bytes told;

    for (uint32_t i = 0; i < clause->also_count && i < PART_COUNT_MAX; i++)
        buf_printf(&buf, "%s\"%.*s\" × %g", i ? ", " : " or ", BYTES_ARG(clause->also[i].text),
                   clause->also[i].boost > 0 ? (double)clause->also[i].boost : 1.0);
    told = arena_copy(explainer->arena, buf_bytes(&buf));
    buf_release(&buf);
    return told;
}

static int explain_clause(const struct explainer *explainer, const struct text_clause *clause,
                          struct explanation *explanation, struct err *err)
{
    static const char *const occurs[] = {"must have", "should have", "must not have",
                                         "counts more with"};
    static const char *const kinds[] = {"word", "exact word", "phrase", "prefix", "fuzzy word"};
    struct text_clause alone = *clause;
    struct text_stats stats = {0};
    bool matches;
    float score;
    int rc;

    alone.occur = OCCUR_MUST;
    rc = ask_text(explainer, &(struct query_text){.clauses = &alone, .count = 1}, &matches, &score,
                  &stats, err);
    explanation->holds = matches == (clause->occur != OCCUR_NOT);
    explanation->value = (double)score;
    explanation->text = print_text(
        explainer->arena, "%s %s \"%.*s\"%.*s: %s (%.*s)", occurs[clause->occur],
        kinds[clause->kind], BYTES_ARG(clause->text), BYTES_ARG(tell_also(explainer, clause)),
        matches ? "it has" : "it has not", BYTES_ARG(tell_terms(explainer, &stats)));
    return rc;
}

static int explain_text(const struct explainer *explainer, const struct query_text *text,
                        struct explanation *explanation, struct err *err)
{
    struct explanation *children =
        arena_array(explainer->arena, text->count + 1, sizeof(*children));
    struct text_stats stats = {0};
    float score;
    uint32_t i;
    int rc = ask_text(explainer, text, &explanation->holds, &score, &stats, err);

    for (i = 0; i < text->count && !rc; i++)
        rc = explain_clause(explainer, &text->clauses[i], &children[i], err);
    explanation->value = (double)score;
    explanation->text = print_text(explainer->arena, "text: score %g", (double)score);
    explanation->children = children;
    explanation->count = text->count;
    return rc;
}

/* ---- the rest ---- */

static void explain_filter(const struct explainer *explainer, const struct filter_plan *filter,
                           const char *name, struct explanation *explanation)
{
    struct explanation *children =
        arena_array(explainer->arena, filter->count + 1, sizeof(*children));
    uint32_t i;

    explanation->holds = true;
    for (i = 0; i < filter->count; i++) {
        conjunct_explain(&filter->conjuncts[i], explainer->context->snapshot, explainer->id,
                         explainer->arena, &children[i]);
        explanation->holds &= children[i].holds;
    }
    explanation->text = bytes_of(name);
    explanation->children = children;
    explanation->count = filter->count;
}

static void explain_sort(const struct explainer *explainer, const struct sort_plan *sort,
                         float score, struct explanation *explanation)
{
    static const char *const kinds[] = {"relevance", "field", "distance", "formula"};
    struct explanation *children =
        arena_array(explainer->arena, sort->count + 1, sizeof(*children));
    uint16_t offset = (uint16_t)(explainer->id & (WINDOW_SIZE - 1));
    uint32_t i;

    for (i = 0; i < sort->count; i++) {
        uint64_t key;

        sort_plan_keys(sort, i, window_of(explainer->id), &offset, 1, &score, &key);
        children[i].holds = true;
        children[i].value = sort_key_value(&sort->keys[i], key);
        children[i].text =
            print_text(explainer->arena, "%s%s%s: %g", kinds[sort->keys[i].kind],
                       sort->keys[i].field ? " " : "",
                       sort->keys[i].field ? sort->keys[i].field->name : "", children[i].value);
    }
    explanation->holds = true;
    explanation->text = bytes_of("order");
    explanation->children = children;
    explanation->count = sort->count;
}

static int explain_stage(const struct explainer *explainer, const struct query_stage *source,
                         struct explanation *explanation, struct err *err)
{
    struct query_context *context = explainer->context;
    struct explanation *parts = arena_array(explainer->arena, 5, sizeof(*parts));
    struct stage stage;
    uint32_t count = 0;
    uint32_t i;
    int rc = stage_make(&stage, context, source, err);

    if (rc)
        return rc;
    parts[count].holds = live_has(context->snapshot->alive, explainer->id);
    parts[count++].text = bytes_of(parts[0].holds ? "the index has the document"
                                                  : "the index does not have the document");
    if (source->text.count)
        rc = explain_text(explainer, &source->text, &parts[count++], err);
    if (rc)
        return rc;
    if (context->base.count)
        explain_filter(explainer, &context->base, "base", &parts[count++]);
    if (stage.filter.count)
        explain_filter(explainer, &stage.filter, "filter", &parts[count++]);
    explanation->holds = true;
    for (i = 0; i < count; i++)
        explanation->holds &= parts[i].holds;
    explain_sort(explainer, &stage.sort, source->text.count ? (float)parts[1].value : 0,
                 &parts[count++]);
    explanation->value = source->text.count ? parts[1].value : 0;
    explanation->text = print_text(explainer->arena, "document %u is %s", explainer->id,
                                   explanation->holds ? "a hit" : "not a hit");
    explanation->children = parts;
    explanation->count = count;
    return 0;
}

int query_explain(struct query_engine *engine, const struct query_plan *plan, uint32_t stage,
                  docid id, struct arena *arena, struct explanation *explanation, struct err *err)
{
    static const struct query_tuning none = {0};
    struct query_context context = {.analysis = engine->analysis,
                                    .tuning = &none,
                                    .hits = engine->hits,
                                    .arena = arena,
                                    .memory = arena};
    const struct explainer explainer = {.context = &context, .id = id, .arena = arena};
    int rc;

    object_check(engine, QUERY_ENGINE_MAGIC);
    *explanation = (struct explanation){0};
    if (stage >= plan->stage_count)
        return err_set(err, ERR_INVALID, "stage %u: there are %u", stage, plan->stage_count);
    rc = shard_enter(engine->reader, &context.snapshot, err);
    if (rc)
        return rc;
    rc = filter_plan_make(&context.base, context.snapshot, plan->base, "base", arena, err);
    rc = rc ? rc : explain_stage(&explainer, &plan->stages[stage], explanation, err);
    shard_exit(engine->reader);
    return rc;
}
