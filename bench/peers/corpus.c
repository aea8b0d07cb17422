/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench-core-corpus DIR COUNT SEED CHANGES - writes what bench core works on into DIR:
 *   raw.tsv tokens.tsv     the listings, a line each (listings.h); in tokens.tsv title and
 * text are the stems of Torg's analysis, with a blank between changes.raw.tsv changes.tokens.tsv
 * "A" (the price changed) or "R" (the text too), a tab, and the whole listing as it then is; no
 * listing comes twice queries.tsv            kind, class, stems, forms, category, lowest and
 * highest price, condition meta                   name=value: counts, sizes and average lengths
 * Queries come from listings: words that occur together, phrases that occur, filters that leave at
 * least that listing. A class names how frequent its words are: h from 1 % of the listings, m from
 * 0.1 %, l from 0.005 %.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "index/bounds.h"
#include "index/text/lexicon.h"
#include "peers/listings.h"

enum {
    SAMPLE_COUNT = 20000, /* listings that queries are made of */
    TITLE = 0,
    TEXT = 1,
    FILE_BUFFER_SIZE = 1 << 20,
    TRY_COUNT = 400000,
};

struct word {
    termid term;
    uint16_t form;
    uint8_t field;
    bool plain; /* letters, apart from its neighbours: it means the same alone */
};

struct sample {
    struct word *words;
    size_t count;
    uint32_t category, price, condition;
};

struct corpus {
    struct listings *listings;
    struct lexicon *lexicon;
    struct analysis *analysis;
    uint64_t count, seed;
    uint32_t *df, *last; /* by term: listings that have it, the last of them + 1 */
    size_t term_capacity;
    uint64_t token_count[2], raw_size, tokens_size;
    struct sample *samples;
    size_t sample_count;
    struct lexicon_entry entries[TOKEN_COUNT_MAX];
    struct buf stems[2], line;
};

static void die(const char *what, const char *why)
{
    fprintf(stderr, "bench core: %s: %s\n", what, why);
    exit(1);
}

static FILE *create(const char *dir, const char *name)
{
    char path[4096];
    FILE *file;

    snprintf(path, sizeof(path), "%s/%s", dir, name);
    file = fopen(path, "w");
    if (!file)
        die(path, strerror(errno));
    setvbuf(file, NULL, _IOFBF, FILE_BUFFER_SIZE);
    return file;
}

static void finish(FILE *file)
{
    if (fclose(file))
        die("writing the corpus", strerror(errno));
}

static void write_buf(FILE *file, const struct buf *buf)
{
    if (fwrite(buf->data, 1, buf->size, file) != buf->size)
        die("writing the corpus", strerror(errno));
}

static void count_term(struct corpus *corpus, termid term, uint64_t id)
{
    if (term >= corpus->term_capacity) {
        size_t grown = term * 2 + 1024;

        corpus->df = mem_resize(corpus->df, grown * sizeof(*corpus->df));
        corpus->last = mem_resize(corpus->last, grown * sizeof(*corpus->last));
        memset(corpus->df + corpus->term_capacity, 0, (grown - corpus->term_capacity) * 4);
        memset(corpus->last + corpus->term_capacity, 0, (grown - corpus->term_capacity) * 4);
        corpus->term_capacity = grown;
    }
    corpus->df[term] += corpus->last[term] != id + 1;
    corpus->last[term] = (uint32_t)id + 1;
}

/* The stems of one field into corpus->stems; its words into the sample, if there is one. A token
 * that is the whole of several words is left out: it has no position of its own. */
static void analyse(struct corpus *corpus, int field, const struct buf *source, uint64_t id,
                    struct sample *sample)
{
    struct token_list list = analysis_run(corpus->analysis, buf_bytes(source));
    struct buf *to = &corpus->stems[field];
    struct err err;

    if (lexicon_add_tokens(corpus->lexicon, corpus->analysis, list.tokens, list.count,
                           corpus->entries, &err))
        die("lexicon", err.text);
    buf_reset(to);
    for (size_t i = 0; i < list.count; i++) {
        const struct token *token = &list.tokens[i];
        struct lexicon_entry entry = corpus->entries[i];

        if (token_is_whole(token))
            continue;
        if (to->size)
            buf_put_byte(to, ' ');
        buf_put(to, lexicon_term(corpus->lexicon, entry.term));
        if (!sample)
            continue;
        sample->words[sample->count++] = (struct word){
            .term = entry.term,
            .form = entry.form,
            .field = (uint8_t)field,
            .plain = token->kind == TOKEN_WORD && token->joint == JOINT_NONE && token->size > 3,
        };
    }
    if (id != UINT64_MAX) {
        corpus->token_count[field] += list.position_count;
        for (size_t i = 0; i < list.count; i++)
            count_term(corpus, corpus->entries[i].term, id);
    }
}

static struct sample *take_sample(struct corpus *corpus, const struct listing *listing)
{
    struct sample *sample;

    if (listing->id * SAMPLE_COUNT / corpus->count ==
            (listing->id + 1) * SAMPLE_COUNT / corpus->count ||
        corpus->sample_count == SAMPLE_COUNT)
        return NULL;
    sample = &corpus->samples[corpus->sample_count++];
    sample->words = mem_array(2 * (listing->title.size + listing->text.size), sizeof(struct word));
    sample->category = listing->category;
    sample->price = listing->price;
    sample->condition = listing->condition;
    return sample;
}

static void put_tokens(struct corpus *corpus, const struct listing *listing, uint64_t id,
                       struct sample *sample)
{
    analyse(corpus, TITLE, &listing->title, id, sample);
    analyse(corpus, TEXT, &listing->text, id, sample);
    listing_put_line(listing, buf_bytes(&corpus->stems[TITLE]), buf_bytes(&corpus->stems[TEXT]),
                     &corpus->line);
}

static void write_listings(struct corpus *corpus, const char *dir, struct listing *listing)
{
    FILE *raw = create(dir, "raw.tsv");
    FILE *tokens = create(dir, "tokens.tsv");

    for (uint64_t id = 0; id < corpus->count; id++) {
        struct sample *sample;

        listings_make(corpus->listings, id, 0, listing);
        buf_reset(&corpus->line);
        listing_put_line(listing, buf_bytes(&listing->title), buf_bytes(&listing->text),
                         &corpus->line);
        write_buf(raw, &corpus->line);
        corpus->raw_size += listing->title.size + listing->text.size;
        sample = take_sample(corpus, listing);
        buf_reset(&corpus->line);
        put_tokens(corpus, listing, id, sample);
        write_buf(tokens, &corpus->line);
        corpus->tokens_size += corpus->stems[TITLE].size + corpus->stems[TEXT].size;
    }
    finish(raw);
    finish(tokens);
}

static void write_changes(struct corpus *corpus, const char *dir, uint64_t count,
                          struct listing *listing)
{
    FILE *raw = create(dir, "changes.raw.tsv");
    FILE *tokens = create(dir, "changes.tokens.tsv");
    uint64_t step = 2654435761u % corpus->count; /* a prime: no number repeats */

    for (uint64_t i = 0; i < count; i++) {
        bool whole = i % 5 == 0;
        uint64_t id = i * step % corpus->count;

        listings_make(corpus->listings, id, whole ? 1 : 0, listing);
        if (!whole)
            listing->price = listing->price / 10 * 9 + 1;
        buf_reset(&corpus->line);
        buf_put_text(&corpus->line, whole ? "R\t" : "A\t");
        listing_put_line(listing, buf_bytes(&listing->title), buf_bytes(&listing->text),
                         &corpus->line);
        write_buf(raw, &corpus->line);
        buf_reset(&corpus->line);
        buf_put_text(&corpus->line, whole ? "R\t" : "A\t");
        put_tokens(corpus, listing, UINT64_MAX, NULL);
        write_buf(tokens, &corpus->line);
    }
    finish(raw);
    finish(tokens);
}

static char class_of(const struct corpus *corpus, termid term)
{
    double share = (double)corpus->df[term] / (double)corpus->count;

    if (share > 0.4)
        return '-'; /* "и", "the": nobody asks for them alone */
    return share >= 0.01 ? 'h' : share >= 0.001 ? 'm' : share >= 0.00005 ? 'l' : '-';
}

static void put_word(const struct corpus *corpus, const struct word *word, bool stem,
                     struct buf *out)
{
    buf_put(out,
            stem ? lexicon_term(corpus->lexicon, word->term)
                 : lexicon_form(corpus->lexicon, (struct lexicon_entry){word->term, word->form}));
}

static void put_query(struct corpus *corpus, const char *kind, const char *class,
                      const struct sample *sample, const struct word *words[2], struct rng *rng)
{
    struct buf *out = &corpus->line;
    char category[16];

    category_path(sample->category, 1 + (uint32_t)rng_below(rng, 2), category);
    buf_printf(out, "%s\t%s\t", kind, class);
    for (int stem = 1; stem >= 0; stem--) {
        for (int i = 0; i < 2 && words[i]; i++) {
            if (i)
                buf_put_byte(out, ' ');
            put_word(corpus, words[i], stem, out);
        }
        buf_put_byte(out, '\t');
    }
    buf_printf(out, "%s\t%u\t%u\tn%u\n", category, sample->price / 2, sample->price * 2,
               sample->condition);
}

static const struct word *pick(const struct corpus *corpus, const struct sample *sample, char class,
                               bool title, struct rng *rng)
{
    const struct word *word = &sample->words[rng_below(rng, sample->count)];

    if (!word->plain || (title && word->field != TITLE))
        return NULL;
    return class == '*' ? word : class_of(corpus, word->term) == class ? word : NULL;
}

static const struct word *neighbour(const struct sample *sample, const struct word *word)
{
    const struct word *next = word + 1;

    return next < sample->words + sample->count && next->field == word->field && next->plain ? next
                                                                                             : NULL;
}

/* Up to count queries whose words are of the two classes; '*' is any, '.' none. */
static void put_queries(struct corpus *corpus, const char *kind, const char *class, uint32_t count,
                        struct rng *rng)
{
    bool phrase = !strcmp(kind, "phrase");
    bool title = !strcmp(kind, "page");

    for (uint32_t tries = 0, done = 0; tries < TRY_COUNT && done < count; tries++) {
        const struct sample *sample = &corpus->samples[rng_below(rng, corpus->sample_count)];
        const struct word *words[2] = {NULL, NULL};

        if (sample->count == 0)
            continue;
        if (class[0] != '.')
            words[0] = pick(corpus, sample, class[0], title, rng);
        if (class[1] != '.' && words[0])
            words[1] =
                phrase ? neighbour(sample, words[0]) : pick(corpus, sample, class[1], title, rng);
        if ((class[0] != '.' && !words[0]) || (class[1] != '.' && !words[1]))
            continue;
        if (words[1] && (words[0]->term == words[1]->term ||
                         (class[1] != '*' && class_of(corpus, words[1]->term) != class[1])))
            continue;
        if (class[0] == '*' &&
            (class_of(corpus, words[0]->term) == '-' || class_of(corpus, words[1]->term) == '-'))
            continue;
        put_query(corpus, kind, class, sample, words, rng);
        done++;
    }
}

static void write_queries(struct corpus *corpus, const char *dir)
{
    static const struct {
        const char *kind, *class;
        uint32_t count;
    } sets[] = {
        {"single", "h.", 100}, {"single", "m.", 100}, {"single", "l.", 100}, {"pair", "hh", 100},
        {"pair", "hm", 100},   {"pair", "hl", 100},   {"pair", "mm", 100},   {"phrase", "hh", 100},
        {"phrase", "hm", 100}, {"phrase", "mm", 100}, {"page", "**", 300},   {"browse", "..", 300},
    };
    struct rng rng = rng_seeded(corpus->seed + 77);
    FILE *file = create(dir, "queries.tsv");

    buf_reset(&corpus->line);
    for (size_t i = 0; i < ARRAY_COUNT(sets); i++)
        put_queries(corpus, sets[i].kind, sets[i].class, sets[i].count, &rng);
    write_buf(file, &corpus->line);
    finish(file);
}

static void write_meta(const struct corpus *corpus, const char *dir, uint64_t changes)
{
    FILE *file = create(dir, "meta");
    double count = (double)corpus->count;

    fprintf(file, "documents=%ju\nseed=%ju\nchanges=%ju\nterms=%u\nforms=%u\n",
            (uintmax_t)corpus->count, (uintmax_t)corpus->seed, (uintmax_t)changes,
            lexicon_sizes(corpus->lexicon).term_count, lexicon_sizes(corpus->lexicon).form_count);
    fprintf(file,
            "tokens=%ju\nraw_bytes=%ju\ntoken_bytes=%ju\ntitle_length=%.4f\ntext_length=%.4f\n",
            (uintmax_t)(corpus->token_count[TITLE] + corpus->token_count[TEXT]),
            (uintmax_t)corpus->raw_size, (uintmax_t)corpus->tokens_size,
            (double)corpus->token_count[TITLE] / count, (double)corpus->token_count[TEXT] / count);
    finish(file);
}

static void release(struct corpus *corpus, struct listing *listing)
{
    for (size_t i = 0; i < corpus->sample_count; i++)
        free(corpus->samples[i].words);
    free(corpus->samples);
    free(corpus->df);
    free(corpus->last);
    for (int field = 0; field < 2; field++)
        buf_release(&corpus->stems[field]);
    buf_release(&corpus->line);
    buf_release(&listing->title);
    buf_release(&listing->text);
    analysis_free(corpus->analysis);
    lexicon_close(corpus->lexicon);
    listings_free(corpus->listings);
    free(corpus);
}

int main(int argc, char **argv)
{
    struct corpus *corpus = mem_zero(sizeof(*corpus));
    struct listing listing = {.title = BUF_INIT(1 << 16), .text = BUF_INIT(1 << 16)};
    uint64_t changes = argc == 5 ? strtoull(argv[4], NULL, 10) : 0;
    struct err err;

    if (argc != 5)
        die("usage", "bench-core-corpus DIR COUNT SEED CHANGES");
    corpus->count = strtoull(argv[2], NULL, 10);
    corpus->seed = strtoull(argv[3], NULL, 10);
    if (corpus->count < 100 || corpus->count > UINT32_MAX - 1 || changes > corpus->count)
        die(argv[2], "a COUNT from 100 on, and at most as many CHANGES");
    corpus->listings = listings_new(corpus->seed, corpus->count);
    corpus->analysis = analysis_new();
    if (lexicon_open(NULL, 0, &corpus->lexicon, &err))
        die("lexicon", err.text);
    corpus->samples = mem_array(SAMPLE_COUNT, sizeof(*corpus->samples));
    buf_init(&corpus->stems[TITLE], 1 << 20);
    buf_init(&corpus->stems[TEXT], 1 << 20);
    buf_init(&corpus->line, 16 << 20);
    write_listings(corpus, argv[1], &listing);
    write_queries(corpus, argv[1]);
    write_changes(corpus, argv[1], changes, &listing);
    write_meta(corpus, argv[1], changes);
    release(corpus, &listing);
    return 0;
}
