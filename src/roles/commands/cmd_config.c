/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_config.c - torg config check, torg config dump. */
#include <stdio.h>

#include "base/object.h"
#include "base/text.h"
#include "roles/commands/command.h"
#include "roles/commands/problems.h"

enum { OUTPUT_SIZE_MAX = 1 << 20 };

static void print_problems_json(const struct violations *problems)
{
    struct buf out = BUF_INIT(OUTPUT_SIZE_MAX);

    buf_printf(&out, "{\"ok\": %s, \"problems\": [", problems->count ? "false" : "true");
    for (const struct violation *one = problems->first; one; one = one->next) {
        buf_put_text(&out, one == problems->first ? "\n {\"place\": " : ",\n {\"place\": ");
        text_put_json(&out, bytes_of(one->field));
        buf_put_text(&out, ", \"reason\": ");
        text_put_json(&out, bytes_of(one->reason));
        buf_put_byte(&out, '}');
    }
    buf_put_text(&out, problems->count ? "\n]}\n" : "]}\n");
    fputs(buf_text(&out), stdout);
    buf_release(&out);
}

enum exit_code cmd_config_check(const struct invocation *invocation)
{
    struct violations problems = violations_in(invocation->arena);
    struct invocation named = *invocation;
    struct config config;

    object_check(invocation, INVOCATION_MAGIC);
    if (invocation->argument_count)
        named.config_file = invocation->arguments[0];
    config_of(&named, &config, &problems);
    if (invocation->json) {
        print_problems_json(&problems);
    } else {
        problems_print(&problems, stderr);
        if (problems.count)
            printf("%zu %s in %s\n", problems.count, problems.count == 1 ? "fault" : "faults",
                   config.file ? config.file : "the environment or the flags");
        else
            printf("%s is valid\n",
                   config.file ? config.file : "the configuration (no file, all defaults)");
    }
    return problems.count ? EXIT_CONFIG : EXIT_OK;
}

enum exit_code cmd_config_dump(const struct invocation *invocation)
{
    struct buf out = BUF_INIT(OUTPUT_SIZE_MAX);

    object_check(invocation, INVOCATION_MAGIC);
    if (invocation->json)
        config_dump_json(&invocation->config, &out);
    else
        config_dump(&invocation->config, &out);
    fputs(buf_text(&out), stdout);
    buf_release(&out);
    return EXIT_OK;
}
