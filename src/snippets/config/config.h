/* SPDX-License-Identifier: Apache-2.0 */
/*
 * config.h - which snippets there are, and how each is read in: a tree of sections.
 *
 *   Body { ChildrenOnly: true  Output: JSON        # the root, whose Name is empty: for all
 *     Sections { Name: "rating" }                               # the snippet "rating"
 *     Sections { Name: "delivery"                               # a group
 *       Body { InputJsonSchema: "delivery.json"
 *         Sections { Name: "pickup" Body { TtlMinutes: 60 } }   # the snippet "delivery/pickup"
 *       } } }
 *
 * A section has the options of its parent but for those that it sets itself; a name with slashes
 * unfolds into sections. All that contradicts itself is refused when it is loaded, by line and
 * column; what is loaded is compiled: schemas, validators, convertors, lists of what a group's name
 * acts on. docs/snippets.md has every option.
 *
 * Threads: a loaded config is read by any, and counted: a request keeps the one it began with.
 */
#ifndef TORG_SNIPPETS_CONFIG_CONFIG_H
#define TORG_SNIPPETS_CONFIG_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/err.h"
#include "snippets/parts/part.h"

struct json_schema;
struct snippet_files;    /* files.h */
struct snippet_prefixes; /* prefixes.h */

/* Something that is stored. */
struct snippet {
    const char *name; /* absolute */
    int64_t prefix;   /* of its keys; 0: none was given to the load */
    unsigned line;    /* of its section */
    const char *service;
    enum snippet_format output;
    unsigned inputs;                        /* a bit each */
    const struct json_schema *input_schema; /* NULL: none */
    const struct json_schema *output_schema;
    const struct snippet_validator *validator; /* NULL: none */
    const void *validator_state;
    const struct snippet_convertor *convertor; /* NULL: it stays as it is */
    const void *convertor_state;
    const struct bytes *languages; /* it is converted to; none: the request's */
    size_t language_count;
    int64_t ttl_us;    /* 0: for ever */
    const char *topic; /* NULL: none */
    enum snippet_format topic_format;
    const struct snippet_extractor *extractor;
    const void *extractor_state;
    unsigned retry_count;
};

/* A name that requests may use. */
struct snippet_section {
    const char *name;                     /* absolute; "" is the root's */
    const struct snippet *own;            /* NULL: it is a group and nothing else */
    const struct snippet *const *targets; /* what a request of this name acts on */
    size_t target_count;
    size_t depth;
    size_t child_count;
};

struct snippet_config;

struct snippet_config_options {
    const char *dir;                         /* of the schemas and other files that it names */
    const struct snippet_prefixes *prefixes; /* NULL: none are asked for */
    struct snippet_files *files;             /* gets those that were read; NULL: nobody asks */
};

/* The text of a config. On failure *config is NULL; ERR_INVALID and ERR_LIMIT tell line and
 * column. */
int snippet_config_load(struct bytes text, const struct snippet_config_options *options,
                        struct snippet_config **config, struct err *err);
struct snippet_config *snippet_config_ref(struct snippet_config *config);
void snippet_config_unref(struct snippet_config *config); /* NULL is fine */

/* NULL: there is none. */
const struct snippet_section *snippet_config_find(const struct snippet_config *config,
                                                  struct bytes name);
/* In the order of their names. */
const struct snippet_section *snippet_config_sections(const struct snippet_config *config,
                                                      size_t *count);
const struct snippet *const *snippet_config_snippets(const struct snippet_config *config,
                                                     size_t *count);
/* NULL: there is none, or it is a group alone. */
const struct snippet *snippet_config_snippet(const struct snippet_config *config,
                                             struct bytes name);

#endif
