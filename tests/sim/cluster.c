/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster.c - the simulation of several machines (cluster.h): one life a seed, as sim.h runs it.
 */
#include "sim/cluster.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "catalog/versions.h"
#include "codec/json_type.h"
#include "google/protobuf/timestamp.pb-c.h"
#include "sim/sim.h"
#include "sim/sim_migrated.h"
#include "store/migrate.h"

enum {
    STEP_COUNT = 600, /* of the whole crowd */
    RUN_S = 20,       /* of faults */
    CALM_S = 2,       /* before and after */
    LIFE_S = 3600,    /* then it does not get on */
    TEXT_SIZE = 500,
    AUDITED_SHARE = 3,  /* of so many seeds one has an auditor, which costs */
    DRIPPING_SHARE = 4, /* of so many seeds one has searchers that are slow to follow */
};

/* Where the books are is what differs. */
static const char catalog_form[] =
    "{\"defaults\": {\"policy\": {\"titleMin\": 3, \"titleMax\": 50, \"descriptionMax\": 300,"
    "  \"photosMax\": 3, \"currencies\": [\"RUB\"], \"price\": \"ALLOWED\","
    "  \"lifetimeDays\": 30}},"
    " \"categories\": [{\"id\": \"goods\", \"name\": {\"en\": \"Goods\"}},"
    "  {\"id\": \"media\", \"name\": {\"en\": \"Media\"}},"
    "  {\"id\": \"books\", \"parent\": \"%s\", \"name\": {\"en\": \"Books\"}}]}";
static const char *const parents[CATALOG_COUNT] = {"goods", "media"};

static pthread_mutex_t the_model_lock = PTHREAD_MUTEX_INITIALIZER;

void model_lock(void)
{
    pthread_mutex_lock(&the_model_lock);
}

void model_unlock(void)
{
    pthread_mutex_unlock(&the_model_lock);
}

int64_t cluster_now_us(const struct cluster *cluster)
{
    return clock_mono_us(sim_net_clock(cluster->net));
}

bool cluster_drips(const struct cluster *cluster)
{
    return cluster->seed % DRIPPING_SHARE == 2 && sim_has("dripping");
}

void cluster_note(const char *format, ...)
{
    char text[TEXT_SIZE];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    sim_trace("%s", text);
}

void cluster_fail(const char *format, ...)
{
    char text[TEXT_SIZE];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    sim_fail("%s", text);
}

static void open_catalogs(struct cluster *cluster)
{
    struct store *store = sim_net_store(cluster->net);
    char json[sizeof(catalog_form) + TEXT_SIZE];
    int64_t version;
    struct err err;

    for (size_t i = 0; i < CATALOG_COUNT; i++) {
        snprintf(json, sizeof(json), catalog_form, parents[i]);
        if (catalog_from_json(bytes_of(json), NULL, &cluster->catalogs[i], &err))
            cluster_fail("%s", err.text);
    }
    if (store_migrate(store, NULL, &err) ||
        versions_add(store, cluster->catalogs[0], 0, "olga",
                     clock_wall_us(sim_net_clock(cluster->net)), &version, &err))
        cluster_fail("%s", err.text);
}

static void open_cluster(struct cluster *cluster)
{
    static const char *const names[MACHINE_COUNT] = {"back-1", "back-2", "search-1", "search-2"};
    struct err err;

    if (sim_net_open(cluster->seed, NULL, NULL, &cluster->net, &err))
        cluster_fail("%s", err.text);
    open_catalogs(cluster);
    judge_watch(cluster);
    if (cluster_drips(cluster))
        sim_net_drip(cluster->net);
    for (size_t i = 0; i < MACHINE_COUNT; i++) {
        const struct stages_options options = {.is_searcher = i >= BACK_COUNT,
                                               .has_auditor = cluster->seed % AUDITED_SHARE == 1,
                                               .shard_count = CLUSTER_SHARD_COUNT};

        machine_init(&cluster->machines[i], cluster->net, names[i], "disk", &options);
        machine_boot(&cluster->machines[i]);
    }
}

/* Nothing is closed: the life ends with it, as it does for the dead. */
static void live(void *shared, unsigned life)
{
    static struct cluster cluster;

    (void)shared, (void)life;
    setenv("TMPDIR", ".", 1); /* of the store's file, which is no machine's */
    log_setup(LOG_FORMAT_HUMAN, LOG_LEVEL_WARN, STDERR_FILENO);
    cluster.seed = sim_seed();
    cluster.rng = rng_seeded(sim_seed());
    cluster.steps_left = sim_steps();
    open_cluster(&cluster);
    crowd_start(&cluster);
    clock_sleep(sim_net_clock(cluster.net), CALM_S * SECOND_US);
    faults_run(&cluster, RUN_S * SECOND_US);
    clock_sleep(sim_net_clock(cluster.net), CALM_S * SECOND_US);
    crowd_stop(&cluster);
    sim_faults_none();
    judge_at_rest(&cluster);
    cluster_note("%u acknowledged, %u not answered, %u searches, %u answered by old states",
                 cluster.model.done_count, cluster.model.unsure_count, cluster.model.search_count,
                 cluster.model.old_count);
}

/* Descriptions of all messages are read when the first type is asked for. */
static void prepare(void)
{
    (void)json_type_get(&google__protobuf__timestamp__descriptor);
}

int main(int argc, char **argv)
{
    static const struct sim_program program = {.name = "cluster",
                                               .life = live,
                                               .prepare = prepare,
                                               .prepare_all = sim_migrated_prepare,
                                               .step_count = STEP_COUNT,
                                               .life_count_max = 1,
                                               .life_us_max = LIFE_S * (int64_t)SECOND_US};

    return sim_main(argc, argv, &program);
}
