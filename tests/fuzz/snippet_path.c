/* SPDX-License-Identifier: Apache-2.0 */
/*
 * snippet_path.c - fuzz target: the path of a request for a snippet, cut into its parts, decoded
 * and looked up. What is found is a name of the config and keys that can be stored; positions of
 * watches are read back as they are written.
 */
#include <assert.h>

#include "net/rest.h"
#include "net/server/calls/resources.h"
#include "net/server/routes/address.h"
#include "snippets/config/config.h"
#include "snippets/config/name.h"
#include "snippets/rows/changes.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char CONFIG[] =
    "Body { Output: JSON Sections { Name: 'a' } Sections { Name: 'g' Body {"
    " Sections { Name: 'x' } Sections { Name: 'y/z' } } } }";

/* A name that passes is one that a config could have; one that a config has passes. */
static void look_up(const struct snippet_config *config, struct bytes part)
{
    bool is_name = snippet_name_check(part, NULL) == 0;

    assert(!part.size || is_name || !snippet_config_find(config, part));
    (void)snippet_key_check(part, NULL);
    (void)snippet_language_check(part, NULL);
}

static void check_position(struct bytes text, struct arena *arena)
{
    struct snippet_position position, again;

    if (snippet_position_parse(text, &position, NULL))
        return;
    assert(snippet_position_parse(bytes_of(snippet_position_text(&position, arena)), &again,
                                  NULL) == 0);
    for (size_t i = 0; i < SNIPPET_CHANGE_PARTITION_COUNT; i++)
        assert(position.last[i] == again.last[i] && position.last[i] >= 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct snippet_config_options options = {.dir = "/nowhere"};
    struct bytes path = bytes_make(data, size);
    struct arena *arena = arena_new();
    struct rest_request *request = arena_zero(arena, sizeof(*request));
    struct snippet_config *config;
    int rc = snippet_config_load(bytes_of(CONFIG), &options, &config, NULL);

    assert(!rc);
    look_up(config, path);
    check_position(path, arena);
    if (resource_match("/snippets/{name...}", path, request)) {
        assert(request->tail_count > 0 && request->tail_count <= NET_REST_PART_COUNT_MAX);
        for (size_t i = 0; i < request->tail_count; i++) {
            struct buf plain = BUF_INIT(size + 1);

            if (!address_decode(request->tail[i], false, &plain, NULL))
                look_up(config, buf_bytes(&plain));
            buf_release(&plain);
        }
    }
    snippet_config_unref(config);
    arena_free(arena);
    return 0;
}
