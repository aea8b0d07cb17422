/* SPDX-License-Identifier: Apache-2.0 */
/*
 * similar.h - offers similar to a given one: words of its title, in its category (the one above
 * when there are too few), those of about its price first.
 */
#ifndef TORG_SEARCH_SUGGEST_SIMILAR_H
#define TORG_SEARCH_SUGGEST_SIMILAR_H

#include "search/search.h"

/* ERR_NOT_FOUND: there is no such offer on sale. */
int search_similar(const struct search *search, const Torg__V1__SimilarRequest *request,
                   int64_t deadline_us, struct arena *arena, Torg__V1__SimilarResponse *response,
                   struct err *err);

#endif
