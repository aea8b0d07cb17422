/* SPDX-License-Identifier: Apache-2.0 */
/* peer_settings.c - see peer_settings.h. */
#include "roles/processes/peer_settings.h"

#include <string.h>

#include "base/file.h"
#include "net/client/caller.h"
#include "searcher/bounds.h"
#include "torg/v1/searcher.pb-c.h"

enum { KEY_SIZE_MAX = 4096 };

const char *next_word(const char **list, struct arena *arena)
{
    size_t blank = strspn(*list, " ,");
    size_t size = strcspn(*list + blank, " ,");
    const char *word;

    if (!size)
        return NULL;
    word = arena_text(arena, bytes_make(*list + blank, size));
    *list += blank + size;
    return word;
}

/* NULL in *key: none is set. */
static int read_key(const struct process *process, enum setting_id id, const char **key,
                    struct err *err)
{
    const char *path = config_text(process->config, id);
    struct buf content = BUF_INIT(KEY_SIZE_MAX);
    const char *text;
    int rc = 0;

    *key = NULL;
    if (*path)
        rc = file_read(path, &content, err);
    if (!rc && *path) {
        text = buf_text(&content);
        *key = next_word(&text, process->arena);
    }
    if (!rc && *key)
        ((char *)*key)[strcspn(*key, "\r\n")] = 0;
    buf_release(&content);
    return rc ? err_wrap(err, "%s", setting_table[id].name) : 0;
}

static bool is_address(const char *word)
{
    return strncmp(word, "http://", 7) == 0 || strncmp(word, "https://", 8) == 0;
}

int own_address(const struct process *process, const char **address, struct err *err)
{
    const char *left = config_text(process->config, SETTING_SEARCHER_ADDRESS);

    *address = next_word(&left, process->arena);
    if (*address && (!is_address(*address) || next_word(&left, process->arena)))
        return err_set(err, ERR_INVALID,
                       "searcher.address: expected one address such as http://10.0.0.2:8080");
    return 0;
}

int peer_settings_open(const struct process *process, enum setting_id list, enum setting_id key,
                       struct peers **peers, struct err *err)
{
    const char *name = setting_table[list].name;
    const char *left = config_text(process->config, list);
    const char *certificate = config_text(process->config, SETTING_TLS_CERTIFICATE);
    const char **urls = arena_array(process->arena, SEARCHER_PEER_COUNT_MAX + 1, sizeof(urls[0]));
    struct caller_options calling = {.service = torg__v1__searcher_service__descriptor.name,
                                     .ca_file = *certificate ? certificate : NULL};
    struct peers_options options = {.urls = urls, .clock = process->clock};
    const char *word, *own;
    int rc = own_address(process, &own, err);

    rc = rc ? rc : read_key(process, key, &calling.key, err);
    *peers = NULL;
    for (word = next_word(&left, process->arena); word && !rc;
         word = next_word(&left, process->arena)) {
        if (strcmp(word, "announced") == 0)
            options.coord = process->backends.coord;
        else if (!is_address(word))
            rc = err_set(err, ERR_INVALID,
                         "%s: \"%s\" is not an address such as http://10.0.0.2:8080, nor the word "
                         "announced",
                         name, word);
        else if (options.count == SEARCHER_PEER_COUNT_MAX)
            rc = err_set(err, ERR_INVALID, "%s: at most %d are asked", name,
                         SEARCHER_PEER_COUNT_MAX);
        else
            urls[options.count++] = word;
    }
    if (rc || (!options.count && !options.coord))
        return rc;
    options.own = own;
    options.caller = (struct peer_caller){caller_call, caller_free, caller_new(&calling)};
    return peers_open(&options, peers, err);
}
