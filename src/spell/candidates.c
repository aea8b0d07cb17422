/* SPDX-License-Identifier: Apache-2.0 */
/* candidates.c - see candidates.h. Costs are -log10 of a share of all typed words, as in
 * distance.c. */
#include "spell/candidates.h"

#include <string.h>

#include "base/memory.h"
#include "spell/distance.h"
#include "spell/keyboard.h"
#include "spell/transliteration.h"

#define COST_CHANGE 0.5F /* any change must be better by this: about 3 to 1 */
#define COST_RIGHT 2.2F  /* more to change a word that a dictionary has */
#define COST_LIVE 1.5F   /* more to change a word met in live data more than once */
#define COST_ODD 1.0F    /* a word that no dictionary has is likely not one */
#define COST_EAGER 4.0F  /* a word that finds nothing */
#define COST_NEVER 8.5F  /* of a right word that is never met */
#define COST_LAST 1.0F   /* more if only the last letter differs: another form of the word */
#define COST_NAME 1.0F   /* more to change a word that no dictionary has and a capital begins */
#define COST_PAIR 2.0F   /* by so much a pair may turn the scale */
#define COST_SIGN 1.2F   /* of each sign of a run that is no word in its own script */
#define COST_LAYOUT 2.0F
#define COST_SCRIPT 3.2F
#define COST_BLANK 2.0F    /* left out */
#define COST_PARTICLE 1.2F /* less for a blank beside a particle */
#define COST_BLANK_TYPED 2.6F
#define COST_HYPHEN_BLANK 0.3F /* a blank for a hyphen */
#define COST_HELD 0.6F         /* a letter held down */
#define COST_COMMON 5.5F       /* right words met this often are not asked about */
#define COST_SHORT 3.4F        /* parts of one or two letters are as common as this */
#define COST_PART 5.6F
#define COST_SAYS_NOTHING 2.7F /* words of the base as common as this are grammar: "на", "not" */

enum { SIZE_MIN = 3, SIZE_TWO_EDITS = 4, LAYOUT_SIZE_MIN = 2, SCRIPT_EDIT_READINGS = 6 };

/* What is known of a word as it stands. */
struct standing {
    wordid id;
    bool is_right, is_live;
    float cost;
};

static struct standing standing_of(const struct candidate_maker *maker,
                                   const struct letters *letters)
{
    const struct words *words = maker->model.words;
    struct standing standing = {.id = words_find_known(words, letters->at, letters->size)};

    if (standing.id != WORDID_NONE) {
        const struct word *word = words_get(words, standing.id);
        uint32_t seen = atomic_load_explicit(&((struct word *)word)->seen, memory_order_relaxed);

        standing.is_live = seen > 1;
        standing.is_right = word->is_right;
        standing.cost = model_word(&maker->model, word);
        if (!standing.is_right && !seen)
            standing.cost += COST_ODD;
        if (maker->is_eager && !seen)
            standing.cost += COST_EAGER;
    } else if (words_is_right(words, letters->at, letters->size)) {
        standing.is_right = true;
        standing.cost = COST_NEVER + (maker->is_eager ? COST_EAGER : 0);
    } else {
        standing.cost = model_unknown(&maker->model, letters);
    }
    return standing;
}

static float total(const struct candidate *candidate)
{
    return candidate->error + candidate->first_cost + candidate->last_cost;
}

/* Keeps the best; the word as it stands is the first and stays. */
static void offer(struct candidates *candidates, const struct candidate *candidate)
{
    size_t worst = 0;

    for (size_t i = 1; i < candidates->count; i++) {
        if (candidates->at[i].first == candidate->first &&
            candidates->at[i].last == candidate->last &&
            candidates->at[i].span == candidate->span) {
            if (total(candidate) < total(&candidates->at[i]))
                candidates->at[i] = *candidate;
            return;
        }
        if (worst == 0 || total(&candidates->at[i]) > total(&candidates->at[worst]))
            worst = i;
    }
    if (candidates->count < SPELL_CANDIDATE_COUNT_MAX)
        candidates->at[candidates->count++] = *candidate;
    else if (total(candidate) < total(&candidates->at[worst]))
        candidates->at[worst] = *candidate;
}

/* Who looks for a thing does not look for this word. */
static bool says_nothing(const struct word *word)
{
    return word->size < SIZE_MIN ||
           (word->rarity && (float)word->rarity * WORD_RARITY_STEP < COST_SAYS_NOTHING);
}

static void offer_word(const struct candidate_maker *maker, wordid id, float error,
                       enum spell_reason reason, struct candidates *candidates)
{
    const struct words *words = maker->model.words;
    const struct word *word = words_get(words, id);
    uint32_t seen = atomic_load_explicit(&((struct word *)word)->seen, memory_order_relaxed);
    struct candidate candidate = {
        .first = id, .last = id, .error = error, .reason = (uint8_t)reason, .span = 1};

    if (maker->is_search && says_nothing(word))
        return;
    candidate.first_cost = model_word(&maker->model, word);
    if (!seen && reason == SPELL_TRANSLITERATION &&
        !letter_is_cyrillic(*words_letters(words, word)))
        return;
    if (!word->is_right && !seen)
        candidate.error += COST_ODD;
    if (maker->is_eager && !seen)
        candidate.error += COST_EAGER;
    candidate.letters.size = word->size;
    memcpy(candidate.letters.at, words_letters(words, word), word->size);
    offer(candidates, &candidate);
}

/* The same word with another ending? A dictionary has not every form, and a search by stems does
 * not care. */
static bool is_ending(const struct letters *typed, const uint8_t *meant, size_t meant_size)
{
    size_t same = 0;

    while (same < typed->size && same < meant_size && typed->at[same] == meant[same])
        same++;
    return letter_is_cyrillic(typed->at[0]) && same + 1 >= typed->size && same + 1 >= meant_size;
}

static float mistake(const struct letters *typed, const uint8_t *meant, size_t meant_size)
{
    return distance_cost(typed, meant, meant_size) +
           (is_ending(typed, meant, meant_size) ? COST_LAST : 0);
}

/* The words some edits away. What cannot be better than the word as it stands, not even by what
 * stands before it, is not weighed. */
static void offer_near(struct candidate_maker *maker, const struct letters *typed,
                       unsigned distance, float error, enum spell_reason reason,
                       struct candidates *candidates)
{
    static const float cost_min[] = {0, 1.3F, 3.0F};
    const struct words *words = maker->model.words;
    float limit = total(&candidates->at[0]) + (maker->model.live_share > 0 ? COST_PAIR : 0);

    deletes_find(maker->deletes, typed, distance, &maker->near);
    for (size_t i = 0; i < maker->near.count; i++) {
        const struct near *near = &maker->near.near[i];
        const struct word *word = words_get(words, near->id);
        float cost = error + model_word(&maker->model, word);

        if (word_is_forgotten(word) || near->id == candidates->at[0].first ||
            cost + cost_min[near->distance] > limit)
            continue;
        offer_word(maker, near->id, error + mistake(typed, words_letters(words, word), word->size),
                   reason, candidates);
    }
}

/* "оччччень": three and more of a letter are one or two, held down. */
static bool release_held(const struct letters *typed, unsigned run_max, struct letters *out)
{
    unsigned run = 0;
    bool any = false;

    out->size = 0;
    for (unsigned i = 0; i < typed->size; i++) {
        run = i > 0 && typed->at[i] == typed->at[i - 1] ? run + 1 : 1;
        any = any || run > 2;
        if (run <= run_max)
            letters_add(out, typed->at[i]);
    }
    return any;
}

static void offer_held(struct candidate_maker *maker, const struct letters *typed, float error,
                       struct candidates *candidates)
{
    for (unsigned run_max = 1; run_max <= 2; run_max++) {
        struct letters released;

        if (release_held(typed, run_max, &released) && released.size > 0)
            offer_near(maker, &released, 1, error + COST_HELD, SPELL_TYPO, candidates);
    }
}

static void offer_layout(struct candidate_maker *maker, const struct letters *typed, float error,
                         struct candidates *candidates)
{
    struct letters swapped;
    wordid id;

    if (typed->size < LAYOUT_SIZE_MIN || !keyboard_swap(typed, &swapped))
        return;
    id = words_find_known(maker->model.words, swapped.at, swapped.size);
    if (id != WORDID_NONE)
        offer_word(maker, id, error + COST_LAYOUT, SPELL_LAYOUT, candidates);
    else if (swapped.size > SIZE_TWO_EDITS)
        offer_near(maker, &swapped, 1, error + COST_LAYOUT, SPELL_LAYOUT, candidates);
}

/* Russian in Latin letters is anybody's; a name in Cyrillic ones is what live data has in Latin. */
static void offer_script(struct candidate_maker *maker, const struct letters *typed, float error,
                         struct candidates *candidates)
{
    struct letters readings[TRANSLITERATION_COUNT_MAX];
    size_t count = typed->size < SIZE_MIN ? 0 : transliteration_read(typed, readings);
    bool found = false;

    for (size_t i = 0; i < count; i++) {
        wordid id = words_find_known(maker->model.words, readings[i].at, readings[i].size);

        if (id == WORDID_NONE)
            continue;
        found = true;
        offer_word(maker, id, error + COST_SCRIPT, SPELL_TRANSLITERATION, candidates);
    }
    for (size_t i = 0; i < count && i < SCRIPT_EDIT_READINGS && !found; i++) {
        if (readings[i].size > SIZE_TWO_EDITS)
            offer_near(maker, &readings[i], 1, error + COST_SCRIPT, SPELL_TRANSLITERATION,
                       candidates);
    }
}

/* A part of a word that had a blank: known, and the shorter the more common. */
static wordid part_of(const struct candidate_maker *maker, const uint8_t *letters, size_t size,
                      float *cost)
{
    const struct words *words = maker->model.words;
    wordid id = words_find_known(words, letters, size);
    const struct word *word = id == WORDID_NONE ? NULL : words_get(words, id);

    if (!word)
        return WORDID_NONE;
    *cost = model_word(&maker->model, word);
    if (*cost > (size <= 2 ? COST_SHORT : COST_PART) || (!word->is_right && *cost > COST_SHORT))
        return WORDID_NONE;
    return id;
}

/* The Russian particles не, бы, же, ли stand apart, which is what people get wrong most. */
static bool is_particle(const uint8_t *letters, size_t size, bool is_first)
{
    static const uint8_t particles[][2] = {
        {LETTER_CYRILLIC + 13, LETTER_CYRILLIC + 5}, /* не */
        {LETTER_CYRILLIC + 1, LETTER_CYRILLIC + 27}, /* бы */
        {LETTER_CYRILLIC + 6, LETTER_CYRILLIC + 5},  /* же */
        {LETTER_CYRILLIC + 11, LETTER_CYRILLIC + 8}, /* ли */
    };

    for (size_t i = is_first ? 0 : 1; i < (is_first ? 1 : ARRAY_COUNT(particles)); i++) {
        if (size == 2 && memcmp(letters, particles[i], 2) == 0)
            return true;
    }
    return false;
}

static float blank_cost(const struct letters *typed, size_t first_size)
{
    if (is_particle(typed->at, first_size, true) ||
        is_particle(typed->at + first_size, typed->size - first_size, false))
        return COST_BLANK - COST_PARTICLE;
    return COST_BLANK;
}

static void offer_split(const struct candidate_maker *maker, const struct letters *typed,
                        float error, struct candidates *candidates)
{
    for (uint8_t size = 1; size < typed->size; size++) {
        struct candidate candidate = {
            .error = error + blank_cost(typed, size), .reason = SPELL_SPLIT, .span = 1};

        candidate.first = part_of(maker, typed->at, size, &candidate.first_cost);
        if (candidate.first == WORDID_NONE)
            continue;
        candidate.last = part_of(maker, typed->at + size, typed->size - size, &candidate.last_cost);
        if (candidate.last == WORDID_NONE)
            continue;
        candidate.last_cost +=
            model_after(&maker->model, candidate.first, candidate.last, candidate.last_cost);
        candidate.letters.size = size;
        memcpy(candidate.letters.at, typed->at, size);
        offer(candidates, &candidate);
    }
}

static void keep(const struct letters *typed, const struct standing *standing,
                 struct candidates *candidates)
{
    candidates->count = 1;
    candidates->at[0] = (struct candidate){.first = standing->id,
                                           .last = standing->id,
                                           .letters = *typed,
                                           .first_cost = standing->cost,
                                           .reason = SPELL_KEPT,
                                           .span = 1};
}

static float change_cost(const struct standing *standing)
{
    return COST_CHANGE + (standing->is_right ? COST_RIGHT : 0) +
           (standing->is_live ? COST_LIVE : 0);
}

void candidates_make(struct candidate_maker *maker, const struct letters *typed, bool is_name,
                     struct candidates *candidates)
{
    struct standing standing = standing_of(maker, typed);
    float error = change_cost(&standing) + (is_name && !standing.is_right ? COST_NAME : 0);
    bool is_known = standing.is_right || standing.is_live;

    keep(typed, &standing, candidates);
    if (standing.is_right && standing.cost < COST_COMMON)
        return;
    if (typed->size >= LAYOUT_SIZE_MIN && !is_known)
        offer_layout(maker, typed, error, candidates);
    if (typed->size < SIZE_MIN)
        return;
    offer_near(maker, typed, !is_known && typed->size >= SIZE_TWO_EDITS ? 2 : 1, error, SPELL_TYPO,
               candidates);
    if (is_known && !maker->is_eager)
        return;
    offer_held(maker, typed, error, candidates);
    offer_script(maker, typed, error, candidates);
    offer_split(maker, typed, error, candidates);
}

bool candidates_read_layout(struct candidate_maker *maker, struct bytes text,
                            struct candidates *candidates)
{
    struct letters letters;
    wordid id;

    if (!keyboard_read(text, &letters) || letters.size < SIZE_MIN)
        return false;
    id = words_find_known(maker->model.words, letters.at, letters.size);
    if (id == WORDID_NONE || !words_get(maker->model.words, id)->is_right)
        return false;
    keep(&letters,
         &(struct standing){.id = WORDID_NONE, .cost = COST_SIGN * (float)(letters.size + 2)},
         candidates);
    offer_word(maker, id, COST_LAYOUT + COST_CHANGE, SPELL_LAYOUT, candidates);
    return true;
}

void candidates_join(struct candidate_maker *maker, const struct letters *first,
                     const struct letters *second, struct candidates *candidates)
{
    struct letters joined = *first;
    struct standing one = standing_of(maker, first), two = standing_of(maker, second);
    float error = COST_CHANGE + (one.is_right && two.is_right ? COST_RIGHT : 0);

    for (int is_hyphened = 0; is_hyphened < 2; is_hyphened++) {
        struct candidate candidate = {.reason = SPELL_JOIN, .span = 2};

        joined.size = first->size;
        if (first->size + second->size + is_hyphened > SPELL_WORD_SIZE_MAX)
            return;
        if (is_hyphened)
            letters_add(&joined, '-');
        for (unsigned i = 0; i < second->size; i++)
            letters_add(&joined, second->at[i]);
        candidate.first = candidate.last =
            words_find_known(maker->model.words, joined.at, joined.size);
        if (candidate.first == WORDID_NONE)
            continue;
        candidate.letters = joined;
        candidate.error = is_hyphened ? COST_HYPHEN_BLANK : error + COST_BLANK_TYPED;
        candidate.first_cost =
            model_word(&maker->model, words_get(maker->model.words, candidate.first));
        offer(candidates, &candidate);
    }
}
