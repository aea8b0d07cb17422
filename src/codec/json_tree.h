/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json_tree.h - JSON of no known type, as a tree: whatever a stranger's program writes.
 *
 * Read as strictly as messages are (json.h): valid UTF-8, no lone surrogates, no U+0000, no key
 * twice. Numbers stay the text they were, so nothing is lost; what is written is what was read, in
 * its order, without blanks.
 *
 * Threads: any.
 */
#ifndef TORG_CODEC_JSON_TREE_H
#define TORG_CODEC_JSON_TREE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/bytes.h"
#include "base/err.h"

enum json_node_kind { JSON_NULL, JSON_BOOL, JSON_NUMBER, JSON_STRING, JSON_LIST, JSON_OBJECT };

struct json_node {
    enum json_node_kind kind;
    uint32_t count;    /* of a list or an object: what is in it */
    struct bytes name; /* of a member of an object */
    struct bytes text; /* of a string its characters, of others as it was written */
    const struct json_node *first;
    const struct json_node *next;
};

/*
 * Reads a text: one value, or several one after the other (JSON lines). *list is a list: the value
 * itself if it is the only one and a list, else of all values. All of it is the arena's.
 * ERR_INVALID tells the byte, ERR_LIMIT the limit.
 */
int json_tree_read(struct bytes json, struct arena *arena, const struct json_node **list,
                   struct err *err);

/* NULL: the object has no such member. */
const struct json_node *json_member(const struct json_node *object, const char *name);

/* Appends the value as JSON; not its name. */
void json_tree_write(const struct json_node *node, struct buf *out);

#endif
