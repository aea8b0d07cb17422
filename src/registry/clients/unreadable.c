/* SPDX-License-Identifier: Apache-2.0 */
/* unreadable.c - see unreadable.h. */
#include "registry/clients/unreadable.h"

#include <stdio.h>
#include <string.h>

#include "base/log.h"

void unreadable_init(struct unreadable *unreadable)
{
    unreadable->count = 0;
    unreadable->gauge = metrics_gauge("torg_registry_unreadable_clients", NULL,
                                      "Clients whose rows in the store cannot be read: they are "
                                      "stopped; the log says why.");
    gauge_set(unreadable->gauge, 0);
}

/* Its place; count: it is not there. */
static uint32_t find(const struct unreadable *unreadable, const char *name)
{
    uint32_t at = 0;

    while (at < unreadable->count && strcmp(unreadable->names[at], name) != 0)
        at++;
    return at;
}

void unreadable_note(struct unreadable *unreadable, const char *name, const char *reason)
{
    if (find(unreadable, name) < unreadable->count || unreadable->count == CLIENT_COUNT_MAX ||
        strlen(name) > CLIENT_NAME_SIZE_MAX)
        return;
    snprintf(unreadable->names[unreadable->count++], sizeof(unreadable->names[0]), "%s", name);
    gauge_set(unreadable->gauge, unreadable->count);
    log_error("a client cannot be read: its documents wait, the others go on",
              LOG_TEXT("client", name), LOG_TEXT("error", reason));
}

void unreadable_forget(struct unreadable *unreadable, const char *name)
{
    uint32_t at = find(unreadable, name);

    if (at == unreadable->count)
        return;
    memmove(unreadable->names[at], unreadable->names[--unreadable->count],
            sizeof(unreadable->names[0]));
    gauge_set(unreadable->gauge, unreadable->count);
    log_info("a client can be read again", LOG_TEXT("client", name));
}
