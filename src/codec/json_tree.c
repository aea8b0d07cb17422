/* SPDX-License-Identifier: Apache-2.0 */
/* json_tree.c - see json_tree.h. yajl tells what comes; the nodes that are open stand in a stack.
 */
#include "codec/json_tree.h"

#include <assert.h>

#include "base/text.h"
#include "codec/bounds.h"
#include "codec/json_reader.h"
#include "codec/json_value.h"
#include "codec/json_yajl.h"

struct open_node {
    struct json_node *node;
    struct json_node *last; /* of what is in it */
    struct bytes key;       /* of an object: of the value that comes */
};

struct tree_reader {
    struct arena *arena;
    struct err *err;
    int rc;
    size_t memory_size;
    uint32_t depth; /* of the stack; the first is the list of all values */
    struct open_node stack[JSON_TREE_DEPTH_MAX + 1];
};

static bool take_memory(struct tree_reader *reader, size_t size)
{
    size = (size + 15) & ~(size_t)15;
    if (size <= MESSAGE_MEMORY_MAX - reader->memory_size) {
        reader->memory_size += size;
        return true;
    }
    reader->rc = err_set(reader->err, ERR_LIMIT,
                         "the JSON takes more than %d MB when it is read; send less at a time",
                         MESSAGE_MEMORY_MAX >> 20);
    return false;
}

/* A node at the end of what is open; NULL: no more. */
static struct json_node *add(struct tree_reader *reader, enum json_node_kind kind,
                             struct bytes text)
{
    struct open_node *open = &reader->stack[reader->depth - 1];
    struct json_node *node;

    if (!take_memory(reader, sizeof(*node)) || !take_memory(reader, text.size))
        return NULL;
    node = arena_zero(reader->arena, sizeof(*node));
    node->kind = kind;
    node->name = open->key;
    node->text = arena_copy(reader->arena, text);
    if (open->last)
        open->last->next = node;
    else
        open->node->first = node;
    open->last = node;
    open->node->count++;
    return node;
}

static int on_null(void *arg)
{
    return add(arg, JSON_NULL, (struct bytes)BYTES_LITERAL("null")) != NULL;
}

static int on_bool(void *arg, int value)
{
    return add(arg, JSON_BOOL, bytes_of(value ? "true" : "false")) != NULL;
}

static int on_number(void *arg, const char *text, size_t size)
{
    struct tree_reader *reader = arg;

    if (size <= JSON_NUMBER_SIZE_MAX)
        return add(reader, JSON_NUMBER, bytes_make(text, size)) != NULL;
    reader->rc = err_set(reader->err, ERR_LIMIT, "a number of %zu digits; the limit is %d", size,
                         JSON_NUMBER_SIZE_MAX);
    return 0;
}

static bool has_zero(struct tree_reader *reader, struct bytes text)
{
    if (!text.size || !memchr(text.data, 0, text.size))
        return false;
    reader->rc = err_set(reader->err, ERR_INVALID, "a text with the character U+0000");
    return true;
}

static int on_string(void *arg, const unsigned char *text, size_t size)
{
    return !has_zero(arg, bytes_make(text, size)) &&
           add(arg, JSON_STRING, bytes_make(text, size)) != NULL;
}

static int open_node(struct tree_reader *reader, enum json_node_kind kind)
{
    struct json_node *node = add(reader, kind, BYTES_EMPTY);

    if (!node)
        return 0;
    if (reader->depth == JSON_TREE_DEPTH_MAX + 1) {
        reader->rc = err_set(reader->err, ERR_LIMIT, "more than %d lists and objects in each other",
                             JSON_TREE_DEPTH_MAX);
        return 0;
    }
    reader->stack[reader->depth++] = (struct open_node){.node = node};
    return 1;
}

static int on_object(void *arg)
{
    return open_node(arg, JSON_OBJECT);
}

static int on_list(void *arg)
{
    return open_node(arg, JSON_LIST);
}

static int on_key(void *arg, const unsigned char *text, size_t size)
{
    struct tree_reader *reader = arg;
    struct open_node *open = &reader->stack[reader->depth - 1];
    struct bytes key = bytes_make(text, size);

    if (has_zero(reader, key) || !take_memory(reader, size))
        return 0;
    if (open->node->count == JSON_MEMBER_COUNT_MAX)
        reader->rc = err_set(reader->err, ERR_LIMIT, "an object with more than %d members",
                             JSON_MEMBER_COUNT_MAX);
    for (const struct json_node *one = open->node->first; one && !reader->rc; one = one->next)
        if (bytes_equal(one->name, key))
            reader->rc = err_set(reader->err, ERR_INVALID, "an object has \"%.*s\" twice",
                                 BYTES_ARG(json_clip(key)));
    open->key = arena_copy(reader->arena, key);
    return !reader->rc;
}

static int on_end(void *arg)
{
    struct tree_reader *reader = arg;

    reader->depth--;
    assert(reader->depth);
    return 1;
}

static int parse(struct tree_reader *reader, struct bytes json)
{
    static const yajl_callbacks callbacks = {
        .yajl_null = on_null,
        .yajl_boolean = on_bool,
        .yajl_number = on_number,
        .yajl_string = on_string,
        .yajl_start_map = on_object,
        .yajl_map_key = on_key,
        .yajl_end_map = on_end,
        .yajl_start_array = on_list,
        .yajl_end_array = on_end,
    };
    yajl_alloc_funcs memory = json_yajl_memory;
    yajl_handle yajl = yajl_alloc(&callbacks, &memory, reader);
    yajl_status status;
    int rc = 0;

    yajl_config(yajl, yajl_dont_validate_strings, 1);
    yajl_config(yajl, yajl_allow_multiple_values, 1);
    status = yajl_parse(yajl, json.data, json.size);
    if (status == yajl_status_ok)
        status = yajl_complete_parse(yajl);
    if (status == yajl_status_client_canceled) {
        rc = err_wrap(reader->err, "at byte %zu of the JSON", yajl_get_bytes_consumed(yajl));
    } else if (status != yajl_status_ok) {
        unsigned char *text = yajl_get_error(yajl, 0, json.data, json.size);

        rc = err_set(reader->err, ERR_INVALID, "not valid JSON at byte %zu: %.*s",
                     yajl_get_bytes_consumed(yajl), (int)strcspn((const char *)text, "\n"),
                     (const char *)text);
        yajl_free_error(yajl, text);
    }
    yajl_free(yajl);
    return rc;
}

int json_tree_read(struct bytes json, struct arena *arena, const struct json_node **list,
                   struct err *err)
{
    struct json_node *root = arena_zero(arena, sizeof(*root));
    struct err own = {0};
    struct tree_reader reader = {.arena = arena, .err = err ? err : &own, .depth = 1};
    int rc = json_check_text(json, err);

    root->kind = JSON_LIST;
    reader.stack[0] = (struct open_node){.node = root};
    if (!rc)
        rc = parse(&reader, json);
    *list = root;
    if (!rc && root->count == 1 && root->first->kind == JSON_LIST)
        *list = root->first;
    return rc;
}

const struct json_node *json_member(const struct json_node *object, const char *name)
{
    for (const struct json_node *one = object->first; one; one = one->next)
        if (object->kind == JSON_OBJECT && bytes_equal_text(one->name, name))
            return one;
    return NULL;
}

/* Depth is that of what was read. */
void json_tree_write(const struct json_node *node, struct buf *out)
{
    const struct json_node *one;

    if (node->kind == JSON_STRING) {
        json_put_text(out, node->text);
        return;
    }
    if (node->kind != JSON_LIST && node->kind != JSON_OBJECT) {
        buf_put(out, node->text);
        return;
    }
    buf_put_byte(out, node->kind == JSON_LIST ? '[' : '{');
    for (one = node->first; one; one = one->next) {
        if (one != node->first)
            buf_put_byte(out, ',');
        if (node->kind == JSON_OBJECT) {
            json_put_text(out, one->name);
            buf_put_byte(out, ':');
        }
        json_tree_write(one, out);
    }
    buf_put_byte(out, node->kind == JSON_LIST ? ']' : '}');
}
