/* SPDX-License-Identifier: Apache-2.0 */
/*
 * disk.c - the disk tested by programs of two kinds: careful ones, which lose nothing that they
 * have promised, whatever the power does, and careless ones, which do (TORG_SIM_FAULT names the
 * sync that is left out; finds.py sees that some seed finds each).
 *
 * A file of numbered content is replaced as a whole (write, sync, rename, sync of the directory), a
 * log is appended to (write, sync), folders come and go. What was promised is in the shared memory.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sim.h"

enum { FILE_COUNT = 4, PAGE_COUNT_MAX = 5, PAGE_SIZE = 700, LIFE_COUNT = 6, STEP_COUNT = 400 };

struct promised {
    unsigned versions[FILE_COUNT]; /* of each file; 0: none */
    unsigned next[FILE_COUNT];     /* the version that was last tried */
    unsigned records, tried;       /* of the log */
    bool has_folder, folder_is_moving;
};

static struct promised *promised;

static bool leaves_out(const char *sync)
{
    const char *wanted = getenv("TORG_SIM_FAULT");

    return wanted && strcmp(wanted, sync) == 0 && sim_has(sync);
}

/* Page by page, so that a part of it is seen for what it is. */
static void fill(unsigned char *page, unsigned file, unsigned version, unsigned number)
{
    for (unsigned i = 0; i < PAGE_SIZE; i++)
        page[i] = (unsigned char)(file * 31 + version * 7 + number * 3 + i);
    memcpy(page, &version, sizeof(version));
}

static unsigned page_count(unsigned version)
{
    return 1 + version % PAGE_COUNT_MAX;
}

static void sync_dir(const char *path)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY);

    SIM_CHECK(fd >= 0 && fsync(fd) == 0 && close(fd) == 0);
}

static void replace(unsigned file)
{
    unsigned version = ++promised->next[file];
    unsigned char page[PAGE_SIZE];
    char draft[64], path[64];
    int fd;

    snprintf(draft, sizeof(draft), "disk/draft-%u", file);
    snprintf(path, sizeof(path), "disk/file-%u", file);
    fd = open(draft, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    SIM_CHECK(fd >= 0);
    for (unsigned i = 0; i < page_count(version); i++) {
        fill(page, file, version, i);
        SIM_CHECK(write(fd, page, PAGE_SIZE) == PAGE_SIZE);
    }
    if (!leaves_out("file-sync"))
        SIM_CHECK(fsync(fd) == 0);
    SIM_CHECK(close(fd) == 0 && rename(draft, path) == 0);
    if (!leaves_out("dir-sync"))
        sync_dir("disk");
    promised->versions[file] = version;
}

static void check_file(unsigned file)
{
    unsigned char page[PAGE_SIZE], wanted[PAGE_SIZE];
    unsigned version = 0, count = 0;
    char path[64];
    int fd;

    snprintf(path, sizeof(path), "disk/file-%u", file);
    fd = open(path, O_RDONLY);
    if (fd < 0) {
        if (promised->versions[file])
            sim_fail("file %u is lost, version %u was promised", file, promised->versions[file]);
        return;
    }
    while (read(fd, page, PAGE_SIZE) == PAGE_SIZE) {
        if (count == 0)
            memcpy(&version, page, sizeof(version));
        fill(wanted, file, version, count++);
        if (memcmp(page, wanted, PAGE_SIZE) != 0)
            sim_fail("page %u of file %u is torn", count, file);
    }
    close(fd);
    if (count != page_count(version))
        sim_fail("file %u has %u pages, version %u has %u", file, count, version,
                 page_count(version));
    if (version < promised->versions[file] || version > promised->next[file])
        sim_fail("file %u is version %u, %u was promised and %u tried", file, version,
                 promised->versions[file], promised->next[file]);
    promised->versions[file] = version;
}

/* --- the log: records of their number, each twice --- */

static void append(void)
{
    unsigned number = promised->records + 1, record[2] = {number, ~number};
    int fd = open("disk/log", O_WRONLY | O_CREAT, 0644);

    SIM_CHECK(fd >= 0);
    promised->tried = number;
    SIM_CHECK(pwrite(fd, record, sizeof(record), (off_t)((number - 1) * sizeof(record))) ==
              (ssize_t)sizeof(record));
    if (!leaves_out("log-sync"))
        SIM_CHECK(fdatasync(fd) == 0);
    close(fd);
    if (number == 1)
        sync_dir("disk");
    promised->records = number;
}

/* What follows the last good record is cut off, as logs do. */
static void check_log(void)
{
    int fd = open("disk/log", O_RDWR | O_CREAT, 0644);
    unsigned record[2], count = 0;

    SIM_CHECK(fd >= 0);
    while (read(fd, record, sizeof(record)) == (ssize_t)sizeof(record) && record[0] == count + 1 &&
           record[1] == ~record[0])
        count++;
    if (count < promised->records || count > promised->tried)
        sim_fail("the log has %u records, %u were promised and %u tried", count, promised->records,
                 promised->tried);
    SIM_CHECK(ftruncate(fd, (off_t)(count * sizeof(record))) == 0 && fsync(fd) == 0);
    close(fd);
    sync_dir("disk");
    promised->records = promised->tried = count;
}

/* --- a folder that is made with a file in it, renamed and removed --- */

static void move_folder(void)
{
    struct stat info;
    int fd;

    promised->folder_is_moving = true;
    if (stat("disk/folder", &info) == 0) {
        SIM_CHECK(rename("disk/folder", "disk/old") == 0);
        SIM_CHECK(unlink("disk/old/in") == 0 && rmdir("disk/old") == 0);
        sync_dir("disk");
        promised->has_folder = false;
    } else {
        SIM_CHECK(mkdir("disk/new", 0755) == 0);
        fd = open("disk/new/in", O_WRONLY | O_CREAT, 0644);
        SIM_CHECK(fd >= 0 && write(fd, "in", 2) == 2 && fsync(fd) == 0 && close(fd) == 0);
        sync_dir("disk/new");
        SIM_CHECK(rename("disk/new", "disk/folder") == 0);
        sync_dir("disk");
        promised->has_folder = true;
    }
    promised->folder_is_moving = false;
}

static void check_folder(void)
{
    struct stat info;
    bool is_there = stat("disk/folder", &info) == 0;

    if (is_there && (stat("disk/folder/in", &info) != 0 || info.st_size != 2))
        sim_fail("the folder is there without what was put into it before");
    if (is_there != promised->has_folder && !promised->folder_is_moving)
        sim_fail("the folder is %s", is_there ? "back" : "lost");
    promised->has_folder = is_there;
    for (int i = 0; i < 2; i++) {
        const char *rest = i ? "disk/new" : "disk/old";
        char in[64];

        snprintf(in, sizeof(in), "%s/in", rest);
        SIM_CHECK(unlink(in) == 0 || errno == ENOENT);
        SIM_CHECK(rmdir(rest) == 0 || errno == ENOENT);
    }
    sync_dir("disk");
    promised->folder_is_moving = false;
}

static void live(void *shared, unsigned life)
{
    promised = shared;
    for (unsigned file = 0; file < FILE_COUNT; file++)
        check_file(file);
    sync_dir("disk"); /* what is seen now is promised to the next life */
    check_log();
    check_folder();
    if (life == LIFE_COUNT)
        return;
    sim_end_later(sim_chance(300000) ? SIM_END_KILL : SIM_END_POWER,
                  (int64_t)sim_below(sim_steps() * 1000));
    for (unsigned i = 0; i < sim_steps(); i++) {
        uint64_t drawn = sim_below(10);

        if (drawn < 4)
            append();
        else if (drawn < 9)
            replace((unsigned)sim_below(FILE_COUNT));
        else
            move_folder();
    }
    sim_end_life(sim_has("power") ? SIM_END_POWER : SIM_END_STOP);
}

int main(int argc, char **argv)
{
    static const struct sim_program program = {.name = "disk",
                                               .life = live,
                                               .shared_size = sizeof(struct promised),
                                               .step_count = STEP_COUNT,
                                               .life_count_max = LIFE_COUNT + 1};

    return sim_main(argc, argv, &program);
}
