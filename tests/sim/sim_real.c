/* SPDX-License-Identifier: Apache-2.0 */
/* sim_real.c - see sim_core.h: past the calls that this folder has made its own. */
#include <dlfcn.h>
#include <stddef.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sim_core.h"

ssize_t sim_real_write(int fd, const void *data, size_t size)
{
    return syscall(SYS_write, fd, data, size);
}

int sim_real_close(int fd)
{
    return (int)syscall(SYS_close, fd);
}

/* Of the libraries behind the program; once a process, the driver's or that of the lives. */
#define FIND(real, name)                                                                           \
    do {                                                                                           \
        void *found = real ? NULL : dlsym(RTLD_NEXT, name);                                        \
                                                                                                   \
        if (found)                                                                                 \
            memcpy(&real, &found, sizeof(real));                                                   \
    } while (0)

char *sim_real_realpath(const char *path, char *to)
{
    static char *(*real)(const char *, char *);

    FIND(real, "realpath");
    return real(path, to);
}

void *sim_real_fdopendir(int fd)
{
    static void *(*real)(int);

    FIND(real, "fdopendir");
    return real(fd);
}

void *sim_real_readdir(void *stream)
{
    static void *(*real)(void *);

    FIND(real, "readdir");
    return real(stream);
}

int sim_real_dirfd(void *stream)
{
    static int (*real)(void *);

    FIND(real, "dirfd");
    return real(stream);
}

int sim_real_closedir(void *stream)
{
    static int (*real)(void *);

    FIND(real, "closedir");
    return real(stream);
}
