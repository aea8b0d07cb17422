/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sim.h - runs ordinary threaded code under a scheduler, a clock and a disk that belong to the
 * test.
 *
 * A program links this folder's sim_*.c and calls sim_main. The calls of libc by which a process
 * waits, asks the time, draws at random or writes files are then this folder's (sim_threads.c,
 * sim_time.c, sim_files.c), for src/ and for every library alike: the executable's symbols come
 * before libc's. Nothing in src/ knows of it.
 *
 *   driver ──fork──► life 0 ──power loss──► life 1 ──killed──► … ──► life n returns: a good seed
 *                      └── one directory, which the driver leaves as a disk could have kept it ──┘
 *
 * A seed is a row of lives over one directory; a life is as one forked process (sim_again.c lets a
 * process have many), in which every thread is a fibre: one runs at a time, and at each point where
 * it could wait the next is drawn. Time moves when nobody can run, to the first deadline. The same
 * seed gives the same run, to the last line of its history.
 *
 * Threads: of a life all may call anything here but sim_main, which is the driver's.
 */
#ifndef TORG_TESTS_SIM_SIM_H
#define TORG_TESTS_SIM_SIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* --- the program --- */

enum sim_end {
    SIM_END_DONE,  /* the life function has returned: the seed is good, and over */
    SIM_END_STOP,  /* the process has ended by itself; another life follows */
    SIM_END_KILL,  /* as by SIGKILL: nothing that was written is lost, another life follows */
    SIM_END_POWER, /* what was not synced is lost, kept or torn; another life follows */
    SIM_END_FAIL,  /* the seed is bad, and over */
};

struct sim_program {
    const char *name;
    /* One life, as its first thread. The working directory is the seed's own; "disk" in it is the
     * simulated disk, made anew for each seed. `shared` is zeroed for each seed and outlives a
     * life. It returns when the seed is over. */
    void (*life)(void *shared, unsigned life);
    /* What is the same in every life: once in a process, before its first one. NULL: nothing. */
    void (*prepare)(void);
    /* What is the same in every process: once, before there are any. NULL: nothing. */
    void (*prepare_all)(void);
    size_t shared_size;
    unsigned step_count;     /* what sim_steps() is unless --steps says less */
    unsigned life_count_max; /* more lives than this are a failure: the seed does not get on */
    int64_t life_us_max;     /* of simulated time, likewise; 0: an hour */
};

/* The main() of a simulation: --seed N, --seeds A..B, --jobs N, --steps N, --without NAME,...,
 * --trace, --help. Prints TAP; of a seed that fails its history, smallest form and command. */
int sim_main(int argc, char **argv, const struct sim_program *program);

/* --- the life --- */

uint64_t sim_seed(void);
unsigned sim_steps(
    void); /* how many steps the crowd may take: fewer when a failure is made smaller */
/* Whether the thing of this name is part of the run; --without leaves it out, which is how failures
 * are made smaller. Known here: power, kill, stalls, spurious, io-errors, slow-disk. */
bool sim_has(const char *name);

int64_t sim_now_us(void); /* since the seed's beginning, over all lives */
uint64_t sim_random(void);
uint64_t sim_below(uint64_t bound);    /* 0 .. bound - 1 */
bool sim_chance(unsigned per_million); /* draws whatever it is given: 0 never, 1000000 always */

/* Ends the life here and now; nothing after it is run. */
_Noreturn void sim_end_life(enum sim_end end);
/* The life ends at the given time from now, at one of the next scheduling points or disk calls;
 * SIM_END_KILL and _POWER that are left out by --without do not happen. Once more: replaces it. */
void sim_end_later(enum sim_end end, int64_t after_us);
/* The same, at the first rename from that time on, or five seconds after it: what is written under
 * a name of its own and then named is at its most fragile there. */
void sim_end_at_rename(enum sim_end end, int64_t after_us);
void sim_end_never(void); /* takes it back */

/* What must not be: told with the history, and the seed is over. */
_Noreturn void sim_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Only says what is wrong, for who ends the process by himself; the first one is told. */
void sim_set_failure(const char *format, ...) __attribute__((format(printf, 1, 2)));
#define SIM_CHECK(condition)                                                                       \
    ((condition) ? (void)0 : sim_fail("%s:%d: not so: %s", __FILE__, __LINE__, #condition))

/* A line of history. What the process writes to its outputs is history as well. */
void sim_trace(const char *format, ...) __attribute__((format(printf, 1, 2)));

const char *sim_task_name(void); /* of the one that runs */

/* A point where another task may go on: for what stands in for a wait (produce, commit). */
void sim_point(const char *what);
/* Simulated time passes for this task alone. */
void sim_pause_us(int64_t duration_us);

/* --- faults --- */

struct sim_faults {
    unsigned preempt;    /* of a million locks and the like: another task may go on there */
    unsigned spurious;   /* of a million waits on a condition: ends for no reason */
    unsigned stall;      /* of a million points: the task does not get the processor for a while */
    int64_t stall_us;    /* at most so long */
    unsigned io_error;   /* of a million writes, syncs, opens to write, renames: EIO */
    const char *io_task; /* those of this task alone; NULL: of all */
    const char *io_call; /* "write", "sync" ... alone; NULL: all */
    unsigned no_space;   /* of a million writes and creations: ENOSPC, some bytes may be there */
    unsigned slow_disk;  /* of a million calls of the disk: takes up to a second */
};

/* At a seed's start: rates drawn by the seed, no failing disk. They hold for the life. */
struct sim_faults *sim_faults(void);
void sim_faults_none(void); /* nothing fails, nothing is slow; tasks still take turns */
void sim_disk_full(bool is_full);

/* --- members: several processes' worth of tasks in one life --- */

/* Tasks belong to the member of the task that started them; the first one's is 0. */
unsigned sim_member_new(const char *name);
unsigned sim_member_current(void);
void sim_member_enter(unsigned member);                  /* of the calling task */
void sim_member_freeze(unsigned member, bool is_frozen); /* its tasks do not run meanwhile */
/* Its tasks never run again. One that holds a lock of the whole program (a static mutex) first runs
 * on until it has let go of it. */
void sim_member_kill(unsigned member);
/* What its tasks see as wall time is so far from the others'. */
void sim_member_set_wall(unsigned member, int64_t ahead_us);

#endif
