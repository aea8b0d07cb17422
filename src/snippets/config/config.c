/* SPDX-License-Identifier: Apache-2.0 */
/* config.c - see config.h; config_tree.c reads, config_compile.c and config_group.c compile. */
#include "snippets/config/config.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/memory.h"
#include "schema/schema.h"
#include "snippets/bounds.h"
#include "snippets/config/config_parts.h"

int config_refuse(struct config_loader *loader, unsigned line, unsigned column, int code,
                  const char *format, ...)
{
    char reason[ERR_TEXT_SIZE];
    va_list args;

    va_start(args, format);
    (void)vsnprintf(reason, sizeof(reason), format, args);
    va_end(args);
    return err_set(loader->err, code, "line %u, column %u: %s", line, column, reason);
}

int snippet_config_load(struct bytes text, const struct snippet_config_options *options,
                        struct snippet_config **result, struct err *err)
{
    struct arena *arena = arena_new();
    struct snippet_config *config = arena_zero(arena, sizeof(*config));
    struct config_loader loader = {
        .config = config, .options = options, .arena = arena, .err = err};
    int rc;

    *result = NULL;
    object_begin(config, SNIPPET_CONFIG_MAGIC);
    config->arena = arena;
    atomic_init(&config->refs, 1);
    rc = config_tree_read(&loader, text);
    if (!rc)
        rc = config_compile(&loader);
    if (rc)
        snippet_config_unref(config);
    else
        *result = config;
    return rc;
}

struct snippet_config *snippet_config_ref(struct snippet_config *config)
{
    object_check(config, SNIPPET_CONFIG_MAGIC);
    atomic_fetch_add(&config->refs, 1);
    return config;
}

void snippet_config_unref(struct snippet_config *config)
{
    struct config_schema *schema;

    if (!config)
        return;
    object_check(config, SNIPPET_CONFIG_MAGIC);
    if (atomic_fetch_sub(&config->refs, 1) > 1)
        return;
    for (schema = config->schemas; schema; schema = schema->next)
        json_schema_free(schema->schema);
    object_end(config, SNIPPET_CONFIG_MAGIC);
    arena_free(config->arena);
}

const struct snippet_section *snippet_config_find(const struct snippet_config *config,
                                                  struct bytes name)
{
    size_t low = 0, high = config->section_count;

    object_check(config, SNIPPET_CONFIG_MAGIC);
    while (low < high) {
        size_t middle = (low + high) / 2;
        int order = bytes_compare(bytes_of(config->sections[middle].name), name);

        if (order == 0)
            return &config->sections[middle];
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

const struct snippet_section *snippet_config_sections(const struct snippet_config *config,
                                                      size_t *count)
{
    object_check(config, SNIPPET_CONFIG_MAGIC);
    *count = config->section_count;
    return config->sections;
}

const struct snippet *const *snippet_config_snippets(const struct snippet_config *config,
                                                     size_t *count)
{
    object_check(config, SNIPPET_CONFIG_MAGIC);
    *count = config->snippet_count;
    return config->snippets;
}

const struct snippet *snippet_config_snippet(const struct snippet_config *config, struct bytes name)
{
    const struct snippet_section *section = snippet_config_find(config, name);

    return section ? section->own : NULL;
}
