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
    pthread_mutex_t files_lock;    /* while the files are looked at; before the other one */
    uint64_t tried_hash;           /* of the files that were tried last; files_lock */
    pthread_mutex_t lock;          /* for moments */
    struct snippet_config *config; /* lock; to set it, files_lock too */
    struct snippets_state state;   /* lock */
    atomic_bool sweeps;
    struct task keeper;
    struct counter *put_count, *delete_count, *get_count, *batch_count, *refused_count,
        *swept_count;
};

#endif
