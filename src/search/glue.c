/* SPDX-License-Identifier: Apache-2.0 */
/* glue.c - see glue.h. */
#include "search/glue.h"

#include <string.h>

#include "search/bounds.h"

int glue_check(const Torg__V1__SearchOffersRequest *request, struct err *err)
{
    if (request->n_snippet_names > SEARCH_SNIPPET_NAME_COUNT_MAX)
        return err_set(err, ERR_INVALID, "snippet_names: %zu names; at most %d",
                       request->n_snippet_names, SEARCH_SNIPPET_NAME_COUNT_MAX);
    if (request->n_page_snippet_names > SEARCH_SNIPPET_NAME_COUNT_MAX)
        return err_set(err, ERR_INVALID, "page_snippet_names: %zu names; at most %d",
                       request->n_page_snippet_names, SEARCH_SNIPPET_NAME_COUNT_MAX);
    return 0;
}

/* They come by name, then key: each offer's are taken together. */
static void give(Torg__V1__FoundOffer *offer, Torg__V1__Snippet *const *list, size_t count,
                 struct arena *arena)
{
    size_t i, own = 0;

    for (i = 0; i < count; i++)
        own += strcmp(list[i]->key, offer->id) == 0;
    offer->snippets = arena_array(arena, own, sizeof(*offer->snippets));
    for (i = 0; i < count; i++) {
        if (strcmp(list[i]->key, offer->id) == 0)
            offer->snippets[offer->n_snippets++] = list[i];
    }
}

static void glue_offers(const struct search *search, const Torg__V1__SearchOffersRequest *request,
                        const char *language, struct arena *arena,
                        Torg__V1__SearchOffersResponse *response)
{
    char **keys = arena_array(arena, response->n_offers, sizeof(*keys));
    Torg__V1__Snippet **list = NULL;
    size_t i, count = 0;

    for (i = 0; i < response->n_offers; i++)
        keys[i] = response->offers[i]->id;
    if (search->snippets(search->snippets_arg, request->snippet_names, request->n_snippet_names,
                         keys, response->n_offers, language, arena, &list, &count, NULL)) {
        response->lacks_snippets = true;
        return;
    }
    for (i = 0; i < response->n_offers; i++)
        give(response->offers[i], list, count, arena);
}

static void glue_page(const struct search *search, const Torg__V1__SearchOffersRequest *request,
                      const char *language, struct arena *arena,
                      Torg__V1__SearchOffersResponse *response)
{
    char *keys[2];
    size_t key_count = 0;

    if (*request->category)
        keys[key_count++] = arena_printf(arena, "category:%s", request->category);
    if (*request->text)
        keys[key_count++] =
            arena_printf(arena, "query:%s",
                         response->corrected ? response->corrected->corrected : request->text);
    if (key_count && search->snippets(search->snippets_arg, request->page_snippet_names,
                                      request->n_page_snippet_names, keys, key_count, language,
                                      arena, &response->snippets, &response->n_snippets, NULL)) {
        response->n_snippets = 0;
        response->lacks_snippets = true;
    }
}

void glue_snippets(const struct search *search, const Torg__V1__SearchOffersRequest *request,
                   const char *language, struct arena *arena,
                   Torg__V1__SearchOffersResponse *response)
{
    if (!search->snippets) {
        response->lacks_snippets = request->n_snippet_names || request->n_page_snippet_names;
        return;
    }
    if (request->n_snippet_names && response->n_offers)
        glue_offers(search, request, language, arena, response);
    if (request->n_page_snippet_names)
        glue_page(search, request, language, arena, response);
}

int glue_alone(const struct search *search, const Torg__V1__GetPageSnippetsRequest *request,
               const char *language, struct arena *arena,
               Torg__V1__GetPageSnippetsResponse *response, struct err *err)
{
    if (request->n_names > SEARCH_SNIPPET_NAME_COUNT_MAX)
        return err_set(err, ERR_INVALID, "names: %zu names; at most %d", request->n_names,
                       SEARCH_SNIPPET_NAME_COUNT_MAX);
    if (request->n_keys > SEARCH_PAGE_COUNT_MAX)
        return err_set(err, ERR_INVALID, "keys: %zu keys; at most %d", request->n_keys,
                       SEARCH_PAGE_COUNT_MAX);
    if (!request->n_names || !request->n_keys)
        return 0;
    if (!search->snippets ||
        search->snippets(search->snippets_arg, request->names, request->n_names, request->keys,
                         request->n_keys, language, arena, &response->snippets,
                         &response->n_snippets, NULL)) {
        response->n_snippets = 0;
        response->lacks_snippets = true;
    }
    return 0;
}
