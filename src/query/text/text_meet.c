/* SPDX-License-Identifier: Apache-2.0 */
/*
 * text_meet.c - see text_parts.h: which documents of a block of one list are in the others too, and
 * may score high enough.
 *
 * Of two words few documents have both, so that comes first, and it takes no more than ids. Then
 * frequencies, which lie beside them: most documents have each word once, and are passed by when
 * that is not enough even in the shortest document. The lengths of the few that are left are read,
 * each on a cache line of its own.
 */
#include <string.h>

#include "query/text/text_parts.h"

/* By code: no value is higher, in the shortest document of the part. */
static void make_tops(const struct text_plan *plan, const struct text_part *part,
                      struct text_list *list)
{
    const struct text_segment_info *info = &part->segment->info;
    const struct code_table *table = list->table;
    float *tops, norms[SEGMENT_FIELD_COUNT];
    uint32_t code, i;

    if (list->tops)
        return;
    list->tops = tops = arena_alloc(plan->arena, CODE_TABLE_SIZE * sizeof(*tops));
    for (i = 0; i < table->field_count; i++)
        norms[i] = plan->norms->of_length[table->fields[i]][doc_lengths_least(
            plan->snapshot->lengths, table->fields[i], info->first_id, info->last_id)];
    for (code = 0; code < CODE_TABLE_SIZE && code < info->code_count; code++) {
        float sum = 0;

        for (i = 0; i < table->field_count; i++)
            sum += table->factors[i][code] * norms[i];
        tops[code] = value_of(sum, list->weight) * BOUND_SLACK;
    }
}

/* Documents that the lists so far share: where they stand in the first one's block, what they can
 * have at most, and their codes by step. */
struct meeting {
    uint32_t count;
    docid ids[BLOCK_SIZE];
    float tops[BLOCK_SIZE];
    uint32_t codes[MEET_LIST_MAX][BLOCK_SIZE];
};

static void move(struct meeting *meeting, uint32_t to, uint32_t from, uint32_t step)
{
    uint32_t i;

    meeting->ids[to] = meeting->ids[from];
    meeting->tops[to] = meeting->tops[from];
    for (i = 0; i < step; i++)
        meeting->codes[i][to] = meeting->codes[i][from];
}

/* What of an ascending run of ids the list has, from the id at *done on, as far as its block at
 * hand goes: places in the run, and codes. */
static int meet_run(struct text_list *list, const docid *ids, uint32_t count, uint32_t *done,
                    uint16_t *places, uint32_t *codes, uint32_t *met, struct err *err)
{
    enum { UNPACK_COUNT = 16 }; /* codes that are dearer one by one than all 256 at once */
    struct postings *postings = list->scorer;
    uint32_t from = *done, run = count - from, kept = 0, i;
    int16_t indexes[BLOCK_SIZE];
    const uint32_t *all;
    int rc = list_reach(list, ids + from, &run, err);

    *met = 0;
    *done = postings_ended(postings) ? count : from + run;
    if (rc || postings_ended(postings))
        return rc;
    while (from < *done && ids[from] < block_first(postings))
        from++;
    run = *done - from;
    if (run)
        rc = postings_meet(postings, ids + from, run, places, indexes, &kept, err);
    if (kept >= UNPACK_COUNT && !rc)
        rc = postings_codes(postings, &all, err);
    for (i = 0; i < kept && !rc; i++) {
        places[i] = (uint16_t)(places[i] + from);
        rc = postings_code_at(postings, (uint32_t)indexes[i], &codes[i], err);
    }
    *met = kept;
    return rc;
}

static float top_of(const struct text_list *list, uint32_t code)
{
    return code < CODE_TABLE_SIZE ? list->tops[code] : list->max;
}

/* The first step's block at hand, and the second step's list. */
static int meet_block(const struct text_part *part, docid from, struct meeting *meeting,
                      uint32_t *asked, struct err *err)
{
    struct text_list *list = part->steps[0].list, *other = part->steps[1].list;
    uint32_t codes[BLOCK_SIZE], done = 0, size = list->scorer->size, met, i;
    uint16_t places[BLOCK_SIZE];
    const uint32_t *own;
    const docid *ids;
    int rc = postings_ids(list->scorer, &ids, err);

    meeting->count = 0;
    if (!rc)
        rc = postings_codes(list->scorer, &own, err);
    while (!rc && done < size && ids[done] < from)
        done++;
    *asked = size - done;
    while (done < size && !rc) {
        rc = meet_run(other, ids, size, &done, places, codes, &met, err);
        for (i = 0; i < met && !rc; i++) {
            uint32_t to = meeting->count++;

            meeting->ids[to] = ids[places[i]];
            meeting->codes[0][to] = own[places[i]];
            meeting->codes[1][to] = codes[i];
            meeting->tops[to] = top_of(list, own[places[i]]) + top_of(other, codes[i]);
        }
    }
    return rc;
}

/* Leaves those that the list of one more step has. */
static int meet_list(struct text_list *list, uint32_t step, struct meeting *meeting,
                     struct err *err)
{
    uint32_t codes[BLOCK_SIZE], kept = 0, done = 0, met, i;
    uint16_t places[BLOCK_SIZE];
    int rc = 0;

    while (done < meeting->count && !rc) {
        rc = meet_run(list, meeting->ids, meeting->count, &done, places, codes, &met, err);
        for (i = 0; i < met && !rc; i++) {
            move(meeting, kept, places[i], step);
            meeting->codes[step][kept] = codes[i];
            meeting->tops[kept++] += top_of(list, codes[i]);
        }
    }
    meeting->count = kept;
    return rc;
}

/* Leaves those that live and may reach min. */
static void drop_low(const struct text_part *part, uint32_t steps, float min,
                     struct meeting *meeting)
{
    uint32_t kept = 0, i;

    for (i = 0; i < meeting->count; i++) {
        if (meeting->tops[i] < min || !live_has(part->live, meeting->ids[i]))
            continue;
        move(meeting, kept++, i, steps);
    }
    meeting->count = kept;
}

/* Their lengths in the fields that anybody asks for; all at once, so that they come together. */
static void read_lengths(const struct text_plan *plan, const struct text_part *part, uint32_t steps,
                         const struct meeting *meeting, uint32_t lengths[BLOCK_SIZE])
{
    uint8_t found[BLOCK_SIZE], fields = 0;
    uint32_t field, i;

    for (i = 0; i < steps; i++)
        fields |= part->steps[i].list->fields;
    memset(lengths, 0, meeting->count * sizeof(*lengths));
    for (field = 0; field < plan->field_count; field++) {
        if (!(fields >> field & 1))
            continue;
        doc_lengths_gather(plan->snapshot->lengths, field, meeting->ids, meeting->count, found);
        for (i = 0; i < meeting->count; i++)
            lengths[i] |= (uint32_t)found[i] << field * 8;
    }
}

/* Adds the values of one step; 0 where the list has the word in other fields only. */
static void add_values(const struct text_plan *plan, const struct text_step *step, uint32_t number,
                       const uint32_t *lengths, struct meeting *meeting, float *values)
{
    const struct code_table *table = step->list->table;
    const float *norms = plan->norms->of_length[table->fields[0]];
    unsigned shift = table->fields[0] * 8U;
    uint32_t i;

    for (i = 0; i < meeting->count; i++) {
        uint32_t code = meeting->codes[number][i];

        /* One field is the same arithmetic, without a loop and a call. */
        if (table->field_count == 1 && code < CODE_TABLE_SIZE)
            values[i] = value_of(table->factors[0][code] * norms[lengths[i] >> shift & 255],
                                 step->list->weight);
        else
            values[i] = list_value_at(plan, step->list, code, lengths[i]);
        meeting->tops[i] += values[i];
        if (step->list->masked && !list_has_code(step->list, code))
            meeting->tops[i] = -INFINITY;
    }
}

/* Makes candidates of those whose values may reach min. */
static void value_meeting(const struct text_plan *plan, const struct text_part *part,
                          uint32_t steps, float min, struct meeting *meeting,
                          struct candidates *candidates)
{
    uint32_t lengths[BLOCK_SIZE], kept = 0, i, k;

    read_lengths(plan, part, steps, meeting, lengths);
    memset(meeting->tops, 0, meeting->count * sizeof(meeting->tops[0]));
    for (k = 0; k < steps; k++)
        add_values(plan, &part->steps[k], k, lengths, meeting,
                   candidates->values[part->steps[k].row]);
    for (i = 0; i < meeting->count; i++) {
        if (!(meeting->tops[i] >= min) || isinf(meeting->tops[i]))
            continue;
        candidates->ids[kept] = meeting->ids[i];
        for (k = 0; k < steps; k++)
            candidates->values[part->steps[k].row][kept] =
                candidates->values[part->steps[k].row][i];
        kept++;
    }
    candidates->count = kept;
}

uint32_t part_meets(const struct text_plan *plan, const struct text_part *part)
{
    uint32_t steps = 0;

    if (!part->segment || plan->tuning.use_meeting < 0)
        return 0;
    while (steps < part->step_count && part->steps[steps].must) {
        if (steps == MEET_LIST_MAX || !part->steps[steps].list || part->steps[steps].list->is_array)
            return 0;
        steps++;
    }
    return steps < 2 ? 0 : steps;
}

/* Of those that all these lists have: the ones that live and may reach min become candidates. */
static void end_meeting(struct text_plan *plan, struct text_part *part, uint32_t steps, float min,
                        struct meeting *meeting)
{
    float left = 0;
    uint32_t i;

    for (i = steps; i < part->step_count; i++)
        left += part->steps[i].max;
    min = min / BOUND_SLACK - left * BOUND_SLACK; /* of the steps that are looked at here */
    drop_low(part, steps, min, meeting);
    value_meeting(plan, part, steps, min, meeting, plan->scratch->candidates);
}

int part_meet(struct text_plan *plan, struct text_part *part, uint32_t steps, docid from, float min,
              struct err *err)
{
    struct meeting meeting;
    uint32_t asked = 0, i;
    int rc;

    for (i = 0; i < steps; i++)
        make_tops(plan, part, part->steps[i].list);
    rc = meet_block(part, from, &meeting, &asked, err);
    for (i = 2; i < steps && !rc && meeting.count; i++)
        rc = meet_list(part->steps[i].list, i, &meeting, err);
    part->asked += asked;
    part->met += meeting.count;
    plan->scratch->candidates->count = 0;
    if (!rc)
        end_meeting(plan, part, steps, min, &meeting);
    return rc;
}

int part_meet_ids(struct text_plan *plan, struct text_part *part, uint32_t steps, const docid *ids,
                  uint32_t count, float min, struct err *err)
{
    struct meeting meeting = {.count = count};
    uint32_t i;
    int rc = 0;

    assert(count <= BLOCK_SIZE);
    memcpy(meeting.ids, ids, count * sizeof(*ids));
    for (i = 0; i < steps && !rc && meeting.count; i++) {
        make_tops(plan, part, part->steps[i].list);
        rc = meet_list(part->steps[i].list, i, &meeting, err);
    }
    plan->scratch->candidates->count = 0;
    if (!rc)
        end_meeting(plan, part, steps, min, &meeting);
    return rc;
}
