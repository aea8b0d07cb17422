/* SPDX-License-Identifier: Apache-2.0 */
/* shape.c - see shape.h. Counts of three, two and one letters are mixed, the longer the more. */
#include "spell/shape.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/object.h"

enum {
    LATIN_FIRST = 2, /* 0: before the first letter and after the last, 1: a hyphen */
    CYRILLIC_FIRST = LATIN_FIRST + 26,
    CODE_COUNT = CYRILLIC_FIRST + LETTER_END - LETTER_CYRILLIC,
};

#define WEIGHT_THREE 0.70F
#define WEIGHT_TWO 0.25F
#define WEIGHT_ANY 0.05F /* spread over the letters of a script */
#define ANY_COUNT 33.0F
#define COST_LETTER 0.95F /* of any letter where there is nothing to count */

enum { SHAPE_MAGIC = OBJECT_MAGIC('s', 'h', 'a', 'p') };

struct shape {
    uint32_t magic;
    uint32_t three[CODE_COUNT][CODE_COUNT][CODE_COUNT];
    uint32_t two[CODE_COUNT][CODE_COUNT]; /* the last two of a three; and so on */
    uint32_t three_all[CODE_COUNT][CODE_COUNT];
    uint32_t two_all[CODE_COUNT];
    uint64_t word_count;
};

static unsigned code_of(uint8_t letter)
{
    if (letter_is_cyrillic(letter))
        return CYRILLIC_FIRST + letter - LETTER_CYRILLIC;
    return letter >= 'a' && letter <= 'z' ? LATIN_FIRST + letter - 'a' : 1;
}

static void count_word(struct shape *shape, const uint8_t *letters, size_t size)
{
    unsigned first = 0, second = 0;

    for (size_t i = 0; i <= size; i++) {
        unsigned third = i < size ? code_of(letters[i]) : 0;

        shape->three[first][second][third]++;
        shape->three_all[first][second]++;
        shape->two[second][third]++;
        shape->two_all[second]++;
        first = second;
        second = third;
    }
    shape->word_count++;
}

struct shape *shape_new(const struct words *words)
{
    struct shape *shape = mem_zero(sizeof(*shape));

    object_begin(shape, SHAPE_MAGIC);
    for (wordid id = 0; id < words_count(words); id++) {
        const struct word *word = words_get(words, id);

        count_word(shape, words_letters(words, word), word->size);
    }
    return shape;
}

void shape_free(struct shape *shape)
{
    if (!shape)
        return;
    object_end(shape, SHAPE_MAGIC);
    free(shape);
}

static float share(uint32_t count, uint32_t all)
{
    return all ? (float)count / (float)all : 0;
}

float shape_cost(const struct shape *shape, const struct letters *letters)
{
    unsigned first = 0, second = 0;
    float cost = 0;

    object_check(shape, SHAPE_MAGIC);
    if (!shape->word_count)
        return COST_LETTER * (float)letters->size;
    for (unsigned i = 0; i <= letters->size; i++) {
        unsigned third = i < letters->size ? code_of(letters->at[i]) : 0;

        cost -= log10f(WEIGHT_THREE * share(shape->three[first][second][third],
                                            shape->three_all[first][second]) +
                       WEIGHT_TWO * share(shape->two[second][third], shape->two_all[second]) +
                       WEIGHT_ANY / ANY_COUNT);
        first = second;
        second = third;
    }
    return cost;
}

size_t shape_memory(void)
{
    return sizeof(struct shape);
}
