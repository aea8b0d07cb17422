/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pattern_run.c - runs a pattern's program over a text, all states of its NFA side by side
 * (pattern.h).
 *
 * Between two characters there is a set of states, each in it once: a sparse set, emptied in no
 * time. A character leads to the next set. A match may begin anywhere, so state 0 joins each set.
 */
#include <assert.h>

#include "schema/categories.h"
#include "schema/pattern_parts.h"

enum { CATEGORY_STEPS = 12 }; /* of a search in some 4 000 rows */

struct state_set {
    uint32_t *dense;
    uint32_t *sparse;
    uint32_t count;
};

struct run {
    const struct pattern *pattern;
    struct state_set now;
    struct state_set next;
    uint32_t *stack;
    bool is_begin, is_end; /* of the text, here */
    bool is_word_before, is_word_behind;
    bool has_matched;
    uint64_t steps;
};

static bool set_add(struct state_set *set, uint32_t state)
{
    uint32_t place = set->sparse[state];

    if (place < set->count && set->dense[place] == state)
        return false;
    set->dense[set->count] = state;
    set->sparse[state] = set->count++;
    return true;
}

static bool holds(const struct run *run, enum pattern_kind check)
{
    switch (check) {
    case PATTERN_BEGIN:
        return run->is_begin;
    case PATTERN_END:
        return run->is_end;
    case PATTERN_WORD:
        return run->is_word_before != run->is_word_behind;
    default:
        return run->is_word_before == run->is_word_behind;
    }
}

/* Adds a state and all that it leads to without a character. */
static void follow(struct run *run, struct state_set *set, uint32_t state)
{
    uint32_t depth = 0;

    run->stack[depth++] = state;
    while (depth) {
        const struct pattern_step *step;

        state = run->stack[--depth];
        run->steps++;
        if (!set_add(set, state))
            continue;
        step = &run->pattern->steps[state];
        assert(depth + 2 <= 2 * run->pattern->count + 2);
        switch (step->op) {
        case OP_SPLIT:
            run->stack[depth++] = step->other;
            run->stack[depth++] = step->to;
            break;
        case OP_JUMP:
            run->stack[depth++] = step->to;
            break;
        case OP_CHECK:
            if (holds(run, step->check))
                run->stack[depth++] = state + 1;
            break;
        case OP_MATCH:
            run->has_matched = true;
            break;
        case OP_CLASS:
            break;
        }
    }
}

static bool class_has(const struct char_class *chars, uint32_t c, uint64_t *steps)
{
    size_t i;

    for (i = 0; i < chars->count; i++) {
        if (c >= chars->ranges[i].first && c <= chars->ranges[i].last)
            break;
    }
    *steps += i;
    if (i < chars->count || !chars->categories)
        return (i < chars->count) != chars->is_negated;
    *steps += CATEGORY_STEPS;
    return ((categories_of(c) & chars->categories) != 0) != chars->is_negated;
}

static bool is_word(uint32_t c)
{
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_';
}

static struct state_set set_new(struct arena *arena, size_t count)
{
    return (struct state_set){.dense = arena_array(arena, count, sizeof(uint32_t)),
                              .sparse = arena_array(arena, count, sizeof(uint32_t))};
}

/* What is true between the character before and the rest. */
static void look_around(struct run *run, struct bytes rest)
{
    size_t size;

    run->is_end = rest.size == 0;
    run->is_word_behind = rest.size && is_word(pattern_char(rest, &size));
}

/* Over one character: states that take it lead on. */
static void advance(struct run *run, struct bytes *rest)
{
    struct state_set old = run->now;
    size_t size;
    uint32_t c = pattern_char(*rest, &size);
    uint32_t i;

    *rest = bytes_skip(*rest, size);
    run->is_begin = false;
    run->is_word_before = is_word(c);
    look_around(run, *rest);
    run->next.count = 0;
    for (i = 0; i < old.count; i++) {
        const struct pattern_step *step = &run->pattern->steps[old.dense[i]];

        if (step->op == OP_CLASS && class_has(step->chars, c, &run->steps))
            follow(run, &run->next, old.dense[i] + 1);
    }
    run->now = run->next;
    run->next = old;
}

int pattern_matches(const struct pattern *pattern, struct bytes text, struct arena *scratch,
                    uint64_t *steps, bool *matches, struct err *err)
{
    struct arena_mark mark = arena_mark(scratch);
    struct run run = {.pattern = pattern, .is_begin = true};
    int rc = 0;

    run.now = set_new(scratch, pattern->count);
    run.next = set_new(scratch, pattern->count);
    run.stack = arena_array(scratch, 2 * pattern->count + 2, sizeof(*run.stack));
    look_around(&run, text);
    follow(&run, &run.now, 0);
    while (!run.has_matched && text.size && run.steps <= *steps) {
        advance(&run, &text);
        if (!run.has_matched)
            follow(&run, &run.now, 0);
    }
    *matches = run.has_matched;
    if (run.steps > *steps)
        rc = err_set(err, ERR_LIMIT, "the schema's patterns take too long for this text");
    *steps -= run.steps > *steps ? *steps : run.steps;
    arena_rewind(scratch, mark);
    return rc;
}
