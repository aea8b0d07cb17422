/* SPDX-License-Identifier: Apache-2.0 */
/*
 * part.h - validators, convertors and key extractors of snippets: what a config names and a file of
 * parts/ does.
 *
 * A config says NAME or NAME:ARGUMENT ("pick:/title,/price"). The argument is read once, when the
 * config is loaded, into a state that requests share; so a mistake in it is told with the line of
 * the config. docs/snippets.md shows how to add one.
 *
 * Threads: a part's state is read by any; a function keeps nothing between calls.
 */
#ifndef TORG_SNIPPETS_PARTS_PART_H
#define TORG_SNIPPETS_PARTS_PART_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/bytes.h"
#include "base/err.h"
#include "codec/placed_json.h"

enum snippet_format {
    SNIPPET_TEXT,
    SNIPPET_JSON,
    SNIPPET_PB,
    SNIPPET_XML,
    SNIPPET_BINARY,
    SNIPPET_FORMAT_COUNT,
};

/* "TEXT", "JSON", … as a config writes them. */
const char *snippet_format_name(enum snippet_format format);
bool snippet_format_find(struct bytes name, enum snippet_format *format);

/* A snippet on its way in. */
struct snippet_input {
    enum snippet_format format;
    struct bytes body;
    const struct placed_json *json; /* of a JSON body; NULL: of others */
};

/* What a part is made from. */
struct part_setup {
    struct bytes argument;       /* empty: none was given */
    const char *dir;             /* where the config's files are */
    struct snippet_files *files; /* gets those that were read; NULL: nobody asks */
    enum snippet_format output;
    struct arena *arena; /* as long as the config */
};

typedef int part_make(const struct part_setup *setup, const void **state, struct err *err);

/* Every type: make may be NULL, when an argument means nothing (one is refused then). */
struct snippet_validator {
    const char *name;
    const char *about;
    part_make *make;
    unsigned formats; /* a bit each: what it can look at */
    /* ERR_INVALID tells the sender what is wrong. */
    int (*check)(const void *state, const struct snippet_input *input, struct arena *arena,
                 struct err *err);
};

struct snippet_convertor {
    const char *name;
    const char *about;
    part_make *make;
    bool (*can)(enum snippet_format from, enum snippet_format to);
    bool knows_languages;
    /* Whether a language can be had; NULL: any, if it knows languages. */
    bool (*has_language)(const void *state, struct bytes language);
    int (*convert)(const void *state, const struct snippet_input *input, enum snippet_format to,
                   struct bytes language, struct arena *arena, struct bytes *output,
                   struct err *err);
};

/* What came by a topic. */
struct snippet_record {
    struct bytes key;
    struct snippet_input input; /* an empty body: it is a deletion */
};

struct snippet_extractor {
    const char *name;
    const char *about;
    part_make *make;
    unsigned formats;
    int (*extract)(const void *state, const struct snippet_record *record, struct arena *arena,
                   struct bytes *key, struct err *err);
};

/* The tables, in the order of their names. */
extern const struct snippet_validator *const snippet_validators[];
extern const size_t snippet_validator_count;
extern const struct snippet_convertor *const snippet_convertors[];
extern const size_t snippet_convertor_count;
extern const struct snippet_extractor *const snippet_extractors[];
extern const size_t snippet_extractor_count;

/* By NAME of NAME:ARGUMENT, which is cut off into *argument; NULL: there is none. */
const struct snippet_validator *snippet_validator_find(struct bytes text, struct bytes *argument);
const struct snippet_convertor *snippet_convertor_find(struct bytes text, struct bytes *argument);
const struct snippet_extractor *snippet_extractor_find(struct bytes text, struct bytes *argument);

#endif
