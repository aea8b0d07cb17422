/* SPDX-License-Identifier: Apache-2.0 */
/* tokens.c - see tokens.h. */
#include "access/tokens.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "access/digest.h"
#include "base/endian.h"
#include "base/file.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/object.h"
#include "base/task.h"

enum { TOKENS_MAGIC = OBJECT_MAGIC('t', 'k', 'n', 's') };

/* A token that was found good. */
struct checked {
    uint8_t hash[DIGEST_SIZE];
    int64_t ends_us; /* 0 = empty */
    struct identity identity;
};

struct tokens {
    uint32_t magic;
    const struct clock *clock;
    char *keys;             /* owned */
    struct jwt_rules rules; /* texts are owned */
    int (*fetch)(void *arg, const char *url, struct buf *out, struct err *err);
    void *fetch_arg;
    bool is_address;

    pthread_rwlock_t lock; /* guards set */
    struct jwks *set;      /* owned; NULL: not known yet */
    pthread_mutex_t cache_lock;
    struct checked *cache; /* owned: JWT_CACHE_COUNT, by hash; of this set alone */
    atomic_bool is_wanted; /* a token named a key that is not in the set */

    _Atomic int64_t read_mono_us; /* when the set was last read, or its source answered */
    int64_t tried_mono_us;        /* the refresher's */
    struct file_stamp stamp;      /* its: of the file as it was read */
    bool failing;                 /* its: the log is told once */
    struct task task;
};

/* --- following the keys --- */

static bool is_due(struct tokens *tokens)
{
    int64_t pause_ms =
        atomic_load(&tokens->is_wanted) || !tokens->set ? JWKS_HURRY_MS : JWKS_FETCH_MS;
    struct file_stamp stamp;

    if (tokens->is_address)
        return !tokens->tried_mono_us ||
               clock_mono_us(tokens->clock) - tokens->tried_mono_us >= pause_ms * MS_US;
    stamp = file_stamp(tokens->keys);
    if (tokens->set && stamp.inode && file_stamps_equal(&stamp, &tokens->stamp))
        return false; /* one that is gone is read, which tells why */
    tokens->stamp = stamp;
    return true;
}

static int read_set(struct tokens *tokens, struct jwks **set, struct err *err)
{
    struct buf json = BUF_INIT(JWKS_SIZE_MAX);
    int rc = tokens->is_address ? tokens->fetch(tokens->fetch_arg, tokens->keys, &json, err)
                                : file_read(tokens->keys, &json, err);

    if (!rc)
        rc = jwks_parse(buf_bytes(&json), set, err);
    if (rc && err)
        err_wrap(err, "%s", tokens->keys);
    buf_release(&json);
    return rc;
}

static void take_set(struct tokens *tokens, struct jwks *set)
{
    struct jwks *old;

    pthread_rwlock_wrlock(&tokens->lock);
    old = tokens->set;
    tokens->set = set;
    pthread_mutex_lock(&tokens->cache_lock); /* a key may be gone: what it signed is checked anew */
    memset(tokens->cache, 0, JWT_CACHE_COUNT * sizeof(tokens->cache[0]));
    pthread_mutex_unlock(&tokens->cache_lock);
    pthread_rwlock_unlock(&tokens->lock);
    jwks_free(old);
}

static void tell(struct tokens *tokens, int rc, const struct err *err)
{
    if (rc && !tokens->failing)
        log_error("the keys of tokens cannot be read; those known stay",
                  LOG_TEXT("error", err->text));
    if (!rc && tokens->failing)
        log_info("the keys of tokens can be read again");
    tokens->failing = rc != 0;
}

int tokens_refresh(struct tokens *tokens, struct err *err)
{
    struct jwks *set;
    struct err own;
    int rc;

    object_check(tokens, TOKENS_MAGIC);
    if (!is_due(tokens)) {
        if (!tokens->is_address && !tokens->failing)
            atomic_store(&tokens->read_mono_us, clock_mono_us(tokens->clock));
        return 0;
    }
    tokens->tried_mono_us = clock_mono_us(tokens->clock);
    atomic_store(&tokens->is_wanted, false);
    rc = read_set(tokens, &set, &own);
    tell(tokens, rc, &own);
    if (rc)
        return err_set(err, rc, "%s", own.text);
    take_set(tokens, set);
    atomic_store(&tokens->read_mono_us, tokens->tried_mono_us);
    return 0;
}

static void follow(struct task *task, void *arg)
{
    struct tokens *tokens = arg;

    while (task_pause(task, (int64_t)JWKS_LOOK_MS * MS_US)) {
        task_says(task, "reading the keys of tokens");
        tokens_refresh(tokens, NULL); /* a failure is logged */
    }
}

/* --- asking --- */

static struct checked *place_of(struct tokens *tokens, const uint8_t hash[DIGEST_SIZE])
{
    return &tokens->cache[get_be32(hash) % JWT_CACHE_COUNT];
}

static bool find_checked(struct tokens *tokens, const uint8_t hash[DIGEST_SIZE], int64_t now_us,
                         struct identity *identity)
{
    const struct checked *checked = place_of(tokens, hash);
    bool found;

    pthread_mutex_lock(&tokens->cache_lock);
    found = checked->ends_us > now_us && memcmp(checked->hash, hash, DIGEST_SIZE) == 0;
    if (found)
        *identity = checked->identity;
    pthread_mutex_unlock(&tokens->cache_lock);
    return found;
}

static void keep_checked(struct tokens *tokens, const uint8_t hash[DIGEST_SIZE], int64_t ends_us,
                         const struct identity *identity)
{
    struct checked *checked = place_of(tokens, hash);

    pthread_mutex_lock(&tokens->cache_lock);
    memcpy(checked->hash, hash, DIGEST_SIZE);
    checked->ends_us = ends_us;
    checked->identity = *identity;
    pthread_mutex_unlock(&tokens->cache_lock);
}

/* Under the read lock: a cached answer is of the set that is held. */
static int check_with_set(struct tokens *tokens, struct bytes text, struct identity *identity,
                          struct err *err)
{
    int64_t now_us = clock_wall_us(tokens->clock);
    uint8_t hash[DIGEST_SIZE];
    int64_t ends_us;
    int rc;

    digest_of(text, hash);
    if (find_checked(tokens, hash, now_us, identity))
        return 0;
    rc = jwt_check(tokens->set, &tokens->rules, text, now_us, identity, &ends_us, err);
    if (!rc)
        keep_checked(tokens, hash, ends_us, identity);
    if (rc != ERR_NOT_FOUND)
        return rc;
    atomic_store(&tokens->is_wanted, true); /* the issuer may have a new one */
    if (err)
        err->code = ERR_UNAUTHENTICATED;
    return ERR_UNAUTHENTICATED;
}

bool tokens_knows(struct tokens *tokens, struct bytes text)
{
    struct identity identity;
    uint8_t hash[DIGEST_SIZE];
    bool found;

    object_check(tokens, TOKENS_MAGIC);
    digest_of(text, hash);
    pthread_rwlock_rdlock(&tokens->lock);
    found = find_checked(tokens, hash, clock_wall_us(tokens->clock), &identity);
    pthread_rwlock_unlock(&tokens->lock);
    return found;
}

int tokens_check(struct tokens *tokens, struct bytes text, struct identity *identity,
                 struct err *err)
{
    int64_t age_us = clock_mono_us(tokens->clock) - atomic_load(&tokens->read_mono_us);
    int rc;

    object_check(tokens, TOKENS_MAGIC);
    pthread_rwlock_rdlock(&tokens->lock);
    if (!tokens->set || age_us > (int64_t)JWKS_STALE_MS_MAX * MS_US)
        rc = err_set(err, ERR_UNAVAILABLE, "tokens cannot be checked: their keys are not known");
    else
        rc = check_with_set(tokens, text, identity, err);
    pthread_rwlock_unlock(&tokens->lock);
    return rc;
}

/* --- life --- */

static bool begins_with(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

int tokens_open(const struct tokens_options *options, struct tokens **out, struct err *err)
{
    struct tokens *tokens = mem_zero(sizeof(*tokens));
    struct task_options task = {.name = "tokens", .run = follow, .arg = tokens};
    pthread_rwlockattr_t writers_first; /* else callers without a pause would keep new keys out */
    int rc;

    *out = NULL;
    object_begin(tokens, TOKENS_MAGIC);
    tokens->clock = clock_or_system(options->clock);
    tokens->keys = mem_strdup(options->keys);
    tokens->rules = (struct jwt_rules){.issuer = mem_strdup(options->rules.issuer),
                                       .audience = mem_strdup(options->rules.audience),
                                       .seller_claim = mem_strdup(options->rules.seller_claim),
                                       .skew_us = options->rules.skew_us};
    tokens->fetch = options->fetch;
    tokens->fetch_arg = options->fetch_arg;
    tokens->is_address =
        begins_with(options->keys, "https://") || begins_with(options->keys, "http://");
    tokens->cache = mem_array(JWT_CACHE_COUNT, sizeof(tokens->cache[0]));
    pthread_rwlockattr_init(&writers_first);
    pthread_rwlockattr_setkind_np(&writers_first, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
    pthread_rwlock_init(&tokens->lock, &writers_first);
    pthread_rwlockattr_destroy(&writers_first);
    pthread_mutex_init(&tokens->cache_lock, NULL);
    rc = tokens_refresh(tokens, err);
    if (tokens->is_address)
        rc = 0; /* it is told in the log, and asked again */
    task.clock = tokens->clock;
    if (!rc && !options->manual)
        rc = task_start(&tokens->task, &task, err);
    if (rc)
        tokens_close(tokens);
    else
        *out = tokens;
    return rc;
}

void tokens_close(struct tokens *tokens)
{
    if (!tokens)
        return;
    object_check(tokens, TOKENS_MAGIC);
    task_stop(&tokens->task);
    pthread_rwlock_destroy(&tokens->lock);
    pthread_mutex_destroy(&tokens->cache_lock);
    jwks_free(tokens->set);
    free(tokens->cache);
    free(tokens->keys);
    free((char *)tokens->rules.issuer);
    free((char *)tokens->rules.audience);
    free((char *)tokens->rules.seller_claim);
    object_end(tokens, TOKENS_MAGIC);
    free(tokens);
}
