/* SPDX-License-Identifier: Apache-2.0 */
/* bounds.h - the bounds of codec/, each with its reason; docs/limits.md has those of all. */
#ifndef TORG_CODEC_BOUNDS_H
#define TORG_CODEC_BOUNDS_H

enum {
    /* ---- messages ---- */
    MESSAGE_DEPTH_MAX = 64,          /* messages in messages: bounds recursion, ours and clients' */
    MESSAGE_UNKNOWN_COUNT_MAX = 256, /* a newer client has a few; a flood of them is an attack */
    MESSAGE_MEMORY_MAX = 32 << 20,   /* decoded: three wire bytes can ask for 400 of memory */
    JSON_NUMBER_SIZE_MAX = 400,      /* a double written out in full has 310 digits */
    JSON_TYPE_COUNT_MAX = 4096,      /* message types linked in; each is prepared once */

    /* ---- trees of any JSON ---- */
    PLACED_JSON_SIZE_MAX = 4 << 20, /* a snippet or a schema is smaller; offsets fit */
    PLACED_JSON_DEPTH_MAX = 64,     /* as of messages: bounds recursion, ours and others' */
    PLACED_JSON_NODE_COUNT_MAX = 200 * 1000, /* values: two bytes of text ask for 120 of memory */
    JSON_EXPONENT_DIGIT_COUNT_MAX = 5,       /* 1e99999 and its kind: no measure is larger */
    JSON_STEP_DIGIT_COUNT_MAX = 18,          /* of a multiple's step: it fits 64 bits */

    TEXT_FORMAT_SIZE_MAX = 4 << 20,           /* of a text in protobuf's text format: a config */
    TEXT_FORMAT_DEPTH_MAX = 64,               /* as of messages */
    TEXT_FORMAT_FIELD_COUNT_MAX = 200 * 1000, /* two bytes of text ask for 80 of memory */

    /* ---- Avro files ---- */
    AVRO_HEAD_SIZE_MAX = 1 << 20,   /* schema and what else stands before the rows */
    AVRO_BLOCK_SIZE_MAX = 32 << 20, /* packed or plain: writers make 16 KB to 16 MB; held whole */
    AVRO_VALUE_SIZE_MAX = 16 << 20, /* a text of a row; longer ones are no rows of a table */
    AVRO_COLUMN_COUNT_MAX = 1000,   /* wide tables have hundreds */
    AVRO_BRANCH_COUNT_MAX = 16,     /* of a union; most have two, one of them null */
    AVRO_NAME_SIZE_MAX = 200,       /* of a column: a word or three */
    AVRO_LIST_COUNT_MAX = 100000,   /* strings of one list: sixteen bytes of memory each */

    CSV_COLUMN_COUNT_MAX = 1000, /* cells of a record; price lists have dozens */

    /* ---- services and client ---- */
    GUNZIP_EXPANSION_MAX = 200,  /* feeds shrink 10 to 60 times; a bomb, 1000 times ... */
    GUNZIP_FREE_SIZE = 16 << 20, /* ... and this much is not worth a question */
};

#endif
