/* SPDX-License-Identifier: Apache-2.0 */
/*
 * thing_words.h - English words around the name of a thing, in titles and in what buyers type.
 *
 * A preposition mostly begins what the thing has or is for ("cabinet in white", "blade for
 * mowers"), but some belong to its name: "side by side refrigerator", "drop in sink", "ready to
 * assemble cabinet". Behind the name often stands how the thing looks: "toilet white", "faucet
 * brushed nickel". Letters of both cases are the same.
 */
#ifndef TORG_CATALOG_THING_WORDS_H
#define TORG_CATALOG_THING_WORDS_H

#include <stdbool.h>

#include "base/bytes.h"

/* Where a preposition stands. */
enum inside {
    INSIDE_NOT,  /* the name ends before it */
    INSIDE_GOES, /* it belongs to the name, which goes on */
    INSIDE_ENDS, /* it belongs to the word before it, and no name follows: "sink drop in" */
};

/* rest: the text behind the preposition. */
enum inside thing_goes_on(struct bytes before, struct bytes preposition, const char *rest);

/* A colour, a metal, a wood: "white", "nickel". rest: the text behind the word, for words that only
 * go before those ("brushed nickel", "stainless steel"). */
bool thing_is_finish(struct bytes before, struct bytes word, const char *rest);

#endif
