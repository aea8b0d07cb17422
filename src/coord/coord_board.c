/* SPDX-License-Identifier: Apache-2.0 */
/*
 * coord_board.c - the memory: and local: backends: members of one process meet at a board.
 *
 * Handles opened with the same place share one board, kept in a list while any is open. A
 * session that is not renewed for its lease is swept away by whoever touches the board next,
 * exactly as a server would do it. local: also locks its directory against other processes
 * and keeps tickets and registers there; ownership itself need not survive the process.
 * Registers of local: are read from their files, so memory holds nothing that disk does not.
 *
 * Threads: one lock a board; pokes are sent with it held (a poke only sets a flag).
 */
#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/condition.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/object.h"
#include "coord/backend.h"
#include "coord/bounds.h"
#include "coord/durable.h"

enum { TICKET_BLOCK = 1024 };

enum { SESSION_MAGIC = OBJECT_MAGIC('s', 'e', 's', 's') };

struct session {
    uint32_t magic;
    struct session *next;
    struct board_member *member; /* borrowed; removed before the handle is freed */
    uint64_t id;
    int64_t lease_us;
    int64_t expires_us;
};

enum { SET_MAGIC = OBJECT_MAGIC('b', 's', 'e', 't') };

struct set {
    uint32_t magic;
    struct set *next;
    char name[COORD_NAME_SIZE_MAX + 1];
    uint32_t shard_count;
    int member_count;
    uint64_t members[COORD_MEMBER_COUNT_MAX]; /* sessions, in order of joining */
    uint64_t *owners;                         /* sessions; 0: free */
    uint64_t *tickets;
};

struct reg {
    char key[COORD_NAME_SIZE_MAX + 1];
    uint64_t version;
    uint8_t *value; /* owned */
    size_t size;
};

enum { BOARD_MAGIC = OBJECT_MAGIC('b', 'o', 'a', 'r') };

struct board {
    uint32_t magic;
    struct board *next;
    char *place; /* owned; the scheme, and the real path of a directory */
    char *dir;   /* owned; NULL for memory: */
    int lock_fd;
    int handle_count;
    const struct clock *clock;

    pthread_mutex_t lock;
    struct condition register_set; /* any member waits for any register */
    struct session *sessions;      /* owned */
    struct set *sets;              /* owned */
    struct reg *registers;         /* owned; memory: only */
    size_t register_count;
    uint64_t next_session;
    uint64_t next_ticket;
    uint64_t ticket_ceiling; /* durable: tickets below may be given */
};

struct board_member {
    struct coord_backend base;
    struct board *board;
    struct coord_setup setup;
    uint64_t session; /* 0: none */
};

static pthread_mutex_t boards_lock = PTHREAD_MUTEX_INITIALIZER;
static struct board *boards;
static _Atomic uint64_t memory_ticket = 1; /* of the whole process: a reopened board goes on */

static struct board_member *member_of(struct coord_backend *backend)
{
    return container_of(backend, struct board_member, base);
}

/* --- sessions; with the board's lock --- */

static void poke_all(struct board *board)
{
    struct session *session;

    for (session = board->sessions; session; session = session->next) {
        object_check(session, SESSION_MAGIC);
        session->member->setup.poke(session->member->setup.arg);
    }
}

static void leave_set(struct set *set, uint64_t session)
{
    int i;

    for (i = 0; i < set->member_count; i++) {
        if (set->members[i] != session)
            continue;
        memmove(&set->members[i], &set->members[i + 1],
                (size_t)(set->member_count - i - 1) * sizeof(set->members[0]));
        set->member_count--;
        assert(set->member_count >= 0);
        return;
    }
}

static void end_session(struct board *board, uint64_t id)
{
    struct session **link = &board->sessions;
    struct session *session;
    struct set *set;
    uint32_t shard;

    while (*link && (*link)->id != id)
        link = &(*link)->next;
    session = *link;
    if (!session)
        return;
    *link = session->next;
    object_end(session, SESSION_MAGIC);
    free(session);
    for (set = board->sets; set; set = set->next) {
        leave_set(set, id);
        for (shard = 0; shard < set->shard_count; shard++) {
            if (set->owners[shard] == id)
                set->owners[shard] = 0;
        }
    }
    poke_all(board);
}

/* Ends the sessions whose lease is over; every operation begins with it. */
static void sweep(struct board *board)
{
    int64_t now_us = clock_mono_us(board->clock);
    struct session *session = board->sessions;

    while (session) {
        uint64_t id = session->id;
        bool over = now_us >= session->expires_us;

        session = session->next;
        if (over)
            end_session(board, id);
    }
}

static struct session *find_session(struct board *board, uint64_t id)
{
    struct session *session = board->sessions;

    while (session && session->id != id)
        session = session->next;
    return session;
}

static void begin_session(struct board_member *member)
{
    struct board *board = member->board;
    struct session *session = mem_zero(sizeof(*session));

    object_begin(session, SESSION_MAGIC);
    assert(session->lease_us == 0 && member->setup.lease_us > 0);
    session->member = member;
    session->id = ++board->next_session;
    session->lease_us = member->setup.lease_us;
    session->expires_us = clock_mono_us(board->clock) + session->lease_us;
    session->next = board->sessions;
    board->sessions = session;
    assert(session->id > member->session); /* never one that was */
    member->session = session->id;
}

/* Takes the lock and sweeps; ERR_STALE when this member's session is over. */
static int enter(struct board_member *member, struct err *err)
{
    object_check(member->board, BOARD_MAGIC);
    pthread_mutex_lock(&member->board->lock);
    sweep(member->board);
    if (find_session(member->board, member->session))
        return 0;
    return err_set(err, ERR_STALE, "the lease of %s is over", member->setup.member);
}

static int board_renew(struct coord_backend *backend, int64_t *lease_us, struct err *err)
{
    struct board_member *member = member_of(backend);
    int rc = enter(member, err);

    if (!rc) {
        struct session *session = find_session(member->board, member->session);

        session->expires_us = clock_mono_us(member->board->clock) + session->lease_us;
        *lease_us = session->lease_us;
    }
    pthread_mutex_unlock(&member->board->lock);
    return rc;
}

static int board_rejoin(struct coord_backend *backend, struct err *err)
{
    struct board_member *member = member_of(backend);

    (void)err;
    pthread_mutex_lock(&member->board->lock);
    end_session(member->board, member->session);
    begin_session(member);
    pthread_mutex_unlock(&member->board->lock);
    return 0;
}

/* --- sets --- */

static struct set *find_set(struct board *board, const char *name)
{
    struct set *set = board->sets;

    while (set && strcmp(set->name, name) != 0)
        set = set->next;
    return set;
}

static struct set *add_set(struct board *board, const char *name, uint32_t shard_count)
{
    struct set *set = mem_zero(sizeof(*set));

    object_begin(set, SET_MAGIC);
    snprintf(set->name, sizeof(set->name), "%s", name);
    set->shard_count = shard_count;
    set->owners = mem_array(shard_count, sizeof(set->owners[0]));
    set->tickets = mem_array(shard_count, sizeof(set->tickets[0]));
    set->next = board->sets;
    board->sets = set;
    return set;
}

static bool is_member(const struct set *set, uint64_t session)
{
    int i;

    for (i = 0; i < set->member_count; i++) {
        if (set->members[i] == session)
            return true;
    }
    return false;
}

static int board_join(struct coord_backend *backend, const char *name, uint32_t shard_count,
                      struct err *err)
{
    struct board_member *member = member_of(backend);
    struct board *board = member->board;
    int rc = enter(member, err);
    struct set *set;

    if (rc)
        goto out;
    set = find_set(board, name);
    if (!set)
        set = add_set(board, name, shard_count);
    if (set->shard_count != shard_count) {
        rc = err_set(err, ERR_PRECONDITION, "%s has %u shards, not %u: use another name", name,
                     (unsigned)set->shard_count, (unsigned)shard_count);
        goto out;
    }
    if (is_member(set, member->session))
        goto out;
    if (set->member_count == COORD_MEMBER_COUNT_MAX) {
        rc = err_set(err, ERR_LIMIT, "%s has %d members already", name, set->member_count);
        goto out;
    }
    assert(member->session && set->member_count < COORD_MEMBER_COUNT_MAX);
    set->members[set->member_count++] = member->session;
    poke_all(board);
out:
    pthread_mutex_unlock(&board->lock);
    return rc;
}

static int board_leave(struct coord_backend *backend, const char *name, struct err *err)
{
    struct board_member *member = member_of(backend);
    int rc = enter(member, err);
    struct set *set = find_set(member->board, name);

    if (rc == ERR_STALE)
        rc = 0; /* gone already */
    if (set) {
        leave_set(set, member->session);
        poke_all(member->board);
    }
    pthread_mutex_unlock(&member->board->lock);
    return rc;
}

static int index_of(const struct set *set, uint64_t session)
{
    int i;

    for (i = 0; i < set->member_count; i++) {
        if (set->members[i] == session)
            return i;
    }
    return COORD_OUTSIDER;
}

static int board_look(struct coord_backend *backend, const char *name, struct coord_view *view,
                      struct err *err)
{
    struct board_member *member = member_of(backend);
    int rc = enter(member, err);
    struct set *set = find_set(member->board, name);
    uint32_t i;

    if (!rc) {
        assert(set && set->shard_count == view->shard_count);
        view->member_count = set->member_count;
        view->self = index_of(set, member->session);
        for (i = 0; i < set->shard_count; i++) {
            view->owners[i] = set->owners[i] ? index_of(set, set->owners[i]) : COORD_FREE;
            view->tickets[i] = set->tickets[i];
        }
        if (view->self < 0)
            view->self = -1;
    }
    pthread_mutex_unlock(&member->board->lock);
    return rc;
}

/* The next ticket, whose number is safe on disk before it is given. */
static int take_ticket(struct board *board, uint64_t *ticket, struct err *err)
{
    int rc;

    if (!board->dir) {
        *ticket = atomic_fetch_add(&memory_ticket, 1);
        return 0;
    }
    if (board->next_ticket == board->ticket_ceiling) {
        rc = durable_write_tickets(board->dir, board->ticket_ceiling + TICKET_BLOCK, err);
        if (rc)
            return rc;
        board->ticket_ceiling += TICKET_BLOCK;
    }
    assert(board->next_ticket < board->ticket_ceiling); /* durable before it is given */
    *ticket = board->next_ticket++;
    return 0;
}

static int board_claim(struct coord_backend *backend, const char *name, uint32_t shard,
                       uint64_t *ticket, struct err *err)
{
    struct board_member *member = member_of(backend);
    int rc = enter(member, err);
    struct set *set = find_set(member->board, name);

    if (rc)
        goto out;
    assert(set && shard < set->shard_count);
    if (set->owners[shard]) {
        rc = err_set(err, ERR_EXISTS, "shard %u of %s has an owner", (unsigned)shard, name);
        goto out;
    }
    rc = take_ticket(member->board, ticket, err);
    if (rc)
        goto out;
    assert(*ticket > set->tickets[shard]); /* a fence never goes back */
    set->owners[shard] = member->session;
    set->tickets[shard] = *ticket;
    poke_all(member->board);
out:
    pthread_mutex_unlock(&member->board->lock);
    return rc;
}

static int board_release(struct coord_backend *backend, const char *name, uint32_t shard,
                         struct err *err)
{
    struct board_member *member = member_of(backend);
    int rc = enter(member, err);
    struct set *set = find_set(member->board, name);

    if (rc == ERR_STALE)
        rc = 0; /* gone already */
    assert(!set || shard < set->shard_count);
    if (set && set->owners[shard] == member->session) {
        set->owners[shard] = 0;
        poke_all(member->board);
    }
    pthread_mutex_unlock(&member->board->lock);
    return rc;
}

/* --- registers; sessions do not matter to them --- */

static struct reg *find_register(struct board *board, const char *key)
{
    size_t i;

    for (i = 0; i < board->register_count; i++) {
        if (strcmp(board->registers[i].key, key) == 0)
            return &board->registers[i];
    }
    return NULL;
}

static int read_register(struct board *board, const char *key, struct buf *out, uint64_t *version,
                         struct err *err)
{
    const struct reg *reg;

    *version = 0;
    if (board->dir)
        return durable_read_register(board->dir, key, out, version, err);
    reg = find_register(board, key);
    if (!reg)
        return err_set(err, ERR_NOT_FOUND, "%s was never set", key);
    *version = reg->version;
    buf_put_raw(out, reg->value, reg->size);
    if (buf_failed(out))
        return err_set(err, ERR_LIMIT, "the value of %s does not fit %zu bytes", key, out->limit);
    return 0;
}

static int write_register(struct board *board, const char *key, struct bytes value,
                          uint64_t version, struct err *err)
{
    struct reg *reg;

    if (board->dir)
        return durable_write_register(board->dir, key, value, version, err);
    reg = find_register(board, key);
    if (!reg) {
        if (board->register_count == COORD_REGISTER_COUNT_MAX)
            return err_set(err, ERR_LIMIT, "there are %d registers already",
                           COORD_REGISTER_COUNT_MAX);
        board->registers = mem_resize(board->registers, (board->register_count + 1) * sizeof(*reg));
        reg = &board->registers[board->register_count++];
        *reg = (struct reg){.version = 0};
        snprintf(reg->key, sizeof(reg->key), "%s", key);
    }
    assert(version > reg->version && value.size <= COORD_VALUE_SIZE_MAX);
    reg->value = mem_resize(reg->value, value.size ? value.size : 1);
    if (value.size)
        memcpy(reg->value, value.data, value.size);
    reg->size = value.size;
    reg->version = version;
    return 0;
}

static int read_version(struct board *board, const char *key, uint64_t *version, struct err *err)
{
    struct buf value = BUF_INIT(COORD_VALUE_SIZE_MAX);
    int rc = read_register(board, key, &value, version, err);

    buf_release(&value);
    return rc == ERR_NOT_FOUND ? 0 : rc;
}

static int board_get(struct coord_backend *backend, const char *key, struct buf *out,
                     uint64_t *version, struct err *err)
{
    struct board *board = member_of(backend)->board;
    int rc;

    pthread_mutex_lock(&board->lock);
    rc = read_register(board, key, out, version, err);
    pthread_mutex_unlock(&board->lock);
    return rc;
}

static int board_set(struct coord_backend *backend, const char *key, struct bytes value,
                     uint64_t expected, uint64_t *version, struct err *err)
{
    struct board *board = member_of(backend)->board;
    uint64_t current;
    int rc;

    pthread_mutex_lock(&board->lock);
    rc = read_version(board, key, &current, err);
    if (!rc && current != expected)
        rc = err_set(err, ERR_CONFLICT, "%s has version %ju, not %ju: read it again", key,
                     (uintmax_t)current, (uintmax_t)expected);
    if (!rc)
        rc = write_register(board, key, value, current + 1, err);
    if (!rc) {
        *version = current + 1;
        condition_broadcast(&board->register_set);
    }
    pthread_mutex_unlock(&board->lock);
    return rc;
}

static int board_watch(struct coord_backend *backend, const char *key, uint64_t known,
                       int timeout_ms, struct err *err)
{
    struct board *board = member_of(backend)->board;
    int64_t end_us = clock_after_us(board->clock, (int64_t)timeout_ms * MS_US);
    bool in_time = true;
    uint64_t current;
    int rc;

    pthread_mutex_lock(&board->lock);
    for (;;) {
        rc = read_version(board, key, &current, err);
        if (rc || current != known)
            break;
        if (!in_time) {
            rc = err_set(err, ERR_TIMEOUT, "no change of %s within %d ms", key, timeout_ms);
            break;
        }
        in_time = condition_wait_until(&board->register_set, &board->lock, end_us);
    }
    pthread_mutex_unlock(&board->lock);
    return rc;
}

/* --- boards --- */

static void free_board(struct board *board)
{
    struct set *set = board->sets;
    size_t i;

    assert(!board->sessions);
    while (set) {
        struct set *next = set->next;

        free(set->owners);
        free(set->tickets);
        object_end(set, SET_MAGIC);
        free(set);
        set = next;
    }
    for (i = 0; i < board->register_count; i++)
        free(board->registers[i].value);
    free(board->registers);
    file_unlock(board->lock_fd);
    condition_release(&board->register_set);
    pthread_mutex_destroy(&board->lock);
    free(board->place);
    free(board->dir);
    object_end(board, BOARD_MAGIC);
    free(board);
}

static int open_dir(struct board *board, const char *dir, struct err *err)
{
    char path[PATH_MAX];
    int length = snprintf(path, sizeof(path), "%s/lock", dir);
    int rc;

    if (length < 0 || (size_t)length >= sizeof(path))
        return err_set(err, ERR_LIMIT, "path %.64s… is too long", dir);
    board->dir = mem_strdup(dir);
    rc = file_lock(path, &board->lock_fd, err);
    if (!rc)
        rc = durable_read_tickets(dir, &board->ticket_ceiling, err);
    if (!rc && !board->ticket_ceiling)
        board->ticket_ceiling = 1; /* 0 means no ticket */
    board->next_ticket = board->ticket_ceiling;
    return rc;
}

/* With boards_lock. The board of this place, made if there is none. */
static int find_board(const char *place, const char *dir, const struct clock *clock,
                      struct board **out, struct err *err)
{
    struct board *board = boards;
    int rc = 0;

    while (board && strcmp(board->place, place) != 0)
        board = board->next;
    if (board && board->clock != clock)
        return err_set(err, ERR_INVALID, "%s is open with another clock", place);
    if (!board) {
        board = mem_zero(sizeof(*board));
        object_begin(board, BOARD_MAGIC);
        board->place = mem_strdup(place);
        board->clock = clock;
        board->lock_fd = -1;
        pthread_mutex_init(&board->lock, NULL);
        condition_init(&board->register_set, clock);
        if (dir)
            rc = open_dir(board, dir, err);
        if (rc) {
            free_board(board);
            return rc;
        }
        board->next = boards;
        boards = board;
    }
    board->handle_count++;
    *out = board;
    return 0;
}

static int open_member(const struct coord_ops *ops, const char *place, const char *dir,
                       const struct coord_setup *setup, struct coord_backend **backend,
                       struct err *err)
{
    struct board_member *member;
    struct board *board = NULL;
    int rc;

    pthread_mutex_lock(&boards_lock);
    rc = find_board(place, dir, setup->clock, &board, err);
    pthread_mutex_unlock(&boards_lock);
    if (rc)
        return rc;
    member = mem_zero(sizeof(*member));
    member->base.ops = ops;
    member->board = board;
    member->setup = *setup;
    pthread_mutex_lock(&board->lock);
    begin_session(member);
    pthread_mutex_unlock(&board->lock);
    *backend = &member->base;
    return 0;
}

static int memory_open(const char *place, const struct coord_setup *setup,
                       struct coord_backend **backend, struct err *err)
{
    char name[COORD_NAME_SIZE_MAX + 16];
    int length = snprintf(name, sizeof(name), "memory:%s", place);

    if (length < 0 || (size_t)length >= sizeof(name))
        return err_set(err, ERR_INVALID, "memory:%.40s… has a name over %d characters", place,
                       COORD_NAME_SIZE_MAX);
    return open_member(&coord_memory_ops, name, NULL, setup, backend, err);
}

static int local_open(const char *place, const struct coord_setup *setup,
                      struct coord_backend **backend, struct err *err)
{
    char *real;
    int rc;

    if (!place[0])
        return err_set(err, ERR_INVALID, "local: needs a directory, as in local:/var/lib/torg");
    rc = dir_create(place, err);
    if (rc)
        return rc;
    real = realpath(place, NULL);
    if (!real)
        return err_errno(err, "find directory %s", place);
    rc = open_member(&coord_local_ops, real, real, setup, backend, err);
    free(real);
    return rc;
}

static void board_close(struct coord_backend *backend)
{
    struct board_member *member = member_of(backend);
    struct board *board = member->board;
    struct board **link = &boards;

    pthread_mutex_lock(&board->lock);
    end_session(board, member->session);
    pthread_mutex_unlock(&board->lock);
    free(member);
    pthread_mutex_lock(&boards_lock);
    if (--board->handle_count == 0) {
        while (*link != board)
            link = &(*link)->next;
        *link = board->next;
        free_board(board);
    }
    pthread_mutex_unlock(&boards_lock);
}

#define BOARD_OPS                                                                                  \
    .close = board_close, .renew = board_renew, .rejoin = board_rejoin, .join = board_join,        \
    .leave = board_leave, .look = board_look, .claim = board_claim, .release = board_release,      \
    .get = board_get, .set = board_set, .watch = board_watch

const struct coord_ops coord_memory_ops = {.scheme = "memory", .open = memory_open, BOARD_OPS};
const struct coord_ops coord_local_ops = {.scheme = "local", .open = local_open, BOARD_OPS};
