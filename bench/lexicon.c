/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A lexicon of many forms: what it costs to add them, to find them, to sort and to open it, and
 * what memory it takes. Half of the words are Russian with eight endings each, half are names of
 * models that occur once. Times are of the processor, one core; the longest addition is by the
 * clock.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/file.h"
#include "base/memory.h"
#include "base/random.h"
#include "index/bounds.h"
#include "index/text/lexicon.h"

enum { WORD_SIZE = 64, QUERY_COUNT = 300, LOOKUP_COUNT = 4000000, BATCH = 32, PATH_SIZE = 300 };

static double time_s(clockid_t clock)
{
    struct timespec now;

    clock_gettime(clock, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static double cpu_s(void)
{
    return time_s(CLOCK_THREAD_CPUTIME_ID);
}

static void die(const struct err *err)
{
    fprintf(stderr, "bench lexicon: %s\n", err->text);
    exit(1);
}

/* The number-th form of all. */
static size_t make_form(uint32_t number, char form[WORD_SIZE], enum script *script)
{
    static const char *const syllables[] = {"ка",  "по", "ре", "ст", "но", "ут",  "ма", "ши",
                                            "тро", "ви", "до", "за", "бу", "гра", "пе", "ло"};
    static const char *const ends[] = {"н", "на", "ны", "ный", "ного", "нами", "нить", "нение"};
    uint32_t root = number / 16;
    size_t size = 0;

    if (number % 2) {
        *script = SCRIPT_LATIN;
        return (size_t)snprintf(form, WORD_SIZE, "x%xm%u", number * 2654435761U, number % 1000);
    }
    *script = SCRIPT_CYRILLIC;
    do {
        size += (size_t)snprintf(form + size, WORD_SIZE - size, "%s",
                                 syllables[root % ARRAY_COUNT(syllables)]);
        root /= ARRAY_COUNT(syllables);
    } while (root);
    return size + (size_t)snprintf(form + size, WORD_SIZE - size, "%s", ends[number / 2 % 8]);
}

static void add_all(struct lexicon *lexicon, uint32_t count)
{
    struct analysis *analysis = analysis_new();
    double start = cpu_s(), longest = 0;
    struct lexicon_entry entry;
    uint64_t durable;
    struct err err;

    for (uint32_t i = 0; i < count; i++) {
        enum script script;
        char form[WORD_SIZE];
        size_t size = make_form(i, form, &script);
        double begun = time_s(CLOCK_MONOTONIC), taken;

        if (lexicon_add(lexicon, analysis, bytes_make(form, size), script, &entry, &err))
            die(&err);
        taken = time_s(CLOCK_MONOTONIC) - begun;
        longest = taken > longest ? taken : longest;
    }
    printf("add_ns=%.0f longest_add_ms=%.1f ", (cpu_s() - start) * 1e9 / count, longest * 1e3);
    if (lexicon_sync(lexicon, &durable, &err))
        die(&err);
    analysis_free(analysis);
}

/* Known words in an order that no cache knows, as a document asks for them: many at once. */
static void find_all(struct lexicon *lexicon, uint32_t count)
{
    struct analysis *analysis = analysis_new();
    struct rng rng = rng_seeded(3);
    char forms[BATCH][WORD_SIZE];
    struct token tokens[BATCH];
    struct lexicon_entry entries[BATCH];
    double taken = 0;
    struct err err;

    for (int i = 0; i < LOOKUP_COUNT / BATCH; i++) {
        double start;

        for (int k = 0; k < BATCH; k++) {
            enum script script;
            size_t size = make_form((uint32_t)rng_below(&rng, count), forms[k], &script);

            tokens[k] =
                (struct token){.form = bytes_make(forms[k], size), .script = (uint8_t)script};
        }
        start = cpu_s();
        if (lexicon_add_tokens(lexicon, analysis, tokens, BATCH, entries, &err))
            die(&err);
        taken += cpu_s() - start;
    }
    printf("find_ns=%.0f ", taken * 1e9 / LOOKUP_COUNT);
    analysis_free(analysis);
}

static double expand_us(const struct lexicon *lexicon, uint32_t count, unsigned distance)
{
    struct lexicon_hit hits[LEXICON_EXPAND_COUNT_MAX];
    struct rng rng = rng_seeded(7);
    double start = cpu_s();

    for (int i = 0; i < QUERY_COUNT; i++) {
        enum script script;
        char form[WORD_SIZE];
        size_t size = make_form((uint32_t)rng_below(&rng, count), form, &script), found;
        struct bytes word = bytes_make(form, size);

        if (distance)
            lexicon_fuzzy(lexicon, word, distance, 1, hits, ARRAY_COUNT(hits), &found, NULL);
        else
            lexicon_prefix(lexicon, word, hits, ARRAY_COUNT(hits), &found, NULL);
    }
    return (cpu_s() - start) * 1e6 / QUERY_COUNT;
}

int main(int argc, char **argv)
{
    uint32_t count = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 1000000;
    char dir[] = "/tmp/torg-bench-XXXXXX", path[PATH_SIZE];
    struct lexicon_sizes sizes;
    struct lexicon *lexicon;
    struct err err;
    double start;

    if (!mkdtemp(dir))
        return 1;
    snprintf(path, sizeof(path), "%s/lexicon.log", dir);
    if (lexicon_open(path, 0, &lexicon, &err))
        die(&err);
    add_all(lexicon, count);
    start = cpu_s();
    lexicon_sort(lexicon);
    lexicon_reclaim(lexicon, NULL);
    printf("sort_s=%.2f ", cpu_s() - start);
    find_all(lexicon, count);
    printf("prefix_us=%.1f fuzzy1_us=%.0f fuzzy2_us=%.0f ", expand_us(lexicon, count, 0),
           expand_us(lexicon, count, 1), expand_us(lexicon, count, 2));
    sizes = lexicon_sizes(lexicon);
    lexicon_close(lexicon);
    start = cpu_s();
    if (lexicon_open(path, 0, &lexicon, &err))
        die(&err);
    printf("open_s=%.2f\n", cpu_s() - start);
    lexicon_close(lexicon);
    printf("forms=%u terms=%u memory_mb=%.0f bytes_a_form=%.1f file_mb=%.0f\n", sizes.form_count,
           sizes.term_count, (double)sizes.memory_size / 1e6,
           (double)sizes.memory_size / sizes.form_count, (double)sizes.file_size / 1e6);
    return dir_remove(dir, &err) ? 1 : 0;
}
