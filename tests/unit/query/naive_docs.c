/* SPDX-License-Identifier: Apache-2.0 */
/* naive_docs.c - the evaluator that asks every document; see naive.h. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "naive.h"

uint32_t naive_field(const struct world *world, struct bytes name)
{
    uint32_t i;

    for (i = 0; i < world->field_count; i++)
        if (bytes_equal_text(name, world_field_name(i)))
            return i;
    fail_msg("the query names a field that is not there");
    return 0;
}

bool naive_words(const struct world *world, struct bytes text, uint32_t forms[NAIVE_WORDS_MAX],
                 uint32_t *count)
{
    size_t at = 0;
    bool all = true;

    *count = 0;
    while (at < text.size) {
        size_t end = at;

        while (end < text.size && text.data[end] != ' ')
            end++;
        forms[*count] = world_find_form(world, bytes_make(text.data + at, end - at));
        all = all && forms[*count] < world->form_count;
        (*count)++;
        at = end + 1;
    }
    return all;
}

/* ---- edits ---- */

static uint32_t letters_of(struct bytes text, uint32_t letters[64])
{
    uint32_t count = 0;
    size_t i;

    for (i = 0; i < text.size; i++) {
        if ((text.data[i] & 0xc0) == 0x80)
            letters[count - 1] = letters[count - 1] << 8 | text.data[i];
        else
            letters[count++] = text.data[i];
    }
    return count;
}

unsigned naive_edits(struct bytes a, struct bytes b, unsigned max)
{
    uint32_t x[64];
    uint32_t y[64];
    unsigned d[65][65];
    uint32_t n = letters_of(a, x);
    uint32_t m = letters_of(b, y);
    uint32_t i;
    uint32_t k;

    for (i = 0; i <= n; i++) {
        for (k = 0; k <= m; k++) {
            unsigned least;

            if (i == 0 || k == 0) {
                d[i][k] = i + k;
                continue;
            }
            least = d[i - 1][k - 1] + (x[i - 1] != y[k - 1]);
            if (d[i - 1][k] + 1 < least)
                least = d[i - 1][k] + 1;
            if (d[i][k - 1] + 1 < least)
                least = d[i][k - 1] + 1;
            if (i > 1 && k > 1 && x[i - 1] == y[k - 2] && x[i - 2] == y[k - 1] &&
                d[i - 2][k - 2] + 1 < least)
                least = d[i - 2][k - 2] + 1;
            d[i][k] = least;
        }
    }
    return d[n][m] > max ? max + 1 : d[n][m];
}

/* ---- words of one document ---- */

static bool in_mask(const struct text_clause *clause, uint32_t field)
{
    return !clause->fields || clause->fields >> field & 1;
}

static uint32_t count_stem(const struct world *world, const struct world_doc *doc, uint32_t stem,
                           uint32_t field)
{
    uint32_t count = 0;
    uint32_t i;

    for (i = 0; i < doc->word_count; i++)
        count += doc->words[i].field == field && world->forms[doc->words[i].form].stem == stem;
    return count;
}

static bool has_stem(const struct world *world, const struct world_doc *doc,
                     const struct text_clause *clause, uint32_t stem)
{
    uint32_t field;

    for (field = 0; field < WORLD_TEXT_COUNT; field++)
        if (in_mask(clause, field) && count_stem(world, doc, stem, field))
            return true;
    return false;
}

static bool has_sequence(const struct world *world, const struct world_doc *doc,
                         const struct text_clause *clause, const uint32_t *forms, uint32_t count)
{
    bool exact = clause->kind == CLAUSE_EXACT;
    uint32_t i;
    uint32_t k;

    for (i = 0; i + count <= doc->word_count; i++) {
        for (k = 0; k < count; k++) {
            const struct world_word *word = &doc->words[i + k];

            if (word->field != doc->words[i].field || !in_mask(clause, word->field))
                break;
            if (exact ? word->form != forms[k]
                      : world->forms[word->form].stem != world->forms[forms[k]].stem)
                break;
        }
        if (k == count)
            return true;
    }
    return false;
}

/* Edits to the stem's nearest form, 0 for a prefix; a big number when it is not meant. */
static unsigned distance_of(const struct world *world, const struct text_clause *clause,
                            uint32_t stem)
{
    unsigned max = lexicon_fuzzy_distance(clause->text);
    unsigned least = NAIVE_FAR;
    uint32_t i;

    for (i = 0; i < world->form_count; i++) {
        struct bytes form = bytes_of(world->forms[i].text);
        unsigned distance = NAIVE_FAR;

        if (!world->forms[i].known || world->forms[i].stem != stem)
            continue;
        if (clause->kind == CLAUSE_PREFIX) {
            if (form.size >= clause->text.size &&
                memcmp(form.data, clause->text.data, clause->text.size) == 0)
                distance = 0;
        } else {
            uint32_t x[64];
            uint32_t y[64];

            letters_of(form, x);
            letters_of(clause->text, y);
            distance = naive_edits(form, clause->text, max);
            if (distance > max || x[0] != y[0])
                distance = NAIVE_FAR;
        }
        if (distance < least)
            least = distance;
    }
    return least;
}

static bool is_digits(struct bytes text)
{
    return text.size && text.data[0] >= '0' && text.data[0] <= '9';
}

static bool is_expansion(const struct text_clause *clause)
{
    return clause->kind == CLAUSE_PREFIX ||
           (clause->kind == CLAUSE_FUZZY && !is_digits(clause->text));
}

struct naive_text naive_text(const struct world *world, const struct query_text *text,
                             struct arena *arena)
{
    uint8_t(*distances)[WORLD_FORM_MAX] = arena_array(arena, text->count + 1, sizeof(*distances));
    uint32_t i;
    uint32_t k;

    for (i = 0; i < text->count; i++)
        for (k = 0; k < world->form_count; k++)
            distances[i][k] = is_expansion(&text->clauses[i]) && world->forms[k].stem == k
                                  ? (uint8_t)distance_of(world, &text->clauses[i], k)
                                  : NAIVE_FAR;
    return (struct naive_text){text, distances};
}

/* What counts as the clause's word, too, as a clause of its own. */
static struct text_clause also_clause(const struct text_clause *clause, uint32_t place)
{
    return (struct text_clause){
        .kind = CLAUSE_PHRASE, .fields = clause->fields, .text = clause->also[place].text};
}

static bool clause_matches(const struct world *world, const struct world_doc *doc,
                           const struct text_clause *clause, const uint8_t *distances)
{
    uint32_t forms[NAIVE_WORDS_MAX];
    uint32_t count;
    uint32_t i;

    if (is_expansion(clause)) {
        for (i = 0; i < world->form_count; i++)
            if (distances[i] < NAIVE_FAR && has_stem(world, doc, clause, i))
                return true;
        return false;
    }
    for (i = 0; i < clause->also_count; i++) {
        struct text_clause also = also_clause(clause, i);

        if (clause_matches(world, doc, &also, distances))
            return true;
    }
    if (!naive_words(world, clause->text, forms, &count))
        return false;
    if (clause->kind == CLAUSE_WORD || clause->kind == CLAUSE_FUZZY)
        return has_stem(world, doc, clause, world->forms[forms[0]].stem);
    return has_sequence(world, doc, clause, forms, count);
}

static bool text_matches(const struct world *world, const struct world_doc *doc,
                         const struct naive_text *asked)
{
    const struct query_text *text = asked->text;
    uint32_t should = 0;
    uint32_t musts = 0;
    uint32_t shoulds = 0;
    uint32_t i;

    for (i = 0; i < text->count; i++) {
        const struct text_clause *clause = &text->clauses[i];
        bool matches = clause_matches(world, doc, clause, asked->distances[i]);

        if (clause->occur == OCCUR_SHOULD) {
            shoulds++;
            should += matches;
        } else if (clause->occur != OCCUR_BONUS && matches != (clause->occur == OCCUR_MUST)) {
            return false;
        }
        musts += clause->occur == OCCUR_MUST;
    }
    if (text->not_all && shoulds && should == shoulds)
        return false;
    if (text->should_min)
        return should >= text->should_min;
    return should > 0 || musts > 0 || shoulds == 0;
}

/* ---- scores ---- */

static double df_of(const struct world *world, const struct lexicon *lexicon,
                    const struct text_stats *stats, uint32_t stem)
{
    struct lexicon_entry entry;
    uint32_t i;
    uint32_t k;

    for (k = 0; k < world->form_count; k++) {
        if (world->forms[k].stem != stem ||
            !lexicon_find(lexicon, bytes_of(world->forms[k].text), &entry))
            continue;
        for (i = 0; i < stats->count; i++)
            if (stats->terms[i].term == entry.term)
                return (double)stats->terms[i].doc_count;
    }
    fail_msg("the engine does not tell how many documents have a word that it found");
    return 0;
}

/* Of those that live and have any of the field. */
static double stats_average(const struct world *world, uint32_t field)
{
    uint64_t sum = 0, count = 0;

    for (uint32_t slot = 0; slot < WORLD_DOC_MAX; slot++) {
        const struct world_doc *doc = &world->docs[slot];

        sum += doc->lives ? doc->lengths[field] : 0;
        count += doc->lives && doc->lengths[field];
    }
    return count ? (double)sum / (double)count : 1;
}

static double word_score(const struct world *world, const struct lexicon *lexicon,
                         const struct text_stats *stats, const struct text_clause *clause,
                         const struct world_doc *doc, uint32_t stem)
{
    double n = (double)stats->doc_count;
    double df = df_of(world, lexicon, stats, stem);
    double t = 0;
    uint32_t field;

    for (field = 0; field < WORLD_TEXT_COUNT; field++)
        if (in_mask(clause, field))
            t += (double)world_field_spec(field)->weight * count_stem(world, doc, stem, field) /
                 (0.25 + 0.75 * doc->lengths[field] / stats_average(world, field));
    return log(1 + (n - df + 0.5) / (df + 0.5)) * t / (1.2 + t) * 2.2;
}

static double clause_score(const struct world *world, const struct lexicon *lexicon,
                           const struct text_stats *stats, const struct text_clause *clause,
                           const uint8_t *distances, const struct world_doc *doc)
{
    static const double penalties[] = {1, 0.7, 0.5};
    uint32_t forms[NAIVE_WORDS_MAX];
    uint32_t count;
    double score = 0;
    uint32_t i;

    if (is_expansion(clause)) {
        for (i = 0; i < world->form_count; i++) {
            unsigned distance = distances[i];
            double part;

            if (distance == NAIVE_FAR || !has_stem(world, doc, clause, i))
                continue;
            part = word_score(world, lexicon, stats, clause, doc, i) * penalties[distance];
            if (part > score)
                score = part;
        }
        return score;
    }
    if (naive_words(world, clause->text, forms, &count)) {
        for (i = 0; i < count; i++)
            if (clause->kind != CLAUSE_WORD ||
                has_stem(world, doc, clause, world->forms[forms[i]].stem))
                score +=
                    word_score(world, lexicon, stats, clause, doc, world->forms[forms[i]].stem);
    }
    for (i = 0; i < clause->also_count; i++) {
        struct text_clause also = also_clause(clause, i);
        double boost = clause->also[i].boost > 0 ? (double)clause->also[i].boost : 1, part;

        if (!clause_matches(world, doc, &also, distances))
            continue;
        part = boost * clause_score(world, lexicon, stats, &also, distances, doc);
        score = part > score ? part : score;
    }
    return score;
}

double naive_score(const struct world *world, const struct lexicon *lexicon,
                   const struct text_stats *stats, const struct naive_text *asked, docid id)
{
    const struct query_text *text = asked->text;
    const struct world_doc *doc = &world->docs[world_slot(id)];
    double score = 0;
    bool is_asked = false;
    uint32_t i;

    for (i = 0; i < text->count; i++) {
        const struct text_clause *clause = &text->clauses[i];
        double boost = clause->boost > 0 ? (double)clause->boost : 1;

        const uint8_t *distances = asked->distances[i];

        if (clause->occur != OCCUR_NOT && clause_matches(world, doc, clause, distances))
            score += boost * clause_score(world, lexicon, stats, clause, distances, doc);
        is_asked |= clause->occur == OCCUR_MUST || clause->occur == OCCUR_SHOULD;
    }
    return is_asked ? score : 0; /* else no word has to be there */
}

/* ---- filters ---- */

static bool is_under(const char *path, struct bytes root)
{
    return strlen(path) >= root.size && memcmp(path, root.data, root.size) == 0 &&
           (path[root.size] == '/' || path[root.size] == '\0');
}

static bool names_match(const struct world_doc *doc, const struct query_filter *filter,
                        uint32_t field)
{
    uint32_t count;
    const char *const *names = world_names(field, &count);
    uint32_t i;
    uint32_t k;

    for (i = 0; i < count; i++) {
        if (!(doc->names[field] >> i & 1))
            continue;
        for (k = 0; k < filter->count; k++)
            if (filter->kind == FILTER_SUBTREE ? is_under(names[i], filter->names[k])
                                               : bytes_equal_text(filter->names[k], names[i]))
                return true;
    }
    return false;
}

static bool number_matches(const struct query_filter *filter, int64_t value)
{
    int32_t lat;
    int32_t lon;
    uint32_t i;

    if (value == COLUMN_NULL)
        return false;
    switch (filter->kind) {
    case FILTER_RANGE:
        return value >= filter->low && value <= filter->high;
    case FILTER_IN:
        for (i = 0; i < filter->count; i++) {
            if (filter->numbers ? filter->numbers[i] == value
                                : bytes_equal_text(filter->names[i], value ? "true" : "false"))
                return true;
        }
        return false;
    case FILTER_BOX:
        geo_unpack(value, &lat, &lon);
        return lat >= filter->box.lat_min && lat <= filter->box.lat_max &&
               lon >= filter->box.lon_min && lon <= filter->box.lon_max;
    case FILTER_RADIUS:
        geo_unpack(value, &lat, &lon);
        return geo_distance_m(lat, lon, filter->lat, filter->lon) <= filter->radius_m;
    default:
        return true;
    }
}

static bool filter_holds(const struct world *world, const struct world_doc *doc,
                         const struct query_filter *filter)
{
    uint32_t field;
    uint32_t i;

    if (filter->kind == FILTER_NOT)
        return !filter_holds(world, doc, &filter->children[0]);
    if (filter->kind <= FILTER_OR) {
        for (i = 0; i < filter->count; i++)
            if (filter_holds(world, doc, &filter->children[i]) == (filter->kind == FILTER_OR))
                return filter->kind == FILTER_OR;
        return filter->kind == FILTER_AND;
    }
    field = naive_field(world, filter->field);
    if (world_field_spec(field)->type != FIELD_KEYWORD &&
        world_field_spec(field)->type != FIELD_CATEGORY)
        return number_matches(filter, doc->numbers[field]);
    if (filter->kind == FILTER_EXISTS)
        return doc->names[field] != 0;
    return names_match(doc, filter, field);
}

/* Whether all leaves are of the field. */
static bool is_only_of(const struct query_filter *filter, struct bytes field)
{
    uint32_t i;

    if (filter->kind > FILTER_NOT)
        return bytes_equal(filter->field, field);
    for (i = 0; i < filter->count; i++)
        if (!is_only_of(&filter->children[i], field))
            return false;
    return filter->count > 0;
}

/* The filter but for those of its ANDs at the top that are of the field. */
static bool holds_without(const struct world *world, const struct world_doc *doc,
                          const struct query_filter *filter, struct bytes field)
{
    uint32_t i;

    if (filter->kind != FILTER_AND)
        return is_only_of(filter, field) || filter_holds(world, doc, filter);
    for (i = 0; i < filter->count; i++)
        if (!holds_without(world, doc, &filter->children[i], field))
            return false;
    return true;
}

/* ---- facets ---- */

struct counter {
    struct facet_value values[256];
    uint32_t count;
};

static void count_name(struct counter *counter, struct bytes name)
{
    uint32_t i;

    for (i = 0; i < counter->count && !bytes_equal(counter->values[i].name, name);)
        i++;
    if (i == counter->count)
        counter->values[counter->count++] = (struct facet_value){.name = name};
    counter->values[i].count++;
}

static void count_tree(struct counter *counter, const char *const *names, uint64_t values)
{
    struct counter own = {.count = 0};
    uint32_t i;

    for (; values; values &= values - 1) {
        struct bytes path = bytes_of(names[__builtin_ctzll(values)]);
        size_t size;

        for (size = 1; size <= path.size; size++) {
            if (size < path.size && path.data[size] != '/')
                continue;
            for (i = 0; i < own.count; i++)
                if (bytes_equal(own.values[i].name, bytes_make(path.data, size)))
                    break;
            if (i == own.count)
                count_name(&own, bytes_make(path.data, size));
        }
    }
    for (i = 0; i < own.count; i++)
        count_name(counter, own.values[i].name);
}

static void count_doc(const struct world_doc *doc, const struct query_facet *facet, uint32_t field,
                      struct counter *counter, struct facet_answer *answer)
{
    uint32_t count = 0;
    const char *const *names = world_names(field, &count);
    int64_t value = doc->numbers[field];
    uint64_t rest;
    uint32_t i;

    bool is_named =
        facet->kind == FACET_TREE || (facet->kind == FACET_VALUES && field != WORLD_SOLD);

    if (facet->counts_docs)
        answer->doc_count += is_named ? doc->names[field] != 0 : value != COLUMN_NULL;
    if (facet->kind == FACET_TREE) {
        count_tree(counter, names, doc->names[field]);
    } else if (facet->kind == FACET_VALUES && field == WORLD_SOLD) {
        if (value != COLUMN_NULL)
            count_name(counter, bytes_of(value ? "true" : "false"));
    } else if (facet->kind == FACET_VALUES) {
        for (rest = doc->names[field]; rest; rest &= rest - 1)
            count_name(counter, bytes_of(names[__builtin_ctzll(rest)]));
    } else if (value != COLUMN_NULL && facet->kind == FACET_MIN_MAX) {
        answer->min = !answer->has_values || value < answer->min ? value : answer->min;
        answer->max = !answer->has_values || value > answer->max ? value : answer->max;
        answer->has_values = true;
    } else if (value != COLUMN_NULL) {
        for (i = 0; i + 1 < facet->bound_count; i++)
            counter->values[i].count += facet->bounds[i] <= value && value < facet->bounds[i + 1];
    }
}

static int compare_counts(const void *a, const void *b)
{
    const struct facet_value *x = a;
    const struct facet_value *y = b;

    if (x->count != y->count)
        return x->count > y->count ? -1 : 1;
    return bytes_compare(x->name, y->name);
}

static void count_facet(const struct world *world, const struct query_plan *plan,
                        const struct query_stage *stage, const struct query_facet *facet,
                        const bool *matches, struct arena *arena, struct facet_answer *answer)
{
    uint32_t field = naive_field(world, facet->field);
    struct counter *counter = arena_zero(arena, sizeof(*counter));
    uint32_t limit = facet->limit ? facet->limit : 10;
    uint32_t slot;

    *answer = (struct facet_answer){.values = counter->values};
    for (slot = 0; slot < WORLD_DOC_MAX; slot++) {
        const struct world_doc *doc = &world->docs[slot];
        bool holds = matches[slot] && (!plan->base || filter_holds(world, doc, plan->base));

        if (holds && stage->filter)
            holds = facet->sees_own_filter ? filter_holds(world, doc, stage->filter)
                                           : holds_without(world, doc, stage->filter, facet->field);
        if (holds)
            count_doc(doc, facet, field, counter, answer);
    }
    if (facet->kind == FACET_RANGES) {
        answer->count = facet->bound_count - 1;
        return;
    }
    qsort(counter->values, counter->count, sizeof(counter->values[0]), compare_counts);
    answer->count = counter->count < limit ? counter->count : limit;
    answer->other_count = counter->count - answer->count;
}

void naive_by_docs(const struct world *world, const struct query_plan *plan,
                   const struct query_stage *stage, struct arena *arena,
                   struct naive_answer *answer)
{
    struct naive_text text = naive_text(world, &stage->text, arena);
    bool matches[WORLD_DOC_MAX];
    uint32_t i;
    uint32_t slot;

    memset(answer, 0, sizeof(*answer));
    for (slot = 0; slot < WORLD_DOC_MAX; slot++) {
        const struct world_doc *doc = &world->docs[slot];

        matches[slot] = doc->lives && text_matches(world, doc, &text);
        answer->hits[slot] = matches[slot] &&
                             (!plan->base || filter_holds(world, doc, plan->base)) &&
                             (!stage->filter || filter_holds(world, doc, stage->filter));
        answer->total += answer->hits[slot];
    }
    for (i = 0; i < stage->facet_count; i++)
        count_facet(world, plan, stage, &stage->facets[i], matches, arena, &answer->facets[i]);
}
