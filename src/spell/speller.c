/* SPDX-License-Identifier: Apache-2.0 */
/* speller.c - see speller.h. */
#include "spell/speller.h"

#include <assert.h>
#include <stdlib.h>

#include "base/log.h"
#include "base/memory.h"
#include "base/object.h"
#include "spell/base.h"
#include "spell/bounds.h"
#include "spell/check.h"
#include "spell/distance.h"
#include "spell/letters.h"
#include "spell/snapshot.h"

#define SURE 0.95F /* a correction this likely is made though the text as it stands finds more */

enum { RECLAIM_INTERVAL = 256 }; /* texts; what was outgrown may be tens of megabytes */

enum { SPELLER_MAGIC = OBJECT_MAGIC('s', 'p', 'e', 'l') };

struct speller {
    uint32_t magic;
    struct epoch *epoch; /* owned, as all below */
    struct words *words;
    struct pairs *pairs;
    struct deletes *deletes;
    struct shape *shape;
    char *snapshot_path; /* NULL: nothing is kept */
    struct buf note;     /* of the snapshot */
    bool is_fresh;
    uint64_t learnt_count; /* texts; the writer's */
    uint32_t *recounted;   /* by word: meetings of a recount; NULL: there is none */
    struct pairs *recounted_pairs;
    _Atomic uint64_t refused_count;
};

/* A damaged snapshot is what a disk did: it is told, and everything is learnt anew. */
static int load_snapshot(struct speller *speller, struct err *err)
{
    int rc;

    speller->is_fresh = true;
    if (!speller->snapshot_path)
        return 0;
    rc = snapshot_load(speller->snapshot_path, &speller->note, speller->words, speller->pairs, err);
    if (rc == ERR_NOT_FOUND)
        return 0;
    if (rc == ERR_CORRUPT || rc == ERR_LIMIT) {
        log_warn("what spelling had learnt cannot be read and will be learnt again",
                 LOG_TEXT("file", speller->snapshot_path), LOG_TEXT("reason", err->text));
        buf_reset(&speller->note);
        return 0;
    }
    speller->is_fresh = rc != 0;
    return rc;
}

int speller_open(const struct speller_options *options, struct speller **speller, struct err *err)
{
    struct speller *new = mem_zero(sizeof(*new));
    struct err reason;
    int rc = 0;

    object_begin(new, SPELLER_MAGIC);
    *speller = NULL;
    buf_init(&new->note, SPELL_SNAPSHOT_SIZE_MAX);
    new->epoch = epoch_new();
    new->words = words_new(new->epoch);
    new->pairs = pairs_new(new->epoch);
    new->deletes = deletes_new(new->words, new->epoch);
    if (options->snapshot_path)
        new->snapshot_path = mem_strdup(options->snapshot_path);
    if (options->base.size > 0)
        rc = base_load(options->base, new->words, options->stop, &reason);
    if (!rc)
        rc = load_snapshot(new, &reason);
    if (!rc && !deletes_build(new->deletes, options->stop))
        rc = err_set(&reason, ERR_CANCELLED, "it is no longer wanted");
    if (rc) {
        speller_close(new);
        return err_set(err, rc, "spelling cannot start: %s", reason.text);
    }
    new->shape = shape_new(new->words);
    epoch_reclaim(new->epoch);
    *speller = new;
    return 0;
}

void speller_close(struct speller *speller)
{
    if (!speller)
        return;
    object_check(speller, SPELLER_MAGIC);
    speller_recount_drop(speller);
    shape_free(speller->shape);
    deletes_free(speller->deletes);
    pairs_free(speller->pairs);
    words_free(speller->words);
    epoch_free(speller->epoch);
    buf_release(&speller->note);
    free(speller->snapshot_path);
    object_end(speller, SPELLER_MAGIC);
    free(speller);
}

static void meet(struct speller *speller, wordid before, wordid id, bool is_new)
{
    if (is_new)
        words_see(speller->words, id, 1);
    if (is_new && before != WORDID_NONE)
        pairs_add(speller->pairs, before, id, 1);
    if (!speller->recounted)
        return;
    speller->recounted[id]++;
    if (before != WORDID_NONE)
        pairs_add(speller->recounted_pairs, before, id, 1);
}

/* is_new: what it says counts at once, and not only for a recount. */
static int take_text(struct speller *speller, struct bytes text, bool is_new, struct err *err)
{
    struct spell_token token;
    wordid before = WORDID_NONE;
    size_t at = 0;

    if (text.size > SPELL_LEARN_SIZE_MAX)
        return err_set(err, ERR_LIMIT,
                       "a text of %zu bytes is too long to learn from; the limit is %d", text.size,
                       SPELL_LEARN_SIZE_MAX);
    while (letters_next(text, &at, &token)) {
        wordid id = WORDID_NONE;

        if (token.letters.size > 0) {
            id = words_add(speller->words, token.letters.at, token.letters.size);
            if (id == WORDID_NONE)
                atomic_fetch_add_explicit(&speller->refused_count, 1, memory_order_relaxed);
            else
                meet(speller, token.gap != GAP_FAR ? before : WORDID_NONE, id, is_new);
        }
        before = id;
    }
    deletes_add(speller->deletes);
    if (++speller->learnt_count % RECLAIM_INTERVAL == 0)
        epoch_reclaim(speller->epoch);
    return 0;
}

int speller_learn(struct speller *speller, struct bytes text, struct err *err)
{
    object_check(speller, SPELLER_MAGIC);
    return take_text(speller, text, true, err);
}

void speller_recount_begin(struct speller *speller)
{
    object_check(speller, SPELLER_MAGIC);
    speller_recount_drop(speller);
    speller->recounted = mem_array(SPELL_WORD_COUNT_MAX, sizeof(speller->recounted[0]));
    speller->recounted_pairs = pairs_new(speller->epoch);
}

int speller_recount(struct speller *speller, struct bytes text, struct err *err)
{
    object_check(speller, SPELLER_MAGIC);
    assert(speller->recounted);
    return take_text(speller, text, false, err);
}

/* Words first: a pair is of words that were met. */
void speller_recount_end(struct speller *speller)
{
    object_check(speller, SPELLER_MAGIC);
    assert(speller->recounted);
    words_recount(speller->words, speller->recounted);
    pairs_take(speller->pairs, speller->recounted_pairs);
    speller->recounted_pairs = NULL;
    speller_recount_drop(speller);
    epoch_reclaim(speller->epoch);
}

void speller_recount_drop(struct speller *speller)
{
    object_check(speller, SPELLER_MAGIC);
    free(speller->recounted);
    pairs_free(speller->recounted_pairs);
    speller->recounted = NULL;
    speller->recounted_pairs = NULL;
}

int speller_save(struct speller *speller, struct bytes note, struct err *err)
{
    object_check(speller, SPELLER_MAGIC);
    if (!speller->snapshot_path)
        return err_set(err, ERR_PRECONDITION, "spelling was opened without a file to save to");
    return snapshot_save(speller->snapshot_path, note, speller->words, speller->pairs, err);
}

struct bytes speller_note(const struct speller *speller)
{
    object_check(speller, SPELLER_MAGIC);
    return buf_bytes(&speller->note);
}

struct speller_sizes speller_sizes(const struct speller *speller)
{
    object_check(speller, SPELLER_MAGIC);
    return (struct speller_sizes){
        .word_count = words_count(speller->words),
        .pair_count = pairs_count(speller->pairs),
        .seen_count = words_seen(speller->words),
        .refused_count =
            atomic_load_explicit(&((struct speller *)speller)->refused_count, memory_order_relaxed),
        .memory_size = words_memory(speller->words) + pairs_memory(speller->pairs) +
                       deletes_memory(speller->deletes) + shape_memory(),
        .is_fresh = speller->is_fresh,
    };
}

static int run(struct speller *speller, struct bytes text, enum check_mood mood,
               struct arena *arena, struct spell_result *result, struct err *err)
{
    struct epoch_slot *slot;
    struct model model;
    int rc = epoch_join(speller->epoch, &slot, err);

    if (rc)
        return rc;
    epoch_enter(slot);
    model = model_make(speller->words, speller->pairs, speller->shape);
    check_run(&model, speller->deletes, text, mood, arena, result);
    epoch_exit(slot);
    epoch_leave(slot);
    return 0;
}

bool speller_is_common(struct speller *speller, struct bytes word)
{
    struct spell_token token;
    struct epoch_slot *slot;
    struct err err;
    size_t at = 0;
    bool is_common = false;
    wordid id;

    object_check(speller, SPELLER_MAGIC);
    if (!letters_next(word, &at, &token) || at < word.size || !token.letters.size ||
        epoch_join(speller->epoch, &slot, &err))
        return false;
    epoch_enter(slot);
    id = words_find_known(speller->words, token.letters.at, token.letters.size);
    if (id != WORDID_NONE) {
        const struct word *found = words_get(speller->words, id);

        is_common = found->is_right && found->rarity;
    }
    epoch_exit(slot);
    epoch_leave(slot);
    return is_common;
}

static void undo(struct bytes text, struct spell_result *result)
{
    *result = (struct spell_result){.text = text, .confidence = 1};
}

/* The text with those changes alone that are kept. */
static void keep_changes(struct bytes text, const bool *kept, struct arena *arena,
                         struct spell_result *result)
{
    struct spell_change *changes = arena_array(arena, result->change_count, sizeof(*changes));
    struct buf out = BUF_INIT((size_t)SPELL_TEXT_SIZE_MAX * 4);
    size_t count = 0, written = 0;
    float confidence = 1;

    for (size_t i = 0; i < result->change_count; i++) {
        const struct spell_change *change = &result->changes[i];
        size_t start = (size_t)(change->original.data - text.data);

        if (!kept[i])
            continue;
        buf_put_raw(&out, text.data + written, start - written);
        buf_put(&out, change->corrected);
        written = start + change->original.size;
        confidence = change->confidence < confidence ? change->confidence : confidence;
        changes[count++] = *change;
    }
    buf_put_raw(&out, text.data + written, text.size - written);
    if (!count || buf_failed(&out))
        undo(text, result);
    else
        *result = (struct spell_result){.text = arena_copy(arena, buf_bytes(&out)),
                                        .changes = changes,
                                        .change_count = count,
                                        .confidence = confidence};
    buf_release(&out);
}

/* Two letters of a word this short are half of it: beside words that stay it is rather a name that
 * nobody has ("lowes" is not "owens"), and better left out than taken for another. */
static bool is_far(const struct spell_change *change)
{
    enum { FAR_LETTERS_MAX = 5, FAR_EDITS = 2 };
    struct spell_token typed, meant;
    struct distance_pattern pattern;
    size_t typed_end = 0, meant_end = 0;

    if (change->reason != SPELL_TYPO || !letters_next(change->original, &typed_end, &typed) ||
        !letters_next(change->corrected, &meant_end, &meant) ||
        typed.letters.size > FAR_LETTERS_MAX)
        return false;
    distance_prepare(&pattern, &typed.letters);
    return distance_measure(&pattern, meant.letters.at, meant.letters.size) >= FAR_EDITS;
}

/* Word by word: a change is good when its words find something, and more than those typed. A common
 * word that nothing has stays: what the others find is nearer to what was meant. */
static int judge_each(struct speller *speller, struct bytes text, spell_hits_fn *hits, void *arg,
                      struct arena *arena, struct spell_result *result, struct err *err)
{
    bool *kept = arena_array(arena, result->change_count, sizeof(*kept));
    int rc = 0;

    for (size_t i = 0; i < result->change_count && i < SPELL_JUDGED_COUNT_MAX && !rc; i++) {
        const struct spell_change *change = &result->changes[i];
        uint64_t before = 0, after = 0;

        if (is_far(change) || (change->reason == SPELL_TYPO && change->confidence < SURE &&
                               speller_is_common(speller, change->original)))
            continue;
        rc = hits(arg, change->corrected, &after, err);
        if (!rc && after > 0)
            rc = hits(arg, change->original, &before, err);
        kept[i] = !rc && after > 0 && (before == 0 || change->confidence >= SURE);
    }
    if (rc)
        undo(text, result);
    else
        keep_changes(text, kept, arena, result);
    return rc;
}

/* A correction was found: may it be made? */
static int judge(struct speller *speller, struct bytes text, spell_hits_fn *hits, void *arg,
                 struct arena *arena, struct spell_result *result, struct err *err)
{
    bool is_all = result->change_count == 1 &&
                  bytes_equal(result->changes[0].original, text); /* there are no others */
    bool any_far = false;
    uint64_t before = 0, after = 0;
    int rc = hits(arg, result->text, &after, err);

    for (size_t i = 0; i < result->change_count && !is_all; i++)
        any_far = any_far || is_far(&result->changes[i]);
    if (!rc && (after == 0 || any_far) && !is_all) {
        rc = hits(arg, text, &before, err);
        if (!rc && before == 0)
            return judge_each(speller, text, hits, arg, arena, result, err);
    } else if (!rc && after > 0 && result->confidence < SURE) {
        rc = hits(arg, text, &before, err);
    }
    if (rc || after == 0 || before > after)
        undo(text, result);
    return rc;
}

int spell_check(struct speller *speller, struct bytes text, spell_hits_fn *hits, void *arg,
                struct arena *arena, struct spell_result *result, struct err *err)
{
    uint64_t count = 0;
    int rc;

    object_check(speller, SPELLER_MAGIC);
    undo(text, result);
    if (text.size > SPELL_TEXT_SIZE_MAX)
        return err_set(err, ERR_LIMIT,
                       "a query of %zu bytes is too long to correct; the limit is %d", text.size,
                       SPELL_TEXT_SIZE_MAX);
    rc = run(speller, text, hits ? CHECK_SEARCH : CHECK_TEXT, arena, result, err);
    if (rc || !hits)
        return rc;
    if (result->change_count)
        rc = judge(speller, text, hits, arg, arena, result, err);
    if (rc || result->change_count)
        return rc;
    rc = hits(arg, text, &count, err);
    if (rc || count > 0)
        return rc;
    rc = run(speller, text, CHECK_EAGER, arena, result, err);
    if (!rc && result->change_count)
        rc = judge(speller, text, hits, arg, arena, result, err);
    return rc;
}

const char *spell_reason_name(enum spell_reason reason)
{
    static const char *const names[] = {
        [SPELL_KEPT] = "kept",     [SPELL_TYPO] = "typo",
        [SPELL_LAYOUT] = "layout", [SPELL_TRANSLITERATION] = "transliteration",
        [SPELL_SPLIT] = "split",   [SPELL_JOIN] = "join",
    };

    assert((size_t)reason < ARRAY_COUNT(names));
    return names[reason];
}
