/* SPDX-License-Identifier: Apache-2.0 */
/*
 * config_compile.c - options of sections inherited, checked against each other and made into
 * snippets (config.h).
 *
 * A section without children is a snippet; one with children is one too if its ChildrenOnly is
 * false. An option that nobody sets has the default of the root: ChildrenOnly and InputSameAsOutput
 * are true.
 */
#include <inttypes.h>
#include <string.h>

#include "base/memory.h"
#include "schema/schema.h"
#include "snippets/bounds.h"
#include "snippets/config/config_parts.h"
#include "snippets/config/name.h"
#include "snippets/config/prefixes.h"
#include "snippets/parts/files.h"

/* Where an option of the section was set: a section that inherits it is told beside. */
static int refuse_option(struct config_loader *loader, const struct draft *draft, enum option_id id,
                         const char *reason)
{
    const struct option_value *value = draft->all[id];
    bool is_own = value && draft->values && value == &draft->values[id];

    if (is_own)
        return config_refuse(loader, value->first->line, value->first->column, ERR_INVALID,
                             "\"%s\", %s: %s", draft->name, option_name(id), reason);
    return config_refuse(loader, draft->line, draft->column, ERR_INVALID, "\"%s\", %s%s: %s",
                         draft->name, option_name(id), value ? " (inherited)" : "", reason);
}

static struct bytes text_of(const struct draft *draft, enum option_id id)
{
    const struct option_value *value = draft->all[id];

    return value && value->text_count ? value->texts[0] : BYTES_EMPTY;
}

static bool is_true(const struct draft *draft, enum option_id id, bool otherwise)
{
    return draft->all[id] ? draft->all[id]->is_true : otherwise;
}

static enum snippet_format format_of(unsigned formats)
{
    return (enum snippet_format)__builtin_ctz(formats);
}

static void inherit(struct draft *draft)
{
    size_t id;

    for (id = 0; id < OPTION_COUNT; id++) {
        if (draft->values && draft->values[id].first)
            draft->all[id] = &draft->values[id];
        else if (draft->parent && option_is_inherited((enum option_id)id))
            draft->all[id] = draft->parent->all[id];
    }
}

/* --- schemas --- */

static int compile_schema(struct config_loader *loader, const struct draft *draft,
                          enum option_id id, const char *name, struct config_schema *made)
{
    struct buf json = BUF_INIT(SNIPPET_SCHEMA_SIZE_MAX);
    struct schema_options options = {.with_formats = true, .uri = bytes_of(name)};
    struct err err;
    int rc;

    rc = snippet_files_read(loader->options->files, loader->options->dir, name, &json, &err);
    if (!rc)
        rc = json_schema_compile(buf_bytes(&json), &options, &made->schema, &err);
    buf_release(&json);
    return rc ? refuse_option(loader, draft, id, err.text) : 0;
}

static int take_schema(struct config_loader *loader, const struct draft *draft, enum option_id id,
                       const struct json_schema **schema)
{
    struct config_schema *each;
    const char *name = arena_text(loader->arena, text_of(draft, id));
    int rc;

    if (!*name)
        return 0;
    for (each = loader->config->schemas; each; each = each->next) {
        if (strcmp(each->name, name) == 0) {
            *schema = each->schema;
            return 0;
        }
    }
    each = arena_zero(loader->arena, sizeof(*each));
    each->name = name;
    rc = compile_schema(loader, draft, id, name, each);
    if (rc)
        return rc;
    each->next = loader->config->schemas;
    loader->config->schemas = each;
    *schema = each->schema;
    return 0;
}

/* --- parts --- */

static int make_part(struct config_loader *loader, const struct draft *draft, enum option_id id,
                     part_make *make, struct bytes argument, const void **state)
{
    struct part_setup setup = {.argument = argument,
                               .dir = loader->options->dir,
                               .files = loader->options->files,
                               .output = draft->snippet->output,
                               .arena = loader->arena};
    struct err err;

    if (!make)
        return argument.size ? refuse_option(loader, draft, id, "it takes no argument") : 0;
    return make(&setup, state, &err) ? refuse_option(loader, draft, id, err.text) : 0;
}

static int take_validator(struct config_loader *loader, const struct draft *draft)
{
    struct snippet *snippet = draft->snippet;
    struct bytes name = text_of(draft, OPTION_SPECIAL_VALIDATOR), argument;

    if (!name.size)
        return 0;
    snippet->validator = snippet_validator_find(name, &argument);
    if (!snippet->validator)
        return refuse_option(loader, draft, OPTION_SPECIAL_VALIDATOR, "there is no such validator");
    if (snippet->inputs & ~snippet->validator->formats)
        return refuse_option(loader, draft, OPTION_SPECIAL_VALIDATOR,
                             "it does not know all formats of Input");
    return make_part(loader, draft, OPTION_SPECIAL_VALIDATOR, snippet->validator->make, argument,
                     &snippet->validator_state);
}

static int check_languages(struct config_loader *loader, const struct draft *draft)
{
    const struct snippet *snippet = draft->snippet;
    struct err err;
    size_t i;

    if (snippet->language_count && !snippet->convertor)
        return refuse_option(loader, draft, OPTION_OUTPUT_LANGUAGES,
                             "languages need a SpecialConvertor that knows them");
    if (snippet->language_count && !snippet->convertor->knows_languages)
        return refuse_option(loader, draft, OPTION_OUTPUT_LANGUAGES,
                             "the convertor knows no languages");
    if (snippet->language_count > SNIPPET_LANGUAGE_COUNT_MAX)
        return refuse_option(loader, draft, OPTION_OUTPUT_LANGUAGES, "too many languages");
    for (i = 0; i < snippet->language_count; i++) {
        if (!snippet->languages[i].size || snippet_language_check(snippet->languages[i], &err))
            return refuse_option(loader, draft, OPTION_OUTPUT_LANGUAGES, "that is not a language");
        if (snippet->convertor->has_language &&
            !snippet->convertor->has_language(snippet->convertor_state, snippet->languages[i]))
            return refuse_option(loader, draft, OPTION_OUTPUT_LANGUAGES,
                                 "the convertor does not know one of them");
    }
    return 0;
}

static int take_convertor(struct config_loader *loader, const struct draft *draft)
{
    struct snippet *snippet = draft->snippet;
    const struct option_value *languages = draft->all[OPTION_OUTPUT_LANGUAGES];
    struct bytes name = text_of(draft, OPTION_SPECIAL_CONVERTOR), argument;
    unsigned format;
    int rc = 0;

    if (languages) {
        snippet->languages = languages->texts;
        snippet->language_count = languages->text_count;
    }
    if (name.size) {
        snippet->convertor = snippet_convertor_find(name, &argument);
        if (!snippet->convertor)
            return refuse_option(loader, draft, OPTION_SPECIAL_CONVERTOR,
                                 "there is no such convertor");
        for (format = 0; format < SNIPPET_FORMAT_COUNT; format++) {
            if (snippet->inputs & 1u << format &&
                !snippet->convertor->can((enum snippet_format)format, snippet->output))
                return refuse_option(loader, draft, OPTION_SPECIAL_CONVERTOR,
                                     "it cannot convert all formats of Input to Output");
        }
        rc = make_part(loader, draft, OPTION_SPECIAL_CONVERTOR, snippet->convertor->make, argument,
                       &snippet->convertor_state);
    } else if (snippet->inputs != 1u << snippet->output) {
        return refuse_option(loader, draft, OPTION_INPUT,
                             "Input differs from Output, and there is no SpecialConvertor");
    }
    return rc ? rc : check_languages(loader, draft);
}

/* --- topics --- */

static int take_topic(struct config_loader *loader, const struct draft *draft)
{
    struct snippet *snippet = draft->snippet;
    const struct option_value *format = draft->all[OPTION_INPUT_FOR_LB];
    struct bytes topic = text_of(draft, OPTION_INPUT_TOPIC);
    struct bytes name = text_of(draft, OPTION_KEY_EXTRACTOR), argument;

    if (draft->all[OPTION_RETRY_COUNT])
        snippet->retry_count = (unsigned)draft->all[OPTION_RETRY_COUNT]->number;
    if (!topic.size)
        return 0;
    if (!format)
        return refuse_option(loader, draft, OPTION_INPUT_TOPIC,
                             "a topic needs InputForLB, its format");
    if (!name.size)
        return refuse_option(loader, draft, OPTION_INPUT_TOPIC, "a topic needs a KeyExtractor");
    if (format->formats & ~snippet->inputs)
        return refuse_option(loader, draft, OPTION_INPUT_FOR_LB,
                             "it is none of the formats of Input");
    snippet->topic = arena_text(loader->arena, topic);
    snippet->topic_format = format_of(format->formats);
    snippet->extractor = snippet_extractor_find(name, &argument);
    if (!snippet->extractor)
        return refuse_option(loader, draft, OPTION_KEY_EXTRACTOR, "there is no such extractor");
    if (format->formats & ~snippet->extractor->formats)
        return refuse_option(loader, draft, OPTION_KEY_EXTRACTOR,
                             "it does not know the format InputForLB");
    return make_part(loader, draft, OPTION_KEY_EXTRACTOR, snippet->extractor->make, argument,
                     &snippet->extractor_state);
}

/* --- snippets --- */

static int take_formats(struct config_loader *loader, const struct draft *draft)
{
    struct snippet *snippet = draft->snippet;
    const struct option_value *input = draft->all[OPTION_INPUT];

    if (!draft->all[OPTION_OUTPUT])
        return refuse_option(loader, draft, OPTION_OUTPUT, "the snippet has no format");
    snippet->output = format_of(draft->all[OPTION_OUTPUT]->formats);
    if (input)
        snippet->inputs = input->formats;
    else if (is_true(draft, OPTION_INPUT_SAME_AS_OUTPUT, true))
        snippet->inputs = 1u << snippet->output;
    else
        return refuse_option(loader, draft, OPTION_INPUT_SAME_AS_OUTPUT,
                             "it is false, and there is no Input");
    if (text_of(draft, OPTION_INPUT_JSON_SCHEMA).size && !(snippet->inputs & 1u << SNIPPET_JSON))
        return refuse_option(loader, draft, OPTION_INPUT_JSON_SCHEMA, "no Input is JSON");
    if (text_of(draft, OPTION_OUTPUT_JSON_SCHEMA).size && snippet->output != SNIPPET_JSON)
        return refuse_option(loader, draft, OPTION_OUTPUT_JSON_SCHEMA, "Output is not JSON");
    return 0;
}

static int take_prefix(struct config_loader *loader, const struct draft *draft)
{
    const struct snippet_prefixes *prefixes = loader->options->prefixes;

    if (!prefixes)
        return 0;
    draft->snippet->prefix = snippet_prefixes_find(prefixes, bytes_of(draft->name));
    if (draft->snippet->prefix)
        return 0;
    return config_refuse(loader, draft->line, draft->column, ERR_PRECONDITION,
                         "\"%s\" has no key prefix: run `torg snippets prefixes --allot`",
                         draft->name);
}

static int compile_snippet(struct config_loader *loader, struct draft *draft)
{
    struct snippet *snippet = arena_zero(loader->arena, sizeof(*snippet));
    int rc;

    draft->snippet = snippet;
    snippet->name = draft->name;
    snippet->line = draft->line;
    snippet->service = arena_text(loader->arena, text_of(draft, OPTION_SERVICE));
    if (draft->all[OPTION_TTL_MINUTES])
        snippet->ttl_us = (int64_t)draft->all[OPTION_TTL_MINUTES]->number * 60 * 1000000;
    rc = take_formats(loader, draft);
    if (!rc)
        rc = take_schema(loader, draft, OPTION_INPUT_JSON_SCHEMA, &snippet->input_schema);
    if (!rc)
        rc = take_schema(loader, draft, OPTION_OUTPUT_JSON_SCHEMA, &snippet->output_schema);
    if (!rc)
        rc = take_validator(loader, draft);
    if (!rc)
        rc = take_convertor(loader, draft);
    if (!rc)
        rc = take_topic(loader, draft);
    if (!rc)
        rc = take_prefix(loader, draft);
    return rc;
}

int config_compile(struct config_loader *loader)
{
    size_t i;
    int rc = 0;

    /* By name, so a parent comes before its children. */
    for (i = 0; i < loader->draft_count && !rc; i++) {
        struct draft *draft = loader->drafts[i];

        inherit(draft);
        if (draft->parent && (!draft->first_child || !is_true(draft, OPTION_CHILDREN_ONLY, true)))
            rc = compile_snippet(loader, draft);
    }
    return rc ? rc : config_groups(loader);
}
