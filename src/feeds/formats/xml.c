/* SPDX-License-Identifier: Apache-2.0 */
/*
 * xml.c - reads YML and Avito-style XML by expat, a block at a time, one offer at a time.
 *
 * expat calls handlers; at an offer's end the handler suspends it, the row is given away, and the
 * next call resumes. Nobody's XML may cost more than reading it: a document type is refused before
 * anything in it is read (so no entities, nothing fetched), and depth, names, attributes, texts,
 * rows, single tokens and the memory of expat itself are bounded.
 */
#include "feeds/formats/xml.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/memory.h"
#include "feeds/formats/text.h"
#include "feeds/formats/value.h"

/* expat's allocator gets no argument: whose memory is counted is set around each of its calls. */
static _Thread_local size_t *parser_memory;

struct counted {
    size_t size;
    max_align_t data[];
};

static void *counted_realloc(void *old, size_t size)
{
    struct counted *before = old ? container_of(old, struct counted, data) : NULL;
    size_t held = *parser_memory - (before ? before->size : 0);
    struct counted *block;

    if (size > FEED_XML_MEMORY_MAX || held + size > FEED_XML_MEMORY_MAX)
        return NULL;
    block = mem_resize(before, sizeof(*block) + size);
    block->size = size;
    *parser_memory = held + size;
    return block->data;
}

static void *counted_malloc(size_t size)
{
    return counted_realloc(NULL, size);
}

static void counted_free(void *memory)
{
    struct counted *block;

    if (!memory)
        return;
    block = container_of(memory, struct counted, data);
    *parser_memory -= block->size;
    free(block);
}

static struct xml_feed *xml_of(struct feed_reader *reader)
{
    return container_of(reader, struct xml_feed, base);
}

void feed_xml_fail(struct xml_feed *xml, int code, const char *format, ...)
{
    va_list args;

    if (xml->problem.code)
        return;
    va_start(args, format);
    err_set_va(&xml->problem, code, format, args);
    va_end(args);
    err_wrap(&xml->problem, "line %lu, column %lu",
             (unsigned long)XML_GetCurrentLineNumber(xml->parser),
             (unsigned long)XML_GetCurrentColumnNumber(xml->parser) + 1);
    XML_StopParser(xml->parser, XML_FALSE);
}

static bool row_fits(struct xml_feed *xml)
{
    if (!xml->row_depth ||
        XML_GetCurrentByteIndex(xml->parser) - xml->row_start <= FEED_ROW_SIZE_MAX)
        return true;
    feed_xml_fail(xml, ERR_LIMIT, "an offer is larger than %d bytes", FEED_ROW_SIZE_MAX);
    return false;
}

static bool tag_fits(struct xml_feed *xml, const char *name, const char **attributes)
{
    size_t i;

    if (xml->depth > FEED_XML_DEPTH_MAX) {
        feed_xml_fail(xml, ERR_LIMIT, "elements are nested deeper than %d", FEED_XML_DEPTH_MAX);
        return false;
    }
    if (strlen(name) > FEED_NAME_SIZE_MAX) {
        feed_xml_fail(xml, ERR_LIMIT, "a tag's name is longer than %d bytes", FEED_NAME_SIZE_MAX);
        return false;
    }
    for (i = 0; attributes[i]; i += 2) {
        if (i / 2 == FEED_XML_ATTRIBUTE_COUNT_MAX) {
            feed_xml_fail(xml, ERR_LIMIT, "a tag has more than %d attributes",
                          FEED_XML_ATTRIBUTE_COUNT_MAX);
            return false;
        }
        if (strlen(attributes[i + 1]) > FEED_XML_ATTRIBUTE_SIZE_MAX ||
            strlen(attributes[i]) > FEED_NAME_SIZE_MAX) {
            feed_xml_fail(xml, ERR_LIMIT, "an attribute of <%.*s> is longer than %d bytes",
                          BYTES_ARG(feed_shown(bytes_of(name))), FEED_XML_ATTRIBUTE_SIZE_MAX);
            return false;
        }
    }
    return row_fits(xml);
}

/* After XML_StopParser expat may still make a call or two. */
static void on_start(void *arg, const char *name, const char **attributes)
{
    struct xml_feed *xml = arg;

    xml->depth++;
    if (!xml->problem.code && tag_fits(xml, name, attributes))
        feed_xml_start_tag(xml, name, attributes);
}

static void on_end(void *arg, const char *name)
{
    struct xml_feed *xml = arg;

    if (!xml->problem.code && feed_xml_end_tag(xml)) {
        xml->suspended = true;
        XML_StopParser(xml->parser, XML_TRUE);
    }
    xml->depth--;
}

static void on_text(void *arg, const char *text, int size)
{
    struct xml_feed *xml = arg;

    if (!xml->problem.code && row_fits(xml))
        buf_put_raw(&xml->text, text, (size_t)size);
}

static void on_doctype(void *arg, const char *name, const char *system, const char *public,
                       int has_internal_subset)
{
    struct xml_feed *xml = arg;

    if (xml->base.options.yml_doctype && !public && system && !has_internal_subset &&
        ((strcmp(name, "yml_catalog") == 0 && strcmp(system, "shops.dtd") == 0) ||
         (strcmp(name, "torg_price") == 0 && strcmp(system, "torg_price.dtd") == 0)))
        return;
    feed_xml_fail(xml, ERR_INVALID, "<!DOCTYPE> is not allowed: remove it");
}

static void on_entity(void *arg, const char *name, int is_parameter)
{
    feed_xml_fail(arg, ERR_INVALID, "the entity &%.*s; is not known",
                  BYTES_ARG(feed_shown(bytes_of(name))));
}

static int on_encoding(void *arg, const char *name, XML_Encoding *info)
{
    struct xml_feed *xml = arg;

    info->data = NULL;
    info->convert = NULL;
    info->release = NULL;
    if (feed_encoding_table(name, info->map))
        return XML_STATUS_OK;
    err_set(&xml->problem, ERR_INVALID, "encoding \"%.*s\" is not known; save the file as UTF-8",
            BYTES_ARG(feed_shown(bytes_of(name))));
    return XML_STATUS_ERROR;
}

static struct feed_reader *xml_create(void)
{
    struct xml_feed *xml = mem_zero(sizeof(*xml));

    buf_init(&xml->text, FEED_FIELD_SIZE_MAX);
    feed_categories_init(&xml->categories);
    return &xml->base;
}

static void xml_destroy(struct feed_reader *reader)
{
    struct xml_feed *xml = xml_of(reader);

    parser_memory = &xml->memory;
    if (xml->parser)
        XML_ParserFree(xml->parser);
    parser_memory = NULL;
    buf_release(&xml->text);
    feed_categories_release(&xml->categories);
    free(xml);
}

static int xml_start(struct feed_reader *reader, struct err *err)
{
    static const XML_Memory_Handling_Suite memory = {counted_malloc, counted_realloc, counted_free};
    struct xml_feed *xml = xml_of(reader);

    parser_memory = &xml->memory;
    xml->parser = XML_ParserCreate_MM(reader->encoding[0] ? reader->encoding : NULL, &memory, NULL);
    parser_memory = NULL;
    if (!xml->parser)
        return err_set(err, ERR_INTERNAL, "no XML parser could be made");
    XML_SetUserData(xml->parser, xml);
    XML_SetElementHandler(xml->parser, on_start, on_end);
    XML_SetCharacterDataHandler(xml->parser, on_text);
    XML_SetStartDoctypeDeclHandler(xml->parser, on_doctype);
    XML_SetSkippedEntityHandler(xml->parser, on_entity);
    XML_SetUnknownEncodingHandler(xml->parser, on_encoding, xml);
    return 0;
}

/* Adds in which row it is. */
static int tell_row(const struct xml_feed *xml, struct err *err)
{
    struct bytes id = feed_shown(xml->base.builder.single[FEED_FIELD_ID]);
    struct err plain = *err;

    return err_set(err, plain.code, "%s; in row %" PRIu64 "%s%.*s%s%s%s", plain.text,
                   xml->base.row_count, id.size ? " (" : "", BYTES_ARG(id), id.size ? ")" : "",
                   *xml->tag ? ", at or behind " : "", xml->tag);
}

/* What ended the parse: a handler, the memory, a file that stops, or broken XML. */
static int explain(struct xml_feed *xml, struct err *err)
{
    enum XML_Error code = XML_GetErrorCode(xml->parser);
    unsigned long line = (unsigned long)XML_GetCurrentLineNumber(xml->parser);
    unsigned long column = (unsigned long)XML_GetCurrentColumnNumber(xml->parser) + 1;
    bool at_end = code == XML_ERROR_NO_ELEMENTS || code == XML_ERROR_UNCLOSED_TOKEN ||
                  code == XML_ERROR_UNCLOSED_CDATA_SECTION || code == XML_ERROR_PARTIAL_CHAR;

    if (xml->problem.code)
        return err_set(err, xml->problem.code, "%s", xml->problem.text);
    if (code == XML_ERROR_NO_MEMORY)
        return err_set(err, ERR_LIMIT,
                       "line %lu, column %lu: reading it takes more than %d bytes of memory: too "
                       "many different names, or too long ones",
                       line, column, FEED_XML_MEMORY_MAX);
    if (at_end && xml->base.source_ended && xml->depth > 0) {
        xml->base.cut = "the XML stops before its root element is closed";
        return 0;
    }
    err_set(err, ERR_INVALID, "line %lu, column %lu: %s", line, column, XML_ErrorString(code));
    return xml->row_depth ? tell_row(xml, err) : ERR_INVALID;
}

static int check_token(struct xml_feed *xml, struct err *err)
{
    XML_Index parsed = XML_GetCurrentByteIndex(xml->parser);

    if (parsed < 0 || xml->fed_size - (uint64_t)parsed <= FEED_XML_TOKEN_SIZE_MAX)
        return 0;
    return err_set(err, ERR_LIMIT, "line %lu, column %lu: a tag or comment is longer than %d bytes",
                   (unsigned long)XML_GetCurrentLineNumber(xml->parser),
                   (unsigned long)XML_GetCurrentColumnNumber(xml->parser) + 1,
                   FEED_XML_TOKEN_SIZE_MAX);
}

/* Goes on from where it stood: resumes, or takes the next block. */
static int parse_on(struct xml_feed *xml, enum XML_Status *status, struct err *err)
{
    size_t got = 0;
    void *room;
    int rc;

    if (xml->suspended) {
        xml->suspended = false;
        *status = XML_ResumeParser(xml->parser);
        return 0;
    }
    room = XML_GetBuffer(xml->parser, FEED_BLOCK_SIZE);
    if (!room) {
        *status = XML_STATUS_ERROR;
        return 0;
    }
    rc = feed_input(&xml->base, room, FEED_BLOCK_SIZE, &got, err);
    if (rc)
        return rc;
    xml->fed_size += got;
    *status = XML_ParseBuffer(xml->parser, (int)got, got == 0);
    return 0;
}

static int xml_next(struct feed_reader *reader, bool *found, struct err *err)
{
    struct xml_feed *xml = xml_of(reader);
    enum XML_Status status = XML_STATUS_OK;
    int rc = 0;

    *found = false;
    parser_memory = &xml->memory;
    while (!rc && status == XML_STATUS_OK) {
        if (reader->source_ended && !xml->suspended)
            break;
        rc = parse_on(xml, &status, err);
        if (!rc && status == XML_STATUS_OK)
            rc = check_token(xml, err);
    }
    if (!rc && status == XML_STATUS_SUSPENDED)
        *found = true;
    else if (!rc && status == XML_STATUS_ERROR)
        rc = explain(xml, err);
    parser_memory = NULL;
    return rc;
}

const struct feed_format_ops feed_xml_ops = {
    .create = xml_create,
    .start = xml_start,
    .next = xml_next,
    .destroy = xml_destroy,
};
