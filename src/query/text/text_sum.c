/* SPDX-License-Identifier: Apache-2.0 */
/* text_sum.c - see text_parts.h: values of a block of packed postings, all at once. */
#include "base/memory.h"
#include "query/text/text_parts.h"

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

float list_sum_needed(const struct text_list *list, float min)
{
    double least;

    if (min <= 0)
        return -INFINITY;
    if (min >= list->weight)
        return INFINITY;
    least = min * (2 - (double)BOUND_SLACK);
    return (float)(BM25_K1 * least / (list->weight - least));
}

int list_read_bounds(const struct text_plan *plan, struct text_list *list, struct err *err)
{
    const struct code_table *table = list->table;
    uint32_t block, i;
    int rc = list_open_scorer(list, err);

    if (rc || list->is_array || list->reaches)
        return rc;
    list->reaches = arena_alloc(plan->arena, list->scorer->block_count * sizeof(*list->reaches));
    for (block = 0; block < list->scorer->block_count; block++) {
        const uint8_t *bounds = postings_block_bounds(list->scorer, block);
        float sum = 0;

        for (i = 0; i < table->field_count; i++)
            sum += plan->bound_weights[table->fields[i]] *
                   text_segment_bound_value(bounds[table->fields[i]]);
        list->reaches[block] = sum * BOUND_SLACK;
    }
    return 0;
}

static float value_at_most(const struct text_list *list, float reach)
{
    return isinf(reach) ? list->max : value_of(reach, list->weight) * BOUND_SLACK;
}

float list_block_max(const struct text_list *list, uint32_t block)
{
    return value_at_most(list, list->reaches[block]);
}

float list_max_between(const struct text_list *list, docid first, docid last)
{
    uint32_t block;
    float reach = 0;

    if (!list->reaches)
        return list->max;
    for (block = postings_block_of(list->scorer, first);
         block < list->scorer->block_count && postings_block_first(list->scorer, block) <= last;
         block++)
        reach = list->reaches[block] > reach ? list->reaches[block] : reach;
    return value_at_most(list, reach);
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
    const float *norms = plan->norms->of_length[table->fields[0]];
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
    const float *norms = plan->norms->of_length[table->fields[0]];
    const float *other_norms = plan->norms->of_length[table->fields[1]];
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

/* ---- those with enough of the word ---- */

/* Σ of a code in a document of these norms. */
static float reach_of(const struct code_table *table, uint32_t code, const float norms[2])
{
    float sum = table->factors[0][code] * norms[0];

    if (table->field_count > 1)
        sum += table->factors[1][code] * norms[1];
    return sum;
}

/* Marks the codes that would do in a document of these norms, the greatest around. */
static void make_sieve(const struct code_table *table, uint32_t code_count, float need,
                       const float norms[2], struct code_sieve *sieve)
{
    uint32_t code;

    if (sieve->need == need && sieve->norms[0] == norms[0] && sieve->norms[1] == norms[1])
        return;
    *sieve = (struct code_sieve){.need = need, .norms = {norms[0], norms[1]}};
    for (code = 0; code < code_count; code++) {
        sieve->passes[code / 32] |= (uint32_t)(reach_of(table, code, norms) >= need) << code % 32;
    }
}

/* Those of the job's postings whose code passes, if no more than max. */
static uint32_t sift(const struct code_sieve *sieve, uint32_t max, struct sum_job *job)
{
    uint32_t found = 0, i;

    if (job->from == 0 && job->to == BLOCK_SIZE)
        return kernels()->sift(job->codes, sieve->passes, max, job->indexes);
    for (i = job->from; i < job->to; i++) {
        uint32_t code = job->codes[i];

        job->indexes[found] = (uint16_t)i;
        found += sieve->passes[code / 32 % 8] >> code % 32 & 1;
    }
    return found;
}

/* Exact sums of those that have been found. */
static void sum_found(const struct text_plan *plan, const struct code_table *table,
                      struct sum_job *job)
{
    const float(*norms)[256] = plan->norms->of_length;
    uint32_t kept = 0, i, k;
    docid ids[BLOCK_SIZE];

    for (i = 0; i < job->found; i++)
        ids[i] = job->ids[job->indexes[i]];
    for (k = 0; k < table->field_count; k++)
        doc_lengths_gather(plan->snapshot->lengths, table->fields[k], ids, job->found,
                           job->lengths[k]);
    for (i = 0; i < job->found; i++) {
        uint32_t code = job->codes[job->indexes[i]];
        float sum = table->factors[0][code] * norms[table->fields[0]][job->lengths[0][i]];

        if (table->field_count > 1)
            sum += table->factors[1][code] * norms[table->fields[1]][job->lengths[1][i]];
        job->indexes[kept] = job->indexes[i];
        job->sums[kept] = sum;
        kept += sum >= job->need;
    }
    job->found = kept;
}

/* Of a list of a few blocks, all of them are needed before a threshold is there to sift by. */
static bool has_sieve(const struct text_plan *plan, const struct text_list *list,
                      const struct sum_job *job)
{
    enum { BLOCK_COUNT_MIN = 8 };

    return job->need > 0 && job->from < job->to && plan->tuning.use_codes >= 0 &&
           (plan->tuning.use_codes > 0 || list->scorer->block_count >= BLOCK_COUNT_MIN);
}

/* Whether few have enough of the word for a document as short as any near them; then these alone
 * are summed up, and the lengths of all others are not read. */
static bool sum_few(const struct text_plan *plan, struct text_list *list, struct sum_job *job)
{
    enum { FEW = 4 };
    const struct code_table *table = list->table;
    uint32_t count = job->to - job->from, max = plan->tuning.use_codes > 0 ? count : count / FEW;
    float norms[2] = {0};
    uint32_t k;

    for (k = 0; k < table->field_count; k++)
        norms[k] = plan->norms->of_length[table->fields[k]][doc_lengths_least(
            plan->snapshot->lengths, table->fields[k], job->ids[job->from], job->ids[job->to - 1])];
    /* Code 0 is that of most postings. */
    if (plan->tuning.use_codes == 0 && reach_of(table, 0, norms) >= job->need)
        return false;
    make_sieve(table, list->scorer->segment->info.code_count, job->need, norms, &list->sieve);
    job->found = sift(&list->sieve, max, job);
    if (job->found > max)
        return false;
    sum_found(plan, table, job);
    return true;
}

static void sum_block(const struct text_plan *plan, struct text_list *list, struct sum_job *job)
{
    const struct code_table *table = list->table;
    bool rare_codes = list->scorer->segment->info.code_count > CODE_TABLE_SIZE;

    if (rare_codes || table->field_count == 0 || table->field_count > ARRAY_COUNT(job->lengths)) {
        sum_fields(plan, list, job);
        return;
    }
    if (has_sieve(plan, list, job) && sum_few(plan, list, job))
        return;
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
    job.need = list_sum_needed(list, min);
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
