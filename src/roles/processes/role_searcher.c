/* SPDX-License-Identifier: Apache-2.0 */
/* role_searcher.c - the role searcher: indexes that follow their topics, and searches over them. */
#include "base/text.h"
#include "inspect/doors/searcher_door.h"
#include "inspect/service.h"
#include "inspect/trace/change.h"
#include "inspect/verify/rebuild.h"
#include "registry/receiving/rows.h"
#include "roles/processes/peer_settings.h"
#include "roles/processes/process.h"
#include "searcher/bounds.h"
#include "searcher/front/announce.h"
#include "searcher/replica/lender.h"
#include "searcher/service.h"
#include "searcher/service_plain.h"

/* One a process; the server borrows them for its life. */
static struct searcher searcher;
static struct rpc_service service;
static struct rest_service plain;
static struct inspect inspect;
static struct rpc_service inspection;
static struct rpc_service freshness;
static struct follower *follower;
static struct lender *lender;
static struct peers *peers;
static struct announcer *announcer;
static struct workers *workers;
static bool was_ready; /* callers have been answered since the start */

/* ---- settings ---- */

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
                           "searcher.shards: \"%s\" is not a shard's number (0 to %d)", word,
                           SEARCHER_SHARD_COUNT_MAX - 1);
        made[(*count)++] = (uint32_t)shard;
        *shards = made;
    }
    return 0;
}

/* ---- what the registry knows ---- */

static int key_state(void *arg, int64_t client_id, const char *pk, enum key_state *state,
                     int64_t *version, struct err *err)
{
    struct arena *arena = arena_new();
    struct row row = {0};
    bool found;
    int rc = row_read(arg, client_id, bytes_of(pk), false, arena, &row, &found, err);

    *state = !found ? KEY_UNKNOWN : row.status == ROW_ALIVE ? KEY_ALIVE : KEY_DELETED;
    *version = row.order.version;
    arena_free(arena);
    return rc;
}

/* A shard that is past a write may have refused it. */
static int is_found(void *arg, const char *token, struct arena *arena, bool *is_searchable,
                    struct err *err)
{
    struct change_progress progress = {.next = 0};
    struct change change;
    int rc = change_parse(arg, bytes_of(token), &change, err);

    if (!rc)
        rc = change_look(arg, &change, arena, &progress, err);
    *is_searchable = !rc && progress.next == CHANGE_STAGE_COUNT;
    return rc;
}

/* ---- life ---- */

static int start_announcer(struct process *process, struct err *err)
{
    struct announcer_options options = {.coord = process->backends.coord, .clock = process->clock};
    int rc = own_address(process, &options.address, err);

    return rc || !options.address ? rc : announcer_start(&options, &announcer, err);
}

int role_searcher_start(struct process *process, struct err *err)
{
    struct follower_options options = {
        .topics = process->backends.topics,
        .coord = process->backends.coord,
        .clock = process->clock,
        .checkpoint_us = config_number(process->config, SETTING_SEARCHER_CHECKPOINT)};
    uint32_t *shards;
    int rc = process_open_registry(process, err); /* the map is announced */

    rc = rc ? rc : process_open_catalog(process, err); /* offers that differ are composed again */
    rc = rc ? rc : read_shards(process, &shards, &options.shard_count, err);
    rc = rc ? rc
            : peer_settings_open(process, SETTING_SEARCHER_REPLICAS, SETTING_SEARCHER_REPLICAS_KEY,
                                 &peers, err);
    if (!rc) {
        options.shards = shards;
        options.dir = data_dir_path(process->dir.path, "index", process->arena);
        options.lender = lender = lender_new(&(struct lender_options){
            .store = process->backends.store,
            .blob = process->backends.blob,
            .clock = process->clock,
            .dir = data_dir_path(process->dir.path, "columns", process->arena)});
        workers = gather_workers_new(workers_core_count(), process->clock);
        rc = follower_start(&options, &follower, err);
    }
    if (!rc && process->backends.blob) /* a command is content with what is on the disk */
        lender_start(lender, follower);
    rc = rc ? rc : start_announcer(process, err);
    if (rc)
        return rc;
    searcher = (struct searcher){
        .front = {.follower = follower,
                  .gatherer = {.workers = workers, .peers = peers, .clock = process->clock},
                  .clock = process->clock,
                  .queries = query_log_new(process->clock),
                  .deadline_us = config_number(process->config, SETTING_SEARCHER_DEADLINE)},
        .store = process->backends.store,
        .key_state = key_state,
        .key_state_arg = process->backends.store,
        .is_found = is_found,
        .is_found_arg = &inspect};
    process->front = &searcher.front;
    service = searcher_service(&searcher);
    process_add_services(process, &service, 1);
    plain = plain_search_service(&searcher);
    if (process->server)
        server_add_rest(process->server, &plain);
    inspect = (struct inspect){.store = process->backends.store,
                               .clients = process->clients,
                               .dictionaries = process->dictionaries,
                               .clock = process->clock,
                               .door = searcher_door(&searcher),
                               .rebuilds = rebuilds_new(),
                               .topics = process->backends.topics,
                               .catalog = catalog_in_use,
                               .catalog_arg = process->catalog,
                               .tombstone_life_us =
                                   config_number(process->config, SETTING_REGISTRY_TOMBSTONE_LIFE)};
    process->inspect = &inspect;
    process->door = inspect.door;
    inspection = inspect_service(&inspect);
    process_add_services(process, &inspection, 1);
    freshness = freshness_service(&inspect);
    process_add_services(process, &freshness, 1);
    if (process->server)
        server_add_get(process->server, FRESHNESS_ADDRESS, FRESHNESS_METHOD, FRESHNESS_FIELD);
    return 0;
}

void role_searcher_stop(struct process *process)
{
    (void)process;
    announcer_stop(announcer); /* nobody asks it from now on */
    rebuilds_free(inspect.rebuilds);
    inspect.rebuilds = NULL;
    announcer = NULL;
    workers_free(workers); /* calls to others that nobody waits for end with it */
    peers_close(peers);
    lender_stop(lender);
    follower_stop(follower);
    lender_free(lender);
    lender = NULL;
    query_log_free(searcher.front.queries);
    searcher.front.queries = NULL;
    workers = NULL;
    peers = NULL;
    follower = NULL;
}

/* While it starts, every index has to be there, caught up; afterwards the trouble of one, or its
 * being new, does not take the searches over the others away, nor does an old state. */
int role_searcher_check(struct process *process, bool *is_serving, struct err *err)
{
    struct front_state state;
    int rc = front_check(&searcher.front, &state, err);

    (void)process;
    *is_serving = state.answered_count + state.old_count > 0 &&
                  ((!state.opening_count && !state.old_count) || was_ready);
    was_ready |= !rc || *is_serving;
    return rc;
}
