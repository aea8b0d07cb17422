/* SPDX-License-Identifier: Apache-2.0 */
/*
 * query_text.c - the text part of a query: AND, OR and phrases of two words, one word; counts,
 * best 10, best 100 with the count. Generated documents of two fields, words by Zipf's law, in a
 * segment (or several) in memory; one thread, warm. Each query is run several times, its best time
 * counts; the table shows mean, median and 99th percentile over the queries of a class.
 *
 * usage: bench-query-text [DOCUMENTS [SEGMENTS [QUERIES [PART OF A LINE'S NAME]]]]
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/memory.h"
#include "base/random.h"
#include "index/postings/text_segment_writer.h"
#include "query/text/text_plan.h"

enum {
    VOCABULARY = 300000,
    TITLE_TOKENS = 6,
    TEXT_TOKENS = 54,
    DOC_TOKENS = TITLE_TOKENS + TEXT_TOKENS,
    ROUNDS = 5,
    WORD_SIZE = 16,
};

static uint32_t doc_count = 1000000, segment_count = 1, query_count = 60;
static struct snapshot snapshot;
static struct analysis *analysis;
static const struct text_lengths text_lengths = {.sums = {TITLE_TOKENS * 4, TEXT_TOKENS * 3},
                                                 .counts = {4, 4}};
static float averages[TEXT_NORM_FIELD_COUNT];
static struct text_norms norms;
static struct err err;
static uint64_t checksum;
static const char *wanted = "";

static void check(int rc)
{
    if (rc) {
        fprintf(stderr, "bench: %s\n", err.text);
        exit(1);
    }
}

static double us_now(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

/* ---- documents ---- */

/* Consonants only: no stemmer changes them. */
static void name_word(uint32_t rank, char word[WORD_SIZE])
{
    static const char letters[] = "bcdfghjklmnpqrtvwxz";
    size_t at = 0;

    word[at++] = 'x';
    for (; rank; rank /= sizeof(letters) - 1)
        word[at++] = letters[rank % (sizeof(letters) - 1)];
    word[at++] = 'x';
    word[at] = 0;
}

static float *cumulative;

static uint32_t draw_word(struct rng *rng)
{
    float at = (float)(rng_next(rng) >> 40) / (float)(1 << 24);
    uint32_t low = 0, high = VOCABULARY - 1;

    while (low < high) {
        uint32_t middle = (low + high) / 2;

        if (cumulative[middle] > at)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

static void draw_doc(docid id, uint32_t words[DOC_TOKENS], uint32_t *count)
{
    struct rng rng = rng_seeded(id);
    uint32_t i;

    rng = rng_seeded(rng_next(&rng)); /* else neighbours would share most of their words */

    *count = TITLE_TOKENS + TEXT_TOKENS / 2 + (uint32_t)rng_below(&rng, TEXT_TOKENS / 2 + 1);
    for (i = 0; i < *count; i++)
        words[i] = draw_word(&rng);
}

struct entry {
    docid id;
    uint32_t place; /* of the token in the document: the title first */
};

static void put_term(struct text_segment_writer *writer, const struct entry *entries,
                     uint64_t count, bool counting)
{
    uint64_t i = 0;

    while (i < count) {
        struct occurrence occurrences[DOC_TOKENS];
        uint32_t tfs = 0, found = 0;
        docid id = entries[i].id;

        for (; i < count && entries[i].id == id; i++) {
            uint32_t place = entries[i].place;

            tfs += place < TITLE_TOKENS ? 1 : 256;
            occurrences[found++] =
                (struct occurrence){place < TITLE_TOKENS ? place : place - TITLE_TOKENS, 0};
        }
        if (counting)
            text_segment_writer_count(writer, tfs, 1);
        else
            text_segment_writer_posting(writer, id, tfs, occurrences);
    }
}

static struct text_segment *make_segment(docid first, docid end, const termid *terms,
                                         struct doc_lengths *lengths)
{
    struct text_segment_info info = {.epoch = 1, .segment = first};
    struct text_segment_writer *writer = text_segment_writer_new(&info, &norms, NULL);
    uint64_t *starts = mem_array(VOCABULARY + 1, sizeof(*starts)), *ends;
    uint32_t words[DOC_TOKENS], count, i, k;
    struct text_segment *segment;
    struct entry *entries;
    docid id;

    for (id = first; id < end; id++) {
        uint8_t codes[SEGMENT_FIELD_COUNT] = {0};

        draw_doc(id, words, &count);
        codes[0] = doc_length_code(TITLE_TOKENS);
        codes[1] = doc_length_code(count - TITLE_TOKENS);
        text_segment_writer_doc(writer, id, codes);
        doc_lengths_set(lengths, id, codes[0] | (uint32_t)codes[1] << 8);
        for (i = 0; i < count; i++)
            starts[words[i] + 1]++;
    }
    for (i = 0; i < VOCABULARY; i++)
        starts[i + 1] += starts[i];
    entries = mem_array(starts[VOCABULARY], sizeof(*entries));
    ends = mem_array(VOCABULARY, sizeof(*ends));
    memcpy(ends, starts, VOCABULARY * sizeof(*ends));
    for (id = first; id < end; id++) {
        draw_doc(id, words, &count);
        for (i = 0; i < count; i++)
            entries[ends[words[i]]++] = (struct entry){id, i};
    }
    for (k = 0; k < 2; k++) {
        for (i = 0; i < VOCABULARY; i++) { /* terms ascend as ranks do */
            if (starts[i] == ends[i])
                continue;
            if (k)
                text_segment_writer_term(writer, terms[i]);
            put_term(writer, entries + starts[i], ends[i] - starts[i], k == 0);
        }
    }
    check(text_segment_writer_finish(writer, &segment, &err));
    text_segment_writer_free(writer);
    free(starts);
    free(ends);
    free(entries);
    return segment;
}

static void make_snapshot(void)
{
    static const struct field title = {.type = FIELD_TEXT, .weight = 2, .name = "title"};
    static const struct field text = {.type = FIELD_TEXT, .weight = 1, .name = "text"};
    struct doc_lengths *lengths = doc_lengths_new();
    struct schema *schema = schema_new();
    struct live_writer *live = live_writer_new(epoch_new(), true);
    struct snapshot_segment *segments = mem_array(segment_count, sizeof(*segments));
    termid *terms = mem_array(VOCABULARY, sizeof(*terms));
    struct lexicon *lexicon;
    char word[WORD_SIZE];
    double sum = 0;
    uint32_t i;

    analysis = analysis_new();
    check(lexicon_open(NULL, 0, &lexicon, &err));
    cumulative = mem_array(VOCABULARY, sizeof(*cumulative));
    for (i = 0; i < VOCABULARY; i++) {
        struct lexicon_entry entry;

        name_word(i, word);
        check(lexicon_add(lexicon, analysis, bytes_of(word), SCRIPT_LATIN, &entry, &err));
        terms[i] = entry.term;
        sum += 1.0 / (i + 1);
    }
    for (i = 0; i < VOCABULARY; i++)
        cumulative[i] = (i ? cumulative[i - 1] : 0) + (float)(1.0 / (i + 1) / sum);
    text_lengths_averages(&text_lengths, averages);
    text_norms_make(&norms, averages);
    check(schema_add(schema, &title, NULL, &err));
    check(schema_add(schema, &text, NULL, &err));
    for (i = 0; i < segment_count; i++) {
        docid first = (docid)((uint64_t)doc_count * i / segment_count);
        docid end = (docid)((uint64_t)doc_count * (i + 1) / segment_count);

        segments[i].segment = make_segment(first, end, terms, lengths);
        segments[i].live = live_commit(live);
    }
    snapshot = (struct snapshot){
        .magic = SNAPSHOT_MAGIC,
        .sequence = 1,
        .window_count = (doc_count + WINDOW_SIZE - 1) / WINDOW_SIZE,
        .doc_count = doc_count,
        .text_doc_count = doc_count,
        .alive = live_commit(live),
        .schema = schema,
        .lexicon = lexicon,
        .lengths = lengths,
        .text_lengths = text_lengths,
        .norms = norms,
        .bound_averages = averages,
        .segment_count = segment_count,
        .segments = segments,
    };
    free(terms);
    free(cumulative);
}

/* ---- queries ---- */

enum action { COUNT, TOP, TOP_COUNT };

struct asked {
    char texts[2][2 * WORD_SIZE];
    struct text_clause clauses[2];
    struct query_text text;
};

static uint64_t run_count(struct text_plan *plan)
{
    struct window_bits bits;
    uint64_t count = 0;
    uint32_t window;

    for (window = text_plan_next(plan, 0); window != WINDOW_END;
         window = text_plan_next(plan, window + 1)) {
        check(text_plan_match(plan, window, NULL, &bits, &err));
        count += kernels()->window_count(&bits);
    }
    return count;
}

/* As a page does it: every window is matched, and scored for what may enter. */
static uint64_t run_top_count(struct text_plan *plan, uint32_t k)
{
    static uint16_t offsets[WINDOW_LIST_MAX + WINDOW_LIST_SPARE];
    static float scores[WINDOW_LIST_MAX + WINDOW_LIST_SPARE];
    struct scored_doc best[101];
    struct window_bits bits;
    uint64_t total = 0;
    uint32_t window, count = 0, found, i, at;

    for (window = text_plan_next(plan, 0); window != WINDOW_END;
         window = text_plan_next(plan, window + 1)) {
        float threshold = count == k ? nextafterf(best[k - 1].score, INFINITY) : -INFINITY;

        check(text_plan_match(plan, window, NULL, &bits, &err));
        total += kernels()->window_count(&bits);
        if (text_plan_bound(plan, window) < threshold)
            continue;
        check(text_plan_select(plan, window, &bits, threshold, offsets, scores, &found, &err));
        for (i = 0; i < found; i++) {
            if (count == k && scores[i] <= best[k - 1].score)
                continue;
            at = count < k ? count++ : k - 1;
            for (; at > 0 && best[at - 1].score < scores[i]; at--)
                best[at] = best[at - 1];
            best[at] = (struct scored_doc){window_first(window) + offsets[i], scores[i],
                                           (double)scores[i]};
        }
    }
    return total + (count ? best[0].id : 0);
}

static double run(const struct asked *asked, enum action action, uint32_t k,
                  const struct query_tuning *tuning, uint64_t *result)
{
    static struct arena *arena;
    struct scored_doc top[1000];
    struct text_plan *plan;
    double start = us_now();
    uint32_t count = 0, i;

    if (!arena)
        arena = arena_new();
    *result = 0;
    check(text_plan_new(&snapshot, analysis, &asked->text, tuning, arena, &plan, &err));
    if (action == COUNT)
        *result = run_count(plan);
    if (action == TOP_COUNT)
        *result = run_top_count(plan, k);
    if (action == TOP)
        check(text_plan_top(plan, k, NULL, NULL, NULL, top, &count, &err));
    for (i = 0; i < count; i++)
        *result = *result * 31 + top[i].id;
    arena_reset(arena);
    return us_now() - start;
}

/* Ranks of words: in 5 to 40, 0.3 to 3 and 0.01 to 0.1 % of the documents. */
static const struct {
    const char *name;
    uint32_t from[2], to[2]; /* to 0: one word */
} classes[] = {
    {"high high", {8, 8}, {80, 80}},         {"high med", {8, 150}, {80, 1500}},
    {"med low", {150, 4000}, {1500, 40000}}, {"one high", {8, 0}, {80, 0}},
    {"one med", {150, 0}, {1500, 0}},
};

static void ask(struct rng *rng, size_t class, int kind, bool any, struct asked *asked)
{
    uint32_t words = classes[class].to[1] ? 2 : 1, i;
    char word[WORD_SIZE];

    memset(asked, 0, sizeof(*asked));
    for (i = 0; i < words; i++) {
        uint32_t into = kind == CLAUSE_PHRASE ? 0 : i;

        name_word(classes[class].from[i] +
                      (uint32_t)rng_below(rng, classes[class].to[i] - classes[class].from[i]),
                  word);
        snprintf(asked->texts[into] + strlen(asked->texts[into]), WORD_SIZE + 1, "%s ", word);
        asked->clauses[into] = (struct text_clause){
            .occur = any ? OCCUR_SHOULD : OCCUR_MUST,
            .kind = (uint8_t)kind,
            .text = bytes_of(asked->texts[into]),
        };
    }
    asked->text =
        (struct query_text){.clauses = asked->clauses, .count = kind == CLAUSE_PHRASE ? 1 : words};
}

static int compare(const void *a, const void *b)
{
    const double *left = a, *right = b;

    return (*left > *right) - (*left < *right);
}

static void measure(size_t class, const char *what, int kind, bool any, enum action action,
                    uint32_t k)
{
    static const struct query_tuning plain = {.use_windows = 1, .use_bounds = -1};
    double *times = mem_array(query_count, sizeof(*times)), sum = 0;
    struct rng rng = rng_seeded(class + 1);
    uint32_t i, round;
    char name[64];

    snprintf(name, sizeof(name), "%s %s", classes[class].name, what);
    for (i = 0; i < query_count && strstr(name, wanted); i++) {
        struct asked asked;
        uint64_t result, other;

        ask(&rng, class, kind, any, &asked);
        times[i] = INFINITY;
        for (round = 0; round < ROUNDS; round++)
            times[i] = fmin(times[i], run(&asked, action, k, NULL, &result));
        checksum = checksum * 31 + result;
        if (i % 16 == 0) {
            run(&asked, action, k, &plain, &other);
            if (result != other) {
                fprintf(stderr, "bench: another answer in the plain way: %s\n", asked.texts[0]);
                exit(1);
            }
        }
        sum += times[i];
    }
    qsort(times, query_count, sizeof(*times), compare);
    if (i)
        printf("%-10s %-22s %9.1f %9.1f %9.1f\n", classes[class].name, what, sum / query_count,
               times[query_count / 2], times[query_count * 99 / 100]);
    free(times);
}

int main(int argc, char **argv)
{
    size_t class;

    if (argc > 1)
        doc_count = (uint32_t)strtoul(argv[1], NULL, 10);
    if (argc > 2)
        segment_count = (uint32_t)strtoul(argv[2], NULL, 10);
    if (argc > 3)
        query_count = (uint32_t)strtoul(argv[3], NULL, 10);
    if (argc > 4)
        wanted = argv[4];
    make_snapshot();
    printf("%u documents of %d words at most, %u segments, %s kernels; µs\n", doc_count, DOC_TOKENS,
           segment_count, kernels()->name);
    printf("%-10s %-22s %9s %9s %9s\n", "words", "query", "mean", "p50", "p99");
    for (class = 0; class < sizeof(classes) / sizeof(classes[0]); class ++) {
        bool two = classes[class].to[1] != 0;

        measure(class, two ? "AND top 10" : "top 10", CLAUSE_WORD, false, TOP, 10);
        measure(class, two ? "AND count" : "count", CLAUSE_WORD, false, COUNT, 0);
        measure(class, two ? "AND top 100 + count" : "top 100 + count", CLAUSE_WORD, false,
                TOP_COUNT, 100);
        if (!two)
            continue;
        measure(class, "OR top 10", CLAUSE_WORD, true, TOP, 10);
        measure(class, "OR count", CLAUSE_WORD, true, COUNT, 0);
        measure(class, "OR top 100 + count", CLAUSE_WORD, true, TOP_COUNT, 100);
        measure(class, "phrase top 10", CLAUSE_PHRASE, false, TOP, 10);
        measure(class, "phrase count", CLAUSE_PHRASE, false, COUNT, 0);
    }
    printf("check=%ju\n", (uintmax_t)checksum);
    return 0;
}
