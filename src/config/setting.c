/* SPDX-License-Identifier: Apache-2.0 */
/* setting.c - see setting.h. */
#include "config/setting.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/bounds.h"
#include "base/clock.h"
#include "config/bounds.h"
#include "config/nearest.h"

enum { MINUTE_US = 60 * SECOND_US };
#define DRAFT_LIFE_MAX_US (10LL * 365 * 24 * 60 * MINUTE_US)

#define HOUR_US (60LL * MINUTE_US)
#define DAY_US (24 * HOUR_US)

const struct setting setting_table[SETTING_COUNT] = {
    [SETTING_DATA_DIR] = {.name = "data.dir",
                          .flag = "data",
                          .default_text = "torg-data",
                          .kind = SETTING_PATH,
                          .help = "Directory for everything that the embedded backends keep. One "
                                  "process at a time: it is locked."},
    [SETTING_SERVER_LISTEN] = {.name = "server.listen",
                               .flag = "listen",
                               .default_text = "127.0.0.1:8080",
                               .kind = SETTING_ADDRESS,
                               .help = "Address of the API and the web page. Another address than "
                                       "loopback needs at least one key (torg key create)."},
    [SETTING_SERVER_OPERATOR_LISTEN] =
        {.name = "server.operator_listen",
         .flag = "operator-listen",
         .default_text = "127.0.0.1:8081",
         .kind = SETTING_ADDRESS,
         .optional = true,
         .help = "Address of /livez, /readyz, /metrics and /debug/tasks, which ask "
                 "for no key. Empty: not served."},
    [SETTING_SERVER_REACTORS] = {.name = "server.reactors",
                                 .default_text = "0",
                                 .kind = SETTING_NUMBER,
                                 .max = CONFIG_THREAD_COUNT_MAX,
                                 .help = "Threads that serve connections. 0: one per core."},
    [SETTING_SERVER_WORKERS] = {.name = "server.workers",
                                .default_text = "0",
                                .kind = SETTING_NUMBER,
                                .max = CONFIG_THREAD_COUNT_MAX,
                                .help = "Threads that run handlers which may block. 0: the "
                                        "built-in default."},
    [SETTING_SERVER_DRAIN] = {.name = "server.drain",
                              .default_text = "20s",
                              .kind = SETTING_DURATION,
                              .max = 10LL * MINUTE_US,
                              .help = "How long calls in flight may continue after SIGTERM."},
    [SETTING_SERVER_DRAIN_PAUSE] =
        {.name = "server.drain_pause",
         .default_text = "0s",
         .kind = SETTING_DURATION,
         .max = 10LL * MINUTE_US,
         .help = "How long a process that was asked to stop continues to serve as before, while "
                 "/readyz says that it is not ready: until load balancers have noticed."},
    [SETTING_SERVER_REUSE_PORT] =
        {.name = "server.reuse_port",
         .default_text = "false",
         .kind = SETTING_BOOL,
         .help = "Several processes of one user may listen on server.listen, so that the next one "
                 "is started before this one is stopped. One started by mistake is not noticed."},
    [SETTING_SERVER_PROXIES] =
        {.name = "server.proxies",
         .default_text = "",
         .kind = SETTING_LIST,
         .choices = "addresses such as 10.0.0.2 or 10.0.0.0/8",
         .optional = true,
         .help = "Proxies in front of this process. What they say in X-Forwarded-For is taken for "
                 "their clients' addresses, and limits.address_connections does not hold for them. "
                 "Empty: none is believed."},
    [SETTING_LIMITS_KEY_RATE] =
        {.name = "limits.key_rate",
         .default_text = "10000",
         .kind = SETTING_NUMBER,
         .max = CONFIG_RATE_MAX,
         .help = "Calls a second by one key; one that takes longer counts as a call for every "
                 "millisecond of CPU. Ten seconds' worth may come at once; then they are answered "
                 "429 with Retry-After. 0: no limit."},
    [SETTING_LIMITS_SELLER_RATE] =
        {.name = "limits.seller_rate",
         .default_text = "2000",
         .kind = SETTING_NUMBER,
         .max = CONFIG_RATE_MAX,
         .help = "The same of all keys that are bound to one seller together. 0: no limit."},
    [SETTING_LIMITS_ADDRESS_RATE] =
        {.name = "limits.address_rate",
         .default_text = "2000",
         .kind = SETTING_NUMBER,
         .max = CONFIG_RATE_MAX,
         .help = "The same of calls without a key from one address (of IPv6, a /64). A front end "
                 "that asks for all its visitors shows a key, or is named in server.proxies. 0: no "
                 "limit."},
    [SETTING_LIMITS_ADDRESS_CONNECTIONS] =
        {.name = "limits.address_connections",
         .default_text = "4096",
         .kind = SETTING_NUMBER,
         .max = CONFIG_RATE_MAX,
         .help = "Connections that one address may have open. 0: no limit."},
    [SETTING_SERVER_CORS_ORIGINS] =
        {.name = "server.cors_origins",
         .default_text = "",
         .kind = SETTING_LIST,
         .choices = "origins such as https://shop.example",
         .optional = true,
         .help = "Web pages of other places that may call the API from a browser, by their "
                 "origins. * is every page; the browser's own credentials are sent by those "
                 "that are named only. Keys are still required. Empty: none."},
    [SETTING_TLS_CERTIFICATE] = {.name = "tls.certificate",
                                 .default_text = "",
                                 .kind = SETTING_PATH,
                                 .optional = true,
                                 .help = "PEM file with the server's certificate chain. Empty: the "
                                         "API is served without TLS."},
    [SETTING_TLS_KEY] = {.name = "tls.key",
                         .default_text = "",
                         .kind = SETTING_PATH,
                         .optional = true,
                         .help = "PEM file with the certificate's private key."},
    [SETTING_TLS_CLIENT_CA] = {.name = "tls.client_ca",
                               .default_text = "",
                               .kind = SETTING_PATH,
                               .optional = true,
                               .help = "PEM file with the authorities that sign client "
                                       "certificates. Empty: clients are not asked for one."},
    [SETTING_TLS_CLIENT_REQUIRED] = {.name = "tls.client_required",
                                     .default_text = "false",
                                     .kind = SETTING_BOOL,
                                     .help = "Refuse clients without a certificate."},
    [SETTING_TLS_OPERATORS] = {.name = "tls.operators",
                               .default_text = "false",
                               .kind = SETTING_BOOL,
                               .help = "Serve the operators' port by TLS as well, with the same "
                                       "certificate."},
    [SETTING_TOKENS_KEYS] =
        {.name = "tokens.keys",
         .default_text = "",
         .kind = SETTING_PATH,
         .optional = true,
         .help =
             "Public keys (JWKS) of the issuer that signs sellers' tokens (JWT): a file, or an "
             "address that begins with https:// (http:// on loopback only). Read again when the "
             "file changes, the address every few minutes and when a token names an unknown "
             "key. Empty: no tokens are accepted."},
    [SETTING_TOKENS_ISSUER] = {.name = "tokens.issuer",
                               .default_text = "",
                               .kind = SETTING_TEXT,
                               .optional = true,
                               .help = "What a token must have as iss. Needed with tokens.keys."},
    [SETTING_TOKENS_AUDIENCE] = {.name = "tokens.audience",
                                 .default_text = "",
                                 .kind = SETTING_TEXT,
                                 .optional = true,
                                 .help = "What a token must have as aud, or in it. Needed with "
                                         "tokens.keys."},
    [SETTING_TOKENS_SELLER_CLAIM] = {.name = "tokens.seller_claim",
                                     .default_text = "seller",
                                     .kind = SETTING_NAME,
                                     .max = 64,
                                     .help = "The claim that names the seller a token acts for."},
    [SETTING_TOKENS_SKEW] = {.name = "tokens.skew",
                             .default_text = "30s",
                             .kind = SETTING_DURATION,
                             .max = 10LL * MINUTE_US,
                             .help = "How far the issuer's clock may be from ours."},
    [SETTING_STORE_URL] = {.name = "store.url",
                           .default_text = "",
                           .kind = SETTING_URL,
                           .choices = "sqlite:|postgres://|postgresql://",
                           .optional = true,
                           .help = "Where SQL tables live. Empty: sqlite: in the data directory."},
    [SETTING_STORE_CA] =
        {.name = "store.ca",
         .default_text = "",
         .kind = SETTING_PATH,
         .optional = true,
         .help = "PEM file with the authority of PostgreSQL's certificate. Set: the connection "
                 "is encrypted, and the server must be who the URL names (sslmode verify-full), "
                 "whatever the URL says."},
    [SETTING_TOPIC_URL] = {.name = "topic.url",
                           .default_text = "",
                           .kind = SETTING_URL,
                           .choices = "file:|kafka://",
                           .optional = true,
                           .help = "Where topics live. Empty: in the data directory."},
    [SETTING_TOPIC_PREFIX] = {.name = "topic.prefix",
                              .default_text = "",
                              .kind = SETTING_NAME,
                              .max = TOPIC_PREFIX_SIZE_MAX,
                              .optional = true,
                              .help = "Put before the names of all topics and consumer groups, so "
                                      "that two installations can share a Kafka. Set it before the "
                                      "first start: topics with another prefix are not seen."},
    [SETTING_TOPIC_SASL] = {.name = "topic.sasl",
                            .default_text = "none",
                            .kind = SETTING_CHOICE,
                            .choices = "none|PLAIN|SCRAM-SHA-256|SCRAM-SHA-512",
                            .help = "How this process signs in to Kafka, with topic.user. PLAIN "
                                    "sends the password itself: it needs topic.tls."},
    [SETTING_TOPIC_USER] = {.name = "topic.user",
                            .default_text = "",
                            .kind = SETTING_TEXT,
                            .optional = true,
                            .help = "The name for topic.sasl."},
    [SETTING_TOPIC_PASSWORD_FILE] =
        {.name = "topic.password_file",
         .default_text = "",
         .kind = SETTING_PATH,
         .optional = true,
         .help = "File with the password for topic.sasl; an end of line is left out."},
    [SETTING_TOPIC_TLS] = {.name = "topic.tls",
                           .default_text = "false",
                           .kind = SETTING_BOOL,
                           .help = "Talk to Kafka by TLS; brokers must be who the URL names."},
    [SETTING_TOPIC_CA] =
        {.name = "topic.ca",
         .default_text = "",
         .kind = SETTING_PATH,
         .optional = true,
         .help = "PEM file with the authority of the brokers' certificates. Empty: those that "
                 "the system trusts."},
    [SETTING_TOPIC_CERTIFICATE] =
        {.name = "topic.certificate",
         .default_text = "",
         .kind = SETTING_PATH,
         .optional = true,
         .help = "PEM file with a certificate to show to brokers, if they ask for one."},
    [SETTING_TOPIC_KEY] = {.name = "topic.key",
                           .default_text = "",
                           .kind = SETTING_PATH,
                           .optional = true,
                           .help = "PEM file with that certificate's private key."},
    [SETTING_COORD_URL] = {.name = "coord.url",
                           .default_text = "",
                           .kind = SETTING_URL,
                           .choices = "local:|zookeeper://",
                           .optional = true,
                           .help = "Who decides which process owns a shard. Empty: this process "
                                   "owns all of them."},
    [SETTING_COORD_USER] = {.name = "coord.user",
                            .default_text = "",
                            .kind = SETTING_TEXT,
                            .optional = true,
                            .help = "The name to sign in to ZooKeeper with (scheme digest). Set: "
                                    "only this name can use what is made there. Empty: anybody who "
                                    "reaches ZooKeeper may change it."},
    [SETTING_COORD_PASSWORD_FILE] =
        {.name = "coord.password_file",
         .default_text = "",
         .kind = SETTING_PATH,
         .optional = true,
         .help = "File with the password of coord.user; an end of line is left out."},
    [SETTING_COORD_TLS] = {.name = "coord.tls",
                           .default_text = "false",
                           .kind = SETTING_BOOL,
                           .help = "Talk to ZooKeeper by TLS (its secureClientPort); servers must "
                                   "be who the URL names."},
    [SETTING_COORD_CA] =
        {.name = "coord.ca",
         .default_text = "",
         .kind = SETTING_PATH,
         .optional = true,
         .help = "PEM file with the authority of ZooKeeper's certificates. Empty: those that the "
                 "system trusts."},
    [SETTING_COORD_CERTIFICATE] =
        {.name = "coord.certificate",
         .default_text = "",
         .kind = SETTING_PATH,
         .optional = true,
         .help = "PEM file with a certificate to show to ZooKeeper, which asks for one unless it "
                 "has ssl.clientAuth=none."},
    [SETTING_COORD_KEY] = {.name = "coord.key",
                           .default_text = "",
                           .kind = SETTING_PATH,
                           .optional = true,
                           .help = "PEM file with that certificate's private key. Empty: it is in "
                                   "the certificate's file."},
    [SETTING_BLOB_URL] = {.name = "blob.url",
                          .default_text = "",
                          .kind = SETTING_URL,
                          .choices = "dir:",
                          .optional = true,
                          .help = "Where photos and other large files live. Empty: in the data "
                                  "directory."},
    [SETTING_PHOTOS_FETCH] = {.name = "photos.fetch",
                              .default_text = "true",
                              .kind = SETTING_BOOL,
                              .help = "Whether the role photos fetches what offers ask for. false: "
                                      "a program of yours reads the topic photo-requests."},
    [SETTING_PHOTOS_RETRY] = {.name = "photos.retry",
                              .default_text = "6h",
                              .kind = SETTING_DURATION,
                              .max = DAY_US,
                              .help = "How long a photo whose server does not answer is tried "
                                      "again."},
    [SETTING_PHOTOS_KEEP] = {.name = "photos.keep",
                             .default_text = "14d",
                             .kind = SETTING_DURATION,
                             .max = DRAFT_LIFE_MAX_US,
                             .help = "How long photos and uploads are kept that no offer and no "
                                     "draft refers to. 0s: for ever."},
    [SETTING_PHOTOS_PRIVATE_ADDRESSES] =
        {.name = "photos.private_addresses",
         .default_text = "false",
         .kind = SETTING_BOOL,
         .help = "Fetch photos from this machine and its network, too, if a seller names such an "
                 "address. Only where every seller is trusted."},
    [SETTING_OFFERS_CONTACTS_PER_HOUR] =
        {.name = "offers.contacts_per_hour",
         .default_text = "30",
         .kind = SETTING_NUMBER,
         .max = 1000000,
         .help = "How many sellers one key, or one address without a key, may reach in an hour: "
                 "phones shown and messages sent, by one process. 0: as many as they like."},
    [SETTING_OFFERS_VISITOR_DRAFT_LIFE] =
        {.name = "offers.visitor_draft_life",
         .default_text = "30d",
         .kind = SETTING_DURATION,
         .max = DRAFT_LIFE_MAX_US,
         .help = "How long a draft of a visitor who is not logged in is kept after its last "
                 "change. 0s: for ever."},
    [SETTING_OFFERS_SELLER_DRAFT_LIFE] = {.name = "offers.seller_draft_life",
                                          .default_text = "0s",
                                          .kind = SETTING_DURATION,
                                          .max = DRAFT_LIFE_MAX_US,
                                          .help = "The same for a draft of a seller."},
    [SETTING_FEEDS_GUARD_SHARE] = {.name = "feeds.guard_share",
                                   .default_text = "30",
                                   .kind = SETTING_NUMBER,
                                   .max = 100,
                                   .help = "A feed's task that would delete more than this "
                                           "percentage of the feed's offers is held until "
                                           "someone confirms it. 100: never."},
    [SETTING_FEEDS_GUARD_MIN] = {.name = "feeds.guard_min",
                                 .default_text = "10",
                                 .kind = SETTING_NUMBER,
                                 .max = INT32_MAX,
                                 .help = "A task that deletes no more offers than this is not "
                                         "held, whatever their share."},
    [SETTING_FEEDS_UNDO] = {.name = "feeds.undo",
                            .default_text = "24h",
                            .kind = SETTING_DURATION,
                            .max = 30LL * DAY_US,
                            .help = "How long after its end a feed's task can be undone."},
    [SETTING_FEEDS_REVIVE] = {.name = "feeds.revive",
                              .default_text = "30d",
                              .kind = SETTING_DURATION,
                              .max = 3650LL * DAY_US,
                              .help = "An external id that comes back within this time gets its "
                                      "deleted offer back, with its id."},
    [SETTING_FEEDS_REPORT] = {.name = "feeds.report",
                              .default_text = "7d",
                              .kind = SETTING_DURATION,
                              .min = HOUR_US,
                              .max = 365LL * DAY_US,
                              .help = "How long the report of what happened to each row of a "
                                      "feed is kept. A task that is held longer than this is "
                                      "dropped."},
    [SETTING_FEEDS_FETCH] = {.name = "feeds.fetch",
                             .default_text = "true",
                             .kind = SETTING_BOOL,
                             .help = "Whether the role offers-worker fetches the feeds that have "
                                     "an address. false: of several, others do."},
    [SETTING_FEEDS_PRIVATE_ADDRESSES] =
        {.name = "feeds.private_addresses",
         .default_text = "false",
         .kind = SETTING_BOOL,
         .help = "Fetch feeds from this machine and its network, too, if a seller names such an "
                 "address. Only where every seller is trusted."},
    [SETTING_REGISTRY_SHARDS] = {.name = "registry.shards",
                                 .default_text = "1",
                                 .kind = SETTING_NUMBER,
                                 .min = 1,
                                 .max = CLIENT_SHARD_COUNT_MAX,
                                 .help = "How many shards the documents of a new client are "
                                         "spread over; a client keeps this number for ever."},
    [SETTING_REGISTRY_TOMBSTONE_LIFE] =
        {.name = "registry.tombstone_life",
         .default_text = "30d",
         .kind = SETTING_DURATION,
         .min = SECOND_US,
         .max = 3650LL * DAY_US,
         .help = "How long a deleted document is remembered: an older write that comes within "
                 "this time does not bring it back."},
    [SETTING_COMPOSER_BATCH_COUNT] = {.name = "composer.batch_count",
                                      .default_text = "100",
                                      .kind = SETTING_NUMBER,
                                      .min = 1,
                                      .max = COMPOSER_BATCH_COUNT_MAX,
                                      .help = "Documents made from offers are sent to the "
                                              "registry when this many are ready ..."},
    [SETTING_COMPOSER_BATCH_TIME] = {.name = "composer.batch_time",
                                     .default_text = "20ms",
                                     .kind = SETTING_DURATION,
                                     .max = MINUTE_US,
                                     .help = "... or when this much time has passed since the "
                                             "partition's last batch."},
    [SETTING_COMPOSER_STRICT] = {.name = "composer.strict",
                                 .default_text = "false",
                                 .kind = SETTING_BOOL,
                                 .help =
                                     "An offer that cannot be made into a document holds up all "
                                     "later ones of its partition, instead of being parked."},
    [SETTING_REGISTRY_INDEXERS] = {.name = "registry.indexers",
                                   .default_text = "2",
                                   .kind = SETTING_NUMBER,
                                   .min = 1,
                                   .max = INDEXER_THREAD_COUNT_MAX,
                                   .help = "Threads that send changes to the index. A shard is "
                                           "worked on by one at a time."},
    [SETTING_REGISTRY_TRY_COUNT] = {.name = "registry.try_count",
                                    .default_text = "8",
                                    .kind = SETTING_NUMBER,
                                    .min = 1,
                                    .max = 100,
                                    .help = "How many times a document that cannot be indexed is "
                                            "tried before it is parked and waits for a person "
                                            "(torg queue list)."},
    [SETTING_REGISTRY_MAIN_WEIGHT] = {.name = "registry.main_weight",
                                      .default_text = "9",
                                      .kind = SETTING_NUMBER,
                                      .min = 1,
                                      .max = 1000,
                                      .help = "Share of the lane main in a full batch to the "
                                              "index, relative to registry.backfill_weight."},
    [SETTING_REGISTRY_BACKFILL_WEIGHT] = {.name = "registry.backfill_weight",
                                          .default_text = "1",
                                          .kind = SETTING_NUMBER,
                                          .max = 1000,
                                          .help = "Share of the lane backfill in a full batch. 0: "
                                                  "it gets only what main leaves."},
    [SETTING_REGISTRY_INDEX_RETENTION] =
        {.name = "registry.index_retention",
         .default_text = "0s",
         .kind = SETTING_DURATION,
         .max = 3650LL * DAY_US,
         .help = "How long records of index topics are kept at most; documents are sent again "
                 "when those of a topic go. 0s: until they are not needed any more."},
    [SETTING_REGISTRY_INDEX_SLACK] =
        {.name = "registry.index_slack",
         .default_text = "20000",
         .kind = SETTING_NUMBER,
         .min = 10,
         .max = 1000 * 1000 * 1000,
         .help = "Records that a shard's index topic may have beyond four for each document; then "
                 "all documents are sent again, and what lies before is removed."},
    [SETTING_REGISTRY_INDEX_TRIM_DELAY] =
        {.name = "registry.index_trim_delay",
         .default_text = "1m",
         .kind = SETTING_DURATION,
         .max = 3650LL * DAY_US,
         .help = "How long records of index topics are kept after they have become needless, so "
                 "that searchers have read them and written their files."},
    [SETTING_REGISTRY_NUMBER_LIFE] =
        {.name = "registry.number_life",
         .default_text = "7d",
         .kind = SETTING_DURATION,
         .max = 3650LL * DAY_US,
         .help = "How long a deleted document keeps its number in the index."},
    [SETTING_REGISTRY_NUMBER_HOLD] = {.name = "registry.number_hold",
                                      .default_text = "1d",
                                      .kind = SETTING_DURATION,
                                      .max = 3650LL * DAY_US,
                                      .help = "How long the number stays unused after that."},
    [SETTING_SEARCHER_SHARDS] = {.name = "searcher.shards",
                                 .default_text = "",
                                 .kind = SETTING_LIST,
                                 .choices = "numbers of shards",
                                 .optional = true,
                                 .help = "Shards that this process follows, of every client: "
                                         "\"0 2 4\". Empty: all."},
    [SETTING_SEARCHER_CHECKPOINT] = {.name = "searcher.checkpoint",
                                     .default_text = "10m",
                                     .kind = SETTING_DURATION,
                                     .min = 100 * 1000LL,
                                     .max = DAY_US,
                                     .help = "How often shards that change too little to be "
                                             "written on their own are written to disk; a "
                                             "restart replays what came after."},
    [SETTING_SEARCHER_DEADLINE] = {.name = "searcher.deadline",
                                   .default_text = "1s",
                                   .kind = SETTING_DURATION,
                                   .min = MS_US,
                                   .max = 60LL * SECOND_US,
                                   .help = "How long a search of documents may take that sets no "
                                           "deadline of its own. Then it is answered by the "
                                           "shards that were in time, or deadline_exceeded."},
    [SETTING_SEARCHER_ADDRESS] = {.name = "searcher.address",
                                  .default_text = "",
                                  .kind = SETTING_LIST,
                                  .choices = "an address such as http://10.0.0.2:8080",
                                  .optional = true,
                                  .help = "Where other processes reach this searcher. It is "
                                          "announced to those whose searcher.replicas or "
                                          "search.searchers say \"announced\". Empty: it is not."},
    [SETTING_SEARCHER_REPLICAS] = {.name = "searcher.replicas",
                                   .default_text = "",
                                   .kind = SETTING_LIST,
                                   .choices = "addresses such as http://10.0.0.2:8080, and the "
                                              "word announced",
                                   .optional = true,
                                   .help =
                                       "Other searchers, asked for shards that this process "
                                       "does not have ready; announced: those that announce "
                                       "themselves, as they come and go. Empty: there are none."},
    [SETTING_SEARCHER_REPLICAS_KEY] = {.name = "searcher.replicas_key",
                                       .default_text = "",
                                       .kind = SETTING_PATH,
                                       .optional = true,
                                       .help = "File with the key for calling other searchers "
                                               "(scope search)."},
    [SETTING_AUDITOR_RATE] = {.name = "auditor.rate",
                              .default_text = "8000",
                              .kind = SETTING_NUMBER,
                              .min = 0,
                              .max = AUDITOR_RATE_MAX,
                              .help = "Keys a second that the auditor compares between stages, at "
                                      "most; it takes less than a twentieth of a core. 0: it "
                                      "does nothing."},
    [SETTING_AUDITOR_PAUSE] = {.name = "auditor.pause",
                               .default_text = "1m",
                               .kind = SETTING_DURATION,
                               .min = MS_US,
                               .max = DAY_US,
                               .help = "How long the auditor pauses between two rounds."},
    [SETTING_SEARCH_SPELLING] = {.name = "search.spelling",
                                 .default_text = "true",
                                 .kind = SETTING_BOOL,
                                 .help = "Correct buyers' spelling, by dictionaries and by the "
                                         "words of the offers. Takes 150 MB of memory or more."},
    [SETTING_SEARCH_SYNONYMS] = {.name = "search.synonyms",
                                 .default_text = "true",
                                 .kind = SETTING_BOOL,
                                 .help = "English words that mean the same "
                                         "(shelf and shelves, gray and grey, tv) find each other, "
                                         "in addition to the operator's own synonyms."},
    [SETTING_SEARCH_CLICKS] = {.name = "search.clicks",
                               .default_text = "true",
                               .kind = SETTING_BOOL,
                               .help = "Offers that are clicked more than others of their category "
                                       "come sooner, by a quarter of their score at most."},
    [SETTING_SEARCH_EXPERIMENT] =
        {.name = "search.experiment",
         .default_text = "",
         .kind = SETTING_TEXT,
         .optional = true,
         .help = "A formula, written as ranking.best, that is compared with what BEST goes by "
                 "without it: both fill the first places of buyers' lists in turns, and clicks and "
                 "contacts are credited to the one that placed the offer (torg experiment list). "
                 "Empty: none is."},
    [SETTING_SEARCH_NEW_EVERY] = {.name = "search.new_every",
                                  .default_text = "10",
                                  .kind = SETTING_NUMBER,
                                  .max = 100,
                                  .help = "Where BEST goes by clicks: of so many places one is "
                                          "for offers that are new and that few have looked at, "
                                          "in the lists of a quarter of the visits. 0: none is."},
    [SETTING_SEARCH_NEW_AGE] = {.name = "search.new_age",
                                .default_text = "3d",
                                .kind = SETTING_DURATION,
                                .min = HOUR_US,
                                .max = 30LL * 24 * 60 * MINUTE_US,
                                .help = "How long an offer is new."},
    [SETTING_SEARCH_SELLER_CAP] = {.name = "search.seller_cap",
                                   .default_text = "0",
                                   .kind = SETTING_NUMBER,
                                   .max = 100,
                                   .help = "How many offers of one seller a page of BEST has; "
                                           "further ones come on later pages. 0: any number."},
    [SETTING_SEARCH_DEADLINE] = {.name = "search.deadline",
                                 .default_text = "3s",
                                 .kind = SETTING_DURATION,
                                 .min = MS_US,
                                 .max = 60LL * SECOND_US,
                                 .help = "How long a buyer's search may take, unless its caller "
                                         "wants it sooner, including the wait for the writes it "
                                         "names. Then the answer is deadline_exceeded."},
    [SETTING_SEARCH_OLD_MAX] =
        {.name = "search.old_max",
         .default_text = "1h",
         .kind = SETTING_DURATION,
         .max = 30LL * 24 * 60 * MINUTE_US,
         .help =
             "While no searcher has caught up with what was indexed, buyers are answered from a "
             "state that is at most this old; the answer says so, and leaves out offers that may "
             "no longer be seen. 0s: never; the search is then unavailable."},
    [SETTING_SEARCH_SEARCHERS] = {.name = "search.searchers",
                                  .default_text = "",
                                  .kind = SETTING_LIST,
                                  .choices = "addresses such as http://10.0.0.2:8080, and the "
                                             "word announced",
                                  .optional = true,
                                  .help = "Searchers in other processes that the role search asks, "
                                          "one after another until one answers, and that the role "
                                          "indexer asks before it switches to an epoch; announced: "
                                          "those that announce themselves. Empty: the one of its "
                                          "own process."},
    [SETTING_SEARCH_SEARCHERS_KEY] = {.name = "search.searchers_key",
                                      .default_text = "",
                                      .kind = SETTING_PATH,
                                      .optional = true,
                                      .help = "File with the key for calling them (scope search, "
                                              "not bound to a client)."},
    [SETTING_RANKING_BEST] =
        {.name = "ranking.best",
         .default_text = "",
         .kind = SETTING_TEXT,
         .optional = true,
         .help = "What the order BEST of a text goes by: a formula such as 'score * (1 + 0.1 * "
                 "default(has_photo, 0))', and behind | further ones of single categories, as "
                 "'cars: FORMULA'. Takes the place of search.clicks. Empty: relevance."},
    [SETTING_SNIPPETS_CONFIG] = {.name = "snippets.config",
                                 .default_text = "",
                                 .kind = SETTING_PATH,
                                 .optional = true,
                                 .help = "The tree of snippets, in protobuf's text format; schemas "
                                         "and other files that it names are next to it. Empty: "
                                         "there are none. It is checked every second: changes "
                                         "need no restart."},
    [SETTING_SNIPPETS_PREFIXES] = {.name = "snippets.prefixes",
                                   .default_text = "",
                                   .kind = SETTING_PATH,
                                   .optional = true,
                                   .help = "The file of key prefixes. Empty: key_prefixes.txt "
                                           "next to the config."},
    [SETTING_SNIPPETS_ALLOT] = {.name = "snippets.allot",
                                .default_text = "false",
                                .kind = SETTING_BOOL,
                                .help = "Add missing key prefixes to that file. Otherwise a "
                                        "config with a snippet that has none is refused."},
    [SETTING_SNIPPETS_RETRY_PAUSE] = {.name = "snippets.retry_pause",
                                      .default_text = "1s",
                                      .kind = SETTING_DURATION,
                                      .min = MS_US,
                                      .max = DAY_US,
                                      .help = "The least pause between two tries of a topic's "
                                              "record that could not be stored."},
    [SETTING_SNIPPETS_PAGE_WAIT] = {.name = "snippets.page_wait",
                                    .default_text = "20ms",
                                    .kind = SETTING_DURATION,
                                    .min = MS_US,
                                    .max = 10000 * MS_US,
                                    .help = "How long a page of offers waits for its snippets; "
                                            "then it goes without."},
    [SETTING_SNIPPETS_LISTEN] =
        {.name = "snippets.listen",
         .default_text = "",
         .kind = SETTING_ADDRESS,
         .optional = true,
         .help = "A second address, of /NAME/KEY[/LANGUAGE] only: snippets without the prefix "
                 "/snippets. Keys and TLS are those of server.listen. Empty: not served."},
    [SETTING_LOG_FORMAT] = {.name = "log.format",
                            .default_text = "auto",
                            .kind = SETTING_CHOICE,
                            .choices = "auto|human|json",
                            .help = "auto: human on a terminal, JSON lines otherwise."},
    [SETTING_LOG_LEVEL] = {.name = "log.level",
                           .flag = "log-level",
                           .default_text = "info",
                           .kind = SETTING_CHOICE,
                           .choices = "debug|info|warn|error",
                           .help = "The least important events to write."},
};

int setting_find(const char *name)
{
    for (int id = 0; id < SETTING_COUNT; id++) {
        if (strcmp(setting_table[id].name, name) == 0)
            return id;
    }
    return -1;
}

static size_t section_size(const struct setting *setting)
{
    const char *dot = strchr(setting->name, '.');

    assert(dot);
    return (size_t)(dot - setting->name);
}

bool setting_section_exists(const char *section)
{
    for (int id = 0; id < SETTING_COUNT; id++) {
        const struct setting *setting = &setting_table[id];

        if (bytes_equal_text(bytes_make(setting->name, section_size(setting)), section))
            return true;
    }
    return false;
}

const char *setting_nearest(const char *name)
{
    struct nearest nearest = nearest_to(name);

    for (int id = 0; id < SETTING_COUNT; id++)
        nearest_offer(&nearest, setting_table[id].name);
    return nearest.word;
}

bool setting_nearest_section(const char *section, char name[SETTING_VARIABLE_SIZE])
{
    char sections[SETTING_COUNT][SETTING_VARIABLE_SIZE];
    struct nearest nearest = nearest_to(section);

    for (int id = 0; id < SETTING_COUNT; id++) {
        const struct setting *setting = &setting_table[id];

        snprintf(sections[id], sizeof(sections[id]), "%.*s", (int)section_size(setting),
                 setting->name);
        nearest_offer(&nearest, sections[id]);
    }
    snprintf(name, SETTING_VARIABLE_SIZE, "%s", nearest.word ? nearest.word : "");
    return nearest.word;
}
