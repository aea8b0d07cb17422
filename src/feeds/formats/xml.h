/* SPDX-License-Identifier: Apache-2.0 */
/*
 * xml.h - between the XML reader (xml.c) and what the dialects' tags mean
 * (xml_tags.c); nobody else includes it.
 */
#ifndef TORG_FEEDS_FORMATS_XML_H
#define TORG_FEEDS_FORMATS_XML_H

#include <expat.h>

#include "base/buf.h"
#include "feeds/bounds.h"
#include "feeds/formats/categories.h"
#include "feeds/formats/format.h"

struct xml_feed {
    struct feed_reader base;
    XML_Parser parser;
    size_t memory;      /* held by the parser */
    uint64_t fed_size;  /* bytes given to it */
    bool suspended;     /* at a row's end */
    struct err problem; /* set by a handler that stopped the parser */
    unsigned depth;     /* of the element at hand; the root is 1 */

    char root[FEED_NAME_SIZE_MAX + 1];
    bool in_shop;   /* YML: yml_catalog/shop */
    bool in_offers; /* YML: yml_catalog/shop/offers */
    bool in_categories;
    char entry_id[FEED_ID_SIZE_MAX + 1]; /* Atom's <id>, of an entry without <g:id> */
    unsigned row_depth;                  /* of the offer at hand; 0: outside of one */
    int64_t row_start;                   /* its byte in the file */

    char tag[FEED_NAME_SIZE_MAX + 1];           /* the offer's child at hand */
    char part[FEED_NAME_SIZE_MAX + 1];          /* the child's child */
    char name[FEED_XML_ATTRIBUTE_SIZE_MAX + 1]; /* its attribute: name, of a param */
    char unit[FEED_XML_ATTRIBUTE_SIZE_MAX + 1];
    bool has_children;
    struct buf text; /* of the leaf at hand; it fails when that is too long */
    char category_id[FEED_NAME_SIZE_MAX + 1];
    char category_parent[FEED_NAME_SIZE_MAX + 1];
    struct feed_categories categories;
};

/* Stops the parser for good; the text gets line and column before it. */
void feed_xml_fail(struct xml_feed *xml, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Tags within bounds, depth counted already (on start) or still (on end). */
void feed_xml_start_tag(struct xml_feed *xml, const char *name, const char **attributes);
/* True when an offer has ended, and is whole in the builder. */
bool feed_xml_end_tag(struct xml_feed *xml);

#endif
