/* SPDX-License-Identifier: Apache-2.0 */
/* failures.c - see failures.h. */
#include "snippets/requests/failures.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/object.h"
#include "base/text.h"

enum { SNIPPET_FAILURES_MAGIC = OBJECT_MAGIC('s', 'n', 'f', 'l') };

struct snippet_failures {
    uint32_t magic;
    pthread_mutex_t lock;
    struct snippet_failure list[SNIPPET_FAILURE_COUNT]; /* a ring; lock, as the next */
    size_t count;                                       /* that were added so far */
};

struct snippet_failures *snippet_failures_new(void)
{
    struct snippet_failures *failures = mem_zero(sizeof(*failures));

    object_begin(failures, SNIPPET_FAILURES_MAGIC);
    pthread_mutex_init(&failures->lock, NULL);
    return failures;
}

void snippet_failures_free(struct snippet_failures *failures)
{
    if (!failures)
        return;
    pthread_mutex_destroy(&failures->lock);
    object_end(failures, SNIPPET_FAILURES_MAGIC);
    free(failures);
}

/* What a caller sent may be anything; no letter is cut in two. */
static void copy_text(char *to, size_t room, struct bytes text)
{
    size_t size = text.size < room ? text.size : room - 1;

    while (size && size < text.size && (text.data[size] & 0xC0) == 0x80)
        size--;
    if (!text_is_utf8(bytes_make(text.data, size)))
        size = 0;
    if (size)
        memcpy(to, text.data, size);
    to[size] = 0;
}

void snippet_failures_add(struct snippet_failures *failures, int64_t time_us, struct bytes name,
                          struct bytes key, const char *reason)
{
    struct snippet_failure *failure;

    object_check(failures, SNIPPET_FAILURES_MAGIC);
    pthread_mutex_lock(&failures->lock);
    failure = &failures->list[failures->count++ % SNIPPET_FAILURE_COUNT];
    failure->time_us = time_us;
    copy_text(failure->name, sizeof(failure->name), name);
    copy_text(failure->key, sizeof(failure->key), key);
    copy_text(failure->reason, sizeof(failure->reason), bytes_of(reason));
    pthread_mutex_unlock(&failures->lock);
}

size_t snippet_failures_list(struct snippet_failures *failures, struct snippet_failure *list)
{
    size_t count = 0;

    object_check(failures, SNIPPET_FAILURES_MAGIC);
    pthread_mutex_lock(&failures->lock);
    while (count < SNIPPET_FAILURE_COUNT && count < failures->count) {
        list[count] = failures->list[(failures->count - 1 - count) % SNIPPET_FAILURE_COUNT];
        count++;
    }
    pthread_mutex_unlock(&failures->lock);
    return count;
}
