/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pattern.c - compiles the tree of a pattern into a program (pattern.h).
 *
 * The walk is as deep as the pattern is long, at worst; a repetition is written as often as it
 * says.
 */
#include "schema/pattern.h"

#include <string.h>

#include "schema/bounds.h"
#include "schema/pattern_parts.h"

struct program {
    struct pattern_step steps[PATTERN_SIZE_MAX];
    uint32_t count;
    bool is_full;
};

static uint32_t emit(struct program *program, enum pattern_op op)
{
    if (program->count == PATTERN_SIZE_MAX) {
        program->is_full = true;
        return PATTERN_SIZE_MAX - 1;
    }
    program->steps[program->count] = (struct pattern_step){.op = op};
    return program->count++;
}

static void emit_node(struct program *program, const struct pattern_node *node);

/* split(body, out) body jump(split): also of a body that matches nothing, as a state is followed
 * once a character. */
static void emit_star(struct program *program, const struct pattern_node *node)
{
    uint32_t split = emit(program, OP_SPLIT), jump;

    program->steps[split].to = program->count;
    emit_node(program, node);
    jump = emit(program, OP_JUMP);
    program->steps[jump].to = split;
    program->steps[split].other = program->count;
}

static void emit_repeat(struct program *program, const struct pattern_node *node)
{
    uint32_t first_split = 0;
    int i;

    for (i = 0; i < node->min && !program->is_full; i++)
        emit_node(program, node->left);
    if (node->max == PATTERN_FOR_EVER) {
        emit_star(program, node->left);
        return;
    }
    /* (x(x(x)?)?)?: each may go on to the end; `other` chains the splits until that is known. */
    for (; i < node->max && !program->is_full; i++) {
        uint32_t split = emit(program, OP_SPLIT);

        program->steps[split].to = program->count;
        program->steps[split].other = first_split;
        first_split = split + 1;
        emit_node(program, node->left);
    }
    while (first_split && !program->is_full) {
        struct pattern_step *step = &program->steps[first_split - 1];

        first_split = step->other;
        step->other = program->count;
    }
}

static void emit_or(struct program *program, const struct pattern_node *node)
{
    uint32_t split = emit(program, OP_SPLIT), jump;

    program->steps[split].to = program->count;
    emit_node(program, node->left);
    jump = emit(program, OP_JUMP);
    program->steps[split].other = program->count;
    emit_node(program, node->right);
    program->steps[jump].to = program->count;
}

static void emit_node(struct program *program, const struct pattern_node *node)
{
    uint32_t at;

    if (program->is_full)
        return;
    switch (node->kind) {
    case PATTERN_EMPTY:
        break;
    case PATTERN_CLASS:
        at = emit(program, OP_CLASS);
        program->steps[at].chars = node->chars;
        break;
    case PATTERN_THEN:
        emit_node(program, node->left);
        emit_node(program, node->right);
        break;
    case PATTERN_OR:
        emit_or(program, node);
        break;
    case PATTERN_REPEAT:
        emit_repeat(program, node);
        break;
    case PATTERN_BEGIN:
    case PATTERN_END:
    case PATTERN_WORD:
    case PATTERN_INSIDE:
        at = emit(program, OP_CHECK);
        program->steps[at].check = node->kind;
        break;
    }
}

int pattern_compile(struct bytes text, struct arena *arena, const struct pattern **result,
                    struct err *err)
{
    const struct pattern_node *root;
    struct arena *scratch = arena_new();
    struct program *program = arena_zero(scratch, sizeof(*program));
    struct pattern *pattern;
    int rc = pattern_parse(text, arena, &root, err);

    *result = NULL;
    if (!rc) {
        emit_node(program, root);
        (void)emit(program, OP_MATCH);
        if (program->is_full)
            rc = err_set(err, ERR_LIMIT, "the pattern needs more than %d states (PATTERN_SIZE_MAX)",
                         PATTERN_SIZE_MAX);
    }
    if (!rc) {
        pattern = arena_zero(arena, sizeof(*pattern));
        pattern->count = program->count;
        pattern->steps = arena_array(arena, program->count, sizeof(*pattern->steps));
        memcpy(pattern->steps, program->steps, program->count * sizeof(*pattern->steps));
        *result = pattern;
    }
    arena_free(scratch);
    return rc;
}
