/* SPDX-License-Identifier: Apache-2.0 */
/* The generator of listings; listings.h says what they are like. */
#include "peers/listings.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

enum {
    VOCABULARY_COUNT = 250000,
    TOPIC_RANK_COUNT = 3000, /* words that one category prefers */
    ROOT_SIZE = 48,
    TOPIC_FIRST = 1000, /* a category's own words begin behind the commonest ... */
    TOPIC_SPAN = 60000, /* ... and are not the rarest */
    DATE_FIRST = 1700000000,
    DATE_SPAN = 400 * 86400,
};

struct root {
    char text[ROOT_SIZE];
    uint8_t size;
    bool russian;
};

struct listings {
    uint64_t seed, count;
    struct root *roots;
};

static const char *const common_ru[] = {
    "и",         "в",        "на",       "с",        "не",       "для",      "по",     "продам",
    "нов",       "состояни", "отличн",   "телефон",  "звон",     "цен",      "торг",   "квартир",
    "машин",     "доставк",  "комплект", "гаранти",  "оригинал", "размер",   "цвет",   "чёрн",
    "бел",       "красн",    "диван",    "стол",     "шкаф",     "детск",    "зимн",   "куртк",
    "велосипед", "ноутбук",  "планшет",  "экран",    "памят",    "батаре",   "ремонт", "хорош",
    "больш",     "маленьк",  "быстр",    "документ", "пробег",   "двигател", "колес",  "аренд",
};
static const char *const common_en[] = {
    "the",   "and",  "for",   "with", "new",   "sale",      "apple",    "samsung",
    "phone", "case", "black", "used", "price", "condition", "original", "box",
    "pro",   "max",  "mini",  "plus", "size",  "color",     "free",     "delivery",
};
static const char *const syllables_ru[] = {
    "ка",  "по",  "ре", "сто", "но", "ут",  "ма", "ши",  "ко", "ли",  "тро", "ви", "до",  "за",
    "гра", "бу",  "пе", "ве",  "ло", "сни", "ра", "те",  "жу", "мо",  "хо",  "ди", "кле", "фа",
    "цо",  "бри", "зо", "гу",  "чи", "ска", "ну", "пля", "ру", "дра", "се",  "вы"};
static const char *const syllables_en[] = {
    "ca",  "po",  "re", "sto", "no",  "ut",  "ma", "shi", "co", "li",  "tro", "vi", "do",  "za",
    "gra", "bu",  "pe", "we",  "lo",  "sni", "ra", "te",  "ju", "mo",  "ho",  "di", "cle", "fa",
    "tho", "bri", "zo", "gu",  "chi", "ska", "nu", "pla", "ru", "dra", "se",  "wy"};

static double uniform(struct rng *rng)
{
    return (double)(rng_next(rng) >> 11) * 0x1p-53;
}

/* Density (rank + shift)^-1.15: Zipf's law with a flat top and a tail as steep as texts have. */
static uint32_t zipf(struct rng *rng, uint32_t count, double shift)
{
    double last = pow(((double)count + shift) / shift, -0.15);
    double rank = shift * (pow(1 - uniform(rng) * (1 - last), -1 / 0.15) - 1);

    return rank < count ? (uint32_t)rank : count - 1;
}

static double normal(struct rng *rng)
{
    double u = 1 - uniform(rng);

    return sqrt(-2 * log(u)) * cos(2 * 3.14159265358979 * uniform(rng));
}

static void make_word(struct rng *rng, bool russian, uint32_t syllable_count, struct root *root)
{
    static const char *const last_ru[] = {"н", "т", "р", "к", "л", "с", "м", "д"};
    static const char *const last_en[] = {"n", "t", "r", "ck", "l", "x", "m", "d"};
    const char *const *syllables = russian ? syllables_ru : syllables_en;
    size_t last = rng_below(rng, ARRAY_COUNT(last_ru));
    size_t size = 0;

    for (uint32_t i = 0; i < syllable_count; i++)
        size += (size_t)snprintf(root->text + size, ROOT_SIZE - size, "%s",
                                 syllables[rng_below(rng, ARRAY_COUNT(syllables_ru))]);
    size += (size_t)snprintf(root->text + size, ROOT_SIZE - size, "%s",
                             russian ? last_ru[last] : last_en[last]);
    root->size = (uint8_t)size;
    root->russian = russian;
}

static void set_word(struct root *root, const char *text, bool russian)
{
    root->size = (uint8_t)snprintf(root->text, ROOT_SIZE, "%s", text);
    root->russian = russian;
}

struct listings *listings_new(uint64_t seed, uint64_t count)
{
    struct listings *listings = mem_array(1, sizeof(*listings));
    struct rng rng = rng_seeded(seed);
    size_t ru = 0, en = 0;

    listings->seed = seed;
    listings->count = count;
    listings->roots = mem_array(VOCABULARY_COUNT, sizeof(*listings->roots));
    for (uint32_t i = 0; i < VOCABULARY_COUNT; i++) {
        struct root *root = &listings->roots[i];
        bool russian = i % 3 != 2;

        if (russian && ru < ARRAY_COUNT(common_ru))
            set_word(root, common_ru[ru++], true);
        else if (!russian && en < ARRAY_COUNT(common_en))
            set_word(root, common_en[en++], false);
        else
            make_word(&rng, russian, i < 3000 ? 2 : 3 + (rng_below(&rng, 4) == 0), root);
    }
    return listings;
}

void listings_free(struct listings *listings)
{
    if (!listings)
        return;
    free(listings->roots);
    free(listings);
}

static void put_inflected(struct buf *to, struct rng *rng, const struct root *root)
{
    static const char *const ru[] = {"", "а", "ы", "ый", "ого", "ами", "ой", "ую"};
    static const char *const en[] = {"", "s", "ing", "ed", "", "", "s", ""};
    size_t ending = zipf(rng, ARRAY_COUNT(ru), 0.3); /* half of all words stand as they are */

    buf_put_raw(to, root->text, root->size);
    if (root->size > 4) /* "в", "and" have no endings */
        buf_put_text(to, root->russian ? ru[ending] : en[ending]);
}

/* Words have companions: one in five follows from the word before it, so phrases recur. */
static const struct root *companion(const struct listings *listings, struct rng *rng,
                                    const struct root *before)
{
    uint64_t rank = (uint64_t)(before - listings->roots);
    uint64_t hash = (rank * 3 + rng_below(rng, 3) + 1) * 0x9e3779b97f4a7c15u >> 20;

    return &listings->roots[hash % (rank < 5000 ? 5000 : TOPIC_SPAN)];
}

static const struct root *pick_root(const struct listings *listings, struct rng *rng,
                                    uint32_t category, bool russian)
{
    const struct root *root = NULL;

    for (int tries = 0; tries < 2; tries++) { /* a text keeps to its language, mostly */
        uint32_t rank;

        if (rng_below(rng, 2) == 0) {
            rank = zipf(rng, VOCABULARY_COUNT, 20);
        } else {
            uint64_t topic = zipf(rng, TOPIC_RANK_COUNT, 8);

            topic = (topic + 1) * 0x9e3779b97f4a7c15u + category * 0xc2b2ae3d27d4eb4fu;
            rank = TOPIC_FIRST + (uint32_t)((topic >> 20) % TOPIC_SPAN);
        }
        root = &listings->roots[rank];
        if (root->russian == russian)
            break;
    }
    return root;
}

static void put_extra(struct buf *to, struct rng *rng)
{
    static const char *const extras[] = {"%u ГБ", "%u,5 л", "wi-fi", "%u000", "%u см", "usb-c"};

    if (rng_below(rng, 25) == 0)
        buf_printf(to, extras[rng_below(rng, ARRAY_COUNT(extras))],
                   1 + (unsigned)rng_below(rng, 512));
    else
        buf_printf(to, "%u", 1 + zipf(rng, 5000, 2));
}

static void put_words(const struct listings *listings, struct rng *rng, uint32_t count,
                      const struct listing *listing, bool russian, struct buf *to)
{
    const struct root *before = NULL;

    for (uint32_t i = 0; i < count; i++) {
        uint64_t dice = rng_below(rng, 1000);

        if (i > 0)
            buf_put_text(to, rng_below(rng, 10) ? " " : rng_below(rng, 2) ? ", " : ". ");
        if (dice < 40) {
            put_extra(to, rng);
        } else if (dice < 45) {
            struct root rare;

            make_word(rng, russian, 4 + (uint32_t)rng_below(rng, 2), &rare);
            buf_put_raw(to, rare.text, rare.size);
        } else if (dice < 70) {
            put_inflected(to, rng, &listings->roots[2 + 3 * (1000 + (size_t)listing->brand)]);
        } else {
            before = before && dice < 256 ? companion(listings, rng, before)
                                          : pick_root(listings, rng, listing->category, russian);
            put_inflected(to, rng, before);
        }
    }
}

static struct rng rng_of(const struct listings *listings, uint64_t id, uint64_t stream)
{
    struct rng rng = rng_seeded((listings->seed << 48) + id * 4 + stream);

    return rng_seeded(rng_next(&rng)); /* a number that is scrambled: streams do not overlap */
}

void listings_make(struct listings *listings, uint64_t id, uint32_t version, struct listing *to)
{
    struct rng rng = rng_of(listings, id, 0);
    struct rng words;
    bool russian = rng_below(&rng, 10) < 7;
    uint32_t sellers = (uint32_t)(listings->count / 20 + 1);

    buf_reset(&to->title);
    buf_reset(&to->text);
    to->id = id;
    to->category = zipf(&rng, CATEGORY_COUNT, 10);
    to->brand = (to->category / 4 * 41 + zipf(&rng, 200, 3)) % BRAND_COUNT;
    to->city = zipf(&rng, CITY_COUNT, 2);
    to->seller = zipf(&rng, sellers, 20);
    to->date = DATE_FIRST + (uint32_t)rng_below(&rng, DATE_SPAN);
    to->condition = zipf(&rng, CONDITION_COUNT, 1);
    to->delivery = rng_below(&rng, 10) < 4;
    to->lat = 43 + (double)(to->city * 7 % 180) / 10 + normal(&rng) * 0.1;
    to->lon = 30 + (double)(to->city * 13 % 900) / 10 + normal(&rng) * 0.1;
    words = rng_of(listings, id, 1 + version);
    to->price = 1 + (uint32_t)fmin(4e9, exp(5 + to->category % 16 * 0.4 + normal(&words) * 1.2));
    put_words(listings, &words, 3 + (uint32_t)rng_below(&words, 10), to, russian, &to->title);
    put_words(listings, &words, 20 + (uint32_t)rng_below(&words, 61), to, russian, &to->text);
}

void category_path(uint32_t category, uint32_t depth, char out[16])
{
    static const uint8_t sizes[] = {0, 3, 6, 9};
    char whole[16];

    snprintf(whole, sizeof(whole), "t%02u/m%u/l%u", category / 16, category / 4 % 4, category % 4);
    snprintf(out, 16, "%.*s", sizes[depth], whole);
}

void listing_put_line(const struct listing *listing, struct bytes title, struct bytes text,
                      struct buf *out)
{
    char category[16];

    category_path(listing->category, 3, category);
    buf_printf(out, "%ju\t", (uintmax_t)listing->id);
    buf_put(out, title);
    buf_put_byte(out, '\t');
    buf_put(out, text);
    buf_printf(out, "\t%s\tb%04u\tg%03u\ts%07u\t%u\t%u\tn%u\td%u\t%.5f\t%.5f\n", category,
               listing->brand, listing->city, listing->seller, listing->price, listing->date,
               listing->condition, listing->delivery, listing->lat, listing->lon);
}
