/* SPDX-License-Identifier: Apache-2.0 */
/* sim_backends.c - see sim_backends.h. */
#include "sim/sim_backends.h"

#include <stddef.h>

#include "coord/backend.h"
#include "store/store_ops.h"
#include "topic/topic_ops.h"

void sim_backends_add(void)
{
    store_add_backend(&sim_store_ops);
    topics_add_backend(&sim_topics_ops);
    coord_add_backend(&sim_coord_ops);
}

void sim_backends_remove(void)
{
    store_add_backend(NULL);
    topics_add_backend(NULL);
    coord_add_backend(NULL);
}
