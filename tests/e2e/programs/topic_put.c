/* SPDX-License-Identifier: Apache-2.0 */
/*
 * topic_put.c - puts records into a topic that its readers cannot read, for tests of the binary.
 *
 *     topic-put DIR|URL TOPIC KEY [VALUE]
 *
 * One record, to the partition of its key; without a VALUE, bytes that are no message. No server
 * may have the directory open.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "topic/topic.h"

enum { URL_SIZE = 4096 };

static void check(int rc, const struct err *err)
{
    if (rc) {
        fprintf(stderr, "topic-put: %s\n", err->text);
        exit(1);
    }
}

int main(int argc, char **argv)
{
    static const unsigned char garbage[] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x00, 0x17};
    struct topic_record record = {.value = bytes_make(garbage, sizeof(garbage))};
    struct topics *topics;
    char url[URL_SIZE];
    struct err err;

    if (argc != 4 && argc != 5) {
        fprintf(stderr, "usage: topic-put DIR|URL TOPIC KEY [VALUE]\n");
        return 2;
    }
    snprintf(url, sizeof(url), "%s%s", strstr(argv[1], "://") ? "" : "file:", argv[1]);
    record.key = bytes_of(argv[3]);
    if (argc == 5)
        record.value = bytes_of(argv[4]);
    check(topics_open(url, NULL, &topics, &err), &err);
    check(topic_produce(topics, argv[2], &record, 1, NULL, &err), &err);
    topics_close(topics);
    return 0;
}
