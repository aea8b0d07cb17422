/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sim_life.c - see sim_driver.h: one seed, life by life, in a process that is not the driver's.
 *
 * That process has one life after the other (sim_again.c), until one fails: its end is the
 * process's. Some are to be the only one of theirs, and where blocks are a sanitizer's all are.
 */
#include "sim_driver.h"

#include <assert.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
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
    SHARED_CLEAR_MAX = 1 << 20,  /* more is given back to the system instead */
    DOWN_US_MAX = 5000000,       /* between two lives */
    LINE_FD = 1000,              /* of a life's process, to the driver: above all of the life's */
    SERVER_LIFE_COUNT_MAX = 500, /* what a process may have left behind goes with it */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    IS_SANITIZED = 1,
#else
    IS_SANITIZED = 0,
#endif
};
#define LIFE_US_MAX (INT64_C(3600) * 1000000)
/* The same in every process, and far from what the system places by itself. */
#define SHARED_ADDRESS ((void *)0x200000000000)

static const struct sim_program *program;
static void *shared;
static struct server {
    pid_t pid; /* of the process of lives; 0: there is none */
    int line;
    unsigned life_count;
} server;

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
    struct rlimit cpu = {.rlim_max = RLIM_INFINITY}, core = {0};
    struct rusage used;

    sigaltstack(&own, NULL);
    for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
        sigaction(signals[i], &action, NULL);
    getrusage(RUSAGE_SELF, &used);
    getrlimit(RLIMIT_CPU, &cpu);
    cpu.rlim_cur = (rlim_t)(used.ru_utime.tv_sec + used.ru_stime.tv_sec + CPU_SECONDS_MAX);
    setrlimit(RLIMIT_CPU, &cpu);
    setrlimit(RLIMIT_CORE, &core);
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
    size_t size = state_size + shared_size + SIM_DISK_MEMORY_SIZE + SIM_DISK_CONTENTS_SIZE;
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

/* --- the process of lives --- */

static void close_all_but(int fd)
{
    close_range(STDERR_FILENO + 1, (unsigned)fd - 1, 0);
    close_range((unsigned)fd + 1, ~0U, 0);
}

/* A byte is asked for each life: whether another comes after it. */
static _Noreturn void serve(int given)
{
    int line = fcntl(given, F_DUPFD_CLOEXEC, LINE_FD);
    bool is_kept;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    close_all_but(line);
    sim_memory_open();
    sim_maps_open();
    sim_fibre_open();
    if (program->prepare)
        program->prepare();
    if (!IS_SANITIZED)
        sim_again_keep();
    while (syscall(SYS_read, line, &is_kept, sizeof(is_kept)) == sizeof(is_kept)) {
        sim_is_kept = is_kept;
        watch_for_crashes();
        draw_faults(sim_faults());
        sim_sched_run(live, NULL);
        alarm(0);
        close_all_but(line);
        sim_memory_clear();
        sim_maps_clear();
        sim_again_restore();
        if (sim_real_write(line, &is_kept, sizeof(is_kept)) != sizeof(is_kept))
            break;
    }
    _exit(0);
}

static int server_end(void)
{
    int status = 0;

    if (server.pid <= 0)
        return 0;
    sim_real_close(server.line);
    while (waitpid(server.pid, &status, 0) < 0 && errno == EINTR)
        ;
    server.pid = 0;
    return status;
}

static bool server_start(void)
{
    int lines[2];

    if (socketpair(AF_UNIX, SOCK_STREAM, 0, lines) != 0)
        return false;
    fflush(NULL);
    server = (struct server){.pid = fork(), .line = lines[0]};
    if (server.pid == 0)
        serve(lines[1]);
    sim_real_close(lines[1]);
    if (server.pid < 0)
        sim_real_close(lines[0]);
    return server.pid > 0;
}

/* False: the process is gone. */
static bool server_live(bool is_kept)
{
    return sim_real_write(server.line, &is_kept, sizeof(is_kept)) == sizeof(is_kept) &&
           syscall(SYS_read, server.line, &is_kept, sizeof(is_kept)) == sizeof(is_kept);
}

static void run_life(bool is_alone)
{
    int status = 0;
    bool is_there;

    sim->is_ended = false;
    sim->limit_us = sim->now_us + (program->life_us_max ? program->life_us_max : LIFE_US_MAX);
    if (is_alone || server.life_count == SERVER_LIFE_COUNT_MAX)
        server_end();
    is_there = server.pid > 0 || server_start();
    server.life_count++;
    if (is_there && !server_live(!is_alone && !IS_SANITIZED))
        status = server_end();
    if (is_there && sim->is_ended)
        return;
    sim->end = SIM_END_FAIL;
    if (!sim->failure[0])
        snprintf(sim->failure, SIM_FAILURE_SIZE, "%s %d",
                 !is_there             ? "no process: error"
                 : WIFSIGNALED(status) ? "the life was ended by signal"
                                       : "the life has exited with",
                 !is_there             ? errno
                 : WIFSIGNALED(status) ? WTERMSIG(status)
                                       : WEXITSTATUS(status));
}

void sim_seeds_close(void)
{
    server_end();
}

bool sim_run_seed(const struct sim_run *run)
{
    begin(run);
    for (;;) {
        run_life(run->is_alone);
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
