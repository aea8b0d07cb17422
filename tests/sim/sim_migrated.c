/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sim_migrated.c - see sim_migrated.h.
 *
 * Each ALTER TABLE makes SQLite read the whole schema again, which was a tenth of a seed's time.
 * Here they are run once, in memory, before there are lives, by the code that runs them in a life.
 * A child does that, so that nothing of it is in the heap that lives begin with; what it hands over
 * is in memory that all processes share.
 */
#include "sim/sim_migrated.h"

#include <assert.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "base/memory.h"
#include "sim/sim.h"
#include "store/migrate.h"
#include "store/sqlite_connection.h"

enum {
    IMAGE_SIZE_MAX = 8 << 20,
    REAL_SHARE = 8,     /* of so many seeds one runs the migrations */
    WRITE_VERSION = 18, /* in a database's header, as the next */
    READ_VERSION = 19,
    VERSION_WAL = 2,
};

static struct image {
    size_t size;
    uint8_t data[IMAGE_SIZE_MAX];
} * image;

/* --- a store of one connection, without threads --- */

struct bare_store {
    struct store base;
    struct sqlite_place place;
    struct sqlite_connection connection;
};

static int bare_run(struct store *store, enum store_mode mode, store_fn fn, void *arg,
                    struct err *err)
{
    struct bare_store *self = container_of(store, struct bare_store, base);
    struct sqlite_tx tx = {.base = {.ops = store->ops, .mode = mode},
                           .connection = &self->connection};
    int rc = sqlite_step(&self->connection, self->connection.begin, err);

    rc = rc ? rc : store_run(&tx.base, fn, arg, err);
    return rc ? rc : sqlite_step(&self->connection, self->connection.commit, err);
}

static const struct store_ops bare_ops = {
    .scheme = "bare",
    .run = bare_run,
    .exec = sqlite_exec,
    .select = sqlite_select,
    .next = sqlite_next,
    .end = sqlite_end,
};

/* --- the image --- */

static _Noreturn void make(struct image *to)
{
    static struct bare_store bare;
    static struct clock_manual clock;
    sqlite3_int64 size;
    uint8_t *data;
    struct err err;

    log_setup(LOG_FORMAT_HUMAN, LOG_LEVEL_WARN, STDERR_FILENO);
    clock_manual_init(&clock, SECOND_US);
    bare.place = (struct sqlite_place){.path = ":memory:", .clock = &clock.base};
    bare.base = (struct store){.magic = STORE_MAGIC,
                               .ops = &bare_ops,
                               .backend = store_sqlite_ops.scheme,
                               .clock = &clock.base};
    if (sqlite_connect(&bare.connection, &bare.place, SQLITE_ROLE_WRITER, &err) ||
        store_migrate(&bare.base, NULL, &err)) {
        fprintf(stderr, "sim: the migrations: %s\n", err.text);
        _exit(1);
    }
    data = sqlite3_serialize(bare.connection.db, "main", &size, 0);
    assert(data && size > READ_VERSION && size <= IMAGE_SIZE_MAX);
    data[WRITE_VERSION] = data[READ_VERSION] = VERSION_WAL;
    memcpy(to->data, data, (size_t)size);
    to->size = (size_t)size;
    _exit(0);
}

void sim_migrated_prepare(void)
{
    struct image *made = mmap(NULL, sizeof(*made), PROT_READ | PROT_WRITE,
                              MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    int status = 0;
    pid_t pid;

    assert(made != MAP_FAILED);
    pid = fork();
    if (pid == 0)
        make(made);
    if (pid < 0 || waitpid(pid, &status, 0) != pid || status)
        abort();
    image = made;
}

/* --- in a life --- */

int __real_sqlite3_open_v2(const char *path, sqlite3 **db, int flags, const char *vfs);
int __wrap_sqlite3_open_v2(const char *path, sqlite3 **db, int flags, const char *vfs);

int __wrap_sqlite3_open_v2(const char *path, sqlite3 **db, int flags, const char *vfs)
{
    bool is_new = image && flags & SQLITE_OPEN_CREATE && access(path, F_OK) != 0;
    struct err err;

    if (is_new && sim_seed() % REAL_SHARE &&
        file_write(path, bytes_make(image->data, image->size), &err))
        sim_trace("no database to begin with: %s", err.text);
    return __real_sqlite3_open_v2(path, db, flags, vfs);
}
