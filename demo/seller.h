/* SPDX-License-Identifier: Apache-2.0 */
/* seller.h - whose offer it is: a shop with many, or one of many persons with a few each. */
#ifndef TORG_DEMO_SELLER_H
#define TORG_DEMO_SELLER_H

#include "demo/phrase.h"

/* A seller is the same in all his offers. The texts are of the grammar or the arena. */
struct seller {
    const char *id;
    const char *name;
    const char *sex;   /* m or f, as he writes of himself; of a shop p: we */
    const char *phone; /* of a code that no network has */
    const char *city;  /* its name */
    const char *place; /* city and street, or station */
    double latitude;
    double longitude;
    const struct shop *shop; /* NULL: a person */
};

/* The seller of the offer; shop is NULL for a person. */
struct seller seller_choose(struct scope *scope, const struct shop *shop, uint64_t seed,
                            uint64_t number);

#endif
