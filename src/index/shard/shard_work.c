/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shard_work.c - what a shard does beside applying: freezing, merging, rebuilding sets.
 *
 * A piece of work is chosen and begun under the lock, done without it, and ended under it in steps
 * of bounded length. Segments are merged when SHARD_MERGE_COUNT of about one size are there (a
 * tier is eight times the one below it), and one is written anew when a good part of it is dead.
 *
 * From the moment a merge is chosen, a document that leaves one of its inputs is also marked dead
 * in the part that is being made (part.successor), so the end of a merge has nothing to catch up
 * with, however long it took.
 */
#include "index/shard/shard_work.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/object.h"
#include "index/postings/postings.h"
#include "index/postings/text_segment_merge.h"
#include "index/shard/shard_files.h"

enum {
    MERGE_INPUT_MAX = 2 * SHARD_MERGE_COUNT,
    TIER_COUNT = 12,
    SET_CHANGE_COUNT_MIN = 1024, /* between two scans of one set, and ... */
    SET_CHANGE_SHARE = 16, /* ... this part of all documents: a bulk must not scan all the time */
    SET_LOOK_COUNT = 256,  /* sets looked at under the lock: a schema has thousands */
    SORT_SHARE = 32,       /* of all forms: unsorted ones before a new sort */
    WEIGH_CHANGE_COUNT_MIN = 4096, /* between two counts of who has each word, and ... */
    WEIGH_SHARE = 4,               /* ... this part of all documents */
    WEIGH_STEP = 4096,             /* words between two looks at who wants to stop */
    TIGHTEN_CHANGE_COUNT = 1024,   /* changes for each window that is narrowed */
};

static uint32_t buffer_limit(const struct shard *shard)
{
    uint32_t limit = shard->options.buffer_doc_count_max;

    return limit && limit < TEXT_BUFFER_DOC_COUNT_MAX ? limit : TEXT_BUFFER_DOC_COUNT_MAX;
}

static struct text_segment_info segment_info(struct shard *shard)
{
    struct text_segment_info info = {
        .epoch = shard->options.epoch,
        .segment = ++shard->segment_number,
        .topic_offset = shard->offset,
    };

    memcpy(info.place, shard->options.place, sizeof(info.place));
    return info;
}

static uint32_t part_index(const struct shard *shard, const struct part *part)
{
    uint32_t i = 0;

    while (shard->parts[i] != part)
        i++;
    return i;
}

static void take_part(struct shard *shard, const struct part *part)
{
    uint32_t i = part_index(shard, part);

    memmove(&shard->parts[i], &shard->parts[i + 1],
            (shard->part_count - i - 1) * sizeof(shard->parts[0]));
    shard->part_count--;
}

/* ---- freezing ---- */

static void free_buffer(void *thing, uint64_t unused)
{
    (void)unused;
    text_buffer_free(thing);
}

static struct part *choose_buffer(const struct shard *shard, const struct part *until)
{
    uint32_t i;

    for (i = 0; i + 1 < shard->part_count && shard->parts[i] != until; i++) {
        if (shard->parts[i]->buffer && !shard->parts[i]->is_busy)
            return shard->parts[i];
    }
    return NULL;
}

/* The buffer's part becomes a segment's: same slot, same dead. */
static void end_freeze(struct shard *shard, struct part *part, struct text_segment *segment)
{
    part->is_busy = false;
    if (segment->info.doc_count) {
        shard_leave(shard, free_buffer, part->buffer);
        part->buffer = NULL;
        part->segment = segment;
    } else {
        text_segment_close(segment);
        take_part(shard, part);
        shard->slots[part->slot] = NULL;
        shard_leave(shard, part_free, part);
    }
    shard_show_work(shard);
}

int shard_freeze(struct shard *shard, const struct part *until, bool *did, struct err *err)
{
    struct text_segment *segment = NULL;
    struct text_segment_info info;
    struct part *part;
    int rc;

    object_check(shard, SHARD_MAGIC);
    if (until)
        object_check(until, PART_MAGIC);
    shard_lock(shard);
    part = choose_buffer(shard, until);
    if (part) {
        part->is_busy = true;
        info = segment_info(shard);
    }
    shard_unlock(shard);
    if (!part)
        return 0;
    *did = true;
    rc = text_buffer_freeze(part->buffer, part->mark, &info, &shard->bound_norms, NULL, &segment,
                            err);
    shard_lock(shard);
    if (rc)
        part->is_busy = false;
    else
        end_freeze(shard, part, segment);
    shard_unlock(shard);
    return rc;
}

/* ---- merging ---- */

/* The dead of an input, copied when the merge begins. */
struct dead_pages {
    uint32_t first, count;      /* windows */
    struct window_bits **pages; /* NULL: all live; owned */
};

struct merge_work {
    struct part *inputs[MERGE_INPUT_MAX]; /* borrowed */
    const struct live *live[MERGE_INPUT_MAX];
    struct dead_pages dead[MERGE_INPUT_MAX];
    uint32_t count;
    struct part *result; /* owned until it is a part of the shard */
};

static unsigned tier_of(const struct shard *shard, const struct part *part)
{
    uint64_t limit = buffer_limit(shard);
    unsigned tier = 0;

    while (tier + 1 < TIER_COUNT && part->segment->info.doc_count > limit) {
        limit *= SHARD_MERGE_COUNT;
        tier++;
    }
    return tier;
}

static bool can_merge(const struct part *part)
{
    return part->segment && !part->is_busy;
}

/* Many small ones are dearer than half of one dead. */
static bool is_worn(const struct shard *shard, const struct part *part)
{
    uint64_t dead = (uint64_t)-live_commit(part->live)->count_delta;

    return dead * (tier_of(shard, part) ? 4 : 2) >= part->segment->info.doc_count;
}

static void choose_tier(const struct shard *shard, struct merge_work *work)
{
    uint32_t counts[TIER_COUNT] = {0};
    unsigned tier;
    uint32_t i;

    for (i = 0; i < shard->part_count; i++) {
        if (can_merge(shard->parts[i]))
            counts[tier_of(shard, shard->parts[i])]++;
    }
    for (tier = 0; tier < TIER_COUNT && counts[tier] < SHARD_MERGE_COUNT; tier++)
        ;
    for (i = 0; tier < TIER_COUNT && i < shard->part_count && work->count < MERGE_INPUT_MAX; i++) {
        if (can_merge(shard->parts[i]) && tier_of(shard, shard->parts[i]) == tier)
            work->inputs[work->count++] = shard->parts[i];
    }
}

/* Those of the lowest tiers, when there are too many parts and no tier is full. */
static void choose_smallest(const struct shard *shard, struct merge_work *work)
{
    unsigned tier;
    uint32_t i;

    for (tier = 0; tier < TIER_COUNT && work->count < SHARD_MERGE_COUNT; tier++) {
        for (i = 0; i < shard->part_count && work->count < SHARD_MERGE_COUNT; i++) {
            if (can_merge(shard->parts[i]) && tier_of(shard, shard->parts[i]) == tier)
                work->inputs[work->count++] = shard->parts[i];
        }
    }
    if (work->count < 2)
        work->count = 0;
}

static void choose_merge(const struct shard *shard, struct merge_work *work)
{
    uint32_t i;

    choose_tier(shard, work);
    for (i = 0; !work->count && i < shard->part_count; i++) {
        if (can_merge(shard->parts[i]) && is_worn(shard, shard->parts[i]))
            work->inputs[work->count++] = shard->parts[i];
    }
    if (!work->count && shard_is_behind(shard))
        choose_smallest(shard, work);
}

static void copy_dead(struct dead_pages *dead, const struct text_segment *segment,
                      const struct live *live)
{
    uint32_t i;

    dead->first = window_of(segment->info.first_id);
    dead->count = window_of(segment->info.last_id) - dead->first + 1;
    dead->pages = mem_array(dead->count, sizeof(dead->pages[0]));
    for (i = 0; i < dead->count; i++) {
        const struct live_page *page = live_page(live, dead->first + i);

        if (page == LIVE_ALL)
            continue;
        dead->pages[i] = aligned_alloc(alignof(struct window_bits), sizeof(struct window_bits));
        assert(dead->pages[i]);
        if (page)
            memcpy(dead->pages[i], &page->bits, sizeof(page->bits));
        else
            memset(dead->pages[i], 0, sizeof(page->bits));
    }
}

static const struct window_bits *live_of(void *context, uint32_t window)
{
    const struct dead_pages *dead = context;

    assert(window >= dead->first && window - dead->first < dead->count);
    return dead->pages[window - dead->first];
}

/* Under the lock; leaves with the epoch entered, so that the versions in work->live stay. */
static bool begin_merge(struct shard *shard, struct merge_work *work,
                        struct text_segment_info *info)
{
    uint32_t i;

    choose_merge(shard, work);
    if (!work->count)
        return false;
    *info = segment_info(shard);
    work->result = part_new(shard, NULL);
    for (i = 0; i < work->count; i++) {
        work->inputs[i]->is_busy = true;
        work->inputs[i]->successor = work->result;
        work->live[i] = live_commit(work->inputs[i]->live);
    }
    epoch_enter(shard->work_slot);
    return true;
}

static int run_merge(struct shard *shard, struct merge_work *work,
                     const struct text_segment_info *info, struct err *err)
{
    struct merge_input inputs[MERGE_INPUT_MAX];
    struct merge_options options = {
        .info = *info, .norms = &shard->bound_norms, .pause = shard_pause, .context = shard};
    char path[SHARD_PATH_SIZE];
    uint64_t doc_count = 0;
    uint32_t i;

    for (i = 0; i < work->count; i++) {
        doc_count += work->inputs[i]->segment->info.doc_count;
        copy_dead(&work->dead[i], work->inputs[i]->segment, work->live[i]);
        inputs[i] = (struct merge_input){work->inputs[i]->segment, live_of, &work->dead[i]};
    }
    epoch_exit(shard->work_slot);
    if (shard->options.dir && doc_count > (uint64_t)buffer_limit(shard) * SHARD_MERGE_COUNT) {
        shard_path(shard, "segment", info->segment, path);
        options.path = path;
        work->result->has_file = true;
    }
    return text_segment_merge(inputs, work->count, &options, &work->result->segment, err);
}

/* The inputs leave, and all their slots name the result. */
static void put_result(struct shard *shard, struct merge_work *work)
{
    struct part *largest = work->inputs[0];
    struct part *result = work->result;
    uint32_t at = part_index(shard, work->inputs[0]);
    uint32_t i;
    unsigned slot;

    for (i = 0; i < work->count; i++) {
        if (work->inputs[i]->segment->info.doc_count > largest->segment->info.doc_count)
            largest = work->inputs[i];
        for (slot = 0; slot < OWNER_COUNT; slot++) {
            if (shard->slots[slot] == work->inputs[i])
                shard->slots[slot] = result->segment->info.doc_count ? result : NULL;
        }
        take_part(shard, work->inputs[i]);
        shard_leave(shard, part_free, work->inputs[i]);
    }
    result->slot = largest->slot;
    if (result->segment->info.doc_count) {
        memmove(&shard->parts[at + 1], &shard->parts[at],
                (shard->part_count - at) * sizeof(shard->parts[0]));
        shard->parts[at] = result;
        shard->part_count++;
        work->result = NULL;
    }
    shard_show_work(shard);
}

/* Owners name the one slot that the part keeps; the others are free after. */
static void rewrite_owners(struct shard *shard, struct part *part)
{
    const struct text_segment_info *info = &part->segment->info;
    uint32_t window = window_of(info->first_id);
    uint32_t end = window_of(info->last_id) + 1;
    uint8_t map[OWNER_COUNT];
    unsigned slot;

    for (slot = 0; slot < OWNER_COUNT; slot++)
        map[slot] = shard->slots[slot] == part ? part->slot : (uint8_t)slot;
    while (window < end) {
        uint32_t stop =
            end - window > SHARD_MERGE_WINDOW_COUNT ? window + SHARD_MERGE_WINDOW_COUNT : end;

        for (; window < stop; window++)
            owners_map(shard->owners, window, map);
        shard_unlock(shard);
        shard_lock(shard);
    }
    for (slot = 0; slot < OWNER_COUNT; slot++) {
        if (shard->slots[slot] == part && slot != part->slot)
            shard->slots[slot] = NULL;
    }
}

static void release_merge(struct merge_work *work)
{
    uint32_t i;
    uint32_t j;

    for (i = 0; i < work->count; i++) {
        for (j = 0; j < work->dead[i].count; j++)
            free(work->dead[i].pages[j]);
        free(work->dead[i].pages);
    }
    part_free(work->result, 0);
}

static int merge(struct shard *shard, bool *did, struct err *err)
{
    struct merge_work work = {.count = 0};
    struct text_segment_info info;
    struct part *result;
    uint32_t i;
    int rc;

    shard_lock(shard);
    if (!begin_merge(shard, &work, &info)) {
        shard_unlock(shard);
        return 0;
    }
    shard_unlock(shard);
    *did = true;
    result = work.result;
    rc = run_merge(shard, &work, &info, err);
    if (!rc)
        rc = shard_read_part(shard, result, err);
    shard_lock(shard);
    if (rc) {
        for (i = 0; i < work.count; i++) {
            work.inputs[i]->is_busy = false;
            work.inputs[i]->successor = NULL;
        }
    } else {
        put_result(shard, &work);
        if (!work.result)
            rewrite_owners(shard, result);
    }
    shard_unlock(shard);
    release_merge(&work);
    return rc;
}

int shard_relieve(struct shard *shard, bool *did, struct err *err)
{
    int rc = shard_freeze(shard, NULL, did, err);

    object_check(shard, SHARD_MAGIC);
    return rc || *did ? rc : merge(shard, did, err);
}

/* ---- sets, words, zones ---- */

static bool set_is_due(const struct shard *shard, uint32_t field)
{
    const struct attribute_set *set = shard->sets[field];
    uint64_t changes = shard->change_count - shard->set_scans[field];

    return set && attribute_set_is_due(set) &&
           (!shard->set_scans[field] ||
            (changes >= SET_CHANGE_COUNT_MIN &&
             changes >= (uint64_t)live_commit(shard->alive)->count_delta / SET_CHANGE_SHARE));
}

/* Begins with the next one that is due, in turn, so that none waits for ever; NULL: none is. */
static struct attribute_set *begin_set(struct shard *shard)
{
    struct attribute_set *set = NULL;
    uint32_t count;

    shard_lock(shard);
    count = shard->set_count; /* one that is added meanwhile is looked at the next time */
    for (uint32_t i = 0; i < count && !set; i++) {
        uint32_t field = (shard->set_next + i) % count;

        if (i && i % SET_LOOK_COUNT == 0) {
            shard_unlock(shard);
            shard_lock(shard);
        }
        if (!set_is_due(shard, field))
            continue;
        set = shard->sets[field];
        shard->set_scans[field] = shard->change_count + 1;
        shard->set_next = field + 1;
        attribute_set_begin(set);
    }
    shard_unlock(shard);
    return set;
}

static void rebuild_set(struct shard *shard, bool *did)
{
    struct attribute_set *set = begin_set(shard);

    if (!set)
        return;
    *did = true;
    epoch_enter(shard->work_slot);
    attribute_set_scan(set);
    epoch_exit(shard->work_slot);
    shard_lock(shard);
    attribute_set_commit(set);
    shard_unlock(shard);
}

/* The segments, which stay while work is held, if words are to be counted in them. */
static uint32_t weighing_due(struct shard *shard, const struct text_segment **segments)
{
    uint32_t count = 0;
    uint64_t changes;

    shard_lock(shard);
    changes = shard->change_count - shard->weighed_at;
    if (!shard->has_weighed ||
        (changes >= WEIGH_CHANGE_COUNT_MIN &&
         changes >= (uint64_t)live_commit(shard->alive)->count_delta / WEIGH_SHARE)) {
        for (uint32_t i = 0; i < shard->part_count; i++) {
            if (shard->parts[i]->segment)
                segments[count++] = shard->parts[i]->segment;
        }
    }
    if (count) {
        shard->has_weighed = true;
        shard->weighed_at = shard->change_count;
    }
    shard_unlock(shard);
    return count;
}

/* False: the shard is closed. What is damaged is told by who needs it. */
static bool count_words(struct shard *shard, const struct text_segment *segment,
                        uint32_t *doc_counts, uint32_t count)
{
    uint32_t term = 0;

    for (uint32_t i = 0; !text_segment_next_term(segment, term, &term, NULL) && term < count; i++) {
        uint32_t found;

        if (i % WEIGH_STEP == 0 && shard_pause(shard))
            return false;
        if (postings_count(segment, term, &found, NULL))
            break;
        doc_counts[term] += found;
        term++;
    }
    return true;
}

/* Which words are frequent: those of buffers are few beside the segments'. */
static void weigh_words(struct shard *shard, bool *did)
{
    const struct text_segment *segments[OWNER_COUNT];
    uint32_t segment_count = weighing_due(shard, segments);
    uint32_t count = lexicon_sizes(shard->lexicon).term_count;
    uint32_t *doc_counts;
    bool is_whole = true;

    if (!segment_count)
        return;
    *did = true;
    doc_counts = mem_array((size_t)count + 1, sizeof(*doc_counts));
    for (uint32_t i = 0; i < segment_count && is_whole; i++)
        is_whole = count_words(shard, segments[i], doc_counts, count);
    if (is_whole)
        lexicon_weigh(shard->lexicon, doc_counts, count);
    free(doc_counts);
    lexicon_reclaim(shard->lexicon, shard->epoch);
}

static void sort_words(struct shard *shard, bool *did)
{
    struct lexicon_sizes sizes = lexicon_sizes(shard->lexicon);

    if (sizes.tail_count < LEXICON_TAIL_COUNT_MAX ||
        sizes.tail_count < sizes.form_count / SORT_SHARE)
        return;
    *did = true;
    lexicon_sort(shard->lexicon);
    lexicon_reclaim(shard->lexicon, shard->epoch);
}

/* Zones only widen by themselves: one window for so many changes, round and round. */
static void tighten(struct shard *shard, bool *did)
{
    shard_lock(shard);
    if (shard->change_count - shard->tightened_at >= TIGHTEN_CHANGE_COUNT && shard->window_count) {
        shard->tightened_at += TIGHTEN_CHANGE_COUNT;
        shard->tighten_window = (shard->tighten_window + 1) % shard->window_count;
        columns_tighten(shard->columns, shard->tighten_window);
        columns_tighten(shard->state, shard->tighten_window);
        *did = true;
    }
    shard_unlock(shard);
}

/* ---- checkpoints ---- */

static int save_if_due(struct shard *shard, bool *did, struct err *err)
{
    uint64_t limit = shard->options.checkpoint_change_count ? shard->options.checkpoint_change_count
                                                            : SHARD_CHECKPOINT_CHANGE_COUNT;
    bool is_due;
    int rc;

    shard_lock(shard);
    is_due =
        shard->options.dir && shard->change_count - shard->checkpoint_changes >= limit &&
        (shard->checkpoint_tried == shard->checkpoint_changes ||
         shard->change_count - shard->checkpoint_tried >= limit || shard->checkpoint_retry_us) &&
        clock_mono_us(shard_clock(shard)) >= shard->checkpoint_retry_us;
    shard_unlock(shard);
    if (!is_due)
        return 0;
    *did = true;
    rc = shard_save(shard, err);
    return rc == ERR_TIMEOUT ? 0 : rc; /* a long batch: tried again after as many changes */
}

/* ---- one step ---- */

int shard_work(struct shard *shard, bool *did, struct err *err)
{
    int rc;

    object_check(shard, SHARD_MAGIC);
    *did = false;
    pthread_mutex_lock(&shard->work);
    rc = save_if_due(shard, did, err);
    if (!rc && !*did)
        rc = shard_relieve(shard, did, err);
    if (!rc && !*did)
        rebuild_set(shard, did);
    if (!rc && !*did)
        weigh_words(shard, did);
    if (!rc && !*did)
        sort_words(shard, did);
    if (!rc && !*did)
        tighten(shard, did);
    if (!rc && !*did)
        rc = shard_read_on(shard, did, err);
    if (!rc && !*did) /* last: a damaged file fails it again and again, and is to stop no other */
        rc = shard_tend_stored(shard, did, err);
    pthread_mutex_unlock(&shard->work);
    return rc;
}

bool shard_is_behind(const struct shard *shard)
{
    object_check(shard, SHARD_MAGIC);
    return shard->part_count >= SHARD_SEGMENT_COUNT_MAX;
}

/* Of the wait for a background that does not come along. */
static int give_up(struct shard *shard, int64_t since_us, struct err *err)
{
    if (shard->work_error.code)
        return err_set(err, ERR_UNAVAILABLE, "the shard has %u parts and merging fails: %s",
                       shard->part_count, shard->work_error.text);
    if (clock_mono_us(shard_clock(shard)) - since_us > (int64_t)SHARD_WAIT_MS_MAX * MS_US)
        return err_set(
            err, ERR_UNAVAILABLE,
            "the shard has %u parts, SHARD_SEGMENT_COUNT_MAX is %d, and merging does not "
            "keep up",
            shard->part_count, SHARD_SEGMENT_COUNT_MAX);
    return 0;
}

int shard_make_room(struct shard *shard, struct err *err)
{
    int64_t since_us = clock_mono_us(shard_clock(shard));
    bool did = true;
    int rc = 0;

    object_check(shard, SHARD_MAGIC);
    shard_lock(shard);
    while (!rc && shard_is_behind(shard) && (did || shard->options.background)) {
        if (shard->options.background) {
            shard_work_wanted(shard);
            shard_wait_published(shard, 100);
            rc = give_up(shard, since_us, err);
        } else {
            shard_unlock(shard);
            rc = shard_work(shard, &did, err);
            shard_lock(shard);
        }
    }
    if (!rc && shard_buffer(shard)->mark >= buffer_limit(shard)) {
        if (!shard_rotate(shard))
            rc = err_set(err, ERR_UNAVAILABLE, "the shard has %u parts, and no number for one more",
                         shard->part_count);
        shard_work_wanted(shard);
    }
    shard_unlock(shard);
    return rc;
}
