/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sim_core.h - what the parts of the simulator know of each other; programs see sim.h alone.
 *
 * `sim` is memory that driver and lives share, at one address: what of a seed outlives a life.
 * A life's tasks are its own memory.
 */
#ifndef TORG_TESTS_SIM_SIM_CORE_H
#define TORG_TESTS_SIM_SIM_CORE_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/random.h"
#include "sim.h"

enum {
    SIM_NAME_SIZE = 24,
    SIM_NAME_COUNT_MAX = 64,     /* things a run may do without */
    SIM_MEMBER_COUNT_MAX = 32,   /* processes' worth of tasks in a life */
    SIM_KEY_COUNT_MAX = 64,      /* thread-specific values; libraries and src have a dozen */
    SIM_FAILURE_SIZE = 16 << 10, /* the text and the stacks of all tasks */
    SIM_HISTORY_SIZE = 4 << 20,  /* the last lines; a failure shows some of them */
    SIM_FD_COUNT_MAX = 4096,
};
#define SIM_NEVER INT64_MAX
/* 2026-01-01 00:00:00 UTC, and a monotonic clock that is not at zero, as no machine's is. */
#define SIM_WALL_BASE_US (INT64_C(1767225600) * 1000000)
#define SIM_MONO_BASE_US (INT64_C(5000) * 1000000)

struct sim_names {
    unsigned count;
    char names[SIM_NAME_COUNT_MAX][SIM_NAME_SIZE];
};

struct sim_state {
    uint64_t seed;
    unsigned life;
    unsigned steps;
    int64_t now_us;
    int64_t limit_us; /* the life is to be over by then */
    /* Apart, so that one more draw of one does not change what another does. */
    struct rng world, schedule, system, disk;
    struct sim_names without; /* what the run does without */
    struct sim_names asked;   /* what it was asked for, and is part of it */
    enum sim_end end;
    bool is_ended; /* a life that ends without saying so has crashed */
    char failure[SIM_FAILURE_SIZE];
    uint64_t hash;                /* of every choice and every line so far */
    uint64_t switches, points;    /* so far */
    uint64_t writes, syncs, lost; /* of the disk: calls; changes that a power loss has undone */
    bool is_traced;               /* lines go out as they come */
    uint64_t line_bytes;          /* of history so far; it begins anew at the ring's end */
    char history[SIM_HISTORY_SIZE];
};

extern struct sim_state *sim; /* NULL: nothing is simulated yet, calls are libc's */
extern bool sim_is_alive;     /* this process is in a life */
extern bool sim_is_kept;      /* and has another after it */

/* --- sim_fibre.c: stacks that take turns in one thread --- */

struct sim_fibre;
void sim_fibre_open(void); /* once in a process, before the first life */
struct sim_fibre *sim_fibre_new(void (*run)(void *), void *arg, size_t stack_size);
void sim_fibre_free(struct sim_fibre *fibre); /* not the one that runs */
/* Goes on with another; returns when somebody goes on with this one. NULL as from: the thread's own
 * stack. */
void sim_fibre_switch(struct sim_fibre *from, struct sim_fibre *to);
/* Goes on with the thread's own stack, where it went on with the first one. */
_Noreturn void sim_fibre_leave(void);
void *sim_fibre_bounds(const struct sim_fibre *fibre, size_t *size); /* its stack */
/* Where a fibre stands: return addresses, innermost first. */
size_t sim_fibre_stack(const struct sim_fibre *fibre, void **addresses, size_t room);

/* --- sim_sched.c --- */

enum sim_task_state { SIM_TASK_READY, SIM_TASK_WAITS, SIM_TASK_ENDED };

struct sim_task {
    unsigned id; /* from 1, never used again */
    char name[SIM_NAME_SIZE];
    unsigned member;
    enum sim_task_state state;
    bool is_listed;        /* among those that may run */
    const char *why;       /* static */
    size_t place;          /* among all tasks; sim_sched.c's, with what it waits for */
    bool is_woken;         /* not by its deadline */
    unsigned static_locks; /* held, of the whole program */
    struct sim_fibre *fibre;
    void *(*run)(void *);
    void *arg, *result;
    bool is_detached;
    void *specific[SIM_KEY_COUNT_MAX];
};

extern struct sim_task *sim_current; /* NULL outside a life */

/* Runs the function as the first task; returns when somebody leaves (sim_fibre_leave). */
void sim_sched_run(void *(*run)(void *), void *arg);
struct sim_task *sim_task_start(void *(*run)(void *), void *arg, size_t stack_size, bool detached);
_Noreturn void sim_task_end(void *result);
void sim_task_free(struct sim_task *task);
/* Another may go on. */
void sim_yield(const char *why);
/* Another does go on, if one can. */
void sim_yield_now(const char *why);
/* Waits for a wake-up of the object, or the time. False: the time has come. */
bool sim_wait(const void *object, int64_t deadline_us, const char *why);
void sim_wake_one(const void *object);
void sim_wake_all(const void *object);
void sim_static_lock(int change); /* the current task has taken or let go of one */
int64_t sim_wall_us(void);        /* as the current task sees it */
/* The life ends if it is to end here; called at each point and each disk call. */
void sim_maybe_end(void);
void sim_has_renamed(void); /* a file has another name: sim_end_at_rename waits for that */
/* What every task waits for and where, into the text. */
void sim_describe_tasks(char *text, size_t size);
bool sim_draw(struct rng *rng, unsigned per_million);

/* Runs the destructors of the current task's values (sim_threads.c). */
void sim_task_leaves(void);
/* A descriptor to read drawn bytes from (sim_time.c). */
int sim_open_random(void);

/* --- sim_history.c --- */

void sim_mix(uint64_t value);
void sim_line(const char *who, const char *text, size_t size);
void sim_print_history(int fd, size_t line_count_max);
void sim_fail_text(const char *format, va_list args);
void sim_take_streams(void); /* stdout and stderr of the life are history */

/* --- sim_memory.c --- */

void sim_memory_open(void);          /* before the first life of a process */
void *sim_memory_heap(size_t *size); /* what of it is in use */
void sim_memory_clear(void);         /* after a life: its large blocks are gone */

/* --- sim_maps.c --- */

void sim_maps_open(void);  /* before the first life of a process */
void sim_maps_clear(void); /* after a life */
void *sim_maps_reserve(char *address, size_t size);
/* Zeroed blocks that are touched here and there. NULL: there is none of this size. */
void *sim_maps_take(size_t size);
void sim_maps_free(void *block);
bool sim_maps_has(const void *block);
size_t sim_maps_size(const void *block); /* that it has room for */

/* --- sim_again.c: one process, several lives --- */

void sim_again_keep(void);    /* before the first: variables and heap are to be so again */
void sim_again_restore(void); /* after each */

/* --- sim_real.c: libc's own --- */

ssize_t sim_real_write(int fd, const void *data, size_t size);
int sim_real_close(int fd);
char *sim_real_realpath(const char *path, char *to);
void *sim_real_fdopendir(int fd); /* DIR, as streams are */
void *sim_real_readdir(void *stream);
int sim_real_dirfd(void *stream);
int sim_real_closedir(void *stream);

#endif
