/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sim_driver.c - see sim.h: many seeds on several cores, and what is told of those that fail.
 *
 * Workers are processes that take the next seed from a shared counter. A worker that meets a
 * failure makes it smaller by itself: it leaves out what the run was asked for (sim_has), one thing
 * after the other, then halves its steps, as long as it still fails.
 */
#include "sim_driver.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim_core.h"
#include "sim_dir.h"

enum {
    SEED_COUNT = 100,     /* without --seeds */
    REPEATED_COUNT = 2,   /* seeds that are run twice, to compare their histories */
    HISTORY_SHOWN = 40,   /* lines of a seed that fails; all of them with --trace */
    SHRUNK_COUNT_MAX = 3, /* failures that are made smaller; of the others the seed is told */
    SHRINK_RUN_COUNT_MAX = 60,
    TOLD_COUNT_MAX = 20,
    ARGUMENT_SIZE = SIM_NAME_COUNT_MAX * SIM_NAME_SIZE,
    JOB_COUNT_MAX = 64,
};

#define PLACE "/dev/shm" /* memory: a disk would be slower than what it is to simulate */
#define PREFIX "torg-sim-"

struct options {
    uint64_t first, last;
    unsigned jobs, steps;
    struct sim_names without;
    bool is_traced, is_single;
};

/* What the workers share. */
struct tally {
    atomic_uint_fast64_t next, failed, unequal;
    atomic_uint_fast64_t lives, switches, points, writes, syncs, lost, simulated_us;
    atomic_uint_fast64_t bad[TOLD_COUNT_MAX];
};

static const struct sim_program *program;
static const char *command;
static struct options options;
static struct tally *tally;

/* --- the command line --- */

static _Noreturn void usage(void)
{
    fprintf(stderr,
            "usage: %s [--seed N | --seeds A..B] [--jobs N] [--steps N] [--without NAME,...]\n"
            "          [--trace]\n"
            "  --seed N        one seed; with --trace its whole history\n"
            "  --seeds A..B    all from A to B; TORG_SIM_SEEDS=N makes it 1..N, =C..D these\n"
            "  --jobs N        at the same time; without it one a core\n"
            "  --steps N       how much the crowd does, at most\n"
            "  --without NAME  leaves something out, such as power, kill, stalls\n",
            command);
    exit(2);
}

static uint64_t number_of(const char *text, const char **rest)
{
    char *end = NULL;
    uint64_t value = text ? strtoull(text, &end, 10) : 0;

    if (!text || end == text || (*end && !rest))
        usage();
    if (rest)
        *rest = end;
    return value;
}

static void read_seeds(const char *text)
{
    const char *rest = "";

    options.first = number_of(text, &rest);
    if (strncmp(rest, "..", 2) != 0)
        usage();
    options.last = number_of(rest + 2, NULL);
}

static void read_names(const char *text, struct sim_names *names)
{
    while (text && *text) {
        size_t size = strcspn(text, ",");

        if (size >= SIM_NAME_SIZE || names->count == SIM_NAME_COUNT_MAX)
            usage();
        memcpy(names->names[names->count], text, size);
        names->names[names->count++][size] = 0;
        text += size + (text[size] == ',');
    }
}

static void read_options(int argc, char **argv)
{
    const char *count = getenv("TORG_SIM_SEEDS");

    options.first = 1;
    options.last = SEED_COUNT;
    options.jobs = (unsigned)sysconf(_SC_NPROCESSORS_ONLN);
    options.steps = program->step_count;
    for (int i = 1; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : NULL;

        if (strcmp(argv[i], "--trace") == 0) {
            options.is_traced = true;
            continue;
        }
        if (strcmp(argv[i], "--seed") == 0) {
            options.first = options.last = number_of(value, NULL);
            options.is_single = true;
            count = NULL;
        } else if (strcmp(argv[i], "--seeds") == 0) {
            read_seeds(value);
        } else if (strcmp(argv[i], "--jobs") == 0) {
            options.jobs = (unsigned)number_of(value, NULL);
        } else if (strcmp(argv[i], "--steps") == 0) {
            options.steps = (unsigned)number_of(value, NULL);
        } else if (strcmp(argv[i], "--without") == 0) {
            read_names(value, &options.without);
        } else {
            usage();
        }
        i++;
    }
    if (count && strstr(count, ".."))
        read_seeds(count);
    else if (count)
        options.last = options.first + number_of(count, NULL) - 1;
    if (options.is_single)
        options.jobs = 1;
    if (!options.jobs || options.jobs > JOB_COUNT_MAX || options.last < options.first)
        usage();
}

/* --- a failure --- */

static void write_names(char *text, const struct sim_names *names)
{
    size_t used = 0;

    text[0] = 0;
    for (unsigned i = 0; i < names->count; i++)
        used += (size_t)snprintf(text + used, ARGUMENT_SIZE - used, "%s%s", i ? "," : " --without ",
                                 names->names[i]);
}

static bool still_fails(const struct sim_run *run, unsigned *left)
{
    if (!*left)
        return false;
    --*left;
    return !sim_run_seed(run);
}

/* The run is left as small as it was found, and has been run last. */
static void shrink(struct sim_run *run)
{
    struct sim_names asked = sim->asked;
    unsigned left = SHRINK_RUN_COUNT_MAX;

    for (unsigned i = 0; i < asked.count; i++) {
        struct sim_run smaller = *run;

        if (smaller.without.count == SIM_NAME_COUNT_MAX)
            break;
        memcpy(smaller.without.names[smaller.without.count++], asked.names[i], SIM_NAME_SIZE);
        if (still_fails(&smaller, &left))
            *run = smaller;
    }
    for (unsigned cut = run->steps / 2; cut; cut /= 2)
        while (run->steps > cut) {
            struct sim_run smaller = *run;

            smaller.steps -= cut;
            if (!still_fails(&smaller, &left))
                break;
            *run = smaller;
        }
    (void)sim_run_seed(run);
}

static void tell_failure(const struct sim_run *run)
{
    char without[ARGUMENT_SIZE + 16], steps[32] = "", *line = sim->failure;

    write_names(without, &run->without);
    if (run->steps != program->step_count)
        snprintf(steps, sizeof(steps), " --steps %u", run->steps);
    printf("# seed %ju of %s fails in life %u, after %.6f simulated seconds:\n",
           (uintmax_t)run->seed, program->name, sim->life, (double)sim->now_us / 1e6);
    while (line) {
        char *end = strchr(line, '\n');

        printf("#   %.*s\n", end ? (int)(end - line) : (int)strlen(line), line);
        line = end ? end + 1 : NULL;
    }
    fflush(stdout);
    if (!run->is_traced) {
        printf("# the last of its history:\n");
        fflush(stdout);
        sim_print_history(STDOUT_FILENO, HISTORY_SHOWN);
    }
    printf("# all of it: %s --seed %ju%s%s --trace\n", command, (uintmax_t)run->seed, without,
           steps);
    fflush(stdout);
}

/* --- workers --- */

static void count_run(void)
{
    atomic_fetch_add(&tally->lives, sim->life + 1);
    atomic_fetch_add(&tally->switches, sim->switches);
    atomic_fetch_add(&tally->points, sim->points);
    atomic_fetch_add(&tally->writes, sim->writes);
    atomic_fetch_add(&tally->syncs, sim->syncs);
    atomic_fetch_add(&tally->lost, sim->lost);
    atomic_fetch_add(&tally->simulated_us, (uint64_t)sim->now_us);
}

static void run_one(uint64_t seed)
{
    struct sim_run run = {.seed = seed,
                          .steps = options.steps,
                          .without = options.without,
                          .is_traced = options.is_traced};
    bool is_good = sim_run_seed(&run);
    uint64_t hash = sim->hash, index;

    count_run();
    if (options.is_single)
        printf("# hash %016jx, %ju switches, %.6f simulated seconds, %u lives\n", (uintmax_t)hash,
               (uintmax_t)sim->switches, (double)sim->now_us / 1e6, sim->life + 1);
    if (!is_good) {
        index = atomic_fetch_add(&tally->failed, 1);
        if (index < TOLD_COUNT_MAX)
            atomic_store(&tally->bad[index], seed);
        if (index < SHRUNK_COUNT_MAX && !options.is_traced)
            shrink(&run);
        if (index < SHRUNK_COUNT_MAX)
            tell_failure(&run);
    } else if (seed < options.first + REPEATED_COUNT && !options.is_traced) {
        run.is_alone = true;
        if (!sim_run_seed(&run) || sim->hash != hash) {
            atomic_fetch_add(&tally->unequal, 1);
            printf("# seed %ju does not repeat: compare two of %s --seed %ju --trace\n",
                   (uintmax_t)seed, command, (uintmax_t)seed);
        }
    }
}

static uint64_t next_seed(void)
{
    return options.first + atomic_fetch_add(&tally->next, 1);
}

static void work(unsigned number)
{
    char dir[64];
    uint64_t seed;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    /* The same length whoever makes it: paths are in the memory of the lives. */
    snprintf(dir, sizeof(dir), PLACE "/" PREFIX "%010ld-%02u", (long)getppid(), number);
    sim_dir_remove(dir);
    if (mkdir(dir, 0700) || chdir(dir)) {
        fprintf(stderr, "%s: %s\n", dir, strerror(errno));
        _exit(1);
    }
    sim_seeds_open(program);
    for (seed = next_seed(); seed <= options.last; seed = next_seed())
        run_one(seed);
    sim_seeds_close();
    fflush(stdout);
    if (chdir("/") == 0)
        sim_dir_remove(dir);
    _exit(0);
}

static bool run_workers(void)
{
    pid_t pids[JOB_COUNT_MAX];
    bool is_good = true;

    fflush(stdout);
    for (unsigned i = 0; i < options.jobs; i++) {
        pids[i] = fork();
        if (pids[i] == 0)
            work(i);
    }
    for (unsigned i = 0; i < options.jobs; i++) {
        int status = 0;

        if (pids[i] < 0 || waitpid(pids[i], &status, 0) < 0 || status != 0)
            is_good = false;
    }
    return is_good;
}

/* Addresses are the same in every run: who orders things by them repeats. */
static void fix_addresses(char **argv)
{
    int now = personality(0xffffffff);

    if (now < 0 || (now & ADDR_NO_RANDOMIZE))
        return;
    if (personality((unsigned)now | ADDR_NO_RANDOMIZE) < 0)
        return;
    setenv("LD_BIND_NOW", "1", 1); /* once, and not anew in each life */
    execv("/proc/self/exe", argv);
}

static void summarize(void)
{
    uint64_t count = options.last - options.first + 1;
    struct rusage used;
    double cpu_s;

    getrusage(RUSAGE_CHILDREN, &used);
    cpu_s = (double)used.ru_utime.tv_sec + (double)used.ru_stime.tv_sec +
            (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6;
    printf("# %ju seeds, %ju lives, %.0f simulated s; %ju switches, %ju writes, %ju syncs, %ju "
           "changes lost\n# %.2f s of CPU: %.2f ms a seed\n",
           (uintmax_t)count, (uintmax_t)tally->lives, (double)tally->simulated_us / 1e6,
           (uintmax_t)tally->switches, (uintmax_t)tally->writes, (uintmax_t)tally->syncs,
           (uintmax_t)tally->lost, cpu_s, cpu_s * 1000 / (double)count);
    for (uint64_t i = SHRUNK_COUNT_MAX; i < tally->failed && i < TOLD_COUNT_MAX; i++)
        printf("# seed %ju fails as well\n", (uintmax_t)tally->bad[i]);
}

int sim_main(int argc, char **argv, const struct sim_program *wanted)
{
    bool is_good;

    fix_addresses(argv);
    sigaction(SIGPIPE, &(struct sigaction){.sa_handler = SIG_IGN}, NULL); /* ends tidily */
    program = wanted;
    command = argv[0];
    read_options(argc, argv);
    tally = mmap(NULL, sizeof(*tally), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (tally == MAP_FAILED)
        return 1;
    sim_dir_sweep(PLACE, PREFIX);
    if (program->prepare_all)
        program->prepare_all();
    printf("1..2\n");
    is_good = run_workers();
    summarize();
    printf("%sok 1 - %s: %ju of %ju seeds are good\n", is_good && !tally->failed ? "" : "not ",
           program->name, (uintmax_t)(options.last - options.first + 1 - tally->failed),
           (uintmax_t)(options.last - options.first + 1));
    printf("%sok 2 - %s: the same seed gives the same history\n", tally->unequal ? "not " : "",
           program->name);
    return is_good && !tally->failed && !tally->unequal ? 0 : 1;
}
