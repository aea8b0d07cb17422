/* SPDX-License-Identifier: Apache-2.0 */
/* Unit tests of base/log.h: lines read back from a pipe. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "base/bounds.h"
#include "base/log.h"
#include "base/log_pace.h"

static int ends[2];
static char line[4 * LOG_LINE_SIZE_MAX];

static int begin(void **state)
{
    (void)state;
    log_set_request(NULL);
    return pipe2(ends, O_CLOEXEC);
}

static int end(void **state)
{
    (void)state;
    log_setup(LOG_FORMAT_AUTO, LOG_LEVEL_INFO, STDERR_FILENO);
    close(ends[0]);
    close(ends[1]);
    return 0;
}

static const char *read_line(void)
{
    ssize_t size = read(ends[0], line, sizeof(line) - 1);

    line[size > 0 ? size : 0] = 0;
    return line;
}

/* After {"time":"…", or after the time of day. */
static const char *rest(const char *whole, size_t skip)
{
    assert_true(strlen(whole) > skip);
    return whole + skip;
}

enum { JSON_TIME = 37, HUMAN_TIME = 13 };

static void machines_get_one_object_a_line(void **state)
{
    (void)state;
    log_setup(LOG_FORMAT_JSON, LOG_LEVEL_INFO, ends[1]);
    log_warn("slow", LOG_INT("pages", -5), LOG_TEXT("store", "a\"b\n"), LOG_REAL("part", 0.5),
             LOG_BYTES("raw", bytes_make("\xff\x00", 2)), LOG_REAL("nothing", NAN));
    assert_string_equal(rest(read_line(), JSON_TIME),
                        ",\"level\":\"warn\",\"event\":\"slow\",\"pages\":-5,"
                        "\"store\":\"a\\\"b\\n\",\"part\":0.5,\"raw\":\"base64:/wA=\","
                        "\"nothing\":null}\n");
    assert_memory_equal(line, "{\"time\":\"20", 11);
    log_set_request("r-1");
    log_info("plain");
    assert_string_equal(rest(read_line(), JSON_TIME),
                        ",\"level\":\"info\",\"event\":\"plain\",\"request\":\"r-1\"}\n");
}

static void people_get_plain_words(void **state)
{
    (void)state;
    log_setup(LOG_FORMAT_HUMAN, LOG_LEVEL_DEBUG, ends[1]);
    log_error("it broke", LOG_TEXT("path", "/a/b"), LOG_INT("n", 3));
    assert_string_equal(rest(read_line(), HUMAN_TIME), "error it broke path=/a/b n=3\n");
    log_set_request("abc");
    log_debug("fine");
    assert_string_equal(rest(read_line(), HUMAN_TIME), "debug fine request=abc\n");
}

static void no_value_can_fake_a_line(void **state)
{
    static const char *const evil[] = {
        "x\n08:00:00.000 info fake",
        "a b",
        "say \"hi\"",
        "\x1b[2J",
        "\xc2\x9b[2J",
        "\xff\x9b[2J",
        "\r",
        "",
        "back\\slash",
    };
    size_t i;
    size_t j;

    (void)state;
    log_setup(LOG_FORMAT_HUMAN, LOG_LEVEL_INFO, ends[1]);
    for (i = 0; i < sizeof(evil) / sizeof(evil[0]); i++) {
        log_set_request(evil[i]);
        log_info("e", LOG_TEXT("v", evil[i]));
        assert_memory_equal(rest(read_line(), HUMAN_TIME), "info  e v=\"", 11);
        for (j = 0; line[j + 1]; j++) {
            assert_true((unsigned char)line[j] >= ' ' && line[j] != 0x7f);
            assert_false((unsigned char)line[j] == 0xc2 && (unsigned char)line[j + 1] < 0xa0);
            assert_false((unsigned char)line[j] == 0xff);
        }
        assert_int_equal(line[j], '\n');
    }
}

static void a_long_request_id_is_cut_between_characters(void **state)
{
    char id[LOG_REQUEST_ID_SIZE_MAX + 20];
    size_t i;

    (void)state;
    log_setup(LOG_FORMAT_JSON, LOG_LEVEL_INFO, ends[1]);
    id[0] = 'i';
    for (i = 1; i + 2 < sizeof(id); i += 2)
        memcpy(id + i, "\xd1\x8f", 2);
    id[i] = 0;
    log_set_request(id);
    log_info("e");
    read_line();
    assert_null(strstr(line, "base64"));
    assert_non_null(strstr(line, "\"request\":\"i\xd1\x8f"));
}

static void an_event_too_large_is_still_told(void **state)
{
    static char huge[LOG_LINE_SIZE_MAX + 1];

    (void)state;
    memset(huge, 'h', sizeof(huge) - 1);
    log_setup(LOG_FORMAT_JSON, LOG_LEVEL_INFO, ends[1]);
    log_info("large", LOG_TEXT("v", huge));
    assert_string_equal(rest(read_line(), JSON_TIME), ",\"level\":\"info\",\"event\":\"large\"}\n");
}

static void levels_are_kept(void **state)
{
    (void)state;
    log_setup(LOG_FORMAT_HUMAN, LOG_LEVEL_WARN, ends[1]);
    assert_false(log_wants(LOG_LEVEL_INFO));
    assert_true(log_wants(LOG_LEVEL_WARN));
    log_info("not told");
    log_warn("told");
    assert_string_equal(rest(read_line(), HUMAN_TIME), "warn  told\n");
}

static void *tell(void *arg)
{
    int i;

    log_set_request(arg);
    for (i = 0; i < 100; i++)
        log_info("together", LOG_INT("i", i));
    return NULL;
}

static void lines_of_threads_do_not_mix(void **state)
{
    static char all[1 << 18];
    pthread_t threads[4];
    size_t size = 0;
    size_t count = 0;
    char *at;
    int i;

    (void)state;
    assert_true(fcntl(ends[1], F_SETPIPE_SZ, sizeof(all)) >= 0);
    log_setup(LOG_FORMAT_JSON, LOG_LEVEL_INFO, ends[1]);
    for (i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, tell, "t"), 0);
    for (i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    close(ends[1]);
    for (;;) {
        ssize_t got = read(ends[0], all + size, sizeof(all) - 1 - size);

        if (got <= 0)
            break;
        size += (size_t)got;
    }
    ends[1] = dup(ends[0]);
    all[size] = 0;
    for (at = all; *at; at = strchr(at, '\n') + 1, count++) {
        assert_memory_equal(at, "{\"time\":", 8);
        assert_memory_equal(strchr(at, '\n') - 1, "}", 1);
    }
    assert_int_equal(count, 400);
}

static void a_server_that_stays_away_is_not_told_at_every_try(void **state)
{
    const struct err away = {.code = ERR_UNAVAILABLE}, late = {.code = ERR_TIMEOUT};
    const struct err other = {.code = ERR_CORRUPT};
    struct log_pace pace = {0};

    (void)state;
    assert_true(log_pace_is_due(&pace, &away));
    for (int i = 0; i < 100; i++) {
        assert_false(log_pace_is_due(&pace, &away));
        assert_false(log_pace_is_due(&pace, &late));
        assert_true(log_pace_is_due(&pace, &other));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(machines_get_one_object_a_line, begin, end),
        cmocka_unit_test_setup_teardown(people_get_plain_words, begin, end),
        cmocka_unit_test_setup_teardown(no_value_can_fake_a_line, begin, end),
        cmocka_unit_test_setup_teardown(a_long_request_id_is_cut_between_characters, begin, end),
        cmocka_unit_test_setup_teardown(an_event_too_large_is_still_told, begin, end),
        cmocka_unit_test_setup_teardown(levels_are_kept, begin, end),
        cmocka_unit_test_setup_teardown(lines_of_threads_do_not_mix, begin, end),
        cmocka_unit_test(a_server_that_stays_away_is_not_told_at_every_try),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
