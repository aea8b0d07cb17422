/* SPDX-License-Identifier: Apache-2.0 */
/*
 * replay.c - runs a fuzz target without libFuzzer: over the saved inputs, then over mutations.
 *
 * Every test run thus repeats what fuzzing has found, with any compiler and its sanitizers. The
 * mutations are few, follow from the seed that is printed (TORG_SEED repeats one), and the input
 * at work is kept where a sanitizer's report can be matched with it: in the last comment line.
 */
#include <dirent.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { INPUT_SIZE_MAX = 1 << 20, INPUT_COUNT_MAX = 4096, MUTATION_COUNT = 2000 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct input {
    uint8_t *data;
    size_t size;
};

static struct input inputs[INPUT_COUNT_MAX];
static size_t input_count;

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static void load(const char *folder, const char *name)
{
    static uint8_t buffer[INPUT_SIZE_MAX];
    char path[4096];
    FILE *file;
    size_t size;

    snprintf(path, sizeof(path), "%s/%s", folder, name);
    file = fopen(path, "rb");
    if (!file || input_count == INPUT_COUNT_MAX) {
        printf("Bail out! %s: %s\n", path, file ? "too many inputs" : strerror(errno));
        exit(1);
    }
    size = fread(buffer, 1, sizeof(buffer), file);
    fclose(file);
    inputs[input_count].data = malloc(size ? size : 1);
    memcpy(inputs[input_count].data, buffer, size);
    inputs[input_count++].size = size;
    printf("# %s\n", name);
    fflush(stdout);
    LLVMFuzzerTestOneInput(inputs[input_count - 1].data, size);
}

/* A copy of exactly its size, so that the sanitizer sees a read past the end. */
static void run_mutated(const struct input *seed, uint64_t *random)
{
    size_t size = seed->size;
    uint8_t *data;

    if (next_random(random) % 4 == 0)
        size = next_random(random) % (size + 1);
    data = malloc(size ? size : 1);
    memcpy(data, seed->data, size);
    for (uint64_t left = 1 + next_random(random) % 4; left > 0 && size > 0; left--) {
        uint64_t value = next_random(random);

        if (value % 2)
            data[(value >> 8) % size] ^= (uint8_t)(1U << (value >> 1) % 8);
        else
            data[(value >> 8) % size] = (uint8_t)(value >> 48);
    }
    LLVMFuzzerTestOneInput(data, size);
    free(data);
}

static int is_input(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

int main(int argc, char **argv)
{
    const char *given = getenv("TORG_SEED");
    uint64_t seed = given ? strtoull(given, NULL, 0) : (uint64_t)time(NULL);
    uint64_t random = seed * UINT64_C(0x9e3779b97f4a7c15) | 1;
    struct dirent **entries = NULL;
    /* By name, so that a seed finds the same input on every file system. */
    int count = argc > 1 ? scandir(argv[1], &entries, is_input, alphasort) : 0;

    puts("1..2");
    for (int i = 0; i < count; i++) {
        load(argv[1], entries[i]->d_name);
        free(entries[i]);
    }
    free(entries);
    printf("%s 1 - %zu saved inputs\n", input_count ? "ok" : "not ok", input_count);
    printf("# TORG_SEED=%ju\n", (uintmax_t)seed);
    fflush(stdout);
    for (int i = 0; i < MUTATION_COUNT && input_count > 0; i++)
        run_mutated(&inputs[next_random(&random) % input_count], &random);
    printf("ok 2 - %d mutated inputs\n", MUTATION_COUNT);
    for (size_t i = 0; i < input_count; i++)
        free(inputs[i].data);
    return input_count ? 0 : 1;
}
