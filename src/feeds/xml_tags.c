/* SPDX-License-Identifier: Apache-2.0 */
/*
 * xml_tags.c - which tag of a YML or Avito-style file means what.
 *
 *   YML    yml_catalog > shop > categories > category[id parentId]
 *                             > offers > offer[id available deleted] > name price picture param …
 *   Avito  Ads > Ad > Id Title Price Images > Image[url]  and free tags, each an attribute
 */
#include <stdio.h>
#include <string.h>

#include "feeds/value.h"
#include "feeds/xml.h"

static const char *attribute_of(const char **attributes, const char *name)
{
    size_t i;

    for (i = 0; attributes[i]; i += 2) {
        if (strcmp(attributes[i], name) == 0)
            return attributes[i + 1];
    }
    return "";
}

static void put(struct xml_feed *xml, enum feed_field field, const char *text)
{
    feed_builder_put(&xml->base.builder, field, bytes_of(text));
}

static void start_row(struct xml_feed *xml, const char **attributes)
{
    struct err err;

    if (feed_begin_row(&xml->base, XML_GetCurrentLineNumber(xml->parser), &err) != 0) {
        feed_xml_fail(xml, err.code, "%s", err.text);
        return;
    }
    xml->row_depth = xml->depth;
    xml->row_start = XML_GetCurrentByteIndex(xml->parser);
    if (xml->base.format == FEED_FORMAT_YML) {
        put(xml, FEED_FIELD_ID, attribute_of(attributes, "id"));
        put(xml, FEED_FIELD_AVAILABLE, attribute_of(attributes, "available"));
        put(xml, FEED_FIELD_DELETED, attribute_of(attributes, "deleted"));
    }
}

static void start_root(struct xml_feed *xml, const char *name)
{
    enum feed_format format = FEED_FORMAT_AUTO;

    if (strcmp(name, "yml_catalog") == 0)
        format = FEED_FORMAT_YML;
    else if (strcmp(name, "Ads") == 0)
        format = FEED_FORMAT_AVITO;
    if (format == FEED_FORMAT_AUTO)
        feed_xml_fail(xml, ERR_INVALID,
                      "the root element is <%.*s>; a feed has <yml_catalog> or <Ads>",
                      BYTES_ARG(feed_shown(bytes_of(name))));
    else if (xml->base.format != FEED_FORMAT_AUTO && xml->base.format != format)
        feed_xml_fail(xml, ERR_INVALID, "the root element is <%.*s>: not the format %s",
                      BYTES_ARG(feed_shown(bytes_of(name))), feed_format_name(xml->base.format));
    else
        xml->base.format = format;
}

static void start_category(struct xml_feed *xml, const char **attributes)
{
    const char *id = attribute_of(attributes, "id");
    const char *parent = attribute_of(attributes, "parentId");

    xml->category_id[0] = 0;
    if (strlen(id) > FEED_NAME_SIZE_MAX || strlen(parent) > FEED_NAME_SIZE_MAX) {
        feed_xml_fail(xml, ERR_LIMIT, "a category's id is longer than %d bytes",
                      FEED_NAME_SIZE_MAX);
        return;
    }
    snprintf(xml->category_id, sizeof(xml->category_id), "%s", id);
    snprintf(xml->category_parent, sizeof(xml->category_parent), "%s",
             strcmp(parent, "0") == 0 ? "" : parent);
    buf_reset(&xml->text);
}

/* Outside of offers. */
static void start_frame(struct xml_feed *xml, const char *name, const char **attributes)
{
    if (xml->depth == 1) {
        start_root(xml, name);
    } else if (xml->base.format == FEED_FORMAT_AVITO) {
        if (xml->depth == 2 && strcmp(name, "Ad") == 0)
            start_row(xml, attributes);
    } else if (xml->depth == 2) {
        xml->in_shop = strcmp(name, "shop") == 0;
    } else if (xml->depth == 3) {
        xml->in_offers = xml->in_shop && strcmp(name, "offers") == 0;
        xml->in_categories = xml->in_shop && strcmp(name, "categories") == 0;
    } else if (xml->depth == 4) {
        if (xml->in_offers && strcmp(name, "offer") == 0)
            start_row(xml, attributes);
        else if (xml->in_categories && strcmp(name, "category") == 0)
            start_category(xml, attributes);
    }
}

static bool is_images(const struct xml_feed *xml)
{
    return strcmp(xml->tag, "Images") == 0;
}

void feed_xml_start_tag(struct xml_feed *xml, const char *name, const char **attributes)
{
    if (!xml->row_depth) {
        start_frame(xml, name, attributes);
        return;
    }
    buf_reset(&xml->text);
    if (xml->depth > xml->row_depth + 1) {
        xml->has_children = true;
        if (xml->depth == xml->row_depth + 2 && is_images(xml))
            put(xml, FEED_FIELD_PHOTOS, attribute_of(attributes, "url"));
        return;
    }
    xml->has_children = false;
    snprintf(xml->tag, sizeof(xml->tag), "%s", name);
    snprintf(xml->name, sizeof(xml->name), "%s", attribute_of(attributes, "name"));
    snprintf(xml->unit, sizeof(xml->unit), "%s", attribute_of(attributes, "unit"));
    if (strcmp(name, "condition") == 0)
        put(xml, FEED_FIELD_CONDITION, attribute_of(attributes, "type"));
}

static void put_category_path(struct xml_feed *xml, struct bytes id)
{
    struct feed_builder *builder = &xml->base.builder;
    struct buf path = BUF_INIT(FEED_VALUE_SIZE_MAX);

    feed_categories_path(&xml->categories, feed_trim(id), &path);
    feed_builder_put(builder, FEED_FIELD_CATEGORY, buf_bytes(&path));
    buf_release(&path);
}

static bool text_fits(struct xml_feed *xml)
{
    if (!buf_failed(&xml->text))
        return true;
    violations_add(feed_builder_problems(&xml->base.builder), xml->tag, "is longer than %d bytes",
                   FEED_FIELD_SIZE_MAX);
    return false;
}

/* A child of an offer has ended. */
static void end_field(struct xml_feed *xml)
{
    struct feed_builder *builder = &xml->base.builder;
    struct bytes text = buf_bytes(&xml->text);

    if (xml->has_children || !text_fits(xml))
        return;
    if (xml->base.format == FEED_FORMAT_YML && strcmp(xml->tag, "param") == 0) {
        feed_builder_attribute(builder, bytes_of(xml->name), text, bytes_of(xml->unit));
        return;
    }
    feed_builder_named(builder, bytes_of(xml->tag), text);
    if (xml->base.format == FEED_FORMAT_YML && strcmp(xml->tag, "categoryId") == 0)
        put_category_path(xml, text);
}

/* A grandchild: an image, or one of several values of an Avito tag. */
static void end_part(struct xml_feed *xml)
{
    struct feed_builder *builder = &xml->base.builder;

    if (xml->base.format != FEED_FORMAT_AVITO || !text_fits(xml))
        return;
    if (is_images(xml))
        feed_builder_put(builder, FEED_FIELD_PHOTOS, buf_bytes(&xml->text));
    else
        feed_builder_attribute(builder, bytes_of(xml->tag), buf_bytes(&xml->text), BYTES_EMPTY);
}

static void end_category(struct xml_feed *xml)
{
    struct bytes name = feed_trim(buf_bytes(&xml->text));

    if (name.size > FEED_NAME_SIZE_MAX || buf_failed(&xml->text))
        feed_xml_fail(xml, ERR_LIMIT, "a category's name is longer than %d bytes",
                      FEED_NAME_SIZE_MAX);
    else if (!feed_categories_add(&xml->categories, bytes_of(xml->category_id),
                                  bytes_of(xml->category_parent), name))
        feed_xml_fail(xml, ERR_LIMIT, "more than %d categories", FEED_CATEGORY_COUNT_MAX);
}

bool feed_xml_end_tag(struct xml_feed *xml)
{
    if (xml->row_depth == 0) {
        if (xml->depth == 4 && xml->in_categories && xml->category_id[0])
            end_category(xml);
        if (xml->depth == 4)
            xml->category_id[0] = 0;
        return false;
    }
    if (xml->depth == xml->row_depth) {
        xml->row_depth = 0;
        return true;
    }
    if (xml->depth == xml->row_depth + 1)
        end_field(xml);
    else if (xml->depth == xml->row_depth + 2)
        end_part(xml);
    buf_reset(&xml->text);
    return false;
}
