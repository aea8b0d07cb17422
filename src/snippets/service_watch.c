/* SPDX-License-Identifier: Apache-2.0 */
/*
 * service_watch.c - SnippetService/WatchSnippets: changes of some names, as they are made.
 *
 * The stream looks for changes behind its position, reads what those snippets are now, and sends
 * both with the position behind them. So a client that does not read holds a place in the log and
 * nothing else; when what is kept of the log has passed it, it is told so. Names are looked up in
 * the config in use each time.
 */
#include <string.h>

#include "base/memory.h"
#include "codec/message.h"
#include "snippets/bounds.h"
#include "snippets/config/name.h"
#include "snippets/requests/message.h"
#include "snippets/requests/snippets_parts.h"
#include "snippets/requests/watch.h"
#include "snippets/rows/changes.h"
#include "snippets/service_parts.h"

enum { LOOK_MS = 500, LOOK_REMOTE_MS = 100 };

struct watching {
    struct call *call;
    struct snippets *snippets;
    const struct bytes *names, *keys;
    size_t name_count, key_count;
    bool without_contents;
    struct snippet_position position;
    int64_t sent_us; /* when something was sent last */
};

/* The snippet of a change, if it is watched. */
static const struct snippet *find_watched(const struct watching *watching,
                                          const struct snippet_config *config,
                                          const struct snippet_change *change)
{
    bool is_wanted = change->is_all || watching->key_count == 0;

    for (size_t i = 0; i < watching->key_count && !is_wanted; i++)
        is_wanted = bytes_equal(watching->keys[i], change->key);
    for (size_t i = 0; i < watching->name_count && is_wanted; i++) {
        const struct snippet_section *section = snippet_config_find(config, watching->names[i]);

        for (size_t k = 0; section && k < section->target_count; k++) {
            if (section->targets[k]->prefix == change->prefix)
                return section->targets[k];
        }
    }
    return NULL;
}

static bool is_same(const struct snippet_change *a, const struct snippet_change *b)
{
    return a->prefix == b->prefix && a->is_all == b->is_all && bytes_equal(a->key, b->key) &&
           bytes_equal(a->language, b->language);
}

/* The first of the list; one that comes again in the same message tells the same: what is there
 * now. */
static bool comes_again(const struct snippet_change *list, size_t count)
{
    for (size_t k = 1; k < count; k++) {
        if (is_same(&list[0], &list[k]))
            return true;
    }
    return false;
}

static int describe(const struct watching *watching, const struct snippet *snippet,
                    const struct snippet_change *change, struct arena *arena,
                    Torg__V1__SnippetChange **result, struct err *err)
{
    Torg__V1__SnippetChange *message = MESSAGE_NEW(snippet_change, arena);
    struct snippet_found found = {.name = snippet->name, .format = snippet->output};
    bool is_there = false;
    int rc = 0;

    message->name = arena_strdup(arena, snippet->name);
    message->key = arena_text(arena, change->key);
    message->language = arena_text(arena, change->language);
    message->all = change->is_all;
    if (!change->is_all && !watching->without_contents)
        rc = snippet_rows_get(snippets_store(watching->snippets), change->prefix, change->key,
                              change->language, arena, &found.row, &is_there, err);
    if (is_there)
        message->snippet = snippet_message(&found, arena);
    message->is_gone = !rc && !is_there && !change->is_all && !watching->without_contents;
    *result = message;
    return rc;
}

static int send(struct watching *watching, const struct snippet_position *position,
                Torg__V1__SnippetChange **list, size_t count, struct arena *arena, struct err *err)
{
    Torg__V1__WatchSnippetsResponse response = TORG__V1__WATCH_SNIPPETS_RESPONSE__INIT;

    response.position = (char *)snippet_position_text(position, arena);
    response.changes = list;
    response.n_changes = count;
    watching->sent_us = clock_mono_us(watching->snippets->options.clock);
    return call_write(watching->call, &response.base, err);
}

static size_t size_of(const Torg__V1__SnippetChange *change)
{
    return change->snippet ? strlen(change->snippet->text) + change->snippet->binary.len : 0;
}

/* A message has few changes; all but the last have the position before them. */
static int send_changes(struct watching *watching, const struct snippet_config *config,
                        const struct snippet_change *changes, size_t count,
                        const struct snippet_position *before, struct err *err)
{
    struct arena *arena = arena_new();
    struct arena_mark mark = arena_mark(arena);
    Torg__V1__SnippetChange *list[SNIPPET_WATCH_CHANGE_COUNT];
    size_t listed = 0, size = 0;
    int rc = 0;

    for (size_t i = 0; i < count && !rc; i++) {
        const struct snippet *snippet = find_watched(watching, config, &changes[i]);
        size_t ahead =
            count - i < SNIPPET_WATCH_CHANGE_COUNT ? count - i : SNIPPET_WATCH_CHANGE_COUNT;

        if (!snippet || comes_again(changes + i, ahead))
            continue;
        rc = describe(watching, snippet, &changes[i], arena, &list[listed], err);
        size += rc ? 0 : size_of(list[listed++]);
        if (!rc && (listed == SNIPPET_WATCH_CHANGE_COUNT || size > SNIPPET_WATCH_SIZE)) {
            rc = send(watching, before, list, listed, arena, err);
            listed = size = 0;
            arena_rewind(arena, mark);
        }
    }
    if (!rc && listed)
        rc = send(watching, &watching->position, list, listed, arena, err);
    arena_free(arena);
    return rc;
}

/* What is behind the position; *found: there was something, and there may be more. */
static int follow(struct watching *watching, bool *found, struct err *err)
{
    struct snippet_config *config = snippets_config(watching->snippets);
    struct snippet_position before = watching->position;
    struct arena *arena = arena_new();
    struct snippet_change *changes;
    size_t count;
    int rc = snippet_changes_read(snippets_store(watching->snippets), &watching->position, arena,
                                  &changes, &count, err);

    *found = !rc && count > 0;
    if (*found)
        rc = send_changes(watching, config, changes, count, &before, err);
    arena_free(arena);
    snippet_config_unref(config);
    return rc;
}

/* An empty message now and then: the client knows that it is not forgotten, and where it is. */
static int tell_position(struct watching *watching, struct err *err)
{
    struct arena *arena;
    int rc;

    if (clock_mono_us(watching->snippets->options.clock) <
        watching->sent_us + (int64_t)SNIPPET_WATCH_SILENCE_MS * 1000)
        return 0;
    arena = arena_new();
    rc = send(watching, &watching->position, NULL, 0, arena, err);
    arena_free(arena);
    return rc;
}

static int run(struct watching *watching, struct err *err)
{
    struct snippet_watch *watch = watching->snippets->watch;
    const struct clock *clock = watching->snippets->options.clock;
    int64_t pause_ms = snippets_defers(watching->snippets) ? LOOK_MS : LOOK_REMOTE_MS;
    int rc = 0;

    while (!rc) {
        uint64_t told = snippet_watch_told(watch);
        bool found;

        rc = follow(watching, &found, err);
        if (!rc)
            rc = tell_position(watching, err);
        if (!rc && !found)
            snippet_watch_wait(watch, told, clock_mono_us(clock) + pause_ms * 1000);
        if (!rc && call_cancelled(watching->call))
            rc = err_set(err, ERR_CANCELLED, "the client has left");
        if (!rc && call_server_leaves(watching->call))
            rc = err_set(err, ERR_UNAVAILABLE,
                         "the server is shutting down: go on from the last position elsewhere");
    }
    return rc;
}

static int read_request(struct watching *watching, const Torg__V1__WatchSnippetsRequest *request,
                        struct err *err)
{
    struct arena *arena = call_arena(watching->call);
    struct snippet_config *config;
    int rc = 0;

    if (request->n_keys > SNIPPET_BATCH_KEY_COUNT_MAX)
        return call_invalid(watching->call, err, "keys", "%zu keys; at most %d, or none for all",
                            request->n_keys, SNIPPET_BATCH_KEY_COUNT_MAX);
    if (!request->n_names || request->n_names > SNIPPET_BATCH_NAME_COUNT_MAX)
        return call_invalid(watching->call, err, "names", "%zu names; one to %d are watched",
                            request->n_names, SNIPPET_BATCH_NAME_COUNT_MAX);
    watching->names = snippet_texts(request->names, request->n_names, arena);
    watching->name_count = request->n_names;
    watching->keys = snippet_texts(request->keys, request->n_keys, arena);
    watching->key_count = request->n_keys;
    watching->without_contents = request->without_contents;
    for (size_t i = 0; i < watching->key_count && !rc; i++)
        rc = snippet_key_check(watching->keys[i], err);
    config = snippets_config(watching->snippets);
    for (size_t i = 0; i < watching->name_count && !rc; i++) {
        if (!watching->names[i].size || !snippet_config_find(config, watching->names[i]))
            rc = err_set(err, ERR_NOT_FOUND, "there is no snippet or group \"%.200s\"",
                         request->names[i]);
    }
    snippet_config_unref(config);
    if (!rc && *request->position)
        rc = snippet_position_parse(bytes_of(request->position), &watching->position, err);
    else if (!rc)
        rc = snippet_changes_end(snippets_store(watching->snippets), &watching->position, err);
    return rc;
}

int snippet_watch(struct call *call, struct err *err)
{
    struct watching watching = {
        .call = call, .snippets = call_context(call), .sent_us = INT64_MIN / 2};
    ProtobufCMessage *message = NULL;
    int rc = call_read(call, &message, err);

    if (rc < 0)
        return rc;
    if (rc == 0)
        return err_set(err, ERR_INVALID, "a watch needs one request");
    /* The message is gone with the next read, of which there is none. */
    rc = read_request(&watching, (const Torg__V1__WatchSnippetsRequest *)message, err);
    if (!rc)
        rc = snippet_watch_enter(watching.snippets->watch, call_caller(call), err);
    if (rc)
        return rc;
    rc = tell_position(&watching, err); /* where it begins */
    if (!rc)
        rc = run(&watching, err);
    snippet_watch_leave(watching.snippets->watch, call_caller(call));
    return rc;
}
