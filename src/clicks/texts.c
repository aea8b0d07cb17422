/* SPDX-License-Identifier: Apache-2.0 */
/* texts.c - see texts.h. */
#include "clicks/texts.h"

#include "base/arena.h"
#include "base/hash.h"
#include "catalog/words.h"
#include "clicks/bounds.h"

enum { DAY_HOURS = 24 };

void text_one_form(const char *text, char *to)
{
    char *end = to;

    for (; *text && end - to < RETYPED_TEXT_SIZE_MAX; text++) {
        if ((unsigned char)*text > ' ')
            *end++ = *text;
        else if (end > to && end[-1] != ' ')
            *end++ = ' ';
    }
    while (end > to && end[-1] == ' ')
        end--;
    *end = '\0';
}

uint64_t texts_hash(const char *text, const char *category, uint64_t visitor)
{
    char form[RETYPED_TEXT_SIZE_MAX + 1];

    text_one_form(text, form);
    return hash64_seeded(bytes_of(category), hash64_seeded(bytes_of(form), visitor));
}

int64_t texts_mark(const char *text, uint64_t visitor)
{
    struct arena *arena = arena_new();
    uint64_t key = words_key(words_fold(bytes_of(text), arena));

    arena_free(arena);
    return (int64_t)(UINT64_C(1) << (hash64_seeded(bytes_make(&key, sizeof(key)), visitor) %
                                     CLICK_TEXT_MARK_COUNT));
}

int texts_count(struct store_tx *tx, const char *text, const char *category, int64_t hour,
                int64_t mark, struct err *err)
{
    char form[RETYPED_TEXT_SIZE_MAX + 1];

    text_one_form(text, form);
    return store_exec(
        tx,
        "INSERT INTO click_text (text, category, day, visits, marks) VALUES ($1, $2, $3, 1, $4) "
        "ON CONFLICT (text, category, day) DO UPDATE SET "
        "visits = click_text.visits + 1, marks = click_text.marks | excluded.marks",
        STORE_WITH(STORE_V_STRING(form), STORE_V_STRING(category), STORE_V_INT(hour / DAY_HOURS),
                   STORE_V_INT(mark)),
        NULL, err);
}
