/* SPDX-License-Identifier: Apache-2.0 */
/* darkroom_child.c - see darkroom_child.h. */
#include "photos/darkroom_child.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/endian.h"
#include "base/memory.h"
#include "photos/darkroom_wire.h"

void darkroom_child_init(struct darkroom_child *child)
{
    *child = (struct darkroom_child){.fd = -1};
}

/* --- its life --- */

/* A group of its own: an interrupt from the keyboard is for us. No signal is kept from it, nothing
 * of ours is open in it, and nothing in its environment. */
static int spawn(const char *program, int fd, pid_t *pid)
{
    const char *slash = strrchr(program, '/');
    char *const arguments[] = {(char *)(slash ? slash + 1 : program), NULL};
    char *const environment[] = {NULL};
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none;
    int rc;

    sigemptyset(&none);
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    posix_spawn_file_actions_adddup2(&actions, fd, STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, fd, STDOUT_FILENO);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addclosefrom_np(&actions, STDERR_FILENO + 1);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setpgroup(&attributes, 0);
    rc = posix_spawn(pid, program, &actions, &attributes, arguments, environment);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return rc;
}

static void forget(struct darkroom_child *child)
{
    close(child->fd);
    darkroom_child_init(child);
}

void darkroom_child_kill(struct darkroom_child *child)
{
    if (!child->pid)
        return;
    kill(child->pid, SIGKILL);
    waitpid(child->pid, NULL, 0);
    forget(child);
}

void darkroom_child_end(struct darkroom_child *child)
{
    if (!child->pid)
        return;
    shutdown(child->fd, SHUT_RDWR); /* it is not at work: it reads, and sees the end */
    darkroom_child_kill(child);
}

/* --- bytes, by a time --- */

static int wait_for(const struct darkroom_child *child, short events, int64_t until_us,
                    const struct clock *clock, struct err *err)
{
    struct pollfd one = {.fd = child->fd, .events = events};
    int64_t left_us = until_us - clock_mono_us(clock);

    if (left_us <= 0)
        return err_set(err, ERR_TIMEOUT, "the decoder took too long");
    if (poll(&one, 1, (int)(left_us / MS_US) + 1) < 0 && errno != EINTR)
        return err_errno(err, "the decoder cannot be waited for");
    return 0;
}

static int send_bytes(const struct darkroom_child *child, struct bytes bytes, int64_t until_us,
                      const struct clock *clock, struct err *err)
{
    while (bytes.size) {
        ssize_t sent = send(child->fd, bytes.data, bytes.size, MSG_NOSIGNAL | MSG_DONTWAIT);
        int rc = 0;

        if (sent >= 0)
            bytes = bytes_skip(bytes, (size_t)sent);
        else if (errno == EAGAIN)
            rc = wait_for(child, POLLOUT, until_us, clock, err);
        else if (errno != EINTR)
            rc = err_errno(err, "the decoder does not read");
        if (rc)
            return rc;
    }
    return 0;
}

static int receive_bytes(const struct darkroom_child *child, uint8_t *to, size_t size,
                         int64_t until_us, const struct clock *clock, struct err *err)
{
    while (size) {
        ssize_t got = recv(child->fd, to, size, MSG_DONTWAIT);
        int rc = 0;

        if (got > 0) {
            to += got;
            size -= (size_t)got;
        } else if (got == 0) {
            rc = err_set(err, ERR_UNAVAILABLE, "the decoder died");
        } else if (errno == EAGAIN) {
            rc = wait_for(child, POLLIN, until_us, clock, err);
        } else if (errno != EINTR) {
            rc = err_errno(err, "the decoder cannot be read");
        }
        if (rc)
            return rc;
    }
    return 0;
}

int darkroom_child_start(struct darkroom_child *child, const char *program,
                         const struct clock *clock, struct err *err)
{
    uint8_t word = 0;
    int ends[2];
    int rc;

    if (child->pid)
        return 0;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
        return err_errno(err, "a pair of sockets");
    rc = spawn(program, ends[1], &child->pid);
    close(ends[1]);
    child->fd = ends[0];
    if (rc) {
        forget(child);
        errno = rc;
        return err_errno(err, "%s", program);
    }
    rc = receive_bytes(child, &word, 1, clock_after_us(clock, DARKROOM_START_MS_MAX * MS_US), clock,
                       err);
    if (!rc && word != WIRE_READY)
        rc = err_set(err, ERR_CORRUPT, "it does not say that it is shut in");
    if (rc)
        darkroom_child_kill(child);
    return rc;
}

/* --- an answer --- */

/* What is left of an answer; a number that is not there is 0, and `is_short`. */
struct reading {
    struct bytes rest;
    bool is_short;
};

static struct bytes read_bytes(struct reading *reading, size_t size)
{
    struct bytes part = BYTES_EMPTY;

    if (reading->is_short || size > reading->rest.size) {
        reading->is_short = true;
        return part;
    }
    part = bytes_make(reading->rest.data, size);
    reading->rest = bytes_skip(reading->rest, size);
    return part;
}

static uint32_t read32(struct reading *reading)
{
    struct bytes part = read_bytes(reading, 4);

    return part.size ? get_le32(part.data) : 0;
}

static uint8_t read8(struct reading *reading)
{
    struct bytes part = read_bytes(reading, 1);

    return part.size ? part.data[0] : 0;
}

static bool read_picture(struct reading *reading, struct darkroom_picture *picture)
{
    uint8_t format;

    picture->width = read32(reading);
    picture->height = read32(reading);
    format = read8(reading);
    picture->extension = format == WIRE_JPEG ? ".jpg" : ".webp";
    picture->content = read_bytes(reading, read32(reading));
    return !reading->is_short && format <= WIRE_WEBP && picture->content.size && picture->width &&
           picture->height && picture->width <= PHOTO_FULL_SIDE &&
           picture->height <= PHOTO_FULL_SIDE;
}

static bool read_made(struct reading *reading, struct darkroom_photo *photo)
{
    bool ok = true;

    photo->width = read32(reading);
    photo->height = read32(reading);
    photo->look = read32(reading);
    photo->look |= (uint64_t)read32(reading) << 32u;
    photo->preview = read_bytes(reading, read8(reading));
    photo->count = read8(reading);
    if (photo->count < 1 || photo->count > PHOTO_SIZE_COUNT_MAX ||
        photo->preview.size > PHOTO_PREVIEW_SIZE_MAX)
        return false;
    for (size_t i = 0; i < photo->count && ok; i++)
        ok = read_picture(reading, &photo->pictures[i]);
    return ok && !reading->rest.size;
}

static int read_answer(struct bytes answer, struct darkroom_photo *photo, struct err *err)
{
    struct reading reading = {.rest = answer};
    uint8_t verdict = read8(&reading);

    if (verdict == WIRE_REFUSED && reading.rest.size <= PHOTO_REFUSAL_SIZE_MAX)
        return err_set(err, ERR_INVALID, "%.*s", BYTES_ARG(reading.rest));
    if (verdict != WIRE_MADE || !read_made(&reading, photo))
        return err_set(err, ERR_CORRUPT, "the decoder's answer is not one of ours");
    return 0;
}

int darkroom_child_ask(struct darkroom_child *child, struct bytes file, int64_t until_us,
                       const struct clock *clock, struct arena *arena, struct darkroom_photo *photo,
                       struct err *err)
{
    uint8_t head[WIRE_HEAD_SIZE];
    uint8_t *answer;
    uint32_t size;
    int rc;

    put_le32(head, WIRE_REQUEST);
    put_le32(head + 4, (uint32_t)file.size);
    child->photo_count++;
    rc = send_bytes(child, bytes_make(head, sizeof(head)), until_us, clock, err);
    rc = rc ? rc : send_bytes(child, file, until_us, clock, err);
    rc = rc ? rc : receive_bytes(child, head, sizeof(head), until_us, clock, err);
    if (rc)
        return rc;
    size = get_le32(head + 4);
    if (get_le32(head) != WIRE_ANSWER || size > PHOTO_ANSWER_SIZE_MAX)
        return err_set(err, ERR_CORRUPT, "the decoder's answer is not one of ours");
    answer = arena_alloc(arena, size);
    rc = receive_bytes(child, answer, size, until_us, clock, err);
    return rc ? rc : read_answer(bytes_make(answer, size), photo, err);
}
