/* SPDX-License-Identifier: Apache-2.0 */
/* parts.h - every validator, convertor and key extractor, and what several of them need. */
#ifndef TORG_SNIPPETS_PARTS_PARTS_H
#define TORG_SNIPPETS_PARTS_PARTS_H

#include "snippets/parts/part.h"

extern const struct snippet_validator validator_max_size;
extern const struct snippet_validator validator_pb;
extern const struct snippet_validator validator_required;

extern const struct snippet_convertor convertor_json_pb;
extern const struct snippet_convertor convertor_pick;
extern const struct snippet_convertor convertor_strip_html;
extern const struct snippet_convertor convertor_template;

extern const struct snippet_extractor extractor_json_pointer;
extern const struct snippet_extractor extractor_message_key;
extern const struct snippet_extractor extractor_pb_field;

/* The descriptor of the message type that the argument names; a part_make. */
int message_type_find(const struct part_setup *setup, const void **type, struct err *err);

/* "/a,/b/c": JSON pointers. */
struct pointer_list {
    struct bytes *pointers;
    size_t count;
};

/* Of the argument; at least one. */
int pointers_read(const struct part_setup *setup, struct pointer_list *list, struct err *err);

#endif
