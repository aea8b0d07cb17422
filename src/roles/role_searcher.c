/* SPDX-License-Identifier: Apache-2.0 */
/* role_searcher.c - the role searcher: indexes that follow their topics, and searches over them. */
#include <string.h>

#include "base/file.h"
#include "base/limits.h"
#include "base/text.h"
#include "inspect/rebuild.h"
#include "inspect/searcher_door.h"
#include "inspect/service.h"
#include "registry/rows.h"
#include "roles/process.h"
#include "searcher/service.h"

enum { KEY_SIZE_MAX = 4096 };

/* One a process; the server borrows them for its life. */
static struct searcher searcher;
static struct rpc_service service;
static struct inspect inspect;
static struct rpc_service inspection;
static struct follower *follower;
static struct peers *peers;
static struct workers *workers;

/* ---- settings ---- */

/* The next word of a list; NULL: there is none. */
static const char *next_word(const char **list, struct arena *arena)
{
    size_t blank = strspn(*list, " ,");
    size_t size = strcspn(*list + blank, " ,");
    const char *word;

    if (!size)
        return NULL;
    word = arena_text(arena, bytes_make(*list + blank, size));
    *list += blank + size;
    return word;
}

/* NULL in *shards: all. */
static int read_shards(struct process *process, uint32_t **shards, uint32_t *count, struct err *err)
{
    const char *list = config_text(process->config, SETTING_SEARCHER_SHARDS);
    uint32_t *made = arena_array(process->arena, SEARCHER_SHARD_COUNT_MAX, sizeof(*made));
    const char *word;

    *shards = NULL;
    *count = 0;
    for (word = next_word(&list, process->arena); word; word = next_word(&list, process->arena)) {
        uint64_t shard;

        if (!text_to_u64(bytes_of(word), &shard) || shard >= SEARCHER_SHARD_COUNT_MAX ||
            *count == SEARCHER_SHARD_COUNT_MAX)
            return err_set(err, ERR_INVALID,
                           "searcher.shards: \"%s\" is no number of a shard (0 to %d)", word,
                           SEARCHER_SHARD_COUNT_MAX - 1);
        made[(*count)++] = (uint32_t)shard;
        *shards = made;
    }
    return 0;
}

static int read_key(struct process *process, const char **key, struct err *err)
{
    const char *path = config_text(process->config, SETTING_SEARCHER_REPLICAS_KEY);
    struct buf content = BUF_INIT(KEY_SIZE_MAX);
    const char *text;
    int rc = 0;

    *key = NULL;
    if (*path)
        rc = file_read(path, &content, err);
    if (!rc && *path) {
        text = buf_text(&content);
        *key = next_word(&text, process->arena);
    }
    if (!rc && *key)
        ((char *)*key)[strcspn(*key, "\r\n")] = 0;
    buf_release(&content);
    return rc ? err_wrap(err, "searcher.replicas_key") : 0;
}

static int open_peers(struct process *process, struct err *err)
{
    const char *list = config_text(process->config, SETTING_SEARCHER_REPLICAS);
    const char *certificate = config_text(process->config, SETTING_TLS_CERTIFICATE);
    const char **urls = arena_array(process->arena, SEARCHER_PEER_COUNT_MAX + 1, sizeof(urls[0]));
    struct peers_options options = {.urls = urls, .ca_file = *certificate ? certificate : NULL};
    const char *word;
    int rc = read_key(process, &options.key, err);

    for (word = next_word(&list, process->arena); word && !rc;
         word = next_word(&list, process->arena)) {
        if (strncmp(word, "http://", 7) != 0 && strncmp(word, "https://", 8) != 0)
            rc = err_set(err, ERR_INVALID,
                         "searcher.replicas: \"%s\" is no address such as http://10.0.0.2:8080",
                         word);
        else if (options.count == SEARCHER_PEER_COUNT_MAX)
            rc = err_set(err, ERR_INVALID, "searcher.replicas: at most %d are asked",
                         SEARCHER_PEER_COUNT_MAX);
        else
            urls[options.count++] = word;
    }
    return rc || !options.count ? rc : peers_open(&options, &peers, err);
}

/* ---- what the registry knows ---- */

struct key_look {
    int64_t client_id;
    const char *pk;
    enum key_state state;
    int64_t version;
};

static int look_at_row(struct store_tx *tx, void *arg, struct err *err)
{
    struct key_look *look = arg;
    struct arena *arena = arena_new();
    struct row row = {0};
    bool found = false;
    int rc = row_find(tx, look->client_id, bytes_of(look->pk), false, arena, &row, &found, err);

    look->state = !found ? KEY_UNKNOWN : row.status == ROW_ALIVE ? KEY_ALIVE : KEY_DELETED;
    look->version = row.order.version;
    arena_free(arena);
    return rc;
}

static int key_state(void *arg, int64_t client_id, const char *pk, enum key_state *state,
                     int64_t *version, struct err *err)
{
    struct key_look look = {.client_id = client_id, .pk = pk};
    int rc = store_read(arg, look_at_row, &look, err);

    *state = look.state;
    *version = look.version;
    return rc;
}

/* ---- life ---- */

int role_searcher_start(struct process *process, struct err *err)
{
    struct follower_options options = {
        .topics = process->backends.topics,
        .coord = process->backends.coord,
        .clock = process->clock,
        .checkpoint_us = config_number(process->config, SETTING_SEARCHER_CHECKPOINT)};
    uint32_t *shards;
    int rc = process_open_registry(process, err); /* the map is announced */

    rc = rc ? rc : read_shards(process, &shards, &options.shard_count, err);
    rc = rc ? rc : open_peers(process, err);
    if (!rc) {
        options.shards = shards;
        options.dir = data_dir_path(process->dir.path, "index", process->arena);
        workers = workers_new("shards", SEARCHER_ASK_COUNT_MAX, SEARCHER_ASK_QUEUE_MAX, NULL);
        rc = follower_start(&options, &follower, err);
    }
    if (rc) {
        role_searcher_stop(process); /* a role that did not start is not stopped by others */
        return rc;
    }
    searcher = (struct searcher){.front = {.follower = follower,
                                           .gatherer = {.workers = workers, .peers = peers},
                                           .clock = process->clock},
                                 .store = process->backends.store,
                                 .key_state = key_state,
                                 .key_state_arg = process->backends.store};
    process->front = &searcher.front;
    service = searcher_service(&searcher);
    server_add_service(process->server, &service);
    inspect = (struct inspect){.store = process->backends.store,
                               .clients = process->clients,
                               .dictionaries = process->dictionaries,
                               .clock = process->clock,
                               .door = searcher_door(&searcher),
                               .rebuilds = rebuilds_new()};
    process->door = inspect.door;
    inspection = inspect_service(&inspect);
    server_add_service(process->server, &inspection);
    return 0;
}

void role_searcher_stop(struct process *process)
{
    (void)process;
    rebuilds_free(inspect.rebuilds);
    inspect.rebuilds = NULL;
    workers_free(workers); /* calls to others that nobody waits for end with it */
    peers_close(peers);
    follower_stop(follower);
    workers = NULL;
    peers = NULL;
    follower = NULL;
}
