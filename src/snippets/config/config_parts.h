/* SPDX-License-Identifier: Apache-2.0 */
/* config_parts.h - what the files of a config share (config.h). */
#ifndef TORG_SNIPPETS_CONFIG_CONFIG_PARTS_H
#define TORG_SNIPPETS_CONFIG_CONFIG_PARTS_H

#include <stdatomic.h>

#include "base/object.h"
#include "codec/text_format.h"
#include "snippets/config/config.h"

enum option_id {
    OPTION_CHILDREN_ONLY,
    OPTION_SERVICE,
    OPTION_OUTPUT,
    OPTION_INPUT_JSON_SCHEMA,
    OPTION_OUTPUT_JSON_SCHEMA,
    OPTION_SPECIAL_VALIDATOR,
    OPTION_SPECIAL_CONVERTOR,
    OPTION_INPUT,
    OPTION_INPUT_SAME_AS_OUTPUT,
    OPTION_RECURSIVE,
    OPTION_OUTPUT_LANGUAGES,
    OPTION_TTL_MINUTES,
    OPTION_INPUT_TOPIC,
    OPTION_INPUT_FOR_LB,
    OPTION_KEY_EXTRACTOR,
    OPTION_RETRY_COUNT,
    OPTION_COUNT,
};

enum option_kind {
    OPTION_BOOL,
    OPTION_TEXT,
    OPTION_TEXTS,
    OPTION_FORMAT,
    OPTION_FORMATS,
    OPTION_NUMBER,
};

/* What a body says of an option. */
struct option_value {
    const struct text_field *first; /* NULL: nothing; of a list: others follow by name */
    bool is_true;
    uint64_t number;
    unsigned formats;    /* a bit each */
    struct bytes *texts; /* one, or those of a list */
    size_t text_count;
};

/* A section of the tree, before it is compiled. */
struct draft {
    const char *name; /* absolute */
    struct bytes own; /* the last part */
    struct draft *parent, *first_child, *last_child, *next;
    const struct text_field *place; /* NULL: it is unfolded from a name with slashes */
    unsigned line, column;
    size_t depth, child_count;
    const struct option_value *values;            /* OPTION_COUNT of its own; NULL: none */
    const struct option_value *all[OPTION_COUNT]; /* its own, or its parent's; NULL: nobody's */
    struct snippet *snippet;                      /* NULL: it is a group and nothing else */
    struct snippet_section *section;
    uint8_t colour; /* of the search for circles: 0 not seen, 1 on the way, 2 done */
};

struct config_schema {
    const char *name;
    struct json_schema *schema;
    struct config_schema *next;
};

enum { SNIPPET_CONFIG_MAGIC = OBJECT_MAGIC('s', 'n', 'c', 'f') };

struct snippet_config {
    uint32_t magic;
    _Atomic unsigned refs;
    struct arena *arena;
    struct config_schema *schemas;
    struct snippet_section *sections;
    size_t section_count;
    const struct snippet **snippets;
    size_t snippet_count;
};

struct config_loader {
    struct snippet_config *config;
    const struct snippet_config_options *options;
    struct arena *arena; /* the config's */
    struct draft *root;
    struct draft **drafts; /* all, by name */
    size_t draft_count;
    struct err *err;
};

int config_refuse(struct config_loader *loader, unsigned line, unsigned column, int code,
                  const char *format, ...) __attribute__((format(printf, 5, 6)));

/* --- config_tree.c --- */
int config_tree_read(struct config_loader *loader, struct bytes text);
struct draft *config_tree_find(const struct config_loader *loader, struct bytes name);

/* --- config_option.c --- */
const char *option_name(enum option_id id);
bool option_is_inherited(enum option_id id);
/* Reads one field of a body; *id tells which; ERR_NOT_FOUND: there is no such option. */
int option_read(struct config_loader *loader, const struct text_field *field,
                struct option_value *values);

/* --- config_compile.c --- */
int config_compile(struct config_loader *loader);

/* --- config_group.c --- */
/* What the name of each section acts on. */
int config_groups(struct config_loader *loader);

#endif
