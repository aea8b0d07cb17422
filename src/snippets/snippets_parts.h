/* SPDX-License-Identifier: Apache-2.0 */
/* snippets_parts.h - what the files of the stage share (snippets.h). */
#ifndef TORG_SNIPPETS_SNIPPETS_PARTS_H
#define TORG_SNIPPETS_SNIPPETS_PARTS_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/metrics.h"
#include "base/object.h"
#include "base/task.h"
#include "snippets/snippets.h"

enum { SNIPPETS_MAGIC = OBJECT_MAGIC('s', 'n', 'i', 'p') };

struct snippets {
    uint32_t magic;
    struct snippets_options options;
    char *config_path, *prefixes_path, *dir; /* owned */
    pthread_mutex_t lock;
    struct snippet_config *config; /* with the lock */
    struct snippets_state state;   /* with the lock */
    uint64_t tried_hash;           /* of the files that were looked at last; the lock's */
    atomic_bool sweeps;
    struct task keeper;
    struct counter *put_count, *delete_count, *get_count, *batch_count, *refused_count,
        *swept_count;
};

#endif
