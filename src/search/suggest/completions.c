/* SPDX-License-Identifier: Apache-2.0 */
/* completions.c - see completions.h. */
#include "search/suggest/completions.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "base/object.h"
#include "index/text/analysis.h"
#include "search/bounds.h"

enum {
    WORD_COUNT_MAX = 64, /* of a line or a title that are looked at */
    TAIL_COUNT_MAX = 3,  /* words that a completion adds, with the one being typed */
    WORD_SIZE_MAX = 80,  /* bytes, folded; longer ones are nobody's words */
    SLOT_COUNT = 4 * SUGGEST_CANDIDATE_COUNT_MAX,
};

/* A run of tokens with no blank inside: "wi-fi", "iphone15", "1.5". */
struct text_word {
    uint32_t start, end; /* bytes of the text */
    uint64_t stems;      /* hash of its tokens' stems */
    char folded[WORD_SIZE_MAX];
    uint8_t size;   /* of folded */
    bool is_after;  /* only blanks lie between it and the one before */
    bool is_filler; /* на, для, with: a line does not end with it */
};

struct words_of {
    struct text_word at[WORD_COUNT_MAX];
    size_t count;
};

/* Texts are told apart by their bytes, and gathered by their stems at the end. */
struct candidate {
    const char *text; /* the tail, in small letters */
    uint64_t hash;    /* of text */
    uint64_t stems;   /* of all its words */
    uint64_t shorter; /* the stems without the last word */
    uint32_t count;
    uint8_t words;
};

enum { COMPLETIONS_MAGIC = OBJECT_MAGIC('c', 'm', 'p', 'l') };

struct completions {
    uint32_t magic;
    struct arena *arena;
    struct analysis *analysis;
    struct words_of typed;
    struct words_of title; /* the one that is read */
    struct bytes line;     /* typed, tidied */
    struct bytes head;     /* line without the word being typed; with a blank behind it, if any */
    bool is_open;
    uint64_t
        said[WORD_COUNT_MAX * TAIL_COUNT_MAX]; /* stems of what the title has been counted for */
    size_t said_count;
    struct candidate candidates[SUGGEST_CANDIDATE_COUNT_MAX];
    uint32_t count;
    uint16_t slots[SLOT_COUNT]; /* place + 1 */
};

/* --- words --- */

static uint32_t lower(uint32_t code)
{
    if ((code >= 'A' && code <= 'Z') || (code >= 0x410 && code <= 0x42F))
        return code + 0x20;
    if (code >= 0x400 && code <= 0x40F)
        return code + 0x50;
    return code >= 0xC0 && code <= 0xDE && code != 0xD7 ? code + 0x20 : code;
}

static void put_lower(struct buf *out, const uint8_t *at, const uint8_t *end)
{
    while (at < end) {
        uint8_t utf8[UNICODE_UTF8_SIZE_MAX];
        uint32_t code;

        at += unicode_decode(at, end, &code);
        buf_put_raw(out, utf8, unicode_encode(lower(code), utf8));
    }
}

static bool is_filler(struct bytes folded)
{
    static const char *const words[] = {
        "а",   "без", "в",  "во",  "для",  "до", "за",  "и",   "из", "или", "к",  "как",  "на",
        "не",  "но",  "о",  "об",  "от",   "по", "под", "при", "с",  "со",  "у",  "a",    "an",
        "and", "at",  "by", "for", "from", "in", "of",  "on",  "or", "the", "to", "with",
    };

    for (size_t i = 0; i < ARRAY_COUNT(words); i++) {
        if (bytes_equal_text(folded, words[i]))
            return true;
    }
    return false;
}

static bool is_blank_between(struct bytes text, size_t from, size_t to)
{
    for (; from < to; from++) {
        if (text.data[from] > ' ')
            return false;
    }
    return true;
}

/* Whether the token goes on with the word: a hyphen, a point or a slash, or nothing, lies
 * between. */
static bool is_joined(struct bytes text, const struct text_word *word, const struct token *token)
{
    return token->joint == JOINT_TIGHT || (token->joint == JOINT_SIGN && word->end < text.size &&
                                           strchr("-./", text.data[word->end]));
}

static void add_token(struct analysis *analysis, struct text_word *word, const struct token *token)
{
    struct bytes stem = analysis_stem(analysis, token->form, (enum script)token->script);

    word->stems = hash64_seeded(stem, word->stems);
    word->end = token->start + token->size;
    if (word->size + token->form.size > WORD_SIZE_MAX)
        return;
    memcpy(word->folded + word->size, token->form.data, token->form.size);
    word->size = (uint8_t)(word->size + token->form.size);
}

static void read_words(struct analysis *analysis, struct bytes text, struct words_of *words)
{
    struct token_list tokens = analysis_run(analysis, text);

    words->count = 0;
    for (size_t i = 0; i < tokens.count; i++) {
        const struct token *token = &tokens.tokens[i];
        struct text_word *last = words->count ? &words->at[words->count - 1] : NULL;

        if (token_is_whole(token))
            continue;
        if (!last || !is_joined(text, last, token)) {
            if (words->count == WORD_COUNT_MAX)
                break;
            words->at[words->count] = (struct text_word){
                .start = token->start,
                .is_after = last && is_blank_between(text, last->end, token->start)};
            last = &words->at[words->count++];
        }
        add_token(analysis, last, token);
    }
    for (size_t i = 0; i < words->count; i++) {
        struct text_word *word = &words->at[i];

        word->is_filler = is_filler(bytes_make(word->folded, word->size));
    }
}

/* --- what was typed --- */

struct completions *completions_new(struct bytes typed, struct arena *arena)
{
    struct completions *self = arena_zero(arena, sizeof(*self));
    struct buf line = BUF_INIT((size_t)SEARCH_TEXT_SIZE_MAX * 2);
    size_t head_size = 0;

    object_begin(self, COMPLETIONS_MAGIC);
    self->arena = arena;
    self->analysis = analysis_new();
    read_words(self->analysis, typed, &self->typed);
    self->is_open = self->typed.count > 0 && typed.data[typed.size - 1] > ' ';
    for (size_t i = 0; i < self->typed.count; i++) {
        const struct text_word *word = &self->typed.at[i];

        head_size = line.size;
        put_lower(&line, typed.data + word->start, typed.data + word->end);
        if (i + 1 < self->typed.count || !self->is_open)
            buf_put_byte(&line, ' ');
    }
    if (!self->is_open)
        head_size = line.size;
    self->line = arena_copy(arena, buf_bytes(&line));
    self->head = bytes_make(self->line.data, head_size);
    buf_release(&line);
    return self;
}

void completions_free(struct completions *completions)
{
    if (!completions)
        return;
    analysis_free(completions->analysis);
    object_end(completions, COMPLETIONS_MAGIC); /* the rest is the arena's */
}

struct bytes completions_typed(const struct completions *completions)
{
    object_check(completions, COMPLETIONS_MAGIC);
    return completions->line;
}

bool completions_is_open(const struct completions *completions)
{
    object_check(completions, COMPLETIONS_MAGIC);
    return completions->is_open;
}

/* --- titles --- */

static struct candidate *find_candidate(struct completions *self, struct bytes text)
{
    uint64_t hash = hash64(text);
    uint32_t slot = (uint32_t)(hash % SLOT_COUNT);
    struct candidate *candidate;

    for (; self->slots[slot]; slot = (slot + 1) % SLOT_COUNT) {
        candidate = &self->candidates[self->slots[slot] - 1];
        if (candidate->hash == hash && bytes_equal_text(text, candidate->text))
            return candidate;
    }
    if (self->count == SUGGEST_CANDIDATE_COUNT_MAX)
        return NULL;
    candidate = &self->candidates[self->count];
    self->slots[slot] = (uint16_t)++self->count;
    *candidate = (struct candidate){.text = arena_text(self->arena, text), .hash = hash};
    return candidate;
}

static bool is_typed(const struct completions *self, const struct text_word *word)
{
    size_t count = self->typed.count - (self->is_open ? 1 : 0);

    for (size_t i = 0; i < count; i++) {
        if (self->typed.at[i].stems == word->stems)
            return true;
    }
    return false;
}

/* In whichever form: a title counts once. */
static bool is_said(struct completions *self, uint64_t stems)
{
    for (size_t i = 0; i < self->said_count; i++) {
        if (self->said[i] == stems)
            return true;
    }
    self->said[self->said_count++] = stems;
    return false;
}

/* The words from `first` on, one, two, three. */
static void take_tail(struct completions *self, struct bytes title, size_t first)
{
    struct buf text = BUF_INIT((size_t)SEARCH_TEXT_SIZE_MAX * 2);
    uint64_t stems = 0;

    for (size_t i = 0; i < TAIL_COUNT_MAX && first + i < self->title.count; i++) {
        const struct text_word *word = &self->title.at[first + i];
        struct candidate *candidate;
        uint64_t shorter = stems;

        if (is_typed(self, word) || ((i || !self->is_open) && !word->is_after) ||
            (!i && self->is_open && word->is_filler))
            break;
        if (i)
            buf_put_byte(&text, ' ');
        put_lower(&text, title.data + word->start, title.data + word->end);
        stems = hash64_seeded(bytes_make(&word->stems, sizeof(word->stems)), stems);
        if (buf_failed(&text) || self->head.size + text.size > SEARCH_TEXT_SIZE_MAX)
            break;
        if (word->is_filler || is_said(self, stems))
            continue;
        candidate = find_candidate(self, buf_bytes(&text));
        if (!candidate)
            continue;
        candidate->stems = stems;
        candidate->shorter = shorter;
        candidate->words = (uint8_t)(i + 1);
        candidate->count++;
    }
    buf_release(&text);
}

static bool begins(const struct text_word *word, const struct text_word *typed)
{
    return word->size >= typed->size && memcmp(word->folded, typed->folded, typed->size) == 0;
}

void completions_add(struct completions *self, struct bytes title)
{
    const struct text_word *last;

    object_check(self, COMPLETIONS_MAGIC);
    if (!self->typed.count)
        return;
    last = &self->typed.at[self->typed.count - 1];
    read_words(self->analysis, title, &self->title);
    self->said_count = 0;
    for (size_t i = 0; i < self->title.count; i++) {
        if (self->is_open && begins(&self->title.at[i], last))
            take_tail(self, title, i);
        else if (!self->is_open && self->title.at[i].stems == last->stems)
            take_tail(self, title, i + 1);
    }
}

/* --- the list --- */

static int compare_stems(const void *a, const void *b)
{
    const struct candidate *x = a;
    const struct candidate *y = b;

    if (x->stems != y->stems)
        return x->stems < y->stems ? -1 : 1;
    if (x->count != y->count)
        return x->count > y->count ? -1 : 1;
    return strcmp(x->text, y->text);
}

static int compare_counts(const void *a, const void *b)
{
    const struct candidate *x = a;
    const struct candidate *y = b;

    if (x->count != y->count)
        return x->count > y->count ? -1 : 1;
    if (x->words != y->words)
        return x->words < y->words ? -1 : 1;
    return strcmp(x->text, y->text);
}

/* The forms of one text become its most frequent one. */
static void gather_forms(struct completions *self)
{
    uint32_t kept = 0;

    qsort(self->candidates, self->count, sizeof(self->candidates[0]), compare_stems);
    for (uint32_t i = 0; i < self->count; i++) {
        if (kept && self->candidates[kept - 1].stems == self->candidates[i].stems)
            self->candidates[kept - 1].count += self->candidates[i].count;
        else
            self->candidates[kept++] = self->candidates[i];
    }
    self->count = kept;
}

/* One that always goes on in the same way says less than what it goes on to; the word being typed
 * is wanted nevertheless. */
static bool is_part_of_longer(const struct completions *self, const struct candidate *candidate)
{
    if (self->is_open && candidate->words == 1)
        return false;
    for (uint32_t i = 0; i < self->count; i++) {
        const struct candidate *longer = &self->candidates[i];

        if (longer->shorter == candidate->stems && longer->words == candidate->words + 1 &&
            longer->count >= candidate->count)
            return true;
    }
    return false;
}

/* "61 м²", "128": how much, and of nothing. */
static bool is_bare_amount(struct completions *self, const char *line)
{
    struct token_list list = analysis_run(self->analysis, bytes_of(line));

    for (size_t i = 0; i < list.count && list.tokens[i].position == 0; i++) {
        if (list.tokens[i].span == list.position_count &&
            (list.tokens[i].kind == TOKEN_QUANTITY || list.tokens[i].kind == TOKEN_NUMBER))
            return true;
    }
    return false;
}

size_t completions_list(struct completions *self, bool with_line, struct completion *list,
                        size_t max)
{
    size_t count = 0;

    object_check(self, COMPLETIONS_MAGIC);
    gather_forms(self);
    qsort(self->candidates, self->count, sizeof(self->candidates[0]), compare_counts);
    for (uint32_t i = 0; i < self->count && count < max; i++) {
        const struct candidate *candidate = &self->candidates[i];
        char *text = arena_printf(self->arena, "%.*s%s", BYTES_ARG(self->head), candidate->text);

        if ((!with_line && bytes_equal_text(self->line, text)) ||
            is_part_of_longer(self, candidate) || is_bare_amount(self, text))
            continue;
        list[count++] = (struct completion){.text = text, .title_count = candidate->count};
    }
    return count;
}

/* --- marks --- */

static void put_html(struct buf *html, struct bytes text)
{
    for (size_t i = 0; i < text.size; i++) {
        switch (text.data[i]) {
        case '&':
            buf_put_text(html, "&amp;");
            break;
        case '<':
            buf_put_text(html, "&lt;");
            break;
        case '>':
            buf_put_text(html, "&gt;");
            break;
        case '"':
            buf_put_text(html, "&quot;");
            break;
        default:
            buf_put_byte(html, text.data[i]);
        }
    }
}

void completion_mark(struct bytes text, struct bytes typed, struct buf *html)
{
    size_t same = 0;

    while (same < text.size && same < typed.size && text.data[same] == typed.data[same])
        same++;
    while (same > 0 && same < text.size && (text.data[same] & 0xC0) == 0x80)
        same--; /* not inside of a character */
    put_html(html, bytes_make(text.data, same));
    if (same == text.size)
        return;
    buf_put_text(html, "<b>");
    put_html(html, bytes_skip(text, same));
    buf_put_text(html, "</b>");
}
