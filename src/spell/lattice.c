/* SPDX-License-Identifier: Apache-2.0 */
/* lattice.c - see lattice.h. */
#include "spell/lattice.h"

#include <assert.h>

#define SAME_WAY                                                                                   \
    1.5F /* who typed one word with the wrong layout or script typed the next so too               \
          */

enum { BEGIN = UINT8_MAX };

/* The best path that ends with a candidate: its cost, and the candidate before. */
struct step {
    float cost;
    uint8_t token, candidate; /* BEGIN: there is none */
};

struct paths {
    struct step at[SPELL_WINDOW_COUNT_MAX][SPELL_CANDIDATE_COUNT_MAX];
};

static float own_cost(const struct candidate *candidate)
{
    return candidate->error + candidate->first_cost + candidate->last_cost;
}

static float step_cost(const struct lattice *lattice, const struct model *model, wordid before,
                       size_t token, const struct candidate *candidate)
{
    if (!lattice->is_near[token])
        before = WORDID_NONE;
    return own_cost(candidate) +
           model_after(model, before, candidate->first, candidate->first_cost);
}

static float same_way(const struct candidate *previous, const struct candidate *candidate)
{
    bool is_way = candidate->reason == SPELL_LAYOUT || candidate->reason == SPELL_TRANSLITERATION;

    return is_way && previous->reason == candidate->reason ? SAME_WAY : 0;
}

static void weigh(const struct lattice *lattice, const struct model *model, wordid before,
                  size_t token, size_t index, struct paths *paths)
{
    const struct candidate *candidate = &lattice->candidates[token].at[index];
    struct step *step = &paths->at[token][index];

    *step = (struct step){.cost = 1e9F, .token = BEGIN};
    if (token == 0)
        step->cost = step_cost(lattice, model, before, 0, candidate);
    for (size_t span = 1; span <= 2 && span <= token; span++) {
        const struct candidates *previous = &lattice->candidates[token - span];

        for (size_t i = 0; i < previous->count; i++) {
            float cost;

            if (previous->at[i].span != span)
                continue;
            cost = paths->at[token - span][i].cost - same_way(&previous->at[i], candidate) +
                   step_cost(lattice, model, previous->at[i].last, token, candidate);
            if (cost < step->cost)
                *step = (struct step){cost, (uint8_t)(token - span), (uint8_t)i};
        }
    }
}

/* How much worse the words as they stand are, after the same word. */
static float gain_of(const struct lattice *lattice, const struct model *model, wordid before,
                     size_t token, const struct candidate *chosen)
{
    const struct candidate *kept = &lattice->candidates[token].at[0];
    float cost = step_cost(lattice, model, before, token, kept);

    if (chosen->span == 2)
        cost +=
            step_cost(lattice, model, kept->last, token + 1, &lattice->candidates[token + 1].at[0]);
    return cost - step_cost(lattice, model, before, token, chosen);
}

static size_t backwards(const struct lattice *lattice, const struct paths *paths, struct step last,
                        struct choice choices[SPELL_WINDOW_COUNT_MAX])
{
    size_t count = 0;

    for (struct step step = last; step.token != BEGIN; step = paths->at[step.token][step.candidate])
        choices[count++] = (struct choice){
            .candidate = &lattice->candidates[step.token].at[step.candidate], .token = step.token};
    for (size_t i = 0; i < count / 2; i++) {
        struct choice other = choices[i];

        choices[i] = choices[count - 1 - i];
        choices[count - 1 - i] = other;
    }
    return count;
}

size_t lattice_choose(const struct lattice *lattice, const struct model *model, wordid before,
                      struct choice choices[SPELL_WINDOW_COUNT_MAX])
{
    struct paths paths;
    struct step last = {.cost = 1e9F, .token = BEGIN};
    size_t count;

    assert(lattice->count <= SPELL_WINDOW_COUNT_MAX);
    for (size_t token = 0; token < lattice->count; token++) {
        for (size_t i = 0; i < lattice->candidates[token].count; i++) {
            weigh(lattice, model, before, token, i, &paths);
            if (token + lattice->candidates[token].at[i].span == lattice->count &&
                paths.at[token][i].cost < last.cost)
                last = (struct step){paths.at[token][i].cost, (uint8_t)token, (uint8_t)i};
        }
    }
    count = backwards(lattice, &paths, last, choices);
    for (size_t i = 0; i < count; i++) {
        wordid previous = i ? choices[i - 1].candidate->last : before;

        choices[i].gain = gain_of(lattice, model, previous, choices[i].token, choices[i].candidate);
    }
    return count;
}
