/* SPDX-License-Identifier: Apache-2.0 */
/*
 * naive_sets.c - the evaluator by set algebra; see naive.h.
 *
 * A set is an array of bools by slot. Sets of words and values are made by one pass over what
 * documents hold; clauses and filters only combine them.
 */
#include <stdlib.h>
#include <string.h>

#include "naive.h"

struct set {
    bool has[WORLD_DOC_MAX];
};

struct algebra {
    const struct world *world;
    struct arena *arena;
};

static struct set *new_set(const struct algebra *algebra, bool value)
{
    struct set *set = arena_alloc(algebra->arena, sizeof(*set));

    memset(set->has, value, sizeof(set->has));
    return set;
}

enum combination { INTERSECT, UNITE, SUBTRACT };

static void combine(struct set *to, const struct set *from, enum combination how)
{
    size_t i;

    for (i = 0; i < WORLD_DOC_MAX; i++) {
        if (how == INTERSECT)
            to->has[i] = to->has[i] && from->has[i];
        else if (how == UNITE)
            to->has[i] = to->has[i] || from->has[i];
        else
            to->has[i] = to->has[i] && !from->has[i];
    }
}

static uint64_t size_of(const struct set *set)
{
    uint64_t size = 0;
    size_t i;

    for (i = 0; i < WORLD_DOC_MAX; i++)
        size += set->has[i];
    return size;
}

/* ---- text: places are bits of positions, by document and field ---- */

struct places {
    uint32_t at[WORLD_DOC_MAX][WORLD_TEXT_COUNT];
};

static struct places *places_of(const struct algebra *algebra, const bool *forms)
{
    const struct world *world = algebra->world;
    struct places *places = arena_zero(algebra->arena, sizeof(*places));
    uint32_t slot;
    uint32_t i;

    for (slot = 0; slot < WORLD_DOC_MAX; slot++) {
        const struct world_doc *doc = &world->docs[slot];

        for (i = 0; doc->lives && i < doc->word_count; i++)
            if (forms[doc->words[i].form])
                places->at[slot][doc->words[i].field] |= 1U << doc->words[i].position;
    }
    return places;
}

static struct set *set_of_places(const struct algebra *algebra, const struct places *places,
                                 uint8_t fields)
{
    struct set *set = new_set(algebra, false);
    uint32_t slot;
    uint32_t field;

    for (slot = 0; slot < WORLD_DOC_MAX; slot++)
        for (field = 0; field < WORLD_TEXT_COUNT; field++)
            if (!fields || fields >> field & 1)
                set->has[slot] = set->has[slot] || places->at[slot][field];
    return set;
}

static void add_stem(const struct world *world, uint32_t stem, bool *forms)
{
    uint32_t i;

    for (i = 0; i < world->form_count; i++)
        if (world->forms[i].stem == stem)
            forms[i] = true;
}

static bool begins_alike(const char *form, struct bytes text)
{
    size_t size = (uint8_t)form[0] >= 0xc0 ? 2 : 1;

    return text.size >= size && memcmp(form, text.data, size) == 0;
}

static void expand(const struct world *world, const struct text_clause *clause, bool *forms)
{
    unsigned max = lexicon_fuzzy_distance(clause->text);
    uint32_t i;

    for (i = 0; i < world->form_count; i++) {
        const char *form = world->forms[i].text;
        bool meant;

        if (!world->forms[i].known)
            continue;
        if (clause->kind == CLAUSE_PREFIX)
            meant = strncmp(form, (const char *)clause->text.data, clause->text.size) == 0;
        else
            meant = begins_alike(form, clause->text) &&
                    naive_edits(bytes_of(form), clause->text, max) <= max;
        if (meant)
            add_stem(world, world->forms[i].stem, forms);
    }
}

static struct set *set_of_sequence(const struct algebra *algebra, const struct text_clause *clause,
                                   const uint32_t *words, uint32_t count)
{
    struct places *all = NULL;
    uint32_t i;
    uint32_t slot;

    for (i = 0; i < count; i++) {
        bool forms[WORLD_FORM_MAX] = {false};
        struct places *next;

        if (clause->kind == CLAUSE_EXACT)
            forms[words[i]] = true;
        else
            add_stem(algebra->world, algebra->world->forms[words[i]].stem, forms);
        next = places_of(algebra, forms);
        for (slot = 0; all && slot < WORLD_DOC_MAX; slot++) {
            all->at[slot][0] &= next->at[slot][0] >> i;
            all->at[slot][1] &= next->at[slot][1] >> i;
        }
        all = all ? all : next;
    }
    return set_of_places(algebra, all, clause->fields);
}

static struct set *set_of_clause(const struct algebra *algebra, const struct text_clause *clause)
{
    bool digits = clause->text.data[0] >= '0' && clause->text.data[0] <= '9';
    bool forms[WORLD_FORM_MAX] = {false};
    uint32_t words[NAIVE_WORDS_MAX];
    struct set *set;
    uint32_t count;

    if (clause->kind == CLAUSE_PREFIX || (clause->kind == CLAUSE_FUZZY && !digits)) {
        expand(algebra->world, clause, forms);
        return set_of_places(algebra, places_of(algebra, forms), clause->fields);
    }
    set = naive_words(algebra->world, clause->text, words, &count)
              ? set_of_sequence(algebra, clause, words, count)
              : new_set(algebra, false);
    for (uint32_t i = 0; i < clause->also_count; i++) {
        const struct text_clause also = {
            .kind = CLAUSE_PHRASE, .fields = clause->fields, .text = clause->also[i].text};

        combine(set, set_of_clause(algebra, &also), UNITE);
    }
    return set;
}

static struct set *set_of_text(const struct algebra *algebra, const struct query_text *text)
{
    uint8_t *should = arena_zero(algebra->arena, WORLD_DOC_MAX);
    struct set *result = new_set(algebra, true);
    uint32_t min = text->should_min;
    uint32_t musts = 0;
    uint32_t shoulds = 0;
    uint32_t i;
    uint32_t slot;

    for (i = 0; i < text->count; i++) {
        const struct text_clause *clause = &text->clauses[i];
        struct set *set = set_of_clause(algebra, clause);

        if (clause->occur == OCCUR_MUST)
            combine(result, set, INTERSECT);
        else if (clause->occur == OCCUR_NOT)
            combine(result, set, SUBTRACT);
        else if (clause->occur == OCCUR_SHOULD)
            for (slot = 0; slot < WORLD_DOC_MAX; slot++)
                should[slot] = (uint8_t)(should[slot] + set->has[slot]);
        musts += clause->occur == OCCUR_MUST;
        shoulds += clause->occur == OCCUR_SHOULD;
    }
    if (!min && !musts && shoulds)
        min = 1;
    for (slot = 0; slot < WORLD_DOC_MAX; slot++)
        result->has[slot] = result->has[slot] && should[slot] >= min &&
                            !(text->not_all && shoulds && should[slot] == shoulds);
    return result;
}

/* ---- filters ---- */

static struct set *set_of_name(const struct algebra *algebra, uint32_t field, uint32_t name)
{
    struct set *set = new_set(algebra, false);
    uint32_t slot;

    for (slot = 0; slot < WORLD_DOC_MAX; slot++)
        set->has[slot] = algebra->world->docs[slot].names[field] >> name & 1;
    return set;
}

static struct set *set_of_range(const struct algebra *algebra, uint32_t field, int64_t low,
                                int64_t high)
{
    struct set *set = new_set(algebra, false);
    uint32_t slot;

    for (slot = 0; slot < WORLD_DOC_MAX; slot++) {
        int64_t value = algebra->world->docs[slot].numbers[field];

        set->has[slot] = value != COLUMN_NULL && low <= value && value <= high;
    }
    return set;
}

static struct set *set_of_names(const struct algebra *algebra, const struct query_filter *filter,
                                uint32_t field)
{
    struct set *set = new_set(algebra, false);
    uint32_t count;
    const char *const *names = world_names(field, &count);
    uint32_t i;
    uint32_t k;

    for (i = 0; i < count; i++) {
        bool asked = filter->kind == FILTER_EXISTS;

        for (k = 0; k < filter->count && filter->kind != FILTER_EXISTS; k++) {
            size_t size = filter->names[k].size;
            bool begins = strncmp(names[i], (const char *)filter->names[k].data, size) == 0;

            asked |= begins && (names[i][size] == '\0' ||
                                (filter->kind == FILTER_SUBTREE && names[i][size] == '/'));
        }
        if (asked)
            combine(set, set_of_name(algebra, field, i), UNITE);
    }
    return set;
}

static struct set *set_of_geo(const struct algebra *algebra, const struct query_filter *filter)
{
    struct set *set = new_set(algebra, false);
    int32_t lat;
    int32_t lon;
    uint32_t slot;

    for (slot = 0; slot < WORLD_DOC_MAX; slot++) {
        if (algebra->world->docs[slot].numbers[WORLD_POINT] == COLUMN_NULL)
            continue;
        geo_unpack(algebra->world->docs[slot].numbers[WORLD_POINT], &lat, &lon);
        set->has[slot] =
            filter->kind == FILTER_RADIUS
                ? geo_distance_m(filter->lat, filter->lon, lat, lon) <= filter->radius_m
                : !(lat < filter->box.lat_min || lat > filter->box.lat_max ||
                    lon < filter->box.lon_min || lon > filter->box.lon_max);
    }
    return set;
}

static struct set *set_of_leaf(const struct algebra *algebra, const struct query_filter *filter)
{
    uint32_t field = naive_field(algebra->world, filter->field);
    enum field_type type = world_field_spec(field)->type;
    struct set *set;
    uint32_t i;

    if (type == FIELD_KEYWORD || type == FIELD_CATEGORY)
        return set_of_names(algebra, filter, field);
    if (filter->kind == FILTER_BOX || filter->kind == FILTER_RADIUS)
        return set_of_geo(algebra, filter);
    if (filter->kind == FILTER_RANGE)
        return set_of_range(algebra, field, filter->low, filter->high);
    if (filter->kind == FILTER_EXISTS)
        return set_of_range(algebra, field, INT64_MIN, INT64_MAX);
    set = new_set(algebra, false);
    for (i = 0; i < filter->count; i++) {
        int64_t value =
            filter->numbers ? filter->numbers[i] : bytes_equal_text(filter->names[i], "true");

        combine(set, set_of_range(algebra, field, value, value), UNITE);
    }
    return set;
}

static struct set *set_of_filter(const struct algebra *algebra, const struct query_filter *filter)
{
    struct set *set;
    uint32_t i;

    if (filter->kind > FILTER_NOT)
        return set_of_leaf(algebra, filter);
    set = new_set(algebra, filter->kind != FILTER_OR);
    for (i = 0; i < filter->count; i++)
        combine(set, set_of_filter(algebra, &filter->children[i]),
                filter->kind == FILTER_AND  ? INTERSECT
                : filter->kind == FILTER_OR ? UNITE
                                            : SUBTRACT);
    return set;
}

/* ---- facets ---- */

static bool leaves_are_of(const struct query_filter *filter, struct bytes field)
{
    bool all = filter->kind > FILTER_NOT ? bytes_equal(filter->field, field) : filter->count > 0;
    uint32_t i;

    for (i = 0; filter->kind <= FILTER_NOT && i < filter->count; i++)
        all = all && leaves_are_of(&filter->children[i], field);
    return all;
}

/* Intersects with every AND at the top but those of the field. */
static void restrict_by(const struct algebra *algebra, const struct query_filter *filter,
                        struct bytes field, struct set *set)
{
    uint32_t i;

    if (filter->kind == FILTER_AND) {
        for (i = 0; i < filter->count; i++)
            restrict_by(algebra, &filter->children[i], field, set);
    } else if (!field.size || !leaves_are_of(filter, field)) {
        combine(set, set_of_filter(algebra, filter), INTERSECT);
    }
}

static int compare_facet_values(const void *a, const void *b)
{
    const struct facet_value *x = a;
    const struct facet_value *y = b;

    return x->count == y->count ? bytes_compare(x->name, y->name) : x->count > y->count ? -1 : 1;
}

/* Sets of each value or path, intersected with the hits and counted. */
static void count_values(const struct algebra *algebra, const struct query_facet *facet,
                         uint32_t field, const struct set *hits, struct facet_answer *answer)
{
    struct facet_value *values = arena_array(algebra->arena, 256, sizeof(*values));
    uint32_t limit = facet->limit ? facet->limit : 10;
    uint32_t count = 0;
    const char *const *names = world_names(field, &count);
    uint32_t found = 0;
    uint32_t i;
    size_t size;

    for (i = 0; i < (field == WORLD_SOLD ? 2 : count); i++) {
        struct bytes name = bytes_of(field == WORLD_SOLD ? (i ? "true" : "false") : names[i]);

        for (size = facet->kind == FACET_TREE ? 1 : name.size; size <= name.size; size++) {
            struct bytes path = bytes_make(name.data, size);
            struct set *set;
            uint32_t k;

            if (size < name.size && name.data[size] != '/')
                continue;
            for (k = 0; k < found && !bytes_equal(values[k].name, path);)
                k++;
            if (k < found)
                continue;
            if (facet->kind == FACET_TREE)
                set = set_of_names(
                    algebra,
                    &(struct query_filter){.kind = FILTER_SUBTREE, .names = &path, .count = 1},
                    field);
            else
                set = field == WORLD_SOLD ? set_of_range(algebra, field, i, i)
                                          : set_of_name(algebra, field, i);
            combine(set, hits, INTERSECT);
            values[found].name = path;
            values[found].count = size_of(set);
            found += values[found].count > 0;
        }
    }
    qsort(values, found, sizeof(*values), compare_facet_values);
    answer->values = values;
    answer->count = found < limit ? found : limit;
    answer->other_count = found - answer->count;
}

static void count_numbers(const struct algebra *algebra, const struct query_facet *facet,
                          uint32_t field, const struct set *hits, struct facet_answer *answer)
{
    struct facet_value *values =
        arena_array(algebra->arena, facet->bound_count + 1, sizeof(*values));
    uint32_t slot;
    uint32_t i;

    for (i = 0; facet->kind == FACET_RANGES && i + 1 < facet->bound_count; i++) {
        struct set *set = set_of_range(algebra, field, facet->bounds[i], facet->bounds[i + 1] - 1);

        combine(set, hits, INTERSECT);
        values[i].count = size_of(set);
        answer->count++;
    }
    answer->values = values;
    for (slot = 0; facet->kind == FACET_MIN_MAX && slot < WORLD_DOC_MAX; slot++) {
        int64_t value = algebra->world->docs[slot].numbers[field];

        if (!hits->has[slot] || value == COLUMN_NULL)
            continue;
        if (!answer->has_values || value < answer->min)
            answer->min = value;
        if (!answer->has_values || value > answer->max)
            answer->max = value;
        answer->has_values = true;
    }
}

void naive_by_sets(const struct world *world, const struct query_plan *plan,
                   const struct query_stage *stage, struct arena *arena,
                   struct naive_answer *answer)
{
    const struct algebra algebra = {world, arena};
    struct set *candidates = set_of_text(&algebra, &stage->text);
    struct set *hits = new_set(&algebra, true);
    uint32_t i;
    uint32_t slot;

    memset(answer, 0, sizeof(*answer));
    for (slot = 0; slot < WORLD_DOC_MAX; slot++)
        candidates->has[slot] = candidates->has[slot] && world->docs[slot].lives;
    if (plan->base)
        combine(candidates, set_of_filter(&algebra, plan->base), INTERSECT);
    combine(hits, candidates, INTERSECT);
    if (stage->filter)
        combine(hits, set_of_filter(&algebra, stage->filter), INTERSECT);
    memcpy(answer->hits, hits->has, sizeof(answer->hits));
    answer->total = size_of(hits);
    for (i = 0; i < stage->facet_count; i++) {
        const struct query_facet *facet = &stage->facets[i];
        uint32_t field = naive_field(world, facet->field);
        struct set *own = new_set(&algebra, true);

        combine(own, candidates, INTERSECT);
        if (stage->filter)
            restrict_by(&algebra, stage->filter,
                        facet->sees_own_filter ? BYTES_EMPTY : facet->field, own);
        if (facet->counts_docs) {
            struct set *having = new_set(&algebra, true);

            combine(having, own, INTERSECT);
            combine(having,
                    set_of_filter(&algebra, &(struct query_filter){.kind = FILTER_EXISTS,
                                                                   .field = facet->field}),
                    INTERSECT);
            answer->facets[i].doc_count = size_of(having);
        }
        if (facet->kind == FACET_VALUES || facet->kind == FACET_TREE)
            count_values(&algebra, facet, field, own, &answer->facets[i]);
        else
            count_numbers(&algebra, facet, field, own, &answer->facets[i]);
    }
}
