/* SPDX-License-Identifier: Apache-2.0 */
/* config_option.c - the options of a section, and what each may be (config.h). */
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "snippets/bounds.h"
#include "snippets/config/config_parts.h"

static const struct option {
    const char *name;
    enum option_kind kind;
    bool is_own; /* children do not inherit it */
    uint64_t max;
} options[OPTION_COUNT] = {
    [OPTION_CHILDREN_ONLY] = {"ChildrenOnly", OPTION_BOOL, false, 0},
    [OPTION_SERVICE] = {"Service", OPTION_TEXT, false, 0},
    [OPTION_OUTPUT] = {"Output", OPTION_FORMAT, false, 0},
    [OPTION_INPUT_JSON_SCHEMA] = {"InputJsonSchema", OPTION_TEXT, false, 0},
    [OPTION_OUTPUT_JSON_SCHEMA] = {"OutputJsonSchema", OPTION_TEXT, false, 0},
    [OPTION_SPECIAL_VALIDATOR] = {"SpecialValidator", OPTION_TEXT, false, 0},
    [OPTION_SPECIAL_CONVERTOR] = {"SpecialConvertor", OPTION_TEXT, false, 0},
    [OPTION_INPUT] = {"Input", OPTION_FORMATS, false, 0},
    [OPTION_INPUT_SAME_AS_OUTPUT] = {"InputSameAsOutput", OPTION_BOOL, false, 0},
    [OPTION_RECURSIVE] = {"Recursive", OPTION_TEXTS, true, 0},
    [OPTION_OUTPUT_LANGUAGES] = {"OutputLanguages", OPTION_TEXTS, false, 0},
    [OPTION_TTL_MINUTES] = {"TtlMinutes", OPTION_NUMBER, false, SNIPPET_TTL_MINUTES_MAX},
    [OPTION_INPUT_TOPIC] = {"InputTopic", OPTION_TEXT, false, 0},
    [OPTION_INPUT_FOR_LB] = {"InputForLB", OPTION_FORMAT, false, 0},
    [OPTION_KEY_EXTRACTOR] = {"KeyExtractor", OPTION_TEXT, false, 0},
    [OPTION_RETRY_COUNT] = {"UploadOverLBRetryCount", OPTION_NUMBER, false,
                            SNIPPET_RETRY_COUNT_MAX},
};

const char *option_name(enum option_id id)
{
    return options[id].name;
}

bool option_is_inherited(enum option_id id)
{
    return !options[id].is_own;
}

static int refuse_value(struct config_loader *loader, const struct text_field *field,
                        const char *wanted)
{
    return config_refuse(loader, field->line, field->column, ERR_INVALID, "%.*s: expected %s",
                         BYTES_ARG(field->name), wanted);
}

static int read_bool(struct config_loader *loader, const struct text_field *field,
                     struct option_value *value)
{
    bool is_word = field->kind == TEXT_FIELD_WORD;

    value->is_true =
        is_word && (bytes_equal_text(field->value, "true") || bytes_equal_text(field->value, "1"));
    if (!value->is_true && !(is_word && (bytes_equal_text(field->value, "false") ||
                                         bytes_equal_text(field->value, "0"))))
        return refuse_value(loader, field, "true or false");
    return 0;
}

static int read_number(struct config_loader *loader, const struct text_field *field, uint64_t max,
                       struct option_value *value)
{
    if (field->kind != TEXT_FIELD_WORD || !text_to_u64(field->value, &value->number))
        return refuse_value(loader, field, "a number, 0 or more");
    if (value->number > max)
        return config_refuse(loader, field->line, field->column, ERR_LIMIT,
                             "%.*s: at most %llu is expected", BYTES_ARG(field->name),
                             (unsigned long long)max);
    return 0;
}

static int read_format(struct config_loader *loader, const struct text_field *field,
                       struct option_value *value)
{
    enum snippet_format format;

    if (field->kind != TEXT_FIELD_WORD || !snippet_format_find(field->value, &format))
        return refuse_value(loader, field, "TEXT, JSON, PB, XML or BINARY");
    if (value->formats & 1u << format)
        return refuse_value(loader, field, "each format once");
    value->formats |= 1u << format;
    return 0;
}

static int read_text(struct config_loader *loader, const struct text_field *field,
                     struct option_value *value)
{
    struct bytes *old = value->texts;

    if (field->kind != TEXT_FIELD_STRING ||
        memchr(field->value.data ? field->value.data : (const uint8_t *)"", 0, field->value.size) ||
        !text_is_utf8(field->value))
        return refuse_value(loader, field, "a text in quotation marks");
    if (value->text_count >= SNIPPET_GROUP_COUNT_MAX)
        return refuse_value(loader, field, "fewer of them");
    value->texts = arena_array(loader->arena, value->text_count + 1, sizeof(*old));
    if (value->text_count)
        memcpy(value->texts, old, value->text_count * sizeof(*old));
    value->texts[value->text_count++] = field->value;
    return 0;
}

static const struct option *find(struct bytes name)
{
    size_t i;

    for (i = 0; i < OPTION_COUNT; i++) {
        if (bytes_equal_text(name, options[i].name))
            return &options[i];
    }
    return NULL;
}

int option_read(struct config_loader *loader, const struct text_field *field,
                struct option_value *values)
{
    const struct option *option = find(field->name);
    struct option_value *value = option ? &values[option - options] : NULL;

    if (!option)
        return config_refuse(loader, field->line, field->column, ERR_INVALID,
                             "there is no option \"%.*s\"", BYTES_ARG(field->name));
    if (value->first && option->kind != OPTION_TEXTS && option->kind != OPTION_FORMATS)
        return config_refuse(loader, field->line, field->column, ERR_INVALID,
                             "%s comes twice: line %u, too", option->name, value->first->line);
    if (!value->first)
        value->first = field;
    switch (option->kind) {
    case OPTION_BOOL:
        return read_bool(loader, field, value);
    case OPTION_NUMBER:
        return read_number(loader, field, option->max, value);
    case OPTION_FORMAT:
    case OPTION_FORMATS:
        return read_format(loader, field, value);
    default:
        return read_text(loader, field, value);
    }
}
