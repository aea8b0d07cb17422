/* SPDX-License-Identifier: Apache-2.0 */
/*
 * setting.h - the table of all settings: the one place where a setting is declared.
 *
 * The file, the environment, the flags, `torg config`, the man page and docs/config.md all read
 * this table. A setting is added by an id here and a row in setting.c.
 */
#ifndef TORG_CONFIG_SETTING_H
#define TORG_CONFIG_SETTING_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

enum setting_id {
    SETTING_DATA_DIR,
    SETTING_SERVER_LISTEN,
    SETTING_SERVER_OPERATOR_LISTEN,
    SETTING_SERVER_REACTORS,
    SETTING_SERVER_WORKERS,
    SETTING_SERVER_DRAIN,
    SETTING_SERVER_DRAIN_PAUSE,
    SETTING_SERVER_REUSE_PORT,
    SETTING_SERVER_PROXIES,
    SETTING_LIMITS_KEY_RATE,
    SETTING_LIMITS_SELLER_RATE,
    SETTING_LIMITS_ADDRESS_RATE,
    SETTING_LIMITS_ADDRESS_CONNECTIONS,
    SETTING_SERVER_CORS_ORIGINS,
    SETTING_TLS_CERTIFICATE,
    SETTING_TLS_KEY,
    SETTING_TLS_CLIENT_CA,
    SETTING_TLS_CLIENT_REQUIRED,
    SETTING_TLS_OPERATORS,
    SETTING_TOKENS_KEYS,
    SETTING_TOKENS_ISSUER,
    SETTING_TOKENS_AUDIENCE,
    SETTING_TOKENS_SELLER_CLAIM,
    SETTING_TOKENS_SKEW,
    SETTING_STORE_URL,
    SETTING_STORE_CA,
    SETTING_TOPIC_URL,
    SETTING_TOPIC_PREFIX,
    SETTING_TOPIC_SASL,
    SETTING_TOPIC_USER,
    SETTING_TOPIC_PASSWORD_FILE,
    SETTING_TOPIC_TLS,
    SETTING_TOPIC_CA,
    SETTING_TOPIC_CERTIFICATE,
    SETTING_TOPIC_KEY,
    SETTING_COORD_URL,
    SETTING_COORD_USER,
    SETTING_COORD_PASSWORD_FILE,
    SETTING_COORD_TLS,
    SETTING_COORD_CA,
    SETTING_COORD_CERTIFICATE,
    SETTING_COORD_KEY,
    SETTING_BLOB_URL,
    SETTING_PHOTOS_FETCH,
    SETTING_PHOTOS_RETRY,
    SETTING_PHOTOS_KEEP,
    SETTING_PHOTOS_PRIVATE_ADDRESSES,
    SETTING_OFFERS_CONTACTS_PER_HOUR,
    SETTING_OFFERS_VISITOR_DRAFT_LIFE,
    SETTING_OFFERS_SELLER_DRAFT_LIFE,
    SETTING_FEEDS_GUARD_SHARE,
    SETTING_FEEDS_GUARD_MIN,
    SETTING_FEEDS_UNDO,
    SETTING_FEEDS_REVIVE,
    SETTING_FEEDS_REPORT,
    SETTING_FEEDS_FETCH,
    SETTING_FEEDS_PRIVATE_ADDRESSES,
    SETTING_REGISTRY_SHARDS,
    SETTING_REGISTRY_TOMBSTONE_LIFE,
    SETTING_COMPOSER_BATCH_COUNT,
    SETTING_COMPOSER_BATCH_TIME,
    SETTING_COMPOSER_STRICT,
    SETTING_REGISTRY_INDEXERS,
    SETTING_REGISTRY_TRY_COUNT,
    SETTING_REGISTRY_MAIN_WEIGHT,
    SETTING_REGISTRY_BACKFILL_WEIGHT,
    SETTING_REGISTRY_INDEX_RETENTION,
    SETTING_REGISTRY_INDEX_SLACK,
    SETTING_REGISTRY_INDEX_TRIM_DELAY,
    SETTING_REGISTRY_NUMBER_LIFE,
    SETTING_REGISTRY_NUMBER_HOLD,
    SETTING_SEARCHER_SHARDS,
    SETTING_SEARCHER_CHECKPOINT,
    SETTING_SEARCHER_DEADLINE,
    SETTING_SEARCHER_ADDRESS,
    SETTING_SEARCHER_REPLICAS,
    SETTING_SEARCHER_REPLICAS_KEY,
    SETTING_AUDITOR_RATE,
    SETTING_AUDITOR_PAUSE,
    SETTING_SEARCH_SPELLING,
    SETTING_SEARCH_SYNONYMS,
    SETTING_SEARCH_CLICKS,
    SETTING_SEARCH_EXPERIMENT,
    SETTING_SEARCH_NEW_EVERY,
    SETTING_SEARCH_NEW_AGE,
    SETTING_SEARCH_SELLER_CAP,
    SETTING_SEARCH_DEADLINE,
    SETTING_SEARCH_OLD_MAX,
    SETTING_SEARCH_SEARCHERS,
    SETTING_SEARCH_SEARCHERS_KEY,
    SETTING_RANKING_BEST,
    SETTING_SNIPPETS_CONFIG,
    SETTING_SNIPPETS_PREFIXES,
    SETTING_SNIPPETS_ALLOT,
    SETTING_SNIPPETS_RETRY_PAUSE,
    SETTING_SNIPPETS_PAGE_WAIT,
    SETTING_SNIPPETS_LISTEN,
    SETTING_LOG_FORMAT,
    SETTING_LOG_LEVEL,
    SETTING_COUNT
};

enum setting_kind {
    SETTING_PATH,
    SETTING_ADDRESS,
    SETTING_URL,    /* choices: the schemes */
    SETTING_CHOICE, /* choices: the words; the number is the word's place */
    SETTING_BOOL,
    SETTING_NUMBER,
    SETTING_DURATION, /* the number is microseconds */
    SETTING_NAME,     /* letters, digits, '_', '-' and inner '.'; max: bytes */
    SETTING_TEXT,     /* any */
    SETTING_LIST,     /* words with blanks or commas between them; choices: what each is */
};

struct setting {
    const char *name;         /* "section.key" */
    const char *flag;         /* a shorter flag than --section.key; NULL = none */
    const char *default_text; /* "" = unset */
    const char *help;
    const char *choices; /* separated by | */
    int64_t min;
    int64_t max;
    enum setting_kind kind;
    bool optional; /* may be "" */
};

extern const struct setting setting_table[SETTING_COUNT];

/* By "section.key"; -1 when there is none. */
int setting_find(const char *name);
bool setting_section_exists(const char *section);

enum { SETTING_VARIABLE_SIZE = 64 };

/* The known name closest to a wrong one; NULL (false, "") when none is close. */
const char *setting_nearest(const char *name);
bool setting_nearest_section(const char *section, char name[SETTING_VARIABLE_SIZE]);

/* Whether text is a value of this setting, and its number; ERR_INVALID says what is expected. */
int setting_parse(const struct setting *setting, const char *text, int64_t *number,
                  struct err *err);

/* "a duration such as 250ms, 30s or 15m, from 0s to 10m": what a person may write. */
void setting_describe(const struct setting *setting, struct buf *out);

/* The value as people may see it: the password of a URL is masked. */
void setting_put_public(const struct setting *setting, const char *text, struct buf *out);

/* TORG_SECTION_KEY. */
void setting_variable(const struct setting *setting, char name[SETTING_VARIABLE_SIZE]);

#endif
