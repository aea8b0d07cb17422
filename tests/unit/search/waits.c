/* SPDX-License-Identifier: Apache-2.0 */
/* Unit tests of search/service.h: searches that wait for a write at a searcher of another process
 * hold no thread, by the method and by the address alike. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>
#include <stdlib.h>

#include "base/memory.h"
#include "codec/message.h"
#include "net/client/caller.h"
#include "net/client/http_client.h"
#include "net/server/server.h"
#include "patience.h"
#include "search/service.h"

enum { THREAD_COUNT = 2, WAITER_COUNT = 40, ANSWER_SIZE_MAX = 1 << 20, DRAIN_MS = 100 };

static struct {
    atomic_bool is_there;             /* the write, at the searcher */
    atomic_bool looked[WAITER_COUNT]; /* who has, for it */
    atomic_int ended_count;           /* of those who wait for it */
    struct catalog *catalog;
    struct caller *caller;
    char url[64];
} scene;

static struct catalog *catalog_of(void *arg)
{
    (void)arg;
    return catalog_ref(scene.catalog);
}

/* A searcher elsewhere: who does not merely look is kept until the write is there. */
static int ask(void *arg, const Torg__V1__SearchRequest *request, int64_t deadline_us,
               struct arena *arena, Torg__V1__SearchResponse *response, struct err *err)
{
    (void)arg;
    (void)deadline_us;
    if (request->n_wait) {
        atomic_store(&scene.looked[strtoul(request->wait[0], NULL, 10) % WAITER_COUNT], true);
        if (request->looks && !atomic_load(&scene.is_there))
            return err_set(err, ERR_TIMEOUT, "it is not that far");
        while (!atomic_load(&scene.is_there))
            clock_sleep(clock_system(), MS_US);
    }
    response->answer = MESSAGE_NEW(query_answer, arena);
    response->answer->stages =
        arena_array(arena, request->query->n_stages, sizeof(response->answer->stages[0]));
    for (size_t i = 0; i < request->query->n_stages; i++)
        response->answer->stages[response->answer->n_stages++] = MESSAGE_NEW(stage_answer, arena);
    return 0;
}

static int settle(void *arg, const char *token, int64_t deadline_us, struct arena *arena,
                  char **found, struct err *err)
{
    (void)arg;
    (void)deadline_us;
    (void)err;
    *found = arena_strdup(arena, token);
    return 0;
}

static int search_by_method(char *token, struct err *err)
{
    Torg__V1__SearchOffersRequest request = TORG__V1__SEARCH_OFFERS_REQUEST__INIT;
    struct buf packed = BUF_INIT(1024);
    struct buf answer = BUF_INIT(ANSWER_SIZE_MAX);
    int rc;

    request.only_offers = true;
    request.wait = &token;
    request.n_wait = token != NULL;
    message_encode(&request.base, &packed);
    rc = caller_call(scene.caller, scene.url, "SearchOffers", buf_bytes(&packed), PATIENCE_MS,
                     &answer, err);
    buf_release(&packed);
    buf_release(&answer);
    return rc;
}

static int search_by_address(const char *token, struct err *err)
{
    struct http_client *client = http_client_new(NULL);
    struct arena *arena = arena_new();
    const struct http_client_request request = {
        .url = arena_printf(arena, "%s/v1/offers/search?wait=%s", scene.url, token),
        .timeout_ms = PATIENCE_MS};
    struct http_client_response response = {0};
    int rc = http_client_send(client, &request, arena, &response, err);

    if (!rc && response.status != 200)
        rc = err_set(err, ERR_INTERNAL, "status %d: %.*s", response.status,
                     BYTES_ARG(response.body));
    arena_free(arena);
    http_client_free(client);
    return rc;
}

struct waiter {
    pthread_t thread;
    char token[8];
    bool by_address;
    int rc;
    struct err err;
};

static void *wait_for_write(void *arg)
{
    struct waiter *waiter = arg;

    waiter->rc = waiter->by_address ? search_by_address(waiter->token, &waiter->err)
                                    : search_by_method(waiter->token, &waiter->err);
    atomic_fetch_add(&scene.ended_count, 1);
    return NULL;
}

static uint32_t looked_count(void)
{
    uint32_t count = 0;

    for (size_t i = 0; i < WAITER_COUNT; i++)
        count += atomic_load(&scene.looked[i]);
    return count;
}

/* All have looked, which they cannot while others hold the threads; and others are answered. */
static void let_all_wait(bool by_address)
{
    struct waiter waiters[WAITER_COUNT] = {{.rc = 0}};
    int64_t until_us = clock_mono_us(clock_system()) + PATIENCE_MS * (int64_t)MS_US;
    struct err err = {0};

    atomic_store(&scene.is_there, false);
    atomic_store(&scene.ended_count, 0);
    for (size_t i = 0; i < WAITER_COUNT; i++) {
        atomic_store(&scene.looked[i], false);
        waiters[i].by_address = by_address;
        snprintf(waiters[i].token, sizeof(waiters[i].token), "%zu", i);
        assert_int_equal(pthread_create(&waiters[i].thread, NULL, wait_for_write, &waiters[i]), 0);
    }
    while (looked_count() < WAITER_COUNT && clock_mono_us(clock_system()) < until_us)
        clock_sleep(clock_system(), MS_US);
    if (looked_count() < WAITER_COUNT)
        atomic_store(&scene.is_there, true); /* those who hold threads go */
    assert_int_equal(looked_count(), WAITER_COUNT);
    if (search_by_method(NULL, &err))
        fail_msg("%s", err.text);
    assert_int_equal(atomic_load(&scene.ended_count), 0);
    atomic_store(&scene.is_there, true);
    for (size_t i = 0; i < WAITER_COUNT; i++) {
        pthread_join(waiters[i].thread, NULL);
        if (waiters[i].rc)
            fail_msg("%zu: %s", i, waiters[i].err.text);
    }
}

static void those_who_wait_hold_no_thread(void **state)
{
    struct search search = {.clock = clock_system(),
                            .catalog = catalog_of,
                            .ask = ask,
                            .settle = settle,
                            .deadline_us = PATIENCE_MS * (int64_t)MS_US};
    struct rpc_service methods = search_service(&search);
    struct rest_service addresses = search_plain_service(&search);
    const struct server_options serving = {.listen = "127.0.0.1:0", .worker_count = THREAD_COUNT};
    struct server *server;
    struct err err = {0};

    (void)state;
    methods.remote = addresses.remote = true;
    scene.caller = caller_new(&(struct caller_options){.service = methods.descriptor->name});
    assert_int_equal(catalog_from_json(bytes_of("{}"), NULL, &scene.catalog, &err), 0);
    assert_int_equal(server_new(&serving, &server, &err), 0);
    server_add_service(server, &methods);
    server_add_rest(server, &addresses);
    assert_int_equal(server_start(server, &err), 0);
    snprintf(scene.url, sizeof(scene.url), "http://127.0.0.1:%u", server_port(server));
    let_all_wait(false);
    let_all_wait(true);
    server_drain(server, DRAIN_MS);
    server_free(server);
    caller_free(scene.caller);
    catalog_unref(scene.catalog);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(those_who_wait_hold_no_thread),
    };

    return cmocka_run_group_tests_name("waits", tests, NULL, NULL);
}
