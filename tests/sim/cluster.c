/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster.c - a simulation of several machines (cluster.h): reads the options and runs the seeds.
 *
 *     cluster [--seed N] [--seeds A..B] [--run-ms N] [--trace]
 */
#include "sim/cluster.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/log.h"
#include "test_dir.h"

enum { HISTORY_COUNT = 600, LINE_SIZE = 240, RUN_MS = 15000, CALM_MS = 2000 };

static const char catalog_json[] =
    "{\"defaults\": {\"policy\": {\"titleMin\": 3, \"titleMax\": 50, \"descriptionMax\": 300,"
    "  \"photosMax\": 3, \"currencies\": [\"RUB\"], \"price\": \"ALLOWED\","
    "  \"lifetimeDays\": 30}},"
    " \"categories\": [{\"id\": \"books\", \"name\": {\"en\": \"Books\"}}]}";

static pthread_mutex_t the_model_lock = PTHREAD_MUTEX_INITIALIZER;

static struct {
    pthread_mutex_t lock;
    char lines[HISTORY_COUNT][LINE_SIZE];
    size_t count;
    bool is_traced;
    uint64_t seed;
    int64_t start_us;
} history = {.lock = PTHREAD_MUTEX_INITIALIZER};

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

void cluster_note(const char *format, ...)
{
    int64_t at_us = clock_mono_us(clock_system());
    va_list args;
    char *line;
    int size;

    pthread_mutex_lock(&history.lock);
    line = history.lines[history.count++ % HISTORY_COUNT];
    size = snprintf(line, LINE_SIZE, "%8.3f ", (double)(at_us - history.start_us) / SECOND_US);
    va_start(args, format);
    vsnprintf(line + size, (size_t)(LINE_SIZE - size), format, args);
    va_end(args);
    if (history.is_traced)
        fprintf(stderr, "%s\n", line);
    pthread_mutex_unlock(&history.lock);
}

void cluster_fail(const char *format, ...)
{
    va_list args;

    pthread_mutex_lock(&history.lock);
    for (size_t i = history.count > HISTORY_COUNT ? history.count - HISTORY_COUNT : 0;
         i < history.count && !history.is_traced; i++)
        printf("# %s\n", history.lines[i % HISTORY_COUNT]);
    printf("not ok - seed %" PRIu64 ": ", history.seed);
    va_start(args, format);
    vprintf(format, args);
    va_end(args);
    printf("\n# replay: cluster --seed %" PRIu64 " --trace\n", history.seed);
    fflush(stdout);
    _exit(1);
}

static void open_cluster(struct cluster *cluster, const char *dir)
{
    static const char *const names[MACHINE_COUNT] = {"back-1", "back-2", "search-1", "search-2"};
    struct err err;

    if (catalog_from_json(bytes_of(catalog_json), NULL, &cluster->catalog, &err) ||
        sim_net_open(cluster->seed, NULL, NULL, &cluster->net, &err))
        cluster_fail("%s", err.text);
    judge_watch(cluster);
    for (size_t i = 0; i < MACHINE_COUNT; i++) {
        const struct stages_options options = {.is_searcher = i >= BACK_COUNT,
                                               .catalog = cluster->catalog,
                                               .shard_count = CLUSTER_SHARD_COUNT};

        machine_init(&cluster->machines[i], cluster->net, names[i], dir, &options);
        machine_boot(&cluster->machines[i]);
    }
}

static void run_seed(uint64_t seed, int64_t run_ms, const char *dir)
{
    static struct cluster cluster; /* the dead may look at it after the seed's end */

    memset(&cluster, 0, sizeof(cluster));
    cluster.seed = seed;
    cluster.rng = rng_seeded(seed);
    history.seed = seed;
    history.count = 0;
    history.start_us = clock_mono_us(clock_system());
    open_cluster(&cluster, dir);
    crowd_start(&cluster);
    clock_sleep(sim_net_clock(cluster.net), CALM_MS * MS_US);
    faults_run(&cluster, run_ms * MS_US);
    clock_sleep(sim_net_clock(cluster.net), CALM_MS * MS_US);
    crowd_stop(&cluster);
    judge_at_rest(&cluster);
    for (size_t i = 0; i < MACHINE_COUNT; i++)
        machine_stop(&cluster.machines[i]);
    sim_net_close(cluster.net);
    printf("ok - seed %" PRIu64 ": %u acknowledged, %u not answered, %u searches, %.1f s\n", seed,
           cluster.model.done_count, cluster.model.unsure_count, cluster.model.search_count,
           (double)(clock_mono_us(clock_system()) - history.start_us) / SECOND_US);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    uint64_t first = 1, last = 1;
    long run_ms = RUN_MS;
    char dir[TEST_DIR_SIZE];
    struct err err;

    for (int i = 1; i < argc; i++) {
        bool has_value = i + 1 < argc;

        if (strcmp(argv[i], "--trace") == 0)
            history.is_traced = true;
        else if (has_value && strcmp(argv[i], "--seed") == 0)
            first = last = strtoull(argv[++i], NULL, 10);
        else if (has_value && strcmp(argv[i], "--run-ms") == 0)
            run_ms = strtol(argv[++i], NULL, 10);
        else if (has_value && strcmp(argv[i], "--seeds") == 0 &&
                 sscanf(argv[i + 1], "%" SCNu64 "..%" SCNu64, &first, &last) == 2)
            i++;
        else
            return fprintf(stderr, "cluster [--seed N] [--seeds A..B] [--run-ms N] [--trace]\n"), 2;
    }
    log_setup(LOG_FORMAT_HUMAN, history.is_traced ? LOG_LEVEL_WARN : LOG_LEVEL_ERROR,
              STDERR_FILENO);
    printf("1..%" PRIu64 "\n", last - first + 1);
    for (uint64_t seed = first; seed <= last; seed++) {
        if (!test_dir_make(dir))
            return 1;
        run_seed(seed, run_ms, dir);
        dir_remove(dir, &err);
    }
    fflush(stdout);
    _exit(0); /* the dead hold what they hold */
}
