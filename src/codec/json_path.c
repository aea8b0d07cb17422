/* SPDX-License-Identifier: Apache-2.0 */
/* json_path.c - the path of a field, by the names its reader knows; see json.h. */
#include <string.h>

#include "codec/json.h"
#include "codec/json_reader.h"
#include "codec/json_type.h"

static bool is_word(char letter)
{
    return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
           (letter >= '0' && letter <= '9') || letter == '_' || letter == '-';
}

/* How much of the text is an index or a map's key, with its brackets. */
static size_t bracket_size(const char *text)
{
    bool quoted = false;
    size_t i;

    for (i = 1; text[i] && (quoted || text[i] != ']'); i++) {
        if (quoted && text[i] == '\\' && text[i + 1])
            i++;
        else if (text[i] == '"')
            quoted = !quoted;
    }
    return text[i] ? i + 1 : i;
}

static const struct json_type *type_of(const struct json_field *field)
{
    if (field->is_map)
        return field->type->fields[MAP_VALUE].type;
    return field->type && field->type->kind == JSON_KIND_MESSAGE ? field->type : NULL;
}

void json_put_field_path(struct buf *out, const char *path, const ProtobufCMessageDescriptor *type,
                         bool as_json)
{
    const struct json_type *here = type ? json_type_get(type) : NULL;
    size_t size;

    for (const char *at = path; *at; at += size) {
        const struct json_field *field = NULL;

        size = *at == '[' ? bracket_size(at) : *at == '.' ? 1 : strcspn(at, ".[");
        if (*at != '[' && *at != '.') {
            field = here ? json_type_find(here, bytes_make(at, size)) : NULL;
            here = field ? type_of(field) : NULL;
        }
        if (field)
            buf_put_text(out, as_json ? field->name : field->field->name);
        else
            buf_put_raw(out, at, size);
    }
}

static size_t name_size(const char *text)
{
    size_t size = 0;

    while (is_word(text[size]))
        size++;
    return size;
}

/* The first part has to be a field of the type; what follows may be below it, where it is free. */
size_t json_field_path_size(const char *text, const ProtobufCMessageDescriptor *type)
{
    const struct json_type *here = type ? json_type_get(type) : NULL;
    const char *at = text;
    size_t size = name_size(at);

    if (!size || !here || !json_type_find(here, bytes_make(at, size)))
        return 0;
    for (at += size; *at == '[' || *at == '.'; at += size) {
        size = *at == '[' ? bracket_size(at) : 1 + name_size(at + 1);
        if (size == 1)
            return 0;
    }
    return *at == ':' ? (size_t)(at - text) : 0;
}
