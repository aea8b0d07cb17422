/* SPDX-License-Identifier: Apache-2.0 */
/*
 * generator.h - offers that read like those of people and shops, made from demo/offers.grammar.
 *
 * An offer follows from the seed and its number alone, so that whoever was stopped goes on where
 * he was, and two threads need not speak. Numbers that follow each other are of different kinds.
 *
 * Threads: any; a generator does not change.
 */
#ifndef TORG_DEMO_GENERATOR_H
#define TORG_DEMO_GENERATOR_H

#include "base/arena.h"
#include "base/err.h"
#include "catalog/catalog.h"
#include "torg/v1/offer.pb-c.h"
#include <stdbool.h>

/* Addresses of its photos: this, the picture's name, a colour and a number. */
#define DEMO_PHOTO_PREFIX "https://photos.example/"

struct generator;

int generator_new(uint64_t seed, struct generator **generator, struct err *err);
void generator_free(struct generator *generator); /* NULL is fine */

struct made_offer {
    const char *kind;
    const char *seller;
    enum language language;
    Torg__V1__OfferContent *content;
};

/* Everything is in the arena. ERR_INVALID: the catalogue does not have what the offer needs. */
int generator_make(const struct generator *generator, const struct catalog *catalog,
                   uint64_t number, struct arena *arena, struct made_offer *offer, struct err *err);

/* The seller's name for the offer of this number, which no other offer of the demo has. */
char *generator_external_id(uint64_t number, struct arena *arena);
/* Whether it is one of those: the demo changes no others. */
bool generator_is_own(const char *external_id);

/* A price as people ask for it: 12 500, or 12 490 in a shop. In roubles. */
int64_t generator_round_price(double price, bool is_shop);

/* A shop with many offers, for the cabinet's link. */
const char *generator_main_seller(const struct generator *generator);

#endif
