/* SPDX-License-Identifier: Apache-2.0 */
/* json_yajl.h - memory for yajl: as everywhere, running out of it ends the program. */
#ifndef TORG_CODEC_JSON_YAJL_H
#define TORG_CODEC_JSON_YAJL_H

#include <stdlib.h>
#include <yajl/yajl_parse.h>

#include "base/memory.h"

static inline void *json_yajl_take(void *context, size_t size)
{
    (void)context;
    return mem_alloc(size);
}

static inline void *json_yajl_retake(void *context, void *old, size_t size)
{
    (void)context;
    return mem_resize(old, size);
}

static inline void json_yajl_drop(void *context, void *old)
{
    (void)context;
    free(old);
}

static const yajl_alloc_funcs json_yajl_memory = {
    .malloc = json_yajl_take, .realloc = json_yajl_retake, .free = json_yajl_drop};

#endif
