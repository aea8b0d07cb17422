/* SPDX-License-Identifier: Apache-2.0 */
/*
 * xml_tags.c - which tag of a YML, Avito-style or Google Merchant file means what.
 *
 *   YML    yml_catalog, or another root, > shop > categories > category[id parentId]
 *                             > offers > offer[id available deleted] > name price picture param …
 *   Avito  Ads > Ad > Id Title Price Images > Image[url]  and free tags, each an attribute
 *   Google rss > channel > item > g:id title g:price g:image_link g:product_detail > attribute_name
 * … feed > entry, likewise
 */
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "feeds/formats/value.h"
#include "feeds/formats/xml.h"

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
    xml->tag[0] = xml->entry_id[0] = 0;
    if (xml->base.format == FEED_FORMAT_YML) {
        put(xml, FEED_FIELD_ID, attribute_of(attributes, "id"));
        put(xml, FEED_FIELD_AVAILABLE, attribute_of(attributes, "available"));
        put(xml, FEED_FIELD_DELETED, attribute_of(attributes, "deleted"));
    }
}

static bool is_root_of(const char *name, enum feed_format *format)
{
    static const struct {
        const char *name;
        enum feed_format format;
    } roots[] = {
        {"yml_catalog", FEED_FORMAT_YML}, {"torg_price", FEED_FORMAT_YML},
        {"Ads", FEED_FORMAT_AVITO},       {"rss", FEED_FORMAT_GOOGLE},
        {"feed", FEED_FORMAT_GOOGLE},
    };

    for (size_t i = 0; i < ARRAY_COUNT(roots); i++) {
        if (strcmp(roots[i].name, name) == 0) {
            *format = roots[i].format;
            return true;
        }
    }
    return false;
}

static void set_format(struct xml_feed *xml, enum feed_format format)
{
    if (xml->base.format != FEED_FORMAT_AUTO && xml->base.format != format)
        feed_xml_fail(xml, ERR_INVALID, "the root element is <%.*s>: not the format %s",
                      BYTES_ARG(feed_shown(bytes_of(xml->root))),
                      feed_format_name(xml->base.format));
    xml->base.format = format;
    if (format == FEED_FORMAT_GOOGLE) /* its prices are 15.00 USD */
        feed_builder_default_decimal(&xml->base.builder, '.');
}

/* A root that is not known may have YML's <shop> inside; see start_frame. */
static void start_root(struct xml_feed *xml, const char *name)
{
    enum feed_format format;

    snprintf(xml->root, sizeof(xml->root), "%s", name);
    if (is_root_of(name, &format))
        set_format(xml, format);
}

static void refuse_root(struct xml_feed *xml)
{
    feed_xml_fail(xml, ERR_INVALID,
                  "the root element is <%.*s>; a feed has <yml_catalog>, <Ads>, <rss> or <feed>",
                  BYTES_ARG(feed_shown(bytes_of(xml->root))));
}

static void start_category(struct xml_feed *xml, const char **attributes)
{
    const char *id = attribute_of(attributes, "id");
    const char *parent = attribute_of(attributes, "parentId");

    xml->category_id[0] = 0;
    if (strlen(id) > FEED_NAME_SIZE_MAX || strlen(parent) > FEED_NAME_SIZE_MAX)
        return; /* its rows are told that it has no name */
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
    } else if (xml->base.format == FEED_FORMAT_GOOGLE) {
        if (strcmp(name, xml->depth == 2 ? "entry" : "item") == 0)
            start_row(xml, attributes);
    } else if (xml->depth == 2) {
        xml->in_shop = strcmp(name, "shop") == 0;
        if (xml->in_shop && !is_root_of(xml->root, &(enum feed_format){0}))
            set_format(xml, FEED_FORMAT_YML);
        else if (!is_root_of(xml->root, &(enum feed_format){0}))
            refuse_root(xml);
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

/* Without the prefix of its namespace. */
static struct bytes plain_name(const char *tag)
{
    const char *colon = strchr(tag, ':');

    return bytes_of(colon ? colon + 1 : tag);
}

/* RSS and Atom have some fields of their own beside Google's: the first of each holds. */
static void put_google(struct xml_feed *xml, const char *tag, struct bytes text)
{
    struct bytes name = plain_name(tag);
    struct bytes attribute;
    enum feed_field field = feed_field_find(name, &attribute);

    if (!strchr(tag, ':') && field == FEED_FIELD_ID) {
        if (text.size <= FEED_ID_SIZE_MAX)
            snprintf(xml->entry_id, sizeof(xml->entry_id), "%.*s", BYTES_ARG(feed_trim(text)));
        return;
    }
    if (!feed_builder_has(&xml->base.builder, field))
        feed_builder_named(&xml->base.builder, name, text);
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
        snprintf(xml->part, sizeof(xml->part), "%s", name);
        if (xml->depth == xml->row_depth + 2 && is_images(xml))
            put(xml, FEED_FIELD_PHOTOS, attribute_of(attributes, "url"));
        return;
    }
    xml->has_children = false;
    snprintf(xml->tag, sizeof(xml->tag), "%s", name);
    if (xml->base.format == FEED_FORMAT_GOOGLE && strcmp(name, "link") == 0)
        put_google(xml, "link", bytes_of(attribute_of(attributes, "href")));
    snprintf(xml->name, sizeof(xml->name), "%s", attribute_of(attributes, "name"));
    snprintf(xml->unit, sizeof(xml->unit), "%s", attribute_of(attributes, "unit"));
    if (strcmp(name, "condition") == 0)
        put(xml, FEED_FIELD_CONDITION, attribute_of(attributes, "type"));
}

/* Whether the path leads on from the one of before: "Техника/Чайники" from "Техника". */
static bool is_below(struct bytes path, struct bytes before)
{
    return path.size > before.size && bytes_begin(path, before) && path.data[before.size] == '/';
}

/* <categoryId>. Of several the first counts, or the one below it. */
static void put_category_id(struct xml_feed *xml, struct bytes id)
{
    struct feed_builder *builder = &xml->base.builder;
    struct buf path = BUF_INIT(FEED_VALUE_SIZE_MAX);
    struct bytes *taken = &builder->single[FEED_FIELD_CATEGORY_ID];
    bool is_cut = false;

    id = feed_trim(id);
    feed_categories_path(&xml->categories, id, &path, &is_cut);
    if (!taken->size) {
        feed_builder_put(builder, FEED_FIELD_CATEGORY_ID, id);
        if (path.size) /* whatever a <category> has said */
            feed_builder_replace(builder, FEED_FIELD_CATEGORY, buf_bytes(&path));
    } else if (id.size && !bytes_equal(*taken, id)) {
        if (is_below(buf_bytes(&path), builder->single[FEED_FIELD_CATEGORY])) {
            feed_builder_replace(builder, FEED_FIELD_CATEGORY_ID, id);
            feed_builder_replace(builder, FEED_FIELD_CATEGORY, buf_bytes(&path));
        }
        violations_add(&builder->row.notes, "category_id", "several are given: \"%.*s\" counts",
                       BYTES_ARG(feed_shown(*taken)));
    }
    if (is_cut)
        violations_add(&builder->row.notes, "category",
                       "has a name of more than %d bytes: its beginning counts",
                       FEED_NAME_SIZE_MAX);
    buf_release(&path);
}

static bool text_fits(struct xml_feed *xml)
{
    struct bytes attribute;
    enum feed_field field;

    if (!buf_failed(&xml->text))
        return true;
    field = feed_field_find(plain_name(xml->tag), &attribute);
    violations_add(feed_builder_faults(&xml->base.builder, field), xml->tag,
                   "is longer than %d bytes", FEED_FIELD_SIZE_MAX);
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
    if (xml->base.format == FEED_FORMAT_GOOGLE) {
        put_google(xml, xml->tag, text);
        return;
    }
    if (xml->base.format == FEED_FORMAT_YML && strcmp(xml->tag, "categoryId") == 0)
        put_category_id(xml, text);
    else
        feed_builder_named(builder, bytes_of(xml->tag), text);
}

/* <g:product_detail>: a name, then its value. */
static void end_detail(struct xml_feed *xml)
{
    struct bytes text = feed_trim(buf_bytes(&xml->text));

    if (strcmp(xml->tag, "g:product_detail") != 0)
        return;
    if (strcmp(xml->part, "g:attribute_name") == 0 && text.size <= FEED_NAME_SIZE_MAX)
        snprintf(xml->name, sizeof(xml->name), "%.*s", BYTES_ARG(text));
    else if (strcmp(xml->part, "g:attribute_value") == 0 && xml->name[0])
        feed_builder_attribute(&xml->base.builder, bytes_of(xml->name), text, BYTES_EMPTY);
}

/* A grandchild: an image, or one of several values of an Avito tag. */
static void end_part(struct xml_feed *xml)
{
    struct feed_builder *builder = &xml->base.builder;

    if (xml->base.format == FEED_FORMAT_YML || !text_fits(xml))
        return;
    if (xml->base.format == FEED_FORMAT_GOOGLE) {
        end_detail(xml);
        return;
    }
    if (is_images(xml))
        feed_builder_put(builder, FEED_FIELD_PHOTOS, buf_bytes(&xml->text));
    else
        feed_builder_attribute(builder, bytes_of(xml->tag), buf_bytes(&xml->text), BYTES_EMPTY);
}

static void end_category(struct xml_feed *xml)
{
    struct bytes name = feed_trim(buf_bytes(&xml->text));

    if (!feed_categories_add(&xml->categories, bytes_of(xml->category_id),
                             bytes_of(xml->category_parent), name))
        feed_xml_fail(xml, ERR_LIMIT, "more than %d categories", FEED_CATEGORY_COUNT_MAX);
}

/* Avito's category is told by several tags: "Одежда/Женская одежда/Платья". */
static void join_category(struct xml_feed *xml)
{
    static const char *const tags[] = {"GoodsType", "GoodsSubType", "Apparel"};
    struct buf path = BUF_INIT(FEED_VALUE_SIZE_MAX);

    buf_put(&path, xml->base.builder.single[FEED_FIELD_CATEGORY]);
    for (size_t i = 0; i < ARRAY_COUNT(tags); i++) {
        struct bytes part = feed_builder_attribute_value(&xml->base.builder, tags[i]);

        if (part.size) {
            buf_put_text(&path, path.size ? "/" : "");
            buf_put(&path, part);
        }
    }
    if (!buf_failed(&path))
        feed_builder_replace(&xml->base.builder, FEED_FIELD_CATEGORY, buf_bytes(&path));
    buf_release(&path);
}

static void end_row(struct xml_feed *xml)
{
    xml->row_depth = 0;
    if (xml->base.format == FEED_FORMAT_AVITO)
        join_category(xml);
    if (!feed_builder_has(&xml->base.builder, FEED_FIELD_ID))
        put(xml, FEED_FIELD_ID, xml->entry_id);
}

bool feed_xml_end_tag(struct xml_feed *xml)
{
    if (xml->depth == 1 && xml->base.format == FEED_FORMAT_AUTO)
        refuse_root(xml);
    if (xml->row_depth == 0) {
        if (xml->depth == 4 && xml->in_categories && xml->category_id[0])
            end_category(xml);
        if (xml->depth == 4)
            xml->category_id[0] = 0;
        return false;
    }
    if (xml->depth == xml->row_depth) {
        end_row(xml);
        return true;
    }
    if (xml->depth == xml->row_depth + 1)
        end_field(xml);
    else if (xml->depth == xml->row_depth + 2)
        end_part(xml);
    buf_reset(&xml->text);
    return false;
}
