/* SPDX-License-Identifier: Apache-2.0 */
/*
 * coord_zookeeper.c - the zookeeper: backend, by ZooKeeper's C client.
 *
 *   PATH/members/NAME-SESSION              ephemeral; written at each renewal
 *   PATH/sets/SET                          the number of shards
 *   PATH/sets/SET/members/NAME-SESSION     ephemeral
 *   PATH/sets/SET/owners/SHARD             ephemeral; NAME-SESSION of the owner
 *   PATH/registers/KEY                     the value; its version is the node's, plus 1
 *
 * Ticket = czxid of the owner node: the number of the transaction that made it. Transactions
 * of an ensemble are numbered in one rising line (leader's epoch, then a counter), so a later
 * owner of a shard always has a larger one, across sessions, restarts and new leaders.
 *
 * Why a renewal is a write: a read is answered by any server, even one cut off from its leader,
 * and it is the leader that counts the session's time. A write is agreed on by the quorum and
 * refused to an expired session: its answer proves that the session was alive when it was
 * sent. The leader may have heard of the session last up to one renewal (or half a tick)
 * before; so the session's timeout is twice the lease, renewals come every third of the lease,
 * and an owner stops by itself when more than a quarter of the timeout is still left.
 *
 * Threads: the client has two of its own; its callbacks only set flags, wake waiters and poke.
 * An expired handle is replaced under the write side of `handle_lock`, used under its read side.
 */
#define THREADED /* the blocking calls of the client */
#include <zookeeper/zookeeper.h>

#include <assert.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/condition.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/text.h"
#include "coord/backend.h"
#include "coord/bounds.h"
#include "coord/tunnel.h"

enum {
    TIMEOUTS_PER_LEASE = 2, /* see above */
    BASE_SIZE_MAX = 200,
    NODE_SIZE = COORD_NAME_SIZE_MAX + 20, /* name, dash, session in hexadecimal */
    PATH_SIZE = BASE_SIZE_MAX + 2 * NODE_SIZE + 64,
};

struct zookeeper {
    struct coord_backend base;
    struct coord_setup setup;
    char *hosts;                  /* owned */
    struct tunnel *tunnel;        /* owned; NULL: everything goes in clear */
    char *digest;                 /* owned: "USER:PASSWORD"; NULL: we are nobody */
    char root[BASE_SIZE_MAX + 1]; /* "" or "/a/b" */

    pthread_rwlock_t handle_lock;
    zhandle_t *handle; /* owned */

    pthread_mutex_t lock;
    struct condition event; /* the session or a watched node has changed */
    uint64_t event_count;   /* anything the client told: state, registers */
};

static struct zookeeper *zookeeper_of(struct coord_backend *backend)
{
    return container_of(backend, struct zookeeper, base);
}

/* --- the client's callbacks --- */

static void note_event(struct zookeeper *zk)
{
    pthread_mutex_lock(&zk->lock);
    zk->event_count++;
    condition_broadcast(&zk->event);
    pthread_mutex_unlock(&zk->lock);
}

static void on_session(zhandle_t *handle, int type, int state, const char *path, void *context)
{
    struct zookeeper *zk = context;

    (void)handle, (void)type, (void)state, (void)path;
    note_event(zk);
    zk->setup.poke(zk->setup.arg);
}

static void on_set_change(zhandle_t *handle, int type, int state, const char *path, void *context)
{
    struct zookeeper *zk = context;

    (void)handle, (void)type, (void)state, (void)path;
    zk->setup.poke(zk->setup.arg);
}

static void on_register_change(zhandle_t *handle, int type, int state, const char *path,
                               void *context)
{
    (void)handle, (void)type, (void)state, (void)path;
    note_event(context);
}

/* coord.c tells once when answers stop and come back; the client tells at every attempt. */
static void on_log(const char *message)
{
    log_debug("zookeeper client", LOG_TEXT("message", message));
}

/* --- helpers --- */

static int fail(int code, const char *path, struct err *err)
{
    switch (code) {
    case ZSESSIONEXPIRED:
    case ZINVALIDSTATE:
        return err_set(err, ERR_STALE, "the ZooKeeper session is over (at %s)", path);
    case ZNOAUTH:
    case ZAUTHFAILED:
        return err_set(err, ERR_DENIED, "ZooKeeper refuses %s: %s", path, zerror(code));
    case ZNONODE:
        return err_set(err, ERR_NOT_FOUND, "ZooKeeper has no %s", path);
    case ZNODEEXISTS:
        return err_set(err, ERR_EXISTS, "ZooKeeper has %s already", path);
    default:
        return err_set(err, ERR_UNAVAILABLE, "ZooKeeper, %s: %s", path, zerror(code));
    }
}

/* What a deletion came to: it may be gone already, or go with the session. */
static int gone(int rc, const char *path, struct err *err)
{
    return rc == ZOK || rc == ZNONODE || rc == ZSESSIONEXPIRED || rc == ZINVALIDSTATE
               ? 0
               : fail(rc, path, err);
}

static void __attribute__((format(printf, 3, 4)))
make_path(const struct zookeeper *zk, char path[PATH_SIZE], const char *format, ...)
{
    size_t used = (size_t)snprintf(path, PATH_SIZE, "%s", zk->root);
    va_list args;
    int length;

    va_start(args, format);
    length = vsnprintf(path + used, PATH_SIZE - used, format, args);
    va_end(args);
    assert(length >= 0 && used + (size_t)length < PATH_SIZE); /* all names are bounded */
}

/* This session's name among members; with handle_lock. ERR_UNAVAILABLE before it has an id. */
static int make_self(const struct zookeeper *zk, char self[NODE_SIZE], struct err *err)
{
    int64_t id = zoo_client_id(zk->handle)->client_id;

    if (!id)
        return err_set(err, ERR_UNAVAILABLE, "no ZooKeeper server of %s answers", zk->hosts);
    snprintf(self, NODE_SIZE, "%s-%016" PRIx64, zk->setup.member, (uint64_t)id);
    return 0;
}

/* Who may do what with nodes that we make: we alone, if we are somebody. */
static const struct ACL_vector *acl_of(const struct zookeeper *zk)
{
    return zk->digest ? &ZOO_CREATOR_ALL_ACL : &ZOO_OPEN_ACL_UNSAFE;
}

static int create(const struct zookeeper *zk, const char *path, const char *value, int mode,
                  struct err *err)
{
    int rc = zoo_create(zk->handle, path, value, (int)strlen(value), acl_of(zk), mode, NULL, 0);

    return rc == ZOK || rc == ZNODEEXISTS ? 0 : fail(rc, path, err);
}

/* Makes the node and those above it. */
static int create_with_parents(const struct zookeeper *zk, const char *path, const char *value,
                               struct err *err)
{
    char part[PATH_SIZE];
    const char *slash = path;
    int rc = create(zk, path, value, ZOO_PERSISTENT, err);

    if (rc != ERR_NOT_FOUND)
        return rc;
    for (slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        snprintf(part, sizeof(part), "%.*s", (int)(slash - path), path);
        rc = create(zk, part, "", ZOO_PERSISTENT, err);
        if (rc)
            return rc;
    }
    return create(zk, path, value, ZOO_PERSISTENT, err);
}

/* --- session --- */

static int no_answer(const struct zookeeper *zk, struct err *err)
{
    char reason[TUNNEL_REASON_SIZE] = "";

    if (zk->tunnel)
        tunnel_reason(zk->tunnel, reason);
    return err_set(err, ERR_UNAVAILABLE, "no ZooKeeper server of %s answers%s%s%s", zk->hosts,
                   *reason ? " (" : "", reason, *reason ? ")" : "");
}

/* The client keeps who we are, and tells it each time it has connected, before anything else. */
static zhandle_t *connect_handle(struct zookeeper *zk)
{
    int timeout_ms = (int)(zk->setup.lease_us / MS_US) * TIMEOUTS_PER_LEASE;
    const char *hosts = zk->tunnel ? tunnel_hosts(zk->tunnel) : zk->hosts;
    zhandle_t *handle =
        zookeeper_init2(hosts, on_session, timeout_ms, NULL, zk, ZOO_NO_LOG_CLIENTENV, on_log);

    if (handle && zk->digest)
        zoo_add_auth(handle, "digest", zk->digest, (int)strlen(zk->digest), NULL, NULL);
    return handle;
}

/* Waits until the new handle has a session. */
static int wait_connected(struct zookeeper *zk, int64_t wait_us, struct err *err)
{
    int64_t end_us = clock_after_us(zk->setup.clock, wait_us);
    bool in_time = true;
    bool connected;

    pthread_mutex_lock(&zk->lock);
    while (zoo_state(zk->handle) != ZOO_CONNECTED_STATE && in_time)
        in_time = condition_wait_until(&zk->event, &zk->lock, end_us);
    connected = zoo_state(zk->handle) == ZOO_CONNECTED_STATE;
    pthread_mutex_unlock(&zk->lock);
    return connected ? 0 : no_answer(zk, err);
}

static int zk_renew(struct coord_backend *backend, int64_t *lease_us, struct err *err)
{
    struct zookeeper *zk = zookeeper_of(backend);
    char path[PATH_SIZE];
    char self[NODE_SIZE];
    int64_t negotiated_us;
    int rc;

    pthread_rwlock_rdlock(&zk->handle_lock);
    rc = make_self(zk, self, err);
    if (rc)
        goto out;
    make_path(zk, path, "/members/%s", self);
    rc = zoo_set(zk->handle, path, "", 0, -1);
    if (rc == ZNONODE) { /* a new session; making the node is as good a write */
        char parent[PATH_SIZE];

        make_path(zk, parent, "/members");
        rc = create_with_parents(zk, parent, "", err);
        if (!rc)
            rc = create(zk, path, "", ZOO_EPHEMERAL, err);
    } else if (rc != ZOK) {
        rc = fail(rc, path, err);
    }
    negotiated_us = (int64_t)zoo_recv_timeout(zk->handle) * MS_US / TIMEOUTS_PER_LEASE;
    *lease_us = negotiated_us < zk->setup.lease_us ? negotiated_us : zk->setup.lease_us;
out:
    pthread_rwlock_unlock(&zk->handle_lock);
    return rc;
}

static int zk_rejoin(struct coord_backend *backend, struct err *err)
{
    struct zookeeper *zk = zookeeper_of(backend);
    zhandle_t *fresh = connect_handle(zk);
    zhandle_t *old;

    if (!fresh)
        return err_errno(err, "connect to ZooKeeper at %s", zk->hosts);
    pthread_rwlock_wrlock(&zk->handle_lock);
    old = zk->handle;
    zk->handle = fresh;
    pthread_rwlock_unlock(&zk->handle_lock);
    zookeeper_close(old);
    return wait_connected(zk, zk->setup.lease_us, err);
}

/* --- sets --- */

static int check_count(const struct zookeeper *zk, const char *path, const char *set,
                       uint32_t shard_count, struct err *err)
{
    char text[16];
    int size = sizeof(text);
    uint64_t count;
    int rc = zoo_get(zk->handle, path, 0, text, &size, NULL);

    if (rc != ZOK)
        return fail(rc, path, err);
    if (size < 0 || !text_to_u64(bytes_make(text, (size_t)size), &count))
        return err_set(err, ERR_CORRUPT, "%s does not hold a number of shards", path);
    if (count != shard_count)
        return err_set(err, ERR_PRECONDITION, "%s has %ju shards, not %u: use another name", set,
                       (uintmax_t)count, (unsigned)shard_count);
    return 0;
}

static int zk_join(struct coord_backend *backend, const char *set, uint32_t shard_count,
                   struct err *err)
{
    struct zookeeper *zk = zookeeper_of(backend);
    char path[PATH_SIZE];
    char self[NODE_SIZE];
    char count[16];
    int rc;

    snprintf(count, sizeof(count), "%u", (unsigned)shard_count);
    pthread_rwlock_rdlock(&zk->handle_lock);
    rc = make_self(zk, self, err);
    if (rc)
        goto out;
    make_path(zk, path, "/sets/%s", set);
    rc = create_with_parents(zk, path, count, err);
    if (rc)
        goto out;
    rc = check_count(zk, path, set, shard_count, err);
    if (rc)
        goto out;
    make_path(zk, path, "/sets/%s/owners", set);
    rc = create(zk, path, "", ZOO_PERSISTENT, err);
    if (rc)
        goto out;
    make_path(zk, path, "/sets/%s/members", set);
    rc = create(zk, path, "", ZOO_PERSISTENT, err);
    if (rc)
        goto out;
    make_path(zk, path, "/sets/%s/members/%s", set, self);
    rc = create(zk, path, "", ZOO_EPHEMERAL, err);
out:
    pthread_rwlock_unlock(&zk->handle_lock);
    return rc;
}

static int zk_leave(struct coord_backend *backend, const char *set, struct err *err)
{
    struct zookeeper *zk = zookeeper_of(backend);
    char path[PATH_SIZE];
    char self[NODE_SIZE];
    int rc;

    pthread_rwlock_rdlock(&zk->handle_lock);
    rc = make_self(zk, self, err);
    if (!rc) {
        make_path(zk, path, "/sets/%s/members/%s", set, self);
        rc = gone(zoo_delete(zk->handle, path, -1), path, err);
    }
    pthread_rwlock_unlock(&zk->handle_lock);
    return rc;
}

/* Many reads sent at once and waited for together. */
struct gather {
    pthread_mutex_t lock;
    struct condition done; /* the last answer has come, on ZooKeeper's thread */
    uint32_t pending;
};

struct owner {
    struct gather *gather;
    uint32_t shard;
    int rc;
    int64_t session;
    uint64_t ticket;
    char member[NODE_SIZE];
};

static void on_owner(int rc, const char *value, int size, const struct Stat *stat,
                     const void *context)
{
    struct owner *owner = (struct owner *)context; /* the client's signature says const */

    owner->rc = rc;
    if (rc == ZOK) {
        snprintf(owner->member, sizeof(owner->member), "%.*s", size > 0 ? size : 0,
                 value ? value : "");
        owner->session = stat->ephemeralOwner;
        owner->ticket = (uint64_t)stat->czxid;
    }
    pthread_mutex_lock(&owner->gather->lock);
    owner->gather->pending--;
    condition_signal(&owner->gather->done);
    pthread_mutex_unlock(&owner->gather->lock);
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static int find_member(const struct String_vector *members, const char *name)
{
    char **found = bsearch(&name, members->data, (size_t)members->count, sizeof(members->data[0]),
                           compare_names);

    return found ? (int)(found - members->data) : COORD_OUTSIDER;
}

/* Asks for all owner nodes and waits for the answers, which always come: an error at worst. */
static int read_owners(struct zookeeper *zk, const char *set, struct owner *owners, uint32_t count,
                       struct err *err)
{
    struct gather gather = {.pending = count};
    char path[PATH_SIZE];
    uint32_t i;
    int rc = 0;

    pthread_mutex_init(&gather.lock, NULL);
    condition_init(&gather.done, zk->setup.clock);
    for (i = 0; i < count; i++) {
        owners[i].gather = &gather;
        make_path(zk, path, "/sets/%s/owners/%u", set, (unsigned)owners[i].shard);
        rc = zoo_aget(zk->handle, path, 0, on_owner, &owners[i]);
        if (rc != ZOK)
            break;
    }
    pthread_mutex_lock(&gather.lock);
    gather.pending -= count - i; /* those not asked */
    while (gather.pending)
        condition_wait(&gather.done, &gather.lock);
    pthread_mutex_unlock(&gather.lock);
    for (i = 0; i < count && rc == ZOK; i++) {
        if (owners[i].rc != ZNONODE)
            rc = owners[i].rc;
    }
    condition_release(&gather.done);
    pthread_mutex_destroy(&gather.lock);
    make_path(zk, path, "/sets/%s/owners", set);
    return rc == ZOK ? 0 : fail(rc, path, err);
}

static int fill_view(struct zookeeper *zk, const char *set, const struct String_vector *members,
                     const struct String_vector *nodes, struct coord_view *view, struct err *err)
{
    struct owner *owners = mem_array((size_t)nodes->count + 1, sizeof(owners[0]));
    int64_t session = zoo_client_id(zk->handle)->client_id;
    uint32_t count = 0;
    uint32_t i;
    int rc;

    for (i = 0; i < (uint32_t)nodes->count; i++) {
        uint64_t shard;

        if (text_to_u64(bytes_of(nodes->data[i]), &shard) && shard < view->shard_count)
            owners[count++].shard = (uint32_t)shard;
    }
    rc = read_owners(zk, set, owners, count, err);
    for (i = 0; i < view->shard_count; i++)
        view->owners[i] = COORD_FREE;
    for (i = 0; i < count && !rc; i++) {
        const struct owner *owner = &owners[i];

        if (owner->rc != ZOK)
            continue; /* released since the names were read */
        view->owners[owner->shard] = find_member(members, owner->member);
        if (owner->session == session) {
            view->owners[owner->shard] = view->self;
            view->tickets[owner->shard] = owner->ticket;
        } else if (view->owners[owner->shard] == view->self) {
            view->owners[owner->shard] = COORD_OUTSIDER; /* never ours without our session */
        }
    }
    free(owners);
    return rc;
}

static int zk_look(struct coord_backend *backend, const char *set, struct coord_view *view,
                   struct err *err)
{
    struct zookeeper *zk = zookeeper_of(backend);
    struct String_vector members = {0, NULL};
    struct String_vector nodes = {0, NULL};
    char path[PATH_SIZE];
    char self[NODE_SIZE];
    int rc;

    pthread_rwlock_rdlock(&zk->handle_lock);
    rc = make_self(zk, self, err);
    if (rc)
        goto out;
    make_path(zk, path, "/sets/%s/members", set);
    rc = zoo_wget_children(zk->handle, path, on_set_change, zk, &members);
    if (rc == ZOK) {
        make_path(zk, path, "/sets/%s/owners", set);
        rc = zoo_wget_children(zk->handle, path, on_set_change, zk, &nodes);
    }
    if (rc != ZOK) {
        rc = fail(rc, path, err);
        goto out;
    }
    if (members.count > COORD_MEMBER_COUNT_MAX) {
        rc = err_set(err, ERR_LIMIT, "%s has %d members, at most %d are possible", set,
                     members.count, COORD_MEMBER_COUNT_MAX);
        goto out;
    }
    if (members.count)
        qsort(members.data, (size_t)members.count, sizeof(members.data[0]), compare_names);
    view->member_count = members.count;
    view->self = members.count ? find_member(&members, self) : -1;
    if (view->self < 0)
        view->self = -1;
    else
        rc = fill_view(zk, set, &members, &nodes, view, err);
out:
    deallocate_String_vector(&members);
    deallocate_String_vector(&nodes);
    pthread_rwlock_unlock(&zk->handle_lock);
    return rc;
}

static int zk_claim(struct coord_backend *backend, const char *set, uint32_t shard,
                    uint64_t *ticket, struct err *err)
{
    struct zookeeper *zk = zookeeper_of(backend);
    char path[PATH_SIZE];
    char self[NODE_SIZE];
    struct Stat stat;
    int rc;

    pthread_rwlock_rdlock(&zk->handle_lock);
    rc = make_self(zk, self, err);
    if (!rc) {
        make_path(zk, path, "/sets/%s/owners/%u", set, (unsigned)shard);
        rc = zoo_create2(zk->handle, path, self, (int)strlen(self), acl_of(zk), ZOO_EPHEMERAL, NULL,
                         0, &stat);
        if (rc == ZOK)
            *ticket = (uint64_t)stat.czxid;
        else
            rc = fail(rc, path, err);
    }
    pthread_rwlock_unlock(&zk->handle_lock);
    return rc;
}

static int zk_release(struct coord_backend *backend, const char *set, uint32_t shard,
                      struct err *err)
{
    struct zookeeper *zk = zookeeper_of(backend);
    char path[PATH_SIZE];
    struct Stat stat;
    int rc;

    pthread_rwlock_rdlock(&zk->handle_lock);
    make_path(zk, path, "/sets/%s/owners/%u", set, (unsigned)shard);
    rc = zoo_exists(zk->handle, path, 0, &stat);
    /* Ours now is ours at the deletion, or the session is over and the deletion refused. */
    if (rc == ZOK && stat.ephemeralOwner == zoo_client_id(zk->handle)->client_id)
        rc = zoo_delete(zk->handle, path, -1);
    rc = gone(rc, path, err);
    pthread_rwlock_unlock(&zk->handle_lock);
    return rc;
}

/* --- registers --- */

/* Registers do not depend on the session: one that is over is a server to be asked again. */
static int fail_register(int code, const char *path, struct err *err)
{
    int rc = fail(code, path, err);

    if (rc == ERR_STALE)
        return err_set(err, ERR_UNAVAILABLE, "%s: the ZooKeeper session is being renewed", path);
    return rc;
}

static int zk_get(struct coord_backend *backend, const char *key, struct buf *out,
                  uint64_t *version, struct err *err)
{
    struct zookeeper *zk = zookeeper_of(backend);
    int size = COORD_VALUE_SIZE_MAX;
    char *value = mem_alloc(COORD_VALUE_SIZE_MAX);
    char path[PATH_SIZE];
    struct Stat stat;
    int rc;

    make_path(zk, path, "/registers/%s", key);
    pthread_rwlock_rdlock(&zk->handle_lock);
    rc = zoo_get(zk->handle, path, 0, value, &size, &stat);
    pthread_rwlock_unlock(&zk->handle_lock);
    if (rc == ZNONODE) {
        rc = err_set(err, ERR_NOT_FOUND, "%s was never set", key);
    } else if (rc != ZOK) {
        rc = fail_register(rc, path, err);
    } else {
        *version = (uint64_t)stat.version + 1;
        buf_put_raw(out, value, size > 0 ? (size_t)size : 0);
        if (buf_failed(out) || stat.dataLength > COORD_VALUE_SIZE_MAX)
            rc = err_set(err, ERR_LIMIT, "the value of %s does not fit %zu bytes", key, out->limit);
    }
    free(value);
    return rc;
}

static int zk_set(struct coord_backend *backend, const char *key, struct bytes value,
                  uint64_t expected, uint64_t *version, struct err *err)
{
    struct zookeeper *zk = zookeeper_of(backend);
    const char *data = value.size ? (const char *)value.data : "";
    char path[PATH_SIZE];
    struct Stat stat;
    int rc;

    make_path(zk, path, "/registers/%s", key);
    pthread_rwlock_rdlock(&zk->handle_lock);
    if (expected == 0) {
        rc = zoo_create(zk->handle, path, data, (int)value.size, acl_of(zk), ZOO_PERSISTENT, NULL,
                        0);
        stat.version = 0;
    } else if (expected > INT32_MAX) {
        rc = ZBADVERSION;
    } else {
        rc = zoo_set2(zk->handle, path, data, (int)value.size, (int)(expected - 1), &stat);
        if (rc == ZNONODE)
            rc = ZBADVERSION;
    }
    pthread_rwlock_unlock(&zk->handle_lock);
    if (rc == ZBADVERSION || rc == ZNODEEXISTS)
        return err_set(err, ERR_CONFLICT, "%s has another version than %ju: read it again", key,
                       (uintmax_t)expected);
    if (rc != ZOK)
        return fail_register(rc, path, err);
    *version = (uint64_t)stat.version + 1;
    return 0;
}

static int zk_watch(struct coord_backend *backend, const char *key, uint64_t known, int timeout_ms,
                    struct err *err)
{
    struct zookeeper *zk = zookeeper_of(backend);
    char path[PATH_SIZE];
    int64_t end_us = clock_after_us(zk->setup.clock, (int64_t)timeout_ms * MS_US);
    bool in_time = true;
    struct Stat stat;
    int rc;

    make_path(zk, path, "/registers/%s", key);
    for (;;) {
        uint64_t events;

        pthread_mutex_lock(&zk->lock);
        events = zk->event_count;
        pthread_mutex_unlock(&zk->lock);
        pthread_rwlock_rdlock(&zk->handle_lock);
        rc = zoo_wexists(zk->handle, path, on_register_change, zk, &stat);
        pthread_rwlock_unlock(&zk->handle_lock);
        if (rc != ZOK && rc != ZNONODE)
            return fail_register(rc, path, err);
        if ((rc == ZNONODE ? 0 : (uint64_t)stat.version + 1) != known)
            return 0;
        if (!in_time)
            return err_set(err, ERR_TIMEOUT, "no change of %s within %d ms", key, timeout_ms);
        pthread_mutex_lock(&zk->lock);
        while (zk->event_count == events && in_time)
            in_time = condition_wait_until(&zk->event, &zk->lock, end_us);
        pthread_mutex_unlock(&zk->lock);
    }
}

/* --- open and close --- */

static int parse_place(struct zookeeper *zk, const char *place, struct err *err)
{
    const char *hosts = place + 2;
    size_t host_size = strncmp(place, "//", 2) == 0 ? strcspn(hosts, "/") : 0;
    const char *root = hosts + host_size;
    size_t root_size;

    if (!host_size)
        return err_set(err, ERR_INVALID,
                       "zookeeper:%.100s must look like zookeeper://HOST:PORT,HOST:PORT/PATH",
                       place);
    root_size = strlen(root);
    if (root_size && root[root_size - 1] == '/')
        root_size--;
    if (root_size > BASE_SIZE_MAX || strstr(root, "//") || strstr(root, "/."))
        return err_set(err, ERR_INVALID,
                       "path %.100s of the ZooKeeper URL must be at most %d characters, without "
                       "empty parts or parts that begin with a dot",
                       root, BASE_SIZE_MAX);
    zk->hosts = mem_strndup(hosts, host_size);
    memcpy(zk->root, root, root_size);
    return 0;
}

static void zk_free(struct zookeeper *zk)
{
    if (zk->handle)
        zookeeper_close(zk->handle); /* joins the client's threads: no callback after it */
    tunnel_close(zk->tunnel);
    condition_release(&zk->event);
    pthread_mutex_destroy(&zk->lock);
    pthread_rwlock_destroy(&zk->handle_lock);
    free(zk->hosts);
    free(zk->digest);
    free(zk);
}

static int take_digest(struct zookeeper *zk, const struct coord_setup *setup, struct err *err)
{
    const char *password = setup->password ? setup->password : "";
    struct buf digest = BUF_INIT(COORD_DIGEST_SIZE_MAX);

    if (!setup->user || !*setup->user)
        return 0;
    if (!*password || strchr(setup->user, ':'))
        return err_set(err, ERR_INVALID,
                       "ZooKeeper: a user is a name without ':', and needs a password");
    buf_printf(&digest, "%s:%s", setup->user, password);
    if (!buf_failed(&digest))
        zk->digest = mem_strdup(buf_text(&digest));
    buf_release(&digest);
    return zk->digest ? 0
                      : err_set(err, ERR_LIMIT, "ZooKeeper: user and password are longer than %d",
                                COORD_DIGEST_SIZE_MAX);
}

static int zk_open(const char *place, const struct coord_setup *setup,
                   struct coord_backend **backend, struct err *err)
{
    struct zookeeper *zk = mem_zero(sizeof(*zk));
    char path[PATH_SIZE];
    int rc;

    zk->base.ops = &coord_zookeeper_ops;
    zk->setup = *setup;
    condition_init(&zk->event, setup->clock);
    pthread_mutex_init(&zk->lock, NULL);
    pthread_rwlock_init(&zk->handle_lock, NULL);
    rc = parse_place(zk, place, err);
    if (rc)
        goto out;
    rc = take_digest(zk, setup, err);
    if (rc)
        goto out;
    rc = tunnel_open(zk->hosts, &setup->tls, setup->clock, &zk->tunnel, err);
    if (rc)
        goto out;
    zoo_set_debug_level(ZOO_LOG_LEVEL_WARN);
    zk->handle = connect_handle(zk);
    if (!zk->handle) {
        rc = err_errno(err, "connect to ZooKeeper at %s", zk->hosts);
        goto out;
    }
    rc = wait_connected(zk, (int64_t)COORD_OPEN_MS_MAX * MS_US, err);
    if (rc)
        goto out;
    make_path(zk, path, "/registers");
    rc = create_with_parents(zk, path, "", err);
out:
    if (rc)
        zk_free(zk);
    else
        *backend = &zk->base;
    return rc;
}

static void zk_close(struct coord_backend *backend)
{
    zk_free(zookeeper_of(backend));
}

const struct coord_ops coord_zookeeper_ops = {
    .scheme = "zookeeper",
    .open = zk_open,
    .close = zk_close,
    .renew = zk_renew,
    .rejoin = zk_rejoin,
    .join = zk_join,
    .leave = zk_leave,
    .look = zk_look,
    .claim = zk_claim,
    .release = zk_release,
    .get = zk_get,
    .set = zk_set,
    .watch = zk_watch,
};
