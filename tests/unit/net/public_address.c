/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of net/public_address: the edges of every special network. */
#include "net/client/public_address.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "base/memory.h"
#include <cmocka.h>

static void public_ones_are_told_from_others(void **state)
{
    static const char *const public[] = {
        "1.1.1.1",        "9.255.255.255",   "11.0.0.0",       "100.63.255.255",
        "100.128.0.0",    "126.255.255.255", "128.0.0.0",      "169.253.255.255",
        "169.255.0.0",    "172.15.255.255",  "172.32.0.0",     "192.167.255.255",
        "192.169.0.0",    "198.17.255.255",  "198.20.0.0",     "223.255.255.255",
        "2606:4700::1",   "2a00:1450::",     "::ffff:8.8.8.8", "64:ff9b::808:808",
        "2002:808:808::", "2001:4860::8888",
    };
    static const char *const others[] = {
        "0.0.0.0",
        "10.0.0.1",
        "100.64.0.0",
        "100.127.255.255",
        "127.0.0.1",
        "127.255.255.255",
        "169.254.1.1",
        "172.16.0.0",
        "172.31.255.255",
        "192.0.0.1",
        "192.0.2.1",
        "192.168.0.1",
        "198.18.0.0",
        "198.19.255.255",
        "198.51.100.7",
        "203.0.113.1",
        "224.0.0.1",
        "240.0.0.1",
        "255.255.255.255",
        "::",
        "::1",
        "fe80::1",
        "fc00::1",
        "fd12::1",
        "ff02::1",
        "::ffff:10.0.0.1",
        "64:ff9b::a00:1",
        "2002:a00:1::",
        "2001:db8::1",
        "2001::1",
        "",
        "localhost",
        "8.8.8",
        "8.8.8.8.8",
    };

    for (size_t i = 0; i < ARRAY_COUNT(public); i++) {
        if (!address_is_public(public[i]))
            fail_msg("%s is public", public[i]);
    }
    for (size_t i = 0; i < ARRAY_COUNT(others); i++) {
        if (address_is_public(others[i]))
            fail_msg("%s is not public", others[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(public_ones_are_told_from_others)};

    return cmocka_run_group_tests_name("public_address", tests, NULL, NULL);
}
