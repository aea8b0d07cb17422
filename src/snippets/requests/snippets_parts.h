/* SPDX-License-Identifier: Apache-2.0 */
/* snippets_parts.h - what the files of the stage share (snippets.h). */
#ifndef TORG_SNIPPETS_REQUESTS_SNIPPETS_PARTS_H
#define TORG_SNIPPETS_REQUESTS_SNIPPETS_PARTS_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/metrics.h"
#include "base/object.h"
#include "base/task.h"
#include "snippets/parts/files.h"
#include "snippets/requests/failures.h"
#include "snippets/requests/snippets.h"
#include "snippets/requests/watch.h"
#include "snippets/rows/cache.h"
#include "snippets/rows/commit.h"

enum { SNIPPETS_MAGIC = OBJECT_MAGIC('s', 'n', 'i', 'p') };

struct snippets {
    uint32_t magic;
    struct snippets_options options;
    char *config_path, *prefixes_path, *dir; /* owned */
    pthread_mutex_t files_lock;    /* while the files are looked at; before the other one */
    uint64_t tried_hash;           /* of config and prefixes that were tried last; files_lock */
    struct snippet_files files;    /* that those name; files_lock */
    pthread_mutex_t lock;          /* for moments */
    struct snippet_config *config; /* lock; to set it, files_lock too */
    struct snippets_state state;   /* lock */
    atomic_bool sweeps;
    struct task keeper;
    struct snippet_watch *watch;         /* owned */
    struct snippet_failures *failures;   /* owned */
    struct snippet_cache *cache;         /* owned; NULL: other processes write the store, too */
    struct snippet_committer *committer; /* NULL: the store is another machine's */
    struct counter *put_count, *delete_count, *get_count, *batch_count, *refused_count,
        *swept_count;
};

/* A write that was refused, or failed: counted, and among the last that people are shown. */
void snippets_note_failure(struct snippets *snippets, struct bytes name, struct bytes key,
                           const struct err *err);

/* A section of the config in use, which the caller unrefs; NULL on failure. */
int snippets_find(struct snippets *snippets, struct bytes name, struct snippet_config **config,
                  const struct snippet_section **section, struct err *err);

#endif
