/* SPDX-License-Identifier: Apache-2.0 */
/* clients.c - see clients.h; reading a client is in clients_load.c. */
#include "registry/clients/clients.h"

#include <assert.h>
#include <ctype.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/memory.h"
#include "base/object.h"
#include "codec/message.h"
#include "config/bounds.h"
#include "registry/bounds.h"
#include "registry/clients/clients_load.h"
#include "registry/clients/unreadable.h"
#include "store/sequence.h"

struct known_client {
    struct held_view *view; /* a reference is ours */
    int64_t looked_us;      /* monotonic: when it was as the store had it */
};

enum { CLIENTS_MAGIC = OBJECT_MAGIC('c', 'l', 'i', 's') };

struct clients {
    uint32_t magic;
    struct store *store;       /* borrowed */
    const struct clock *clock; /* borrowed */
    pthread_mutex_t lock;
    struct known_client known[CLIENT_COUNT_MAX];
    uint32_t known_count;
    struct unreadable unreadable;
};

/* --- views --- */

static struct held_view *held_of(const struct client_view *client)
{
    return container_of(client, struct held_view, view);
}

static const struct client_view *client_ref(struct held_view *view)
{
    atomic_fetch_add_explicit(&view->ref_count, 1, memory_order_relaxed);
    return &view->view;
}

void client_unref(const struct client_view *client)
{
    if (client &&
        atomic_fetch_sub_explicit(&held_of(client)->ref_count, 1, memory_order_acq_rel) == 1)
        held_view_free(held_of(client));
}

struct client_view client_unborn(void)
{
    return (struct client_view){.shard_count = 1,
                                .writing_epoch = 1,
                                .serving_epoch = 1,
                                .epochs = {{.epoch = 1,
                                            .state = TORG__V1__INDEX_MAP__EPOCH__STATE__SERVING,
                                            .number_by = ""}},
                                .epoch_count = 1,
                                .numberings = {{.scheme = 1}},
                                .numbering_count = 1};
}

const struct epoch_view *client_epoch(const struct client_view *client, int64_t epoch)
{
    for (uint32_t i = 0; i < client->epoch_count; i++) {
        if (client->epochs[i].epoch == epoch)
            return &client->epochs[i];
    }
    return NULL;
}

const struct numbering *client_numbering(const struct client_view *client,
                                         const struct epoch_view *epoch)
{
    assert(epoch->numbering < client->numbering_count);
    return &client->numberings[epoch->numbering];
}

uint32_t client_shards_each(const struct client_view *client, const struct epoch_view *epoch)
{
    return client_numbering(client, epoch)->scheme / client->shard_count;
}

uint32_t client_queue_shard(const struct client_view *client, const struct epoch_view *epoch,
                            uint32_t shard)
{
    return shard / client_shards_each(client, epoch);
}

/* --- what is known --- */

struct clients *clients_new(struct store *store, const struct clock *clock)
{
    struct clients *clients = mem_zero(sizeof(*clients));

    object_begin(clients, CLIENTS_MAGIC);
    clients->store = store;
    clients->clock = clock;
    pthread_mutex_init(&clients->lock, NULL);
    unreadable_init(&clients->unreadable);
    return clients;
}

void clients_free(struct clients *clients)
{
    if (!clients)
        return;
    object_check(clients, CLIENTS_MAGIC);
    for (uint32_t i = 0; i < clients->known_count; i++)
        client_unref(&clients->known[i].view->view);
    pthread_mutex_destroy(&clients->lock);
    object_end(clients, CLIENTS_MAGIC);
    free(clients);
}

static struct known_client *find_known(struct clients *clients, const char *name)
{
    for (uint32_t i = 0; i < clients->known_count; i++) {
        if (strcmp(clients->known[i].view->view.name, name) == 0)
            return &clients->known[i];
    }
    return NULL;
}

/* A reference, or NULL; *is_fresh: it was looked at lately. */
static const struct client_view *look(struct clients *clients, const char *name, bool *is_fresh)
{
    const struct client_view *view = NULL;
    struct known_client *known;

    pthread_mutex_lock(&clients->lock);
    known = find_known(clients, name);
    *is_fresh = known && clock_mono_us(clients->clock) - known->looked_us <
                             (int64_t)CLIENT_REFRESH_MS * MS_US;
    if (known)
        view = client_ref(known->view);
    pthread_mutex_unlock(&clients->lock);
    return view;
}

/* Puts a view in the place of an older one; the newest, with a reference for the caller. */
static const struct client_view *keep(struct clients *clients, struct held_view *view,
                                      int64_t looked_us)
{
    const struct client_view *newest;
    struct known_client *known;

    pthread_mutex_lock(&clients->lock);
    assert(clients->known_count <= CLIENT_COUNT_MAX);
    unreadable_forget(&clients->unreadable, view->view.name);
    known = find_known(clients, view->view.name);
    if (!known && clients->known_count < CLIENT_COUNT_MAX) {
        known = &clients->known[clients->known_count++];
        *known = (struct known_client){.view = view, .looked_us = looked_us};
        client_ref(view);
    } else if (known && known->view->view.state_no <= view->view.state_no) {
        assert(known->view->view.id == view->view.id);
        client_unref(&known->view->view);
        *known = (struct known_client){.view = view, .looked_us = looked_us};
        client_ref(view);
    }
    newest = client_ref(known ? known->view : view);
    pthread_mutex_unlock(&clients->lock);
    client_unref(&view->view);
    return newest;
}

static void tell_unreadable(struct clients *clients, const char *name, const struct err *err)
{
    pthread_mutex_lock(&clients->lock);
    unreadable_note(&clients->unreadable, name, err ? err->text : "");
    pthread_mutex_unlock(&clients->lock);
}

int clients_find(struct clients *clients, const char *name, bool fresh,
                 const struct client_view **client, struct err *err)
{
    struct client_loading loading = {.name = name};
    int64_t looked_us = clock_mono_us(clients->clock);
    bool is_fresh;
    int rc;

    object_check(clients, CLIENTS_MAGIC);
    *client = look(clients, name, &is_fresh);
    if (is_fresh && !fresh)
        return 0;
    loading.known_state = *client ? (*client)->state_no : 0;
    rc = store_read(clients->store, client_load, &loading, err);
    if (!rc && loading.is_same)
        loading.view = (struct held_view *)held_of(*client);
    else if (!rc && !loading.view)
        rc =
            err_set(err, ERR_NOT_FOUND, "there is no client %s: its first document makes it", name);
    if (rc == ERR_CORRUPT)
        tell_unreadable(clients, name, err);
    if (rc) {
        held_view_free(loading.view);
        if (*client && !fresh && rc == ERR_UNAVAILABLE)
            return 0; /* what is known is better than nothing: writes confirm it */
        client_unref(*client);
        *client = NULL;
        return rc;
    }
    if (!loading.is_same)
        client_unref(*client);
    *client = keep(clients, loading.view, looked_us);
    return 0;
}

/* --- making one --- */

int client_check_name(const char *name, struct err *err)
{
    size_t size = strlen(name);
    bool ok = size >= 1 && size <= CLIENT_NAME_SIZE_MAX;

    for (size_t i = 0; i < size && ok; i++)
        ok = islower((unsigned char)name[i]) || isdigit((unsigned char)name[i]) || name[i] == '-';
    if (ok)
        return 0;
    return err_set(err, ERR_INVALID, "client: expected 1 to %d characters of a-z, 0-9 and dash",
                   CLIENT_NAME_SIZE_MAX);
}

struct making {
    const char *name;
    uint32_t shard_count;
    int64_t now_us;
    bool made;
};

int client_make(struct store_tx *tx, const char *name, uint32_t shard_count, int64_t now_us,
                int64_t *id, struct err *err)
{
    struct store_value params[] = {STORE_V_STRING(name), STORE_V_INT(0), STORE_V_INT(shard_count),
                                   STORE_V_INT(now_us)};
    int64_t count = 0;
    int rc = client_check_name(name, err);

    assert(shard_count >= 1 && shard_count <= CLIENT_SHARD_COUNT_MAX);
    if (rc)
        return rc;
    rc = store_find_integer(tx, "SELECT COUNT(*) FROM registry_client", NULL, 0, &count, err);
    if (!rc && count >= CLIENT_COUNT_MAX)
        return err_set(err, ERR_LIMIT, "there are %d clients already, which is the limit",
                       CLIENT_COUNT_MAX);
    if (!rc)
        rc = store_next_seq(tx, "registry/clients", 1, &params[1].integer, err);
    if (!rc)
        rc = store_exec(tx,
                        "INSERT INTO registry_client (name, id, shard_count, writing_epoch, "
                        "serving_epoch, state_no, created_us) VALUES ($1, $2, $3, 1, 1, 1, $4)",
                        params, 4, NULL, err);
    if (!rc) {
        const struct store_value epoch[] = {
            params[1], STORE_V_INT(TORG__V1__INDEX_MAP__EPOCH__STATE__SERVING), params[3]};

        rc = store_exec(tx,
                        "INSERT INTO registry_epoch (client_id, epoch, state, started_us) "
                        "VALUES ($1, 1, $2, $3)",
                        epoch, 3, NULL, err);
    }
    *id = params[1].integer;
    return rc;
}

static int make_client(struct store_tx *tx, void *arg, struct err *err)
{
    struct making *making = arg;
    int64_t there = 0;
    int rc = store_find_integer(tx, "SELECT id FROM registry_client WHERE name = $1",
                                &STORE_V_STRING(making->name), 1, &there, err);

    making->made = false;
    if (rc || there)
        return rc;
    rc = client_make(tx, making->name, making->shard_count, making->now_us, &there, err);
    making->made = !rc;
    return rc;
}

int clients_obtain(struct clients *clients, const char *name, uint32_t shard_count,
                   const struct client_view **client, bool *made, struct err *err)
{
    struct making making = {
        .name = name, .shard_count = shard_count, .now_us = clock_wall_us(clients->clock)};
    int rc = clients_find(clients, name, false, client, err);

    object_check(clients, CLIENTS_MAGIC);
    assert(shard_count >= 1 && shard_count <= CLIENT_SHARD_COUNT_MAX);
    if (rc == ERR_NOT_FOUND) {
        rc = client_check_name(name, err);
        if (!rc)
            rc = store_write(clients->store, make_client, &making, err);
        if (rc == ERR_EXISTS) /* somebody was faster */
            rc = 0;
        if (!rc)
            rc = clients_find(clients, name, true, client, err);
    }
    if (made)
        *made = making.made;
    return rc;
}

/* --- all of them --- */

static int read_names(struct store *store, struct arena *arena, const char **names, size_t *count,
                      struct err *err)
{
    struct store_rows rows =
        store_read_rows(store, "SELECT name FROM registry_client ORDER BY id", NULL, 0);

    for (*count = 0; *count < CLIENT_COUNT_MAX && store_next(&rows); ++*count)
        names[*count] = arena_text(arena, rows.columns[0].bytes);
    return store_rows_end(&rows, err);
}

int clients_list(struct clients *clients, bool fresh, struct arena *arena,
                 const struct client_view ***list, size_t *count, const char *const **unreadable,
                 struct err *err)
{
    const char **names = arena_array(arena, CLIENT_COUNT_MAX, sizeof(*names));
    const struct client_view **views;
    const char **passed;
    size_t passed_count = 0;
    size_t done = 0;
    size_t name_count;
    int rc = read_names(clients->store, arena, names, &name_count, err);

    views = arena_array(arena, name_count + 1, sizeof(const struct client_view *));
    passed = arena_array(arena, name_count + 1, sizeof(*passed));
    for (size_t i = 0; i < name_count && !rc; i++) {
        rc = clients_find(clients, names[i], fresh, &views[done], err);
        done += !rc;
        if (rc == ERR_CORRUPT) { /* told, and no reason to keep the others waiting */
            passed[passed_count++] = names[i];
            rc = 0;
        }
    }
    if (rc) {
        while (done > 0)
            client_unref(views[--done]);
    }
    *list = views;
    *count = done;
    if (unreadable)
        *unreadable = passed;
    return rc;
}

/* --- inside transactions --- */

int client_confirm(struct store_tx *tx, const struct client_view *client, struct err *err)
{
    int64_t state_no = 0;
    int rc = store_find_integer(tx, "SELECT state_no FROM registry_client WHERE id = $1",
                                STORE_WITH(STORE_V_INT(client->id)), &state_no, err);

    if (!rc && state_no != client->state_no)
        rc = err_set(err, ERR_CONFLICT, "epochs or fields of client %s have changed", client->name);
    return rc;
}

int client_touch(struct store_tx *tx, int64_t client_id, struct err *err)
{
    return store_exec(tx, "UPDATE registry_client SET state_no = state_no + 1 WHERE id = $1",
                      STORE_WITH(STORE_V_INT(client_id)), NULL, err);
}
