/* SPDX-License-Identifier: Apache-2.0 */
/* Unit tests of net/server/routes/health.h, on a fake call. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/clock.h"
#include "fake_call.h"
#include "grpc/health/v1/health.pb-c.h"
#include "net/server/routes/health.h"

#define SERVING GRPC__HEALTH__V1__HEALTH_CHECK_RESPONSE__SERVING_STATUS__SERVING
#define NOT_SERVING GRPC__HEALTH__V1__HEALTH_CHECK_RESPONSE__SERVING_STATUS__NOT_SERVING
#define UNKNOWN_SERVICE GRPC__HEALTH__V1__HEALTH_CHECK_RESPONSE__SERVING_STATUS__SERVICE_UNKNOWN

static struct health *health;
static struct call call;
static Grpc__Health__V1__HealthCheckRequest request;

static int set_up(void **state)
{
    (void)state;
    health = health_new(clock_system());
    fake_call_init(&call, health_service(health));
    grpc__health__v1__health_check_request__init(&request);
    call.requests[0] = &request.base;
    call.request_count = 1;
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    fake_call_release(&call);
    health_free(health);
    return 0;
}

static int check(const char *service)
{
    Grpc__Health__V1__HealthCheckResponse response = GRPC__HEALTH__V1__HEALTH_CHECK_RESPONSE__INIT;
    struct err err;
    int rc;

    request.service = (char *)service;
    rc = health_service(health)->methods[0].unary(&call, &request.base, &response.base, &err);
    return rc ? rc : (int)response.status;
}

static void check_tells_what_was_set(void **state)
{
    (void)state;
    assert_string_equal(health_service(health)->methods[0].name, "Check");
    assert_int_equal(check(""), NOT_SERVING);
    health_set(health, "", true);
    health_set(health, "torg.v1.SystemService", true);
    assert_int_equal(check(""), SERVING);
    assert_int_equal(check("torg.v1.SystemService"), SERVING);
    assert_int_equal(check("torg.v1.Other"), ERR_NOT_FOUND);
    health_set(health, "torg.v1.SystemService", false);
    assert_int_equal(check("torg.v1.SystemService"), NOT_SERVING);
    assert_int_equal(check(""), SERVING);
    health_drain(health);
    assert_int_equal(check(""), NOT_SERVING);
    health_set(health, "", true);
    assert_int_equal(check(""), NOT_SERVING);
}

static void *watch(void *context)
{
    struct err err;

    (void)context;
    return (void *)(intptr_t)health_service(health)->methods[1].stream(&call, &err);
}

static int status_at(size_t index)
{
    const ProtobufCMessage *answer = fake_call_answer(&call, index);

    assert_non_null(answer);
    return (int)((const Grpc__Health__V1__HealthCheckResponse *)answer)->status;
}

static void watch_tells_every_change_until_the_server_drains(void **state)
{
    pthread_t thread;
    void *result;

    (void)state;
    request.service = (char *)"later";
    pthread_create(&thread, NULL, watch, NULL);
    assert_int_equal(status_at(0), UNKNOWN_SERVICE);
    health_set(health, "other", true);
    health_set(health, "later", true);
    assert_int_equal(status_at(1), SERVING);
    health_set(health, "later", true); /* no change, nothing sent */
    health_set(health, "later", false);
    assert_int_equal(status_at(2), NOT_SERVING);
    health_set(health, "later", true);
    assert_int_equal(status_at(3), SERVING);
    health_drain(health);
    assert_int_equal(status_at(4), NOT_SERVING);
    pthread_join(thread, &result);
    assert_int_equal((intptr_t)result, ERR_UNAVAILABLE);
    assert_int_equal(call.answer_count, 5);
}

static void watch_ends_when_its_client_leaves(void **state)
{
    pthread_t thread;
    void *result;

    (void)state;
    request.service = (char *)"";
    pthread_create(&thread, NULL, watch, NULL);
    assert_int_equal(status_at(0), NOT_SERVING);
    fake_call_cancel(&call);
    pthread_join(thread, &result);
    assert_int_equal((intptr_t)result, ERR_CANCELLED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(check_tells_what_was_set, set_up, tear_down),
        cmocka_unit_test_setup_teardown(watch_tells_every_change_until_the_server_drains, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(watch_ends_when_its_client_leaves, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
