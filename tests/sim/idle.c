/* SPDX-License-Identifier: Apache-2.0 */
/* idle.c - see idle.h. */
#include "sim/idle.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/draw.h"

enum { THREAD_COUNT_MAX = 256, NAME_SIZE = 20, PATH_SIZE = 64, LINE_SIZE = 128 };

struct wakeups {
    long thread;
    char name[NAME_SIZE];
    long count; /* switches that it asked for itself: it had waited */
    long long spent_ns;
};

static void read_status(struct wakeups *wakeups)
{
    char path[PATH_SIZE], line[LINE_SIZE];
    FILE *file;

    snprintf(path, sizeof(path), "/proc/self/task/%ld/status", wakeups->thread);
    file = fopen(path, "r");
    while (file && fgets(line, sizeof(line), file)) {
        sscanf(line, "Name: %19[^\n]", wakeups->name);
        sscanf(line, "voluntary_ctxt_switches: %ld", &wakeups->count);
    }
    if (file)
        fclose(file);
    snprintf(path, sizeof(path), "/proc/self/task/%ld/schedstat", wakeups->thread);
    file = fopen(path, "r");
    if (file && fscanf(file, "%lld", &wakeups->spent_ns) != 1)
        wakeups->spent_ns = 0;
    if (file)
        fclose(file);
}

static size_t list(struct wakeups found[THREAD_COUNT_MAX])
{
    DIR *dir = opendir("/proc/self/task");
    const struct dirent *item;
    size_t count = 0;

    for (item = dir ? readdir(dir) : NULL; item && count < THREAD_COUNT_MAX; item = readdir(dir)) {
        if (item->d_name[0] == '.')
            continue;
        found[count] = (struct wakeups){.thread = strtol(item->d_name, NULL, 10)};
        read_status(&found[count++]);
    }
    if (dir)
        closedir(dir);
    return count;
}

static void print(const char *name, const struct wakeups *wakeups, double seconds)
{
    printf("# %8.1f wakeups a second, %8.2f ms of work a minute: %s\n",
           (double)wakeups->count / seconds, (double)wakeups->spent_ns / 1e6 * 60 / seconds, name);
}

void idle_measure(double seconds)
{
    struct wakeups before[THREAD_COUNT_MAX], after[THREAD_COUNT_MAX];
    size_t before_count = list(before);
    struct wakeups all = {.count = 0};
    size_t after_count;

    pause_us((int64_t)(seconds * SECOND_US));
    after_count = list(after);
    for (size_t i = 0; i < after_count; i++) {
        for (size_t k = 0; k < before_count; k++) {
            if (before[k].thread != after[i].thread)
                continue;
            after[i].count -= before[k].count;
            after[i].spent_ns -= before[k].spent_ns;
        }
        print(after[i].name, &after[i], seconds);
        all.count += after[i].count;
        all.spent_ns += after[i].spent_ns;
    }
    print("all", &all, seconds);
}
