/* SPDX-License-Identifier: Apache-2.0 */
/* stopper.c - see stopper.h. */
#include "roles/processes/stopper.h"

#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <unistd.h>

#include "base/condition.h"
#include "base/task.h"

enum { SHELL_SIGNAL_BASE = 128 }; /* how shells write "ended by a signal" */

/* As signals, these are the process's: the main thread waits for the task that gets them. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct condition asked;
static bool serving;   /* guarded by lock */
static int asked_with; /* guarded by lock: the first signal while serving; 0 = none */
static sigset_t signals;

static void take_signals(struct task *task, void *arg)
{
    task_says(task, "waiting for signals");
    task_rest(task, true); /* it ends with the process */
    for (;;) {
        int number = 0;

        if (sigwait(&signals, &number))
            continue;
        pthread_mutex_lock(&lock);
        if (!serving || asked_with)
            _exit(SHELL_SIGNAL_BASE + number);
        asked_with = number;
        condition_signal(&asked);
        pthread_mutex_unlock(&lock);
    }
}

void stopper_start(void)
{
    const struct sigaction ignore = {.sa_handler = SIG_IGN};
    const struct task_options task = {
        .name = "signals", .run = take_signals, .clock = clock_system()};
    int rc;

    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGHUP);
    pthread_sigmask(SIG_BLOCK, &signals, NULL);
    sigaction(SIGPIPE, &ignore, NULL);
    condition_init(&asked, clock_system());
    rc = task_spawn(&task, NULL);
    assert(rc == 0);
}

void stopper_serve(void)
{
    pthread_mutex_lock(&lock);
    serving = true;
    pthread_mutex_unlock(&lock);
}

int stopper_wait(void)
{
    int number;

    pthread_mutex_lock(&lock);
    while (!asked_with)
        condition_wait(&asked, &lock);
    number = asked_with;
    pthread_mutex_unlock(&lock);
    return number;
}
