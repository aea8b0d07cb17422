/* SPDX-License-Identifier: Apache-2.0 */
/* placed_json.c - see placed_json.h: by recursive descent, as deep as PLACED_JSON_DEPTH_MAX. */
#include "codec/placed_json.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/text.h"
#include "codec/bounds.h"
#include "codec/json_number.h"
#include "codec/json_reader.h"

/* What a value takes with its places in two arrays. */
enum { NODE_MEMORY_SIZE = sizeof(struct placed_json) + 2 * sizeof(void *) };

struct tree_reader {
    struct bytes json;
    size_t at;
    struct arena *arena;
    size_t node_count, node_count_max;
    unsigned depth;
    bool no_zero; /* the character U+0000 is refused */
    struct err *err;
};

static int fail(struct tree_reader *reader, int code, size_t offset, const char *reason)
{
    unsigned line, column;

    placed_json_place(reader->json, offset, &line, &column);
    return err_set(reader->err, code, "line %u, column %u: %s", line, column, reason);
}

static int peek(const struct tree_reader *reader)
{
    return reader->at < reader->json.size ? reader->json.data[reader->at] : -1;
}

static void skip_blanks(struct tree_reader *reader)
{
    int c = peek(reader);

    while (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
        reader->at++;
        c = peek(reader);
    }
}

static int hex4(struct tree_reader *reader, unsigned *value)
{
    unsigned i;

    *value = 0;
    for (i = 0; i < 4; i++, reader->at++) {
        int c = peek(reader);

        if (c >= '0' && c <= '9')
            *value = *value * 16 + (unsigned)(c - '0');
        else if ((c | 32) >= 'a' && (c | 32) <= 'f')
            *value = *value * 16 + (unsigned)((c | 32) - 'a') + 10;
        else
            return fail(reader, ERR_INVALID, reader->at, "expected four hex digits after \\u");
    }
    return 0;
}

static uint8_t *put_utf8(uint8_t *to, unsigned c)
{
    if (c < 0x80) {
        *to++ = (uint8_t)c;
    } else if (c < 0x800) {
        *to++ = (uint8_t)(0xc0 | c >> 6);
        *to++ = (uint8_t)(0x80 | (c & 63));
    } else if (c < 0x10000) {
        *to++ = (uint8_t)(0xe0 | c >> 12);
        *to++ = (uint8_t)(0x80 | (c >> 6 & 63));
        *to++ = (uint8_t)(0x80 | (c & 63));
    } else {
        *to++ = (uint8_t)(0xf0 | c >> 18);
        *to++ = (uint8_t)(0x80 | (c >> 12 & 63));
        *to++ = (uint8_t)(0x80 | (c >> 6 & 63));
        *to++ = (uint8_t)(0x80 | (c & 63));
    }
    return to;
}

/* Behind a \u: a character, or the two halves of one. */
static int read_unicode(struct tree_reader *reader, uint8_t **to)
{
    size_t begin = reader->at;
    unsigned c, low;
    int rc = hex4(reader, &c);

    if (rc)
        return rc;
    if (c >= 0xd800 && c <= 0xdfff) {
        if (c > 0xdbff || peek(reader) != '\\' || reader->at + 1 >= reader->json.size ||
            reader->json.data[reader->at + 1] != 'u')
            return fail(reader, ERR_INVALID, begin, "half of a surrogate pair");
        reader->at += 2;
        rc = hex4(reader, &low);
        if (rc)
            return rc;
        if (low < 0xdc00 || low > 0xdfff)
            return fail(reader, ERR_INVALID, begin, "half of a surrogate pair");
        c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
    }
    if (c == 0 && reader->no_zero)
        return fail(reader, ERR_INVALID, begin, "a text with the character U+0000");
    *to = put_utf8(*to, c);
    return 0;
}

static int read_escape(struct tree_reader *reader, uint8_t **to)
{
    static const char plain[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
    int c = peek(reader);
    const char *found = c > 0 ? strchr(plain, c) : NULL;

    reader->at++;
    if (c == 'u')
        return read_unicode(reader, to);
    if (!found)
        return fail(reader, ERR_INVALID, reader->at - 2, "an unknown escape");
    *(*to)++ = (uint8_t)meant[found - plain];
    return 0;
}

/* From its quotation mark on. What it means is never longer than what is written. */
static int read_text(struct tree_reader *reader, struct bytes *text)
{
    size_t begin = reader->at++;
    const uint8_t *data = reader->json.data;
    size_t end = reader->at;
    uint8_t *copy, *to;

    while (end < reader->json.size && data[end] != '"')
        end += data[end] == '\\' ? 2 : 1;
    if (end >= reader->json.size)
        return fail(reader, ERR_INVALID, begin, "the string does not end");
    copy = to = arena_alloc(reader->arena, end - reader->at + 1);
    while (reader->at < end) {
        uint8_t c = data[reader->at++];

        if (c < 0x20)
            return fail(reader, ERR_INVALID, reader->at - 1, "a control character in a string");
        if (c != '\\') {
            *to++ = c;
            continue;
        }
        if (read_escape(reader, &to))
            return ERR_INVALID;
    }
    reader->at = end + 1;
    *text = bytes_make(copy, (size_t)(to - copy));
    return 0;
}

static int read_word(struct tree_reader *reader, const char *word, enum placed_kind kind,
                     struct placed_json *node)
{
    struct bytes rest = bytes_skip(reader->json, reader->at);

    if (!bytes_begin(rest, bytes_of(word)))
        return fail(reader, ERR_INVALID, reader->at, "expected a JSON value");
    reader->at += strlen(word);
    node->kind = kind;
    node->text = bytes_of(word);
    return 0;
}

static int read_number(struct tree_reader *reader, struct placed_json *node)
{
    struct bytes rest = bytes_skip(reader->json, reader->at);
    size_t size = json_number_size(rest);

    if (size == 0)
        return fail(reader, ERR_INVALID, reader->at,
                    "not a JSON number, or one with too many digits");
    node->kind = PLACED_NUMBER;
    node->text = arena_copy(reader->arena, bytes_make(rest.data, size));
    reader->at += size;
    return 0;
}

static int read_value(struct tree_reader *reader, const struct placed_json *parent,
                      struct placed_json **node);

static int by_key(const void *a, const void *b)
{
    return bytes_compare((*(struct placed_json *const *)a)->key,
                         (*(struct placed_json *const *)b)->key);
}

const struct placed_json *placed_json_end(struct placed_json *node, struct arena *arena)
{
    struct placed_json *one;
    uint32_t i;

    for (node->count = 0, one = node->first; one; one = one->next)
        node->count++;
    node->children = arena_array(arena, node->count, sizeof(*node->children));
    for (i = 0, one = node->first; one; one = one->next)
        node->children[i++] = one;
    if (node->kind == PLACED_LIST || node->count == 0)
        return NULL;
    node->sorted = arena_array(arena, node->count, sizeof(*node->sorted));
    memcpy(node->sorted, node->children, node->count * sizeof(*node->sorted));
    qsort(node->sorted, node->count, sizeof(*node->sorted), by_key);
    for (i = 1; i < node->count; i++)
        if (bytes_equal(node->sorted[i - 1]->key, node->sorted[i]->key))
            return node->sorted[i];
    return NULL;
}

static int end_children(struct tree_reader *reader, struct placed_json *node)
{
    const struct placed_json *twice = placed_json_end(node, reader->arena);

    if (!twice)
        return 0;
    return fail(reader, ERR_INVALID, twice->offset,
                arena_printf(reader->arena, "a key that comes twice: \"%.*s\"",
                             BYTES_ARG(json_clip(twice->key))));
}

static int read_key(struct tree_reader *reader, struct bytes *key)
{
    int rc;

    skip_blanks(reader);
    if (peek(reader) != '"')
        return fail(reader, ERR_INVALID, reader->at, "expected a key in quotation marks");
    rc = read_text(reader, key);
    if (rc)
        return rc;
    skip_blanks(reader);
    if (peek(reader) != ':')
        return fail(reader, ERR_INVALID, reader->at, "expected a colon after the key");
    reader->at++;
    return 0;
}

/* From its opening bracket on. */
static int read_children(struct tree_reader *reader, struct placed_json *node)
{
    char end = node->kind == PLACED_LIST ? ']' : '}';
    struct placed_json **last = &node->first;
    struct bytes key = BYTES_EMPTY;
    int rc;

    if (++reader->depth > PLACED_JSON_DEPTH_MAX)
        return fail(reader, ERR_LIMIT, reader->at, "nested too deeply (PLACED_JSON_DEPTH_MAX)");
    reader->at++;
    skip_blanks(reader);
    while (node->count || peek(reader) != end) {
        rc = node->kind == PLACED_OBJECT ? read_key(reader, &key) : 0;
        if (!rc)
            rc = read_value(reader, node, last);
        if (rc)
            return rc;
        (*last)->key = key;
        (*last)->index = node->count++;
        last = &(*last)->next;
        skip_blanks(reader);
        if (peek(reader) == end)
            break;
        if (peek(reader) != ',')
            return fail(reader, ERR_INVALID, reader->at, "expected a comma or the end bracket");
        reader->at++;
    }
    reader->at++;
    reader->depth--;
    return end_children(reader, node);
}

static int read_value(struct tree_reader *reader, const struct placed_json *parent,
                      struct placed_json **result)
{
    struct placed_json *node = arena_zero(reader->arena, sizeof(*node));

    *result = node;
    skip_blanks(reader);
    if (++reader->node_count > reader->node_count_max)
        return fail(reader, ERR_LIMIT, reader->at, "too many values at a time; send fewer");
    node->offset = (uint32_t)reader->at;
    node->parent = parent;
    switch (peek(reader)) {
    case '{':
        node->kind = PLACED_OBJECT;
        return read_children(reader, node);
    case '[':
        node->kind = PLACED_LIST;
        return read_children(reader, node);
    case '"':
        node->kind = PLACED_TEXT;
        return read_text(reader, &node->text);
    case 'n':
        return read_word(reader, "null", PLACED_NULL, node);
    case 't':
        return read_word(reader, "true", PLACED_TRUE, node);
    case 'f':
        return read_word(reader, "false", PLACED_FALSE, node);
    case -1:
        return fail(reader, ERR_INVALID, reader->at, "expected a JSON value, found the end");
    default:
        return read_number(reader, node);
    }
}

int placed_json_read(struct bytes json, struct arena *arena, const struct placed_json **root,
                     struct err *err)
{
    struct tree_reader reader = {
        .json = json, .arena = arena, .err = err, .node_count_max = PLACED_JSON_NODE_COUNT_MAX};
    struct placed_json *node = NULL;
    int rc;

    *root = NULL;
    if (json.size > PLACED_JSON_SIZE_MAX)
        return err_set(err, ERR_LIMIT, "JSON of %zu bytes; the limit is %d (PLACED_JSON_SIZE_MAX)",
                       json.size, PLACED_JSON_SIZE_MAX);
    if (!text_is_utf8(json))
        return err_set(err, ERR_INVALID, "not valid UTF-8");
    rc = read_value(&reader, NULL, &node);
    if (rc)
        return rc;
    skip_blanks(&reader);
    if (reader.at != json.size)
        return fail(&reader, ERR_INVALID, reader.at, "expected the end of the text");
    *root = node;
    return 0;
}

int placed_json_read_all(struct bytes json, struct arena *arena, const struct placed_json **list,
                         struct err *err)
{
    struct placed_json *root = arena_zero(arena, sizeof(*root));
    struct placed_json **last = &root->first;
    struct tree_reader reader = {.json = json,
                                 .arena = arena,
                                 .err = err,
                                 .node_count_max = MESSAGE_MEMORY_MAX / NODE_MEMORY_SIZE,
                                 .no_zero = true};
    int rc = json_check_text(json, err);

    root->kind = PLACED_LIST;
    *list = root;
    if (rc)
        return rc;
    do {
        rc = read_value(&reader, NULL, last);
        if (rc && err)
            err_wrap(err, "the JSON");
        if (rc)
            return rc;
        last = &(*last)->next;
        skip_blanks(&reader);
    } while (reader.at < json.size);
    placed_json_end(root, arena);
    if (root->count == 1 && root->first->kind == PLACED_LIST)
        *list = root->first;
    return 0;
}

const struct placed_json *placed_json_find(const struct placed_json *object, struct bytes key)
{
    size_t low = 0, high = object && object->kind == PLACED_OBJECT ? object->count : 0;

    while (low < high) {
        size_t middle = (low + high) / 2;
        int order = bytes_compare(object->sorted[middle]->key, key);

        if (order == 0)
            return object->sorted[middle];
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

/* One part of a pointer, its ~0 and ~1 taken back, in `out`. */
static bool unescape(struct bytes part, struct buf *out)
{
    size_t i;

    buf_reset(out);
    for (i = 0; i < part.size; i++) {
        uint8_t c = part.data[i];

        if (c == '~') {
            if (++i >= part.size || (part.data[i] != '0' && part.data[i] != '1'))
                return false;
            c = part.data[i] == '0' ? '~' : '/';
        }
        buf_put_byte(out, c);
    }
    return !buf_failed(out);
}

static const struct placed_json *child(const struct placed_json *node, struct bytes name)
{
    uint64_t index;

    if (node->kind == PLACED_OBJECT)
        return placed_json_find(node, name);
    if (node->kind != PLACED_LIST || !text_to_u64(name, &index) || index >= node->count ||
        (name.size > 1 && name.data[0] == '0'))
        return NULL;
    return node->children[index];
}

const struct placed_json *placed_json_at(const struct placed_json *node, struct bytes pointer)
{
    struct buf name = BUF_INIT(pointer.size + 1);

    while (node && pointer.size) {
        const uint8_t *slash;
        struct bytes part;

        if (pointer.data[0] != '/') {
            node = NULL;
            break;
        }
        pointer = bytes_skip(pointer, 1);
        slash = pointer.size ? memchr(pointer.data, '/', pointer.size) : NULL;
        part = bytes_make(pointer.data, slash ? (size_t)(slash - pointer.data) : pointer.size);
        pointer = bytes_skip(pointer, part.size);
        node = unescape(part, &name) ? child(node, buf_bytes(&name)) : NULL;
    }
    buf_release(&name);
    return node;
}

void placed_json_put_pointer(const struct placed_json *node, struct buf *out)
{
    const struct placed_json *path[PLACED_JSON_DEPTH_MAX + 1];
    size_t count = 0, i;

    for (; node->parent; node = node->parent) {
        assert(count <= PLACED_JSON_DEPTH_MAX);
        path[count++] = node;
    }
    while (count--) {
        buf_put_byte(out, '/');
        if (path[count]->parent->kind == PLACED_LIST) {
            buf_printf(out, "%u", path[count]->index);
            continue;
        }
        for (i = 0; i < path[count]->key.size; i++) {
            uint8_t c = path[count]->key.data[i];

            if (c == '~' || c == '/')
                buf_put_text(out, c == '~' ? "~0" : "~1");
            else
                buf_put_byte(out, c);
        }
    }
}

void placed_json_place(struct bytes json, size_t offset, unsigned *line, unsigned *column)
{
    size_t i;

    *line = 1;
    *column = 1;
    for (i = 0; i < offset && i < json.size; i++) {
        if (json.data[i] == '\n') {
            ++*line;
            *column = 1;
        } else if ((json.data[i] & 0xc0) != 0x80) {
            ++*column;
        }
    }
}

static bool numbers_equal(struct bytes a, struct bytes b)
{
    struct json_number x, y;

    if (bytes_equal(a, b))
        return true;
    json_number_read(a, &x);
    json_number_read(b, &y);
    return json_number_compare(&x, &y) == 0;
}

bool placed_json_equal(const struct placed_json *a, const struct placed_json *b)
{
    uint32_t i;

    if (a->kind != b->kind || a->count != b->count)
        return false;
    if (a->kind == PLACED_NUMBER)
        return numbers_equal(a->text, b->text);
    if (a->kind == PLACED_TEXT)
        return bytes_equal(a->text, b->text);
    for (i = 0; i < a->count; i++) {
        struct placed_json **x = a->kind == PLACED_OBJECT ? a->sorted : a->children;
        struct placed_json **y = b->kind == PLACED_OBJECT ? b->sorted : b->children;

        if (!bytes_equal(x[i]->key, y[i]->key) || !placed_json_equal(x[i], y[i]))
            return false;
    }
    return true;
}

uint64_t placed_json_hash(const struct placed_json *node)
{
    uint64_t hash = (uint64_t)node->kind;
    struct json_number number;
    uint32_t i;

    if (node->kind == PLACED_NUMBER) {
        json_number_read(node->text, &number);
        return json_number_hash(&number);
    }
    hash = hash64_seeded(node->text, hash);
    for (i = 0; i < node->count; i++) {
        const struct placed_json *each =
            node->kind == PLACED_OBJECT ? node->sorted[i] : node->children[i];
        uint64_t part = placed_json_hash(each);

        hash = hash64_seeded(each->key, hash);
        hash = hash64_seeded(bytes_make(&part, sizeof(part)), hash);
    }
    return hash;
}

void placed_json_put(const struct placed_json *node, struct buf *out)
{
    uint32_t i;

    if (node->kind < PLACED_NUMBER) {
        static const char *const words[] = {"null", "false", "true"};

        buf_put_text(out, words[node->kind]);
        return;
    }
    if (node->kind == PLACED_NUMBER) {
        buf_put(out, node->text);
        return;
    }
    if (node->kind == PLACED_TEXT) {
        text_put_json(out, node->text);
        return;
    }
    buf_put_byte(out, node->kind == PLACED_LIST ? '[' : '{');
    for (i = 0; i < node->count; i++) {
        if (i)
            buf_put_byte(out, ',');
        if (node->kind == PLACED_OBJECT) {
            text_put_json(out, node->children[i]->key);
            buf_put_byte(out, ':');
        }
        placed_json_put(node->children[i], out);
    }
    buf_put_byte(out, node->kind == PLACED_LIST ? ']' : '}');
}

const char *placed_kind_name(enum placed_kind kind)
{
    static const char *const names[] = {"null",   "boolean", "boolean", "number",
                                        "string", "array",   "object"};

    return names[kind];
}
