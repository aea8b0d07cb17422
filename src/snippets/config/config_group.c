/* SPDX-License-Identifier: Apache-2.0 */
/*
 * config_group.c - what the name of a section acts on (config.h).
 *
 * Its own snippet, if it is one; then what its Recursive names, or all its children if it has none.
 * Recursive names sections by their place below this one ("pickup", "a/b"), or from the root
 * ("/rating"): so one may lead back, which is refused.
 */
#include <string.h>

#include "base/memory.h"
#include "snippets/bounds.h"
#include "snippets/config/config_parts.h"

struct gathering {
    struct config_loader *loader;
    const struct snippet **targets;
    size_t count;
};

static int gather(struct gathering *gathering, struct draft *draft, unsigned depth);

static int refuse_section_name(struct gathering *gathering, const struct draft *draft,
                               struct bytes name, const char *reason)
{
    const struct option_value *recursive = draft->all[OPTION_RECURSIVE];

    return config_refuse(gathering->loader, recursive->first->line, recursive->first->column,
                         ERR_INVALID, "\"%s\", Recursive: \"%.*s\" %s", draft->name,
                         BYTES_ARG(name), reason);
}

static int follow(struct gathering *gathering, struct draft *draft, struct bytes name,
                  unsigned depth)
{
    struct config_loader *loader = gathering->loader;
    struct draft *target;
    const char *path;

    if (name.size && name.data[0] == '/')
        path = arena_text(loader->arena, bytes_skip(name, 1));
    else
        path = *draft->name ? arena_printf(loader->arena, "%s/%.*s", draft->name, BYTES_ARG(name))
                            : arena_text(loader->arena, name);
    target = name.size ? config_tree_find(loader, bytes_of(path)) : NULL;
    if (!target || !target->parent)
        return refuse_section_name(gathering, draft, name, "is not a section");
    if (target->colour == 1)
        return refuse_section_name(gathering, draft, name, "leads back here");
    return gather(gathering, target, depth + 1);
}

static int add_own(struct gathering *gathering, const struct draft *draft)
{
    size_t i;

    if (!draft->snippet)
        return 0;
    for (i = 0; i < gathering->count; i++) {
        if (gathering->targets[i] == draft->snippet)
            return 0;
    }
    if (gathering->count == SNIPPET_GROUP_COUNT_MAX)
        return config_refuse(gathering->loader, draft->line, draft->column, ERR_LIMIT,
                             "a group of more than %d snippets (SNIPPET_GROUP_COUNT_MAX)",
                             SNIPPET_GROUP_COUNT_MAX);
    gathering->targets[gathering->count++] = draft->snippet;
    return 0;
}

static int gather(struct gathering *gathering, struct draft *draft, unsigned depth)
{
    const struct option_value *recursive = draft->all[OPTION_RECURSIVE];
    struct draft *child;
    size_t i;
    int rc = add_own(gathering, draft);

    if (!rc && depth > SNIPPET_NAME_DEPTH_MAX)
        rc = config_refuse(gathering->loader, draft->line, draft->column, ERR_LIMIT,
                           "groups in groups, too deep (SNIPPET_NAME_DEPTH_MAX)");
    draft->colour = 1;
    for (i = 0; recursive && i < recursive->text_count && !rc; i++)
        rc = follow(gathering, draft, recursive->texts[i], depth);
    for (child = recursive ? NULL : draft->first_child; child && !rc; child = child->next) {
        if (child->colour == 1)
            rc = config_refuse(gathering->loader, draft->line, draft->column, ERR_INVALID,
                               "\"%s\" leads back to \"%s\"", draft->name, child->name);
        else
            rc = gather(gathering, child, depth + 1);
    }
    draft->colour = 0;
    return rc;
}

static int make_section(struct config_loader *loader, struct draft *draft,
                        struct snippet_section *section)
{
    const struct snippet *targets[SNIPPET_GROUP_COUNT_MAX];
    struct gathering gathering = {.loader = loader, .targets = targets};
    int rc;

    section->name = draft->name;
    section->own = draft->snippet;
    section->depth = draft->depth;
    section->child_count = draft->child_count;
    if (!draft->parent)
        return 0; /* nobody acts on all */
    if (draft->all[OPTION_RECURSIVE] && !draft->first_child)
        return refuse_section_name(&gathering, draft, draft->all[OPTION_RECURSIVE]->texts[0],
                                   "is below a snippet, which is not a group");
    rc = gather(&gathering, draft, 0);
    if (rc)
        return rc;
    section->target_count = gathering.count;
    section->targets = memcpy(arena_array(loader->arena, gathering.count + 1, sizeof(*targets)),
                              targets, gathering.count * sizeof(*targets));
    return 0;
}

int config_groups(struct config_loader *loader)
{
    struct snippet_config *config = loader->config;
    size_t i;
    int rc = 0;

    config->sections = arena_array(loader->arena, loader->draft_count, sizeof(*config->sections));
    config->snippets = arena_array(loader->arena, loader->draft_count, sizeof(*config->snippets));
    config->section_count = loader->draft_count;
    for (i = 0; i < loader->draft_count && !rc; i++) {
        rc = make_section(loader, loader->drafts[i], &config->sections[i]);
        if (config->sections[i].own)
            config->snippets[config->snippet_count++] = config->sections[i].own;
    }
    return rc;
}
