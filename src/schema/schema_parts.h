/* SPDX-License-Identifier: Apache-2.0 */
/* schema_parts.h - what the files of a schema share (schema.h). */
#ifndef TORG_SCHEMA_SCHEMA_PARTS_H
#define TORG_SCHEMA_SCHEMA_PARTS_H

#include <stdint.h>

#include "base/object.h"
#include "codec/json_number.h"
#include "schema/pattern.h"
#include "schema/schema.h"

struct rule;

struct rule_list {
    struct rule **rules;
    size_t count;
};

/* Kinds of values, a bit each. */
enum {
    TYPE_NULL = 1,
    TYPE_BOOLEAN = 2,
    TYPE_INTEGER = 4,
    TYPE_NUMBER = 8,
    TYPE_STRING = 16,
    TYPE_ARRAY = 32,
    TYPE_OBJECT = 64,
    TYPE_ANY = 127,
};

/* `type` and draft 3's `disallow`: names, and schemas among them. */
struct rule_types {
    unsigned mask;
    struct rule_list rules;
};

struct rule_property {
    struct bytes key;
    struct rule *rule;
    bool is_required; /* draft 3 */
};

struct rule_pattern {
    const struct pattern *pattern;
    struct rule *rule;
};

struct rule_dependency {
    struct bytes key;
    struct rule *rule; /* NULL: keys */
    struct bytes *keys;
    size_t key_count;
};

/* What may come beside what is named: everything, nothing, or what the rule takes. */
struct rule_rest {
    bool is_forbidden;
    struct rule *rule; /* NULL: everything */
};

typedef bool format_check(struct bytes text);

/* A range of a count: of characters, items, properties. */
struct rule_range {
    uint64_t min;
    uint64_t max;
};

/* One place of a schema. */
struct rule {
    const struct placed_json *source;
    struct schema_source *document;
    struct bytes base;
    struct rule *next; /* the compiler's list of all */
    uint8_t colour;    /* of the search for circles: 0 not seen, 1 on the way, 2 done */
    uint8_t height;    /* rules below it that look at the same value */

    struct rule *ref; /* all else is ignored then */
    bool has_types, has_disallow;
    struct rule_types types, disallow;
    const struct placed_json *values; /* enum */
    struct json_number *minimum, *maximum, *step;
    bool is_minimum_out, is_maximum_out;
    struct rule_range length, items_range, properties_range;
    const struct pattern *pattern;
    struct bytes pattern_text;
    format_check *format;
    struct bytes format_name;
    struct rule *items;
    struct rule_list item_list;
    bool has_item_list, is_unique;
    struct rule_rest other_items, other_properties;
    struct rule_property *properties; /* sorted by key */
    size_t property_count;
    struct rule_pattern *patterns;
    size_t pattern_count;
    struct bytes *required;
    size_t required_count;
    struct rule_dependency *dependencies;
    size_t dependency_count;
    struct rule_list all_of, any_of, one_of;
    bool has_any_of, has_one_of;
    struct rule *not_this;
};

/* A JSON text that rules are made of. */
struct schema_source {
    struct bytes uri;
    struct bytes json;
    const struct placed_json *root;
    enum schema_draft draft;
    bool is_walked; /* its ids are known */
    struct schema_source *next;
};

/* A place with an id, or whose base is another than its parent's. */
struct schema_id {
    struct bytes uri; /* absolute, with its fragment if that is not empty */
    const struct placed_json *node;
    struct schema_source *document;
    struct schema_id *next;
};

enum { JSON_SCHEMA_MAGIC = OBJECT_MAGIC('j', 's', 'c', 'h') };

struct json_schema {
    uint32_t magic;
    struct arena *arena;
    struct rule *root;
};

struct schema_compiler {
    struct arena *arena;
    const struct schema_options *options;
    struct schema_source *documents;
    struct schema_id *ids;
    struct rule *rules;    /* newest first */
    struct rule **by_node; /* a hash table, by source */
    size_t rule_count;
    struct err *err;
};

/* The rule of a place; made if it is new, and read before the compiler is done. */
int compiler_rule(struct schema_compiler *compiler, struct schema_source *document,
                  const struct placed_json *node, struct bytes base, struct rule **rule);
/* By what a $ref says. */
int compiler_ref(struct schema_compiler *compiler, const struct rule *from,
                 const struct placed_json *node, struct rule **rule);
/* Sets the error, with the node's place. */
int compiler_refuse(struct schema_compiler *compiler, const struct schema_source *document,
                    const struct placed_json *node, int code, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/* --- schema_keywords.c --- */

/* Reads all keywords of a rule. */
int keywords_read(struct schema_compiler *compiler, struct rule *rule);

/* Where a keyword has schemas in it. */
enum keyword_shape {
    SHAPE_NONE,
    SHAPE_SCHEMA, /* it is one, or a list of them, or among other things */
    SHAPE_MAP,    /* its values are */
};

enum keyword_shape keyword_shape(enum schema_draft draft, struct bytes name);

/* --- schema_format.c --- */

/* NULL: it is not known, and means nothing. */
format_check *schema_format_find(enum schema_draft draft, struct bytes name);

#endif
