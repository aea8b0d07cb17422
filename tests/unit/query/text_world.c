/* SPDX-License-Identifier: Apache-2.0 */
/* text_world.c - see text_world.h. */
#include "text_world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "index/bounds.h"

/* Forms of one word side by side; common words first. */
static const char *const words[] = {
    "диван",   "дивана",   "велосипед", "велосипеды", "красный",  "красного", "куртка",
    "куртки",  "bicycle",  "bicycles",  "sofa",       "sofas",    "running",  "runs",
    "телефон", "телефоны", "samsung",   "samsonite",  "кроватка", "кровать",  "green",
    "greener", "кот",      "коты",      "оченьредко", "seldom",
};
static const char *const models[] = {"iphone", "galaxy", "lada"};
static const char *const numbers[] = {"15", "21", "7"};
static const struct {
    const char *first, *second, *whole;
} pairs[] = {{"wi", "fi", "wifi"}, {"диван", "кровать", "диванкровать"}};
static const struct {
    const char *written, *whole;
} quantities[] = {{"128 гб", "128gb"}, {"128gb", "128gb"},   {"64 gb", "64gb"},
                  {"2 кг", "2kg"},     {"61 кв. м", "61m2"}, {"61 м²", "61m2"}};

/* The first ones are the most frequent. */
static size_t pick(struct rng *rng, size_t count)
{
    size_t a = rng_below(rng, count), b = rng_below(rng, count), c = rng_below(rng, count);

    a = a < b ? a : b;
    return a < c ? a : c;
}

/* ---- documents ---- */

struct world *world_new(void)
{
    struct shard_options options = {.epoch = 1, .buffer_doc_count_max = 700};
    struct field title = {.type = FIELD_TEXT, .weight = 3, .name = "title"};
    struct field price = {.type = FIELD_INTEGER, .name = "price"};
    struct field text = {.type = FIELD_TEXT, .weight = 1, .name = "text"};
    struct world *world = mem_zero(sizeof(*world));
    uint16_t id;

    assert_int_equal(shard_open(&options, &world->shard, NULL), 0);
    assert_int_equal(shard_add_field(world->shard, &title, &id, NULL), 0);
    assert_int_equal(shard_add_field(world->shard, &price, &id, NULL), 0);
    assert_int_equal(shard_add_field(world->shard, &text, &id, NULL), 0);
    assert_int_equal(shard_publish(world->shard, 0, NULL), 0);
    assert_int_equal(shard_reader_new(world->shard, &world->reader, NULL), 0);
    world->analysis = analysis_new();
    return world;
}

void world_free(struct world *world)
{
    docid id;

    for (id = 0; id < WORLD_ID_MAX; id++)
        free(world->docs[id].tokens);
    analysis_free(world->analysis);
    shard_reader_free(world->reader);
    shard_close(world->shard);
    free(world);
}

static void add_text(char *out, size_t size, const char *text)
{
    size_t used = strlen(out);

    snprintf(out + used, size - used, "%s%s", used ? " " : "", text);
}

static void random_text(struct rng *rng, uint32_t count, char *out, size_t size)
{
    char unit[64];

    out[0] = 0;
    while (count--) {
        uint64_t kind = rng_below(rng, 16);

        if (kind == 0) {
            snprintf(unit, sizeof(unit), rng_below(rng, 2) ? "%s%s" : "%s %s",
                     models[rng_below(rng, ARRAY_COUNT(models))],
                     numbers[rng_below(rng, ARRAY_COUNT(numbers))]);
            add_text(out, size, unit);
        } else if (kind == 1) {
            size_t pair = rng_below(rng, ARRAY_COUNT(pairs));
            const char *formats[] = {"%s-%s", "%s %s", "%s%s"};

            snprintf(unit, sizeof(unit), formats[rng_below(rng, 3)], pairs[pair].first,
                     pairs[pair].second);
            add_text(out, size, unit);
        } else if (kind == 2) {
            add_text(out, size, quantities[rng_below(rng, ARRAY_COUNT(quantities))].written);
        } else {
            add_text(out, size, words[pick(rng, ARRAY_COUNT(words))]);
        }
    }
}

static void keep_tokens(struct world *world, docid id, uint8_t field, const char *text)
{
    struct token_list list = analysis_run(world->analysis, bytes_of(text));
    struct world_doc *doc = &world->docs[id];
    const struct snapshot *snapshot;
    size_t i;

    assert_int_equal(shard_enter(world->reader, &snapshot, NULL), 0);
    doc->tokens = mem_resize(doc->tokens, (doc->count + list.count + 1) * sizeof(*doc->tokens));
    for (i = 0; i < list.count; i++) {
        struct lexicon_entry entry;

        assert_true(lexicon_find(snapshot->lexicon, list.tokens[i].form, &entry));
        doc->tokens[doc->count++] =
            (struct world_token){entry.term, entry.form, list.tokens[i].position, field};
    }
    shard_exit(world->reader);
}

static void put(struct world *world, struct rng *rng, docid id)
{
    char title[512], text[2048];
    struct shard_value values[] = {{.field = 0, .kind = VALUE_TEXT},
                                   {.field = 2, .kind = VALUE_TEXT}};
    struct shard_document document = {.id = id, .values = values, .count = 2};

    random_text(rng, (uint32_t)rng_below(rng, 5), title, sizeof(title));
    random_text(rng, (uint32_t)rng_below(rng, rng_below(rng, 10) ? 20 : 60), text, sizeof(text));
    values[0].text = bytes_of(title);
    values[1].text = bytes_of(text);
    assert_int_equal(shard_put(world->shard, &document, NULL), 0);
    world->docs[id].lives = true;
    world->docs[id].count = 0;
    keep_tokens(world, id, 0, title);
    keep_tokens(world, id, 1, text);
}

void world_change(struct world *world, struct rng *rng, uint32_t changes, bool work)
{
    bool did = true;

    while (changes--) {
        /* Crowded, so that lists have dense blocks, and a sparse rest. */
        docid id = rng_below(rng, 5) ? 3000 + (docid)rng_below(rng, 2000)
                                     : (docid)rng_below(rng, WORLD_ID_MAX);
        bool lowest = changes % 97 == 0;

        id = lowest ? 0 : id;
        if (rng_below(rng, 10) == 0) {
            assert_int_equal(shard_remove(world->shard, id), world->docs[id].lives);
            world->docs[id].lives = false;
        } else {
            put(world, rng, id);
        }
        world->offset++;
        if (changes % 50 == 0)
            assert_int_equal(shard_publish(world->shard, world->offset, NULL), 0);
    }
    assert_int_equal(shard_publish(world->shard, world->offset, NULL), 0);
    while (work && did)
        assert_int_equal(shard_work(world->shard, &did, NULL), 0);
}

void world_enter(struct world *world)
{
    assert_int_equal(shard_enter(world->reader, &world->snapshot, NULL), 0);
}

void world_exit(struct world *world)
{
    shard_exit(world->reader);
}

/* ---- queries ---- */

static void set_form(struct world_leaf *leaf, const char *form)
{
    snprintf(leaf->forms[leaf->count++], sizeof(leaf->forms[0]), "%s", form);
}

static struct world_leaf *new_leaf(struct world_query *query, const struct text_clause *clause)
{
    struct world_leaf *leaf = &query->leaves[query->leaf_count++];

    *leaf = (struct world_leaf){.occur = clause->occur,
                                .fields = clause->fields ? clause->fields : 3,
                                .boost = clause->boost > 0 ? clause->boost : 1};
    return leaf;
}

/* One unit of a WORD clause: a leaf, and its text. */
static void ask_unit(struct rng *rng, struct world_query *query, const struct text_clause *clause,
                     char *text)
{
    struct world_leaf *leaf = new_leaf(query, clause);
    uint64_t kind = rng_below(rng, 8);
    char unit[64];

    if (kind == 0) {
        const char *model = models[rng_below(rng, ARRAY_COUNT(models))];
        const char *number = numbers[rng_below(rng, ARRAY_COUNT(numbers))];

        leaf->kind = WORLD_PHRASE;
        set_form(leaf, model);
        set_form(leaf, number);
        snprintf(unit, sizeof(unit), rng_below(rng, 2) ? "%s%s" : "%s/%s", model, number);
        add_text(text, 256, unit);
    } else if (kind == 1) {
        size_t pair = rng_below(rng, ARRAY_COUNT(pairs));

        leaf->kind = WORLD_TIED;
        set_form(leaf, pairs[pair].whole);
        set_form(leaf, pairs[pair].first);
        set_form(leaf, pairs[pair].second);
        snprintf(unit, sizeof(unit), "%s-%s", pairs[pair].first, pairs[pair].second);
        add_text(text, 256, unit);
    } else if (kind == 2) {
        size_t quantity = rng_below(rng, ARRAY_COUNT(quantities));

        set_form(leaf, quantities[quantity].whole);
        add_text(text, 256, quantities[quantity].written);
    } else {
        const char *word = words[rng_below(rng, 3) ? pick(rng, ARRAY_COUNT(words))
                                                   : rng_below(rng, ARRAY_COUNT(words))];

        set_form(leaf, word);
        add_text(text, 256, word);
    }
}

static void ask_phrase(struct rng *rng, struct world_query *query, const struct text_clause *clause,
                       char *text)
{
    struct world_leaf *leaf = new_leaf(query, clause);
    uint32_t count = 1 + (uint32_t)rng_below(rng, 3);

    leaf->exact = clause->kind == CLAUSE_EXACT;
    while (count--) {
        const char *word = words[pick(rng, ARRAY_COUNT(words))];

        set_form(leaf, word);
        add_text(text, 256, word);
    }
    leaf->kind = leaf->count == 1 ? WORLD_WORD : WORLD_PHRASE;
}

static void ask_expanded(struct rng *rng, struct world_query *query,
                         const struct text_clause *clause, char *text)
{
    static const char *const prefixes[] = {"s", "sam", "велос", "г", "ди", "128", "кр", "zz"};
    static const char *const misspelt[] = {"samsnug", "диваны", "велосепед", "курт", "грен", "кот"};
    struct world_leaf *leaf = new_leaf(query, clause);
    const char *word = clause->kind == CLAUSE_PREFIX
                           ? prefixes[rng_below(rng, ARRAY_COUNT(prefixes))]
                           : misspelt[rng_below(rng, ARRAY_COUNT(misspelt))];

    leaf->kind = clause->kind == CLAUSE_PREFIX ? WORLD_PREFIX : WORLD_FUZZY;
    set_form(leaf, word);
    add_text(text, 256, word);
}

void world_ask(struct rng *rng, struct world_query *query)
{
    uint32_t count = 1 + (uint32_t)rng_below(rng, rng_below(rng, 3) ? 3 : 6), should = 0, i;
    uint64_t style = rng_below(rng, 4); /* all must, all should, mixed */

    memset(query, 0, sizeof(*query));
    for (i = 0; i < count; i++) {
        struct text_clause *clause = &query->clauses[i];
        uint64_t occur = style < 2 ? style : rng_below(rng, 4);
        uint32_t units = rng_below(rng, 4) ? 1 : 2;

        clause->occur = rng_below(rng, 12) ? (uint8_t)occur : OCCUR_NOT;
        if (i > 0 && rng_below(rng, 6) == 0)
            clause->occur = OCCUR_BONUS;
        clause->kind = (uint8_t)(rng_below(rng, 2) ? CLAUSE_WORD : rng_below(rng, 5));
        clause->fields = rng_below(rng, 4) ? 0 : (uint8_t)(1 + rng_below(rng, 3));
        clause->boost = rng_below(rng, 3) ? 0 : 0.5F + (float)rng_below(rng, 8) / 4;
        while (clause->kind == CLAUSE_WORD && units--)
            ask_unit(rng, query, clause, query->texts[i]);
        if (clause->kind == CLAUSE_PHRASE || clause->kind == CLAUSE_EXACT)
            ask_phrase(rng, query, clause, query->texts[i]);
        if (clause->kind == CLAUSE_PREFIX || clause->kind == CLAUSE_FUZZY)
            ask_expanded(rng, query, clause, query->texts[i]);
        clause->text = bytes_of(query->texts[i]);
    }
    for (i = 0; i < query->leaf_count; i++)
        should += query->leaves[i].occur == OCCUR_SHOULD;
    query->text = (struct query_text){
        .clauses = query->clauses, .count = count, .not_all = rng_below(rng, 4) == 0};
    if (rng_below(rng, 3) == 0)
        query->text.should_min = (uint32_t)rng_below(rng, should + 2);
}

/* ---- what it means ---- */

static enum script script_of(const char *form)
{
    if ((uint8_t)form[0] >= 0xD0)
        return SCRIPT_CYRILLIC;
    return form[0] >= 'a' && form[0] <= 'z' ? SCRIPT_LATIN : SCRIPT_NONE;
}

static bool resolve(const struct world *world, const struct world_leaf *leaf, const char *form,
                    struct lexicon_entry *entry)
{
    const struct lexicon *lexicon = world->snapshot->lexicon;

    if (leaf->exact)
        return lexicon_find(lexicon, bytes_of(form), entry);
    return lexicon_resolve(lexicon, world->analysis, bytes_of(form), script_of(form), entry);
}

static bool is_word(const struct world_token *token, struct lexicon_entry entry, bool exact,
                    uint8_t fields)
{
    return token->term == entry.term && (!exact || token->form == entry.form) &&
           (fields >> token->field & 1);
}

/* Of a word that nobody has, too. */
static double idf_of(const struct world *world, const struct text_plan *plan, termid term)
{
    double n = (double)text_plan_doc_count(plan), df = 0;
    struct text_term_stat stat;

    for (uint32_t i = 0; term != TERMID_NONE && text_plan_term(plan, i, &stat); i++) {
        if (bytes_equal(stat.word, lexicon_term(world->snapshot->lexicon, term)))
            df = (double)stat.df;
    }
    return log(1 + ((n > df ? n : df) - df + 0.5) / (df + 0.5));
}

static double value_of(const struct world *world, const struct text_plan *plan,
                       const struct world_leaf *leaf, termid term, double factor, docid id)
{
    static const double weights[] = {3, 1};
    const struct world_doc *doc = &world->docs[id];
    uint32_t lengths = doc_lengths_get(world->snapshot->lengths, DOC_LENGTH_ALL, id);
    double t = 0;
    uint32_t i;

    for (i = 0; i < doc->count; i++) {
        unsigned field = doc->tokens[i].field;

        if (doc->tokens[i].term == term && (leaf->fields >> field & 1))
            t += weights[field] *
                 (double)world->snapshot->norms.of_length[field][lengths >> field * 8 & 255];
    }
    return factor * idf_of(world, plan, term) * t / (1.2 + t) * 2.2;
}

static bool phrase_at(const struct world *world, const struct world_leaf *leaf, uint32_t from,
                      docid id, uint32_t start, uint8_t field)
{
    const struct world_doc *doc = &world->docs[id];
    uint32_t slot, i;

    for (slot = from; slot < leaf->count; slot++) {
        struct lexicon_entry entry;
        bool found = false;

        if (!resolve(world, leaf, leaf->forms[slot], &entry))
            return false;
        for (i = 0; i < doc->count; i++)
            found = found || (doc->tokens[i].position == start + slot - from &&
                              doc->tokens[i].field == field &&
                              is_word(&doc->tokens[i], entry, leaf->exact, leaf->fields));
        if (!found)
            return false;
    }
    return true;
}

static bool phrase(const struct world *world, const struct text_plan *plan,
                   const struct world_leaf *leaf, uint32_t from, docid id, double *score)
{
    const struct world_doc *doc = &world->docs[id];
    struct lexicon_entry entry;
    bool found = false;
    uint32_t i;

    for (i = 0; i < doc->count && !found; i++)
        found = phrase_at(world, leaf, from, id, doc->tokens[i].position, doc->tokens[i].field);
    for (i = from; i < leaf->count && found; i++) {
        assert_true(resolve(world, leaf, leaf->forms[i], &entry));
        *score += value_of(world, plan, leaf, entry.term, leaf->boost, id);
    }
    return found;
}

static struct lexicon_hit hits[LEXICON_EXPAND_COUNT_MAX];
static const double penalties[] = {1, 0.7, 0.5};

static size_t expand(const struct world *world, const struct world_leaf *leaf)
{
    const struct lexicon *lexicon = world->snapshot->lexicon;
    struct bytes form = bytes_of(leaf->forms[0]);
    size_t count;

    if (leaf->kind == WORLD_PREFIX)
        assert_int_equal(
            lexicon_prefix(lexicon, form, hits, LEXICON_EXPAND_COUNT_MAX, &count, NULL), 0);
    else
        assert_int_equal(lexicon_fuzzy(lexicon, form, lexicon_fuzzy_distance(form), 1, hits,
                                       LEXICON_EXPAND_COUNT_MAX, &count, NULL),
                         0);
    return count;
}

static bool any_of(const struct world *world, const struct text_plan *plan,
                   const struct world_leaf *leaf, docid id, double *score)
{
    size_t count = expand(world, leaf), i;
    double best = 0;

    for (i = 0; i < count; i++) {
        const struct world_doc *doc = &world->docs[id];
        struct lexicon_entry entry = {hits[i].term, 0};
        uint32_t k;

        for (k = 0; k < doc->count; k++) {
            double value;

            if (!is_word(&doc->tokens[k], entry, false, leaf->fields))
                continue;
            value = value_of(world, plan, leaf, entry.term,
                             leaf->boost * penalties[hits[i].distance], id);
            best = value > best ? value : best;
        }
    }
    *score += best;
    return best > 0;
}

static bool leaf_match(const struct world *world, const struct text_plan *plan,
                       const struct world_leaf *leaf, docid id, double *score)
{
    struct world_leaf whole = *leaf;
    double one = 0, other = 0;
    bool holds;

    switch (leaf->kind) {
    case WORLD_WORD:
    case WORLD_PHRASE:
        return phrase(world, plan, leaf, 0, id, score);
    case WORLD_TIED:
        whole.count = 1;
        holds = phrase(world, plan, &whole, 0, id, &one);
        holds = phrase(world, plan, leaf, 1, id, &other) || holds;
        *score += one > other ? one : other;
        return holds;
    default:
        return any_of(world, plan, leaf, id, score);
    }
}

bool world_match(const struct world *world, const struct world_query *query,
                 const struct text_plan *plan, docid id, double *score)
{
    uint32_t must = 0, should = 0, shoulds = 0, should_min = query->text.should_min, i;
    double not_score = 0;
    bool match = world->docs[id].lives;

    *score = 0;
    for (i = 0; i < query->leaf_count && match; i++) {
        const struct world_leaf *leaf = &query->leaves[i];
        bool holds =
            leaf_match(world, plan, leaf, id, leaf->occur == OCCUR_NOT ? &not_score : score);

        must += leaf->occur == OCCUR_MUST;
        should += leaf->occur == OCCUR_SHOULD && holds;
        shoulds += leaf->occur == OCCUR_SHOULD;
        if (leaf->occur == OCCUR_BONUS)
            continue;
        if (leaf->occur == OCCUR_SHOULD && should_min == 0)
            should_min = UINT32_MAX; /* one, when there is no MUST */
        match = leaf->occur == OCCUR_SHOULD || holds == (leaf->occur == OCCUR_MUST);
    }
    if (!match || (query->text.not_all && shoulds && should == shoulds))
        return false;
    if (should_min == UINT32_MAX)
        should_min = must ? 0 : 1;
    if (!must && !should_min)
        *score = 0; /* no word has to be there */
    return should >= should_min;
}
