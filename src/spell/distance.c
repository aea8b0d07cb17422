/* SPDX-License-Identifier: Apache-2.0 */
/*
 * distance.c - see distance.h.
 *
 * Costs are -log10 of a share of all typed words, set by rule: what sounds the same (unstressed
 * vowels, voiced and voiceless consonants, soft signs, doubled letters) is mistaken by people, what
 * lies side by side by fingers; the rest is rare. They were not fitted to any list of mistakes.
 */
#include "spell/distance.h"

#include <assert.h>
#include <pthread.h>
#include <string.h>

#include "base/memory.h"
#include "spell/keyboard.h"

#define COST_ANY 3.9F     /* any letter for any other */
#define COST_TOUCH 3.0F   /* the key beside it */
#define COST_SOUND 2.2F   /* sounds the same, or nearly */
#define COST_VOWEL 2.7F   /* a vowel for a vowel */
#define COST_OMITTED 2.9F /* a letter not typed */
#define COST_ADDED 3.2F   /* a letter too many */
#define COST_DOUBLE 2.0F  /* of two the same one not typed, or one typed twice */
#define COST_SIGN 2.2F    /* ь or ъ not typed, or typed */
#define COST_ENDING 1.7F  /* тся and ться */
#define COST_HYPHEN 1.3F  /* not typed */
#define COST_SILENT 2.4F  /* a letter nobody hears */
#define COST_SWAPPED 2.6F /* two neighbours changed over */
#define COST_DIGRAPH 2.4F /* щ for сч, f for ph */
#define COST_FIRST 0.7F   /* more for the first letter, which people get right */
#define COST_SECOND 0.4F  /* more for each edit after the first */

enum {
    LETTER_V = LETTER_CYRILLIC + 2,
    LETTER_D = LETTER_CYRILLIC + 4,
    LETTER_Z = LETTER_CYRILLIC + 7,
    LETTER_N = LETTER_CYRILLIC + 13,
    LETTER_L = LETTER_CYRILLIC + 11,
    LETTER_S = LETTER_CYRILLIC + 17,
    LETTER_T = LETTER_CYRILLIC + 18,
    LETTER_HARD = LETTER_CYRILLIC + 26,
    LETTER_SOFT = LETTER_CYRILLIC + 28,
    LETTER_YA = LETTER_CYRILLIC + 31,
};

/* Letters taken for each other, in pairs. */
static const char *const sounds[] = {"оа", "еи", "иы", "эе", "яе", "яи", "бп", "вф", "гк", "дт",
                                     "жш", "зс", "гв", "щш", "цс", "ьъ", "гх", "йи", "юу", "ья",
                                     "чш", "чщ", "ck", "cs", "sz", "gj", "ei", "ie", "ea", "ai",
                                     "iy", "ey", "ou", "mn", "fv", "kq", "dt", "oa", "vw", "xs"};
static const char *const vowels[] = {"аоеиыуэюя", "aeiouy"};

struct digraph {
    const char *two, *one;
};
static const struct digraph digraph_texts[] = {
    {"сч", "щ"}, {"зч", "щ"}, {"шч", "щ"}, {"жч", "щ"}, {"тс", "ц"}, {"дс", "ц"}, {"тч", "ч"},
    {"йо", "е"}, {"ье", "е"}, {"ьи", "и"}, {"чш", "ч"}, {"ph", "f"}, {"ck", "k"}, {"ch", "k"},
    {"qu", "k"}, {"gh", "f"}, {"ks", "x"}, {"cs", "x"}, {"wh", "w"}, {"sc", "s"}, {"ie", "y"},
    {"ee", "i"}, {"ea", "e"}, {"oo", "u"}, {"ou", "u"}, {"ai", "a"}, {"ss", "c"}, {"dg", "g"}};

static pthread_once_t made = PTHREAD_ONCE_INIT;
static float substitution[LETTER_END][LETTER_END]; /* typed, meant */
static bool touch[LETTER_END][LETTER_END];
static uint8_t digraph_of[LETTER_END][LETTER_END]; /* the one letter that two sound like */

static void set_both(uint8_t a, uint8_t b, float cost)
{
    if (cost < substitution[a][b])
        substitution[a][b] = substitution[b][a] = cost;
}

static void make(void)
{
    for (unsigned a = 0; a < LETTER_END; a++) {
        for (unsigned b = 0; b < LETTER_END; b++) {
            touch[a][b] = keyboard_touch((uint8_t)a, (uint8_t)b);
            substitution[a][b] = a == b ? 0 : touch[a][b] ? COST_TOUCH : COST_ANY;
        }
    }
    for (size_t i = 0; i < ARRAY_COUNT(vowels); i++) {
        struct letters list = letters_of(vowels[i]);

        for (unsigned k = 0; k < list.size; k++) {
            for (unsigned m = 0; m < k; m++)
                set_both(list.at[k], list.at[m], COST_VOWEL);
        }
    }
    for (size_t i = 0; i < ARRAY_COUNT(sounds); i++) {
        struct letters pair = letters_of(sounds[i]);

        set_both(pair.at[0], pair.at[1], COST_SOUND);
    }
    for (size_t i = 0; i < ARRAY_COUNT(digraph_texts); i++) {
        struct letters two = letters_of(digraph_texts[i].two);
        struct letters one = letters_of(digraph_texts[i].one);

        digraph_of[two.at[0]][two.at[1]] = one.at[0];
    }
}

/* ---- by count ---- */

void distance_prepare(struct distance_pattern *pattern, const struct letters *letters)
{
    static_assert(SPELL_WORD_SIZE_MAX <= 64, "a place is a bit");
    memset(pattern, 0, sizeof(*pattern));
    pattern->size = letters->size;
    for (unsigned i = 0; i < letters->size; i++)
        pattern->places[letters->at[i]] |= (uint64_t)1 << i;
}

/* Hyyrö's bit-parallel form: a column of the table of distances is two words of differences. */
unsigned distance_measure(const struct distance_pattern *pattern, const uint8_t *letters,
                          size_t size)
{
    uint64_t up = ~(uint64_t)0, down = 0, diagonal = 0, places_before = 0;
    uint64_t last = pattern->size ? (uint64_t)1 << (pattern->size - 1) : 0;
    unsigned distance = (unsigned)pattern->size;

    if (pattern->size == 0)
        return (unsigned)size;
    for (size_t i = 0; i < size; i++) {
        uint64_t places = pattern->places[letters[i]];
        uint64_t swapped = ((~diagonal & places) << 1) & places_before;
        uint64_t more, less;

        diagonal = (((places & up) + up) ^ up) | places | down | swapped;
        more = down | ~(diagonal | up);
        less = diagonal & up;
        distance += (more & last) != 0;
        distance -= (less & last) != 0;
        more = more << 1 | 1;
        less <<= 1;
        up = less | ~(diagonal | more);
        down = more & diagonal;
        places_before = places;
    }
    return distance;
}

/* ---- by likelihood ---- */

static bool is_sign(uint8_t letter)
{
    return letter == LETTER_SOFT || letter == LETTER_HARD;
}

/* The soft sign of ться: without it, it is the ending of another form of the verb. */
static bool is_verb_ending(const uint8_t *word, size_t size, size_t i)
{
    return word[i] == LETTER_SOFT && i > 0 && i + 3 == size && word[i - 1] == LETTER_T &&
           word[i + 1] == LETTER_S && word[i + 2] == LETTER_YA;
}

static float omitted(const uint8_t *meant, size_t size, size_t i)
{
    uint8_t letter = meant[i];
    uint8_t before = i ? meant[i - 1] : 0, after = i + 1 < size ? meant[i + 1] : 0;

    if (letter == '-')
        return COST_HYPHEN;
    if (letter == before || letter == after)
        return COST_DOUBLE;
    if (is_sign(letter))
        return is_verb_ending(meant, size, i) ? COST_ENDING : COST_SIGN;
    if ((letter == LETTER_T && before == LETTER_S && (after == LETTER_N || after == LETTER_L)) ||
        (letter == LETTER_D && before == LETTER_Z && after == LETTER_N) ||
        (letter == LETTER_V && after == LETTER_S && i + 2 < size && meant[i + 2] == LETTER_T) ||
        (letter == 'e' && i + 1 == size))
        return COST_SILENT;
    return COST_OMITTED + (i == 0 ? COST_FIRST : 0);
}

static float added(const struct letters *typed, size_t i)
{
    uint8_t letter = typed->at[i];
    uint8_t before = i ? typed->at[i - 1] : 0, after = i + 1U < typed->size ? typed->at[i + 1] : 0;

    if (letter == before)
        return COST_DOUBLE;
    if (is_sign(letter))
        return is_verb_ending(typed->at, typed->size, i) ? COST_ENDING : COST_SIGN;
    if (letter == 'e' && i + 1U == typed->size)
        return COST_SILENT;
    if (touch[letter][before] || touch[letter][after])
        return COST_TOUCH;
    return COST_ADDED + (i == 0 ? COST_FIRST : 0);
}

static float changed(uint8_t typed, uint8_t meant, size_t i)
{
    float cost = substitution[typed][meant];

    return i == 0 && cost > COST_SOUND ? cost + COST_FIRST : cost;
}

static void lower(float *best, float other)
{
    if (other < *best)
        *best = other;
}

/* What stands left of and above a cell of the table of costs. */
struct cell {
    float (*rows)[SPELL_WORD_SIZE_MAX + 1];
    const struct letters *typed;
    const uint8_t *meant;
    size_t meant_size;
};

static float cell_cost(const struct cell *cell, size_t i, size_t k)
{
    const uint8_t *typed = cell->typed->at, *meant = cell->meant;
    float best = 1e9F;

    if (k > 0)
        lower(&best, cell->rows[i][k - 1] + omitted(meant, cell->meant_size, k - 1));
    if (i > 0)
        lower(&best, cell->rows[i - 1][k] + added(cell->typed, i - 1));
    if (i > 0 && k > 0)
        lower(&best, cell->rows[i - 1][k - 1] + changed(typed[i - 1], meant[k - 1], i - 1));
    if (i > 1 && k > 1 && typed[i - 1] == meant[k - 2] && typed[i - 2] == meant[k - 1])
        lower(&best, cell->rows[i - 2][k - 2] + COST_SWAPPED);
    if (i > 1 && k > 0 && digraph_of[typed[i - 2]][typed[i - 1]] == meant[k - 1])
        lower(&best, cell->rows[i - 2][k - 1] + COST_DIGRAPH);
    if (i > 0 && k > 1 && digraph_of[meant[k - 2]][meant[k - 1]] == typed[i - 1])
        lower(&best, cell->rows[i - 1][k - 2] + COST_DIGRAPH);
    return best + COST_SECOND;
}

float distance_cost(const struct letters *typed, const uint8_t *meant, size_t meant_size)
{
    enum { BAND = 3 };
    float rows[SPELL_WORD_SIZE_MAX + 1][SPELL_WORD_SIZE_MAX + 1];
    const struct cell cell = {rows, typed, meant, meant_size};

    pthread_once(&made, make);
    if (typed->size == meant_size && memcmp(typed->at, meant, meant_size) == 0)
        return 0;
    for (size_t i = 0; i <= typed->size; i++) {
        for (size_t k = 0; k <= meant_size; k++) {
            if (i > k + BAND || k > i + BAND)
                rows[i][k] = 1e9F;
            else if (i == 0 && k == 0)
                rows[i][k] = 0;
            else if (i > 0 && k > 0 && typed->at[i - 1] == meant[k - 1])
                rows[i][k] = rows[i - 1][k - 1];
            else
                rows[i][k] = cell_cost(&cell, i, k);
        }
    }
    return rows[typed->size][meant_size] - COST_SECOND;
}
