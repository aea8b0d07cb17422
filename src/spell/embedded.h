/* SPDX-License-Identifier: Apache-2.0 */
/*
 * embedded.h - the base of words that the build put into the program (tools/spell-base).
 */
#ifndef TORG_SPELL_EMBEDDED_H
#define TORG_SPELL_EMBEDDED_H

#include "base/bytes.h"

struct bytes spell_base(void);

#endif
