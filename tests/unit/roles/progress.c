/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests of roles/commands/progress.h: what is shown when, on a terminal of any width and
 * elsewhere.
 */
#include "roles/commands/progress.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include <cmocka.h>

enum { MB = 1000 * 1000 };

static struct clock_manual manual;
static struct progress progress;
static char *shown;
static size_t shown_size;
static FILE *out;

static void begin(enum progress_manner manner, unsigned width)
{
    clock_manual_init(&manual, SECOND_US);
    out = open_memstream(&shown, &shown_size);
    progress_begin(&progress, out, &manual.base, manner == PROGRESS_NONE, "goods.yml");
    if (manner == PROGRESS_BAR) { /* as on a terminal */
        progress.manner = manner;
        progress.width = width;
    }
}

static void end(void)
{
    fclose(out);
    free(shown);
}

static void lines_come_now_and_then(void **state)
{
    begin(PROGRESS_LINES, 0);
    progress_update(&progress, MB, 50 * MB, 100);
    clock_manual_advance(&manual, 4 * SECOND_US);
    progress_update(&progress, 2 * MB, 50 * MB, 200);
    fflush(out);
    assert_int_equal(shown_size, 0);
    clock_manual_advance(&manual, 6 * SECOND_US);
    progress_update(&progress, 31 * MB, 50 * MB, 62000);
    progress_update(&progress, 32 * MB, 50 * MB, 64000);
    progress_end(&progress);
    assert_string_equal(shown, "goods.yml: 62%, 31.0 MB of 50.0 MB, 62000 rows, 6200 rows/s, "
                               "0:07 left\n");
    end();
}

static void an_unknown_size_has_no_share_and_no_end(void **state)
{
    begin(PROGRESS_LINES, 0);
    clock_manual_advance(&manual, 10 * SECOND_US);
    progress_update(&progress, 999999, 0, 5);
    assert_string_equal(shown, "goods.yml: 1000.0 KB, 5 rows, 0 rows/s\n");
    end();
}

static void a_bar_fits_its_terminal(void **state)
{
    for (unsigned width = 1; width <= 250; width++) {
        const char *line;

        begin(PROGRESS_BAR, width);
        clock_manual_advance(&manual, 10 * SECOND_US);
        progress_update(&progress, 31 * MB, 50 * MB, 62000);
        line = strrchr(shown, '\r') + 1;
        assert_true((size_t)(strchr(line, '\033') - line) < width + (width == 1));
        if (width == 120)
            assert_string_equal(shown, "\rgoods.yml   62% [========================>               "
                                       "]  31.0 MB of 50.0 MB  62000 rows  6200 rows/s  0:07 left"
                                       "\033[K");
        progress_end(&progress);
        assert_string_equal(shown + shown_size - 4, "\r\033[K");
        end();
    }
}

static void quiet_says_nothing(void **state)
{
    begin(PROGRESS_NONE, 0);
    clock_manual_advance(&manual, 100 * SECOND_US);
    progress_update(&progress, 31 * MB, 50 * MB, 62000);
    progress_end(&progress);
    fflush(out);
    assert_int_equal(shown_size, 0);
    assert_int_equal(progress_rate(&progress), 620);
    end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_come_now_and_then),
        cmocka_unit_test(an_unknown_size_has_no_share_and_no_end),
        cmocka_unit_test(a_bar_fits_its_terminal),
        cmocka_unit_test(quiet_says_nothing),
    };

    return cmocka_run_group_tests_name("progress", tests, NULL, NULL);
}
