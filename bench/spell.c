/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spell.c - the speller for bench/spell.py: corrects lines, and measures itself.
 *
 * usage: bench-spell correct        each line of the input is answered by its corrected line
 *        bench-spell explain        the same, and a line for each change
 *        bench-spell speed          µs a word over the lines of the input, size and time to start
 */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/memory.h"
#include "spell/embedded.h"
#include "spell/speller.h"

enum { LINE_SIZE_MAX = 64 << 10, ROUND_COUNT = 20 };

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

int main(int argc, char **argv)
{
    struct speller_options options = {.base = spell_base()};
    int64_t begin_us = cpu_us();
    struct speller *speller;
    struct err err;

    if (argc != 2 || speller_open(&options, &speller, &err)) {
        fprintf(stderr, "bench-spell: %s\n", argc == 2 ? err.text : "correct, explain or speed");
        return 2;
    }
    if (strcmp(argv[1], "speed") == 0)
        speed(speller, cpu_us() - begin_us);
    else
        correct(speller, strcmp(argv[1], "explain") == 0);
    speller_close(speller);
    return 0;
}
