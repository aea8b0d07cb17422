/* SPDX-License-Identifier: Apache-2.0 */
/* request_parts.h - the insides of reading a request: the path to what is read, the parts of a
 * stage. */
#ifndef TORG_QUERY_REQUEST_REQUEST_PARTS_H
#define TORG_QUERY_REQUEST_REQUEST_PARTS_H

#include "query/request/request.h"

enum { PATH_SIZE_MAX = 256, PATH_ALONE = -1 };

/* A step of the path, on the reader's stack; the first has no step above. */
struct request_path {
    const struct request_path *above;
    const char *name;
    int64_t index; /* of a repeated field; PATH_ALONE: not repeated */
};

static inline struct request_path path_to(const struct request_path *above, const char *name)
{
    return (struct request_path){above, name, PATH_ALONE};
}

static inline struct request_path path_at(const struct request_path *above, const char *name,
                                          size_t index)
{
    return (struct request_path){above, name, (int64_t)index};
}

struct request_reader {
    const struct schema *schema;
    struct arena *arena;
    uint32_t filter_count; /* of the tree that is read */
    struct err *err;
};

/* The query without what names fields that the schema does not have: filters by them hold for no
 * document. A copy where it differs. */
const Torg__V1__Query *request_prune(const Torg__V1__Query *message, const struct schema *schema,
                                     struct arena *arena);

/* "stages[0].sorts[1].field: " and what is told; returns the code. */
int request_refuse(const struct request_reader *reader, const struct request_path *path, int code,
                   const char *format, ...) __attribute__((format(printf, 4, 5)));

/* The schema's field of this name; path: to the name. */
int request_field(const struct request_reader *reader, const struct request_path *path,
                  const char *name, const struct field **field);

/* A value as the column keeps it; path: to the value. */
int request_value(const struct request_reader *reader, const struct request_path *path,
                  const struct field *field, const char *text, bool is_end, int64_t *value);

/* Degrees to 1e-7 degrees; path: to the point. */
int request_point(const struct request_reader *reader, const struct request_path *path,
                  const Torg__V1__GeoPoint *point, int32_t *lat, int32_t *lon);

/* NULL when there is none. */
int request_filter(struct request_reader *reader, const struct request_path *path,
                   const Torg__V1__Filter *message, const struct query_filter **filter);

/* Parts of a stage; path: to the stage. */
int request_sorts(const struct request_reader *reader, const struct request_path *path,
                  const Torg__V1__QueryStage *message, struct query_stage *stage);
int request_rerank(const struct request_reader *reader, const struct request_path *path,
                   const Torg__V1__Rerank *message, struct query_stage *stage);
int request_cap(const struct request_reader *reader, const struct request_path *path,
                const Torg__V1__Cap *message, struct query_stage *stage);
int request_facets(const struct request_reader *reader, const struct request_path *path,
                   const Torg__V1__QueryStage *message, struct query_stage *stage);
int request_show(const struct request_reader *reader, const struct request_path *path,
                 const Torg__V1__QueryStage *message, struct query_show *show);

#endif
