/* SPDX-License-Identifier: Apache-2.0 */
/* meaning.c - see meaning.h. */
#include "search/words/meaning.h"

#include <string.h>

#include "base/buf.h"
#include "base/memory.h"
#include "index/text/unicode.h"
#include "query/query.h"
#include "search/bounds.h"
#include "search/words/price_words.h"

enum { CHUNK_COUNT_MAX = SEARCH_TEXT_SIZE_MAX / 2 + 1 };

/* Folded words, one blank between them; longer ones stand before those they begin with. */
static const struct known {
    const char *text;
    enum meant_kind kind;
} knowns[] = {
    {"б/у", MEANT_USED},         {"б у", MEANT_USED},         {"б.у", MEANT_USED},
    {"бу", MEANT_USED},          {"бэу", MEANT_USED},         {"подержанный", MEANT_USED},
    {"подержанная", MEANT_USED}, {"подержанное", MEANT_USED}, {"подержанные", MEANT_USED},
    {"second hand", MEANT_USED}, {"second-hand", MEANT_USED}, {"рядом со мной", MEANT_NEAR},
    {"рядом", MEANT_NEAR},       {"поблизости", MEANT_NEAR},  {"недалеко", MEANT_NEAR},
    {"near me", MEANT_NEAR},     {"nearby", MEANT_NEAR},      {"купить", MEANT_FILLER},
    {"куплю", MEANT_FILLER},     {"покупка", MEANT_FILLER},   {"продам", MEANT_FILLER},
    {"продаю", MEANT_FILLER},    {"продается", MEANT_FILLER}, {"продаются", MEANT_FILLER},
    {"продажа", MEANT_FILLER},   {"недорого", MEANT_FILLER},  {"недорогой", MEANT_FILLER},
    {"недорогая", MEANT_FILLER}, {"недорогое", MEANT_FILLER}, {"недорогие", MEANT_FILLER},
    {"дешево", MEANT_FILLER},    {"дешевый", MEANT_FILLER},   {"дешевая", MEANT_FILLER},
    {"дешевые", MEANT_FILLER},   {"подешевле", MEANT_FILLER}, {"срочно", MEANT_FILLER},
    {"цена", MEANT_FILLER},      {"цены", MEANT_FILLER},      {"стоимость", MEANT_FILLER},
    {"заказать", MEANT_FILLER},  {"в наличии", MEANT_FILLER}, {"ищу", MEANT_FILLER},
    {"buy", MEANT_FILLER},       {"for sale", MEANT_FILLER},  {"on sale", MEANT_FILLER},
    {"selling", MEANT_FILLER},   {"cheap", MEANT_FILLER},     {"cheapest", MEANT_FILLER},
    {"price", MEANT_FILLER},     {"prices", MEANT_FILLER},    {"looking for", MEANT_FILLER},
};

/* Words of grammar: nearly every text may have them, and nobody looks for them. */
static const char *const stops[] = {
    "в",  "во", "на", "с",  "со", "и",   "или",  "для", "от", "до",  "по",   "из",  "к",
    "ко", "о",  "об", "же", "бы", "the", "a",    "an",  "of", "for", "with", "and", "or",
    "in", "on", "to", "by", "at", "as",  "from", "is",  "&",  "w",   "w/",
};

struct chunk {
    size_t start, end; /* of the line */
    char folded[64];   /* without signs at its ends; empty: longer, or not a plain word */
    bool is_plain;
};

struct reader {
    const char *line;
    struct chunk *chunks;
    size_t count;
    char *const *kept;
    size_t kept_count;
    struct arena *arena;
};

/* As the index folds letters, for those of two bytes at most. */
static void fold(struct bytes word, char *to, size_t size)
{
    const uint8_t *at = word.data, *end = at + word.size;
    size_t used = 0;

    while (at < end && used + UNICODE_UTF8_SIZE_MAX < size) {
        struct folded folded[UNICODE_FOLD_COUNT_MAX];
        uint32_t code;
        size_t count;

        at += unicode_decode(at, end, &code);
        if (code < 0x80 && !((code | 0x20) >= 'a' && (code | 0x20) <= 'z')) {
            to[used++] = (char)code; /* signs stay */
            continue;
        }
        count = unicode_fold(code, folded);
        for (size_t i = 0; i < count && used + UNICODE_UTF8_SIZE_MAX < size; i++) {
            if (folded[i].class == CHAR_LETTER)
                used += unicode_encode(folded[i].code, (uint8_t *)to + used);
        }
    }
    to[at < end ? 0 : used] = '\0';
}

static bool is_blank(char sign)
{
    return (unsigned char)sign <= ' ';
}

static bool is_letter(char sign)
{
    return (unsigned char)sign >= 0x80 || ((sign | 0x20) >= 'a' && (sign | 0x20) <= 'z');
}

/* How many letters a text of this size begins with. */
static size_t count_letters(const char *text, size_t size)
{
    size_t count = 0;

    for (size_t i = 0; i < size && is_letter(text[i]); i++)
        count += ((unsigned char)text[i] & 0xC0) != 0x80;
    return count;
}

/* The end of the word before a slash that stands between two: "brass/chrome", not "б/у" or "1/2".
 * NULL: there is none. */
static const char *find_slash(const char *text, size_t size)
{
    enum { LETTERS_MIN = 2 };
    const char *slash = memchr(text, '/', size);

    if (!slash || count_letters(text, (size_t)(slash - text)) < LETTERS_MIN)
        return NULL;
    for (const char *at = text; at < slash; at++) {
        if (!is_letter(*at) && *at != '-')
            return NULL;
    }
    return count_letters(slash + 1, size - (size_t)(slash - text) - 1) < LETTERS_MIN ? NULL : slash;
}

/* Whether the word is several that are tied, one of which says something alone: "led-bulb",
 * "iphone15". */
static bool is_tied(const struct chunk *chunk)
{
    enum { LETTERS_MIN = 3 };
    const char *at = chunk->folded;
    size_t longest = 0, count = 0;

    while (*at) {
        size_t letters = count_letters(at, strlen(at)), size = 0;

        while (is_letter(at[size]))
            size++;
        size = size ? size : strspn(at, "0123456789");
        longest = letters > longest ? letters : longest;
        count += size > 0;
        at += size ? size : 1;
    }
    return chunk->is_plain && count > 1 && longest >= LETTERS_MIN;
}

static void add_chunks(struct reader *reader, size_t start, size_t end, bool is_plain)
{
    while (start < end && reader->count < CHUNK_COUNT_MAX) {
        struct chunk *chunk = &reader->chunks[reader->count];
        size_t stop, first, last;

        while (start < end && is_blank(reader->line[start]))
            start++;
        for (stop = start; stop < end && !is_blank(reader->line[stop]);)
            stop++;
        if (stop == start)
            return;
        if (stop - start > 2 && (reader->line[start] | 0x20) == 'w' &&
            reader->line[start + 1] == '/')
            stop = start + 2; /* "fan w/light" */
        else if (is_plain && find_slash(reader->line + start, stop - start))
            stop = (size_t)(find_slash(reader->line + start, stop - start) - reader->line);
        first = start;
        last = stop;
        while (first < last && strchr(".,;:!?()", reader->line[first]))
            first++;
        while (last > first && strchr(".,;:!?()", reader->line[last - 1]))
            last--;
        *chunk = (struct chunk){.start = start, .end = stop, .is_plain = is_plain};
        fold(bytes_make(reader->line + first, last - first), chunk->folded, sizeof(chunk->folded));
        reader->count++;
        start = stop + (stop < end && reader->line[stop] == '/');
    }
}

static int read_chunks(struct reader *reader, struct err *err)
{
    struct bytes line = bytes_of(reader->line);
    struct query_text text;
    size_t at = 0;
    int rc = query_text_parse(line, false, reader->arena, &text, err);

    for (uint32_t i = 0; i < text.count && !rc; i++) {
        const struct text_clause *clause = &text.clauses[i];
        const uint8_t *found =
            memmem(line.data + at, line.size - at, clause->text.data, clause->text.size);
        size_t start = found ? (size_t)(found - line.data) : at;
        bool is_plain = clause->kind == CLAUSE_WORD && clause->occur == OCCUR_MUST;

        at = start + clause->text.size;
        if (clause->occur != OCCUR_NOT)
            add_chunks(reader, start, at, is_plain);
    }
    return rc;
}

/* How many chunks from `at` on are these words; 0: they are not. */
static size_t reads_as(const struct reader *reader, size_t at, const char *words)
{
    size_t count = 0;

    while (*words) {
        const char *end = strchrnul(words, ' ');
        const struct chunk *chunk = &reader->chunks[at + count];

        if (at + count >= reader->count || !chunk->is_plain ||
            strlen(chunk->folded) != (size_t)(end - words) ||
            memcmp(chunk->folded, words, (size_t)(end - words)) != 0)
            return 0;
        count++;
        words = *end ? end + 1 : end;
    }
    return count;
}

static bool ends_in_digit(const struct chunk *chunk)
{
    size_t size = strlen(chunk->folded);

    return size && chunk->folded[size - 1] >= '0' && chunk->folded[size - 1] <= '9';
}

static bool is_stop(const struct reader *reader, size_t at)
{
    const struct chunk *chunk = &reader->chunks[at];

    /* "48 in" are inches, "220 в" volts */
    if (!chunk->is_plain || (at > 0 && ends_in_digit(chunk - 1)))
        return false;
    for (size_t i = 0; i < ARRAY_COUNT(stops); i++) {
        if (strcmp(chunk->folded, stops[i]) == 0)
            return true;
    }
    return false;
}

static bool is_kept(const struct reader *reader, const char *text)
{
    for (size_t i = 0; i < reader->kept_count; i++) {
        if (strcmp(reader->kept[i], text) == 0)
            return true;
    }
    return false;
}

static char *text_of(const struct reader *reader, size_t from, size_t count)
{
    size_t start = reader->chunks[from].start;

    return arena_text(reader->arena, bytes_make(reader->line + start,
                                                reader->chunks[from + count - 1].end - start));
}

/* "до 20 000 руб": how many chunks from `at` on say a price; 0: they do not. */
static size_t find_price(const struct reader *reader, size_t at, struct meant *meant)
{
    const char *words[PRICE_WORD_COUNT_MAX];
    size_t count = 0, used;

    while (count < PRICE_WORD_COUNT_MAX && at + count < reader->count &&
           reader->chunks[at + count].is_plain) {
        words[count] = reader->chunks[at + count].folded;
        count++;
    }
    *meant = (struct meant){.kind = MEANT_PRICE};
    used = price_read(words, count, &meant->min, &meant->max);
    if (used)
        meant->text = text_of(reader, at, used);
    return used;
}

/* How many chunks from `at` on are not searched, and why. */
static size_t find_meant(const struct reader *reader, size_t at, struct meant *meant)
{
    for (size_t i = 0; i < ARRAY_COUNT(knowns); i++) {
        size_t count = reads_as(reader, at, knowns[i].text);

        if (!count)
            continue;
        *meant = (struct meant){.kind = knowns[i].kind, .text = text_of(reader, at, count)};
        return is_kept(reader, meant->text) ? 0 : count;
    }
    if (reader->chunks[at].is_plain) {
        size_t count = find_price(reader, at, meant);

        if (count)
            return is_kept(reader, meant->text) ? 0 : count;
    }
    if (!is_stop(reader, at))
        return 0;
    *meant = (struct meant){.kind = MEANT_STOP, .text = text_of(reader, at, 1)};
    return 1;
}

/* The line without the bytes of what is not searched. */
static void drop(char *line, const struct reader *reader, size_t at, size_t count)
{
    size_t start = reader->chunks[at].start, end = reader->chunks[at + count - 1].end;

    memset(line + start, ' ', end - start);
}

/* The slashes between words, as blanks. */
static bool drop_slashes(char *line, const struct reader *reader)
{
    bool is_some = false;

    for (size_t i = 0; i + 1 < reader->count; i++) {
        size_t end = reader->chunks[i].end;

        if (line[end] == '/' && reader->chunks[i + 1].start == end + 1) {
            line[end] = ' ';
            is_some = true;
        }
    }
    return is_some;
}

static void squeeze(char *line)
{
    char *to = line;

    for (const char *at = line; *at; at++) {
        if (!is_blank(*at) || (to > line && !is_blank(to[-1])))
            *to++ = *at;
    }
    while (to > line && is_blank(to[-1]))
        to--;
    *to = '\0';
}

int meaning_read(const char *line, char *const *kept, size_t kept_count, struct arena *arena,
                 struct meaning *meaning, struct err *err)
{
    struct reader reader = {.line = line, .kept = kept, .kept_count = kept_count, .arena = arena};
    char *text = arena_strdup(arena, line);
    struct meant *list;
    size_t left = 0, at = 0;
    bool is_parted, is_tied_left = false;
    int rc;

    *meaning = (struct meaning){.text = line};
    reader.chunks = arena_array(arena, strlen(line) / 2 + 2, sizeof(*reader.chunks));
    rc = read_chunks(&reader, err);
    if (rc || !reader.count)
        return rc;
    list = arena_array(arena, reader.count, sizeof(*list));
    meaning->list = list;
    is_parted = drop_slashes(text, &reader);
    while (at < reader.count) {
        size_t count = find_meant(&reader, at, &list[meaning->count]);

        if (count) {
            drop(text, &reader, at, count);
            meaning->count++;
        } else {
            left++;
            is_tied_left = is_tied_left || is_tied(&reader.chunks[at]);
        }
        at += count ? count : 1;
    }
    if (!left) { /* nothing else is asked for: then for these words */
        meaning->count = 0;
        left = reader.count;
        text = arena_strdup(arena, line);
        is_parted = drop_slashes(text, &reader);
    }
    if (meaning->count || is_parted) {
        squeeze(text);
        meaning->text = text;
    }
    meaning->is_several = left > 1 || is_tied_left;
    return 0;
}
