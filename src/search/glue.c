/* SPDX-License-Identifier: Apache-2.0 */
/* glue.c - see glue.h. */
#include "search/glue.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/hash.h"
#include "codec/moment.h"
#include "index/text/unicode.h"
#include "search/bounds.h"

enum { QUERY_FOLDED_SIZE_MAX = 4 << 10 }; /* a text of 400 bytes folds to less */

int glue_check(const Torg__V1__SearchOffersRequest *request, struct err *err)
{
    if (request->n_snippet_names > SEARCH_SNIPPET_NAME_COUNT_MAX)
        return err_set(err, ERR_INVALID, "snippet_names: %zu names; at most %d",
                       request->n_snippet_names, SEARCH_SNIPPET_NAME_COUNT_MAX);
    if (request->n_page_snippet_names > SEARCH_SNIPPET_NAME_COUNT_MAX)
        return err_set(err, ERR_INVALID, "page_snippet_names: %zu names; at most %d",
                       request->n_page_snippet_names, SEARCH_SNIPPET_NAME_COUNT_MAX);
    if (request->n_page_snippet_keys > SEARCH_SNIPPET_KEY_COUNT_MAX)
        return err_set(err, ERR_INVALID, "page_snippet_keys: %zu keys; at most %d",
                       request->n_page_snippet_keys, SEARCH_SNIPPET_KEY_COUNT_MAX);
    for (size_t i = 0; i < request->n_page_snippet_keys; i++)
        if (strlen(request->page_snippet_keys[i]) > SEARCH_SNIPPET_KEY_SIZE_MAX)
            return err_set(err, ERR_INVALID, "page_snippet_keys[%zu]: %zu bytes; at most %d", i,
                           strlen(request->page_snippet_keys[i]), SEARCH_SNIPPET_KEY_SIZE_MAX);
    return 0;
}

static int by_id(const void *a, const void *b)
{
    const Torg__V1__FoundOffer *const *x = a, *const *y = b;

    return strcmp((*x)->id, (*y)->id);
}

/* The first of the offers, in the order of their ids, that is not before a key. They are looked
 * through from a place on: snippets come by name, then key. */
static size_t find_place(Torg__V1__FoundOffer *const *offers, size_t count, size_t from,
                         const char *key)
{
    if (from && strcmp(offers[from - 1]->id, key) >= 0)
        from = 0; /* of the next name */
    while (from < count && strcmp(offers[from]->id, key) < 0)
        from++;
    return from;
}

/* Each offer's are taken together. */
static void give(Torg__V1__FoundOffer *const *page, size_t page_count,
                 Torg__V1__Snippet *const *list, size_t count, struct arena *arena)
{
    Torg__V1__FoundOffer **offers = arena_array(arena, page_count, sizeof(*offers));
    size_t *places = arena_array(arena, count, sizeof(*places));

    memcpy(offers, page, page_count * sizeof(*offers));
    qsort(offers, page_count, sizeof(*offers), by_id);
    for (size_t i = 0, at = 0; i < count; i++) {
        at = places[i] = find_place(offers, page_count, at, list[i]->key);
        for (size_t k = at; k < page_count && strcmp(offers[k]->id, list[i]->key) == 0; k++)
            offers[k]->n_snippets++;
    }
    for (size_t i = 0; i < page_count; i++) {
        offers[i]->snippets = arena_array(arena, offers[i]->n_snippets, sizeof(*list));
        offers[i]->n_snippets = 0;
    }
    for (size_t i = 0; i < count; i++) {
        for (size_t k = places[i]; k < page_count && strcmp(offers[k]->id, list[i]->key) == 0; k++)
            offers[k]->snippets[offers[k]->n_snippets++] = list[i];
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
    if (count)
        give(response->offers, response->n_offers, list, count, arena);
}

static void put_folded(struct buf *out, uint32_t code)
{
    struct folded folded[UNICODE_FOLD_COUNT_MAX];
    size_t count = unicode_fold(code, folded);

    for (size_t i = 0; i < count; i++) {
        uint8_t utf8[UNICODE_UTF8_SIZE_MAX];

        buf_put(out, bytes_make(utf8, unicode_encode(folded[i].code, utf8)));
    }
}

/* "query:" and the text, alike however it was typed: folded, with single blanks; or its hash. */
static char *query_key(const char *text, struct arena *arena)
{
    const uint8_t *at = (const uint8_t *)text, *end = at + strlen(text);
    struct buf folded = BUF_INIT(QUERY_FOLDED_SIZE_MAX);
    bool is_apart = false;
    struct bytes found;
    char *key;

    while (at < end) {
        uint32_t code;

        at += unicode_decode(at, end, &code);
        if (code <= ' ') {
            is_apart = folded.size > 0;
            continue;
        }
        if (is_apart)
            buf_put(&folded, bytes_of(" "));
        is_apart = false;
        put_folded(&folded, code);
    }
    found = buf_bytes(&folded);
    key = found.size + sizeof("query:") - 1 <= SEARCH_SNIPPET_KEY_SIZE_MAX
              ? arena_printf(arena, "query:%.*s", (int)found.size, (const char *)found.data)
              : arena_printf(arena, "query-hash:%016jx", (uintmax_t)hash64(found));
    buf_release(&folded);
    return key;
}

static void glue_page(const struct search *search, const Torg__V1__SearchOffersRequest *request,
                      const char *language, struct arena *arena,
                      Torg__V1__SearchOffersResponse *response)
{
    char *keys[2 + SEARCH_SNIPPET_KEY_COUNT_MAX];
    size_t key_count = 0;

    while (key_count < request->n_page_snippet_keys) {
        keys[key_count] = request->page_snippet_keys[key_count];
        key_count++;
    }
    if (*request->category)
        keys[key_count++] = arena_printf(arena, "category:%s", request->category);
    if (*request->text)
        keys[key_count++] =
            query_key(response->corrected ? response->corrected->corrected : request->text, arena);
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

static uint64_t hash_text(const char *text, uint64_t seed)
{
    return hash64_seeded(bytes_of(text), seed);
}

static uint64_t hash_time(const Google__Protobuf__Timestamp *time, uint64_t seed)
{
    int64_t us = moment_own_us(time);

    return hash64_seeded(bytes_make(&us, sizeof(us)), seed);
}

/* A hash of all that the snippets say: any process tells the same. */
static char *state_of(Torg__V1__Snippet *const *list, size_t count, struct arena *arena)
{
    uint64_t hash = count;

    for (size_t i = 0; i < count; i++) {
        const Torg__V1__Snippet *each = list[i];

        hash = hash_text(each->name, hash);
        hash = hash_text(each->key, hash);
        hash = hash_text(each->language, hash);
        hash = hash_text(each->text, hash + (uint64_t)each->format);
        hash = hash64_seeded(bytes_make(each->binary.data, each->binary.len), hash);
        hash = hash_time(each->update_time, hash);
        hash = hash_time(each->end_time, hash);
    }
    return arena_printf(arena, "%016jx", (uintmax_t)hash);
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
        return 0;
    }
    response->state = state_of(response->snippets, response->n_snippets, arena);
    response->unchanged = strcmp(response->state, request->known_state) == 0;
    if (response->unchanged)
        response->n_snippets = 0;
    return 0;
}
