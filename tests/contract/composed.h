/* SPDX-License-Identifier: Apache-2.0 */
/*
 * composed.h - documents of offers as they come out of the composer and the recomposer.
 *
 * On Kafka all runs share the topic: it is read from where it ended when the test began, and
 * documents of other runs' offers may be among those seen.
 */
#ifndef TORG_TESTS_CONTRACT_COMPOSED_H
#define TORG_TESTS_CONTRACT_COMPOSED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "offers/record/offer_id.h"
#include "topic/bounds.h"
#include "topic/topic.h"
#include "torg/v1/document.pb-c.h"

enum { COMPOSED_COUNT_MAX = 4096 };

/* One document as it was found in the topic. */
struct composed_document {
    char pk[32];
    int64_t version;
    int64_t modify_us;
    bool is_delete;
    Torg__V1__QueueLane__Name lane;
    uint32_t field_count;
    char words[64];
    uint32_t batch; /* the record it came in */
};

struct composed {
    struct topics *topics; /* borrowed */
    uint32_t partition_count;
    uint64_t next[TOPIC_PARTITION_COUNT_MAX];
    struct composed_document seen[COMPOSED_COUNT_MAX];
    size_t seen_count;
    uint32_t batch_count;
};

/* Makes the topic where it is missing. */
void composed_open(struct composed *composed, struct topics *topics);
/* What has come by now; all that is acknowledged has. */
void composed_look(struct composed *composed);
/* NULL: none has come. */
const struct composed_document *composed_last(const struct composed *composed, offerid id);

#endif
