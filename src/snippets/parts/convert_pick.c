/* SPDX-License-Identifier: Apache-2.0 */
/*
 * convert_pick.c - "pick:/title,/seller/name": JSON of only these values, each under the last part
 * of its pointer. As TEXT: the value of the one pointer there is.
 */
#include <string.h>

#include "base/text.h"
#include "snippets/bounds.h"
#include "snippets/parts/parts.h"

static int make(const struct part_setup *setup, const void **state, struct err *err)
{
    struct pointer_list *list = arena_zero(setup->arena, sizeof(*list));
    int rc = pointers_read(setup, list, err);

    *state = list;
    if (!rc && setup->output == SNIPPET_TEXT && list->count != 1)
        rc = err_set(err, ERR_INVALID, "a TEXT is picked by one pointer");
    return rc;
}

static bool can(enum snippet_format from, enum snippet_format to)
{
    return from == SNIPPET_JSON && (to == SNIPPET_JSON || to == SNIPPET_TEXT);
}

static void put_text(const struct placed_json *node, struct buf *out)
{
    if (node->kind == PLACED_TEXT)
        buf_put(out, node->text);
    else
        placed_json_put(node, out);
}

static int convert(const void *state, const struct snippet_input *input, enum snippet_format to,
                   struct bytes language, struct arena *arena, struct bytes *output,
                   struct err *err)
{
    const struct pointer_list *list = state;
    struct buf out = BUF_INIT(SNIPPET_BODY_SIZE_MAX);
    const struct placed_json *node;
    size_t i, count = 0;
    int rc = 0;

    for (i = 0; i < list->count; i++) {
        node = placed_json_at(input->json, list->pointers[i]);
        if (!node)
            continue;
        if (to == SNIPPET_TEXT) {
            put_text(node, &out);
            count++;
            continue;
        }
        buf_put_byte(&out, count++ ? ',' : '{');
        if (node->parent && node->parent->kind == PLACED_OBJECT)
            text_put_json(&out, node->key);
        else
            buf_printf(&out, "\"%u\"", node->index);
        buf_put_byte(&out, ':');
        placed_json_put(node, &out);
    }
    if (to == SNIPPET_JSON)
        buf_put_text(&out, count ? "}" : "{}");
    else if (!count)
        rc = err_set(err, ERR_INVALID, "%.*s is missing", BYTES_ARG(list->pointers[0]));
    if (!rc && buf_failed(&out))
        rc = err_set(err, ERR_LIMIT, "the picked values have more than %d bytes",
                     SNIPPET_BODY_SIZE_MAX);
    *output = arena_copy(arena, buf_bytes(&out));
    buf_release(&out);
    return rc;
}

const struct snippet_convertor convertor_pick = {
    .name = "pick",
    .about = "pick:/title,/seller/name: JSON of only these values; as TEXT, the one value",
    .make = make,
    .can = can,
    .convert = convert,
};
