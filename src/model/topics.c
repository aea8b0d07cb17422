/* SPDX-License-Identifier: Apache-2.0 */
/* topics.c - see topics.h. */
#include "model/topics.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "model/bounds.h"
#include "torg/v1/contact.pb-c.h"
#include "torg/v1/document.pb-c.h"
#include "torg/v1/event.pb-c.h"
#include "torg/v1/feed.pb-c.h"
#include "torg/v1/index_message.pb-c.h"
#include "torg/v1/moderation.pb-c.h"
#include "torg/v1/offer_update.pb-c.h"
#include "torg/v1/photo.pb-c.h"

/* clang-format off */
const struct topic_line topic_lines[] = {
    {TOPIC_OFFER_UPDATES, STAGE_PARTITION_COUNT, STAGE_RETENTION_S, false, "offer",
     &torg__v1__offer_update__descriptor},
    {TOPIC_MODERATION_REQUESTS, STAGE_PARTITION_COUNT, STAGE_RETENTION_S, false, "offer",
     &torg__v1__offer_update__descriptor},
    {TOPIC_OPINIONS, STAGE_PARTITION_COUNT, STAGE_RETENTION_S, true, "offer",
     &torg__v1__moderation_opinion__descriptor},
    {TOPIC_PHOTO_REQUESTS, STAGE_PARTITION_COUNT, STAGE_RETENTION_S, false, "offer",
     &torg__v1__photo_request__descriptor},
    {TOPIC_PHOTO_SLOW, STAGE_PARTITION_COUNT, STAGE_RETENTION_S, false, "offer",
     &torg__v1__photo_request__descriptor},
    {TOPIC_PHOTO_RESULTS, STAGE_PARTITION_COUNT, STAGE_RETENTION_S, true, "offer",
     &torg__v1__photo_result__descriptor},
    {TOPIC_MESSAGES, STAGE_PARTITION_COUNT, STAGE_RETENTION_S, false, "seller",
     &torg__v1__seller_message__descriptor},
    {TOPIC_EVENTS, STAGE_PARTITION_COUNT, STAGE_RETENTION_S, true, "session",
     &torg__v1__record_events_request__descriptor},
    {TOPIC_FEED_EVENTS, STAGE_PARTITION_COUNT, STAGE_RETENTION_S, true, "seller/feed",
     &torg__v1__feed_event__descriptor},
    {TOPIC_DOCUMENTS, DOCUMENTS_PARTITION_COUNT, STAGE_RETENTION_S, true, "client/partition",
     &torg__v1__qualified_batch__descriptor},
    {TOPIC_TAKEDOWNS, STAGE_PARTITION_COUNT, STAGE_RETENTION_S, false, "offer",
     &torg__v1__qualified_batch__descriptor},
    {TOPIC_REFUSALS, STAGE_PARTITION_COUNT, STAGE_RETENTION_S, false, "client/pk",
     &torg__v1__index_refusal__descriptor},
    {TOPIC_INDEX_START, 0, 0, false, "shard", &torg__v1__index_message__descriptor},
};
/* clang-format on */
const size_t topic_line_count = sizeof(topic_lines) / sizeof(topic_lines[0]);

const struct topic_line *topic_line_of(const char *name)
{
    for (size_t i = 0; i < topic_line_count; i++) {
        const struct topic_line *line = &topic_lines[i];

        if (line->partition_count ? strcmp(line->name, name) == 0
                                  : strncmp(line->name, name, strlen(line->name)) == 0)
            return line;
    }
    return NULL;
}

void index_topic_name(const char *client, int64_t epoch, char name[INDEX_TOPIC_SIZE])
{
    snprintf(name, INDEX_TOPIC_SIZE, TOPIC_INDEX_START "%s.%" PRId64, client, epoch);
}
