/* SPDX-License-Identifier: Apache-2.0 */
/* file_calls.c - see file_calls.h. Unarmed, a call costs one load more. */
#include "base/file_calls.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic bool is_armed;
static struct {
    unsigned skip, count;
} faults[FILE_FAULT_COUNT];
static unsigned hit_count;

void file_fault_arm(enum file_fault fault, unsigned skip, unsigned count)
{
    bool any = false;
    unsigned i;

    pthread_mutex_lock(&lock);
    faults[fault].skip = skip;
    faults[fault].count = count;
    for (i = 0; i < FILE_FAULT_COUNT; i++)
        any = any || faults[i].count;
    atomic_store(&is_armed, any);
    pthread_mutex_unlock(&lock);
}

unsigned file_fault_hits(void)
{
    unsigned count;

    pthread_mutex_lock(&lock);
    count = hit_count;
    pthread_mutex_unlock(&lock);
    return count;
}

/* Whether the call at hand is to fail. */
static bool hits(enum file_fault fault)
{
    bool hit = false;

    if (!atomic_load_explicit(&is_armed, memory_order_relaxed))
        return false;
    pthread_mutex_lock(&lock);
    if (faults[fault].count && faults[fault].skip) {
        faults[fault].skip--;
    } else if (faults[fault].count) {
        faults[fault].count--;
        hit_count++;
        hit = true;
        errno = fault == FILE_FAULT_SYNC ? EIO : ENOSPC;
    }
    pthread_mutex_unlock(&lock);
    return hit;
}

ssize_t file_call_write(int fd, const void *data, size_t size)
{
    return hits(FILE_FAULT_WRITE) ? -1 : write(fd, data, size);
}

ssize_t file_call_pwrite(int fd, const void *data, size_t size, uint64_t offset)
{
    if (!hits(FILE_FAULT_WRITE))
        return pwrite(fd, data, size, (off_t)offset);
    (void)!pwrite(fd, data, size / 2, (off_t)offset); /* as a disk does that becomes full */
    errno = ENOSPC;
    return -1;
}

int file_call_fsync(int fd)
{
    return hits(FILE_FAULT_SYNC) ? -1 : fsync(fd);
}

int file_call_fdatasync(int fd)
{
    return hits(FILE_FAULT_SYNC) ? -1 : fdatasync(fd);
}

int file_call_rename(const char *from, const char *to)
{
    return hits(FILE_FAULT_RENAME) ? -1 : rename(from, to);
}
