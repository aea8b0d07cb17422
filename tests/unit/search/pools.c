/* SPDX-License-Identifier: Apache-2.0 */
/* Whatever searches takes its turn among what computes, by whichever address it is asked: on the
 * threads of those who wait for commits, many at once would keep writers out. */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include "base/clock.h"
#include "search/service.h"
#include <cmocka.h>

static int ask(void *arg, const Torg__V1__SearchRequest *request, int64_t deadline_us,
               struct arena *arena, Torg__V1__SearchResponse *response, struct err *err)
{
    fail_msg("nobody asks");
    return 0;
}

static struct search search = {.ask = ask};

static void calls_compute(void **state)
{
    struct rpc_service service;

    search.clock = clock_system();
    service = search_service(&search);
    for (size_t i = 0; i < service.method_count; i++)
        assert_true(service.methods[i].flags & RPC_COMPUTE);
}

static void check(const struct rest_service *service)
{
    for (size_t i = 0; i < service->method_count; i++) {
        const struct rest_method *method = &service->methods[i];

        if (strcmp(method->path, "/offers/{id}") == 0) /* reads a row */
            continue;
        if (!(method->flags & (RPC_COMPUTE | RPC_INLINE)))
            fail_msg("%s searches and does not say so", method->path);
    }
}

static void addresses_compute(void **state)
{
    struct rest_service plain = search_plain_service(&search);
    struct rest_service pages = search_pages_service(&search);

    check(&plain);
    check(&pages);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls_compute),
        cmocka_unit_test(addresses_compute),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
