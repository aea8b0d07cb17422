/* SPDX-License-Identifier: Apache-2.0 */
/* service.c - see service.h. */
#include "search/service.h"

#include <assert.h>
#include <inttypes.h>

#include "base/memory.h"
#include "model/bounds.h"
#include "search/bounds.h"
#include "search/glue.h"
#include "search/suggest/similar.h"
#include "search/suggest/suggest.h"

static int64_t deadline_of(const struct call *call, const struct search *search)
{
    int64_t begun_us = call_begun_us(call);
    int64_t deadline_us =
        search_deadline_us(search, begun_us ? begun_us : clock_mono_us(search->clock));

    return call_deadline_us(call) < deadline_us ? call_deadline_us(call) : deadline_us;
}

static enum language wanted_language(const struct call *call, const char *language)
{
    return language_of(*language ? bytes_of(language) : call_header(call, "accept-language"));
}

/* Tokens of offers' writes give way to those of their documents. */
static int settle_waits(const struct search *search, Torg__V1__SearchOffersRequest *request,
                        int64_t deadline_us, struct arena *arena, struct err *err)
{
    char **tokens = arena_array(arena, request->n_wait + 1, sizeof(*tokens));
    size_t count = 0;

    if (!request->n_wait)
        return 0; /* `wait` stays NULL: search_offers asks that */
    if (request->n_wait > SEARCHER_WAIT_COUNT_MAX)
        return err_set(err, ERR_LIMIT, "wait: %zu tokens, at most %d are waited for",
                       request->n_wait, SEARCHER_WAIT_COUNT_MAX);
    for (size_t i = 0; i < request->n_wait; i++) {
        int rc = search->settle(search->settle_arg, request->wait[i], deadline_us, arena,
                                &tokens[count], err);

        if (rc) {
            err_wrap(err, "wait[%zu]", i);
            return rc;
        }
        count += tokens[count] != NULL;
    }
    request->wait = tokens;
    request->n_wait = count;
    return 0;
}

/* Until a write is looked for again: most are there at once. */
static int64_t pause_of(int64_t waited_us)
{
    int64_t pause_us = waited_us / 2;

    if (pause_us < SEARCH_PAUSE_MS_MIN * MS_US)
        return SEARCH_PAUSE_MS_MIN * MS_US;
    return pause_us > SEARCH_PAUSE_MS_MAX * MS_US ? SEARCH_PAUSE_MS_MAX * MS_US : pause_us;
}

static const char *language_name(const char *asked, enum language wanted)
{
    return *asked ? asked : wanted == LANGUAGE_EN ? "en" : "ru";
}

int search_offers_call(struct call *call, const ProtobufCMessage *message,
                       ProtobufCMessage *response, struct err *err)
{
    const struct search *search = call_context(call);
    Torg__V1__SearchOffersRequest *request = (Torg__V1__SearchOffersRequest *)message;
    Torg__V1__SearchOffersResponse *answer = (Torg__V1__SearchOffersResponse *)response;
    enum language language = wanted_language(call, request->language);
    int64_t deadline_us = deadline_of(call, search);
    int64_t now_us = clock_mono_us(search->clock);
    bool has_waits = request->n_wait || request->seen.len;
    int rc = glue_check(request, err);

    rc = rc ? rc : settle_waits(search, request, now_us, call_arena(call), err);
    rc = rc ? rc
            : (has_waits ? search_offers_look : search_offers)(
                  search, request, language, deadline_us, call_arena(call), answer, err);
    now_us = clock_mono_us(search->clock);
    if (rc == ERR_TIMEOUT && has_waits && now_us < deadline_us) {
        if (call_come_back(call, pause_of(now_us - call_begun_us(call))))
            return rc; /* no thread waits for what is not searchable yet */
        torg__v1__search_offers_response__init(answer);
        rc = settle_waits(search, request, deadline_us, call_arena(call), err);
        rc = rc ? rc
                : search_offers(search, request, language, deadline_us, call_arena(call), answer,
                                err);
    }
    if (!rc)
        glue_snippets(search, request, language_name(request->language, language), call_arena(call),
                      answer);
    return rc;
}

/* Lists of an experiment are the visit's own: who names none is known by where he calls from. */
static int search_call(struct call *call, const ProtobufCMessage *message,
                       ProtobufCMessage *response, struct err *err)
{
    const struct search *search = call_context(call);
    Torg__V1__SearchOffersRequest *request = (Torg__V1__SearchOffersRequest *)message;

    if (search->experiment && !*request->session)
        request->session = arena_printf(call_arena(call), "%016" PRIx64, call_caller(call));
    return search_offers_call(call, message, response, err);
}

static int suggest_call(struct call *call, const ProtobufCMessage *message,
                        ProtobufCMessage *response, struct err *err)
{
    const struct search *search = call_context(call);
    const Torg__V1__SuggestRequest *request = (const Torg__V1__SuggestRequest *)message;

    return search_suggest(search, request, wanted_language(call, request->language),
                          deadline_of(call, search), call_arena(call),
                          (Torg__V1__SuggestResponse *)response, err);
}

static int similar_call(struct call *call, const ProtobufCMessage *message,
                        ProtobufCMessage *response, struct err *err)
{
    const struct search *search = call_context(call);

    return search_similar(search, (const Torg__V1__SimilarRequest *)message,
                          deadline_of(call, search), call_arena(call),
                          (Torg__V1__SimilarResponse *)response, err);
}

static int page_snippets_call(struct call *call, const ProtobufCMessage *message,
                              ProtobufCMessage *response, struct err *err)
{
    const Torg__V1__GetPageSnippetsRequest *request =
        (const Torg__V1__GetPageSnippetsRequest *)message;
    enum language language = wanted_language(call, request->language);

    return glue_alone(call_context(call), request, language_name(request->language, language),
                      call_arena(call), (Torg__V1__GetPageSnippetsResponse *)response, err);
}

static const struct rpc_method methods[] = {
    {.name = "SearchOffers", .unary = search_call, .flags = RPC_PUBLIC | RPC_COMPUTE},
    {.name = "Suggest", .unary = suggest_call, .flags = RPC_PUBLIC | RPC_COMPUTE},
    {.name = "Similar", .unary = similar_call, .flags = RPC_PUBLIC | RPC_COMPUTE},
    {.name = "GetPageSnippets", .unary = page_snippets_call, .flags = RPC_PUBLIC | RPC_COMPUTE},
};

struct rpc_service search_service(struct search *search)
{
    assert(search->clock && search->ask);
    return RPC_SERVICE(search, methods, search);
}
