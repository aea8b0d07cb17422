/* SPDX-License-Identifier: Apache-2.0 */
/*
 * snippet_config.c - fuzz target: the config of snippets. What is loaded is whole: each section is
 * found by its name, and what it acts on is stored.
 */
#include <assert.h>

#include "snippets/bounds.h"
#include "snippets/config/config.h"
#include "snippets/config/prefixes.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct snippet_config *config)
{
    size_t count, i, j;
    const struct snippet_section *sections = snippet_config_sections(config, &count);

    for (i = 0; i < count; i++) {
        assert(snippet_config_find(config, bytes_of(sections[i].name)) == &sections[i]);
        assert(sections[i].target_count <= SNIPPET_GROUP_COUNT_MAX);
        for (j = 0; j < sections[i].target_count; j++)
            assert(snippet_config_snippet(config, bytes_of(sections[i].targets[j]->name)) ==
                   sections[i].targets[j]);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct snippet_config_options options = {.dir = "/nowhere"};
    struct snippet_config *config;
    struct snippet_prefixes prefixes;
    struct arena *arena = arena_new();

    if (snippet_config_load(bytes_make(data, size), &options, &config, NULL) == 0) {
        check(config);
        snippet_config_unref(config);
    }
    (void)snippet_prefixes_read(bytes_make(data, size), arena, &prefixes, NULL);
    arena_free(arena);
    return 0;
}
