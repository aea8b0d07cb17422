/* SPDX-License-Identifier: Apache-2.0 */
/* text_highlight.c - see text_highlight.h. */
#include "query/text/text_highlight.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/memory.h"
#include "query/bounds.h"
#include "query/text/text_parts.h"

struct word {
    termid term;
    int32_t form;
    uint32_t start, end; /* in the source */
    uint32_t position;
};

struct mark {
    uint32_t start, end;
    uint32_t leaf;
};

struct fragment {
    uint32_t start, end;
    uint32_t leaves; /* different ones marked in it */
};

struct highlighter {
    struct arena *arena;
    const struct text_plan *plan; /* NULL: nothing is marked */
    const struct lexicon *lexicon;
    struct bytes source;
    const struct highlight_options *options;

    struct word *words; /* by position */
    uint32_t word_count;
    struct mark *marks;
    uint32_t mark_count, mark_capacity;
    uint32_t leaf_room; /* marks that the leaf at hand may still add */
};

static void read_words(struct highlighter *highlighter, struct analysis *analysis)
{
    struct token_list list;
    size_t i;

    analysis_use(analysis, lexicon_analysis_version(highlighter->lexicon));
    list = analysis_run(analysis, highlighter->source);
    highlighter->words = arena_array(highlighter->arena, list.count + 1, sizeof(struct word));
    for (i = 0; i < list.count; i++) {
        const struct token *token = &list.tokens[i];
        struct lexicon_entry entry = {TERMID_NONE, FORM_NONE};

        /* Stemming leaves the tokens as they are. */
        if (!lexicon_resolve(highlighter->lexicon, analysis, token->form,
                             (enum script)token->script, &entry))
            entry.term = TERMID_NONE;
        highlighter->words[i] = (struct word){entry.term, entry.form, token->start,
                                              token->start + token->size, token->position};
    }
    highlighter->word_count = (uint32_t)list.count;
}

static void add_mark(struct highlighter *highlighter, const struct word *word, uint32_t leaf)
{
    if (highlighter->mark_count == highlighter->mark_capacity) {
        struct mark *grown;

        highlighter->mark_capacity =
            highlighter->mark_capacity ? 2 * highlighter->mark_capacity : 64;
        grown = arena_array(highlighter->arena, highlighter->mark_capacity, sizeof(*grown));
        if (highlighter->mark_count)
            memcpy(grown, highlighter->marks, highlighter->mark_count * sizeof(*grown));
        highlighter->marks = grown;
    }
    highlighter->marks[highlighter->mark_count++] = (struct mark){word->start, word->end, leaf};
    highlighter->leaf_room--;
}

static bool is_meant(const struct text_slot *slot, const struct word *word)
{
    return slot->term != TERMID_NONE && slot->term == word->term &&
           (slot->form == FORM_ANY || slot->form == word->form);
}

/* A word at the position that the slot means, from word `from` on. */
static const struct word *word_at(const struct highlighter *highlighter, uint32_t from,
                                  uint32_t position, const struct text_slot *slot)
{
    uint32_t i;

    for (i = from; i < highlighter->word_count && highlighter->words[i].position <= position; i++) {
        if (highlighter->words[i].position == position && is_meant(slot, &highlighter->words[i]))
            return &highlighter->words[i];
    }
    return NULL;
}

/* The slots' words from word `at` on, if they all stand there. */
static void mark_phrase(struct highlighter *highlighter, uint32_t leaf,
                        const struct text_slot *slots, uint32_t count, uint32_t at)
{
    uint32_t first = highlighter->words[at].position, i;

    for (i = 0; i < count; i++) {
        if (!word_at(highlighter, at, first + slots[i].position, &slots[i]))
            return;
    }
    for (i = 0; i < count && highlighter->leaf_room; i++)
        add_mark(highlighter, word_at(highlighter, at, first + slots[i].position, &slots[i]), leaf);
}

static void mark_leaf(struct highlighter *highlighter, uint32_t leaf)
{
    const struct text_leaf *meant = &highlighter->plan->leaves[leaf];
    const struct text_slot *slots = leaf_slots(highlighter->plan, meant);
    uint32_t i, k, to;

    highlighter->leaf_room = HIGHLIGHT_MARK_COUNT_MAX;
    for (i = 0; i < highlighter->word_count && meant->count && highlighter->leaf_room; i++) {
        const struct word *word = &highlighter->words[i];
        bool is_marked = false;

        for (k = 0; k < meant->count && highlighter->leaf_room; k = to) {
            to = branch_end(slots, k, meant->count);
            if (!is_meant(&slots[k], word))
                continue;
            if (to > k + 1)
                mark_phrase(highlighter, leaf, slots + k, to - k, i);
            else if (!is_marked)
                add_mark(highlighter, word, leaf);
            is_marked = is_marked || to == k + 1;
        }
    }
}

static int by_start(const void *a, const void *b)
{
    const struct mark *left = a, *right = b;

    if (left->start != right->start)
        return left->start < right->start ? -1 : 1;
    return (left->end > right->end) - (left->end < right->end);
}

/* ---- fragments ---- */

static uint32_t whole_char(struct bytes source, uint32_t at)
{
    while (at > 0 && at < source.size && (source.data[at] & 0xC0) == 0x80)
        at--;
    return at;
}

/* A fragment of about the size that begins a little before the mark, at words' ends, and has all of
 * it. */
static struct fragment fragment_at(const struct highlighter *highlighter, uint32_t mark_start,
                                   uint32_t mark_end)
{
    struct bytes source = highlighter->source;
    uint32_t size = highlighter->options->fragment_size, lead = size / 4, i;
    struct fragment fragment = {.start = mark_start > lead ? mark_start - lead : 0};
    uint64_t leaves = 0;

    fragment.end =
        source.size - fragment.start > size ? fragment.start + size : (uint32_t)source.size;
    for (i = 0; i < highlighter->word_count && fragment.start > 0; i++) {
        if (highlighter->words[i].start >= fragment.start) {
            if (highlighter->words[i].start <= mark_start)
                fragment.start = highlighter->words[i].start;
            break;
        }
    }
    for (i = highlighter->word_count; i-- > 0 && fragment.end < source.size;) {
        if (highlighter->words[i].end <= fragment.end) {
            if (highlighter->words[i].end > mark_start)
                fragment.end = highlighter->words[i].end;
            break;
        }
    }
    if (fragment.end < mark_end)
        fragment.end = mark_end;
    fragment.start = whole_char(source, fragment.start);
    fragment.end = whole_char(source, fragment.end);
    for (i = 0; i < highlighter->mark_count; i++) {
        const struct mark *mark = &highlighter->marks[i];

        if (mark->start >= fragment.start && mark->end <= fragment.end)
            leaves |= UINT64_C(1) << mark->leaf % 64;
    }
    fragment.leaves = (uint32_t)__builtin_popcountll(leaves);
    return fragment;
}

/* Whether the mark begins behind the last one tried far enough to be worth another try: of marks
 * all over a long text, some spread over it are tried. */
static bool is_far_enough(const struct highlighter *highlighter, uint32_t start, int64_t last)
{
    return last < 0 || start >= last + highlighter->source.size / HIGHLIGHT_TRIED_COUNT_MAX;
}

/* The fragments that are worth weighing, each made once: it is a walk over the whole text. */
static struct fragment *try_fragments(const struct highlighter *highlighter, uint32_t *count)
{
    bool are_many = highlighter->mark_count > HIGHLIGHT_TRIED_COUNT_MAX;
    struct fragment *tried =
        arena_array(highlighter->arena, highlighter->mark_count + 1, sizeof(*tried));
    int64_t last = -1;
    uint32_t i;

    *count = 0;
    for (i = 0; i < highlighter->mark_count; i++) {
        uint32_t start = highlighter->marks[i].start;

        if (are_many && !is_far_enough(highlighter, start, last))
            continue;
        last = start;
        tried[(*count)++] = fragment_at(highlighter, start, highlighter->marks[i].end);
    }
    return tried;
}

/* The best of those that do not touch the ones chosen; false: none is left. */
static bool choose(const struct fragment *tried, uint32_t tried_count,
                   const struct fragment *chosen, uint32_t count, struct fragment *best)
{
    uint32_t i, k;

    *best = (struct fragment){0};
    for (i = 0; i < tried_count; i++) {
        bool free = true;

        for (k = 0; k < count; k++)
            free = free && (tried[i].end <= chosen[k].start || tried[i].start >= chosen[k].end);
        if (free && tried[i].leaves > best->leaves)
            *best = tried[i];
    }
    return best->leaves > 0;
}

static int fragment_by_start(const void *a, const void *b)
{
    const struct fragment *left = a, *right = b;

    return (left->start > right->start) - (left->start < right->start);
}

static uint32_t choose_fragments(const struct highlighter *highlighter, struct fragment *chosen)
{
    uint32_t wanted = highlighter->options->fragment_count, count = 0, tried_count;
    const struct fragment *tried;

    if (highlighter->options->fragment_size == 0) {
        chosen[0] = (struct fragment){.end = (uint32_t)highlighter->source.size};
        return 1;
    }
    if (wanted == 0)
        wanted = 1;
    tried = try_fragments(highlighter, &tried_count);
    while (count < wanted && choose(tried, tried_count, chosen, count, &chosen[count]))
        count++;
    if (count == 0)
        chosen[count++] = fragment_at(highlighter, 0, 0);
    qsort(chosen, count, sizeof(*chosen), fragment_by_start);
    return count;
}

/* ---- writing ---- */

static void put_source(const struct highlighter *highlighter, struct buf *out, uint32_t from,
                       uint32_t to)
{
    static const struct {
        uint8_t sign;
        const char *name;
    } names[] = {{'&', "&amp;"}, {'<', "&lt;"}, {'>', "&gt;"}, {'"', "&quot;"}, {'\'', "&#39;"}};
    const uint8_t *data = highlighter->source.data;
    uint32_t i;
    size_t k;

    if (!highlighter->options->escape_html) {
        buf_put_raw(out, data + from, to - from);
        return;
    }
    for (i = from; i < to; i++) {
        for (k = 0; k < ARRAY_COUNT(names) && data[i] != names[k].sign; k++)
            continue;
        if (k < ARRAY_COUNT(names))
            buf_put_text(out, names[k].name);
        else
            buf_put_byte(out, data[i]);
    }
}

/* room: marks that may still be written into this text; the words behind them stay plain. */
static void put_fragment(const struct highlighter *highlighter, struct buf *out,
                         const struct fragment *fragment, uint32_t *room)
{
    const struct highlight_options *options = highlighter->options;
    uint32_t at = fragment->start, i = 0;

    while (i < highlighter->mark_count && *room) {
        uint32_t start = highlighter->marks[i].start, end = highlighter->marks[i].end;

        /* Marks that touch or lie in each other are one. */
        for (i++; i < highlighter->mark_count && highlighter->marks[i].start <= end; i++)
            end = highlighter->marks[i].end > end ? highlighter->marks[i].end : end;
        if (start < at || end > fragment->end)
            continue;
        put_source(highlighter, out, at, start);
        buf_put(out, options->before);
        put_source(highlighter, out, start, end);
        buf_put(out, options->after);
        at = end;
        (*room)--;
    }
    put_source(highlighter, out, at, fragment->end);
}

static int write_marked(struct highlighter *highlighter, struct bytes *marked, struct err *err)
{
    static const char dots[] = "\xE2\x80\xA6"; /* … */
    struct fragment fragments[HIGHLIGHT_FRAGMENT_COUNT_MAX];
    uint32_t count = choose_fragments(highlighter, fragments), room = HIGHLIGHT_MARK_COUNT_MAX, i;
    size_t size = highlighter->source.size;
    struct buf out;
    int rc = 0;

    buf_init(&out, size * 6 +
                       (size_t)HIGHLIGHT_MARK_COUNT_MAX *
                           (highlighter->options->before.size + highlighter->options->after.size) +
                       (size_t)(count + 1) * sizeof(dots) + 1);
    for (i = 0; i < count; i++) {
        if (i > 0 || fragments[i].start > 0)
            buf_put_text(&out, dots);
        put_fragment(highlighter, &out, &fragments[i], &room);
    }
    if (fragments[count - 1].end < size)
        buf_put_text(&out, dots);
    if (buf_failed(&out))
        rc = err_set(err, ERR_INTERNAL, "the marked text is larger than it can be");
    else
        *marked = arena_copy(highlighter->arena, bytes_make(out.data, out.size));
    buf_release(&out);
    return rc;
}

static int check_options(struct bytes source, const struct highlight_options *options,
                         struct err *err)
{
    if (source.size > HIGHLIGHT_SOURCE_SIZE_MAX)
        return err_set(err, ERR_LIMIT, "a text of %zu bytes is not marked, at most %d are",
                       source.size, HIGHLIGHT_SOURCE_SIZE_MAX);
    if (options->before.size > HIGHLIGHT_SIGN_SIZE_MAX ||
        options->after.size > HIGHLIGHT_SIGN_SIZE_MAX)
        return err_set(err, ERR_LIMIT, "highlight.before, highlight.after: at most %d bytes each",
                       HIGHLIGHT_SIGN_SIZE_MAX);
    if (options->fragment_count > HIGHLIGHT_FRAGMENT_COUNT_MAX)
        return err_set(err, ERR_LIMIT, "highlight.fragment_count: at most %d",
                       HIGHLIGHT_FRAGMENT_COUNT_MAX);
    return 0;
}

int text_highlight_by(const struct text_plan *plan, const struct snapshot *snapshot,
                      struct analysis *analysis, struct bytes source,
                      const struct highlight_options *options, struct arena *arena,
                      struct bytes *marked, struct err *err)
{
    struct highlighter highlighter = {.arena = arena,
                                      .plan = plan,
                                      .lexicon = snapshot->lexicon,
                                      .source = source,
                                      .options = options};
    uint32_t i;
    int rc = check_options(source, options, err);

    *marked = bytes_make(NULL, 0);
    if (rc)
        return rc;
    read_words(&highlighter, analysis);
    for (i = 0; plan && i < plan->leaf_count; i++) {
        if (plan->leaves[i].occur != OCCUR_NOT)
            mark_leaf(&highlighter, i);
    }
    if (highlighter.mark_count)
        qsort(highlighter.marks, highlighter.mark_count, sizeof(struct mark), by_start);
    return write_marked(&highlighter, marked, err);
}

int text_highlight(const struct snapshot *snapshot, struct analysis *analysis,
                   const struct query_text *text, struct bytes source,
                   const struct highlight_options *options, struct arena *arena,
                   struct bytes *marked, struct err *err)
{
    struct text_plan plan = {.magic = TEXT_PLAN_MAGIC, .snapshot = snapshot, .arena = arena};
    int rc = check_options(source, options, err);

    *marked = bytes_make(NULL, 0);
    rc = rc ? rc : text_compile(&plan, analysis, text, err);
    return rc ? rc
              : text_highlight_by(&plan, snapshot, analysis, source, options, arena, marked, err);
}
