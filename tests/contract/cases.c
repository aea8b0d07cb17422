/* SPDX-License-Identifier: Apache-2.0 */
/* cases.c - see cases.h. */
#include "contract/cases.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const bool is_embedded = false;
static const bool is_on_servers = true;

void cases_add(struct case_list *list, const struct test_case *cases, size_t case_count,
               const char *backend, const void *state)
{
    for (size_t i = 0; i < case_count; i++) {
        char *name = list->names[list->count];

        assert_true(list->count < CASE_COUNT_MAX);
        snprintf(name, CASE_NAME_SIZE, "%s: %s", backend, cases[i].name);
        list->tests[list->count++] =
            (struct CMUnitTest){name, cases[i].run, list->set_up, list->tear_down, (void *)state};
    }
}

void cases_on_stores(struct case_list *list, const struct test_case *cases, size_t case_count)
{
    cases_add(list, cases, case_count, "sqlite", &is_embedded);
    cases_add(list, cases, case_count, "postgres", &is_on_servers);
}

void cases_embedded(struct case_list *list, const struct test_case *cases, size_t case_count)
{
    cases_add(list, cases, case_count, "embedded", &is_embedded);
}

void cases_on_servers(struct case_list *list, const struct test_case *cases, size_t case_count)
{
    if (!UNDER_TSAN)
        cases_add(list, cases, case_count, "servers", &is_on_servers);
}

bool case_on_servers(void **state)
{
    return *(const bool *)*state;
}

int cases_run(struct case_list *list, int argc, char **argv)
{
    if (argc > 1)
        cmocka_set_test_filter(argv[1]);
    return _cmocka_run_group_tests(list->name, list->tests, list->count, NULL, NULL);
}

const char *server_address(const char *name)
{
    const char *required = getenv("TORG_REQUIRE");
    char variable[64] = "TORG_TEST_";
    const char *address;
    size_t size = strlen(variable);

    for (size_t i = 0; name[i] && size < sizeof(variable) - 1; i++)
        variable[size++] = (char)toupper((unsigned char)name[i]);
    address = getenv(variable);
    if (address && *address)
        return address;
    if (required && strstr(required, name))
        fail_msg("TORG_REQUIRE names %s, and %s is not set", name, variable);
    return NULL;
}

void pause_ms(int ms)
{
    const struct timespec pause = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L};

    nanosleep(&pause, NULL);
}
