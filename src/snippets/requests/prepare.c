/* SPDX-License-Identifier: Apache-2.0 */
/* prepare.c - see prepare.h. */
#include "snippets/requests/prepare.h"

#include "base/text.h"
#include "schema/schema.h"
#include "snippets/bounds.h"
#include "snippets/config/name.h"

struct preparing {
    const struct snippet_body *body;
    struct arena *arena;
    struct snippet_row *rows;
    size_t count;
    const struct placed_json *json; /* of the body; read once for all */
    struct err *err;
};

int snippet_input_read(struct snippet_input *input, struct arena *arena, struct err *err)
{
    if (input->body.size > SNIPPET_BODY_SIZE_MAX)
        return err_set(err, ERR_LIMIT,
                       "a body of %zu bytes; the limit is %d (SNIPPET_BODY_SIZE_MAX)",
                       input->body.size, SNIPPET_BODY_SIZE_MAX);
    if (input->format == SNIPPET_JSON) {
        if (!input->json && placed_json_read(input->body, arena, &input->json, err))
            return err_wrap(err, "no JSON");
    } else if (input->format == SNIPPET_TEXT || input->format == SNIPPET_XML) {
        if (!text_is_utf8(input->body))
            return err_set(err, ERR_INVALID, "the text is not valid UTF-8");
    }
    return 0;
}

/* The format that was said, or the only one that it can be. */
static int find_format(const struct preparing *preparing, const struct snippet *snippet,
                       enum snippet_format *format)
{
    const struct snippet_body *body = preparing->body;

    if (body->has_format) {
        *format = body->format;
        if (snippet->inputs & 1u << *format)
            return 0;
        return err_set(preparing->err, ERR_INVALID, "%s is not accepted, but %s",
                       snippet_format_name(*format),
                       snippet_format_name((enum snippet_format)__builtin_ctz(snippet->inputs)));
    }
    *format = (enum snippet_format)__builtin_ctz(snippet->inputs);
    if (snippet->inputs & (snippet->inputs - 1) || *format == SNIPPET_JSON || *format == SNIPPET_PB)
        return err_set(preparing->err, ERR_INVALID,
                       "say what it is: Content-Type: json, pb, text, xml or binary");
    return 0;
}

static int check_input(struct preparing *preparing, const struct snippet *snippet,
                       struct snippet_input *input)
{
    int rc = snippet_input_read(input, preparing->arena, preparing->err);

    if (rc)
        return rc;
    preparing->json = input->json;
    if (snippet->input_schema && input->json)
        rc =
            json_schema_check(snippet->input_schema, input->json, preparing->arena, preparing->err);
    if (!rc && snippet->validator)
        rc = snippet->validator->check(snippet->validator_state, input, preparing->arena,
                                       preparing->err);
    return rc;
}

static int convert(struct preparing *preparing, const struct snippet *snippet,
                   const struct snippet_input *input, struct bytes language, struct bytes *output)
{
    struct snippet_input result = {.format = snippet->output};
    int rc;

    *output = input->body;
    if (snippet->convertor) {
        rc = snippet->convertor->convert(snippet->convertor_state, input, snippet->output, language,
                                         preparing->arena, output, preparing->err);
        if (rc)
            return rc;
    }
    result.body = *output;
    result.json = output->data == input->body.data ? input->json : NULL;
    rc = snippet_input_read(&result, preparing->arena, preparing->err);
    if (rc)
        return err_wrap(preparing->err, "after the conversion");
    if (snippet->output_schema) {
        rc = json_schema_check(snippet->output_schema, result.json, preparing->arena,
                               preparing->err);
        if (rc)
            return err_wrap(preparing->err, "after the conversion");
    }
    return 0;
}

static struct snippet_row *add_row(struct preparing *preparing, const struct snippet *snippet,
                                   struct bytes language)
{
    struct snippet_row *row = &preparing->rows[preparing->count++];

    *row = (struct snippet_row){.prefix = snippet->prefix,
                                .key = preparing->body->key,
                                .language = arena_copy(preparing->arena, language),
                                .ttl_us = snippet->ttl_us,
                                .keeps_deleted = snippet->topic != NULL};
    return row;
}

static int prepare_one(struct preparing *preparing, const struct snippet *snippet)
{
    struct snippet_input input = {.body = preparing->body->body, .json = preparing->json};
    size_t i, count = snippet->language_count ? snippet->language_count : 1;
    int rc = find_format(preparing, snippet, &input.format);

    if (!rc)
        rc = check_input(preparing, snippet, &input);
    for (i = 0; i < count && !rc; i++) {
        struct bytes language =
            snippet->language_count ? snippet->languages[i] : preparing->body->language;
        struct snippet_row *row = add_row(preparing, snippet, language);

        rc = convert(preparing, snippet, &input, language, &row->body);
    }
    return rc;
}

static size_t count_rows(const struct snippet *const *snippets, size_t count)
{
    size_t i, rows = 0;

    for (i = 0; i < count; i++)
        rows += snippets[i]->language_count ? snippets[i]->language_count + 1 : 1;
    return rows;
}

static int check_names(const struct snippet_body *body, struct err *err)
{
    int rc = snippet_key_check(body->key, err);

    return rc ? rc : snippet_language_check(body->language, err);
}

int snippet_prepare(const struct snippet *const *snippets, size_t snippet_count,
                    const struct snippet_body *body, struct arena *arena, struct snippet_row **rows,
                    size_t *count, struct err *err)
{
    struct err reason;
    struct preparing preparing = {.body = body, .arena = arena, .err = &reason};
    size_t i;
    int rc = check_names(body, err);

    if (rc)
        return rc;
    preparing.rows =
        arena_array(arena, count_rows(snippets, snippet_count), sizeof(*preparing.rows));
    for (i = 0; i < snippet_count; i++) {
        rc = prepare_one(&preparing, snippets[i]);
        if (rc)
            return err_set(err, rc, "%s: %s", snippets[i]->name, reason.text);
    }
    *rows = preparing.rows;
    *count = preparing.count;
    return 0;
}

int snippet_prepare_delete(const struct snippet *const *snippets, size_t snippet_count,
                           const struct snippet_body *body, struct arena *arena,
                           struct snippet_row **rows, size_t *count, struct err *err)
{
    struct preparing preparing = {.body = body, .arena = arena, .err = err};
    size_t i, k;
    int rc = check_names(body, err);

    if (rc)
        return rc;
    preparing.rows =
        arena_array(arena, count_rows(snippets, snippet_count), sizeof(*preparing.rows));
    for (i = 0; i < snippet_count; i++) {
        const struct snippet *snippet = snippets[i];

        for (k = 0; k < snippet->language_count && !body->language.size; k++)
            add_row(&preparing, snippet, snippet->languages[k])->is_deleted = true;
        if (!snippet->language_count || body->language.size)
            add_row(&preparing, snippet, body->language)->is_deleted = true;
    }
    *rows = preparing.rows;
    *count = preparing.count;
    return 0;
}
