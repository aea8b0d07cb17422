/* SPDX-License-Identifier: Apache-2.0 */
/* nearest.c - see nearest.h: the edit distance, with swapped neighbours counted as one slip. */
#include "config/nearest.h"

#include <string.h>

enum { WORD_SIZE_MAX = 64, DISTANCE_MAX = 3 };

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Both words are shorter than WORD_SIZE_MAX. */
static size_t distance(const char *a, const char *b)
{
    size_t rows[3][WORD_SIZE_MAX + 1];
    size_t *before = rows[0];
    size_t *above = rows[1];
    size_t *row = rows[2];
    size_t width = strlen(b);

    for (size_t j = 0; j <= width; j++)
        above[j] = j;
    for (size_t i = 1; a[i - 1]; i++) {
        size_t *oldest = before;

        row[0] = i;
        for (size_t j = 1; j <= width; j++) {
            size_t replaced = above[j - 1] + (a[i - 1] != b[j - 1]);

            row[j] = least(replaced, least(above[j], row[j - 1]) + 1);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = least(row[j], before[j - 2] + 1);
        }
        before = above;
        above = row;
        row = oldest;
    }
    return above[width];
}

void nearest_offer(struct nearest *nearest, const char *word)
{
    size_t typed_size = strlen(nearest->typed);
    size_t allowed = least(DISTANCE_MAX, typed_size / 2);
    size_t found;

    if (typed_size >= WORD_SIZE_MAX || strlen(word) >= WORD_SIZE_MAX)
        return;
    found = distance(nearest->typed, word);
    if (found > allowed || (nearest->word && found >= nearest->distance))
        return;
    nearest->word = word;
    nearest->distance = found;
}
