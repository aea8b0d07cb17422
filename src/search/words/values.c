/* SPDX-License-Identifier: Apache-2.0 */
/* values.c - see values.h. */
#include "search/words/values.h"

#include <string.h>

#include "base/memory.h"
#include "catalog/words.h"
#include "codec/message.h"

enum { WORD_COUNT_MAX = 16, WORD_SIZE_MIN = 2 };

/* A word of the text. */
struct typed {
    struct bytes text; /* as typed */
    struct bytes root;
    bool is_taken; /* by a value that was told */
};

struct line {
    struct typed words[WORD_COUNT_MAX];
    size_t count;
};

/* Blanks part words; those of several parts, "128-гб", are left out. */
static void read_line(struct line *line, const char *text, struct arena *arena)
{
    line->count = 0;
    while (*text && line->count < WORD_COUNT_MAX) {
        size_t size = strcspn(text, " ");
        const char *folded = words_fold(bytes_make(text, size), arena), *rest = folded;
        struct bytes word;

        if (words_next(&rest, &word) && !*rest)
            line->words[line->count++] =
                (struct typed){.text = bytes_make(text, size), .root = words_root(word)};
        text += size + strspn(text + size, " ");
    }
}

/* The words of the text that are the name's, as bits; 0: one of them is not there, or was told. */
static uint32_t find_name(const struct line *line, const char *name, struct arena *arena)
{
    const char *rest = words_fold(bytes_of(name), arena);
    uint32_t found = 0;
    bool has_letters = false;
    struct bytes word;

    while (words_next(&rest, &word)) {
        struct bytes root = words_root(word);
        size_t i = 0;

        while (i < line->count && (line->words[i].is_taken || found >> i & 1 ||
                                   !bytes_equal(line->words[i].root, root)))
            i++;
        if (i == line->count)
            return 0;
        found |= 1U << i;
        has_letters |= word.data[0] > '9' && word.size >= WORD_SIZE_MIN;
    }
    return has_letters ? found : 0; /* a bare number may be a number of anything */
}

/* The words of these bits, as typed. */
static char *text_of(struct line *line, uint32_t found, struct arena *arena)
{
    char *text = "";

    for (size_t i = 0; i < line->count; i++) {
        if (found >> i & 1)
            text =
                arena_printf(arena, "%s%s%.*s", text, *text ? " " : "",
                             (int)line->words[i].text.size, (const char *)line->words[i].text.data);
    }
    return text;
}

static bool is_kept(const char *text, char *const *kept, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(kept[i], text) == 0)
            return true;
    }
    return false;
}

/* The value of the filter whose name has most words; NULL: the text names none. */
static const Torg__V1__FilterValue *find_value(const struct line *line,
                                               const Torg__V1__SearchFilter *filter,
                                               uint32_t *found, struct arena *arena)
{
    const Torg__V1__FilterValue *best = NULL;

    *found = 0;
    for (size_t i = 0; i < filter->n_values; i++) {
        uint32_t words = find_name(line, filter->values[i]->name, arena);

        if (__builtin_popcount(words) > __builtin_popcount(*found)) {
            best = filter->values[i];
            *found = words;
        }
    }
    return best;
}

static Torg__V1__Understood *understand(const Torg__V1__SearchFilter *filter,
                                        const Torg__V1__FilterValue *value, char *text,
                                        struct arena *arena)
{
    Torg__V1__Understood *understood = MESSAGE_NEW(understood, arena);

    understood->text = text;
    understood->as = "value";
    understood->choice = MESSAGE_NEW(filter_choice, arena);
    understood->choice->id = filter->id;
    understood->choice->values = arena_array(arena, 1, sizeof(understood->choice->values[0]));
    understood->choice->values[0] = value->id;
    understood->choice->n_values = 1;
    return understood;
}

void values_understand(const char *text, char *const *kept, size_t kept_count, struct arena *arena,
                       Torg__V1__SearchOffersResponse *response)
{
    Torg__V1__Understood **list = arena_array(
        arena, response->n_understood + response->n_filters + 1, sizeof(response->understood[0]));
    struct line line;

    read_line(&line, text, arena);
    if (response->n_understood)
        memcpy(list, response->understood, response->n_understood * sizeof(list[0]));
    response->understood = list;
    for (size_t i = 0; i < response->n_filters; i++) {
        const Torg__V1__SearchFilter *filter = response->filters[i];
        const Torg__V1__FilterValue *value = NULL;
        uint32_t found = 0;

        if (filter->kind == TORG__V1__SEARCH_FILTER__KIND__VALUES && !filter->choice)
            value = find_value(&line, filter, &found, arena);
        if (!value || is_kept(text_of(&line, found, arena), kept, kept_count))
            continue;
        list[response->n_understood++] =
            understand(filter, value, text_of(&line, found, arena), arena);
        for (size_t k = 0; k < line.count; k++)
            line.words[k].is_taken |= found >> k & 1;
    }
}
