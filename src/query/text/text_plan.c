/* SPDX-License-Identifier: Apache-2.0 */
/* text_plan.c - makes a plan: words are looked up, counted, and found in every part. */
#include "query/text/text_plan.h"

#include <stdlib.h>
#include <string.h>

#include "base/object.h"
#include "query/text/text_parts.h"

static void read_fields(struct text_plan *plan)
{
    uint32_t i, count = schema_count(plan->snapshot->schema);

    for (i = 0; i < count && plan->field_count < SEGMENT_FIELD_COUNT; i++) {
        const struct field *field = schema_field(plan->snapshot->schema, i);

        if (field->type == FIELD_TEXT)
            plan->field_weights[plan->field_count++] = field->weight > 0 ? field->weight : 1;
    }
}

/* ---- statistics ---- */

static float idf_of(uint64_t doc_count, uint64_t df)
{
    double count = (double)(doc_count > df ? doc_count : df);

    return (float)log(1 + (count - (double)df + 0.5) / ((double)df + 0.5));
}

static void weigh(struct text_plan *plan)
{
    uint32_t i;

    for (i = 0; i < plan->slot_count; i++)
        plan->slots[i].weight =
            plan->slots[i].factor * idf_of(plan->doc_count, plan->slots[i].df) * (BM25_K1 + 1);
}

enum { COUNTED_KEPT_MAX = 64 }; /* a beginning may mean thousands: they are looked for in a row */

static int count_term(struct text_plan *plan, struct text_counted *counted, struct err *err)
{
    const struct snapshot *snapshot = plan->snapshot;
    uint32_t i;
    int rc = 0;

    if (plan->purpose.only_words)
        return text_count_docs(snapshot, counted->term, &counted->df, err);
    counted->counts =
        arena_array(plan->arena, snapshot->segment_count + 1, sizeof(*counted->counts));
    counted->hits = arena_array(plan->arena, snapshot->buffer_count + 1, sizeof(*counted->hits));
    for (i = 0; i < snapshot->segment_count && !rc; i++) {
        rc = postings_count(snapshot->segments[i].segment, counted->term, &counted->counts[i], err);
        counted->df += counted->counts[i];
    }
    for (i = 0; i < snapshot->buffer_count && !rc; i++) {
        read_buffer(plan, &snapshot->buffers[i], counted->term, &counted->hits[i]);
        counted->df += counted->hits[i].count;
    }
    return rc;
}

/* Who has the slot's term. What another slot or a stage before has counted is not counted again. */
static int count_slot(struct text_plan *plan, struct text_slot *slot, struct err *err)
{
    struct text_shared *shared = plan->purpose.shared;
    struct text_counted *counted = shared ? shared->counted : NULL;
    int rc = 0;

    while (counted && counted->term != slot->term)
        counted = counted->next;
    if (!counted) {
        counted = arena_zero(plan->arena, sizeof(*counted));
        counted->term = slot->term;
        rc = count_term(plan, counted, err);
        if (!rc && shared && shared->counted_count < COUNTED_KEPT_MAX) {
            shared->counted_count++;
            counted->next = shared->counted;
            shared->counted = counted;
        }
    }
    slot->counted = counted;
    slot->df = counted->df;
    return rc;
}

static int count_slots(struct text_plan *plan, struct err *err)
{
    int rc = 0;

    for (uint32_t i = 0; i < plan->slot_count && !rc; i++)
        if (plan->slots[i].term != TERMID_NONE)
            rc = count_slot(plan, &plan->slots[i], err);
    return rc;
}

static const struct query_word *find_word(const struct query_words *words, struct bytes word)
{
    uint32_t low = 0, high = words->count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        int order = bytes_compare(words->words[middle].word, word);

        if (order == 0)
            return &words->words[middle];
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

/* By these lengths the scores are computed; bounds were made by others. */
static void use_lengths(struct text_plan *plan, const struct text_lengths *lengths)
{
    float averages[SEGMENT_FIELD_COUNT];
    uint32_t i;

    plan->lengths = *lengths;
    plan->norms = &plan->snapshot->norms;
    text_lengths_averages(lengths, averages);
    if (memcmp(lengths, &plan->snapshot->text_lengths, sizeof(*lengths)) != 0) {
        struct text_norms *norms = arena_alloc(plan->arena, sizeof(*norms));

        text_norms_make(norms, averages);
        plan->norms = norms;
    }
    for (i = 0; i < plan->field_count; i++)
        plan->bound_weights[i] = plan->field_weights[i] *
                                 text_norms_excess(averages[i], plan->snapshot->bound_averages[i]);
}

/* A searcher of a version before does not tell them. */
static bool has_lengths(const struct text_lengths *lengths)
{
    uint64_t any = 0;

    for (uint32_t i = 0; i < SEGMENT_FIELD_COUNT; i++)
        any |= lengths->counts[i];
    return any != 0;
}

/* Counts of all shards, or of the first page, in place of this shard's own. */
static void use_words(struct text_plan *plan, const struct query_words *words)
{
    uint32_t i;

    plan->doc_count = words->doc_count;
    if (has_lengths(&words->lengths))
        use_lengths(plan, &words->lengths);
    for (i = 0; i < plan->slot_count; i++) {
        const struct query_word *word = NULL;

        if (plan->slots[i].term != TERMID_NONE)
            word = find_word(words, lexicon_term(plan->snapshot->lexicon, plan->slots[i].term));
        if (word)
            plan->slots[i].df = word->doc_count;
    }
}

/* ---- parts ---- */

static uint64_t rarest(const struct part_leaf *here, uint32_t from, uint32_t to)
{
    uint64_t least = UINT64_MAX;
    uint32_t i;

    for (i = from; i < to; i++) {
        uint64_t count = here->lists[i] ? here->lists[i]->count : 0;

        least = count < least ? count : least;
    }
    return least;
}

static float sum_of_max(const struct part_leaf *here, uint32_t from, uint32_t to)
{
    float sum = 0;
    uint32_t i;

    for (i = from; i < to; i++)
        sum += here->lists[i] ? here->lists[i]->max : 0;
    return sum;
}

static int open_leaf(struct text_plan *plan, struct text_part *part, const struct text_leaf *leaf,
                     struct part_leaf *here, struct err *err)
{
    uint32_t i;
    int rc = 0;

    if (leaf->kind == LEAF_ANY) {
        rc = list_open_any(plan, part, leaf, here, err);
        for (i = 0; i < here->list_count && !rc; i++) {
            here->count += here->lists[i]->count;
            here->max = here->lists[i]->max > here->max ? here->lists[i]->max : here->max;
        }
        return rc;
    }
    here->lists = arena_array(plan->arena, leaf->count, sizeof(struct text_list *));
    here->list_count = leaf->count;
    for (i = 0; i < leaf->count && !rc; i++)
        rc = list_open(plan, part, &leaf_slots(plan, leaf)[i], leaf->fields, &here->lists[i], err);
    if (rc)
        return rc;
    if (leaf->kind == LEAF_TIED) {
        uint32_t to;

        for (i = 0; i < leaf->count; i = to) {
            uint64_t count;
            float max;

            to = branch_end(leaf_slots(plan, leaf), i, leaf->count);
            count = rarest(here, i, to);
            max = count ? sum_of_max(here, i, to) : 0;
            here->count += count;
            here->max = max > here->max ? max : here->max;
        }
        return 0;
    }
    here->count = rarest(here, 0, leaf->count);
    here->max = here->count ? sum_of_max(here, 0, leaf->count) : 0;
    return 0;
}

/* Rarest first of those that must, highest first of those that should. */
static void order_leaves(struct text_plan *plan, struct text_part *part)
{
    uint32_t musts = 0, end = 0, i, k;

    part->order = arena_array(plan->arena, plan->leaf_count + 1, sizeof(*part->order));
    for (i = 0; i < plan->leaf_count; i++) {
        const struct part_leaf *leaf = &part->leaves[i];
        bool must = plan->leaves[i].occur == OCCUR_MUST;

        if (plan->leaves[i].occur == OCCUR_NOT || plan->leaves[i].occur == OCCUR_BONUS)
            continue;
        k = must ? musts++ : end;
        memmove(part->order + k + 1, part->order + k, (end - k) * sizeof(*part->order));
        for (; k > (must ? 0 : musts); k--) {
            const struct part_leaf *before = &part->leaves[part->order[k - 1]];

            if (must ? before->count <= leaf->count : before->max >= leaf->max)
                break;
            part->order[k] = part->order[k - 1];
        }
        part->order[k] = i;
        end++;
    }
}

/* Whether any document of the part can match; of a plan for everything, whether a NOT can. */
static bool may_match(const struct text_plan *plan, const struct text_part *part)
{
    uint32_t should = 0, i;
    bool has_not = false;

    for (i = 0; i < plan->leaf_count; i++) {
        bool there = part->leaves[i].count > 0;

        if (plan->leaves[i].occur == OCCUR_MUST && !there)
            return false;
        should += plan->leaves[i].occur == OCCUR_SHOULD && there;
        has_not = has_not || (plan->leaves[i].occur == OCCUR_NOT && there);
    }
    return plan->everything ? has_not : should >= plan->should_min;
}

/* Asked before lists are opened: a part that lacks a word costs little. */
static bool lacks_must(const struct text_plan *plan, const struct text_part *part)
{
    uint32_t i, k;

    for (i = 0; i < plan->leaf_count; i++) {
        const struct text_leaf *leaf = &plan->leaves[i];

        if (leaf->occur != OCCUR_MUST || leaf->kind == LEAF_ANY || leaf->kind == LEAF_TIED)
            continue;
        for (k = 0; k < leaf->count; k++) {
            if (count_of(part, &leaf_slots(plan, leaf)[k]) == 0)
                return true;
        }
    }
    return false;
}

static int open_part(struct text_plan *plan, struct text_part *part, struct err *err)
{
    uint32_t i;
    int rc = 0;

    if (!plan->explaining && lacks_must(plan, part))
        return 0;
    part->leaves = arena_array(plan->arena, plan->leaf_count + 1, sizeof(*part->leaves));
    for (i = 0; i < plan->leaf_count && !rc; i++) {
        rc = open_leaf(plan, part, &plan->leaves[i], &part->leaves[i], err);
        if (plan->leaves[i].occur != OCCUR_NOT)
            part->max += part->leaves[i].max;
        if (plan->leaves[i].occur == OCCUR_BONUS)
            part->bonus_max += part->leaves[i].max;
    }
    if (rc || (!plan->explaining && !may_match(plan, part)))
        return rc;
    part->max *= BOUND_SLACK;
    order_leaves(plan, part);
    part_steps(plan, part);
    plan->parts[plan->part_count++] = part;
    return 0;
}

static struct text_part *new_part(struct text_plan *plan, const struct live *live, uint32_t number)
{
    struct text_part *part = plan_alloc(plan->arena, sizeof(*part));

    memset(part, 0, sizeof(*part));
    part->live = live;
    part->number = number;
    part->span = 1;
    return part;
}

static int open_parts(struct text_plan *plan, struct err *err)
{
    const struct snapshot *snapshot = plan->snapshot;
    uint32_t i;
    int rc = 0;

    plan->part_count = 0;
    plan->parts =
        arena_array(plan->arena, (size_t)snapshot->segment_count + snapshot->buffer_count + 1,
                    sizeof(struct text_part *));
    for (i = 0; i < snapshot->segment_count && !rc; i++) {
        struct text_part *part = new_part(plan, snapshot->segments[i].live, i);

        part->segment = snapshot->segments[i].segment;
        part->span = part->segment->info.last_id - part->segment->info.first_id + 1;
        rc = open_part(plan, part, err);
    }
    for (i = 0; i < snapshot->buffer_count && !rc; i++) {
        struct text_part *part = new_part(plan, snapshot->buffers[i].live, i);

        part->span = snapshot->window_count * WINDOW_SIZE + 1;
        rc = open_part(plan, part, err);
    }
    return rc;
}

/* ---- the plan ---- */

static bool has_bytes(const struct query_text *text)
{
    uint32_t i;

    for (i = 0; i < text->count; i++) {
        if (text->clauses[i].text.size)
            return true;
    }
    return false;
}

/* With its words compiled and counted. */
static int prepare(const struct snapshot *snapshot, struct analysis *analysis,
                   const struct query_text *text, const struct query_tuning *tuning,
                   const struct text_purpose *purpose, struct arena *arena, struct text_plan **out,
                   struct err *err)
{
    struct text_plan *plan;
    int rc;

    *out = NULL;
    if (!has_bytes(text))
        return 0;
    plan = arena_zero(arena, sizeof(*plan));
    object_begin(plan, TEXT_PLAN_MAGIC);
    plan->snapshot = snapshot;
    plan->arena = arena;
    plan->purpose = *purpose;
    if (tuning)
        plan->tuning = *tuning;
    read_fields(plan);
    use_lengths(plan, &snapshot->text_lengths);
    rc = text_compile(plan, analysis, text, err);
    plan->doc_count = snapshot->text_doc_count;
    rc = rc ? rc : count_slots(plan, err);
    if (!rc)
        *out = plan;
    return rc;
}

int text_plan_words(const struct snapshot *snapshot, struct analysis *analysis,
                    const struct query_text *text, struct text_shared *shared, struct arena *arena,
                    struct text_plan **plan, struct err *err)
{
    const struct text_purpose purpose = {.only_words = true, .shared = shared};

    return prepare(snapshot, analysis, text, NULL, &purpose, arena, plan, err);
}

int text_plan_new(const struct snapshot *snapshot, struct analysis *analysis,
                  const struct query_text *text, const struct query_tuning *tuning,
                  struct arena *arena, struct text_plan **plan, struct err *err)
{
    static const struct text_purpose none = {0};

    return text_plan_make(snapshot, analysis, text, tuning, &none, arena, plan, err);
}

int text_plan_make(const struct snapshot *snapshot, struct analysis *analysis,
                   const struct query_text *text, const struct query_tuning *tuning,
                   const struct text_purpose *purpose, struct arena *arena, struct text_plan **out,
                   struct err *err)
{
    struct text_plan *plan;
    int rc = prepare(snapshot, analysis, text, tuning, purpose, arena, &plan, err);

    *out = NULL;
    if (rc || !plan)
        return rc;
    plan->scratch = plan_alloc(arena, sizeof(*plan->scratch));
    plan->scratch->candidates = plan_alloc(arena, sizeof(struct candidates));
    plan->scratch->candidates->values =
        plan_alloc(arena, (plan->row_count + 1) * sizeof(plan->scratch->candidates->values[0]));
    if (purpose->words)
        use_words(plan, purpose->words);
    weigh(plan);
    if (!plan->never)
        rc = open_parts(plan, err);
    if (!rc)
        *out = plan;
    return rc;
}

uint64_t text_plan_estimate(const struct text_plan *plan)
{
    uint64_t sum = 0;
    uint32_t i, k;

    object_check(plan, TEXT_PLAN_MAGIC);
    if (plan->never)
        return 0;
    if (plan->everything)
        return plan->snapshot->doc_count;
    for (i = 0; i < plan->part_count; i++) {
        const struct text_part *part = plan->parts[i];

        if (plan->must_count) {
            sum += part->leaves[part->order[0]].count;
            continue;
        }
        for (k = 0; k < plan->should_count; k++)
            sum += part->leaves[part->order[k]].count;
    }
    return sum < plan->snapshot->doc_count ? sum : plan->snapshot->doc_count;
}

uint64_t text_plan_doc_count(const struct text_plan *plan)
{
    object_check(plan, TEXT_PLAN_MAGIC);
    return plan->doc_count;
}

bool text_plan_term(const struct text_plan *plan, uint32_t i, struct text_term_stat *stat)
{
    const struct text_slot *slot = &plan->slots[i];

    object_check(plan, TEXT_PLAN_MAGIC);
    if (i >= plan->slot_count)
        return false;
    *stat = (struct text_term_stat){
        .clause = slot->clause,
        .df = slot->df,
        .idf = idf_of(plan->doc_count, slot->df),
        .factor = slot->factor,
    };
    if (slot->term != TERMID_NONE)
        stat->word = lexicon_term(plan->snapshot->lexicon, slot->term);
    return true;
}

void text_plan_stats(const struct text_plan *plan, struct arena *arena, struct text_stats *stats)
{
    struct text_stat *terms = arena_array(arena, plan->slot_count + 1, sizeof(*terms));
    uint32_t count = 0, i;

    object_check(plan, TEXT_PLAN_MAGIC);
    for (i = 0; i < plan->slot_count; i++)
        if (plan->slots[i].term != TERMID_NONE)
            terms[count++] = (struct text_stat){plan->slots[i].term, plan->slots[i].df};
    *stats = (struct text_stats){plan->doc_count, terms, count};
}

static int compare_words(const void *a, const void *b)
{
    return bytes_compare(((const struct query_word *)a)->word,
                         ((const struct query_word *)b)->word);
}

void text_plan_tell_words(const struct text_plan *plan, struct arena *arena,
                          struct query_words *words)
{
    struct query_word *told = arena_array(arena, plan->slot_count + 1, sizeof(*told));
    uint32_t count = 0, kept = 0, i;

    object_check(plan, TEXT_PLAN_MAGIC);
    for (i = 0; i < plan->slot_count; i++)
        if (plan->slots[i].term != TERMID_NONE)
            told[count++] = (struct query_word){
                arena_copy(arena, lexicon_term(plan->snapshot->lexicon, plan->slots[i].term)),
                plan->slots[i].df};
    if (count)
        qsort(told, count, sizeof(*told), compare_words);
    for (i = 0; i < count; i++)
        if (!kept || !bytes_equal(told[kept - 1].word, told[i].word))
            told[kept++] = told[i];
    *words = (struct query_words){plan->doc_count, told, kept, plan->lengths};
}

int text_plan_explain(struct text_plan *plan, docid id, uint32_t clause, bool *holds, float *value,
                      struct err *err)
{
    uint32_t i, leaf;
    int rc = 0;

    object_check(plan, TEXT_PLAN_MAGIC);
    *holds = false;
    *value = 0;
    if (!plan->explaining) {
        plan->explaining = true;
        rc = open_parts(plan, err);
    }
    for (i = 0; i < plan->part_count && !rc; i++) {
        struct text_part *part = plan->parts[i];
        bool all = true, any = false;
        float sum = 0;

        if (!live_has(part->live, id))
            continue;
        for (leaf = 0; leaf < plan->leaf_count && !rc; leaf++) {
            bool here = false;
            float add = 0;

            if (plan->leaves[leaf].clause != clause)
                continue;
            if (part->leaves[leaf].count)
                rc = leaf_value(plan, part, leaf, id, lengths_of(plan, ALL_FIELDS, id), false, &add,
                                &here, err);
            all = all && here;
            any = any || here;
            sum += add;
        }
        if (any && sum >= *value) {
            *holds = all;
            *value = sum;
        }
    }
    return rc;
}
