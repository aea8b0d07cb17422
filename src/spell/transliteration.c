/* SPDX-License-Identifier: Apache-2.0 */
/*
 * transliteration.c - see transliteration.h.
 *
 * A rule gives the readings of one to four letters. Readings grow from left to right, all at once:
 * at each letter the longest rule and, after it, the shorter ones are applied to every reading
 * there is, until TRANSLITERATION_COUNT_MAX are at work.
 */
#include "spell/transliteration.h"

#include <pthread.h>
#include <string.h>

#include "base/memory.h"

enum { READING_COUNT_MAX = 3, FROM_SIZE_MAX = 4 };

/* What is written, then how it may be read, the likeliest first; "" reads nothing. */
static const char *const texts[][1 + READING_COUNT_MAX] = {
    {"shch", "щ"},
    {"sch", "щ", "ш"},
    {"zh", "ж"},
    {"kh", "х"},
    {"ts", "ц", "тс"},
    {"ch", "ч", "х"},
    {"sh", "ш"},
    {"yo", "е", "йо"},
    {"jo", "е"},
    {"yu", "ю"},
    {"ju", "ю"},
    {"ya", "я"},
    {"ja", "я"},
    {"ye", "е"},
    {"ph", "ф"},
    {"ck", "к"},
    {"iy", "ий"},
    {"yy", "ый"},
    {"oo", "у", "оо"},
    {"ee", "и", "ее"},
    {"a", "а"},
    {"b", "б"},
    {"c", "к", "ц", "с"},
    {"d", "д"},
    {"e", "е", "э"},
    {"f", "ф"},
    {"g", "г", "дж"},
    {"h", "х", "г"},
    {"i", "и", "й"},
    {"j", "й", "ж", "дж"},
    {"k", "к"},
    {"l", "л", "ль"},
    {"m", "м"},
    {"n", "н"},
    {"o", "о"},
    {"p", "п"},
    {"q", "к"},
    {"r", "р"},
    {"s", "с"},
    {"t", "т"},
    {"u", "у", "ю"},
    {"v", "в"},
    {"w", "в"},
    {"x", "кс", "х"},
    {"y", "ы", "й", "и"},
    {"z", "з", "ц"},
    {"кс", "x", "ks"},
    {"ай", "i", "ay", "ai"},
    {"эй", "a", "ey"},
    {"дж", "j", "g"},
    {"оу", "o", "ow"},
    {"уа", "hua", "ua"},
    {"а", "a"},
    {"б", "b"},
    {"в", "v", "w"},
    {"г", "g", "h"},
    {"д", "d"},
    {"е", "e", "ye"},
    {"ж", "zh", "j"},
    {"з", "z", "s"},
    {"и", "i", "y", "ea"},
    {"й", "y", "i"},
    {"к", "k", "c", "ck"},
    {"л", "l"},
    {"м", "m"},
    {"н", "n"},
    {"о", "o"},
    {"п", "p"},
    {"р", "r"},
    {"с", "s", "c"},
    {"т", "t"},
    {"у", "u", "oo", "w"},
    {"ф", "f", "ph"},
    {"х", "h", "x", "kh"},
    {"ц", "ts", "c"},
    {"ч", "ch"},
    {"ш", "sh"},
    {"щ", "sch"},
    {"ъ", ""},
    {"ы", "y", "i"},
    {"ь", ""},
    {"э", "e", "a"},
    {"ю", "yu", "u"},
    {"я", "ya", "ia"},
};

struct rule {
    struct letters from;
    struct letters to[READING_COUNT_MAX];
    unsigned to_count;
};

static pthread_once_t made = PTHREAD_ONCE_INIT;
static struct rule rules[ARRAY_COUNT(texts)];

static void make(void)
{
    for (size_t i = 0; i < ARRAY_COUNT(texts); i++) {
        rules[i].from = letters_of(texts[i][0]);
        while (rules[i].to_count < READING_COUNT_MAX && texts[i][rules[i].to_count + 1]) {
            rules[i].to[rules[i].to_count] = letters_of(texts[i][rules[i].to_count + 1]);
            rules[i].to_count++;
        }
    }
}

/* A reading of the letters so far. */
struct partial {
    struct letters letters;
    uint8_t doubt; /* how many readings were not the likeliest */
};

/* Puts it behind those of the same end that are less doubtful; the most doubtful falls off. */
static void insert(struct partial *list, size_t *count, size_t max, const struct partial *partial)
{
    size_t place = *count;

    while (place > 0 && list[place - 1].doubt > partial->doubt)
        place--;
    if (place == max)
        return;
    if (*count == max)
        (*count)--;
    memmove(&list[place + 1], &list[place], (*count - place) * sizeof(*list));
    list[place] = *partial;
    (*count)++;
}

struct stage {
    struct partial at[TRANSLITERATION_COUNT_MAX];
    size_t count;
};

static void extend(const struct letters *letters, unsigned at, struct stage *stages)
{
    bool is_first = true;

    for (size_t i = 0; i < ARRAY_COUNT(rules); i++) {
        const struct rule *rule = &rules[i];

        if (at + rule->from.size > letters->size ||
            memcmp(&letters->at[at], rule->from.at, rule->from.size) != 0)
            continue;
        for (unsigned k = 0; k < rule->to_count; k++) {
            struct stage *next = &stages[rule->from.size];

            for (size_t m = 0; m < stages[0].count; m++) {
                struct partial partial = stages[0].at[m];

                if (partial.letters.size + rule->to[k].size > SPELL_WORD_SIZE_MAX)
                    continue;
                for (unsigned n = 0; n < rule->to[k].size; n++)
                    letters_add(&partial.letters, rule->to[k].at[n]);
                partial.doubt = (uint8_t)(partial.doubt + k + !is_first);
                insert(next->at, &next->count, TRANSLITERATION_COUNT_MAX, &partial);
            }
        }
        is_first = false;
    }
}

size_t transliteration_read(const struct letters *letters,
                            struct letters readings[TRANSLITERATION_COUNT_MAX])
{
    struct stage stages[1 + FROM_SIZE_MAX]; /* readings that end here, and at the next letters */
    size_t count = 0;

    pthread_once(&made, make);
    for (size_t i = 0; i < ARRAY_COUNT(stages); i++)
        stages[i].count = 0;
    stages[0].count = 1;
    stages[0].at[0] = (struct partial){.doubt = 0};
    for (unsigned at = 0; at < letters->size; at++) {
        extend(letters, at, stages);
        memmove(&stages[0], &stages[1], sizeof(stages) - sizeof(stages[0]));
        stages[FROM_SIZE_MAX].count = 0;
    }
    for (size_t i = 0; i < stages[0].count; i++) {
        if (stages[0].at[i].letters.size > 1)
            readings[count++] = stages[0].at[i].letters;
    }
    return count;
}
