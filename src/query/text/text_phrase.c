/* SPDX-License-Identifier: Apache-2.0 */
/*
 * text_phrase.c - see text_parts.h: whether words stand in the order of a phrase, in many documents
 * at once.
 *
 * Word by word: of the documents that are left, the places of the first word say where the phrase
 * may begin, each further word drops what does not fit. Places are read block by block of each list
 * for itself, into one array, so that blocks of different lists need not meet.
 */
#include <string.h>

#include "query/text/text_parts.h"

/* ---- places ---- */

/* Who was found, of the ids that were asked about, and the handles of their postings. */
struct place_finds {
    uint16_t rows[BLOCK_SIZE];
    uint32_t handles[BLOCK_SIZE];
};

/* One document's, whose forms matter or which is in an array. *room: there was some. */
static int add_places(struct text_list *list, int32_t form, struct place_run *run, bool *room,
                      struct err *err)
{
    struct occurrence occurrences[POSTING_OCCURRENCE_MAX], *next = occurrences;
    uint32_t tfs = list_tfs(list), end = place_run_end(run), count, field, i;
    int rc = 0;

    *room = run->count < BLOCK_SIZE && PLACE_RUN_ROOM - end >= POSTING_OCCURRENCE_MAX;
    if (!*room)
        return 0;
    if (list->is_array) {
        struct buffer_cursor cursor = {.tfs = tfs, .packed = list->packed[list->index]};

        buffer_cursor_occurrences(&cursor, occurrences, &count);
    } else {
        rc = postings_occurrences(list->scorer, list->index, occurrences, &count, err);
    }
    for (field = 0; !rc && field < SEGMENT_FIELD_COUNT && tfs >> field * 8; field++) {
        bool wanted = list->fields >> field & 1;

        for (i = 0; i < (tfs >> field * 8 & 255); i++, next++) {
            bool is_form = form == FORM_ANY || next->form == (uint32_t)form;

            run->places[end] = next->position | field << PLACE_FIELD_SHIFT;
            end += wanted && is_form && !(next->position >> PLACE_FIELD_SHIFT);
        }
    }
    run->ends[run->count++] = end;
    return rc;
}

static int each_places(struct text_list *list, int32_t form, const docid *ids, uint32_t *count,
                       struct place_finds *finds, struct place_run *run, struct err *err)
{
    uint32_t kept = 0, i;
    int rc = 0;

    for (i = 0; i < *count && !rc; i++) {
        bool found, room = true;

        rc = list_find(list, ids[i], &found, err);
        if (!rc && found)
            rc = add_places(list, form, run, &room, err);
        if (!room)
            break;
        finds->rows[kept] = (uint16_t)i;
        finds->handles[kept] = found ? list_handle(list) : 0;
        kept += found;
    }
    *count = i;
    return rc;
}

/* Of the ids, ascending, those up to the end of one block: which of them the list has, and, added
 * to the run, where its word stands in them, in the list's fields, of the form unless FORM_ANY.
 * *count: how many were asked about; becomes how many that tells of. */
static int list_places(struct text_list *list, int32_t form, const docid *ids, uint32_t *count,
                       struct place_finds *finds, struct place_run *run, struct err *err)
{
    struct postings *postings = list->scorer;
    int16_t found[BLOCK_SIZE];
    uint32_t below = 0, kept = 0, wanted, i;
    int rc;

    if (list->is_array || form != FORM_ANY)
        return each_places(list, form, ids, count, finds, run, err);
    rc = list_reach(list, ids, count, err);
    if (rc || postings_ended(postings))
        return rc;
    while (below < *count && ids[below] < block_first(postings))
        below++;
    if (below < *count)
        rc = postings_meet(postings, ids + below, *count - below, finds->rows, found, &kept, err);
    for (i = 0; i < kept; i++)
        finds->rows[i] = (uint16_t)(finds->rows[i] + below);
    wanted = kept;
    if (!rc && kept)
        rc = postings_places(postings, found, &wanted, list->fields, run, err);
    if (wanted < kept) /* the first without room is to be asked about again */
        *count = finds->rows[wanted];
    for (i = 0; i < wanted && !rc; i++)
        finds->handles[i] = postings->codes[found[i]]; /* places have unpacked them */
    return rc;
}

/* ---- the phrase ---- */

/* Documents that are left, and where the phrase may begin in them: in scratch->starts. */
struct phrase_run {
    uint32_t count;
    docid ids[BLOCK_SIZE];
    uint16_t rows[BLOCK_SIZE]; /* of the ids that were asked about */
    uint32_t begins[BLOCK_SIZE], counts[BLOCK_SIZE];
};

/* Where the phrase begins if a word of this distance is at these places. Returns how many. */
static uint32_t first_starts(uint32_t *starts, uint32_t count, uint32_t distance)
{
    uint32_t kept = 0, i;

    for (i = 0; i < count && distance; i++) {
        bool fits = (starts[i] & ((UINT32_C(1) << PLACE_FIELD_SHIFT) - 1)) >= distance;

        starts[kept] = starts[i] - distance;
        kept += fits;
    }
    return distance ? kept : count;
}

/* Of those, where this word too is as far from there as it should be. */
static uint32_t keep_starts(uint32_t *starts, uint32_t start_count, const uint32_t *places,
                            uint32_t count, uint32_t distance)
{
    uint32_t kept = 0, at_place = 0, i;

    for (i = 0; i < start_count; i++) {
        uint32_t place = starts[i] + distance; /* in another field: no place of a word */

        while (at_place < count && places[at_place] < place)
            at_place++;
        if (at_place == count)
            break;
        starts[kept] = starts[i];
        kept += places[at_place] == place;
    }
    return kept;
}

/* Of the first documents of ids, as many as there is room for: *count. */
static int begin_run(struct text_list *list, const struct text_slot *slot, const docid *ids,
                     uint32_t *count, struct phrase_run *run, struct place_run *starts,
                     uint32_t *handles, struct err *err)
{
    uint32_t done = 0, looked, begin = 0, i;
    struct place_finds finds;
    int rc;

    starts->count = 0;
    run->count = 0;
    do {
        uint32_t before = starts->count;

        looked = *count - done;
        rc = list_places(list, slot->form, ids + done, &looked, &finds, starts, err);
        for (i = before; i < starts->count && !rc; i++) {
            uint32_t row = done + finds.rows[i - before];

            if (handles)
                handles[row] = finds.handles[i - before];
            run->ids[run->count] = ids[row];
            run->rows[run->count] = (uint16_t)row;
            run->begins[run->count] = begin;
            run->counts[run->count] =
                first_starts(starts->places + begin, starts->ends[i] - begin, slot->position);
            run->count += run->counts[run->count] > 0;
            begin = starts->ends[i];
        }
        done += looked;
    } while (!rc && looked && done < *count);
    *count = done;
    return rc;
}

/* Keeps the documents that have the next word, too. */
static int go_on_run(struct text_list *list, const struct text_slot *slot, struct phrase_run *run,
                     struct place_run *starts, struct place_run *places, uint32_t *handles,
                     struct err *err)
{
    uint32_t done, looked, kept = 0, i;
    struct place_finds finds;
    int rc = 0;

    for (done = 0; done < run->count && !rc; done += looked) {
        uint32_t begin = 0;

        places->count = 0;
        looked = run->count - done;
        rc = list_places(list, slot->form, run->ids + done, &looked, &finds, places, err);
        for (i = 0; i < places->count && !rc; i++) {
            uint32_t row = done + finds.rows[i], size = places->ends[i] - begin,
                     left = run->counts[row];
            uint32_t *from = starts->places + run->begins[row];

            if (handles)
                handles[run->rows[row]] = finds.handles[i];
            if (left == 1 && size == 1) /* most words stand once in a document */
                left = *from + slot->position == places->places[begin];
            else
                left = keep_starts(from, left, places->places + begin, size, slot->position);
            run->ids[kept] = run->ids[row];
            run->rows[kept] = run->rows[row];
            run->begins[kept] = run->begins[row];
            run->counts[kept] = left;
            kept += left > 0;
            begin = places->ends[i];
        }
    }
    run->count = kept;
    return rc;
}

/* The words in turn. The rarest comes last: the documents are mostly its own, so it is the others
 * that drop some. */
static uint32_t slot_at(uint32_t turn, uint32_t from, uint32_t end, uint32_t rarest)
{
    if (from + turn < rarest)
        return from + turn;
    return from + turn + 1 < end ? from + turn + 1 : rarest;
}

/* handles: NULL, or of the postings of those who hold it, by slot. */
static int hold(struct text_plan *plan, struct text_part *part, uint32_t leaf, uint32_t from,
                uint32_t to, const docid *ids, uint32_t count, bool *holds,
                uint32_t (*handles)[BLOCK_SIZE], struct err *err)
{
    const struct text_leaf *meant = &plan->leaves[leaf];
    const struct text_slot *slots = leaf_slots(plan, meant);
    struct text_list **lists = part->leaves[leaf].lists;
    struct place_run *starts = &plan->scratch->starts, *places = &plan->scratch->places;
    uint32_t rarest = from, done, looked, slot, i;
    struct phrase_run run;
    int rc = 0;

    memset(holds, 0, count * sizeof(*holds));
    for (i = from; i < to; i++) {
        if (!lists[i])
            return 0;
        rarest = lists[i]->count < lists[rarest]->count ? i : rarest;
    }
    for (done = 0; done < count && !rc; done += looked) {
        looked = count - done;
        slot = slot_at(0, from, to, rarest);
        rc = begin_run(lists[slot], &slots[slot], ids + done, &looked, &run, starts,
                       handles ? handles[slot] + done : NULL, err);
        for (i = 1; i < to - from && run.count && !rc; i++) {
            slot = slot_at(i, from, to, rarest);
            rc = go_on_run(lists[slot], &slots[slot], &run, starts, places,
                           handles ? handles[slot] + done : NULL, err);
        }
        for (i = 0; i < run.count && !rc; i++)
            holds[done + run.rows[i]] = true;
    }
    return rc;
}

int phrase_hold(struct text_plan *plan, struct text_part *part, uint32_t leaf, uint32_t from,
                uint32_t to, const docid *ids, uint32_t count, bool *holds, struct err *err)
{
    return hold(plan, part, leaf, from, to, ids, count, holds, NULL, err);
}

int phrase_values(struct text_plan *plan, struct text_part *part, uint32_t leaf, docid *ids,
                  uint32_t *count, float values[PHRASE_VALUE_WORDS][BLOCK_SIZE], struct err *err)
{
    const struct text_leaf *meant = &plan->leaves[leaf];
    uint32_t handles[PHRASE_VALUE_WORDS][BLOCK_SIZE], kept = 0, i, k;
    bool holds[BLOCK_SIZE];
    int rc;

    assert(meant->count <= PHRASE_VALUE_WORDS);
    rc = hold(plan, part, leaf, 0, meant->count, ids, *count, holds, handles, err);
    for (i = 0; i < *count && !rc; i++) {
        uint32_t lengths;

        if (!holds[i])
            continue;
        lengths = lengths_of(plan, meant->fields, ids[i]);
        for (k = 0; k < meant->count; k++)
            values[k][kept] =
                list_value_at(plan, part->leaves[leaf].lists[k], handles[k][i], lengths);
        ids[kept++] = ids[i];
    }
    *count = kept;
    return rc;
}
