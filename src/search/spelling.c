/* SPDX-License-Identifier: Apache-2.0 */
/* spelling.c - see spelling.h. */
#include "search/spelling.h"

#include <stdio.h>

#include "base/metrics.h"
#include "search/bounds.h"
#include "search/line.h"

struct checking {
    const char *line;
    struct hidden_line hidden;
    spelling_count_fn *count;
    void *arg;
    struct arena *arena;
};

static int count_hidden(void *arg, struct bytes text, uint64_t *count, struct err *err)
{
    const struct checking *checking = arg;
    bool is_line = bytes_equal(text, checking->hidden.text);

    return checking->count(
        checking->arg,
        is_line ? checking->line : line_show(&checking->hidden, text, checking->arena), count, err);
}

int spelling_correct(struct speller *speller, const char *line, spelling_count_fn *count, void *arg,
                     struct arena *arena, struct correction *correction, struct err *err)
{
    struct checking checking = {.line = line, .count = count, .arg = arg, .arena = arena};
    struct spell_result result = {0};
    int rc = line_hide(bytes_of(line), arena, &checking.hidden, err);

    *correction = (struct correction){0};
    if (!rc)
        rc = spell_check(speller, checking.hidden.text, count_hidden, &checking, arena, &result,
                         err);
    if (rc || !result.change_count || result.text.size > SEARCH_TEXT_SIZE_MAX)
        return rc;
    correction->text = line_show(&checking.hidden, result.text, arena);
    correction->reason = spell_reason_name(result.changes[0].reason);
    return 0;
}

void spelling_count(const char *reason)
{
    char labels[64];

    snprintf(labels, sizeof(labels), "reason=\"%s\"", reason);
    counter_add(metrics_counter("torg_spell_corrections_total", labels,
                                "Searches of another text than the one sent."),
                1);
}
