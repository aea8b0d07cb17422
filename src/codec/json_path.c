/* SPDX-License-Identifier: Apache-2.0 */
/* json_path.c - the path of a field, by the names its reader knows; see json.h. */
#include <string.h>

#include "codec/json.h"
#include "codec/json_reader.h"
#include "codec/json_type.h"

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
