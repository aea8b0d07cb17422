/* SPDX-License-Identifier: Apache-2.0 */
/* seller.c - see seller.h. */
#include "demo/seller.h"

#include <math.h>

#include "base/hash.h"

/* Of so many offers in a row, so many persons of each language are the sellers: two each, or one,
 * or five. */
enum { BLOCK_COUNT = 4096, PERSON_COUNT = 1500, PERSON_ENGLISH_COUNT = 240 };

enum { JITTER_STEPS = 2001, PHONE_COUNT = 10000000 };
static const double jitter_degrees = 0.05; /* some kilometres */

static const struct city *choose_city(const struct grammar *grammar, struct rng *rng)
{
    uint64_t place = rng_below(rng, grammar->city_weight);

    for (size_t i = 0;; i++) {
        if (place < grammar->cities[i].weight)
            return &grammar->cities[i];
        place -= grammar->cities[i].weight;
    }
}

static double jitter(struct rng *rng)
{
    return jitter_degrees * (2.0 * (double)rng_below(rng, JITTER_STEPS) / JITTER_STEPS - 1);
}

static double to_five_digits(double value)
{
    return round(value * 100000) / 100000;
}

static void choose_home(struct seller *seller, struct scope *scope, struct rng *rng)
{
    enum language language = scope->language;
    const struct city *city = choose_city(scope->grammar, rng);
    uint64_t street = rng_below(rng, city->place_count);

    seller->city = city->name[language];
    seller->place =
        arena_printf(scope->arena, "%s, %s", city->name[language], city->places[language][street]);
    seller->latitude = to_five_digits(city->latitude + jitter(rng));
    seller->longitude = to_five_digits(city->longitude + 1.5 * jitter(rng));
    seller->phone =
        arena_printf(scope->arena, "+7000%07ju", (uintmax_t)rng_below(rng, PHONE_COUNT));
}

static const char *draw_name(struct scope *scope, struct rng *rng, const char *list)
{
    const struct phrase_list *names =
        grammar_list(scope->grammar, NULL, bytes_of(list), scope->language);

    return names ? names->phrases[rng_below(rng, names->count)] : "";
}

struct seller seller_choose(struct scope *scope, const struct shop *shop, uint64_t seed,
                            uint64_t number)
{
    struct seller seller = {.shop = shop, .sex = "p"};
    bool english = scope->language == LANGUAGE_EN;
    uint64_t count = english ? PERSON_ENGLISH_COUNT : PERSON_COUNT;
    uint64_t person;
    struct rng rng;

    if (shop) {
        rng = rng_seeded(hash64_seeded(bytes_of(shop->id), seed));
        seller.id = shop->id;
        seller.name = shop->name[scope->language];
        choose_home(&seller, scope, &rng);
        return seller;
    }
    person = (number / BLOCK_COUNT * count + rng_below(scope->rng, count)) * 2 + english;
    rng = rng_seeded(hash64_seeded(bytes_make(&person, sizeof(person)), seed));
    seller.id = arena_printf(scope->arena, "u-%ju", (uintmax_t)(10000 + person));
    seller.sex = rng_below(&rng, 2) ? "m" : "f";
    seller.name = draw_name(scope, &rng, seller.sex[0] == 'm' ? "men" : "women");
    choose_home(&seller, scope, &rng);
    return seller;
}
