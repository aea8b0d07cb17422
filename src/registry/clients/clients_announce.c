/* SPDX-License-Identifier: Apache-2.0 */
/* clients_announce.c - the map of all indexes, from the store to a register of coord: clients.h. */
#include <string.h>

#include "codec/message.h"
#include "coord/bounds.h"
#include "registry/bounds.h"
#include "registry/clients/clients.h"

enum { ATTEMPT_COUNT_MAX = 20 };

static void tell_numbers(const struct numbering *numbering, Torg__V1__IndexMap__Epoch *epoch,
                         struct arena *arena)
{
    const uint32_t numbers[] = {numbering->kind, numbering->scheme, numbering->rebuild};

    epoch->space = numbering->space;
    epoch->shard_count = numbering->scheme;
    epoch->n_numbers = sizeof(numbers) / sizeof(numbers[0]);
    epoch->numbers = arena_array(arena, epoch->n_numbers, sizeof(numbers[0]));
    memcpy(epoch->numbers, numbers, sizeof(numbers));
}

static Torg__V1__IndexMap__Client *client_message(const struct client_view *view,
                                                  struct arena *arena)
{
    Torg__V1__IndexMap__Client *client = MESSAGE_NEW(index_map__client, arena);

    client->name = arena_strdup(arena, view->name);
    client->shard_count = view->shard_count;
    client->id = view->id;
    client->n_epochs = view->epoch_count;
    client->epochs = arena_array(arena, view->epoch_count + 1, sizeof(Torg__V1__IndexMap__Epoch *));
    for (uint32_t i = 0; i < view->epoch_count; i++) {
        client->epochs[i] = MESSAGE_NEW(index_map__epoch, arena);
        client->epochs[i]->epoch = view->epochs[i].epoch;
        client->epochs[i]->state = view->epochs[i].state;
        tell_numbers(client_numbering(view, &view->epochs[i]), client->epochs[i], arena);
    }
    return client;
}

/* One that cannot be read now stays as it was told before: searchers throw away what the map has
 * not. */
static void keep_told(Torg__V1__IndexMap *map, struct bytes told, const char *const *names,
                      struct arena *arena)
{
    const Torg__V1__IndexMap *before;
    ProtobufCMessage *message;

    if (!*names || message_decode(told, &torg__v1__index_map__descriptor, arena, &message, NULL))
        return;
    before = (const Torg__V1__IndexMap *)message;
    for (; *names; names++)
        for (size_t i = 0; i < before->n_clients; i++)
            if (strcmp(before->clients[i]->name, *names) == 0 && map->n_clients < CLIENT_COUNT_MAX)
                map->clients[map->n_clients++] = before->clients[i];
}

static int make_map(struct clients *clients, struct bytes told, struct arena *arena,
                    struct buf *out, struct err *err)
{
    Torg__V1__IndexMap *map = MESSAGE_NEW(index_map, arena);
    const struct client_view **views;
    const char *const *unreadable;
    size_t count;
    int rc = clients_list(clients, true, arena, &views, &count, &unreadable, err);

    if (rc)
        return rc;
    map->clients = arena_array(arena, CLIENT_COUNT_MAX, sizeof(Torg__V1__IndexMap__Client *));
    map->n_clients = count;
    for (size_t i = 0; i < count; i++) {
        map->clients[i] = client_message(views[i], arena);
        client_unref(views[i]);
    }
    keep_told(map, told, unreadable, arena);
    message_encode(&map->base, out);
    if (buf_failed(out))
        return err_set(err, ERR_LIMIT, "the map of %zu clients is larger than a register", count);
    return 0;
}

/* The register is read before the store: when its version is still that, what the store had is not
 * older than what is replaced. */
static int announce_once(struct clients *clients, struct coord *coord, struct err *err)
{
    struct arena *arena = arena_new();
    struct buf there = BUF_INIT(COORD_VALUE_SIZE_MAX);
    struct buf map = BUF_INIT(COORD_VALUE_SIZE_MAX);
    uint64_t version = 0;
    int rc = coord_get(coord, INDEX_MAP_KEY, &there, &version, err);

    if (rc == ERR_NOT_FOUND)
        rc = 0;
    if (!rc)
        rc = make_map(clients, buf_bytes(&there), arena, &map, err);
    if (!rc && (version == 0 || !bytes_equal(buf_bytes(&there), buf_bytes(&map))))
        rc = coord_set(coord, INDEX_MAP_KEY, buf_bytes(&map), version, NULL, err);
    buf_release(&map);
    buf_release(&there);
    arena_free(arena);
    return rc;
}

int clients_announce(struct clients *clients, struct coord *coord, struct err *err)
{
    int rc = ERR_CONFLICT;

    for (int i = 0; i < ATTEMPT_COUNT_MAX && rc == ERR_CONFLICT; i++)
        rc = announce_once(clients, coord, err);
    return rc;
}
