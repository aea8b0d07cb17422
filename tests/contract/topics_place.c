/* SPDX-License-Identifier: Apache-2.0 */
/* topics_place.c - see topics_place.h. */
#include "contract/topics_place.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/file.h"
#include "base/random.h"
#include "contract/cases.h"

const char *test_topics_prefix(void)
{
    static char prefix[TEST_PREFIX_SIZE];

    if (!prefix[0])
        snprintf(prefix, sizeof(prefix), "t%016" PRIx64 ".", random_u64());
    return prefix;
}

struct topics *test_topics_open(char dir[TEST_DIR_SIZE], bool on_kafka)
{
    const struct topics_options options = {.prefix = on_kafka ? test_topics_prefix() : NULL};
    struct topics *topics;
    char url[512];
    struct err err;

    assert_true(test_dir_make(dir));
    if (on_kafka)
        snprintf(url, sizeof(url), "fault:kafka://%s", server_address("kafka"));
    else
        snprintf(url, sizeof(url), "fault:file:%s/topics", dir);
    OK(topics_open(url, &options, &topics, &err));
    return topics;
}

void test_topics_close(struct topics *topics, const char *dir)
{
    struct err err;

    topics_close(topics);
    OK(dir_remove(dir, &err));
}
