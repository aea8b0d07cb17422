/* SPDX-License-Identifier: Apache-2.0 */
/*
 * machine.c - see machine.h.
 *
 * A life of a machine has a main thread, which starts the stages, waits until it is to stop and
 * stops them, and a few that answer requests. A dead life is left as it is: its threads stand in
 * the middle of what they did, and nobody frees what they hold.
 */
#include "sim/machine.h"

#include <assert.h>
#include <dirent.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/memory.h"

enum { ANSWERER_COUNT = 3, BOOT_AGAIN_MS = 300, FILE_SIZE_MAX = 1 << 30 };

struct machine_life {
    struct machine *machine;
    struct sim_node *node;
    char dir[MACHINE_DIR_SIZE + 32];
    pthread_t main;
    pthread_t answerers[ANSWERER_COUNT];
    struct stages stages;
    bool is_up;
    bool is_stopping;
    struct request *requests; /* the oldest first */
};

/* The program's, so that nobody dies who has it; of all machines, as is the condition. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

static bool wait_changed(const struct clock *clock, int64_t until_us)
{
    return clock->wait(clock, &changed, &lock, until_us);
}

void machine_init(struct machine *machine, struct sim_net *net, const char *name, const char *root,
                  const struct stages_options *options)
{
    *machine = (struct machine){.net = net, .options = *options};
    snprintf(machine->name, sizeof(machine->name), "%s", name);
    snprintf(machine->root, sizeof(machine->root), "%s", root);
}

/* --- requests --- */

void *request_new(size_t size, void (*run)(struct stages *stages, struct request *request))
{
    struct request *request = mem_zero(size);

    request->run = run;
    request->arena = arena_new();
    return request;
}

static void free_now(struct request *request)
{
    arena_free(request->arena);
    free(request);
}

void request_free(struct request *request)
{
    bool is_ours;

    pthread_mutex_lock(&lock);
    is_ours = request->is_done;
    request->is_left = true;
    pthread_mutex_unlock(&lock);
    if (is_ours)
        free_now(request);
}

void machine_send(struct machine *machine, struct request *request)
{
    struct machine_life *life;

    pthread_mutex_lock(&lock);
    life = machine->life;
    if (life && life->is_up && !life->is_stopping) {
        struct request **link = &life->requests;

        while (*link)
            link = &(*link)->next;
        *link = request;
        pthread_cond_broadcast(&changed);
    } else {
        request->is_done = true; /* refused: nobody has it */
        request->rc = err_set(&request->err, ERR_UNAVAILABLE, "%s is not up", machine->name);
    }
    pthread_mutex_unlock(&lock);
}

int machine_await(struct machine *machine, struct request *request, int64_t timeout_us)
{
    const struct clock *clock = sim_net_clock(machine->net);
    int64_t until_us = clock_after_us(clock, timeout_us);
    bool in_time = true;
    bool is_done;

    pthread_mutex_lock(&lock);
    while (!request->is_done && in_time)
        in_time = wait_changed(clock, until_us);
    is_done = request->is_done;
    pthread_mutex_unlock(&lock);
    return is_done ? request->rc : ERR_TIMEOUT;
}

int machine_ask(struct machine *machine, struct request *request, int64_t timeout_us)
{
    machine_send(machine, request);
    return machine_await(machine, request, timeout_us);
}

static void *answer(void *arg)
{
    struct machine_life *life = arg;
    const struct clock *clock =
        sim_net_clock(life->machine->net); /* its own stops who has the lock */

    pthread_mutex_lock(&lock);
    for (;;) {
        struct request *request = life->requests;

        if (!request && life->is_stopping)
            break;
        if (!request) {
            (void)wait_changed(clock, CLOCK_NEVER);
            continue;
        }
        life->requests = request->next;
        pthread_mutex_unlock(&lock);
        request->run(&life->stages, request);
        pthread_mutex_lock(&lock);
        request->is_done = true;
        pthread_cond_broadcast(&changed);
        if (request->is_left)
            free_now(request);
    }
    pthread_mutex_unlock(&lock);
    return NULL;
}

/* --- life --- */

static bool is_stopping(struct machine_life *life)
{
    bool stopping;

    pthread_mutex_lock(&lock);
    stopping = life->is_stopping;
    pthread_mutex_unlock(&lock);
    return stopping;
}

static bool start_stages(struct machine_life *life)
{
    const struct machine *machine = life->machine;
    const struct clock *clock = sim_node_clock(life->node);
    char url[SIM_NODE_NAME_SIZE + 8];
    struct err err = {0};

    snprintf(url, sizeof(url), "sim:%s", machine->name);
    while (stages_start(&life->stages, &machine->options, url, machine->name, clock, life->dir,
                        &err)) {
        if (is_stopping(life))
            return false;
        clock_sleep(clock, BOOT_AGAIN_MS * MS_US);
    }
    return true;
}

static void *run_main(void *arg)
{
    struct machine_life *life = arg;

    if (!start_stages(life))
        return NULL;
    for (int i = 0; i < ANSWERER_COUNT; i++) {
        if (pthread_create(&life->answerers[i], NULL, answer, life))
            abort();
    }
    pthread_mutex_lock(&lock);
    life->is_up = true;
    while (!life->is_stopping)
        (void)wait_changed(sim_net_clock(life->machine->net), CLOCK_NEVER);
    pthread_mutex_unlock(&lock);
    for (int i = 0; i < ANSWERER_COUNT; i++)
        pthread_join(life->answerers[i], NULL);
    stages_stop(&life->stages);
    return NULL;
}

static void start_main(void *arg)
{
    struct machine_life *life = arg;

    if (pthread_create(&life->main, NULL, run_main, life))
        abort();
}

void machine_boot(struct machine *machine)
{
    struct machine_life *life = mem_zero(sizeof(*life));

    assert(!machine->life);
    life->machine = machine;
    snprintf(life->dir, sizeof(life->dir), "%s/%s-%u", machine->root, machine->name,
             machine->disk_number);
    life->node = sim_node_new(machine->net, machine->name);
    sim_node_set_clock(life->node,
                       (int64_t)sim_net_draw(machine->net, 4 * SECOND_US) - 2 * SECOND_US,
                       (int64_t)sim_net_draw(machine->net, 1000) * SECOND_US);
    pthread_mutex_lock(&lock);
    machine->life = life;
    pthread_mutex_unlock(&lock);
    sim_node_run(life->node, start_main, life);
}

static struct machine_life *take_life(struct machine *machine)
{
    struct machine_life *life;

    pthread_mutex_lock(&lock);
    life = machine->life;
    machine->life = NULL;
    if (life) {
        life->is_stopping = true;
        pthread_cond_broadcast(&changed);
    }
    pthread_mutex_unlock(&lock);
    return life;
}

void machine_stop(struct machine *machine)
{
    struct machine_life *life = take_life(machine);

    if (!life)
        return;
    pthread_join(life->main, NULL);
    sim_node_free(life->node);
    assert(!life->requests);
    free(life);
}

/* What the disk holds at this moment, in a new place: files of the old one stay open and locked by
 * the dead. */
static int copy_dir(const char *from, const char *to, struct err *err)
{
    char source[1024], target[1024];
    int rc = dir_create(to, err);
    DIR *dir = rc ? NULL : opendir(from);

    for (struct dirent *entry = dir ? readdir(dir) : NULL; entry && !rc; entry = readdir(dir)) {
        struct buf content = BUF_INIT(FILE_SIZE_MAX);
        struct stat is;

        snprintf(source, sizeof(source), "%s/%s", from, entry->d_name);
        snprintf(target, sizeof(target), "%s/%s", to, entry->d_name);
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0 ||
            stat(source, &is))
            continue;
        if (S_ISDIR(is.st_mode)) {
            rc = copy_dir(source, target, err);
        } else {
            rc = file_read(source, &content, err);
            rc = rc ? rc : file_write(target, buf_bytes(&content), err);
        }
        buf_release(&content);
    }
    if (dir)
        closedir(dir);
    return rc;
}

void machine_kill(struct machine *machine, bool loses_disk)
{
    struct machine_life *life;
    char next[sizeof(life->dir)];
    struct err err;

    pthread_mutex_lock(&lock);
    life = machine->life;
    machine->life = NULL;
    pthread_mutex_unlock(&lock);
    if (!life)
        return;
    sim_node_kill(life->node);
    machine->disk_number++;
    snprintf(next, sizeof(next), "%s/%s-%u", machine->root, machine->name, machine->disk_number);
    /* Where threads are not stopped at once, what they write meanwhile would be torn: the disk is
     * lost instead. */
    if (sim_kills_at_once() && machine->options.is_searcher && !loses_disk &&
        copy_dir(life->dir, next, &err))
        abort();
}

struct sim_node *machine_node(struct machine *machine)
{
    struct sim_node *node;

    pthread_mutex_lock(&lock);
    node = machine->life ? machine->life->node : NULL;
    pthread_mutex_unlock(&lock);
    return node;
}

bool machine_is_up(struct machine *machine)
{
    bool is_up;

    pthread_mutex_lock(&lock);
    is_up = machine->life && machine->life->is_up;
    pthread_mutex_unlock(&lock);
    return is_up;
}
