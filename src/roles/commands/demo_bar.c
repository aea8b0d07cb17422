/* SPDX-License-Identifier: Apache-2.0 */
/* demo_bar.c - see demo_bar.h. */
#include "roles/commands/demo_bar.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

enum { BAR_INTERVAL_US = 100 * 1000, LINE_INTERVAL_US = 2 * SECOND_US, BAR_WIDTH = 30 };

const char *demo_number(uint64_t number, char text[DEMO_NUMBER_SIZE])
{
    char digits[DEMO_NUMBER_SIZE];
    size_t size = (size_t)snprintf(digits, sizeof(digits), "%" PRIu64, number);
    size_t used = 0;

    for (size_t i = 0; i < size && used + 2 < DEMO_NUMBER_SIZE; i++) {
        if (i && (size - i) % 3 == 0)
            text[used++] = ' ';
        text[used++] = digits[i];
    }
    text[used] = 0;
    return text;
}

void demo_bar_begin(struct demo_bar *bar, FILE *out, const struct clock *clock)
{
    *bar = (struct demo_bar){.out = out, .clock = clock, .is_terminal = isatty(fileno(out))};
    bar->begun_us = bar->shown_us = clock_mono_us(clock);
}

static void show(struct demo_bar *bar, uint64_t saved, uint64_t searchable, uint64_t total)
{
    char numbers[3][DEMO_NUMBER_SIZE];
    int64_t seconds = (clock_mono_us(bar->clock) - bar->begun_us) / SECOND_US;
    char line[BAR_WIDTH + 1];

    for (uint64_t i = 0; i < BAR_WIDTH; i++)
        line[i] = i * total < searchable * BAR_WIDTH ? '='
                  : i * total < saved * BAR_WIDTH    ? '-'
                                                     : ' ';
    line[BAR_WIDTH] = 0;
    if (bar->is_terminal)
        fprintf(bar->out, "\r  [%s]  ", line);
    fprintf(bar->out, "saved %s%s searchable %s of %s", demo_number(saved, numbers[0]),
            bar->is_terminal ? " " : ",", demo_number(searchable, numbers[1]),
            demo_number(total, numbers[2]));
    if (bar->is_terminal)
        fprintf(bar->out, "  %d:%02d\033[K", (int)(seconds / 60), (int)(seconds % 60));
    else
        fputc('\n', bar->out);
    fflush(bar->out);
}

void demo_bar_update(struct demo_bar *bar, uint64_t saved, uint64_t searchable, uint64_t total)
{
    int64_t now_us = clock_mono_us(bar->clock);

    if (now_us - bar->shown_us < (bar->is_terminal ? BAR_INTERVAL_US : LINE_INTERVAL_US))
        return;
    bar->shown_us = now_us;
    show(bar, saved, searchable, total);
}

void demo_bar_end(struct demo_bar *bar, uint64_t saved, uint64_t searchable, uint64_t total)
{
    if (!bar->is_terminal)
        show(bar, saved, searchable, total);
    else
        fputs("\r\033[K", bar->out);
    fflush(bar->out);
}
