/* SPDX-License-Identifier: Apache-2.0 */
/* developed.c - see develop.h: frees what was made, once it has been sent. */
#include <vips/vips.h>

#include "photos/darkroom/develop.h"

void developed_release(struct developed *developed)
{
    for (size_t i = 0; i < developed->count; i++)
        g_free(developed->pictures[i].data);
    developed->count = 0;
}
