/* SPDX-License-Identifier: Apache-2.0 */
/* Unit tests of config/nearest.h and config/address.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/memory.h"
#include "config/address.h"
#include "config/nearest.h"

static void the_nearest_word_is_found_and_wild_guesses_are_not(void **state)
{
    static const char *const words[] = {"up", "serve", "config", "migrate", "version"};
    static const struct {
        const char *typed;
        const char *meant; /* NULL = nothing near */
    } cases[] = {
        {"srve", "serve"},
        {"sevre", "serve"},
        {"confg", "config"},
        {"migrat", "migrate"},
        {"ups", "up"},
        {"x", NULL},
        {"frobnicate", NULL},
        {"", NULL},
        {"vresion", "version"},
        {"a-word-that-is-far-longer-than-any-name-we-know-and-than-the-table-of-distances", NULL},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        struct nearest nearest = nearest_to(cases[i].typed);

        for (size_t j = 0; j < ARRAY_COUNT(words); j++)
            nearest_offer(&nearest, words[j]);
        if (cases[i].meant)
            assert_string_equal(nearest.word ? nearest.word : "(none)", cases[i].meant);
        else
            assert_null(nearest.word);
    }
}

static void addresses_are_taken_apart(void **state)
{
    static const struct {
        const char *text;
        const char *host; /* NULL = refused */
        unsigned port;
        bool loopback;
    } cases[] = {
        {"127.0.0.1:8080", "127.0.0.1", 8080, true},
        {"127.9.9.9:0", "127.9.9.9", 0, true},
        {"[::1]:80", "::1", 80, true},
        {"localhost:1", "localhost", 1, true},
        {"0.0.0.0:80", "0.0.0.0", 80, false},
        {"[::]:80", "::", 80, false},
        {"127.0.0.1.example.org:80", "127.0.0.1.example.org", 80, false},
        {"[::ffff:127.0.0.1]:80", "::ffff:127.0.0.1", 80, false},
        {"10.0.0.1:65535", "10.0.0.1", 65535, false},
        {"", NULL, 0, false},
        {":80", NULL, 0, false},
        {"host", NULL, 0, false},
        {"host:", NULL, 0, false},
        {"host:65536", NULL, 0, false},
        {"host:-1", NULL, 0, false},
        {"host: 1", NULL, 0, false},
        {"a b:1", NULL, 0, false},
        {"::1:80", NULL, 0, false},
        {"[::1:80", NULL, 0, false},
        {"[:80", NULL, 0, false},
        {"[zz]:80", NULL, 0, false},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        struct address address;

        assert_int_equal(address_parse(cases[i].text, &address), cases[i].host != NULL);
        if (!cases[i].host)
            continue;
        assert_string_equal(address.host, cases[i].host);
        assert_int_equal(address.port, cases[i].port);
        assert_int_equal(address_is_loopback(&address), cases[i].loopback);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_nearest_word_is_found_and_wild_guesses_are_not),
        cmocka_unit_test(addresses_are_taken_apart),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
