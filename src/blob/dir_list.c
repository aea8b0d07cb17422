/* SPDX-License-Identifier: Apache-2.0 */
/* dir_list.c - see dir_list.h. The walk keeps its folders in a list, not on the stack. */
#include "blob/dir_list.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/memory.h"
#include "blob/bounds.h"

struct folder {
    struct folder *next;
    char name[]; /* "" for the root, else "a/b/" */
};

struct walk {
    const char *root;
    const char *prefix;
    const char *after;
    struct folder *pending; /* owned */
    char **names;           /* owned; in order, at most limit + 1 (the last one says "more") */
    size_t count;
    size_t limit;
};

static bool full(const struct walk *walk)
{
    return walk->count == walk->limit + 1;
}

static void keep(struct walk *walk, const char *name)
{
    size_t low = 0;
    size_t high = walk->count;

    if (full(walk)) {
        if (strcmp(name, walk->names[walk->count - 1]) >= 0)
            return;
        free(walk->names[--walk->count]);
        high = walk->count;
    }
    while (low < high) {
        size_t middle = (low + high) / 2;

        if (strcmp(walk->names[middle], name) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    memmove(&walk->names[low + 1], &walk->names[low], (walk->count - low) * sizeof(walk->names[0]));
    walk->names[low] = mem_strdup(name);
    walk->count++;
}

/* Can a name that begins with this be wanted? */
static bool worth_entering(const struct walk *walk, const char *folder)
{
    size_t size = strlen(folder);
    size_t prefix_size = strlen(walk->prefix);

    if (strncmp(folder, walk->prefix, size < prefix_size ? size : prefix_size) != 0)
        return false;
    if (strncmp(folder, walk->after, size) < 0)
        return false; /* all of it is before `after` */
    return !full(walk) || strncmp(folder, walk->names[walk->count - 1], size) <= 0;
}

static void visit(struct walk *walk, const struct folder *folder, const struct dirent *entry)
{
    char name[BLOB_NAME_SIZE_MAX + 2];
    size_t size = strlen(entry->d_name);
    bool is_blob = size && entry->d_name[size - 1] == '~';
    int length;

    if (entry->d_name[0] == '.')
        return;
    length =
        is_blob ? snprintf(name, sizeof(name), "%s%.*s", folder->name, (int)size - 1, entry->d_name)
                : snprintf(name, sizeof(name), "%s%s/", folder->name, entry->d_name);
    if (length < 0 || (size_t)length >= sizeof(name))
        return; /* not put here by us */
    if (is_blob) {
        if (strcmp(name, walk->after) > 0 && strncmp(name, walk->prefix, strlen(walk->prefix)) == 0)
            keep(walk, name);
    } else if (worth_entering(walk, name)) {
        struct folder *found = mem_alloc(sizeof(*found) + (size_t)length + 1);

        memcpy(found->name, name, (size_t)length + 1);
        found->next = walk->pending;
        walk->pending = found;
    }
}

static int read_folder(struct walk *walk, const struct folder *folder, struct err *err)
{
    char path[PATH_MAX];
    struct dirent *entry;
    DIR *stream;
    int rc = 0;

    snprintf(path, sizeof(path), "%s/%s", walk->root, folder->name);
    stream = opendir(path);
    if (!stream) /* removed meanwhile, or a file that is not ours */
        return errno == ENOENT || errno == ENOTDIR ? 0 : err_errno(err, "open folder %s", path);
    for (;;) {
        errno = 0;
        entry = readdir(stream);
        if (!entry)
            break;
        visit(walk, folder, entry);
    }
    if (errno)
        rc = err_errno(err, "read folder %s", path);
    closedir(stream);
    return rc;
}

/* Takes the folder that is first in order, so that later ones can be left out. */
static struct folder *take_first(struct walk *walk)
{
    struct folder **best = &walk->pending;
    struct folder **link;
    struct folder *taken;

    for (link = &walk->pending; *link; link = &(*link)->next) {
        if (strcmp((*link)->name, (*best)->name) < 0)
            best = link;
    }
    taken = *best;
    *best = taken->next;
    return taken;
}

static void fill_page(const struct walk *walk, struct arena *arena, struct blob_page *page)
{
    size_t i;

    page->entries = arena_array(arena, walk->limit, sizeof(page->entries[0]));
    page->more = full(walk);
    for (i = 0; i < walk->count && i < walk->limit; i++) {
        char path[PATH_MAX];
        struct stat info;

        snprintf(path, sizeof(path), "%s/%s~", walk->root, walk->names[i]);
        /* One deleted since keeps its place when it is the last: the next page begins there. */
        if (lstat(path, &info)) {
            if (i + 1 < walk->limit || !page->more)
                continue;
            info.st_size = 0;
        }
        page->entries[page->count++] =
            (struct blob_entry){arena_strdup(arena, walk->names[i]), (uint64_t)info.st_size};
    }
}

int dir_list_page(const char *root, const char *prefix, const char *after, size_t limit,
                  struct arena *arena, struct blob_page *page, struct err *err)
{
    struct walk walk = {.root = root, .prefix = prefix, .after = after, .limit = limit};
    int rc = 0;

    walk.names = mem_array(limit + 1, sizeof(walk.names[0]));
    walk.pending = mem_zero(sizeof(struct folder) + 1);
    while (walk.pending) {
        struct folder *folder = take_first(&walk);

        if (!rc && worth_entering(&walk, folder->name))
            rc = read_folder(&walk, folder, err);
        free(folder);
    }
    if (!rc)
        fill_page(&walk, arena, page);
    while (walk.count)
        free(walk.names[--walk.count]);
    free(walk.names);
    return rc;
}
