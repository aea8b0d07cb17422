/* SPDX-License-Identifier: Apache-2.0 */
/*
 * glue.h - snippets glued to what was found: to each offer under its id, to the page under its
 * category and its text.
 *
 * Whatever goes wrong with them, the page is answered: without them, and lacks_snippets says so.
 */
#ifndef TORG_SEARCH_GLUE_H
#define TORG_SEARCH_GLUE_H

#include "search/search.h"

/* ERR_INVALID: too many names. */
int glue_check(const Torg__V1__SearchOffersRequest *request, struct err *err);
void glue_snippets(const struct search *search, const Torg__V1__SearchOffersRequest *request,
                   const char *language, struct arena *arena,
                   Torg__V1__SearchOffersResponse *response);

/* Snippets alone, for a page that is shown already; none if they are as the request knows them.
 * ERR_INVALID: too many names or keys. */
int glue_alone(const struct search *search, const Torg__V1__GetPageSnippetsRequest *request,
               const char *language, struct arena *arena,
               Torg__V1__GetPageSnippetsResponse *response, struct err *err);

#endif
