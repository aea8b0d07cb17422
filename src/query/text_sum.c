/* SPDX-License-Identifier: Apache-2.0 */
/* text_sum.c - see text_parts.h: values of a block of packed postings, all at once. */
#include "base/memory.h"
#include "query/text_parts.h"

/* Index of the first id at or above first: a block mostly begins inside of what is asked. */
static uint32_t lower_bound(const docid *ids, uint32_t count, docid first)
{
    uint32_t low = 0;

    while (count > 0) {
        uint32_t half = count / 2;
        bool below = ids[low + half] < first;

        low += below ? half + 1 : 0;
        count = below ? count - half - 1 : half;
    }
    return low;
}

/* The least Σ that gives a value of at least min; a little less, and what passes is looked at. */
static float sum_needed(const struct text_list *list, float min)
{
    double least;

    if (min <= 0)
        return -INFINITY;
    if (min >= list->weight)
        return INFINITY;
    least = min * (2 - (double)BOUND_SLACK);
    return (float)(BM25_K1 * least / (list->weight - least));
}

/* Postings of a block; those whose Σ is enough: their index and Σ. */
struct sum_job {
    const docid *ids;
    const uint32_t *codes;
    uint32_t from, to;
    float need;
    uint32_t found;
    uint16_t indexes[BLOCK_SIZE];
    float sums[BLOCK_SIZE];
    uint8_t lengths[2][BLOCK_SIZE]; /* by place in the table's fields, then by index */
};

static void gather_lengths(const struct text_plan *plan, const struct code_table *table,
                           struct sum_job *job)
{
    uint32_t i;

    for (i = 0; i < table->field_count; i++)
        doc_lengths_gather(plan->snapshot->lengths, table->fields[i], job->ids + job->from,
                           job->to - job->from, job->lengths[i] + job->from);
}

/* What the loops read is kept in locals: for all the compiler knows, a store could change it. */
static void sum_one_field(const struct text_plan *plan, const struct code_table *table,
                          struct sum_job *job)
{
    const float *norms = plan->snapshot->norms->of_length[table->fields[0]];
    const float *factors = table->factors[0];
    const uint8_t *lengths = job->lengths[0];
    const uint32_t *codes = job->codes;
    uint16_t *indexes = job->indexes;
    float *sums = job->sums, need = job->need;
    uint32_t found = 0, to = job->to, i;

    for (i = job->from; i < to; i++) {
        float sum = factors[codes[i]] * norms[lengths[i]];

        indexes[found] = (uint16_t)i;
        sums[found] = sum;
        found += sum >= need;
    }
    job->found = found;
}

static void sum_two_fields(const struct text_plan *plan, const struct code_table *table,
                           struct sum_job *job)
{
    const float *norms = plan->snapshot->norms->of_length[table->fields[0]];
    const float *other_norms = plan->snapshot->norms->of_length[table->fields[1]];
    const float *factors = table->factors[0], *other_factors = table->factors[1];
    const uint8_t *lengths = job->lengths[0], *other_lengths = job->lengths[1];
    const uint32_t *codes = job->codes;
    uint16_t *indexes = job->indexes;
    float *sums = job->sums, need = job->need;
    uint32_t found = 0, to = job->to, i;

    for (i = job->from; i < to; i++) {
        uint32_t code = codes[i];
        float sum =
            factors[code] * norms[lengths[i]] + other_factors[code] * other_norms[other_lengths[i]];

        indexes[found] = (uint16_t)i;
        sums[found] = sum;
        found += sum >= need;
    }
    job->found = found;
}

static void sum_fields(const struct text_plan *plan, const struct text_list *list,
                       struct sum_job *job)
{
    uint32_t i;

    job->found = 0;
    for (i = job->from; i < job->to; i++) {
        float sum =
            sum_of_code(plan, list, job->codes[i], lengths_of(plan, list->fields, job->ids[i]));

        job->indexes[job->found] = (uint16_t)i;
        job->sums[job->found] = sum;
        job->found += sum >= job->need;
    }
}

static void sum_block(const struct text_plan *plan, const struct text_list *list,
                      struct sum_job *job)
{
    const struct code_table *table = list->table;
    bool rare_codes = list->scorer->segment->info.code_count > CODE_TABLE_SIZE;

    if (rare_codes || table->field_count == 0 || table->field_count > ARRAY_COUNT(job->lengths)) {
        sum_fields(plan, list, job);
        return;
    }
    gather_lengths(plan, table, job);
    if (table->field_count == 1)
        sum_one_field(plan, table, job);
    else
        sum_two_fields(plan, table, job);
}

int list_score_packed(const struct text_plan *plan, struct text_list *list, docid first, docid last,
                      float min, struct scored_run *run, struct err *err)
{
    struct postings *postings = list->scorer;
    uint32_t kept = 0, i;
    struct sum_job job;
    int rc = postings_ids(postings, &job.ids, err);

    if (!rc)
        rc = postings_codes(postings, &job.codes, err);
    if (rc)
        return rc;
    job.need = sum_needed(list, min);
    job.from = 0;
    job.to = postings->size;
    if (block_first(postings) < first)
        job.from = lower_bound(job.ids, job.to, first);
    if (postings->last > last)
        job.to = job.from + lower_bound(job.ids + job.from, job.to - job.from, last + 1);
    sum_block(plan, list, &job);
    for (i = 0; i < job.found; i++) {
        float value = value_of(job.sums[i], list->weight);

        run->ids[kept] = job.ids[job.indexes[i]];
        run->values[kept] = value;
        kept += value >= min;
    }
    run->count = kept;
    return 0;
}
