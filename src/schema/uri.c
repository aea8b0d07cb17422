/* SPDX-License-Identifier: Apache-2.0 */
/* uri.c - see uri.h. */
#include "schema/uri.h"

#include <string.h>

#include "base/buf.h"
#include "base/text.h"

/* Each with the marks that it is written with; an empty one is not there. */
struct uri {
    struct bytes scheme;    /* "http:" */
    struct bytes authority; /* "//host:80" */
    struct bytes path;
    struct bytes query;    /* "?…" */
    struct bytes fragment; /* "#…" */
};

static struct bytes cut(struct bytes *rest, size_t size)
{
    struct bytes part = bytes_make(rest->data, size);

    *rest = bytes_skip(*rest, size);
    return part;
}

/* How much comes before any of these characters. */
static size_t until(struct bytes text, const char *ends)
{
    size_t i;

    for (i = 0; i < text.size; i++) {
        if (text.data[i] && strchr(ends, text.data[i]))
            break;
    }
    return i;
}

static struct uri split(struct bytes text)
{
    struct uri uri = {0};
    size_t size = until(text, ":/?#");

    if (size > 0 && size < text.size && text.data[size] == ':')
        uri.scheme = cut(&text, size + 1);
    if (bytes_begin(text, bytes_of("//"))) {
        size = 2 + until(bytes_skip(text, 2), "/?#");
        uri.authority = cut(&text, size);
    }
    uri.path = cut(&text, until(text, "?#"));
    uri.query = cut(&text, until(text, "#"));
    uri.fragment = text;
    return uri;
}

/* Without "." and "..". */
static void put_path(struct buf *out, struct bytes path)
{
    size_t begin = out->size;

    while (path.size) {
        size_t size = path.data[0] == '/' ? 1 + until(bytes_skip(path, 1), "/") : until(path, "/");
        struct bytes part = cut(&path, size);
        struct bytes name = part.size && part.data[0] == '/' ? bytes_skip(part, 1) : part;
        bool is_up = bytes_equal_text(name, "..");

        if (is_up) {
            while (out->size > begin && out->data[out->size - 1] != '/')
                buf_truncate(out, out->size - 1);
            if (out->size > begin)
                buf_truncate(out, out->size - 1);
        }
        if (!is_up && !bytes_equal_text(name, "."))
            buf_put(out, part);
        else if (path.size == 0)
            buf_put_byte(out, '/');
    }
}

/* A relative path begins where the base's last slash is. */
static struct bytes merge(const struct uri *base, struct bytes path, struct buf *merged)
{
    size_t size = base->path.size;

    while (size && base->path.data[size - 1] != '/')
        size--;
    if (base->path.size == 0 && base->authority.size)
        buf_put_byte(merged, '/');
    buf_put_raw(merged, base->path.data, size);
    buf_put(merged, path);
    return buf_bytes(merged);
}

struct bytes uri_resolve(struct bytes base_text, struct bytes ref_text, struct arena *arena)
{
    struct uri base = split(base_text), ref = split(ref_text);
    struct buf merged = BUF_INIT(base_text.size + ref_text.size + 2);
    struct buf out = BUF_INIT(base_text.size + ref_text.size + 4);
    bool is_whole = ref.scheme.size > 0, has_host = is_whole || ref.authority.size > 0;
    bool has_path = has_host || ref.path.size > 0;
    struct bytes result;

    if (base_text.size == 0)
        return arena_copy(arena, ref_text);
    buf_put(&out, is_whole ? ref.scheme : base.scheme);
    buf_put(&out, has_host ? ref.authority : base.authority);
    if (!has_path)
        buf_put(&out, base.path);
    else if (has_host || ref.path.data[0] == '/')
        put_path(&out, ref.path);
    else
        put_path(&out, merge(&base, ref.path, &merged));
    buf_put(&out, has_path || ref.query.size ? ref.query : base.query);
    buf_put(&out, ref.fragment);
    result = arena_copy(arena, buf_bytes(&out));
    buf_release(&out);
    buf_release(&merged);
    return result;
}

struct bytes uri_cut_fragment(struct bytes *uri)
{
    size_t size = until(*uri, "#");
    struct bytes fragment = bytes_skip(*uri, size);

    *uri = bytes_make(uri->data, size);
    return fragment.size ? bytes_skip(fragment, 1) : fragment;
}

bool uri_decode(struct bytes text, struct arena *arena, struct bytes *decoded)
{
    struct buf out = BUF_INIT(text.size + 1);
    bool is_good = true;
    size_t i;

    for (i = 0; i < text.size && is_good; i++) {
        if (text.data[i] != '%') {
            buf_put_byte(&out, text.data[i]);
            continue;
        }
        is_good = i + 2 < text.size && text_from_hex(bytes_make(text.data + i + 1, 2), &out);
        i += 2;
    }
    *decoded = arena_copy(arena, buf_bytes(&out));
    buf_release(&out);
    return is_good && text_is_utf8(*decoded);
}
