/* SPDX-License-Identifier: Apache-2.0 */
/*
 * folder.h - files that are read on request: GET or HEAD of a path below a prefix.
 *
 * The page's own files are few, fixed and in memory (site.h); these are many and kept in a store.
 * Anyone may read them: a folder holds only files that every visitor may see.
 *
 * Threads: read runs on the threads of brief handlers, unless the folder is remote; there it may
 * wait for a disk, not for more.
 */
#ifndef TORG_NET_SERVER_CALLS_FOLDER_H
#define TORG_NET_SERVER_CALLS_FOLDER_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/bytes.h"
#include "base/err.h"

struct call;

struct folder_file {
    const char *content_type;
    const char *cache_control;
    const char *security_policy; /* Content-Security-Policy: what the content may do if opened */
    const char *disposition;     /* Content-Disposition; NULL: none */
};

struct folder {
    const char *prefix; /* begins and ends with a slash */
    const char *about;  /* one sentence for the API's page; NULL: none */
    /* The file of this name (what is behind the prefix) into content. ERR_NOT_FOUND; ERR_INVALID
     * when no file can have the name. The texts of file are static or of the arena. */
    int (*read)(void *context, struct bytes name, struct arena *arena, struct buf *content,
                struct folder_file *file, struct err *err);
    void *context;
    bool remote; /* it has to ask another machine: not for the threads of brief handlers */
};

/* --- for dispatch.c --- */

/* Whether the path is below a folder; then the call will be answered from it. */
bool folder_take(struct call *call);
void folder_run(struct call *call);

#endif
