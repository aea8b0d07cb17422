/* SPDX-License-Identifier: Apache-2.0 */
/*
 * convert_template.c - "template:FILE": texts by language, with values of the JSON put in.
 *
 * The file is JSON: {"ru": "Доставим {/when} за {/price} ₽", "en": "…", "": "for no
 * language"}.
 * {/pointer} becomes the value there; in a JSON snippet as JSON, else as text. A { that no slash
 * follows is itself.
 */
#include <string.h>

#include "snippets/bounds.h"
#include "snippets/parts/files.h"
#include "snippets/parts/parts.h"

static int check_texts(const struct placed_json *root, const char *path, struct err *err)
{
    uint32_t i;

    if (root->kind != PLACED_OBJECT || root->count == 0)
        return err_set(err, ERR_INVALID, "%s: expected an object of texts by language", path);
    for (i = 0; i < root->count; i++) {
        if (root->children[i]->kind != PLACED_TEXT)
            return err_set(err, ERR_INVALID, "%s: the text of \"%.*s\" is not a string", path,
                           BYTES_ARG(root->children[i]->key));
    }
    return 0;
}

static int make(const struct part_setup *setup, const void **state, struct err *err)
{
    struct buf content = BUF_INIT(SNIPPET_SCHEMA_SIZE_MAX);
    const struct placed_json *root = NULL;
    char *name = arena_text(setup->arena, setup->argument);
    char *path = arena_printf(setup->arena, "%s/%s", setup->dir, name);
    int rc = snippet_files_read(setup->files, setup->dir, name, &content, err);

    if (!rc) {
        rc = placed_json_read(buf_bytes(&content), setup->arena, &root, err);
        if (rc)
            rc = err_wrap(err, "%s", path);
    }
    if (!rc)
        rc = check_texts(root, path, err);
    *state = root;
    buf_release(&content);
    return rc;
}

static bool can(enum snippet_format from, enum snippet_format to)
{
    return from == SNIPPET_JSON && (to == SNIPPET_TEXT || to == SNIPPET_JSON || to == SNIPPET_XML);
}

static bool has_language(const void *state, struct bytes language)
{
    return placed_json_find(state, language);
}

static int fill(struct bytes text, const struct placed_json *values, enum snippet_format to,
                struct buf *out, struct err *err)
{
    while (text.size) {
        const uint8_t *end = text.size > 1 && text.data[0] == '{' && text.data[1] == '/'
                                 ? memchr(text.data, '}', text.size)
                                 : NULL;
        const struct placed_json *node;
        struct bytes pointer;

        if (!end) {
            buf_put_byte(out, text.data[0]);
            text = bytes_skip(text, 1);
            continue;
        }
        pointer = bytes_make(text.data + 1, (size_t)(end - text.data) - 1);
        node = placed_json_at(values, pointer);
        if (!node)
            return err_set(err, ERR_INVALID, "%.*s is missing", BYTES_ARG(pointer));
        if (to != SNIPPET_JSON && node->kind == PLACED_TEXT)
            buf_put(out, node->text);
        else
            placed_json_put(node, out);
        text = bytes_skip(text, pointer.size + 2);
    }
    return 0;
}

static int convert(const void *state, const struct snippet_input *input, enum snippet_format to,
                   struct bytes language, struct arena *arena, struct bytes *output,
                   struct err *err)
{
    struct buf out = BUF_INIT(SNIPPET_BODY_SIZE_MAX);
    const struct placed_json *text = placed_json_find(state, language);
    int rc;

    if (!text)
        return err_set(err, ERR_INVALID, "there is no text for the language \"%.*s\"",
                       BYTES_ARG(language));
    rc = fill(text->text, input->json, to, &out, err);
    if (!rc && buf_failed(&out))
        rc = err_set(err, ERR_LIMIT, "the text has more than %d bytes", SNIPPET_BODY_SIZE_MAX);
    *output = arena_copy(arena, buf_bytes(&out));
    buf_release(&out);
    return rc;
}

const struct snippet_convertor convertor_template = {
    .name = "template",
    .about = "template:FILE: texts by language, with values of the JSON put in",
    .make = make,
    .can = can,
    .knows_languages = true,
    .has_language = has_language,
    .convert = convert,
};
