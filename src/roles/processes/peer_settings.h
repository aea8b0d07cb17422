/* SPDX-License-Identifier: Apache-2.0 */
/* peer_settings.h - lists in settings, and those of searchers in other processes. */
#ifndef TORG_ROLES_PROCESSES_PEER_SETTINGS_H
#define TORG_ROLES_PROCESSES_PEER_SETTINGS_H

#include "roles/processes/process.h"
#include "searcher/front/peers.h"

/* The next word of a list with blanks or commas between; NULL: there is none. */
const char *next_word(const char **list, struct arena *arena);

/* Where others reach this searcher; NULL: it announces itself to nobody. */
int own_address(const struct process *process, const char **address, struct err *err);

/* The searchers that the setting `list` names, and those that announce themselves if it says so,
 * asked with the key in the file that `key` names; *peers is NULL when it names none. */
int peer_settings_open(const struct process *process, enum setting_id list, enum setting_id key,
                       struct peers **peers, struct err *err);

#endif
