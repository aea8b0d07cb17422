/* SPDX-License-Identifier: Apache-2.0 */
/* The line protocol of bench core; peer.h says what it is. */
#include "peers/peer.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/memory.h"

enum { CHANGE_BATCH = 50, LINE_SIZE_MAX = 1 << 20 };

struct changes {
    const struct peer_ops *ops;
    char **lines; /* owned */
    size_t count;
    uint64_t rate;    /* a second; 0: as fast as it can */
    uint64_t time_ns; /* it ends then, whether all are in or not */
    bool rank_only;
    uint64_t ns;
    _Atomic uint64_t applied;
    pthread_t thread;
    bool running;
};

_Noreturn void peer_die(const char *what, const char *why)
{
    fprintf(stderr, "bench core: %s: %s\n", what, why);
    exit(1);
}

uint64_t peer_now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

const char *ask_get(const struct ask *ask, const char *name)
{
    size_t size = strlen(name);

    for (size_t i = 1; i < ask->count; i++)
        if (!strncmp(ask->words[i], name, size) && ask->words[i][size] == '=')
            return ask->words[i] + size + 1;
    return "";
}

uint64_t ask_number(const struct ask *ask, const char *name, uint64_t otherwise)
{
    const char *text = ask_get(ask, name);

    return *text ? strtoull(text, NULL, 10) : otherwise;
}

void answer_add(struct answer *answer, uint64_t id, double key)
{
    if (answer->count == PEER_HIT_COUNT_MAX)
        peer_die("query", "more hits than anybody asks for");
    answer->ids[answer->count] = id;
    answer->keys[answer->count++] = key;
}

/* Ends each part of the line where its tab was; returns how many there are. */
static size_t part(char *line, char **parts, size_t max)
{
    size_t count = 0;

    line[strcspn(line, "\n")] = 0;
    for (char *at = line; at && count < max;) {
        char *tab = strchr(at, '\t');

        parts[count++] = at;
        if (tab)
            *tab++ = 0;
        at = tab;
    }
    return count;
}

uint64_t peer_read(const char *path, uint64_t limit,
                   void (*take)(const char *const *parts, void *context), void *context)
{
    FILE *file = fopen(path, "r");
    char *line = NULL;
    size_t capacity = 0;
    uint64_t count = 0;

    if (!file)
        peer_die(path, strerror(errno));
    setvbuf(file, NULL, _IOFBF, 1 << 20);
    while (count < limit && getline(&line, &capacity, file) > 0) {
        char *parts[PART_COUNT];

        if (part(line, parts, PART_COUNT) != PART_COUNT)
            peer_die(path, "a line without all its parts");
        take((const char *const *)parts, context);
        count++;
    }
    free(line);
    fclose(file);
    return count;
}

static void pause_until(uint64_t due_ns)
{
    uint64_t now = peer_now_ns();

    if (due_ns > now) {
        struct timespec left = {(time_t)((due_ns - now) / 1000000000u),
                                (long)((due_ns - now) % 1000000000u)};

        nanosleep(&left, NULL);
    }
}

static void *apply_changes(void *context)
{
    struct changes *changes = context;
    uint64_t start = peer_now_ns();

    changes->ops->change_begin();
    for (size_t i = 0; i < changes->count; i++) {
        char *parts[PART_COUNT + 1];
        enum change_kind kind;

        if (part(changes->lines[i], parts, PART_COUNT + 1) != PART_COUNT + 1)
            peer_die("changes", "a line without all its parts");
        kind = changes->rank_only ? CHANGE_RANK : *parts[0] == 'A' ? CHANGE_PRICE : CHANGE_WHOLE;
        changes->ops->change(kind, (const char *const *)parts + 1, i + 1);
        atomic_fetch_add(&changes->applied, 1);
        if ((i + 1) % CHANGE_BATCH == 0) {
            changes->ops->change_commit();
            if (peer_now_ns() - start > changes->time_ns)
                break;
            if (changes->rate)
                pause_until(start + (i + 1) * 1000000000u / changes->rate);
        }
    }
    changes->ops->change_commit();
    changes->ns = peer_now_ns() - start;
    changes->ops->change_end();
    return NULL;
}

static void start_changes(struct changes *changes, const struct ask *ask)
{
    const char *path = ask_get(ask, "file");
    uint64_t limit = ask_number(ask, "limit", UINT64_MAX);
    FILE *file = fopen(path, "r");
    char *line = NULL;
    size_t capacity = 0, room = 0;

    if (!file)
        peer_die(path, strerror(errno));
    changes->count = 0;
    changes->lines = NULL;
    while (changes->count < limit && getline(&line, &capacity, file) > 0) {
        if (changes->count == room) {
            room = room * 2 + 1024;
            changes->lines = mem_resize(changes->lines, room * sizeof(*changes->lines));
        }
        changes->lines[changes->count++] = mem_strdup(line);
    }
    free(line);
    fclose(file);
    changes->rate = ask_number(ask, "rate", 0);
    changes->time_ns = ask_number(ask, "seconds", 3600) * 1000000000u;
    changes->rank_only = !strcmp(ask->words[0], "rank");
    atomic_store(&changes->applied, 0);
    if (pthread_create(&changes->thread, NULL, apply_changes, changes))
        peer_die("changes", "no thread");
    changes->running = true;
}

static void wait_changes(struct changes *changes)
{
    if (!changes->running)
        return;
    pthread_join(changes->thread, NULL);
    changes->running = false;
    for (size_t i = 0; i < changes->count; i++)
        free(changes->lines[i]);
    free(changes->lines);
}

static void answer_query(const struct peer_ops *ops, const struct ask *ask, struct buf *out)
{
    struct answer answer = {0};
    uint64_t start = peer_now_ns();

    ops->query(ask, &answer);
    buf_printf(out, "\tns=%ju", (uintmax_t)(peer_now_ns() - start));
    if (answer.has_total)
        buf_printf(out, "\ttotal=%ju", (uintmax_t)answer.total);
    buf_put_text(out, "\thits=");
    for (size_t i = 0; i < answer.count; i++)
        buf_printf(out, "%s%ju:%.17g", i ? "," : "", (uintmax_t)answer.ids[i], answer.keys[i]);
    if (*ask_get(ask, "facets")) {
        buf_put_text(out, "\tfacets=");
        ops->put_facets(out);
    }
}

static void make_index(const struct peer_ops *ops, const struct ask *ask, struct buf *out)
{
    uint64_t start = peer_now_ns();
    uint32_t segments = ops->index(ask_get(ask, "dir"), ask_get(ask, "corpus"),
                                   ask_number(ask, "limit", UINT64_MAX));

    buf_printf(out, "\tns=%ju\tsegments=%u", (uintmax_t)(peer_now_ns() - start), segments);
}

static void obey(const struct peer_ops *ops, struct changes *changes, const struct ask *ask,
                 struct buf *out)
{
    const char *command = ask->count ? ask->words[0] : "";

    buf_put_text(out, "ok");
    if (!strcmp(command, "query")) {
        answer_query(ops, ask, out);
    } else if (!strcmp(command, "index")) {
        make_index(ops, ask, out);
    } else if (!strcmp(command, "open")) {
        ops->open(ask_get(ask, "dir"));
    } else if (!strcmp(command, "change") || !strcmp(command, "rank")) {
        wait_changes(changes);
        start_changes(changes, ask);
        buf_printf(out, "\tchanges=%zu", changes->count);
    } else if (!strcmp(command, "applied")) {
        buf_printf(out, "\tapplied=%ju", (uintmax_t)atomic_load(&changes->applied));
    } else if (!strcmp(command, "wait")) {
        wait_changes(changes);
        buf_printf(out, "\tapplied=%ju\tns=%ju", (uintmax_t)atomic_load(&changes->applied),
                   (uintmax_t)changes->ns);
    } else if (!strcmp(command, "sizes")) {
        if (ops->put_sizes)
            ops->put_sizes(out);
    } else {
        buf_reset(out);
        buf_printf(out, "error\tno command %s", command);
    }
    buf_put_byte(out, '\n');
}

int peer_main(const struct peer_ops *ops)
{
    struct changes changes = {.ops = ops};
    struct buf out = BUF_INIT(LINE_SIZE_MAX);
    char *line = NULL;
    size_t capacity = 0;

    while (getline(&line, &capacity, stdin) > 0) {
        struct ask ask;

        ask.count = part(line, ask.words, PEER_WORD_COUNT_MAX);
        buf_reset(&out);
        obey(ops, &changes, &ask, &out);
        if (fwrite(out.data, 1, out.size, stdout) != out.size || fflush(stdout))
            peer_die(ops->name, "the reader of answers is gone");
    }
    wait_changes(&changes);
    ops->close();
    buf_release(&out);
    free(line);
    return 0;
}
