/* SPDX-License-Identifier: Apache-2.0 */
/* sim_dir.c - see sim_dir.h. */
#include "sim_dir.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { LISTING_SIZE = 4096, DIR_TYPE = 4 };

struct entry {
    unsigned long inode;
    long next;
    unsigned short size;
    unsigned char type;
    char name[];
};

static void remove_below(int dir)
{
    _Alignas(struct entry) char listing[LISTING_SIZE];
    bool has_removed = true;

    while (has_removed) {
        long got = syscall(SYS_getdents64, dir, listing, sizeof(listing));

        has_removed = false;
        for (long at = 0; at < got;) {
            struct entry *entry = (struct entry *)(listing + at);

            at += entry->size;
            if (strcmp(entry->name, ".") == 0 || strcmp(entry->name, "..") == 0)
                continue;
            if (entry->type == DIR_TYPE) {
                int below = (int)syscall(SYS_openat, dir, entry->name, O_RDONLY | O_DIRECTORY, 0);

                if (below >= 0) {
                    remove_below(below);
                    syscall(SYS_close, below);
                }
            }
            syscall(SYS_unlinkat, dir, entry->name, entry->type == DIR_TYPE ? AT_REMOVEDIR : 0);
            has_removed = true;
        }
        if (has_removed)
            syscall(SYS_lseek, dir, 0, SEEK_SET);
    }
}

void sim_dir_remove(const char *path)
{
    int dir = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_DIRECTORY, 0);

    if (dir < 0)
        return;
    remove_below(dir);
    syscall(SYS_close, dir);
    syscall(SYS_unlinkat, AT_FDCWD, path, AT_REMOVEDIR);
}

void sim_dir_sweep(const char *path, const char *prefix)
{
    DIR *stream = opendir(path);
    struct dirent *entry;
    char left[PATH_MAX];

    for (entry = stream ? readdir(stream) : NULL; entry; entry = readdir(stream)) {
        long pid;

        if (strncmp(entry->d_name, prefix, strlen(prefix)) != 0)
            continue;
        pid = strtol(entry->d_name + strlen(prefix), NULL, 10);
        if (pid <= 0 || kill((pid_t)pid, 0) == 0 || errno != ESRCH)
            continue;
        snprintf(left, sizeof(left), "%s/%s", path, entry->d_name);
        sim_dir_remove(left);
    }
    if (stream)
        closedir(stream);
}
