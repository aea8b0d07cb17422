/* SPDX-License-Identifier: Apache-2.0 */
/* topics_place.c - see topics_place.h. */
#include "contract/topics_place.h"

#include <stdio.h>

#include "base/file.h"
#include "contract/cases.h"

struct topics *test_topics_open(char dir[TEST_DIR_SIZE], bool on_kafka)
{
    struct topics *topics;
    char url[512];
    struct err err;

    assert_true(test_dir_make(dir));
    if (on_kafka)
        snprintf(url, sizeof(url), "fault:kafka://%s", server_address("kafka"));
    else
        snprintf(url, sizeof(url), "fault:file:%s/topics", dir);
    OK(topics_open(url, NULL, &topics, &err));
    return topics;
}

void test_topics_close(struct topics *topics, const char *dir)
{
    struct err err;

    topics_close(topics);
    OK(dir_remove(dir, &err));
}
