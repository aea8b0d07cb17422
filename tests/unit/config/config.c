/* SPDX-License-Identifier: Apache-2.0 */
/* Unit tests of config/config.h: every kind of mistake and its place, precedence, the dump. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/random.h"
#include "config/bounds.h"
#include "config/config.h"

struct fixture {
    char dir[64];
    char file[96];
    struct arena *arena;
    struct violations problems;
    struct config config;
};

static int setup(void **state)
{
    struct fixture *fixture = mem_zero(sizeof(*fixture));

    snprintf(fixture->dir, sizeof(fixture->dir), P_tmpdir "/torg-config-XXXXXX");
    assert_non_null(mkdtemp(fixture->dir));
    snprintf(fixture->file, sizeof(fixture->file), "%s/t.toml", fixture->dir);
    fixture->arena = arena_new();
    *state = fixture;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *fixture = *state;

    dir_remove(fixture->dir, NULL);
    arena_free(fixture->arena);
    free(fixture);
    return 0;
}

static int load(struct fixture *fixture, const char *content, const char *const *environment,
                const struct config_flag *flags, size_t flag_count)
{
    struct config_sources sources = {.file = fixture->file,
                                     .environment = environment,
                                     .flags = flags,
                                     .flag_count = flag_count};

    assert_int_equal(file_write(fixture->file, bytes_of(content), NULL), 0);
    fixture->problems = violations_in(fixture->arena);
    return config_load(&fixture->config, &sources, fixture->arena, &fixture->problems);
}

/* The file has exactly one fault: on this line, and told in words that hold `reason`. */
static void assert_fault(struct fixture *fixture, const char *content, unsigned line,
                         const char *reason)
{
    char place[128];

    snprintf(place, sizeof(place), "%s:%u", fixture->file, line);
    assert_int_equal(load(fixture, content, NULL, NULL, 0), ERR_INVALID);
    assert_int_equal(fixture->problems.count, 1);
    assert_string_equal(fixture->problems.first->field, place);
    if (!strstr(fixture->problems.first->reason, reason))
        fail_msg("\"%s\" does not say \"%s\"", fixture->problems.first->reason, reason);
}

static void a_good_file_is_read(void **state)
{
    struct fixture *fixture = *state;
    const struct config *config = &fixture->config;

    assert_int_equal(load(fixture,
                          "\xEF\xBB\xBF# comment\r\n"
                          "[server]   # the server\r\n"
                          "  listen = \"[::1]:9 # not a comment\"\r\n"
                          "[server]\n"
                          "drain=250ms ; short\n"
                          "reactors = 2# part of the value\n"
                          "\n[data]\n"
                          "dir = 'C:\\torg ;x' # literal\n"
                          "[store]\nurl = \"sqlite:a\\\"b\\\\c\"",
                          NULL, NULL, 0),
                     ERR_INVALID);
    assert_int_equal(fixture->problems.count, 2); /* lines 3 and 6 take their # as value */
    assert_string_equal(config_text(config, SETTING_DATA_DIR), "C:\\torg ;x");
    assert_string_equal(config_text(config, SETTING_STORE_URL), "sqlite:a\"b\\c");
    assert_int_equal(config_number(config, SETTING_SERVER_DRAIN), 250 * 1000);
    assert_int_equal(config->values[SETTING_SERVER_DRAIN].line, 5);
    assert_int_equal(load(fixture, "", NULL, NULL, 0), 0);
    assert_string_equal(config_text(config, SETTING_SERVER_LISTEN), "127.0.0.1:8080");
    assert_int_equal(config_number(config, SETTING_LOG_LEVEL), 1);
}

static void each_mistake_is_told_with_its_line(void **state)
{
    struct fixture *fixture = *state;
    static const struct {
        const char *content;
        unsigned line;
        const char *reason;
    } cases[] = {
        {"[server]\nlisen = \"127.0.0.1:1\"\n", 2, "did you mean server.listen?"},
        {"[server]\nzzzzzzzz = 1\n", 2, "unknown setting server.zzzzzzzz"},
        {"\n[sever]\nlisten = x\n", 2, "unknown section [sever]; did you mean [server]?"},
        {"[qqqqqqqq]\nlisten = x\n", 1, "unknown section [qqqqqqqq]; torg config dump"},
        {"listen = 127.0.0.1:1\n", 1, "listen stands before the first [section]"},
        {"[server]\n\nlisten\n", 3, "expected key = value"},
        {"[server]\n= 3\n", 2, "expected key = value"},
        {"[server\nlisten = x\n", 1, "expected a [section]"},
        {"[server] listen = x\n", 1, "expected a [section]"},
        {"[server]\nlisten = 8080\n", 2, "expected an address such as 127.0.0.1:8080"},
        {"[server]\nlisten = 127.0.0.1:70000\n", 2, "expected an address"},
        {"[server]\nlisten =\n", 2, "expected an address"},
        {"[server]\nreactors = many\n", 2, "expected a whole number from 0 to 1024"},
        {"[server]\nreactors = 1025\n", 2, "expected a whole number from 0 to 1024"},
        {"[server]\ndrain = 20\n", 2,
         "expected a duration such as 250ms, 30s or 15m, from 0s to 10m"},
        {"[server]\ndrain = 11m\n", 2, "from 0s to 10m"},
        {"[log]\nlevel = loud\n", 2, "expected debug, info, warn or error"},
        {"[tls]\nclient_required = yes\n", 2, "expected true or false"},
        {"[store]\nurl = mysql://x\n", 2, "begins with sqlite:, postgres:// or postgresql://"},
        {"[data]\ndir = \"\"\n", 2, "expected a path"},
        {"[data]\ndir = \"x\n", 2, "no closing \""},
        {"[data]\ndir = \"x\" y\n", 2, "nothing but a # comment"},
        {"[data]\ndir = \"a\\n\"\n", 2, "\\ goes before"},
        {"[data]\ndir = a\ndir = b\n", 3, "set twice, first on line 2"},
        {"[data]\ndir = \xff\n", 2, "not UTF-8"},
        {"[data]\ndir = \"a\tb\"\n", 2, "expected UTF-8 text of at most 1024 bytes on one line"},
        {"[tls]\ncertificate = a\n", 2, "tls.certificate needs tls.key"},
        {"[tls]\nkey = a\n", 2, "tls.key needs tls.certificate"},
        {"[tls]\nclient_ca = a\n", 2, "tls.client_ca needs tls.certificate"},
        {"[tls]\nclient_required = true\n", 2, "tls.client_required needs tls.client_ca"},
    };

    for (size_t i = 0; i < ARRAY_COUNT(cases); i++)
        assert_fault(fixture, cases[i].content, cases[i].line, cases[i].reason);
}

static void all_mistakes_are_told_at_once(void **state)
{
    struct fixture *fixture = *state;
    const char *environment[] = {"TORG_SERVER_DRAIN=x", "HOME=/", NULL};
    const struct config_flag flags[] = {{"server.reactor", "1"}, {"listen", "nowhere"}};

    assert_int_equal(load(fixture, "[server]\nlisen = 1\nbroken\nworkers = x\n[nope]\nx = 1\n",
                          environment, flags, 2),
                     ERR_INVALID);
    assert_int_equal(fixture->problems.count, 7);
}

static void long_lines_and_files_are_refused(void **state)
{
    struct fixture *fixture = *state;
    char *big = mem_zero(CONFIG_FILE_SIZE_MAX + 2);

    snprintf(big, 64, "[data]\ndir = ");
    memset(big + strlen(big), 'x', CONFIG_VALUE_SIZE_MAX);
    assert_int_equal(load(fixture, big, NULL, NULL, 0), 0);
    assert_int_equal(strlen(config_text(&fixture->config, SETTING_DATA_DIR)),
                     CONFIG_VALUE_SIZE_MAX);
    memset(big + strlen(big), 'x', 1);
    assert_fault(fixture, big, 2, "at most 1024 bytes");
    memset(big + strlen(big), 'x', CONFIG_LINE_SIZE_MAX);
    assert_fault(fixture, big, 2, "longer than 4096 bytes");
    memset(big, '#', CONFIG_FILE_SIZE_MAX + 1);
    assert_int_equal(load(fixture, big, NULL, NULL, 0), ERR_INVALID);
    assert_non_null(strstr(fixture->problems.first->reason, "larger than 1048576 bytes"));
    free(big);
}

static void flag_beats_environment_beats_file_beats_default(void **state)
{
    struct fixture *fixture = *state;
    static const char content[] = "[data]\ndir = from-file\n";
    const char *environment[] = {"TORG_DATA_DIR=from-env", NULL};
    const struct config_flag flag = {"data.dir", "from-flag"};
    const struct config_flag alias = {"data", "from-short-flag"};
    struct buf origin = BUF_INIT(256);
    char place[128];

    assert_int_equal(load(fixture, "", NULL, NULL, 0), 0);
    assert_string_equal(config_text(&fixture->config, SETTING_DATA_DIR), "torg-data");
    assert_int_equal(load(fixture, content, NULL, NULL, 0), 0);
    assert_string_equal(config_text(&fixture->config, SETTING_DATA_DIR), "from-file");
    config_put_origin(&fixture->config, SETTING_DATA_DIR, &origin);
    snprintf(place, sizeof(place), "%s:2", fixture->file);
    assert_string_equal(buf_text(&origin), place);
    assert_int_equal(load(fixture, content, environment, NULL, 0), 0);
    assert_string_equal(config_text(&fixture->config, SETTING_DATA_DIR), "from-env");
    assert_int_equal(load(fixture, content, environment, &flag, 1), 0);
    assert_string_equal(config_text(&fixture->config, SETTING_DATA_DIR), "from-flag");
    assert_int_equal(load(fixture, content, environment, &alias, 1), 0);
    assert_string_equal(config_text(&fixture->config, SETTING_DATA_DIR), "from-short-flag");
    buf_release(&origin);
}

static void unknown_variables_are_errors(void **state)
{
    struct fixture *fixture = *state;
    const char *close[] = {"TORG_SERVER_LISTENS=x", NULL};
    const char *far[] = {"TORG_PORT=tcp://10.0.0.1:80", NULL};
    const char *foreign[] = {"TORG_TEST_POSTGRES=x", "TORG_REQUIRE=x", "TORG_CACHE=x", "TORGX=1",
                             NULL};

    assert_int_equal(load(fixture, "", close, NULL, 0), ERR_INVALID);
    assert_string_equal(fixture->problems.first->field, "TORG_SERVER_LISTENS");
    assert_non_null(strstr(fixture->problems.first->reason, "TORG_SERVER_LISTEN?"));
    assert_int_equal(load(fixture, "", far, NULL, 0), ERR_INVALID);
    assert_string_equal(fixture->problems.first->field, "TORG_PORT");
    assert_int_equal(load(fixture, "", foreign, NULL, 0), 0);
}

static void a_named_file_must_exist(void **state)
{
    struct fixture *fixture = *state;
    const char *environment[] = {"TORG_CONFIG=/nonexistent/torg.toml", NULL};
    struct config_sources sources = {.environment = environment};
    char before[4096];

    fixture->problems = violations_in(fixture->arena);
    assert_int_equal(config_load(&fixture->config, &sources, fixture->arena, &fixture->problems),
                     ERR_INVALID);
    assert_string_equal(fixture->problems.first->field, "/nonexistent/torg.toml");

    /* ./torg.toml is read when it is there, and not missed when it is not. */
    assert_non_null(getcwd(before, sizeof(before)));
    assert_int_equal(chdir(fixture->dir), 0);
    sources.environment = NULL;
    fixture->problems = violations_in(fixture->arena);
    assert_int_equal(config_load(&fixture->config, &sources, fixture->arena, &fixture->problems),
                     0);
    assert_null(fixture->config.file);
    assert_int_equal(file_write("torg.toml", bytes_of("[log]\nlevel = debug\n"), NULL), 0);
    assert_int_equal(config_load(&fixture->config, &sources, fixture->arena, &fixture->problems),
                     0);
    assert_string_equal(fixture->config.file, "torg.toml");
    assert_int_equal(config_number(&fixture->config, SETTING_LOG_LEVEL), 0);
    assert_int_equal(chdir(before), 0);
}

static void a_dump_reads_back_as_the_same_settings(void **state)
{
    struct fixture *fixture = *state;
    static const char content[] = "[data]\ndir = 'a\"b\\c #d'\n[server]\nreactors = 3\n"
                                  "[tls]\nclient_required = false\n[log]\nformat = json\n";
    struct buf first = BUF_INIT(64 << 10);
    struct buf second = BUF_INIT(64 << 10);
    struct config before;

    assert_int_equal(load(fixture, content, NULL, NULL, 0), 0);
    before = fixture->config;
    config_dump(&fixture->config, &first);
    assert_int_equal(load(fixture, buf_text(&first), NULL, NULL, 0), 0);
    for (int id = 0; id < SETTING_COUNT; id++) {
        assert_string_equal(config_text(&before, id), config_text(&fixture->config, id));
        assert_int_equal(config_number(&before, id), config_number(&fixture->config, id));
    }
    config_dump_json(&fixture->config, &second);
    assert_non_null(strstr(buf_text(&second), "\"server.reactors\": {\"value\": 3, "));
    buf_release(&first);
    buf_release(&second);
}

static void passwords_are_masked(void **state)
{
    struct fixture *fixture = *state;
    const struct config_flag flags[] = {
        {"store.url", "postgres://torg:hunter2@db:5432/torg?password=hunter2&x=y"},
        {"topic.url", "kafka://user:hun@ter2@host:9092"}};
    struct buf out = BUF_INIT(64 << 10);

    assert_int_equal(load(fixture, "", NULL, flags, 2), 0);
    config_dump(&fixture->config, &out);
    config_dump_json(&fixture->config, &out);
    assert_null(strstr(buf_text(&out), "hunter2"));
    assert_null(strstr(buf_text(&out), "ter2"));
    assert_non_null(strstr(buf_text(&out), "postgres://torg:***@db:5432/torg?password=***"));
    assert_non_null(strstr(buf_text(&out), "kafka://user:***@host:9092"));
    buf_release(&out);
}

static void random_content_never_breaks_the_reader(void **state)
{
    struct fixture *fixture = *state;
    static const char letters[] = "[]=#;:\"'\\ \t\r\n.serverlistendata0123456789ms\xd0\xb6";
    uint64_t seed = random_u64();
    struct rng rng = rng_seeded(seed);

    print_message("# seed %ju\n", (uintmax_t)seed);
    for (int round = 0; round < 500; round++) {
        char content[400];
        size_t size = rng_below(&rng, sizeof(content));
        struct config_sources none = {.file = "/dev/null"};
        struct arena_mark mark = arena_mark(fixture->arena);

        for (size_t i = 0; i < size; i++)
            content[i] = letters[rng_below(&rng, sizeof(letters))];
        fixture->problems = violations_in(fixture->arena);
        assert_int_equal(config_load(&fixture->config, &none, fixture->arena, &fixture->problems),
                         0);
        config_parse(&fixture->config, bytes_make(content, size), &fixture->problems);
        arena_rewind(fixture->arena, mark);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_good_file_is_read),
        TEST(each_mistake_is_told_with_its_line),
        TEST(all_mistakes_are_told_at_once),
        TEST(long_lines_and_files_are_refused),
        TEST(flag_beats_environment_beats_file_beats_default),
        TEST(unknown_variables_are_errors),
        TEST(a_named_file_must_exist),
        TEST(a_dump_reads_back_as_the_same_settings),
        TEST(passwords_are_masked),
        TEST(random_content_never_breaks_the_reader),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
