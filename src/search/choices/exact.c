/* SPDX-License-Identifier: Apache-2.0 */
/* exact.c - see exact.h. */
#include "search/choices/exact.h"

#include <string.h>

#include "catalog/words.h"
#include "search/bounds.h"
#include "search/choices/order.h"

enum { WORD_COUNT_MAX = 32, WORD_COUNT_MIN = 2 /* one word names a kind of thing, and no thing */ };

struct typed {
    struct bytes roots[WORD_COUNT_MAX];
    size_t count; /* 0: none, or too many */
};

static void read_words(struct typed *typed, const char *text, struct arena *arena)
{
    const char *rest = words_fold(bytes_of(text), arena);
    struct bytes word;

    typed->count = 0;
    while (words_next(&rest, &word)) {
        if (typed->count == WORD_COUNT_MAX) {
            typed->count = 0;
            return;
        }
        typed->roots[typed->count++] = words_root(word);
    }
}

/* Whether the title has so many words at least, and none that was not typed, or not so often. */
static bool is_exact(const struct typed *typed, const char *title, size_t least,
                     struct arena *arena)
{
    struct typed said;
    uint32_t taken = 0;

    read_words(&said, title, arena);
    for (size_t i = 0; i < said.count; i++) {
        size_t k = 0;

        while (k < typed->count && (taken >> k & 1 || !bytes_equal(typed->roots[k], said.roots[i])))
            k++;
        if (k == typed->count)
            return false;
        taken |= 1U << k;
    }
    return said.count >= least;
}

void exact_first(const struct wanted *wanted, Torg__V1__FoundOffer **offers, size_t count)
{
    struct typed typed, searched;
    size_t place = 0;

    if (wanted->sent->cursor.len || wanted->sent->offset || !order_is_relevance(wanted))
        return;
    read_words(&typed, wanted->text, wanted->arena);
    read_words(&searched, wanted->meaning.text, wanted->arena);
    if (searched.count < WORD_COUNT_MIN)
        return;
    for (size_t i = 0; i < count; i++) {
        Torg__V1__FoundOffer *offer = offers[i];

        if (!is_exact(&typed, offer->title, searched.count, wanted->arena))
            continue;
        memmove(&offers[place + 1], &offers[place], (i - place) * sizeof(offers[0]));
        offers[place++] = offer;
    }
}
