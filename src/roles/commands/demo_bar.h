/* SPDX-License-Identifier: Apache-2.0 */
/*
 * demo_bar.h - how far the demo shop is filled: a bar on a terminal, lines now and then elsewhere.
 *
 *     [===========-----              ]  saved 12 400  searchable 9 800 of 20 000  0:04
 */
#ifndef TORG_ROLES_COMMANDS_DEMO_BAR_H
#define TORG_ROLES_COMMANDS_DEMO_BAR_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/clock.h"

struct demo_bar {
    FILE *out; /* borrowed */
    const struct clock *clock;
    bool is_terminal;
    int64_t begun_us;
    int64_t shown_us;
};

void demo_bar_begin(struct demo_bar *bar, FILE *out, const struct clock *clock);
/* Cheap; shows it when it is time to. */
void demo_bar_update(struct demo_bar *bar, uint64_t saved, uint64_t searchable, uint64_t total);
/* Shows the last state; on a terminal wipes the bar instead. */
void demo_bar_end(struct demo_bar *bar, uint64_t saved, uint64_t searchable, uint64_t total);

/* "20 000" */
enum { DEMO_NUMBER_SIZE = 32 };
const char *demo_number(uint64_t number, char text[DEMO_NUMBER_SIZE]);

#endif
