/* SPDX-License-Identifier: Apache-2.0 */
/*
 * main.c - the simulation of one whole process.
 *
 *     world [--seed N | --seeds A..B] [--seconds S] [--lives N] [--pause MS] [--verbose]
 *     world --idle S
 *
 * A seed is a row of lives over one directory, each a child process: it opens the world, lets the
 * crowd loose, and is stopped or killed in the middle. The last one comes to rest and is judged.
 */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/log.h"
#include "base/text.h"
#include "sim/crowd.h"
#include "sim/idle.h"
#include "sim/rest.h"
#include "test_dir.h"

struct settings {
    uint64_t first_seed, last_seed;
    double seconds; /* of a seed, over all its lives */
    unsigned lives; /* 0: drawn */
    unsigned pause_ms;
    bool is_verbose;
};

enum life_end { END_IN_ORDER, END_KILLED, END_AT_REST };

/* ---- a life ---- */

static void open_world(struct world *world, struct model *model, const char *dir)
{
    struct rng rng = draw_for(model->seed, 0, 1000);
    struct world_options options = {.dir = dir,
                                    .shards = 1 + draw_below(&rng, 2),
                                    .checkpoint = draw_below(&rng, 3),
                                    .spelling = draw_chance(&rng, 50)};
    struct err err;

    if (world_open(world, &options, &err))
        model_fail(model, NULL, "the world does not open: %s", err.text);
    if (model->life == 1 && world_apply_catalog(world, 0, &err))
        model_fail(model, NULL, "the first catalogue: %s", err.text);
}

static void live(struct model *model, const char *dir, enum life_end end, int64_t duration_us,
                 int64_t step_us)
{
    struct world world;
    struct crowd crowd;

    open_world(&world, model, dir);
    crowd_start(&crowd, &world, model, step_us);
    pause_us(duration_us);
    if (end == END_KILLED) {
        model_lock();
        kill(getpid(), SIGKILL);
    }
    crowd_stop(&crowd);
    if (end == END_AT_REST)
        rest_judge(&world, model);
    world_close(&world);
}

/* 0, or why the seed has failed. */
static int run_life(struct model *model, const char *dir, enum life_end end, int64_t duration_us,
                    int64_t step_us)
{
    pid_t child;
    int status;

    fflush(NULL);
    model_begin_life(model);
    child = fork();
    if (child == 0) {
        live(model, dir, end, duration_us, step_us);
        exit(0);
    }
    if (child < 0 || waitpid(child, &status, 0) != child)
        return 1;
    if (end == END_KILLED && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL)
        return 0;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return 0;
    if (!model->is_failed)
        model_step(model, NULL, "the process ended with status %x", (unsigned)status);
    return 1;
}

/* ---- a seed ---- */

static int run_seed(const struct settings *settings, uint64_t seed)
{
    struct rng rng = draw_for(seed, 0, 1001);
    struct model *model = model_new(seed);
    unsigned lives = settings->lives ? settings->lives : 1 + draw_below(&rng, 5);
    char dir[TEST_DIR_SIZE];
    int rc = !test_dir_make(dir);

    for (unsigned i = 0; i < lives && !rc; i++) {
        int64_t about_us = (int64_t)(settings->seconds * SECOND_US / lives);
        int64_t duration_us = about_us / 2 + (int64_t)rng_below(&rng, (uint64_t)about_us + 1);
        enum life_end end = i + 1 == lives           ? END_AT_REST
                            : draw_chance(&rng, 800) ? END_KILLED
                                                     : END_IN_ORDER;

        rc = run_life(model, dir, end, duration_us, (int64_t)settings->pause_ms * MS_US);
    }
    if (settings->is_verbose || rc)
        printf("# seed %" PRIu64 ": %u lives, %" PRIu64 " writes, %" PRIu64 " searches, %" PRIu64
               " unsure, %u things, %u stamps\n",
               seed, model->life, model->asked_count, model->search_count, model->unsure_count,
               model->slot_count, model->stamp_count);
    if (rc)
        printf("# replay: world --seed %" PRIu64 " --seconds %g; its directory: %s\n", seed,
               settings->seconds, dir);
    else
        dir_remove(dir, NULL);
    model_free(model);
    return rc;
}

/* A world that had some work and has none any more. */
static int measure_idle(const char *seconds)
{
    struct model *model = model_new(1);
    char dir[TEST_DIR_SIZE];
    struct world world;
    struct crowd crowd;

    if (!test_dir_make(dir))
        return 1;
    model_begin_life(model);
    open_world(&world, model, dir);
    crowd_start(&crowd, &world, model, 10 * MS_US);
    pause_us(2 * SECOND_US);
    crowd_stop(&crowd);
    rest_judge(&world, model);
    idle_measure(strtod(seconds, NULL));
    world_close(&world);
    model_free(model);
    return dir_remove(dir, NULL);
}

/* ---- options ---- */

static const char *value_of(int argc, char **argv, const char *name, const char *fallback)
{
    for (int i = 1; i + 1 < argc; i++)
        if (strcmp(argv[i], name) == 0)
            return argv[i + 1];
    return fallback;
}

static bool has_flag(int argc, char **argv, const char *name)
{
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], name) == 0)
            return true;
    return false;
}

static struct settings read_settings(int argc, char **argv)
{
    const char *seeds = value_of(argc, argv, "--seeds", value_of(argc, argv, "--seed", "1"));
    const char *dots = strstr(seeds, "..");
    struct settings settings = {.first_seed = strtoull(seeds, NULL, 10)};

    settings.last_seed = dots ? strtoull(dots + 2, NULL, 10) : settings.first_seed;
    settings.seconds = strtod(value_of(argc, argv, "--seconds", "4"), NULL);
    settings.lives = (unsigned)strtoul(value_of(argc, argv, "--lives", "0"), NULL, 10);
    settings.pause_ms = (unsigned)strtoul(value_of(argc, argv, "--pause", "20"), NULL, 10);
    settings.is_verbose = has_flag(argc, argv, "--verbose");
    return settings;
}

int main(int argc, char **argv)
{
    const struct settings settings = read_settings(argc, argv);
    unsigned failed = 0;

    if (has_flag(argc, argv, "--idle"))
        return measure_idle(value_of(argc, argv, "--idle", "10"));
    log_setup(LOG_FORMAT_HUMAN, settings.is_verbose ? LOG_LEVEL_WARN : LOG_LEVEL_ERROR,
              STDERR_FILENO);
    printf("1..%" PRIu64 "\n", settings.last_seed - settings.first_seed + 1);
    for (uint64_t seed = settings.first_seed; seed <= settings.last_seed; seed++) {
        bool is_bad = run_seed(&settings, seed) != 0;

        failed += is_bad;
        printf("%s %" PRIu64 " - seed %" PRIu64 "\n", is_bad ? "not ok" : "ok",
               seed - settings.first_seed + 1, seed);
        fflush(stdout);
    }
    return failed ? 1 : 0;
}
