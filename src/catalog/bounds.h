/* SPDX-License-Identifier: Apache-2.0 */
/* bounds.h - the bounds of catalog/, each with its reason; docs/limits.md has those of all. */
#ifndef TORG_CATALOG_BOUNDS_H
#define TORG_CATALOG_BOUNDS_H

enum {
    CATALOG_FILE_SIZE_MAX = 24 << 20,     /* JSON; 15 000 categories are about 6 MB */
    CATALOG_WIRE_SIZE_MAX = 12 << 20,     /* the same as a message, unpacked */
    CATALOG_PACKED_SIZE_MAX = 2 << 20,    /* in base64 still below a request's limit */
    CATALOG_CATEGORY_COUNT_MAX = 20000,   /* 15 000 are promised */
    CATALOG_DEPTH_MAX = 12,               /* deeper trees are no longer walked by people */
    CATALOG_ATTRIBUTE_COUNT_MAX = 5000,   /* defined; apply asks what an epoch can take of them */
    CATALOG_ATTRIBUTE_CATEGORY_MAX = 100, /* of one category: a form somebody has to fill in */
    CATALOG_OPTION_COUNT_MAX = 5000,      /* of one attribute: makes and models of cars */
    CATALOG_CHOSEN_COUNT_MAX = 64, /* of them an offer has, with those above: values of a field */
    CATALOG_UNIT_COUNT_MAX = 16,
    CATALOG_SYNONYM_COUNT_MAX = 32, /* of one category, in one language */
    CATALOG_ID_SIZE_MAX = 64,
    CATALOG_NAME_SIZE_MAX = 200,      /* bytes of a name in one language */
    CATALOG_TEXT_LENGTH_MAX = 10000,  /* characters of a text attribute; an offer has 100 KB */
    CATALOG_TEXT_LENGTH = 1000,       /* unless the attribute says */
    CATALOG_DESCRIPTION_MAX = 30000,  /* characters; as UTF-8 within an offer's 100 KB */
    CATALOG_TITLE_MAX = 500,          /* characters */
    CATALOG_PHOTO_COUNT_MAX = 100,    /* of one offer */
    CATALOG_PHOTO_WAIT_S_MAX = 86400, /* an offer held back for longer is forgotten */
    CATALOG_CURRENCY_COUNT_MAX = 16,
    CATALOG_LIFETIME_DAYS_MAX = 3650,
    CATALOG_VALUE_COUNT_MAX = 200, /* attribute values of one offer */
    CATALOG_QUERY_SIZE_MAX = 200,  /* searching categories: bytes and words of a query */
    CATALOG_QUERY_WORD_MAX = 8,
    CATALOG_VALUE_WORD_MAX = 3, /* words of an option's name that texts are looked through for */
    CATALOG_SEARCH_COUNT = 20,
    CATALOG_SEARCH_COUNT_MAX = 100,
    CATALOG_SET_COUNT_MAX = 200,  /* categories of one ListAttributes */
    CATALOG_FORMER_COUNT_MAX = 4, /* versions before, whose documents are found by their paths */
    CATALOG_REFRESH_MS = 1000,    /* a new version is in use everywhere within two seconds */
    CATALOG_SAMPLE_COUNT = 5,     /* offers named for each category a change would break */
};

#endif
