/* SPDX-License-Identifier: Apache-2.0 */
/* request_show.c - which fields of the hits a request wants to see, and where words are marked. */
#include "index/bounds.h"
#include "query/bounds.h"
#include "query/request/request_parts.h"

static void list_texts(const struct request_reader *reader, const struct field *const **out,
                       uint32_t *count)
{
    uint32_t field_count = schema_count(reader->schema);
    const struct field **fields = arena_array(reader->arena, field_count + 1, sizeof(fields[0]));
    uint32_t i;

    *count = 0;
    for (i = 0; i < field_count; i++) {
        const struct field *field = schema_field(reader->schema, i);

        if (!field_is_hidden(field) && field->type == FIELD_TEXT)
            fields[(*count)++] = field;
    }
    *out = fields;
}

static int list_named(const struct request_reader *reader, const struct request_path *path,
                      const char *list, char *const *names, size_t name_count,
                      const struct field *const **out, uint32_t *count)
{
    const struct field **fields;
    size_t i;

    if (name_count > QUERY_SHOWN_NAME_COUNT_MAX) {
        struct request_path at = path_to(path, list);

        return request_refuse(reader, &at, ERR_LIMIT, "%zu of them, at most %d are allowed",
                              name_count, QUERY_SHOWN_NAME_COUNT_MAX);
    }
    fields = arena_array(reader->arena, name_count + 1, sizeof(fields[0]));
    for (i = 0; i < name_count; i++) {
        struct request_path at = path_at(path, list, i);
        int rc = request_field(reader, &at, names[i], &fields[i]);
        size_t k;

        if (rc)
            return rc;
        for (k = 0; k < i; k++)
            if (fields[k] == fields[i])
                return request_refuse(reader, &at, ERR_INVALID, "field \"%s\" is named twice",
                                      fields[i]->name);
    }
    *out = fields;
    *count = (uint32_t)name_count;
    return 0;
}

/* What is put before or behind each word: it is repeated for all of them. */
static int check_sign(const struct request_reader *reader, const struct request_path *highlight,
                      const char *name, struct bytes sign)
{
    struct request_path path = path_to(highlight, name);

    if (sign.size <= HIGHLIGHT_SIGN_SIZE_MAX)
        return 0;
    return request_refuse(reader, &path, ERR_LIMIT,
                          "%zu bytes, at most %d are put beside a word: mark it with a short tag, "
                          "and style that where it is shown",
                          sign.size, HIGHLIGHT_SIGN_SIZE_MAX);
}

static int read_highlight(const struct request_reader *reader, const struct request_path *above,
                          const Torg__V1__Highlight *message, struct query_show *show)
{
    struct request_path path = path_to(above, "highlight");
    struct request_path count = path_to(&path, "fragmentCount");
    bool has_marks;
    uint32_t i;
    int rc;

    if (!message)
        return 0;
    has_marks = *message->before || *message->after;
    show->highlight =
        (struct highlight_options){.before = bytes_of(has_marks ? message->before : "<b>"),
                                   .after = bytes_of(has_marks ? message->after : "</b>"),
                                   .fragment_size = message->fragment_size,
                                   .fragment_count = message->fragment_count,
                                   .escape_html = message->escape_html};
    rc = check_sign(reader, &path, "before", show->highlight.before);
    if (!rc)
        rc = check_sign(reader, &path, "after", show->highlight.after);
    if (rc)
        return rc;
    if (message->fragment_count > HIGHLIGHT_FRAGMENT_COUNT_MAX)
        return request_refuse(reader, &count, ERR_LIMIT, "%u, at most %d are cut",
                              message->fragment_count, HIGHLIGHT_FRAGMENT_COUNT_MAX);
    if (message->n_fields)
        rc = list_named(reader, &path, "fields", message->fields, message->n_fields, &show->marked,
                        &show->marked_count);
    else
        list_texts(reader, &show->marked, &show->marked_count);
    for (i = 0; i < show->marked_count && !rc; i++) {
        struct request_path at = path_at(&path, "fields", i);

        if (show->marked[i]->type != FIELD_TEXT)
            rc = request_refuse(reader, &at, ERR_INVALID,
                                "field \"%s\" is a %s; words are marked in texts",
                                show->marked[i]->name, field_type_name(show->marked[i]->type));
    }
    return rc;
}

int request_show(const struct request_reader *reader, const struct request_path *path,
                 const Torg__V1__QueryStage *message, struct query_show *show)
{
    int rc = 0;

    if (message->n_show == 1 && bytes_equal_text(bytes_of(message->show[0]), "*"))
        show->is_all = true;
    else
        rc = list_named(reader, path, "show", message->show, message->n_show, &show->fields,
                        &show->count);
    return rc ? rc : read_highlight(reader, path, message->highlight, show);
}
