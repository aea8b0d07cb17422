/* SPDX-License-Identifier: Apache-2.0 */
/* bounds.h - the bounds of model/, each with its reason; docs/limits.md has those of all. */
#ifndef TORG_MODEL_BOUNDS_H
#define TORG_MODEL_BOUNDS_H

enum {
    /* ---- topics between stages, when they have to be made ---- */
    STAGE_PARTITION_COUNT = 8,         /* readers that share the work of one; */
    DOCUMENTS_PARTITION_COUNT = 16,    /* ... of documents, which several clients send */
    STAGE_RETENTION_S = 7 * 24 * 3600, /* a reader stopped for longer starts from the store */

    /* ---- documents ---- */
    DOCUMENT_SIZE_MAX = 256 << 10,      /* encoded; refused above it, and all below is indexed */
    DOCUMENT_FIELD_COUNT_MAX = 250,     /* of one document; an offer has up to 200 attributes */
    DOCUMENT_TEXT_SIZE_MAX = 128 << 10, /* of one text or stored field */
    DOCUMENT_PATH_DEPTH_MAX = 16,       /* parts of a category's path */
    DOCUMENT_FIELD_NAME_SIZE_MAX = 80,  /* told in errors, queries and facets */

    /* ---- photos ---- */
    PHOTO_KEY_SIZE_MAX = 96,  /* of a blob: a hash and the form's name */
    PHOTO_SIZE_COUNT_MAX = 8, /* forms of one photo; with a hundred photos the offer still fits */
    PHOTO_PREVIEW_SIZE_MAX = 32, /* of a blurred preview: it is in every answer with the offer */

    /* ---- searcher ---- */
    SEARCHER_WAIT_COUNT_MAX = 100, /* tokens of writes that one search waits for */
};

#endif
