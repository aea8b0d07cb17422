/* SPDX-License-Identifier: Apache-2.0 */
/* analysis.c - see analysis.h. pieces.c cuts the text, the rules make tokens of the pieces. */
#include "index/text/analysis.h"

#include <assert.h>
#include <libstemmer.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/object.h"
#include "index/bounds.h"
#include "index/text/analysis_rules.h"

enum { ANALYSIS_MAGIC = OBJECT_MAGIC('a', 'n', 'a', 'l') };

struct analysis {
    uint32_t magic;
    struct rules rules;
    struct sb_stemmer *russian, *english; /* owned */
};

struct analysis *analysis_new(void)
{
    struct analysis *analysis = mem_zero(sizeof(*analysis));

    object_begin(analysis, ANALYSIS_MAGIC);
    analysis->russian = sb_stemmer_new("russian", "UTF_8");
    analysis->english = sb_stemmer_new("english", "UTF_8");
    assert(analysis->russian && analysis->english);
    analysis->rules.version = ANALYSIS_VERSION;
    return analysis;
}

void analysis_free(struct analysis *analysis)
{
    if (!analysis)
        return;
    object_check(analysis, ANALYSIS_MAGIC);
    sb_stemmer_delete(analysis->russian);
    sb_stemmer_delete(analysis->english);
    pieces_release(&analysis->rules.pieces);
    free(analysis->rules.tokens);
    free(analysis->rules.forms);
    object_end(analysis, ANALYSIS_MAGIC);
    free(analysis);
}

void analysis_use(struct analysis *analysis, unsigned version)
{
    object_check(analysis, ANALYSIS_MAGIC);
    assert(version >= ANALYSIS_VERSION_OLDEST && version <= ANALYSIS_VERSION);
    analysis->rules.version = version;
}

void rules_grow(struct rules *rules)
{
    rules->capacity = rules->capacity ? 2 * rules->capacity : 256;
    rules->tokens = mem_resize(rules->tokens, rules->capacity * sizeof(*rules->tokens));
    rules->forms = mem_resize(rules->forms, rules->capacity * sizeof(*rules->forms));
}

size_t rules_put(struct rules *rules, struct bytes form)
{
    struct pieces *pieces = &rules->pieces;
    size_t place = pieces->form_size;

    assert(form.size <= TOKEN_SIZE_MAX);
    pieces_reserve(pieces, form.size);
    memcpy(pieces->forms + place, form.data, form.size);
    pieces->form_size += form.size;
    return place;
}

enum joint rules_joint(const struct piece *piece)
{
    switch (piece->gap) {
    case GAP_TIGHT:
        return JOINT_TIGHT;
    case GAP_BLANK:
    case GAP_THIN:
    case GAP_DOT_BLANK:
    case GAP_MANY:
        return JOINT_NONE;
    default:
        return JOINT_SIGN;
    }
}

static size_t add_ideograph(struct rules *rules, size_t at)
{
    const struct piece *piece = &rules->pieces.list[at];

    rules_add(rules, piece->form, piece->size, piece->start, piece->end,
              (struct mark){TOKEN_WORD, SCRIPT_OTHER, rules_joint(piece), 1});
    rules->position++;
    return at + 1;
}

struct token_list analysis_run(struct analysis *analysis, struct bytes text)
{
    struct rules *rules = &analysis->rules;
    size_t at = 0;
    size_t i;

    object_check(analysis, ANALYSIS_MAGIC);
    rules->text = text;
    rules->count = 0;
    rules->position = 0;
    rules->by = SIZE_MAX;
    pieces_scan(&rules->pieces, text);
    rules->truncated = rules->pieces.truncated;
    while (at < rules->pieces.count && rules->count < TOKEN_COUNT_MAX) {
        if (at == rules->by) {
            at++;
            continue;
        }
        switch ((enum piece_kind)rules->pieces.list[at].kind) {
        case PIECE_LETTERS:
            at = rules_word(rules, at);
            break;
        case PIECE_DIGITS:
            at = rules_number(rules, at);
            break;
        case PIECE_IDEOGRAPH:
            at = add_ideograph(rules, at);
            break;
        }
    }
    /* Forms have stopped moving. */
    for (i = 0; i < rules->count; i++)
        rules->tokens[i].form.data = rules->pieces.forms + rules->forms[i];
    return (struct token_list){
        .tokens = rules->tokens,
        .count = rules->count,
        .position_count = rules->position,
        .truncated = rules->truncated || at < rules->pieces.count,
    };
}

struct bytes analysis_stem(struct analysis *analysis, struct bytes form, enum script script)
{
    struct sb_stemmer *stemmer = script == SCRIPT_CYRILLIC ? analysis->russian
                                 : script == SCRIPT_LATIN  ? analysis->english
                                                           : NULL;
    const sb_symbol *stem;

    object_check(analysis, ANALYSIS_MAGIC);
    if (!stemmer || form.size > TOKEN_SIZE_MAX)
        return form;
    stem = sb_stemmer_stem(stemmer, form.data, (int)form.size);
    assert(stem);
    if (sb_stemmer_length(stemmer) == 0)
        return form;
    return bytes_make(stem, (size_t)sb_stemmer_length(stemmer));
}
