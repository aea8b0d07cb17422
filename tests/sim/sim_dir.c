/* SPDX-License-Identifier: Apache-2.0 */
/* sim_dir.c - see sim_dir.h. */
#include "sim_dir.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
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
