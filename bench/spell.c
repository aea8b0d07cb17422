/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spell.c - the speller for bench/spell.py: corrects lines, and measures itself.
 *
 * usage: bench-spell correct        each line of the input is answered by its corrected line
 *        bench-spell explain        the same, and a line for each change
 *        bench-spell speed          µs a word over the lines of the input, size and time to start
 *        bench-spell learn          the same after 200 000 titles with as many new words
 */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/random.h"
#include "spell/embedded.h"
#include "spell/speller.h"

enum { LINE_SIZE_MAX = 64 << 10, ROUND_COUNT = 20, TITLE_COUNT = 200000 };

/* Of this process: other programs of a busy machine do not count. */
static int64_t cpu_us(void)
{
    struct timespec now;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return now.tv_sec * (int64_t)SECOND_US + now.tv_nsec / 1000;
}

static void explain(const struct spell_result *result)
{
    for (size_t i = 0; i < result->change_count; i++) {
        const struct spell_change *change = &result->changes[i];

        printf("\t%.*s > %.*s %s %.2f\n", BYTES_ARG(change->original), BYTES_ARG(change->corrected),
               spell_reason_name(change->reason), (double)change->confidence);
    }
}

static void correct(struct speller *speller, bool is_explained)
{
    static char line[LINE_SIZE_MAX];
    struct arena *arena = arena_new();

    while (fgets(line, sizeof(line), stdin)) {
        struct spell_result result;

        spell_check(speller, bytes_make(line, strcspn(line, "\n")), NULL, NULL, arena, &result,
                    NULL);
        printf("%.*s\n", BYTES_ARG(result.text));
        if (is_explained)
            explain(&result);
        arena_reset(arena);
    }
    arena_free(arena);
}

static void speed(struct speller *speller, int64_t start_us)
{
    static char line[LINE_SIZE_MAX];
    struct arena *arena = arena_new();
    struct speller_sizes sizes = speller_sizes(speller);
    int64_t spent_us = 0;
    size_t count = 0;

    while (fgets(line, sizeof(line), stdin)) {
        struct bytes text = bytes_make(line, strcspn(line, "\n"));
        int64_t begin_us = cpu_us();

        for (int i = 0; i < ROUND_COUNT; i++) {
            struct spell_result result;

            spell_check(speller, text, NULL, NULL, arena, &result, NULL);
            arena_reset(arena);
        }
        spent_us += cpu_us() - begin_us;
        for (size_t i = 0; i < text.size; i++)
            count += text.data[i] > ' ' && (i + 1 == text.size || text.data[i + 1] <= ' ');
    }
    printf("%.2f %u %zu %.0f\n", (double)spent_us / ROUND_COUNT / (double)(count ? count : 1),
           sizes.word_count, sizes.memory_size, (double)start_us / 1000);
    arena_free(arena);
}

/* Titles of ten words: one is new, the others are of some thousands. */
static void learn(struct speller *speller)
{
    struct rng rng = rng_seeded(3);
    int64_t begin_us = cpu_us();

    for (int i = 0; i < TITLE_COUNT; i++) {
        struct buf title = BUF_INIT(1 << 10);

        for (int word = 0; word < 10; word++) {
            uint64_t number = word ? rng_below(&rng, 5000) : (uint64_t)i + 5000;

            for (int letter = 0; letter < 8; letter++, number /= 6)
                buf_put_byte(&title,
                             (uint8_t)("bcdfgaeiouy"[number % 6 + (size_t)(letter % 2) * 5]));
            buf_put_byte(&title, ' ');
        }
        speller_learn(speller, buf_bytes(&title), NULL);
        buf_release(&title);
    }
    printf("%.2f\n", (double)(cpu_us() - begin_us) / TITLE_COUNT);
}

int main(int argc, char **argv)
{
    struct speller_options options = {.base = spell_base()};
    int64_t begin_us = cpu_us();
    struct speller *speller;
    struct err err;

    if (argc != 2 || !strstr(" correct explain speed learn ", argv[1])) {
        fprintf(stderr, "usage: bench-spell correct|explain|speed|learn\n");
        return 2;
    }
    if (speller_open(&options, &speller, &err)) {
        fprintf(stderr, "bench-spell: %s\n",
                argc == 2 ? err.text : "correct, explain, speed or learn");
        return 2;
    }
    if (strcmp(argv[1], "learn") == 0)
        learn(speller);
    if (strcmp(argv[1], "speed") == 0 || strcmp(argv[1], "learn") == 0)
        speed(speller, cpu_us() - begin_us);
    else
        correct(speller, strcmp(argv[1], "explain") == 0);
    speller_close(speller);
    return 0;
}
