/* SPDX-License-Identifier: Apache-2.0 */
/* data_dir.c - see data_dir.h. */
#include "roles/processes/data_dir.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/file.h"

static const char version_text[] = "torg-data 1\n";

enum { VERSION_SIZE_MAX = 64 };

char *data_dir_path(const char *path, const char *name, struct arena *arena)
{
    return arena_printf(arena, "%s/%s", path, name);
}

/* A start that was cut short leaves the lock or a half-made VERSION.tmp, nothing else. */
static bool is_ours(const char *name)
{
    return strcmp(name, ".") == 0 || strcmp(name, "..") == 0 || strcmp(name, "LOCK") == 0 ||
           strncmp(name, "VERSION", strlen("VERSION")) == 0;
}

/* Nobody's home directory becomes a data directory by a slip. */
static int refuse_foreign(const char *path, struct err *err)
{
    bool has_version = false;
    char foreign[NAME_MAX + 1] = "";
    const struct dirent *entry;
    DIR *listing = opendir(path);

    if (!listing)
        return err_errno(err, "open data directory %s", path);
    for (entry = readdir(listing); entry; entry = readdir(listing)) {
        has_version = has_version || strcmp(entry->d_name, "VERSION") == 0;
        if (!is_ours(entry->d_name))
            snprintf(foreign, sizeof(foreign), "%s", entry->d_name);
    }
    closedir(listing);
    if (!has_version && *foreign)
        return err_set(err, ERR_PRECONDITION,
                       "%s is not a data directory of torg (it has %s and no VERSION); name a new "
                       "or an empty one",
                       path, foreign);
    return 0;
}

/* What waiting does not mend is not ERR_UNAVAILABLE: that says the directory is in use. */
static int make_usable(const char *path, struct err *err)
{
    int rc = dir_create(path, err);
    struct stat found;

    if (!rc && stat(path, &found) == 0 && !S_ISDIR(found.st_mode))
        rc = err_set(err, ERR_PRECONDITION, "%s is a file", path);
    if (!rc && access(path, R_OK | W_OK | X_OK))
        rc = err_errno(err, "write to %s", path);
    if (!rc)
        return 0;
    err->code = ERR_PRECONDITION;
    return err_wrap(err, "the data directory cannot be used (--data names another)");
}

static int check_version(const char *path, struct err *err)
{
    struct buf found = BUF_INIT(VERSION_SIZE_MAX);
    char name[PATH_MAX];
    int rc;

    snprintf(name, sizeof(name), "%s/VERSION", path);
    rc = file_read(name, &found, err);
    if (rc == ERR_NOT_FOUND)
        rc = file_write(name, bytes_of(version_text), err);
    else if (!rc && strcmp(buf_text(&found), version_text) != 0)
        rc = err_set(err, ERR_PRECONDITION,
                     "%s says \"%.*s\", this program reads \"torg-data 1\": use the version of "
                     "torg that wrote it",
                     name, (int)strcspn(buf_text(&found), "\n"), buf_text(&found));
    buf_release(&found);
    return rc;
}

int data_dir_open(const char *path, bool create, struct data_dir *dir, struct err *err)
{
    char lock[PATH_MAX];
    int rc;

    *dir = DATA_DIR_CLOSED;
    dir->path = path;
    if (strlen(path) + sizeof("/VERSION.tmp.1234567890") > sizeof(lock))
        return err_set(err, ERR_INVALID, "data.dir is longer than %d bytes", PATH_MAX);
    if (!create && access(path, F_OK))
        return err_set(err, ERR_NOT_FOUND,
                       "there is no data directory %s; torg up makes it, "
                       "--data names another",
                       path);
    rc = make_usable(path, err);
    if (!rc)
        rc = refuse_foreign(path, err);
    if (rc)
        return rc;
    snprintf(lock, sizeof(lock), "%s/LOCK", path);
    rc = file_lock(lock, &dir->lock_fd, err);
    if (rc == ERR_EXISTS) {
        err->code = ERR_UNAVAILABLE; /* it will be free again: a caller may try later */
        return err_wrap(err, "the data directory is in use (stop that, or --data names another)");
    }
    if (!rc)
        rc = check_version(path, err);
    if (rc)
        data_dir_close(dir);
    return rc;
}

void data_dir_close(struct data_dir *dir)
{
    file_unlock(dir->lock_fd);
    dir->lock_fd = -1;
}
