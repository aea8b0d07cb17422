/* SPDX-License-Identifier: Apache-2.0 */
/*
 * topics.h - the one list of topics: what stages say to each other, and how it is kept.
 *
 * Names are typed here and nowhere else in src/. stage/make_topics.h makes those that are not there
 * when a process starts.
 */
#ifndef TORG_MODEL_TOPICS_H
#define TORG_MODEL_TOPICS_H

#include <protobuf-c/protobuf-c.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TOPIC_OFFER_UPDATES "offer-updates"             /* offers to the pipeline */
#define TOPIC_MODERATION_REQUESTS "moderation-requests" /* the same records, for moderators */
#define TOPIC_OPINIONS "moderation-opinions"            /* moderators to offers */
#define TOPIC_PHOTO_REQUESTS "photo-requests"           /* photos that a change has asked for */
#define TOPIC_PHOTO_SLOW "photo-requests-slow"          /* those whose servers take their time */
#define TOPIC_PHOTO_RESULTS "photo-results"             /* what became of them */
#define TOPIC_MESSAGES "seller-messages"                /* buyers to sellers */
#define TOPIC_EVENTS "events"                           /* what visitors did */
#define TOPIC_FEED_EVENTS "feed-events"                 /* rows of feeds to offers */
#define TOPIC_DOCUMENTS "documents"                     /* documents to the registry */
#define TOPIC_TAKEDOWNS "takedowns"                     /* bans and deletions past both of them */
#define TOPIC_REFUSALS "index-refusals"                 /* searchers back to the registry */
#define TOPIC_INDEX_START "index." /* registry to searchers: "index.CLIENT.EPOCH" */

struct topic_line {
    const char *name;
    uint32_t partition_count; /* 0: as many as the client has shards; made by the indexer */
    int64_t retention_s;      /* 0: by the setting registry.index_retention */
    bool is_open;             /* outsiders may write it; the others only stages do */
    const char *key;          /* what its records are kept in order by */
    const ProtobufCMessageDescriptor *message;
};

extern const struct topic_line topic_lines[];
extern const size_t topic_line_count;

/* Topics of the index share one line. NULL: it is none of ours. */
const struct topic_line *topic_line_of(const char *name);

enum { INDEX_TOPIC_SIZE = 80 }; /* CLIENT_NAME_SIZE_MAX, the largest epoch, and the rest */

/* The topic of an epoch of a client. */
void index_topic_name(const char *client, int64_t epoch, char name[INDEX_TOPIC_SIZE]);

#endif
