/* SPDX-License-Identifier: Apache-2.0 */
/* config_set.h - inside config/: how a source gives a setting its value. */
#ifndef TORG_CONFIG_CONFIG_SET_H
#define TORG_CONFIG_CONFIG_SET_H

#include "config/config.h"

/* Checks and keeps a copy of text; what is wrong with it is added to problems under place. */
void config_set(struct config *config, enum setting_id id, const char *text,
                enum config_origin origin, const char *place, struct violations *problems);

#endif
