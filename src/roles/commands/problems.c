/* SPDX-License-Identifier: Apache-2.0 */
/* problems.c - see problems.h. */
#include "roles/commands/problems.h"

#include <unistd.h>

#include "base/object.h"

int config_of(const struct invocation *invocation, struct config *config,
              struct violations *problems)
{
    const struct config_sources sources = {
        .file = invocation->config_file,
        .environment = (const char *const *)environ,
        .flags = invocation->settings,
        .flag_count = invocation->setting_count,
    };

    object_check(invocation, INVOCATION_MAGIC);
    return config_load(config, &sources, invocation->arena, problems);
}

void problems_print(const struct violations *problems, FILE *out)
{
    size_t told = 0;

    for (const struct violation *one = problems->first; one; one = one->next, told++)
        fprintf(out, "%s: %s\n", one->field, one->reason);
    if (told < problems->count)
        fprintf(out, "and %zu more\n", problems->count - told);
}
