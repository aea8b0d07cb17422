/* SPDX-License-Identifier: Apache-2.0 */
/* queries.c - see queries.h. */
#include "queries.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"

struct maker {
    const struct world *world;
    struct rng *rng;
    struct arena *arena;
};

static uint32_t below(const struct maker *maker, uint32_t bound)
{
    return (uint32_t)rng_below(maker->rng, bound);
}

/* ---- text ---- */

static size_t letter_size(const char *text)
{
    return (uint8_t)*text >= 0xc0 ? 2 : 1;
}

/* The beginning of a word: one to all of its letters. */
static struct bytes random_prefix(const struct maker *maker, const char *word)
{
    size_t size = letter_size(word);
    uint32_t more = below(maker, 6);

    for (; more > 0 && word[size]; more--)
        size += letter_size(word + size);
    return arena_copy(maker->arena, bytes_make(word, size));
}

/* One or two letters left out, put in or changed over. */
static struct bytes misspell(const struct maker *maker, const char *word)
{
    char text[128];
    uint32_t edits = below(maker, 3);

    snprintf(text, sizeof(text), "%s", word);
    while (edits-- > 0) {
        size_t size = strlen(text);
        size_t at = 0;
        uint32_t skip = below(maker, 8);
        size_t here;

        for (; skip > 0 && text[at + letter_size(text + at)]; skip--)
            at += letter_size(text + at);
        here = letter_size(text + at);
        if (size > here && below(maker, 2)) {
            memmove(text + at, text + at + here, size - at - here + 1);
        } else {
            memmove(text + at + here, text + at, size - at + 1);
        }
    }
    return arena_copy(maker->arena, bytes_of(text));
}

static struct bytes random_words(const struct maker *maker, uint32_t count)
{
    const struct world *world = maker->world;
    const char *text = "";

    for (; count > 0; count--)
        text = arena_printf(maker->arena, "%s%s%s", text, *text ? " " : "",
                            below(maker, 60) ? world->forms[below(maker, world->form_count)].text
                                             : "неведомое");
    return bytes_of(text);
}

/* Two neighbours of a document, so that phrases are found at times. */
static struct bytes random_neighbours(const struct maker *maker)
{
    const struct world *world = maker->world;
    const struct world_doc *doc = &world->docs[world_random_slot(maker->rng)];
    bool third = below(maker, 2);
    uint32_t first;

    if (doc->word_count < 3)
        return random_words(maker, 2);
    first = below(maker, doc->word_count - 2);
    return bytes_of(arena_printf(maker->arena, "%s %s%s%s",
                                 world->forms[doc->words[first].form].text,
                                 world->forms[doc->words[first + 1].form].text, third ? " " : "",
                                 third ? world->forms[doc->words[first + 2].form].text : ""));
}

/* Synonyms: words, and words one after the other. */
static void random_also(const struct maker *maker, struct text_clause *clause)
{
    struct text_also *also = arena_array(maker->arena, 3, sizeof(*also));

    clause->also = also;
    clause->also_count = below(maker, 3) ? 0 : 1 + below(maker, 3);
    for (uint32_t i = 0; i < clause->also_count; i++) {
        also[i].text = below(maker, 2) ? random_words(maker, 1) : random_neighbours(maker);
        also[i].boost = below(maker, 3) ? 0.25f * (float)(1 + below(maker, 8)) : 0;
    }
}

static struct text_clause random_clause(const struct maker *maker)
{
    const struct world *world = maker->world;
    const char *word = world->forms[below(maker, 1 + below(maker, world->form_count))].text;
    struct text_clause clause = {.kind = (uint8_t)below(maker, 5)};
    uint32_t dice = below(maker, 10);

    clause.occur = dice < 5   ? OCCUR_MUST
                   : dice < 8 ? OCCUR_SHOULD
                   : dice < 9 ? OCCUR_NOT
                              : OCCUR_BONUS;
    clause.fields = below(maker, 3) ? 0 : (uint8_t)(1 + below(maker, 3));
    clause.boost = below(maker, 3) ? 0 : 0.5f + (float)below(maker, 4);
    clause.text = bytes_of(word);
    switch (clause.kind) {
    case CLAUSE_PREFIX:
        clause.text = random_prefix(maker, word);
        break;
    case CLAUSE_FUZZY:
        clause.text = misspell(maker, word);
        break;
    case CLAUSE_PHRASE:
        clause.text = random_neighbours(maker);
        break;
    case CLAUSE_EXACT:
        if (below(maker, 3) == 0)
            clause.text = random_neighbours(maker);
        break;
    default:
        clause.text = random_words(maker, 1);
        random_also(maker, &clause);
        break;
    }
    return clause;
}

static struct query_text random_text(const struct maker *maker)
{
    uint32_t count = below(maker, 3) ? 1 + below(maker, 4) : 0;
    struct text_clause *clauses = arena_array(maker->arena, count + 1, sizeof(*clauses));
    struct query_text text = {.clauses = clauses, .count = count};
    uint32_t i;

    for (i = 0; i < count; i++)
        clauses[i] = random_clause(maker);
    if (count && below(maker, 5) == 0)
        text.should_min = 1 + below(maker, 2);
    text.not_all = below(maker, 4) == 0;
    return text;
}

/* ---- filters ---- */

static struct bytes field_name(uint32_t field)
{
    return bytes_of(world_field_name(field));
}

static uint32_t random_field(const struct maker *maker)
{
    uint32_t field;

    do
        field = WORLD_BRAND + below(maker, maker->world->field_count - WORLD_BRAND);
    while (field == WORLD_NOTE);
    return field;
}

static void random_name_filter(const struct maker *maker, uint32_t field,
                               struct query_filter *filter)
{
    uint32_t name_count;
    const char *const *names = world_names(field, &name_count);
    struct bytes *asked;
    uint32_t i;

    filter->kind = FILTER_IN;
    if (world_field_spec(field)->type == FIELD_CATEGORY && below(maker, 2))
        filter->kind = FILTER_SUBTREE;
    filter->count = below(maker, 4);
    asked = arena_array(maker->arena, filter->count + 1, sizeof(*asked));
    for (i = 0; i < filter->count; i++)
        asked[i] = bytes_of(below(maker, 10) ? names[below(maker, name_count)] : "unheard-of");
    if (filter->count && filter->kind == FILTER_SUBTREE && below(maker, 3) == 0)
        asked[0] = bytes_of("pets");
    filter->names = asked;
}

static int64_t random_bound(const struct maker *maker, uint32_t field)
{
    switch (field) {
    case WORLD_PRICE:
        return (int64_t)below(maker, 5000);
    case WORLD_WEIGHT:
        return (int64_t)below(maker, 400) - 200;
    case WORLD_DATE:
        return 1700000000 - (int64_t)below(maker, 100 * 86400);
    default:
        return below(maker, 10);
    }
}

static void random_number_filter(const struct maker *maker, uint32_t field,
                                 struct query_filter *filter)
{
    static const struct bytes truths[] = {BYTES_LITERAL("true"), BYTES_LITERAL("false")};
    int64_t *numbers;
    uint32_t i;

    if (field == WORLD_SOLD && below(maker, 2)) {
        filter->kind = FILTER_IN;
        filter->names = &truths[below(maker, 2)];
        filter->count = 1;
        return;
    }
    if (below(maker, 3)) {
        filter->kind = FILTER_RANGE;
        filter->low = below(maker, 4) ? random_bound(maker, field) : INT64_MIN;
        filter->high = below(maker, 4) ? random_bound(maker, field) : INT64_MAX;
        return;
    }
    filter->kind = FILTER_IN;
    filter->count = 1 + below(maker, 4);
    numbers = arena_array(maker->arena, filter->count, sizeof(*numbers));
    for (i = 0; i < filter->count; i++)
        numbers[i] =
            field == WORLD_PRICE ? (int64_t)below(maker, 50) * 100 : random_bound(maker, field);
    filter->numbers = numbers;
}

static void random_geo_filter(const struct maker *maker, struct query_filter *filter)
{
    filter->lat = 557500000 + (int32_t)below(maker, 4000000) - 2000000;
    filter->lon = 376200000 + (int32_t)below(maker, 8000000) - 4000000;
    if (below(maker, 2)) {
        filter->kind = FILTER_RADIUS;
        filter->radius_m = (double)below(maker, 30000);
        return;
    }
    filter->kind = FILTER_BOX;
    filter->box = (struct geo_box){.lat_min = filter->lat - (int32_t)below(maker, 1500000),
                                   .lat_max = filter->lat + (int32_t)below(maker, 1500000),
                                   .lon_min = filter->lon - (int32_t)below(maker, 3000000),
                                   .lon_max = filter->lon + (int32_t)below(maker, 3000000)};
}

static struct query_filter leaf_of(const struct maker *maker, uint32_t field)
{
    enum field_type type = world_field_spec(field)->type;
    struct query_filter filter = {.field = field_name(field)};

    if (below(maker, 8) == 0)
        filter.kind = FILTER_EXISTS;
    else if (type == FIELD_KEYWORD || type == FIELD_CATEGORY)
        random_name_filter(maker, field, &filter);
    else if (type == FIELD_GEO)
        random_geo_filter(maker, &filter);
    else
        random_number_filter(maker, field, &filter);
    return filter;
}

static struct query_filter random_leaf(const struct maker *maker)
{
    return leaf_of(maker, random_field(maker));
}

static struct query_filter random_tree(const struct maker *maker, uint32_t depth)
{
    struct query_filter filter = {0};
    struct query_filter *children;
    uint32_t i;

    if (depth == 0 || below(maker, 3) == 0)
        return random_leaf(maker);
    filter.kind = below(maker, 5) == 0 ? FILTER_NOT : below(maker, 3) == 0 ? FILTER_OR : FILTER_AND;
    filter.count = filter.kind == FILTER_NOT ? 1 : below(maker, 4);
    children = arena_array(maker->arena, filter.count + 1, sizeof(*children));
    for (i = 0; i < filter.count; i++)
        children[i] = random_tree(maker, depth - 1);
    filter.children = children;
    return filter;
}

static const struct query_filter *random_filter(const struct maker *maker, uint32_t depth)
{
    struct query_filter *filter;

    if (below(maker, 3) == 0)
        return NULL;
    filter = arena_zero(maker->arena, sizeof(*filter));
    *filter = random_tree(maker, depth);
    return filter;
}

/* ---- sorts and facets ---- */

static struct query_sort random_sort(const struct maker *maker)
{
    static const uint32_t sortable[] = {WORLD_PRICE, WORLD_WEIGHT, WORLD_DATE,
                                        WORLD_SOLD,  WORLD_BRAND,  WORLD_PLACE};
    struct query_sort sort = {.kind = (uint8_t)below(maker, 4)};

    sort.descending = below(maker, 2);
    sort.field = field_name(sortable[below(maker, 6)]);
    sort.lat = 557500000;
    sort.lon = 376200000;
    if (sort.kind == SORT_DISTANCE)
        sort.field = field_name(WORLD_POINT);
    if (sort.kind == SORT_FORMULA)
        sort.formula = bytes_of(formula_text(below(maker, formula_count(maker->world))));
    return sort;
}

/* A page as buyers see it: several fields are chosen from, and each one's facet shows what else
 * could be chosen. */
static void random_choices(const struct maker *maker, struct query_stage *stage,
                           struct query_facet *facets)
{
    static const uint32_t fields[] = {WORLD_BRAND, WORLD_TAGS, WORLD_PLACE, WORLD_SOLD,
                                      WORLD_PRICE};
    struct query_filter *all = arena_zero(maker->arena, sizeof(*all));
    struct query_filter *leaves = arena_array(maker->arena, ARRAY_COUNT(fields), sizeof(*leaves));
    uint32_t i;

    *all = (struct query_filter){.kind = FILTER_AND, .children = leaves};
    stage->filter = all;
    stage->facet_count = 0;
    for (i = 0; i < ARRAY_COUNT(fields); i++) {
        bool is_number = fields[i] == WORLD_PRICE;

        if (below(maker, 2))
            leaves[all->count++] = leaf_of(maker, fields[i]);
        if (below(maker, 3))
            facets[stage->facet_count++] =
                (struct query_facet){.kind = is_number ? FACET_MIN_MAX : FACET_VALUES,
                                     .counts_docs = true,
                                     .field = field_name(fields[i]),
                                     .sees_own_filter = below(maker, 8) == 0,
                                     .limit = 5};
    }
}

static struct query_facet random_facet(const struct maker *maker)
{
    struct query_facet facet = {.kind = (uint8_t)below(maker, 4),
                                .counts_docs = below(maker, 2),
                                .sees_own_filter = below(maker, 3) == 0,
                                .limit = below(maker, 4)};
    static const uint32_t valued[] = {WORLD_BRAND, WORLD_TAGS,    WORLD_LABELS,
                                      WORLD_PLACE, WORLD_SHELVES, WORLD_SOLD};
    static const uint32_t numbers[] = {WORLD_PRICE, WORLD_WEIGHT, WORLD_DATE};
    uint32_t field = valued[below(maker, 6)];
    int64_t *bounds;
    uint32_t i;

    if (facet.kind == FACET_TREE)
        field = below(maker, 2) ? WORLD_PLACE : WORLD_SHELVES;
    if (facet.kind == FACET_RANGES || facet.kind == FACET_MIN_MAX)
        field = numbers[below(maker, 3)];
    if (facet.kind == FACET_RANGES) {
        facet.bound_count = 2 + below(maker, 4);
        bounds = arena_array(maker->arena, facet.bound_count, sizeof(*bounds));
        bounds[0] = below(maker, 4) ? random_bound(maker, field) : -1000;
        for (i = 1; i < facet.bound_count; i++)
            bounds[i] = bounds[i - 1] + 1 + below(maker, field == WORLD_DATE ? 2000000 : 500);
        facet.bounds = bounds;
    }
    facet.field = field_name(field);
    return facet;
}

static struct query_stage random_stage(const struct maker *maker)
{
    struct query_stage stage = {.now = maker->world->now};
    struct query_sort *sorts = arena_array(maker->arena, SORT_COUNT_MAX, sizeof(*sorts));
    struct query_facet *facets = arena_array(maker->arena, 8, sizeof(*facets));
    uint32_t i;

    stage.text = random_text(maker);
    stage.filter = random_filter(maker, 3);
    stage.sort_count = below(maker, 2) ? below(maker, SORT_COUNT_MAX) : 0;
    for (i = 0; i < stage.sort_count; i++)
        sorts[i] = random_sort(maker);
    stage.sorts = sorts;
    stage.facet_count = below(maker, 2) ? below(maker, 6) : 0;
    for (i = 0; i < stage.facet_count; i++)
        facets[i] = random_facet(maker);
    stage.facets = facets;
    if (below(maker, 4) == 0)
        random_choices(maker, &stage, facets);
    return stage;
}

struct query_plan random_plan(const struct world *world, struct rng *rng, struct arena *arena)
{
    const struct maker maker = {world, rng, arena};
    uint32_t count = below(&maker, 4) ? 1 : 2 + below(&maker, 2);
    struct query_stage *stages = arena_array(arena, count, sizeof(*stages));
    struct query_plan plan = {.stages = stages, .stage_count = count};
    uint32_t i;

    if (count > 1 || below(&maker, 4) == 0)
        plan.base = random_filter(&maker, 2);
    for (i = 0; i < count; i++)
        stages[i] = random_stage(&maker);
    return plan;
}

/* ---- formulas ---- */

static const char *const formulas[] = {
    "score * 2 + price / 1000",
    "default(weight, 0.5) - age(date) / 86400",
    "if(sold, 1, -1) + log(1 + abs(default(price, 5)))",
    "-distance(point, 55.75, 37.62) / 1000 + min(score, 1)",
    "pow(max(weight, 0), 2) / (1 + sqrt(score))",
    "score * (1 + 0.5 * default(sold, 0)) / (1 + min(max(price, 0), 2))",
    "(size + 1) * exp(-score)",
};

uint32_t formula_count(const struct world *world)
{
    return world->field_count > WORLD_SIZE ? 7 : 6;
}

const char *formula_text(uint32_t formula)
{
    return formulas[formula];
}

uint32_t formula_number(struct bytes text)
{
    uint32_t i;

    for (i = 0; !bytes_equal_text(text, formulas[i]); i++)
        ;
    return i;
}

static double number_of(const struct world_doc *doc, uint32_t field)
{
    int64_t value = doc->numbers[field];

    if (value == COLUMN_NULL)
        return NAN;
    return field == WORLD_WEIGHT ? (double)value / 100 : (double)value;
}

double formula_value(const struct world *world, uint32_t formula, docid id, float score)
{
    const struct world_doc *doc = &world->docs[world_slot(id)];
    double s = (double)score;
    double price = number_of(doc, WORLD_PRICE);
    double weight = number_of(doc, WORLD_WEIGHT);
    double sold = number_of(doc, WORLD_SOLD);
    int32_t lat;
    int32_t lon;

    switch (formula) {
    case 0:
        return s * 2 + price / 1000;
    case 1:
        return (isnan(weight) ? 0.5 : weight) -
               ((double)world->now - number_of(doc, WORLD_DATE)) / 86400;
    case 2:
        return (isnan(sold) ? NAN
                : sold > 0  ? 1.0
                            : -1.0) +
               log(1 + fabs(isnan(price) ? 5 : price));
    case 3:
        if (doc->numbers[WORLD_POINT] == COLUMN_NULL)
            return NAN;
        geo_unpack(doc->numbers[WORLD_POINT], &lat, &lon);
        return -geo_distance_m(lat, lon, 557500000, 376200000) / 1000 + (s < 1 ? s : 1);
    case 4:
        return (isnan(weight) ? NAN : pow(weight < 0 ? 0 : weight, 2)) / (1 + sqrt(s));
    case 5:
        if (isnan(price))
            return NAN;
        price = price > 0 ? price : 0;
        return s * (1 + 0.5 * (isnan(sold) ? 0 : sold)) / (1 + (price < 2 ? price : 2));
    default:
        return (number_of(doc, WORLD_SIZE) + 1) * exp(-s);
    }
}

/* ---- showing ---- */

static void show_filter(const struct query_filter *filter)
{
    static const char *const kinds[] = {"and",    "or",      "not", "in",    "range",
                                        "exists", "subtree", "box", "radius"};
    uint32_t i;

    if (!filter) {
        printf(" none");
        return;
    }
    printf(" %s(%.*s", kinds[filter->kind], BYTES_ARG(filter->field));
    for (i = 0; i < filter->count; i++) {
        if (filter->kind <= FILTER_NOT)
            show_filter(&filter->children[i]);
        else if (filter->names)
            printf(" %.*s", BYTES_ARG(filter->names[i]));
        else
            printf(" %jd", (intmax_t)filter->numbers[i]);
    }
    if (filter->kind == FILTER_RANGE)
        printf(" %jd..%jd", (intmax_t)filter->low, (intmax_t)filter->high);
    printf(")");
}

void show_plan(const struct query_plan *plan)
{
    static const char *const occurs[] = {"+", "?", "-"};
    static const char *const kinds[] = {"word", "exact", "phrase", "prefix", "fuzzy"};
    static const char *const sorts[] = {"relevance", "field", "distance", "formula"};
    static const char *const facets[] = {"values", "ranges", "min_max", "tree"};
    uint32_t i;
    uint32_t k;

    printf("# base:");
    show_filter(plan->base);
    for (i = 0; i < plan->stage_count; i++) {
        const struct query_stage *stage = &plan->stages[i];

        printf("\n#  stage %u, min %u%s:", i, stage->text.should_min,
               stage->text.not_all ? ", not all" : "");
        for (k = 0; k < stage->text.count; k++)
            printf(" %s%s:%u:\"%.*s\"", occurs[stage->text.clauses[k].occur],
                   kinds[stage->text.clauses[k].kind], stage->text.clauses[k].fields,
                   BYTES_ARG(stage->text.clauses[k].text));
        for (k = 0; k < stage->text.count; k++)
            for (uint32_t a = 0; a < stage->text.clauses[k].also_count; a++)
                printf(" %u also \"%.*s\" × %g", k, BYTES_ARG(stage->text.clauses[k].also[a].text),
                       (double)stage->text.clauses[k].also[a].boost);
        printf("\n#   filter:");
        show_filter(stage->filter);
        printf("\n#   sorts:");
        for (k = 0; k < stage->sort_count; k++)
            printf(" %s %.*s%.*s%s", sorts[stage->sorts[k].kind], BYTES_ARG(stage->sorts[k].field),
                   BYTES_ARG(stage->sorts[k].formula), stage->sorts[k].descending ? " desc" : "");
        printf("\n#   facets:");
        for (k = 0; k < stage->facet_count; k++)
            printf(" %s %.*s%s", facets[stage->facets[k].kind], BYTES_ARG(stage->facets[k].field),
                   stage->facets[k].sees_own_filter ? " own" : "");
    }
    printf("\n");
    fflush(stdout);
}
