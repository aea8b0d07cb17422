/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sim_life.c - see sim_driver.h: one seed, life by life, each in a process of its own.
 *
 * The driver's process has one thread and allocates nothing between seeds, so that every life
 * begins with the same memory, and addresses repeat.
 */
#include "sim_driver.h"

#include <assert.h>
#include <errno.h>
#include <execinfo.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim_core.h"
#include "sim_disk.h"

enum {
    CPU_SECONDS_MAX = 120,  /* of a life: more is a loop without a point */
    REAL_SECONDS_MAX = 900, /* a life that waits for something real */
    SIGNAL_STACK_SIZE = 64 << 10,
    FRAMES_SHOWN = 32,
    SHARED_PAGE = 4096,
    SHARED_CLEAR_MAX = 1 << 20, /* more is given back to the system instead */
    DOWN_US_MAX = 5000000,      /* between two lives */
};
#define LIFE_US_MAX (INT64_C(3600) * 1000000)
/* The same in every process, and far from what the system places by itself. */
#define SHARED_ADDRESS ((void *)0x200000000000)

static const struct sim_program *program;
static void *shared;

/* --- inside --- */

/* The text is in shared memory; what is cut short is told all the same. */
static void on_crash(int number)
{
    size_t used = strlen(sim->failure);
    void *frames[FRAMES_SHOWN];
    int count = backtrace(frames, FRAMES_SHOWN);
    char **names = backtrace_symbols(frames, count);

    if (!used)
        used = (size_t)snprintf(sim->failure, SIM_FAILURE_SIZE, "signal %d (%s) in task %s", number,
                                strsignal(number), sim_current ? sim_current->name : "none");
    for (int i = 0; names && i < count && used < SIM_FAILURE_SIZE; i++)
        used +=
            (size_t)snprintf(sim->failure + used, SIM_FAILURE_SIZE - used, "\n    %s", names[i]);
    if (number == SIGXCPU && used < SIM_FAILURE_SIZE)
        snprintf(sim->failure + used, SIM_FAILURE_SIZE - used,
                 "\n  it has worked for %d s: a loop without a point", CPU_SECONDS_MAX);
    sim_end_life(SIM_END_FAIL);
}

static void watch_for_crashes(void)
{
#if defined(__SANITIZE_ADDRESS__)
    static const int signals[] = {SIGABRT, SIGALRM,
                                  SIGXCPU}; /* of the others the sanitizer tells more */
#else
    static const int signals[] = {SIGABRT, SIGALRM, SIGXCPU, SIGSEGV, SIGBUS, SIGFPE, SIGILL};
#endif
    static char stack[SIGNAL_STACK_SIZE];
    stack_t own = {.ss_sp = stack, .ss_size = sizeof(stack)};
    struct sigaction action = {.sa_handler = on_crash, .sa_flags = SA_ONSTACK | SA_RESETHAND};
    struct rlimit cpu = {.rlim_cur = CPU_SECONDS_MAX, .rlim_max = CPU_SECONDS_MAX + 5};
    struct rlimit core = {0};

    sigaltstack(&own, NULL);
    for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
        sigaction(signals[i], &action, NULL);
    setrlimit(RLIMIT_CPU, &cpu);
    setrlimit(RLIMIT_CORE, &core);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    alarm(REAL_SECONDS_MAX);
}

/* In place of libc's, which would write past the history. */
_Noreturn void __assert_fail(const char *what, const char *file, unsigned line,
                             const char *function)
{
    if (sim_is_alive && !sim->failure[0])
        snprintf(sim->failure, SIM_FAILURE_SIZE, "%s:%u: %s: assertion \"%s\" does not hold", file,
                 line, function, what);
    else
        fprintf(stderr, "%s:%u: %s: assertion \"%s\" does not hold\n", file, line, function, what);
    abort();
}

static void *live(void *unused)
{
    (void)unused;
    sim_take_streams();
    program->life(shared, sim->life);
    sim_end_life(SIM_END_DONE);
}

static unsigned one_of(struct rng *rng, const unsigned *values, size_t count)
{
    return values[rng_below(rng, count)];
}

/* Each seed has its own weather: some are calm, so that rare orders are not drowned by others. */
static void draw_faults(struct sim_faults *faults)
{
    static const unsigned preempts[] = {10000, 50000, 200000, 500000, 1000000};
    static const unsigned spurious[] = {0, 1000, 30000};
    static const unsigned stalls[] = {0, 0, 10, 100};
    static const unsigned stall_us[] = {2000, 100000, 3000000};
    static const unsigned slow[] = {0, 0, 1000};
    struct rng rng = rng_seeded(sim->seed ^ 0x77656174686572);

    *faults = (struct sim_faults){
        .preempt = one_of(&rng, preempts, 5),
        .spurious = one_of(&rng, spurious, 3),
        .stall = one_of(&rng, stalls, 4),
        .stall_us = one_of(&rng, stall_us, 3),
        .slow_disk = one_of(&rng, slow, 3),
    };
    if (!sim_has("spurious"))
        faults->spurious = 0;
    if (!sim_has("stalls"))
        faults->stall = 0;
    if (!sim_has("slow-disk"))
        faults->slow_disk = 0;
}

void sim_faults_none(void)
{
    struct sim_faults *faults = sim_faults();

    *faults = (struct sim_faults){.preempt = faults->preempt};
    sim_disk_full(false);
}

/* --- outside --- */

static size_t whole_pages(size_t size)
{
    return (size + SHARED_PAGE - 1) / SHARED_PAGE * SHARED_PAGE;
}

void sim_seeds_open(const struct sim_program *wanted)
{
    size_t state_size = whole_pages(sizeof(struct sim_state));
    size_t shared_size = whole_pages(wanted->shared_size);
    size_t size = state_size + shared_size + SIM_DISK_MEMORY_SIZE;
    char *memory = mmap(SHARED_ADDRESS, size, PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);

    assert(memory == SHARED_ADDRESS);
    program = wanted;
    sim = (struct sim_state *)memory;
    shared = memory + state_size;
    sim_disk_open(memory + state_size + shared_size);
    /* Both load libraries or allocate when they are first called. */
    free(backtrace_symbols((void *[]){__builtin_return_address(0)}, 1));
    (void)backtrace((void *[1]){NULL}, 1);
}

static void begin(const struct sim_run *run)
{
    memset(sim, 0, offsetof(struct sim_state, history));
    if (program->shared_size <= SHARED_CLEAR_MAX ||
        madvise(shared, program->shared_size, MADV_REMOVE) != 0)
        memset(shared, 0, program->shared_size);
    sim->seed = run->seed;
    sim->steps = run->steps;
    sim->without = run->without;
    sim->is_traced = run->is_traced;
    sim->world = rng_seeded(run->seed * 4);
    sim->schedule = rng_seeded(run->seed * 4 + 1);
    sim->system = rng_seeded(run->seed * 4 + 2);
    sim->disk = rng_seeded(run->seed * 4 + 3);
    /* Neighbouring seeds begin far apart. */
    sim->world.state = rng_next(&sim->world);
    sim->schedule.state = rng_next(&sim->schedule);
    sim->system.state = rng_next(&sim->system);
    sim->disk.state = rng_next(&sim->disk);
    sim_disk_begin();
}

static void run_life(void)
{
    int status = 0;
    pid_t pid;

    sim->is_ended = false;
    sim->limit_us = sim->now_us + (program->life_us_max ? program->life_us_max : LIFE_US_MAX);
    fflush(NULL);
    pid = fork();
    if (pid == 0) {
        sim_keep_memory();
        watch_for_crashes();
        draw_faults(sim_faults());
        sim_sched_run(live, NULL);
    }
    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    if (pid > 0 && sim->is_ended)
        return;
    sim->end = SIM_END_FAIL;
    if (!sim->failure[0])
        snprintf(sim->failure, SIM_FAILURE_SIZE, "%s %d",
                 pid < 0               ? "no process: error"
                 : WIFSIGNALED(status) ? "the life was ended by signal"
                                       : "the life has exited with",
                 pid < 0               ? errno
                 : WIFSIGNALED(status) ? WTERMSIG(status)
                                       : WEXITSTATUS(status));
}

bool sim_run_seed(const struct sim_run *run)
{
    begin(run);
    for (;;) {
        run_life();
        if (sim->end == SIM_END_DONE)
            return true;
        if (sim->end == SIM_END_FAIL)
            return false;
        sim_disk_end_life();
        if (sim->end == SIM_END_POWER)
            sim_disk_lose_power();
        sim->now_us += (int64_t)rng_below(&sim->schedule, DOWN_US_MAX);
        if (++sim->life > program->life_count_max && program->life_count_max) {
            snprintf(sim->failure, SIM_FAILURE_SIZE, "%u lives, and the seed is not done",
                     sim->life);
            return false;
        }
    }
}
