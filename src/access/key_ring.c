/* SPDX-License-Identifier: Apache-2.0 */
/* key_ring.c - see key_ring.h. */
#include "access/key_ring.h"

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "access/audit.h"
#include "access/bounds.h"
#include "access/keys.h"
#include "access/scope.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/metrics.h"
#include "base/object.h"
#include "base/task.h"

/* An unchanging table, in order of ids. */
struct key_table {
    struct keys_state state;
    size_t count;
    struct key keys[];
};

enum { KEY_RING_MAGIC = OBJECT_MAGIC('k', 'y', 'r', 'g') };

struct key_ring {
    uint32_t magic;
    struct authenticator authenticator;
    struct store *store;
    struct tokens *tokens; /* borrowed; may be NULL */
    const struct clock *clock;

    pthread_rwlock_t lock;   /* guards table, temporary */
    struct key_table *table; /* owned */
    struct key temporary[KEY_TEMPORARY_COUNT_MAX];
    size_t temporary_count;

    pthread_mutex_t refreshing; /* one at a time: an older reading never replaces a newer one */
    _Atomic int64_t refreshed_mono_us;
    _Atomic uint64_t refused; /* credentials, since they were last told in the audit log */
    struct counter *refused_total;
    int64_t told_mono_us; /* the task's */
    bool failing;         /* guarded by refreshing: the log is told once */

    struct task task;
};

/* --- loading --- */

struct loading {
    struct keys_state held;
    bool force;
    struct key_table *table; /* NULL when nothing changed */
};

static int compare_ids(const void *a, const void *b)
{
    return strcmp(((const struct key *)a)->id, ((const struct key *)b)->id);
}

/* Such keys are not made any more; those there are do not get what they should not have had. */
static void keep_bound(struct key *key)
{
    unsigned bindings = scope_bindings(key->seller, key->client);

    if (!key->revoked_us && scopes_keep_bound(key->scopes, bindings))
        log_warn("a bound key has scopes of the site: they do not count", LOG_TEXT("key", key->id),
                 LOG_TEXT("seller", key->seller), LOG_TEXT("client", key->client));
}

static int load_pages(struct store_tx *tx, struct key_table *table, struct err *err)
{
    const char *after = "";

    while (table->count < (size_t)table->state.count) {
        size_t left = (size_t)table->state.count - table->count;
        size_t count;
        int rc = keys_read_page(tx, after, table->keys + table->count,
                                left < KEY_PAGE_COUNT ? left : KEY_PAGE_COUNT, &count, err);

        if (rc)
            return rc;
        if (!count)
            break;
        assert(count <= left);
        table->count += count;
        after = table->keys[table->count - 1].id;
    }
    for (size_t i = 0; i < table->count; i++)
        keep_bound(&table->keys[i]);
    /* The store's collation may order otherwise than strcmp. */
    qsort(table->keys, table->count, sizeof(table->keys[0]), compare_ids);
    return 0;
}

static int load(struct store_tx *tx, void *arg, struct err *err)
{
    struct loading *loading = arg;
    struct keys_state state;
    int rc;

    free(loading->table); /* of a run that was repeated */
    loading->table = NULL;
    rc = keys_read_state(tx, &state, err);
    if (rc)
        return rc;
    if (!loading->force && state.count == loading->held.count &&
        state.revoked_count == loading->held.revoked_count)
        return 0;
    if (state.count < 0 || state.count > KEY_COUNT_MAX)
        return err_set(err, ERR_LIMIT, "the store has %jd keys, the limit is %d",
                       (intmax_t)state.count, KEY_COUNT_MAX);
    loading->table = mem_zero(sizeof(*loading->table) + (size_t)state.count * sizeof(struct key));
    loading->table->state = state;
    return load_pages(tx, loading->table, err);
}

static void tell_failure(struct key_ring *ring, int rc, const struct err *err)
{
    if (rc && !ring->failing)
        log_warn("keys cannot be read; those known stay valid for a while",
                 LOG_TEXT("error", err->text), LOG_INT("valid_ms", KEY_STALE_MS_MAX));
    if (!rc && ring->failing)
        log_info("keys can be read again");
    ring->failing = rc != 0;
}

int key_ring_refresh(struct key_ring *ring, struct err *err)
{
    struct loading loading = {.force = false};
    int64_t started_us;
    struct err own;
    int rc;

    object_check(ring, KEY_RING_MAGIC);
    pthread_mutex_lock(&ring->refreshing);
    loading.force = !ring->table; /* only a holder of `refreshing` changes it */
    if (ring->table)
        loading.held = ring->table->state;
    started_us = clock_mono_us(ring->clock);
    rc = store_read(ring->store, load, &loading, &own);
    if (!rc) {
        atomic_store(&ring->refreshed_mono_us, started_us);
        if (loading.table) {
            struct key_table *old = ring->table;

            pthread_rwlock_wrlock(&ring->lock);
            ring->table = loading.table;
            pthread_rwlock_unlock(&ring->lock);
            loading.table = old;
        }
    }
    free(loading.table);
    tell_failure(ring, rc, &own);
    pthread_mutex_unlock(&ring->refreshing);
    return rc ? err_set(err, rc, "%s", own.text) : 0;
}

int key_ring_tell_refused(struct key_ring *ring, struct err *err)
{
    char detail[64];
    struct audit_entry entry = {.at_us = clock_wall_us(ring->clock),
                                .principal = "local",
                                .action = "login.failed",
                                .target = "",
                                .detail = detail};
    uint64_t count = atomic_exchange(&ring->refused, 0);
    int rc;

    object_check(ring, KEY_RING_MAGIC);
    if (!count)
        return 0;
    snprintf(detail, sizeof(detail), "%ju credentials were refused", (uintmax_t)count);
    rc = audit_record(ring->store, &entry, err);
    if (rc) /* another time */
        atomic_fetch_add(&ring->refused, count);
    return rc;
}

static void refresh_for_ever(struct task *task, void *arg)
{
    struct key_ring *ring = arg;

    object_check(ring, KEY_RING_MAGIC);
    while (task_pause(task, (int64_t)KEY_REFRESH_MS * MS_US)) {
        int64_t now_us = clock_mono_us(ring->clock);

        task_says(task, "reading the keys");
        key_ring_refresh(ring, NULL); /* a failure is logged, and told by staleness */
        if (now_us - ring->told_mono_us < (int64_t)KEY_FAILURES_TELL_MS * MS_US)
            continue;
        ring->told_mono_us = now_us;
        task_says(task, "reporting refused credentials");
        key_ring_tell_refused(ring, NULL);
    }
}

/* --- asking --- */

static bool find_key(struct key_ring *ring, const char *id, struct key *key, bool *temporary)
{
    struct key wanted = {.created_us = 0};
    const struct key *found = NULL;

    memcpy(wanted.id, id, sizeof(wanted.id));
    pthread_rwlock_rdlock(&ring->lock);
    for (size_t i = 0; i < ring->temporary_count && !found; i++) {
        if (strcmp(ring->temporary[i].id, id) == 0)
            found = &ring->temporary[i];
    }
    *temporary = found;
    assert(ring->table && ring->table->count <= KEY_COUNT_MAX);
    if (!found)
        found = bsearch(&wanted, ring->table->keys, ring->table->count,
                        sizeof(ring->table->keys[0]), compare_ids);
    if (found)
        *key = *found;
    pthread_rwlock_unlock(&ring->lock);
    return found;
}

/* The credential of "Bearer <credential>"; the scheme in any case, as HTTP has it. */
static bool bearer_of(struct bytes authorization, struct bytes *credential)
{
    static const char scheme[] = "bearer ";
    size_t size = strlen(scheme);

    if (authorization.size <= size ||
        strncasecmp((const char *)authorization.data, scheme, size) != 0)
        return false;
    *credential = bytes_skip(authorization, size);
    while (credential->size && credential->data[0] == ' ')
        *credential = bytes_skip(*credential, 1);
    return true;
}

static int check_life(const struct key_ring *ring, const struct key *key, struct err *err)
{
    char when[CLOCK_TEXT_SIZE];

    if (key->revoked_us)
        return err_set(err, ERR_UNAUTHENTICATED, "key %s is revoked", key->id);
    if (key->expires_us && key->expires_us <= clock_wall_us(ring->clock)) {
        clock_format(key->expires_us, when);
        return err_set(err, ERR_UNAUTHENTICATED, "key %s expired at %s", key->id, when);
    }
    return 0;
}

int64_t key_ring_age_us(struct key_ring *ring)
{
    object_check(ring, KEY_RING_MAGIC);
    return clock_mono_us(ring->clock) - atomic_load(&ring->refreshed_mono_us);
}

/* Who can only search is trusted for longer: buyers go on without the store, and nothing is written
 * by such a key. */
static int64_t stale_us_max(const struct key *key)
{
    bool only_searches = strcmp(key->scopes, "search") == 0;

    return (int64_t)(only_searches ? KEY_STALE_SEARCH_MS_MAX : KEY_STALE_MS_MAX) * MS_US;
}

static int check_freshness(struct key_ring *ring, const struct key *key, struct err *err)
{
    int64_t age_us = key_ring_age_us(ring);

    if (age_us > stale_us_max(key))
        return err_set(err, ERR_UNAVAILABLE,
                       "keys cannot be checked: the store has not answered for %jd s",
                       (intmax_t)(age_us / SECOND_US));
    return 0;
}

static int check_key(struct key_ring *ring, struct bytes text, struct identity *identity,
                     struct err *err)
{
    char id[KEY_ID_LENGTH + 1];
    uint8_t hash[KEY_HASH_SIZE];
    struct key key;
    bool temporary;
    int rc;

    if (!key_parse(text, id, hash))
        return err_set(err, ERR_UNAUTHENTICATED,
                       "the credential is not an API key; send Authorization: Bearer torg_…");
    /* One text for both: who guesses learns nothing about ids. */
    if (!find_key(ring, id, &key, &temporary) || !key_hash_equal(hash, key.hash))
        return err_set(err, ERR_UNAUTHENTICATED, "the API key is not known here");
    rc = temporary ? 0 : check_freshness(ring, &key, err);
    if (!rc)
        rc = check_life(ring, &key, err);
    if (rc)
        return rc;
    memcpy(identity->principal, key.name, sizeof(identity->principal));
    snprintf(identity->key, sizeof(identity->key), "%s", key.id);
    memcpy(identity->seller, key.seller, sizeof(identity->seller));
    memcpy(identity->client, key.client, sizeof(identity->client));
    memcpy(identity->scopes, key.scopes, sizeof(identity->scopes));
    return 0;
}

/* One who acts for many sellers says for which of them; from then on he is bound to that one. */
static int act_for(struct bytes seller, struct identity *identity, struct err *err)
{
    if (bytes_equal_text(seller, identity->seller))
        return 0;
    if (*identity->seller || *identity->client || !identity_has_scope(identity, "sellers.act"))
        return err_set(err, ERR_DENIED,
                       "'%s' does not act for other sellers: leave Torg-Seller out, or send a key "
                       "with the scope 'sellers.act' that is bound to nobody",
                       identity->principal);
    if (!identity_is_name(seller))
        return err_set(err, ERR_DENIED,
                       "Torg-Seller: expected 1 to %d letters, digits, and . _ - @",
                       IDENTITY_NAME_SIZE - 1);
    memcpy(identity->seller, seller.data, seller.size);
    identity->seller[seller.size] = 0;
    scopes_keep_bound(identity->scopes, SCOPE_OF_SELLER);
    return 0;
}

static int authenticate(struct authenticator *self, const struct credential *credential,
                        struct identity *identity, struct err *err)
{
    struct key_ring *ring = container_of(self, struct key_ring, authenticator);
    struct bytes text;
    int rc;

    object_check(ring, KEY_RING_MAGIC);
    *identity = (struct identity){.principal = ""};
    if (!credential->authorization.size)
        return err_set(err, ERR_UNAUTHENTICATED,
                       "no credential; send the header Authorization: Bearer torg_…");
    if (bearer_of(credential->authorization, &text))
        rc = ring->tokens && jwt_is_one(text) ? tokens_check(ring->tokens, text, identity, err)
                                              : check_key(ring, text, identity, err);
    else
        rc = err_set(err, ERR_UNAUTHENTICATED,
                     "the credential is not an API key; send Authorization: Bearer torg_…");
    if (!rc && credential->seller.size)
        rc = act_for(credential->seller, identity, err);
    if (rc)
        *identity = (struct identity){.principal = ""};
    if (rc == ERR_UNAUTHENTICATED) {
        counter_add(ring->refused_total, 1);
        atomic_fetch_add(&ring->refused, 1);
    }
    return rc;
}

static bool is_dear(struct authenticator *self, const struct credential *credential)
{
    struct key_ring *ring = container_of(self, struct key_ring, authenticator);
    struct bytes text;

    object_check(ring, KEY_RING_MAGIC);
    return ring->tokens && bearer_of(credential->authorization, &text) && jwt_is_one(text) &&
           !tokens_knows(ring->tokens, text);
}

struct authenticator *key_ring_authenticator(struct key_ring *ring)
{
    object_check(ring, KEY_RING_MAGIC);
    return &ring->authenticator;
}

void key_ring_add_temporary(struct key_ring *ring, const char *name, const char *scopes,
                            char text[KEY_TEXT_LENGTH + 1])
{
    struct key key = {.created_us = clock_wall_us(ring->clock)};

    object_check(ring, KEY_RING_MAGIC);
    snprintf(key.name, sizeof(key.name), "%s", name);
    snprintf(key.scopes, sizeof(key.scopes), "%s", scopes);
    key_generate(&key, text);
    pthread_rwlock_wrlock(&ring->lock);
    assert(ring->temporary_count < KEY_TEMPORARY_COUNT_MAX);
    ring->temporary[ring->temporary_count++] = key;
    pthread_rwlock_unlock(&ring->lock);
}

/* --- life --- */

int key_ring_open(const struct key_ring_options *options, struct key_ring **ring, struct err *err)
{
    struct key_ring *made = mem_zero(sizeof(*made));
    struct task_options task = {.name = "keys", .run = refresh_for_ever, .arg = made};
    int rc;

    object_begin(made, KEY_RING_MAGIC);
    *ring = NULL;
    made->authenticator.authenticate = authenticate;
    made->authenticator.is_dear = is_dear;
    made->store = options->store;
    made->tokens = options->tokens;
    made->clock = clock_or_system(options->clock);
    made->told_mono_us = clock_mono_us(made->clock);
    made->refused_total = metrics_counter("torg_credentials_refused_total", NULL,
                                          "Keys and tokens that were not accepted.");
    pthread_rwlock_init(&made->lock, NULL);
    pthread_mutex_init(&made->refreshing, NULL);
    rc = key_ring_refresh(made, err);
    if (rc)
        err_wrap(err, "load keys");
    task.clock = made->clock;
    if (!rc && !options->manual)
        rc = task_start(&made->task, &task, err);
    if (rc)
        key_ring_close(made);
    else
        *ring = made;
    return rc;
}

void key_ring_close(struct key_ring *ring)
{
    if (!ring)
        return;
    object_check(ring, KEY_RING_MAGIC);
    task_stop(&ring->task);
    if (ring->table) /* it was open */
        key_ring_tell_refused(ring, NULL);
    pthread_mutex_destroy(&ring->refreshing);
    pthread_rwlock_destroy(&ring->lock);
    free(ring->table);
    object_end(ring, KEY_RING_MAGIC);
    free(ring);
}
