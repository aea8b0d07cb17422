/* SPDX-License-Identifier: Apache-2.0 */
/* supervisor.c - see supervisor.h. */
#include "roles/processes/supervisor.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/log.h"
#include "base/memory.h"
#include "base/object.h"
#include "base/task.h"
#include "base/text.h"

enum { BEAT_SHARE = 2, SUPERVISOR_MAGIC = OBJECT_MAGIC('s', 'u', 'p', 'v') };

struct supervisor {
    uint32_t magic;
    int socket;
    int64_t pause_us; /* between two signs of life; 0: nobody asks for them */
    struct sockaddr_un address;
    socklen_t address_size;
    struct task task;
};

/* A path, or a name of the abstract namespace, which begins with @. */
static bool set_address(struct supervisor *self, const char *path)
{
    size_t size = strlen(path);

    if (size < 2 || size >= sizeof(self->address.sun_path) || (*path != '/' && *path != '@'))
        return false;
    self->address.sun_family = AF_UNIX;
    memcpy(self->address.sun_path, path, size);
    if (*path == '@')
        self->address.sun_path[0] = 0;
    self->address_size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + size);
    return true;
}

/* How often: its WATCHDOG_USEC, if it is meant for this process. */
static int64_t find_pause_us(void)
{
    const char *limit = getenv("WATCHDOG_USEC");
    const char *pid = getenv("WATCHDOG_PID");
    int64_t limit_us = 0, meant = 0;

    if (!limit || !text_to_i64(bytes_of(limit), &limit_us) || limit_us < BEAT_SHARE)
        return 0;
    if (pid && text_to_i64(bytes_of(pid), &meant) && meant != getpid())
        return 0;
    return limit_us / BEAT_SHARE;
}

/* One that takes nothing now is told the next time. */
static void tell(const struct supervisor *self, const char *line)
{
    (void)sendto(self->socket, line, strlen(line), MSG_NOSIGNAL | MSG_DONTWAIT,
                 (const struct sockaddr *)&self->address, self->address_size);
}

static void show_life(struct task *task, void *arg)
{
    const struct supervisor *self = arg;

    object_check(self, SUPERVISOR_MAGIC);
    do {
        task_says(task, "telling the supervisor that the process is alive");
        tell(self, "WATCHDOG=1");
    } while (task_pause(task, self->pause_us));
}

struct supervisor *supervisor_start(const struct clock *clock)
{
    const char *path = getenv("NOTIFY_SOCKET");
    struct supervisor *self;
    struct err err = {0};

    if (!path)
        return NULL;
    self = mem_zero(sizeof(*self));
    object_begin(self, SUPERVISOR_MAGIC);
    self->socket = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (self->socket < 0 || !set_address(self, path)) {
        log_warn("the supervisor cannot be notified: NOTIFY_SOCKET cannot be used",
                 LOG_TEXT("socket", path));
        supervisor_stop(self);
        return NULL;
    }
    tell(self, "READY=1");
    self->pause_us = find_pause_us();
    if (self->pause_us) {
        const struct task_options task = {
            .name = "supervisor", .run = show_life, .arg = self, .clock = clock};

        if (task_start(&self->task, &task, &err)) {
            log_warn("the supervisor cannot be notified that the process is alive",
                     LOG_TEXT("error", err.text));
            self->pause_us = 0;
        }
    }
    return self;
}

void supervisor_stop(struct supervisor *supervisor)
{
    if (!supervisor)
        return;
    object_check(supervisor, SUPERVISOR_MAGIC);
    if (supervisor->pause_us)
        task_stop(&supervisor->task);
    if (supervisor->socket >= 0)
        close(supervisor->socket);
    object_end(supervisor, SUPERVISOR_MAGIC);
    free(supervisor);
}
