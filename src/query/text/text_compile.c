/* SPDX-License-Identifier: Apache-2.0 */
/*
 * text_compile.c - turns the clauses of a query into leaves and slots; see text_parts.h.
 *
 * The rules are those of query.h. Tokens are taken in runs that are tied to each other; inside of
 * a run a quantity stands for its parts.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/object.h"
#include "index/bounds.h"
#include "query/bounds.h"
#include "query/text/text_parts.h"

struct compiler {
    struct text_plan *plan;
    struct analysis *analysis;
    const struct lexicon *lexicon;
    const struct text_clause *clause;
    uint32_t clause_index;
    uint32_t leaf_capacity, slot_capacity;
    const struct token *tokens; /* of the clause */
    size_t token_count;
    bool has_text;
    float number_boost; /* of numbers that are not all needed */
    bool tied_parts;    /* of words that are not all needed */
    float boost;        /* of the words at hand, beside the clause's */
};

static int too_many(const struct compiler *compiler, struct err *err)
{
    (void)compiler;
    return err_set(err, ERR_LIMIT,
                   "text: more than %d words, those that prefixes and misspelt words may mean "
                   "included; ask for fewer or longer ones",
                   QUERY_TEXT_WORD_COUNT_MAX);
}

static int add_leaf(struct compiler *compiler, enum leaf_kind kind, struct err *err)
{
    struct text_plan *plan = compiler->plan;
    const struct text_clause *clause = compiler->clause;
    uint8_t fields = clause->fields & ALL_FIELDS;

    if (plan->leaf_count == QUERY_TEXT_CLAUSE_COUNT_MAX)
        return err_set(err, ERR_LIMIT, "text: more than %d words; ask for fewer",
                       QUERY_TEXT_CLAUSE_COUNT_MAX);
    if (plan->leaf_count == compiler->leaf_capacity) {
        struct text_leaf *grown;

        compiler->leaf_capacity = compiler->leaf_capacity ? 2 * compiler->leaf_capacity : 8;
        grown = arena_array(plan->arena, compiler->leaf_capacity, sizeof(*grown));
        if (plan->leaf_count)
            memcpy(grown, plan->leaves, plan->leaf_count * sizeof(*grown));
        plan->leaves = grown;
    }
    plan->leaves[plan->leaf_count++] = (struct text_leaf){
        .occur = clause->occur,
        .kind = (uint8_t)kind,
        .fields = fields ? fields : ALL_FIELDS,
        .exact = kind == LEAF_WORD || kind == LEAF_ANY,
        .first = plan->slot_count,
        .clause = compiler->clause_index,
    };
    return 0;
}

/* To the leaf added last. */
static int add_slot(struct compiler *compiler, struct lexicon_entry entry, bool known,
                    uint32_t position, float penalty, struct err *err)
{
    struct text_plan *plan = compiler->plan;
    struct text_leaf *leaf = &plan->leaves[plan->leaf_count - 1];
    bool is_exact = compiler->clause->kind == CLAUSE_EXACT;
    float boost = compiler->clause->boost;

    if (plan->slot_count == QUERY_TEXT_WORD_COUNT_MAX)
        return too_many(compiler, err);
    if (plan->slot_count == compiler->slot_capacity) {
        struct text_slot *grown;

        compiler->slot_capacity = compiler->slot_capacity ? 2 * compiler->slot_capacity : 16;
        grown = arena_array(plan->arena, compiler->slot_capacity, sizeof(*grown));
        if (plan->slot_count)
            memcpy(grown, plan->slots, plan->slot_count * sizeof(*grown));
        plan->slots = grown;
    }
    if (is_exact && entry.form == FORM_NONE)
        known = false;
    plan->slots[plan->slot_count++] = (struct text_slot){
        .term = known ? entry.term : TERMID_NONE,
        .form = is_exact ? entry.form : FORM_ANY,
        .position = position,
        .factor = (boost > 0 ? boost : 1) * compiler->boost * penalty,
        .clause = compiler->clause_index,
    };
    leaf->count++;
    leaf->exact = leaf->exact && !is_exact;
    return 0;
}

static int add_token(struct compiler *compiler, const struct token *token, uint32_t position,
                     struct err *err)
{
    struct lexicon_entry entry = {TERMID_NONE, FORM_NONE};
    bool known = compiler->clause->kind == CLAUSE_EXACT
                     ? lexicon_find(compiler->lexicon, token->form, &entry)
                     : lexicon_resolve(compiler->lexicon, compiler->analysis, token->form,
                                       (enum script)token->script, &entry);

    return add_slot(compiler, entry, known, position, 1, err);
}

/* Of a word of this size the parts count for themselves (query.h): so many letters say something
 * alone. */
enum { PART_SIZE_MIN = 3 };
static const float part_boost = 0.7F, short_part_boost = 0.2F;

static bool is_long_part(const struct token *token)
{
    return token->kind == TOKEN_WORD && token->form.size >= PART_SIZE_MIN;
}

/* Whether the token has no slot in the run [from, to): it is beside its parts, or one of those that
 * a quantity stands for. */
static bool is_passed_by(const struct compiler *compiler, size_t at, size_t to, uint32_t passed)
{
    const struct token *token = &compiler->tokens[at];

    return token->kind == TOKEN_HYPHENED || token->position < passed ||
           (at + 1 < to && token[1].kind == TOKEN_QUANTITY && token[1].position == token->position);
}

/* The parts of tokens from..to - 1 in their order; a quantity in place of its parts. */
static int add_parts(struct compiler *compiler, size_t from, size_t to, struct err *err)
{
    uint32_t first = compiler->tokens[from].position, passed = first;
    size_t i;
    int rc = 0;

    for (i = from; i < to && !rc; i++) {
        const struct token *token = &compiler->tokens[i];

        if (is_passed_by(compiler, i, to, passed))
            continue;
        rc = add_token(compiler, token, token->position - first, err);
        passed = token->position + token->span;
    }
    return rc;
}

/* How many slots add_parts would make; whether all are of numbers, and none of a model. */
static uint32_t count_parts(const struct compiler *compiler, size_t from, size_t to,
                            bool *are_numbers)
{
    enum { MODEL_SIZE_MIN = 4 };
    uint32_t passed = compiler->tokens[from].position, count = 0;
    size_t i;

    *are_numbers = true;
    for (i = from; i < to; i++) {
        const struct token *token = &compiler->tokens[i];
        struct bytes form = token->form;

        if (is_passed_by(compiler, i, to, passed))
            continue;
        count++;
        *are_numbers =
            *are_numbers && (token->kind == TOKEN_QUANTITY ||
                             (token->kind == TOKEN_NUMBER &&
                              (form.size < MODEL_SIZE_MIN || memchr(form.data, '.', form.size))));
        passed = token->position + token->span;
    }
    return count;
}

/* The parts of tokens from..to - 1, a leaf each, beside theirs: the long ones may be found without
 * the others. Whoever has all has them, too. whole: what stands for two; NULL: nothing does. */
static int add_each_part(struct compiler *compiler, size_t from, size_t to,
                         const struct token *whole, struct err *err)
{
    uint32_t passed = compiler->tokens[from].position;
    size_t i;
    int rc = 0;

    for (i = from; i < to && !rc; i++) {
        const struct token *token = &compiler->tokens[i];
        bool is_long = is_long_part(token);

        if (is_passed_by(compiler, i, to, passed))
            continue;
        passed = token->position + token->span;
        compiler->boost = is_long ? part_boost : short_part_boost;
        rc = add_leaf(compiler, whole ? LEAF_ANY : LEAF_WORD, err);
        if (!rc && !is_long)
            compiler->plan->leaves[compiler->plan->leaf_count - 1].occur = OCCUR_BONUS;
        if (!rc)
            rc = add_token(compiler, token, 0, err);
        if (!rc && whole)
            rc = add_token(compiler, whole, 0, err);
    }
    compiler->boost = 1;
    return rc;
}

/* Words that are tied, or all of a phrase: a word, a phrase, or a whole beside its phrase. */
static int add_run(struct compiler *compiler, size_t from, size_t to, struct err *err)
{
    const struct token *whole = NULL;
    bool are_numbers, is_apart;
    uint32_t parts = count_parts(compiler, from, to, &are_numbers);
    bool is_some = compiler->clause->kind == CLAUSE_WORD && compiler->clause->occur == OCCUR_SHOULD;
    int rc;

    if (compiler->clause->kind == CLAUSE_WORD && to - from == 3 &&
        compiler->tokens[from + 1].kind == TOKEN_HYPHENED)
        whole = &compiler->tokens[from + 1];
    is_apart = is_some && compiler->tied_parts && parts > 1 && !are_numbers;
    compiler->boost = is_some && are_numbers ? compiler->number_boost
                      : is_apart             ? 1 - part_boost
                                             : 1;
    rc = add_leaf(compiler, whole ? LEAF_TIED : parts == 1 ? LEAF_WORD : LEAF_PHRASE, err);
    if (!rc && whole)
        rc = add_token(compiler, whole, 0, err);
    if (!rc)
        rc = add_parts(compiler, from, to, err);
    compiler->boost = 1;
    return rc || !is_apart ? rc : add_each_part(compiler, from, to, whole, err);
}

/* Whether the token belongs to the run from `from` on that ends before it: parts of wholes always
 * ("61 кв. м" is one of three words), others by their joint. A comma or a semicolon ties nothing.
 */
static bool is_tied(const struct compiler *compiler, size_t from, size_t at)
{
    const struct token *token = &compiler->tokens[at];
    const uint8_t *text = compiler->clause->text.data;

    for (size_t i = from; i < at; i++) {
        if (token->position < compiler->tokens[i].position + compiler->tokens[i].span)
            return true;
    }
    if (token->joint == JOINT_SIGN && token->start > 0)
        return text[token->start - 1] != ',' && text[token->start - 1] != ';';
    return token->joint == JOINT_TIGHT;
}

/* ---- words that others write as one, or as two ---- */

int text_count_docs(const struct snapshot *snapshot, termid term, uint64_t *sum, struct err *err)
{
    struct buffer_cursor cursor;
    uint32_t count, i;
    int rc = 0;

    *sum = 0;
    for (i = 0; i < snapshot->segment_count && !rc; i++) {
        rc = postings_count(snapshot->segments[i].segment, term, &count, err);
        *sum += rc ? 0 : count;
    }
    for (i = 0; i < snapshot->buffer_count && !rc; i++) {
        buffer_cursor_init(&cursor, snapshot->buffers[i].buffer, snapshot->buffers[i].mark, term);
        while (buffer_cursor_next(&cursor))
            ++*sum;
    }
    return rc;
}

enum { HALF_SIZE_MIN = 3, JOINED_SIZE_MIN = 6 };

/* Whether the token is one plain word, and nothing but a blank is between it and the next one. */
static bool is_followed(const struct compiler *compiler, size_t at)
{
    const struct token *token = &compiler->tokens[at], *next = token + 1;

    return at + 1 < compiler->token_count && token->kind == TOKEN_WORD &&
           next->kind == TOKEN_WORD && next->position == token->position + 1 &&
           next->joint == JOINT_NONE && next->script == token->script &&
           next->start == token->start + token->size + 1 &&
           compiler->clause->text.data[next->start - 1] == ' ';
}

/* The term of both words as one, "flood light": floodlight. False: no document has it. */
static bool find_joined(const struct compiler *compiler, size_t at, struct lexicon_entry *entry)
{
    const struct token *token = &compiler->tokens[at];
    uint8_t form[TOKEN_SIZE_MAX];
    size_t size;

    if (!is_followed(compiler, at))
        return false;
    size = token[0].form.size + token[1].form.size;
    if (size > sizeof(form) || size < JOINED_SIZE_MIN)
        return false;
    memcpy(form, token[0].form.data, token[0].form.size);
    memcpy(form + token[0].form.size, token[1].form.data, token[1].form.size);
    /* "mower red" is no form of "mower", as a stemmer would have it */
    return lexicon_resolve(compiler->lexicon, compiler->analysis, bytes_make(form, size),
                           (enum script)token->script, entry) &&
           lexicon_term(compiler->lexicon, entry->term).size >
               token[0].form.size + token[1].form.size / 2;
}

/* The halves of a word that nobody has, "stepladder": step, ladder; those that most have. */
static int find_halves(const struct compiler *compiler, const struct token *token,
                       struct lexicon_entry halves[2], bool *found, struct err *err)
{
    struct bytes form = token->form;
    uint64_t best = 0;
    int rc = 0;

    *found = false;
    for (size_t cut = HALF_SIZE_MIN; cut + HALF_SIZE_MIN <= form.size && !rc; cut++) {
        struct lexicon_entry one, two;
        uint64_t first = 0, second = 0;

        if ((form.data[cut] & 0xC0) == 0x80 ||
            !lexicon_resolve(compiler->lexicon, compiler->analysis, bytes_make(form.data, cut),
                             (enum script)token->script, &one) ||
            !lexicon_resolve(compiler->lexicon, compiler->analysis, bytes_skip(form, cut),
                             (enum script)token->script, &two))
            continue;
        rc = text_count_docs(compiler->plan->snapshot, one.term, &first, err);
        if (!rc)
            rc = text_count_docs(compiler->plan->snapshot, two.term, &second, err);
        first = first < second ? first : second;
        if (rc || first <= best)
            continue;
        best = first;
        *found = true;
        halves[0] = one;
        halves[1] = two;
    }
    return rc;
}

/* A word by itself: as it is, as one with its neighbour, or as two. */
static int add_plain(struct compiler *compiler, size_t at, struct err *err)
{
    const struct token *token = &compiler->tokens[at];
    struct lexicon_entry self, joined[2], halves[2];
    bool known = lexicon_resolve(compiler->lexicon, compiler->analysis, token->form,
                                 (enum script)token->script, &self);
    bool before = at > 0 && find_joined(compiler, at - 1, &joined[0]);
    bool behind = find_joined(compiler, at, &joined[1]);
    bool is_two = false;
    int rc = 0;

    if (!known && !before && !behind && token->form.size >= JOINED_SIZE_MIN)
        rc = find_halves(compiler, token, halves, &is_two, err);
    if (!rc)
        rc = add_leaf(compiler,
                      before || behind ? LEAF_ANY
                      : is_two         ? LEAF_PHRASE
                                       : LEAF_WORD,
                      err);
    for (uint32_t i = 0; i < 2 && is_two && !rc; i++)
        rc = add_slot(compiler, halves[i], true, i, 1, err);
    if (!rc && !is_two && (known || !(before || behind)))
        rc = add_slot(compiler, self, known, 0, 1, err);
    if (!rc && before)
        rc = add_slot(compiler, joined[0], true, 0, 1, err);
    return rc || !behind ? rc : add_slot(compiler, joined[1], true, 0, 1, err);
}

/* The whole of two sizes that begins with this token; 0: none does. */
static size_t find_sizes(const struct compiler *compiler, size_t from)
{
    const struct token *tokens = compiler->tokens;
    size_t last = from;

    while (last + 1 < compiler->token_count && token_is_whole(&tokens[last + 1]) &&
           tokens[last + 1].position == tokens[from].position)
        last++;
    return last > from && tokens[last].kind == TOKEN_QUANTITY &&
                   memchr(tokens[last].form.data, 'x', tokens[last].form.size)
               ? last
               : 0;
}

/* Sizes stand for themselves; what follows them is another word, however close: "60x90x2". */
static int add_sizes(struct compiler *compiler, size_t whole, size_t *end, struct err *err)
{
    const struct token *token = &compiler->tokens[whole];
    int rc = add_leaf(compiler, LEAF_WORD, err);

    compiler->boost = compiler->clause->occur == OCCUR_SHOULD ? compiler->number_boost : 1;
    if (!rc)
        rc = add_token(compiler, token, 0, err);
    compiler->boost = 1;
    *end = whole + 1;
    while (*end < compiler->token_count &&
           compiler->tokens[*end].position < token->position + token->span)
        ++*end;
    return rc;
}

static int add_words(struct compiler *compiler, struct err *err)
{
    size_t from = 0, to;
    int rc = 0;

    while (from < compiler->token_count && !rc) {
        size_t sizes = find_sizes(compiler, from);

        if (sizes) {
            rc = add_sizes(compiler, sizes, &from, err);
            continue;
        }
        to = from + 1;
        while (to < compiler->token_count && is_tied(compiler, from, to))
            to++;
        rc = to == from + 1 && compiler->tokens[from].kind == TOKEN_WORD
                 ? add_plain(compiler, from, err)
                 : add_run(compiler, from, to, err);
        from = to;
    }
    return rc;
}

static float penalty_of(unsigned distance)
{
    return distance == 0 ? 1 : distance == 1 ? 0.7F : 0.5F;
}

/* ---- words that begin so ---- */

struct frequent {
    struct lexicon_hit hit;
    uint64_t doc_count;
};

static int compare_frequent(const void *a, const void *b)
{
    const struct frequent *left = a, *right = b;

    if (left->doc_count != right->doc_count)
        return left->doc_count > right->doc_count ? -1 : 1;
    return (left->hit.term > right->hit.term) - (left->hit.term < right->hit.term);
}

/* Leaves the max terms that most documents have. */
static int keep_frequent(const struct compiler *compiler, struct lexicon_hit *hits, size_t *count,
                         size_t max, struct err *err)
{
    struct frequent *list;
    size_t i;
    int rc = 0;

    if (*count <= max)
        return 0;
    list = arena_array(compiler->plan->arena, *count, sizeof(*list));
    for (i = 0; i < *count && !rc; i++) {
        list[i].hit = hits[i];
        rc = text_count_docs(compiler->plan->snapshot, hits[i].term, &list[i].doc_count, err);
    }
    if (rc)
        return rc;
    qsort(list, *count, sizeof(*list), compare_frequent);
    for (i = 0; i < max; i++)
        hits[i] = list[i].hit;
    *count = max;
    return 0;
}

struct text_known {
    struct text_known *next;
    struct bytes beginning;
    uint32_t word_max;
    size_t count;
    struct lexicon_hit *hits;
};

/* The most frequent terms that begin so, at most word_max; found once for all stages of a query. */
static int find_frequent(const struct compiler *compiler, struct bytes beginning,
                         struct lexicon_hit **hits, size_t *count, struct err *err)
{
    struct text_shared *shared = compiler->plan->purpose.shared;
    struct text_known *found = shared ? shared->known : NULL;
    uint32_t max = compiler->clause->word_max;
    int rc;

    for (; found; found = found->next) {
        if (found->word_max == max && bytes_equal(found->beginning, beginning)) {
            *hits = found->hits;
            *count = found->count;
            return 0;
        }
    }
    *hits = arena_array(compiler->plan->arena, LEXICON_EXPAND_COUNT_MAX, sizeof(**hits));
    lexicon_prefix_some(compiler->lexicon, beginning,
                        max < LEXICON_EXPAND_COUNT_MAX / 4 ? 2 * (size_t)max
                                                           : LEXICON_EXPAND_COUNT_MAX / 2,
                        *hits, LEXICON_EXPAND_COUNT_MAX, count);
    rc = keep_frequent(compiler, *hits, count, max, err);
    if (rc || !shared)
        return rc;
    found = arena_alloc(compiler->plan->arena, sizeof(*found));
    *found = (struct text_known){shared->known, beginning, max, *count, *hits};
    shared->known = found;
    return 0;
}

/* All terms that the token may mean. */
static int add_expansion(struct compiler *compiler, const struct token *token, struct err *err)
{
    bool is_prefix = compiler->clause->kind == CLAUSE_PREFIX;
    struct lexicon_hit *hits = NULL;
    size_t count = 0, i;
    int rc = add_leaf(compiler, LEAF_ANY, err);

    if (rc)
        return rc;
    if (!is_prefix || !compiler->clause->word_max)
        hits = arena_array(compiler->plan->arena, LEXICON_EXPAND_COUNT_MAX, sizeof(*hits));
    if (!hits) {
        rc = find_frequent(compiler, token->form, &hits, &count, err);
    } else if (is_prefix) {
        rc = lexicon_prefix(compiler->lexicon, token->form, hits, LEXICON_EXPAND_COUNT_MAX, &count,
                            err);
    } else {
        rc = lexicon_fuzzy(compiler->lexicon, token->form, lexicon_fuzzy_distance(token->form), 1,
                           hits, LEXICON_EXPAND_COUNT_MAX, &count, err);
    }
    for (i = 0; i < count && !rc; i++)
        rc = add_slot(compiler, (struct lexicon_entry){hits[i].term, FORM_NONE}, true, 0,
                      penalty_of(hits[i].distance), err);
    return rc;
}

/* The last word is the prefix, those before it are words; of misspelt ones each is. Wholes and
 * numbers have no misspellings. */
static int add_expanded(struct compiler *compiler, struct err *err)
{
    size_t last = compiler->token_count, i;
    int rc = 0;

    for (i = 0; i < compiler->token_count; i++) {
        if (!token_is_whole(&compiler->tokens[i]))
            last = i;
    }
    for (i = 0; i < compiler->token_count && !rc; i++) {
        const struct token *token = &compiler->tokens[i];
        bool expanded =
            compiler->clause->kind == CLAUSE_PREFIX ? i == last : token->kind == TOKEN_WORD;

        if (token_is_whole(token))
            continue;
        if (expanded) {
            rc = add_expansion(compiler, token, err);
        } else {
            rc = add_leaf(compiler, LEAF_WORD, err);
            if (!rc)
                rc = add_token(compiler, token, 0, err);
        }
    }
    return rc;
}

const struct text_words *text_analyse(struct analysis *analysis, unsigned version,
                                      struct bytes text, struct arena *arena)
{
    struct text_words *words = arena_alloc(arena, sizeof(*words));
    struct token_list list;
    struct token *tokens;

    analysis_use(analysis, version);
    list = analysis_run(analysis, text);
    tokens = arena_array(arena, list.count + 1, sizeof(*tokens));
    for (size_t i = 0; i < list.count; i++) {
        tokens[i] = list.tokens[i];
        tokens[i].form = arena_copy(arena, tokens[i].form);
    }
    *words = (struct text_words){version, tokens, list.count};
    return words;
}

/* The words of the clause. */
static void read_tokens(struct compiler *compiler)
{
    const struct text_words *words = compiler->clause->words;
    unsigned version = lexicon_analysis_version(compiler->lexicon);

    if (!words || words->version != version)
        words = text_analyse(compiler->analysis, version, compiler->clause->text,
                             compiler->plan->arena);
    compiler->tokens = words->tokens;
    compiler->token_count = words->count;
}

/* ---- words that count as those of a clause, too ---- */

/* Slots of what counts as the clause's words, a branch each (text_parts.h), of an n-th of their
 * worth; those that nobody has are left out. */
struct branches {
    struct text_slot *slots;
    uint32_t count;
    bool has_phrase;
};

static int read_branch(struct compiler *compiler, const struct text_also *also, uint32_t share,
                       struct branches *branches, struct err *err)
{
    const struct text_clause *clause = compiler->clause;
    struct text_plan *plan = compiler->plan;
    float boost = (clause->boost > 0 ? clause->boost : 1) * (also->boost > 0 ? also->boost : 1);
    const struct text_clause one = {.kind = CLAUSE_PHRASE,
                                    .occur = clause->occur,
                                    .fields = clause->fields,
                                    .boost = boost / (float)share,
                                    .text = also->text};
    uint32_t leaf_count = plan->leaf_count, slot_count = plan->slot_count, i;
    struct text_slot *grown;
    bool known = true;
    int rc = 0;

    compiler->clause = &one;
    read_tokens(compiler);
    if (compiler->token_count)
        rc = add_run(compiler, 0, compiler->token_count, err);
    compiler->clause = clause;
    for (i = slot_count; i < plan->slot_count; i++)
        known = known && plan->slots[i].term != TERMID_NONE;
    if (!rc && known && plan->slot_count > slot_count) {
        grown = arena_array(plan->arena, branches->count + plan->slot_count - slot_count,
                            sizeof(*grown));
        if (branches->count)
            memcpy(grown, branches->slots, branches->count * sizeof(*grown));
        memcpy(grown + branches->count, plan->slots + slot_count,
               (plan->slot_count - slot_count) * sizeof(*grown));
        branches->slots = grown;
        branches->count += plan->slot_count - slot_count;
        branches->has_phrase = branches->has_phrase || plan->slot_count > slot_count + 1;
    }
    plan->leaf_count = leaf_count;
    plan->slot_count = slot_count;
    return rc;
}

/* A slot as it is, to the leaf added last. */
static int copy_slot(struct compiler *compiler, const struct text_slot *slot, struct err *err)
{
    int rc = add_slot(compiler, (struct lexicon_entry){slot->term, FORM_NONE},
                      slot->term != TERMID_NONE, slot->position, 1, err);

    if (!rc)
        compiler->plan->slots[compiler->plan->slot_count - 1].factor = slot->factor;
    return rc;
}

/* Each leaf of the clause from `first` on holds for these words, too. */
static int add_also(struct compiler *compiler, uint32_t first, struct err *err)
{
    const struct text_clause *clause = compiler->clause;
    struct text_plan *plan = compiler->plan;
    uint32_t count = plan->leaf_count - first, i, k;
    struct text_leaf *leaves;
    struct text_slot *slots;
    struct branches branches = {0};
    int rc = 0;

    if (!count)
        return 0;
    leaves = arena_array(plan->arena, count, sizeof(*leaves));
    memcpy(leaves, plan->leaves + first, count * sizeof(*leaves));
    slots = arena_array(plan->arena, plan->slot_count, sizeof(*slots));
    memcpy(slots, plan->slots, plan->slot_count * sizeof(*slots));
    for (i = 0; i < clause->also_count && !rc; i++)
        rc = read_branch(compiler, &clause->also[i], count, &branches, err);
    if (rc || !branches.count)
        return rc;
    plan->leaf_count = first;
    plan->slot_count = leaves[0].first;
    for (i = 0; i < count && !rc; i++) {
        const struct text_leaf *leaf = &leaves[i];
        bool single = leaf->kind == LEAF_WORD || leaf->kind == LEAF_ANY;

        rc = add_leaf(compiler, single && !branches.has_phrase ? LEAF_ANY : LEAF_TIED, err);
        if (!rc)
            plan->leaves[plan->leaf_count - 1].occur = leaf->occur;
        for (k = 0; k < leaf->count && !rc; k++)
            rc = copy_slot(compiler, &slots[leaf->first + k], err);
        for (k = 0; k < branches.count && !rc; k++)
            rc = copy_slot(compiler, &branches.slots[k], err);
    }
    return rc;
}

static int add_clause(struct compiler *compiler, struct err *err)
{
    uint32_t first = compiler->plan->leaf_count;
    int rc;

    assert(compiler->clause->occur <= OCCUR_BONUS && compiler->clause->kind <= CLAUSE_FUZZY);
    assert(compiler->clause->text.size <= QUERY_TEXT_SIZE_MAX);
    assert(compiler->clause->boost >= 0 && !isinf(compiler->clause->boost));
    compiler->has_text = compiler->has_text || compiler->clause->text.size > 0;
    read_tokens(compiler);
    if (compiler->token_count == 0)
        return 0;
    switch ((enum clause_kind)compiler->clause->kind) {
    case CLAUSE_WORD:
        rc = add_words(compiler, err);
        return rc ? rc : add_also(compiler, first, err);
    case CLAUSE_EXACT:
    case CLAUSE_PHRASE:
        return add_run(compiler, 0, compiler->token_count, err);
    default:
        return add_expanded(compiler, err);
    }
}

static int add_clauses(struct compiler *compiler, const struct query_text *text, struct err *err)
{
    int rc = 0;

    for (uint32_t i = 0; i < text->count && !rc; i++) {
        compiler->clause = &text->clauses[i];
        compiler->clause_index = i;
        rc = add_clause(compiler, err);
    }
    return rc;
}

int text_compile(struct text_plan *plan, struct analysis *analysis, const struct query_text *text,
                 struct err *err)
{
    struct compiler compiler = {.plan = plan,
                                .analysis = analysis,
                                .lexicon = plan->snapshot->lexicon,
                                .number_boost = text->number_boost > 0 ? text->number_boost : 1,
                                .tied_parts = text->tied_parts,
                                .boost = 1};
    uint32_t i;
    int rc;

    object_check(plan, TEXT_PLAN_MAGIC);
    analysis_use(analysis, lexicon_analysis_version(compiler.lexicon));
    rc = add_clauses(&compiler, text, err);
    if (rc == ERR_LIMIT && text->tied_parts) { /* they are too many beside the words themselves */
        plan->leaf_count = plan->slot_count = 0;
        compiler.tied_parts = false;
        compiler.boost = 1;
        rc = add_clauses(&compiler, text, err);
    }
    if (rc)
        return rc;
    for (i = 0; i < plan->leaf_count; i++) {
        bool by_slot = plan->leaves[i].kind == LEAF_WORD || plan->leaves[i].kind == LEAF_PHRASE;

        plan->leaves[i].row = plan->row_count;
        plan->row_count += by_slot ? plan->leaves[i].count : 1;
        plan->must_count += plan->leaves[i].occur == OCCUR_MUST;
        plan->should_count += plan->leaves[i].occur == OCCUR_SHOULD;
        plan->not_count += plan->leaves[i].occur == OCCUR_NOT;
    }
    plan->should_min = text->should_min;
    if (plan->should_min == 0 && plan->must_count == 0 && plan->should_count > 0)
        plan->should_min = 1;
    plan->should_max = plan->should_count - (text->not_all && plan->should_count > 0);
    plan->never =
        plan->should_min > plan->should_max || (plan->leaf_count == 0 && compiler.has_text);
    plan->everything = plan->must_count == 0 && plan->should_min == 0;
    return 0;
}
