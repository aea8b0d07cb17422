/* SPDX-License-Identifier: Apache-2.0 */
/*
 * snippets_files.c - the config in use, and the task that checks whether its files have changed
 * (snippets.h).
 *
 * Files are compared by what is in them: editors and deployments set times as they like. A config
 * that was refused is looked at again when one of the files is another.
 */
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/memory.h"
#include "snippets/bounds.h"
#include "snippets/config/prefixes.h"
#include "snippets/requests/snippets_parts.h"
#include "snippets/rows/changes.h"
#include "snippets/rows/generation.h"

enum { LOOK_MS = 1000 };

/* Prefixes for what has none, in the file, before the config is loaded with them. */
static int allot(struct snippets *snippets, struct bytes text, struct err *err)
{
    const struct snippet_config_options options = {.dir = snippets->dir};
    struct snippet_config *config;
    size_t added;
    int rc = snippet_config_load(text, &options, &config, err);

    if (rc)
        return rc;
    rc = snippet_prefixes_allot(snippets->prefixes_path, config, snippets->options.clock, &added,
                                err);
    if (rc == ERR_EXISTS) /* another process does so: its file is read */
        rc = 0;
    snippet_config_unref(config);
    return rc;
}

static int load(struct snippets *snippets, struct bytes text, struct snippet_config **config,
                struct err *err)
{
    struct arena *arena = arena_new();
    struct snippet_prefixes prefixes;
    struct snippet_config_options options = {
        .dir = snippets->dir, .prefixes = &prefixes, .files = &snippets->files};
    int rc = snippet_prefixes_load(snippets->prefixes_path, arena, &prefixes, err);

    *config = NULL;
    snippet_files_release(&snippets->files);
    if (!rc)
        rc = snippet_config_load(text, &options, config, err);
    arena_free(arena);
    return rc;
}

/* The config's text and what is in the file of prefixes, as one number. */
static uint64_t hash_files(struct snippets *snippets, struct bytes text)
{
    struct buf prefixes = BUF_INIT(SNIPPET_CONFIG_SIZE_MAX);
    uint64_t hash;

    if (file_read(snippets->prefixes_path, &prefixes, NULL))
        buf_reset(&prefixes);
    hash = hash64_seeded(text, hash64(buf_bytes(&prefixes)));
    buf_release(&prefixes);
    return hash;
}

static void use(struct snippets *snippets, struct snippet_config *config)
{
    struct snippet_config *old;

    pthread_mutex_lock(&snippets->lock);
    old = snippets->config;
    snippets->config = config;
    snippets->state.loaded_us = clock_wall_us(snippets->options.clock);
    snippets->state.refused[0] = 0;
    pthread_mutex_unlock(&snippets->lock);
    snippet_config_unref(old);
}

static void tell_refused(struct snippets *snippets, const struct err *err)
{
    pthread_mutex_lock(&snippets->lock);
    memcpy(snippets->state.refused, err->text, sizeof(snippets->state.refused));
    pthread_mutex_unlock(&snippets->lock);
    log_warn("the snippets' config is refused; the previous one stays in use",
             LOG_TEXT("config", snippets->config_path), LOG_TEXT("reason", err->text));
}

/* With the lock of the files. They are hashed before they are loaded: one that changes in between
 * is another when it is looked at next. */
static int reload(struct snippets *snippets, bool *changed, struct err *err)
{
    struct buf text = BUF_INIT(SNIPPET_CONFIG_SIZE_MAX);
    struct snippet_config *config = NULL;
    uint64_t files_before = snippets->files.hash, hash;
    struct err reason;
    int rc = file_read(snippets->config_path, &text, &reason);

    *changed = false;
    if (!rc && snippets->options.allots && text.size)
        rc = allot(snippets, buf_bytes(&text), &reason);
    hash = hash_files(snippets, buf_bytes(&text));
    if (!rc)
        rc = load(snippets, buf_bytes(&text), &config, &reason);
    if (!rc && snippets->config && hash == snippets->tried_hash &&
        files_before == snippets->files.hash && !*snippets->state.refused) {
        snippet_config_unref(config);
    } else if (!rc) {
        *changed = true;
        use(snippets, config);
    } else {
        (void)err_set(err, rc, "%s: %s", snippets->config_path, reason.text);
        tell_refused(snippets, &reason);
    }
    snippets->tried_hash = hash;
    buf_release(&text);
    return rc;
}

int snippets_reload(struct snippets *snippets, bool *changed, struct err *err)
{
    int rc;

    object_check(snippets, SNIPPETS_MAGIC);
    pthread_mutex_lock(&snippets->files_lock);
    rc = reload(snippets, changed, err);
    pthread_mutex_unlock(&snippets->files_lock);
    return rc;
}

/* Loads only what is another. */
static void look(struct snippets *snippets)
{
    struct buf text = BUF_INIT(SNIPPET_CONFIG_SIZE_MAX);
    struct err err;
    bool changed = false;

    pthread_mutex_lock(&snippets->files_lock);
    if (!file_read(snippets->config_path, &text, &err) &&
        (hash_files(snippets, buf_bytes(&text)) != snippets->tried_hash ||
         snippet_files_hash(&snippets->files) != snippets->files.hash))
        (void)reload(snippets, &changed, &err); /* a refusal is told */
    pthread_mutex_unlock(&snippets->files_lock);
    buf_release(&text);
    if (changed)
        log_info("the snippets' config is in use now", LOG_TEXT("config", snippets->config_path));
}

static void sweep(struct snippets *snippets, struct task *task)
{
    size_t count = SNIPPET_SWEEP_COUNT;
    struct err err;

    while (count == SNIPPET_SWEEP_COUNT && !task_is_stopping(task)) {
        if (snippet_rows_sweep(snippets->options.store, clock_wall_us(snippets->options.clock),
                               &count, &err)) {
            log_warn("snippets that have ended could not be removed", LOG_TEXT("reason", err.text));
            return;
        }
        counter_add(snippets->swept_count, count);
    }
}

/* Rows of loads that are over. */
static void sweep_loads(struct snippets *snippets, struct task *task,
                        struct snippet_sweep_place *place)
{
    bool more = true;
    struct err err;

    while (more && !task_is_stopping(task)) {
        if (snippet_generation_sweep(snippets->options.store, place, &more, &err)) {
            log_warn("rows of old loads of snippets could not be removed",
                     LOG_TEXT("reason", err.text));
            return;
        }
    }
}

static void trim_changes(struct snippets *snippets, struct task *task)
{
    bool more = true;
    struct err err;

    while (more && !task_is_stopping(task)) {
        if (snippet_changes_trim(snippets->options.store, &more, &err)) {
            log_warn("old changes of snippets could not be removed", LOG_TEXT("reason", err.text));
            return;
        }
    }
}

static void keep(struct task *task, void *arg)
{
    struct snippets *snippets = arg;
    struct snippet_sweep_place place = {0};

    object_check(snippets, SNIPPETS_MAGIC);
    while (!task_is_stopping(task)) {
        task_says(task, "looking at the config and at what has ended");
        if (*snippets->config_path)
            look(snippets);
        if (atomic_load(&snippets->sweeps))
            sweep(snippets, task);
        if (atomic_load(&snippets->sweeps))
            sweep_loads(snippets, task, &place);
        if (atomic_load(&snippets->sweeps))
            trim_changes(snippets, task);
        task_pause(task, LOOK_MS * 1000);
    }
}

static char *dir_of(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? mem_strndup(path, (size_t)(slash - path)) : mem_strdup(".");
}

static void count_things(struct snippets *snippets)
{
    static const char help[] = "Requests for snippets.";

    snippets->put_count = metrics_counter("torg_snippets_total", "kind=\"put\"", help);
    snippets->delete_count = metrics_counter("torg_snippets_total", "kind=\"delete\"", help);
    snippets->get_count = metrics_counter("torg_snippets_total", "kind=\"get\"", help);
    snippets->batch_count = metrics_counter("torg_snippets_total", "kind=\"batch\"", help);
    snippets->refused_count = metrics_counter("torg_snippets_total", "kind=\"refused\"", help);
    snippets->swept_count = metrics_counter("torg_snippets_swept_total", NULL,
                                            "Snippets that have ended and were removed.");
}

/* The first config: none is an empty one. */
static int begin(struct snippets *snippets, struct err *err)
{
    bool changed;

    if (*snippets->config_path)
        return snippets_reload(snippets, &changed, err);
    return load(snippets, BYTES_EMPTY, &snippets->config, err);
}

int snippets_open(const struct snippets_options *options, struct snippets **result, struct err *err)
{
    struct snippets *snippets = mem_zero(sizeof(*snippets));
    int rc;

    *result = NULL;
    object_begin(snippets, SNIPPETS_MAGIC);
    snippets->options = *options;
    snippets->config_path = mem_strdup(options->config_path ? options->config_path : "");
    snippets->dir = dir_of(snippets->config_path);
    if (options->prefixes_path && *options->prefixes_path) {
        snippets->prefixes_path = mem_strdup(options->prefixes_path);
    } else {
        struct buf path = BUF_INIT(8192);

        buf_printf(&path, "%s/key_prefixes.txt", snippets->dir);
        snippets->prefixes_path = mem_strdup(buf_text(&path));
        buf_release(&path);
    }
    pthread_mutex_init(&snippets->files_lock, NULL);
    pthread_mutex_init(&snippets->lock, NULL);
    snippets->watch = snippet_watch_new(options->clock);
    snippets->failures = snippet_failures_new();
    if (store_is_local(options->store))
        snippets->cache = snippet_cache_new();
    count_things(snippets);
    rc = begin(snippets, err);
    if (!rc) {
        const struct task_options task = {
            .name = "snippets", .run = keep, .arg = snippets, .clock = options->clock};

        rc = task_start(&snippets->keeper, &task, err);
        /* Elsewhere processes write beside each other, and large transactions would conflict. */
        if (!rc && store_is_local(options->store))
            rc = snippet_committer_start(options->store, snippets->cache, options->clock,
                                         &snippets->committer, err);
    }
    if (rc)
        snippets_close(snippets);
    else
        *result = snippets;
    return rc;
}

void snippets_close(struct snippets *snippets)
{
    if (!snippets)
        return;
    task_stop(&snippets->keeper);
    snippet_committer_stop(snippets->committer);
    snippet_cache_free(snippets->cache);
    snippet_watch_free(snippets->watch);
    snippet_failures_free(snippets->failures);
    object_end(snippets, SNIPPETS_MAGIC);
    snippet_config_unref(snippets->config);
    pthread_mutex_destroy(&snippets->lock);
    pthread_mutex_destroy(&snippets->files_lock);
    snippet_files_release(&snippets->files);
    free(snippets->config_path);
    free(snippets->prefixes_path);
    free(snippets->dir);
    free(snippets);
}

struct snippet_config *snippets_config(struct snippets *snippets)
{
    struct snippet_config *config;

    object_check(snippets, SNIPPETS_MAGIC);
    pthread_mutex_lock(&snippets->lock);
    config = snippet_config_ref(snippets->config);
    pthread_mutex_unlock(&snippets->lock);
    return config;
}

void snippets_sweep(struct snippets *snippets)
{
    object_check(snippets, SNIPPETS_MAGIC);
    atomic_store(&snippets->sweeps, true);
}

struct store *snippets_store(const struct snippets *snippets)
{
    return snippets->options.store;
}

void snippets_state(struct snippets *snippets, struct snippets_state *state)
{
    object_check(snippets, SNIPPETS_MAGIC);
    pthread_mutex_lock(&snippets->lock);
    *state = snippets->state;
    pthread_mutex_unlock(&snippets->lock);
}
