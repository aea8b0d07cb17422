/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Text on its way into the index: analysis alone, with a lexicon that is empty, with one that knows
 * the words, and, as the baseline, stemming every word instead of asking the lexicon. Listings are
 * generated, two thirds Russian, words by Zipf's law. Rounds of warm and baseline alternate.
 * Times are of the processor, one core.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/buf.h"
#include "base/memory.h"
#include "base/random.h"
#include "index/bounds.h"
#include "index/text/lexicon.h"

enum { ROOT_COUNT = 60000, DOC_WORDS = 40, ROUND_COUNT = 5, QUERY_COUNT = 300, ROOT_SIZE = 40 };

struct corpus {
    struct buf text;
    size_t *ends; /* of each document */
    size_t count;
};

struct rates {
    double seconds;
    size_t token_count;
};

/* Of this thread's processor time: what else the machine does is not ours to measure. */
static double now_s(void)
{
    struct timespec now;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void make_root(struct rng *rng, bool russian, char root[ROOT_SIZE])
{
    static const char *const ru[] = {"ка",  "по", "ре", "ст", "но",  "ут", "ма", "ши", "ко", "ли",
                                     "тро", "ви", "до", "за", "гра", "бу", "пе", "ве", "ло", "сни"};
    static const char *const en[] = {"ca",  "po", "re", "st", "no",  "ut", "ma", "shi", "co", "li",
                                     "tro", "vi", "do", "za", "gra", "bu", "pe", "we",  "lo", "ni"};
    size_t size = 0;

    for (uint64_t left = 2 + rng_below(rng, 3); left > 0; left--)
        size += (size_t)snprintf(root + size, ROOT_SIZE - size, "%s",
                                 russian ? ru[rng_below(rng, ARRAY_COUNT(ru))]
                                         : en[rng_below(rng, ARRAY_COUNT(en))]);
    snprintf(root + size, ROOT_SIZE - size, "%s", russian ? "н" : "n");
}

static void put_word(struct corpus *corpus, struct rng *rng, char (*roots)[ROOT_SIZE])
{
    static const char *const ru_ends[] = {"а", "ы", "ый", "ого", "ами", "", "ить", "ение"};
    static const char *const en_ends[] = {"", "s", "ing", "ed", "er", "ly"};
    static const char *const extras[] = {"128 ГБ", "1,5 л", "iPhone15", "wi-fi", "50 000", "А4"};
    /* Zipf's law, near enough: the logarithm of the rank is even. */
    size_t rank = (size_t)exp((double)rng_below(rng, 1000000) / 1e6 * log(ROOT_COUNT));
    const char *root = roots[rank % ROOT_COUNT];

    if (rng_below(rng, 12) == 0) {
        buf_put_text(&corpus->text, extras[rng_below(rng, ARRAY_COUNT(extras))]);
        return;
    }
    buf_put_text(&corpus->text, root);
    buf_put_text(&corpus->text, (uint8_t)root[0] >= 0x80
                                    ? ru_ends[rng_below(rng, ARRAY_COUNT(ru_ends))]
                                    : en_ends[rng_below(rng, ARRAY_COUNT(en_ends))]);
}

static void make_corpus(struct corpus *corpus, size_t doc_count)
{
    struct rng rng = rng_seeded(1);
    char(*roots)[ROOT_SIZE] = mem_array(ROOT_COUNT, ROOT_SIZE);

    buf_init(&corpus->text, (size_t)1 << 30);
    corpus->ends = mem_array(doc_count, sizeof(*corpus->ends));
    corpus->count = doc_count;
    for (size_t i = 0; i < ROOT_COUNT; i++)
        make_root(&rng, i % 3 != 0, roots[i]);
    for (size_t i = 0; i < doc_count; i++) {
        for (int left = DOC_WORDS; left > 0; left--) {
            put_word(corpus, &rng, roots);
            buf_put_text(&corpus->text, rng_below(&rng, 8) ? " " : ", ");
        }
        corpus->ends[i] = corpus->text.size;
    }
    free(roots);
}

enum mode { MODE_ANALYSIS, MODE_LEXICON, MODE_STEM };

/* The baseline finds the term by a stem it makes anew for each token. */
static struct rates run(const struct corpus *corpus, struct lexicon *lexicon, enum mode mode)
{
    struct analysis *analysis = analysis_new();
    struct lexicon_entry *entries = mem_array(TOKEN_COUNT_MAX, sizeof(*entries));
    struct rates rates = {0};
    double start = now_s();
    size_t from = 0;

    for (size_t i = 0; i < corpus->count; i++) {
        struct bytes text = bytes_make(corpus->text.data + from, corpus->ends[i] - from);
        struct token_list list = analysis_run(analysis, text);
        struct err err;

        if (mode == MODE_LEXICON &&
            lexicon_add_tokens(lexicon, analysis, list.tokens, list.count, entries, &err)) {
            fprintf(stderr, "bench analysis: %s\n", err.text);
            exit(1);
        }
        for (size_t k = 0; k < list.count && mode == MODE_STEM; k++) {
            struct bytes form = list.tokens[k].form;

            lexicon_find_term(lexicon, analysis_stem(analysis, form, list.tokens[k].script),
                              &entries[k].term);
        }
        rates.token_count += list.count;
        from = corpus->ends[i];
    }
    rates.seconds = now_s() - start;
    analysis_free(analysis);
    free(entries);
    return rates;
}

static void print(const char *name, const struct corpus *corpus, struct rates rates)
{
    printf("%-28s %8.0f MB/s %8.2f M tokens/s\n", name,
           (double)corpus->text.size / 1e6 / rates.seconds,
           (double)rates.token_count / 1e6 / rates.seconds);
}

/* Words of the lexicon with a letter left out; the mean time of an expansion, in µs. */
static double expand(const struct lexicon *lexicon, unsigned distance, size_t exact)
{
    struct lexicon_hit hits[LEXICON_EXPAND_COUNT_MAX];
    struct rng rng = rng_seeded(7);
    double start = now_s();
    size_t count;

    for (int i = 0; i < QUERY_COUNT; i++) {
        termid term = (termid)rng_below(&rng, lexicon_sizes(lexicon).term_count);
        struct bytes word = lexicon_form(lexicon, (struct lexicon_entry){term, 0});

        if (distance)
            lexicon_fuzzy(lexicon, word, distance, exact, hits, ARRAY_COUNT(hits), &count, NULL);
        else
            lexicon_prefix(lexicon, word, hits, ARRAY_COUNT(hits), &count, NULL);
    }
    return (now_s() - start) * 1e6 / QUERY_COUNT;
}

static int compare_doubles(const void *a, const void *b)
{
    double left = *(const double *)a;
    double right = *(const double *)b;

    return (left > right) - (left < right);
}

int main(int argc, char **argv)
{
    size_t doc_count = argc > 1 ? strtoul(argv[1], NULL, 10) : 100000;
    struct corpus corpus;
    struct lexicon *lexicon;
    struct rates alone, cold, warm = {0}, stem = {0};
    double ratios[ROUND_COUNT];
    struct lexicon_sizes sizes;
    struct err err;

    make_corpus(&corpus, doc_count ? doc_count : 1);
    if (lexicon_open(NULL, 0, &lexicon, &err))
        return 1;
    alone = run(&corpus, lexicon, MODE_ANALYSIS);
    cold = run(&corpus, lexicon, MODE_LEXICON);
    for (int i = 0; i < ROUND_COUNT; i++) {
        warm = run(&corpus, lexicon, MODE_LEXICON);
        stem = run(&corpus, lexicon, MODE_STEM);
        ratios[i] = stem.seconds / warm.seconds;
    }
    qsort(ratios, ROUND_COUNT, sizeof(ratios[0]), compare_doubles);
    lexicon_reclaim(lexicon, NULL);
    sizes = lexicon_sizes(lexicon);
    printf("%zu documents, %.1f MB, %u forms, %u terms, %.0f bytes a form\n", corpus.count,
           (double)corpus.text.size / 1e6, sizes.form_count, sizes.term_count,
           (double)sizes.memory_size / sizes.form_count);
    print("analysis alone", &corpus, alone);
    print("and an empty lexicon", &corpus, cold);
    print("and a lexicon that knows", &corpus, warm);
    print("and a stem for every word", &corpus, stem);
    lexicon_sort(lexicon);
    printf("prefix_us=%.1f fuzzy1_us=%.1f fuzzy2_us=%.1f fuzzy1_exact1_us=%.1f\n",
           expand(lexicon, 0, 0), expand(lexicon, 1, 0), expand(lexicon, 2, 0),
           expand(lexicon, 1, 1));
    printf("analysis_mb_s=%.0f cold_mb_s=%.0f warm_mb_s=%.0f warm_mtokens_s=%.2f "
           "stem_mtokens_s=%.2f warm_over_stem=%.2f\n",
           (double)corpus.text.size / 1e6 / alone.seconds,
           (double)corpus.text.size / 1e6 / cold.seconds,
           (double)corpus.text.size / 1e6 / warm.seconds,
           (double)warm.token_count / 1e6 / warm.seconds,
           (double)stem.token_count / 1e6 / stem.seconds, ratios[ROUND_COUNT / 2]);
    lexicon_close(lexicon);
    buf_release(&corpus.text);
    free(corpus.ends);
    return 0;
}
