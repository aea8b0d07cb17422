/* SPDX-License-Identifier: Apache-2.0 */
/* retired_topics.c - see retired_topics.h. */
#include "registry/clients/retired_topics.h"

#include <string.h>

#include "base/log.h"
#include "base/text.h"
#include "model/topics.h"
#include "registry/bounds.h"

/* "index.CLIENT.EPOCH", as index_topic_name makes it; false: it is none. */
static bool parse_name(const char *name, struct bytes *client, int64_t *epoch)
{
    char again[INDEX_TOPIC_SIZE];
    const char *first = strchr(name, '.');
    const char *last = strrchr(name, '.');
    char text[CLIENT_NAME_SIZE_MAX + 1];

    if (!first || first == last || strlen(name) >= sizeof(again))
        return false;
    *client = bytes_make(first + 1, (size_t)(last - first - 1));
    if (client->size >= sizeof(text) || !text_to_i64(bytes_of(last + 1), epoch) || *epoch < 1)
        return false;
    memcpy(text, client->data, client->size);
    text[client->size] = 0;
    index_topic_name(text, *epoch, again);
    return strcmp(again, name) == 0;
}

/* NULL: not one of ours, or it cannot be read now. */
static const struct client_view *find_client(const struct client_view **clients, size_t count,
                                             struct bytes name)
{
    for (size_t i = 0; i < count; i++)
        if (bytes_equal_text(name, clients[i]->name))
            return clients[i];
    return NULL;
}

/* Leaves only the retired ones in the list. */
static int choose_retired(const struct indexer_base *base, const char **names, size_t *count,
                          struct arena *arena, struct err *err)
{
    const struct client_view **clients = NULL;
    size_t client_count = 0;
    size_t kept = 0;
    int rc = clients_list(base->clients, true, arena, &clients, &client_count, NULL, err);

    for (size_t i = 0; i < *count && !rc; i++) {
        const struct client_view *client;
        struct bytes name;
        int64_t epoch;

        if (!parse_name(names[i], &name, &epoch))
            continue;
        client = find_client(clients, client_count, name);
        if (client && !client_epoch(client, epoch))
            names[kept++] = names[i];
    }
    *count = kept;
    for (size_t i = 0; i < client_count; i++)
        client_unref(clients[i]);
    return rc;
}

int retired_topics_remove(const struct indexer_base *base, struct coord *coord, size_t *count,
                          struct err *err)
{
    struct arena *arena = arena_new();
    const char **names = NULL;
    size_t name_count = 0;
    int rc = topic_list(base->topics, arena, &names, &name_count, err);

    *count = 0;
    if (!rc)
        rc = choose_retired(base, names, &name_count, arena, err);
    if (!rc && name_count && coord)
        rc = clients_announce(base->clients, coord, err);
    for (size_t i = 0; i < name_count && !rc; i++) {
        rc = topic_remove(base->topics, names[i], err);
        if (rc == ERR_NOT_FOUND) { /* another process was faster */
            rc = 0;
            continue;
        }
        *count += !rc;
        if (!rc)
            log_info("the topic of a retired epoch is removed", LOG_TEXT("topic", names[i]));
    }
    arena_free(arena);
    return rc;
}
