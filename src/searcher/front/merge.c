/* SPDX-License-Identifier: Apache-2.0 */
/* merge.c - see merge.h: hits and words; facets are in merge_facets.c. */
#include "searcher/front/merge.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/hash.h"
#include "codec/message.h"
#include "index/postings/text_norms.h"
#include "searcher/front/merge_facets.h"

struct entry {
    Torg__V1__Hit *hit;
    const Torg__V1__HitRank *rank;
    uint32_t part; /* index of it */
    uint32_t shard;
};

static struct bytes bytes_in(ProtobufCBinaryData data)
{
    return bytes_make(data.data, data.len);
}

/* ---- order ---- */

static int compare_keys(const Torg__V1__SortKey *a, const Torg__V1__SortKey *b, bool descending)
{
    int order;

    if (!a->has_text || !b->has_text)
        return (a->number > b->number) - (a->number < b->number);
    order = bytes_compare(bytes_in(a->text), bytes_in(b->text));
    return descending ? -order : order;
}

static int compare_ids(uint32_t id_a, uint32_t shard_a, uint32_t id_b, uint32_t shard_b)
{
    if (id_a != id_b)
        return id_a < id_b ? -1 : 1;
    return (shard_a > shard_b) - (shard_a < shard_b);
}

static int compare_places(const Torg__V1__QueryStage *query, const Torg__V1__HitPlace *a,
                          uint32_t shard_a, const Torg__V1__HitPlace *b, uint32_t shard_b)
{
    size_t count = a->n_keys < b->n_keys ? a->n_keys : b->n_keys;

    for (size_t i = 0; i < count; i++) {
        int order =
            compare_keys(a->keys[i], b->keys[i], i < query->n_sorts && query->sorts[i]->descending);

        if (order)
            return order;
    }
    return compare_ids(a->id, shard_a, b->id, shard_b);
}

static int compare_entries(const void *a, const void *b, void *query)
{
    const struct entry *x = a;
    const struct entry *y = b;

    return compare_places(query, x->rank->place, x->shard, y->rank->place, y->shard);
}

/* Highest first, without a value last. */
static int compare_reranked(const void *a, const void *b)
{
    const struct entry *x = a;
    const struct entry *y = b;
    double p = x->rank->rerank;
    double q = y->rank->rerank;

    if (isnan(p) || isnan(q)) {
        if (isnan(p) != isnan(q))
            return isnan(p) ? 1 : -1;
    } else if (p != q) {
        return p > q ? -1 : 1;
    }
    return compare_ids(x->rank->place->id, x->shard, y->rank->place->id, y->shard);
}

/* ---- the list ---- */

static struct entry *list_entries(const struct merge_part *parts, uint32_t count, uint32_t stage,
                                  uint32_t *entry_count, struct arena *arena)
{
    struct entry *entries;
    size_t total = 0;

    for (uint32_t i = 0; i < count; i++)
        total += parts[i].answer->stages[stage]->n_hits;
    entries = arena_array(arena, total + 1, sizeof(*entries));
    total = 0;
    for (uint32_t i = 0; i < count; i++) {
        const Torg__V1__StagePlaces *places = parts[i].answer->stages[stage];

        for (size_t k = 0; k < places->n_hits; k++)
            entries[total++] =
                (struct entry){.hit = parts[i].answer->answer->stages[stage]->hits[k],
                               .rank = places->hits[k],
                               .part = i,
                               .shard = parts[i].shard};
    }
    *entry_count = (uint32_t)total;
    return entries;
}

/* Leaves out what is more than the cap of one value. */
static uint32_t apply_cap(struct entry *entries, uint32_t count, uint32_t cap, struct arena *arena)
{
    uint32_t slot_count = 16;
    uint32_t kept = 0;
    struct {
        const Torg__V1__HitRank *rank;
        uint32_t count;
    } * slots;

    while (slot_count < 2 * count)
        slot_count *= 2;
    slots = arena_array(arena, slot_count, sizeof(*slots));
    for (uint32_t i = 0; i < count; i++) {
        struct bytes value = bytes_in(entries[i].rank->cap_value);
        uint32_t slot = (uint32_t)hash64(value) & (slot_count - 1);

        if (entries[i].rank->has_cap_value) {
            while (slots[slot].rank && !bytes_equal(bytes_in(slots[slot].rank->cap_value), value))
                slot = (slot + 1) & (slot_count - 1);
            slots[slot].rank = entries[i].rank;
            if (++slots[slot].count > cap)
                continue;
        }
        entries[kept++] = entries[i];
    }
    return kept;
}

static void rerank(const Torg__V1__QueryStage *query, struct entry *entries, uint32_t count)
{
    uint32_t first = query->rerank->count < count ? query->rerank->count : count;

    if (first)
        qsort(entries, first, sizeof(*entries), compare_reranked);
}

/* Whether a shard may have more hits than it gave. */
static bool has_full_part(const struct merge_part *parts, uint32_t count, uint32_t stage,
                          uint32_t asked)
{
    for (uint32_t i = 0; i < count; i++)
        if (parts[i].answer->stages[stage]->n_hits >= asked)
            return true;
    return false;
}

static void find_end(const struct entry *entries, uint32_t first, uint32_t end_at, uint32_t count,
                     uint32_t part_count, struct arena *arena, struct merge_end *end)
{
    end->has_more = end_at < count;
    end->count = part_count;
    end->last = arena_array(arena, part_count + 1, sizeof(end->last[0]));
    for (uint32_t i = 0; i < end_at; i++)
        end->last[entries[i].part] = entries[i].rank->place;
    if (end_at > first)
        end->last_part = entries[end_at - 1].part;
}

static uint32_t skipped(const Torg__V1__QueryStage *query, const struct entry *entries,
                        uint32_t count, const struct merge_page *page)
{
    uint32_t skip = page->skip;

    while (page->after && skip < count &&
           compare_places(query, entries[skip].rank->place, entries[skip].shard, page->after,
                          page->after_shard) <= 0)
        skip++;
    return skip < count ? skip : count;
}

static void sum_totals(const struct merge_part *parts, uint32_t count, uint32_t stage,
                       Torg__V1__StageAnswer *answer)
{
    for (uint32_t i = 0; i < count; i++) {
        const Torg__V1__StageAnswer *part = parts[i].answer->answer->stages[stage];

        answer->_total_case = part->_total_case;
        if (part->_total_case)
            answer->total += part->total;
    }
}

Torg__V1__StageAnswer *merge_stage(const Torg__V1__QueryStage *query, uint32_t stage,
                                   const struct merge_part *parts, uint32_t count,
                                   const struct merge_page *page, struct arena *arena,
                                   struct merge_end *end)
{
    Torg__V1__StageAnswer *answer = MESSAGE_NEW(stage_answer, arena);
    uint32_t entry_count, all_count, skip, shown;
    struct entry *entries = list_entries(parts, count, stage, &entry_count, arena);
    bool is_capped = query->cap && query->cap->count;

    *end = (struct merge_end){0};
    answer->name = query->name;
    if (entry_count)
        qsort_r(entries, entry_count, sizeof(*entries), compare_entries, (void *)query);
    if (query->rerank)
        rerank(query, entries, entry_count);
    all_count = entry_count;
    if (is_capped)
        entry_count = apply_cap(entries, entry_count, query->cap->count, arena);
    skip = skipped(query, entries, entry_count, page);
    shown = entry_count - skip < page->limit ? entry_count - skip : page->limit;
    end->is_short = is_capped && (query->rerank || page->after) &&
                    entry_count - skip <= page->limit && all_count > 0 &&
                    has_full_part(parts, count, stage, page->asked);
    find_end(entries, skip, skip + shown, entry_count, count, arena, end);
    answer->hits = arena_array(arena, shown + 1, sizeof(answer->hits[0]));
    answer->n_hits = shown;
    for (uint32_t i = 0; i < shown; i++)
        answer->hits[i] = entries[skip + i].hit;
    sum_totals(parts, count, stage, answer);
    merge_facets(query, stage, parts, count, arena, answer);
    return answer;
}

/* ---- words ---- */

static int compare_words(const void *a, const void *b)
{
    return bytes_compare(bytes_in((*(Torg__V1__WordCount *const *)a)->word),
                         bytes_in((*(Torg__V1__WordCount *const *)b)->word));
}

/* of: may be NULL, or of a searcher that does not tell them. */
static void add_lengths(Torg__V1__WordCounts *sum, const Torg__V1__WordCounts *of)
{
    for (size_t i = 0;
         of && i < TEXT_NORM_FIELD_COUNT && i < of->n_length_sums && i < of->n_length_counts; i++) {
        sum->length_sums[i] += of->length_sums[i];
        sum->length_counts[i] += of->length_counts[i];
    }
}

Torg__V1__WordCounts *merge_words(const Torg__V1__WordCounts *const *words, uint32_t count,
                                  struct arena *arena)
{
    Torg__V1__WordCounts *sum = MESSAGE_NEW(word_counts, arena);
    Torg__V1__WordCount *copies;
    size_t total = 0, kept = 0;

    for (uint32_t i = 0; i < count; i++)
        total += words[i] ? words[i]->n_words : 0;
    sum->words = arena_array(arena, total + 1, sizeof(sum->words[0]));
    copies = arena_array(arena, total + 1, sizeof(*copies));
    sum->length_sums = arena_array(arena, TEXT_NORM_FIELD_COUNT, sizeof(uint64_t));
    sum->length_counts = arena_array(arena, TEXT_NORM_FIELD_COUNT, sizeof(uint64_t));
    sum->n_length_sums = sum->n_length_counts = TEXT_NORM_FIELD_COUNT;
    total = 0;
    for (uint32_t i = 0; i < count; i++) {
        sum->doc_count += words[i] ? words[i]->doc_count : 0;
        add_lengths(sum, words[i]);
        for (size_t k = 0; words[i] && k < words[i]->n_words; k++) {
            copies[total] = *words[i]->words[k];
            sum->words[total] = &copies[total];
            total++;
        }
    }
    if (total)
        qsort(sum->words, total, sizeof(sum->words[0]), compare_words);
    for (size_t i = 0; i < total; i++) {
        if (kept && compare_words(&sum->words[kept - 1], &sum->words[i]) == 0)
            sum->words[kept - 1]->doc_count += sum->words[i]->doc_count;
        else
            sum->words[kept++] = sum->words[i];
    }
    sum->n_words = kept;
    return sum;
}
