/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sim_threads.c - pthread_* and sem_* on the tasks of sim_sched.c.
 *
 * The objects keep their state in the memory that they have, in the fields that their static
 * initializers fill as pthread.h says; nothing is allocated for them. Outside a life there is one
 * thread: what is free is taken, and a wait would be for ever.
 */
#include <assert.h>
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <link.h>
#include <pthread.h>
#include <semaphore.h>
#include <string.h>
#include <time.h>

#include "sim_core.h"

enum { DRIVER_ID = -1 };

static int self_id(void)
{
    return sim_current ? (int)sim_current->id : DRIVER_ID;
}

/* A time of a clock as simulated time since the seed's beginning. */
static int64_t deadline_of(clockid_t clock, const struct timespec *time)
{
    int64_t us = (int64_t)time->tv_sec * 1000000 + (time->tv_nsec + 999) / 1000;

    if (clock == CLOCK_REALTIME)
        return us - (sim_wall_us() - sim->now_us);
    return us - SIM_MONO_BASE_US;
}

/* --- which locks are the whole program's --- */

static struct {
    uintptr_t program, program_end, libraries, libraries_end;
} statics;

static int find_statics(struct dl_phdr_info *info, size_t size, void *context)
{
    bool is_program = statics.program_end == 0;

    (void)size, (void)context;
    for (size_t i = 0; i < info->dlpi_phnum; i++) {
        uintptr_t start = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
        uintptr_t end = start + info->dlpi_phdr[i].p_memsz;

        if (info->dlpi_phdr[i].p_type != PT_LOAD)
            continue;
        if (is_program) {
            statics.program = statics.program ? statics.program : start;
            statics.program_end = end;
        } else {
            if (!statics.libraries || start < statics.libraries)
                statics.libraries = start;
            if (end > statics.libraries_end)
                statics.libraries_end = end;
        }
    }
    return 0;
}

static bool is_static(const void *object)
{
    uintptr_t at = (uintptr_t)object;

    if (!statics.program_end)
        dl_iterate_phdr(find_statics, NULL);
    return (at >= statics.program && at < statics.program_end) ||
           (at >= statics.libraries && at < statics.libraries_end);
}

/* --- threads --- */

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
                   void *arg)
{
    size_t stack_size = 0;
    int detached = PTHREAD_CREATE_JOINABLE;
    struct sim_task *task;

    assert(sim_current);
    if (attributes) {
        pthread_attr_getstacksize(attributes, &stack_size);
        pthread_attr_getdetachstate(attributes, &detached);
    }
    task = sim_task_start(run, arg, stack_size, detached == PTHREAD_CREATE_DETACHED);
    if (!task)
        return EAGAIN;
    *thread = (pthread_t)task;
    sim_yield("thread start");
    return 0;
}

int pthread_join(pthread_t thread, void **result)
{
    struct sim_task *task = (struct sim_task *)thread;

    while (task->state != SIM_TASK_ENDED)
        (void)sim_wait(task, SIM_NEVER, "join");
    if (result)
        *result = task->result;
    sim_task_free(task);
    return 0;
}

int pthread_detach(pthread_t thread)
{
    struct sim_task *task = (struct sim_task *)thread;

    if (task->state == SIM_TASK_ENDED)
        sim_task_free(task);
    else
        task->is_detached = true;
    return 0;
}

/* Outside a life there is the one thread that libc knows. */
static pthread_t real_self(void)
{
#if defined(__x86_64__)
    return (pthread_t)__builtin_thread_pointer();
#else
    pthread_t (*real)(void);
    void *found = dlsym(RTLD_NEXT, "pthread_self");

    memcpy(&real, &found, sizeof(real));
    return real();
#endif
}

pthread_t pthread_self(void)
{
    return sim_current ? (pthread_t)sim_current : real_self();
}

/* The sanitizer asks where the stack is. */
int pthread_getattr_np(pthread_t thread, pthread_attr_t *attributes)
{
    struct sim_task *task = (struct sim_task *)thread;
    int (*real)(pthread_t, pthread_attr_t *);
    size_t size;
    void *found;

    if (sim_current) {
        void *stack = sim_fibre_bounds(task->fibre, &size);

        pthread_attr_init(attributes);
        return pthread_attr_setstack(attributes, stack, size);
    }
    found = dlsym(RTLD_NEXT, "pthread_getattr_np");
    memcpy(&real, &found, sizeof(real));
    return real(thread, attributes);
}

int pthread_setname_np(pthread_t thread, const char *name)
{
    struct sim_task *task = (struct sim_task *)thread;
    size_t size = strnlen(name, SIM_NAME_SIZE - 1);

    if (sim_current) {
        memcpy(task->name, name, size);
        task->name[size] = 0;
    }
    return 0;
}

_Noreturn void pthread_exit(void *result)
{
    sim_task_leaves();
    sim_task_end(result);
}

/* --- thread-specific values --- */

static struct {
    bool is_used;
    void (*destroy)(void *);
} keys[SIM_KEY_COUNT_MAX];
static void *driver_values[SIM_KEY_COUNT_MAX]; /* of code that runs outside any life */

static void **values(void)
{
    return sim_current ? sim_current->specific : driver_values;
}

int pthread_key_create(pthread_key_t *key, void (*destroy)(void *))
{
    for (unsigned i = 0; i < SIM_KEY_COUNT_MAX; i++)
        if (!keys[i].is_used) {
            keys[i].is_used = true;
            keys[i].destroy = destroy;
            *key = i;
            return 0;
        }
    return EAGAIN;
}

int pthread_key_delete(pthread_key_t key)
{
    keys[key].is_used = false;
    return 0;
}

void *pthread_getspecific(pthread_key_t key)
{
    return values()[key];
}

int pthread_setspecific(pthread_key_t key, const void *value)
{
    values()[key] = (void *)value;
    return 0;
}

/* A destructor may set values anew: as often as POSIX has it at least. */
void sim_task_leaves(void)
{
    for (int round = 0; round < PTHREAD_DESTRUCTOR_ITERATIONS; round++)
        for (unsigned i = 0; i < SIM_KEY_COUNT_MAX; i++) {
            void *value = values()[i];

            values()[i] = NULL;
            if (value && keys[i].is_used && keys[i].destroy)
                keys[i].destroy(value);
        }
}

int pthread_once(pthread_once_t *once, void (*run)(void))
{
    enum { RUNS = 1, DONE = 2 }; /* as libc's, for what is done before a life */

    while (*once == RUNS)
        (void)sim_wait(once, SIM_NEVER, "once");
    if (*once == DONE)
        return 0;
    *once = RUNS;
    run();
    *once = DONE;
    sim_wake_all(once);
    return 0;
}

/* --- mutexes --- */

int pthread_mutex_init(pthread_mutex_t *mutex, const pthread_mutexattr_t *attributes)
{
    int type = PTHREAD_MUTEX_DEFAULT;

    memset(mutex, 0, sizeof(*mutex));
    if (attributes)
        pthread_mutexattr_gettype(attributes, &type);
    mutex->__data.__kind = type;
    return 0;
}

int pthread_mutex_destroy(pthread_mutex_t *mutex)
{
    return mutex->__data.__owner ? EBUSY : 0;
}

static bool take(pthread_mutex_t *mutex)
{
    if (mutex->__data.__owner)
        return false;
    mutex->__data.__owner = self_id();
    if (is_static(mutex))
        sim_static_lock(1);
    return true;
}

static int lock_until(pthread_mutex_t *mutex, int64_t deadline_us)
{
    if (mutex->__data.__owner == self_id() && mutex->__data.__kind != PTHREAD_MUTEX_NORMAL) {
        if (mutex->__data.__kind == PTHREAD_MUTEX_ERRORCHECK)
            return EDEADLK;
        mutex->__data.__count++;
        return 0;
    }
    while (!take(mutex)) {
        bool is_woken;

        mutex->__data.__nusers++;
        is_woken = sim_wait(mutex, deadline_us, "lock");
        mutex->__data.__nusers--;
        if (!is_woken && mutex->__data.__owner)
            return ETIMEDOUT;
    }
    return 0;
}

int pthread_mutex_lock(pthread_mutex_t *mutex)
{
    sim_yield("lock");
    return lock_until(mutex, SIM_NEVER);
}

int pthread_mutex_timedlock(pthread_mutex_t *mutex, const struct timespec *time)
{
    sim_yield("lock");
    return lock_until(mutex, deadline_of(CLOCK_REALTIME, time));
}

int pthread_mutex_trylock(pthread_mutex_t *mutex)
{
    sim_yield("trylock");
    if (mutex->__data.__owner == self_id() && mutex->__data.__kind == PTHREAD_MUTEX_RECURSIVE)
        return lock_until(mutex, SIM_NEVER);
    return take(mutex) ? 0 : EBUSY;
}

static int unlock(pthread_mutex_t *mutex)
{
    if (mutex->__data.__owner != self_id()) {
        if (mutex->__data.__kind == PTHREAD_MUTEX_ERRORCHECK)
            return EPERM;
        sim_fail("a task unlocks a mutex that it does not hold");
    }
    if (mutex->__data.__count) {
        mutex->__data.__count--;
        return 0;
    }
    mutex->__data.__owner = 0;
    if (mutex->__data.__nusers)
        sim_wake_one(mutex);
    if (is_static(mutex))
        sim_static_lock(-1);
    return 0;
}

/* The object may be gone after it: whoever takes it next may free it. */
int pthread_mutex_unlock(pthread_mutex_t *mutex)
{
    int rc = unlock(mutex);

    sim_yield("unlock");
    return rc;
}

/* --- conditions --- */

struct cond {
    clockid_t clock;
    unsigned waiters;
};
_Static_assert(sizeof(struct cond) <= sizeof(pthread_cond_t), "it lives in there");

static struct cond *cond_of(pthread_cond_t *cond)
{
    return (struct cond *)cond;
}

int pthread_cond_init(pthread_cond_t *cond, const pthread_condattr_t *attributes)
{
    memset(cond, 0, sizeof(*cond));
    if (attributes)
        pthread_condattr_getclock(attributes, &cond_of(cond)->clock);
    return 0;
}

int pthread_cond_destroy(pthread_cond_t *cond)
{
    (void)cond;
    return 0;
}

static int cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex, int64_t deadline_us)
{
    bool is_woken = true;

    if (!sim_current)
        sim_wait(cond, deadline_us, "condition");
    unlock(mutex);
    if (sim_draw(&sim->schedule, sim_faults()->spurious)) {
        sim_yield_now("condition");
    } else {
        cond_of(cond)->waiters++;
        is_woken = sim_wait(cond, deadline_us, "condition");
        cond_of(cond)->waiters--;
    }
    lock_until(mutex, SIM_NEVER);
    return is_woken ? 0 : ETIMEDOUT;
}

int pthread_cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex)
{
    return cond_wait(cond, mutex, SIM_NEVER);
}

int pthread_cond_timedwait(pthread_cond_t *cond, pthread_mutex_t *mutex,
                           const struct timespec *time)
{
    return cond_wait(cond, mutex, deadline_of(cond_of(cond)->clock, time));
}

int pthread_cond_clockwait(pthread_cond_t *cond, pthread_mutex_t *mutex, clockid_t clock,
                           const struct timespec *time)
{
    return cond_wait(cond, mutex, deadline_of(clock, time));
}

int pthread_cond_signal(pthread_cond_t *cond)
{
    if (cond_of(cond)->waiters)
        sim_wake_one(cond);
    sim_yield("signal");
    return 0;
}

int pthread_cond_broadcast(pthread_cond_t *cond)
{
    if (cond_of(cond)->waiters)
        sim_wake_all(cond);
    sim_yield("broadcast");
    return 0;
}

/* --- read-write locks --- */

struct rwlock {
    unsigned readers, waiters;
    int writer;
};
_Static_assert(sizeof(struct rwlock) <= sizeof(pthread_rwlock_t), "it lives in there");

int pthread_rwlock_init(pthread_rwlock_t *lock, const pthread_rwlockattr_t *attributes)
{
    (void)attributes;
    memset(lock, 0, sizeof(*lock));
    return 0;
}

int pthread_rwlock_destroy(pthread_rwlock_t *lock)
{
    (void)lock;
    return 0;
}

static void rwlock_wait(struct rwlock *lock, const char *why)
{
    lock->waiters++;
    (void)sim_wait(lock, SIM_NEVER, why);
    lock->waiters--;
}

static bool rwlock_take(struct rwlock *lock, bool to_write)
{
    if (lock->writer || (to_write && lock->readers))
        return false;
    if (to_write)
        lock->writer = self_id();
    else
        lock->readers++;
    if (is_static(lock))
        sim_static_lock(1);
    return true;
}

int pthread_rwlock_rdlock(pthread_rwlock_t *lock)
{
    sim_yield("read lock");
    while (!rwlock_take((struct rwlock *)lock, false))
        rwlock_wait((struct rwlock *)lock, "read lock");
    return 0;
}

int pthread_rwlock_wrlock(pthread_rwlock_t *lock)
{
    sim_yield("write lock");
    while (!rwlock_take((struct rwlock *)lock, true))
        rwlock_wait((struct rwlock *)lock, "write lock");
    return 0;
}

int pthread_rwlock_tryrdlock(pthread_rwlock_t *lock)
{
    sim_yield("read lock");
    return rwlock_take((struct rwlock *)lock, false) ? 0 : EBUSY;
}

int pthread_rwlock_trywrlock(pthread_rwlock_t *lock)
{
    sim_yield("write lock");
    return rwlock_take((struct rwlock *)lock, true) ? 0 : EBUSY;
}

int pthread_rwlock_unlock(pthread_rwlock_t *opaque)
{
    struct rwlock *lock = (struct rwlock *)opaque;

    if (lock->writer)
        lock->writer = 0;
    else
        lock->readers--;
    if (lock->waiters)
        sim_wake_all(lock);
    if (is_static(lock))
        sim_static_lock(-1);
    sim_yield("unlock");
    return 0;
}

/* --- semaphores --- */

struct semaphore {
    unsigned value, waiters;
};
_Static_assert(sizeof(struct semaphore) <= sizeof(sem_t), "it lives in there");

int sem_init(sem_t *semaphore, int is_shared, unsigned value)
{
    assert(!is_shared);
    memset(semaphore, 0, sizeof(*semaphore));
    ((struct semaphore *)semaphore)->value = value;
    return 0;
}

int sem_destroy(sem_t *semaphore)
{
    (void)semaphore;
    return 0;
}

static int semaphore_wait(struct semaphore *self, int64_t deadline_us)
{
    sim_yield("semaphore");
    while (!self->value) {
        bool is_woken;

        self->waiters++;
        is_woken = sim_wait(self, deadline_us, "semaphore");
        self->waiters--;
        if (!is_woken && !self->value) {
            errno = ETIMEDOUT;
            return -1;
        }
    }
    self->value--;
    return 0;
}

int sem_wait(sem_t *semaphore)
{
    return semaphore_wait((struct semaphore *)semaphore, SIM_NEVER);
}

int sem_timedwait(sem_t *semaphore, const struct timespec *time)
{
    return semaphore_wait((struct semaphore *)semaphore, deadline_of(CLOCK_REALTIME, time));
}

int sem_clockwait(sem_t *semaphore, clockid_t clock, const struct timespec *time)
{
    return semaphore_wait((struct semaphore *)semaphore, deadline_of(clock, time));
}

int sem_trywait(sem_t *semaphore)
{
    struct semaphore *self = (struct semaphore *)semaphore;

    sim_yield("semaphore");
    if (!self->value) {
        errno = EAGAIN;
        return -1;
    }
    self->value--;
    return 0;
}

/* The object may be gone once another runs: whoever waited for it may free it. */
int sem_post(sem_t *semaphore)
{
    struct semaphore *self = (struct semaphore *)semaphore;

    self->value++;
    if (self->waiters)
        sim_wake_one(self);
    sim_yield("post");
    return 0;
}
