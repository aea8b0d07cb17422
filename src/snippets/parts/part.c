/* SPDX-License-Identifier: Apache-2.0 */
/* part.c - the table of all validators, convertors and key extractors (part.h). */
#include "snippets/parts/part.h"

#include <string.h>

#include "base/memory.h"
#include "snippets/parts/parts.h"

/* A new one becomes a line here, and a file of parts/. */
const struct snippet_validator *const snippet_validators[] = {
    &validator_max_size,
    &validator_pb,
    &validator_required,
};
const size_t snippet_validator_count = ARRAY_COUNT(snippet_validators);

const struct snippet_convertor *const snippet_convertors[] = {
    &convertor_json_pb,
    &convertor_pick,
    &convertor_strip_html,
    &convertor_template,
};
const size_t snippet_convertor_count = ARRAY_COUNT(snippet_convertors);

const struct snippet_extractor *const snippet_extractors[] = {
    &extractor_json_pointer,
    &extractor_message_key,
    &extractor_pb_field,
};
const size_t snippet_extractor_count = ARRAY_COUNT(snippet_extractors);

static const char *const format_names[] = {"TEXT", "JSON", "PB", "XML", "BINARY"};

const char *snippet_format_name(enum snippet_format format)
{
    return format_names[format];
}

bool snippet_format_find(struct bytes name, enum snippet_format *format)
{
    size_t i;

    for (i = 0; i < SNIPPET_FORMAT_COUNT; i++) {
        if (bytes_equal_text(name, format_names[i])) {
            *format = (enum snippet_format)i;
            return true;
        }
    }
    return false;
}

static struct bytes cut_argument(struct bytes text, struct bytes *argument)
{
    const uint8_t *colon = text.size ? memchr(text.data, ':', text.size) : NULL;
    size_t size = colon ? (size_t)(colon - text.data) : text.size;

    *argument = colon ? bytes_skip(text, size + 1) : BYTES_EMPTY;
    return bytes_make(text.data, size);
}

const struct snippet_validator *snippet_validator_find(struct bytes text, struct bytes *argument)
{
    struct bytes name = cut_argument(text, argument);
    size_t i;

    for (i = 0; i < snippet_validator_count; i++) {
        if (bytes_equal_text(name, snippet_validators[i]->name))
            return snippet_validators[i];
    }
    return NULL;
}

const struct snippet_convertor *snippet_convertor_find(struct bytes text, struct bytes *argument)
{
    struct bytes name = cut_argument(text, argument);
    size_t i;

    for (i = 0; i < snippet_convertor_count; i++) {
        if (bytes_equal_text(name, snippet_convertors[i]->name))
            return snippet_convertors[i];
    }
    return NULL;
}

const struct snippet_extractor *snippet_extractor_find(struct bytes text, struct bytes *argument)
{
    struct bytes name = cut_argument(text, argument);
    size_t i;

    for (i = 0; i < snippet_extractor_count; i++) {
        if (bytes_equal_text(name, snippet_extractors[i]->name))
            return snippet_extractors[i];
    }
    return NULL;
}
