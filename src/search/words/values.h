/* SPDX-License-Identifier: Apache-2.0 */
/*
 * values.h - values of attributes that a text names: "синие диваны" names the colour.
 *
 * Only values that offers found have, of filters that are offered beside them: so "apple" is a
 * brand among phones and no word of a garden. The words stay words of the search, since sellers
 * who have not filled in the attribute say them too; the answer tells what may be chosen instead.
 */
#ifndef TORG_SEARCH_WORDS_VALUES_H
#define TORG_SEARCH_WORDS_VALUES_H

#include "base/arena.h"
#include "torg/v1/search.pb-c.h"

/* Adds to response->understood what words of the text name values of response->filters; kept: texts
 * that are words and nothing else. */
void values_understand(const char *text, char *const *kept, size_t kept_count, struct arena *arena,
                       Torg__V1__SearchOffersResponse *response);

#endif
