/* SPDX-License-Identifier: Apache-2.0 */
/* darkroom.c - see darkroom.h: children and who has which; darkroom_child.h talks to one. */
#include "photos/darkroom.h"

#include <assert.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/condition.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/metrics.h"
#include "base/object.h"
#include "photos/darkroom_child.h"

enum { DARKROOM_MAGIC = OBJECT_MAGIC('d', 'a', 'r', 'k'), CHILD_COUNT_MAX = 16 };

struct darkroom {
    uint32_t magic;
    const struct clock *clock; /* borrowed */
    int64_t turn_ms_max;
    char program[PATH_MAX];
    pthread_mutex_t lock;
    struct condition freed; /* a child has ended its turn */
    struct darkroom_child children[CHILD_COUNT_MAX];
    bool is_taken[CHILD_COUNT_MAX]; /* with the lock */
    unsigned child_count;
    struct counter *developed;
    struct counter *refused;
    struct counter *killed;
};

/* --- the program --- */

static bool is_program(const char *path)
{
    return access(path, X_OK) == 0;
}

/* Beside this program, as a build leaves it; or in ../libexec, as it is installed. */
static int find_program(const char *name, char *path, struct err *err)
{
    char own[PATH_MAX];
    ssize_t size = readlink("/proc/self/exe", own, sizeof(own) - 1);
    char *slash;

    if (size < 0)
        return err_set(err, ERR_NOT_FOUND, "the path of this program cannot be found out");
    own[size] = 0;
    slash = strrchr(own, '/');
    *slash = 0;
    if (snprintf(path, PATH_MAX, "%s/%s", own, name) < PATH_MAX && is_program(path))
        return 0;
    if (snprintf(path, PATH_MAX, "%s/../libexec/%s", own, name) < PATH_MAX && is_program(path))
        return 0;
    return err_set(err, ERR_NOT_FOUND, "there is no %s in %s or in ../libexec of it", name, own);
}

int darkroom_open(const struct darkroom_options *options, struct darkroom **darkroom,
                  struct err *err)
{
    struct darkroom *made = mem_zero(sizeof(*made));
    const char *labels = options->name ? "program=\"easel\"" : ""; /* drawings are no photos */
    int rc = 0;

    *darkroom = NULL;
    if (!options->program)
        rc = find_program(options->name ? options->name : "torg-darkroom", made->program, err);
    else if (snprintf(made->program, PATH_MAX, "%s", options->program) >= PATH_MAX ||
             !is_program(made->program))
        rc = err_set(err, ERR_NOT_FOUND, "%.300s is not a program", options->program);
    if (rc) {
        free(made);
        return rc;
    }
    object_begin(made, DARKROOM_MAGIC);
    made->clock = options->clock;
    made->turn_ms_max = options->turn_ms_max ? options->turn_ms_max : DARKROOM_TURN_MS_MAX;
    made->child_count = options->child_count ? options->child_count : DARKROOM_CHILD_COUNT;
    assert(made->child_count <= CHILD_COUNT_MAX);
    for (unsigned i = 0; i < made->child_count; i++)
        darkroom_child_init(&made->children[i]);
    pthread_mutex_init(&made->lock, NULL);
    condition_init(&made->freed, made->clock);
    made->developed =
        metrics_counter("torg_photos_developed_total", labels, "Photos made into sizes.");
    made->refused = metrics_counter("torg_photos_refused_total", labels,
                                    "Files that could not be made into any.");
    made->killed = metrics_counter("torg_photos_children_killed_total", labels,
                                   "Decoders that died, took too long or answered nonsense.");
    *darkroom = made;
    return 0;
}

void darkroom_close(struct darkroom *darkroom)
{
    if (!darkroom)
        return;
    object_check(darkroom, DARKROOM_MAGIC);
    for (unsigned i = 0; i < darkroom->child_count; i++) {
        assert(!darkroom->is_taken[i]);
        darkroom_child_end(&darkroom->children[i]);
    }
    condition_release(&darkroom->freed);
    pthread_mutex_destroy(&darkroom->lock);
    object_end(darkroom, DARKROOM_MAGIC);
    free(darkroom);
}

/* --- a file --- */

static unsigned take_child(struct darkroom *darkroom)
{
    unsigned found;

    pthread_mutex_lock(&darkroom->lock);
    for (;;) {
        for (found = 0; found < darkroom->child_count && darkroom->is_taken[found]; found++)
            ;
        if (found < darkroom->child_count)
            break;
        /* a turn has an end, so this has */
        condition_wait_until(&darkroom->freed, &darkroom->lock, CLOCK_NEVER);
    }
    darkroom->is_taken[found] = true;
    pthread_mutex_unlock(&darkroom->lock);
    return found;
}

static void free_child(struct darkroom *darkroom, unsigned number)
{
    pthread_mutex_lock(&darkroom->lock);
    assert(darkroom->is_taken[number]);
    darkroom->is_taken[number] = false;
    condition_signal(&darkroom->freed);
    pthread_mutex_unlock(&darkroom->lock);
}

/* A child that did not answer is gone; what that tells its sender. */
static int tell_loss(struct darkroom *darkroom, struct darkroom_child *child, int rc,
                     struct err *err)
{
    log_warn("a photo's decoder was killed", LOG_TEXT("reason", err->text));
    counter_add(darkroom->killed, 1);
    darkroom_child_kill(child);
    if (rc == ERR_TIMEOUT)
        return err_set(err, ERR_TIMEOUT, "the picture takes too long to decode: save it again");
    return err_set(err, ERR_TIMEOUT,
                   "the picture cannot be decoded: it is damaged, or too much for memory");
}

static int ask_child(struct darkroom *darkroom, struct darkroom_child *child, struct bytes file,
                     struct arena *arena, struct darkroom_photo *photo, struct err *err)
{
    int64_t until_us = clock_after_us(darkroom->clock, darkroom->turn_ms_max * MS_US);

    return darkroom_child_ask(child, file, until_us, darkroom->clock, arena, photo, err);
}

static int start_child(struct darkroom *darkroom, struct darkroom_child *child, struct err *err)
{
    int rc = darkroom_child_start(child, darkroom->program, darkroom->clock, err);

    if (rc) {
        err_wrap(err, "no decoder of photos can be started");
        err->code = ERR_UNAVAILABLE;
    }
    return rc ? ERR_UNAVAILABLE : 0;
}

static int develop(struct darkroom *darkroom, struct darkroom_child *child, struct bytes file,
                   struct arena *arena, struct darkroom_photo *photo, struct err *err)
{
    bool is_used = child->photo_count > 0;
    int rc = start_child(darkroom, child, err);

    if (rc)
        return rc;
    rc = ask_child(darkroom, child, file, arena, photo, err);
    if (rc == ERR_UNAVAILABLE && is_used) { /* it may have died before: not the file's fault */
        darkroom_child_kill(child);
        rc = start_child(darkroom, child, err);
        if (rc)
            return rc;
        rc = ask_child(darkroom, child, file, arena, photo, err);
    }
    if (rc && rc != ERR_INVALID)
        rc = tell_loss(darkroom, child, rc, err);
    else if (child->photo_count >= DARKROOM_PHOTO_COUNT_MAX)
        darkroom_child_end(child);
    counter_add(rc ? darkroom->refused : darkroom->developed, 1);
    return rc;
}

int darkroom_develop(struct darkroom *darkroom, struct bytes file, struct arena *arena,
                     struct darkroom_photo *photo, struct err *err)
{
    unsigned number;
    int rc;

    object_check(darkroom, DARKROOM_MAGIC);
    assert(file.size <= PHOTO_FILE_SIZE_MAX);
    memset(photo, 0, sizeof(*photo));
    number = take_child(darkroom);
    rc = develop(darkroom, &darkroom->children[number], file, arena, photo, err);
    free_child(darkroom, number);
    return rc;
}
