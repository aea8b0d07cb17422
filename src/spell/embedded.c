/* SPDX-License-Identifier: Apache-2.0 */
/* embedded.c - see embedded.h. */
#include "spell/embedded.h"

extern const uint8_t spell_base_data[], spell_base_end[];

struct bytes spell_base(void)
{
    return bytes_make(spell_base_data, (uintptr_t)spell_base_end - (uintptr_t)spell_base_data);
}
