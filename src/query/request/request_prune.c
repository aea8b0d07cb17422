/* SPDX-License-Identifier: Apache-2.0 */
/*
 * request_prune.c - a query without the fields that the schema does not have.
 *
 * For those who ask by a catalogue that knows more attributes than any document has: such a field
 * is one without values. Messages are copied, shallowly, where they change.
 */
#include <string.h>

#include "codec/message.h"
#include "query/request/request_parts.h"

struct pruning {
    const struct schema *schema;
    struct arena *arena;
};

static bool is_known(const struct pruning *pruning, const char *name)
{
    return schema_find(pruning->schema, bytes_of(name)) != NULL;
}

static void *copy(const struct pruning *pruning, const void *from, size_t size)
{
    void *to = arena_alloc(pruning->arena, size);

    memcpy(to, from, size);
    return to;
}

/* ---- filters ---- */

/* The name of a leaf's field; NULL: it is none. */
static const char *leaf_field(const Torg__V1__Filter *filter)
{
    switch (filter->kind_case) {
    case TORG__V1__FILTER__KIND_IN:
        return filter->in->field;
    case TORG__V1__FILTER__KIND_RANGE:
        return filter->range->field;
    case TORG__V1__FILTER__KIND_EXISTS:
        return filter->exists;
    case TORG__V1__FILTER__KIND_SUBTREE:
        return filter->subtree->field;
    case TORG__V1__FILTER__KIND_BOX:
        return filter->box->field;
    case TORG__V1__FILTER__KIND_RADIUS:
        return filter->radius->field;
    default:
        return NULL;
    }
}

/* One of none: it holds for nobody. */
static Torg__V1__Filter *no_document(const struct pruning *pruning)
{
    Torg__V1__Filter *filter = MESSAGE_NEW(filter, pruning->arena);
    Torg__V1__Filters *none = MESSAGE_NEW(filters, pruning->arena);

    filter->kind_case = TORG__V1__FILTER__KIND_OR;
    filter->or_ = none;
    return filter;
}

/* Recursion is bounded by that of messages, MESSAGE_DEPTH_MAX. */
static Torg__V1__Filter *prune_filter(const struct pruning *pruning, Torg__V1__Filter *filter);

static Torg__V1__Filters *prune_filters(const struct pruning *pruning,
                                        const Torg__V1__Filters *filters)
{
    Torg__V1__Filters *pruned = copy(pruning, filters, sizeof(*filters));

    pruned->of = arena_array(pruning->arena, filters->n_of + 1, sizeof(pruned->of[0]));
    for (size_t i = 0; i < filters->n_of; i++)
        pruned->of[i] = prune_filter(pruning, filters->of[i]);
    return pruned;
}

static Torg__V1__Filter *prune_filter(const struct pruning *pruning, Torg__V1__Filter *filter)
{
    const char *field = leaf_field(filter);
    Torg__V1__Filter *pruned;

    if (field)
        return is_known(pruning, field) ? filter : no_document(pruning);
    pruned = copy(pruning, filter, sizeof(*filter));
    if (filter->kind_case == TORG__V1__FILTER__KIND_AND)
        pruned->and_ = prune_filters(pruning, filter->and_);
    else if (filter->kind_case == TORG__V1__FILTER__KIND_OR)
        pruned->or_ = prune_filters(pruning, filter->or_);
    else if (filter->kind_case == TORG__V1__FILTER__KIND_NOT)
        pruned->not_ = prune_filter(pruning, filter->not_);
    return pruned;
}

/* ---- lists ---- */

static char **prune_names(const struct pruning *pruning, char *const *names, size_t *count)
{
    char **pruned = arena_array(pruning->arena, *count + 1, sizeof(pruned[0]));
    size_t kept = 0;

    for (size_t i = 0; i < *count; i++) {
        if (strcmp(names[i], "*") == 0 || is_known(pruning, names[i]))
            pruned[kept++] = names[i];
    }
    *count = kept;
    return pruned;
}

/* Nobody has a value of it: a formula that has none keeps its place among the keys, so that the
 * answers of shards whose schemas differ have as many. */
static Torg__V1__Sort *no_sort(const struct pruning *pruning)
{
    Torg__V1__Sort *sort = MESSAGE_NEW(sort, pruning->arena);

    sort->formula = "0/0";
    return sort;
}

static void prune_sorts(const struct pruning *pruning, Torg__V1__QueryStage *stage)
{
    Torg__V1__Sort **sorts = arena_array(pruning->arena, stage->n_sorts + 1, sizeof(sorts[0]));

    for (size_t i = 0; i < stage->n_sorts; i++)
        sorts[i] = !*stage->sorts[i]->field || is_known(pruning, stage->sorts[i]->field)
                       ? stage->sorts[i]
                       : no_sort(pruning);
    stage->sorts = sorts;
}

static void prune_facets(const struct pruning *pruning, Torg__V1__QueryStage *stage)
{
    Torg__V1__Facet **facets = arena_array(pruning->arena, stage->n_facets + 1, sizeof(facets[0]));
    size_t kept = 0;

    for (size_t i = 0; i < stage->n_facets; i++) {
        if (is_known(pruning, stage->facets[i]->field))
            facets[kept++] = stage->facets[i];
    }
    stage->facets = facets;
    stage->n_facets = kept;
}

/* Marks with no field left are of none, not of all. */
static void prune_highlight(const struct pruning *pruning, Torg__V1__QueryStage *stage)
{
    Torg__V1__Highlight *highlight;

    if (!stage->highlight || !stage->highlight->n_fields)
        return;
    highlight = copy(pruning, stage->highlight, sizeof(*highlight));
    highlight->fields = prune_names(pruning, highlight->fields, &highlight->n_fields);
    stage->highlight = highlight->n_fields ? highlight : NULL;
}

static Torg__V1__QueryStage *prune_stage(const struct pruning *pruning,
                                         const Torg__V1__QueryStage *stage)
{
    Torg__V1__QueryStage *pruned = copy(pruning, stage, sizeof(*stage));

    if (pruned->filter)
        pruned->filter = prune_filter(pruning, pruned->filter);
    prune_sorts(pruning, pruned);
    prune_facets(pruning, pruned);
    pruned->show = prune_names(pruning, pruned->show, &pruned->n_show);
    prune_highlight(pruning, pruned);
    if (pruned->cap && !is_known(pruning, pruned->cap->field))
        pruned->cap = NULL;
    return pruned;
}

const Torg__V1__Query *request_prune(const Torg__V1__Query *message, const struct schema *schema,
                                     struct arena *arena)
{
    const struct pruning pruning = {.schema = schema, .arena = arena};
    Torg__V1__Query *pruned = copy(&pruning, message, sizeof(*message));

    if (message->base_filter)
        pruned->base_filter = prune_filter(&pruning, message->base_filter);
    pruned->stages = arena_array(arena, message->n_stages + 1, sizeof(pruned->stages[0]));
    for (size_t i = 0; i < message->n_stages; i++)
        pruned->stages[i] = prune_stage(&pruning, message->stages[i]);
    return pruned;
}
