/* SPDX-License-Identifier: Apache-2.0 */
/* make_topics.c - see make_topics.h. */
#include "stage/make_topics.h"

#include <assert.h>

#include "base/log.h"
#include "model/topics.h"
#include "stage/bounds.h"

static int make(struct topics *topics, const struct topic_line *line, struct err *err)
{
    const struct topic_config config = {.partition_count = line->partition_count,
                                        .retention_ms = line->retention_s * 1000};

    return topic_ensure(topics, line->name, &config, err);
}

static int tell_difference(struct topics *topics, const struct topic_line *line, struct err *err)
{
    struct topic_config found;
    int rc = topic_describe(topics, line->name, &found, err);

    if (!rc && found.partition_count != line->partition_count)
        log_warn("a topic has other partitions than it would be made with",
                 LOG_TEXT("topic", line->name), LOG_INT("partitions", found.partition_count),
                 LOG_INT("expected", line->partition_count));
    return rc;
}

int stage_make_topics(struct topics *topics, struct err *err)
{
    int rc = 0;

    for (size_t i = 0; i < topic_line_count && !rc; i++) {
        if (!topic_lines[i].partition_count)
            continue;
        rc = make(topics, &topic_lines[i], err);
        if (!rc)
            rc = tell_difference(topics, &topic_lines[i], err);
    }
    return rc;
}

int stage_make_topic(struct topics *topics, const char *name, struct err *err)
{
    const struct topic_line *line = topic_line_of(name);
    const struct topic_line others = {.name = name,
                                      .partition_count = OTHER_TOPIC_PARTITION_COUNT,
                                      .retention_s = OTHER_TOPIC_RETENTION_S};

    assert(!line || line->partition_count);
    return make(topics, line ? line : &others, err);
}
