/* SPDX-License-Identifier: Apache-2.0 */
/* Unit tests of feeds/report/report.h: all three files, quoting, formulas, totals, no half a
 * report. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "feeds/report/report.h"
#include "feeds/report/russian.h"
#include "test_dir.h"

struct fixture {
    char dir[TEST_DIR_SIZE];
    char json[TEST_DIR_SIZE + 20];
    char csv[TEST_DIR_SIZE + 20];
    char xml[TEST_DIR_SIZE + 20];
};

static int make(void **state)
{
    static struct fixture fixture;

    assert_true(test_dir_make(fixture.dir));
    snprintf(fixture.json, sizeof(fixture.json), "%s/report.json", fixture.dir);
    snprintf(fixture.csv, sizeof(fixture.csv), "%s/report.csv", fixture.dir);
    snprintf(fixture.xml, sizeof(fixture.xml), "%s/report.xml", fixture.dir);
    *state = &fixture;
    return 0;
}

static int unmake(void **state)
{
    struct fixture *fixture = *state;

    return dir_remove(fixture->dir, NULL);
}

static void check_file(const char *path, const char *wanted)
{
    struct buf content = BUF_INIT(1 << 20);
    struct err err;

    assert_int_equal(file_read(path, &content, &err), 0);
    assert_string_equal(buf_text(&content), wanted);
    buf_release(&content);
}

static void check_xml(const char *path)
{
    check_file(
        path,
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<report>\n"
        "<row number=\"1\" externalId=\"a-1\" offerId=\"1234-5678\" "
        "outcome=\"created\"></row>\n"
        "<row number=\"2\" line=\"7\" externalId=\"=HYPERLINK(&quot;x&quot;,1)\" "
        "outcome=\"refused\"><reason field=\"price\">&quot;x&quot; is, well, not a number"
        "</reason><reason field=\"title\">is missing</reason></row>\n"
        "<row number=\"3\" externalId=\"-5\" outcome=\"updated\">"
        "<photoFailed>https://x.example/1.jpg</photoFailed>"
        "<photoFailed>https://x.example/2.jpg</photoFailed></row>\n"
        "<row externalId=\"@gone\" outcome=\"deleted\"></row>\n"
        "<row externalId=\"+7\" outcome=\"deleted\"></row>\n"
        "<group of=\"refused\" rows=\"1\" field=\"price\"><reason>&quot;x&quot; is, well, not a "
        "number</reason><example row=\"2\" line=\"7\" "
        "externalId=\"=HYPERLINK(&quot;x&quot;,1)\"/></group>\n"
        "<group of=\"refused\" rows=\"1\" field=\"title\"><reason>is missing</reason>"
        "<example row=\"2\" line=\"7\" externalId=\"=HYPERLINK(&quot;x&quot;,1)\"/></group>\n"
        "<totals created=\"1\" updated=\"1\" unchanged=\"0\" banned=\"0\" refused=\"1\" "
        "left=\"0\" deleted=\"2\" revived=\"0\" photosFailed=\"2\"/>\n</report>\n");
}

static void check_json(const char *path)
{
    check_file(
        path,
        "{\"rows\":[\n"
        "{\"row\":1,\"externalId\":\"a-1\",\"offerId\":\"1234-5678\",\"outcome\":\"created\"},\n"
        "{\"row\":2,\"line\":7,\"externalId\":\"=HYPERLINK(\\\"x\\\",1)\",\"outcome\":\"refused\","
        "\"reasons\":[{\"field\":\"price\",\"reason\":\"\\\"x\\\" is, well,\\nnot a number\"},"
        "{\"field\":\"title\",\"reason\":\"is missing\"}]},\n"
        "{\"row\":3,\"externalId\":\"-5\",\"outcome\":\"updated\",\"photosFailed\":"
        "[\"https://x.example/1.jpg\",\"https://x.example/2.jpg\"]},\n"
        "{\"externalId\":\"@gone\",\"outcome\":\"deleted\"},\n"
        "{\"externalId\":\"+7\",\"outcome\":\"deleted\"}\n"
        "],\"groups\":{\"refused\":[{\"field\":\"price\",\"reason\":\"\\\"x\\\" is, well,\\nnot a "
        "number\",\"rows\":1,\"examples\":[{\"row\":2,\"line\":7,\"externalId\":"
        "\"=HYPERLINK(\\\"x\\\",1)\"}]},{\"field\":\"title\",\"reason\":\"is missing\",\"rows\":1,"
        "\"examples\":[{\"row\":2,\"line\":7,\"externalId\":\"=HYPERLINK(\\\"x\\\",1)\"}]}],"
        "\"noted\":[]},\n"
        "\"totals\":{\"created\":1,\"updated\":1,\"unchanged\":0,\"banned\":0,"
        "\"refused\":1,\"left\":0,\"deleted\":2,\"revived\":0,\"photosFailed\":2}}\n");
}

static void each_file_tells_every_row_and_the_totals(void **state)
{
    struct fixture *fixture = *state;
    struct arena *arena = arena_new();
    struct violations reasons = violations_in(arena);
    struct bytes failed[] = {BYTES_LITERAL("https://x.example/1.jpg"),
                             BYTES_LITERAL("https://x.example/2.jpg")};
    struct feed_result results[] = {
        {.row = 1,
         .external_id = BYTES_LITERAL("a-1"),
         .offer_id = BYTES_LITERAL("1234-5678"),
         .outcome = FEED_CREATED},
        {.row = 2,
         .line = 7,
         .external_id = BYTES_LITERAL("=HYPERLINK(\"x\",1)"),
         .outcome = FEED_REFUSED,
         .reasons = &reasons},
        {.row = 3,
         .external_id = BYTES_LITERAL("-5"),
         .outcome = FEED_UPDATED,
         .photos_failed = failed,
         .photo_failed_count = 2},
        {.external_id = BYTES_LITERAL("@gone"), .outcome = FEED_DELETED},
        {.external_id = BYTES_LITERAL("+7"), .outcome = FEED_DELETED},
    };
    struct feed_report *report;
    struct err err;

    violations_add(&reasons, "price", "\"x\" is, well,\nnot a number");
    violations_add(&reasons, "title", "is missing");
    assert_int_equal(feed_report_open(&(struct feed_report_paths){.json = fixture->json,
                                                                  .csv = fixture->csv,
                                                                  .xml = fixture->xml},
                                      &report, &err),
                     0);
    for (size_t i = 0; i < 5; i++)
        assert_int_equal(feed_report_add(report, &results[i], &err), 0);
    assert_int_equal(feed_report_summary(report).counts[FEED_DELETED], 2);
    assert_int_equal(access(fixture->json, F_OK), -1); /* not before it is whole */
    assert_int_equal(feed_report_close(report, &err), 0);
    check_file(fixture->csv,
               "row,external_id,outcome,reasons,photos_failed,offer_id,line\r\n"
               "1,a-1,created,,,1234-5678,\r\n"
               "2,\"'=HYPERLINK(\"\"x\"\",1)\",refused,\"price: \"\"x\"\" is, well,\nnot a number; "
               "title: is missing\",,,7\r\n"
               "3,\"'-5\",updated,,\"https://x.example/1.jpg https://x.example/2.jpg\",,\r\n"
               ",\"'@gone\",deleted,,,,\r\n"
               ",\"'+7\",deleted,,,,\r\n"
               "group,\"'=HYPERLINK(\"\"x\"\",1)\",refused,\"1 × price: \"\"x\"\" is, well,\nnot a "
               "number\",,,7\r\n"
               "group,\"'=HYPERLINK(\"\"x\"\",1)\",refused,\"1 × title: is missing\",,,7\r\n"
               "total,,created,1,,,\r\ntotal,,updated,1,,,\r\ntotal,,unchanged,0,,,\r\n"
               "total,,banned,0,,,\r\ntotal,,refused,1,,,\r\ntotal,,left,0,,,\r\n"
               "total,,deleted,2,,,\r\ntotal,,revived,0,,,\r\n"
               "total,,photos_failed,2,,,\r\n");
    check_json(fixture->json);
    check_xml(fixture->xml);
    arena_free(arena);
}

static void reasons_are_told_in_russian_where_it_is_known(void **state)
{
    static const char *const pairs[][2] = {
        {"is missing", "не заполнено"},
        {"has 130 characters; expected 3 to 120", "знаков: 130, нужно от 3 до 120"},
        {"Цвет: it has no option \"в горошек\"", "Цвет: значения «в горошек» в списке нет"},
        {"https://a.example/1.jpg: it takes too long; it is tried again",
         "https://a.example/1.jpg: слишком долго; попробуем ещё раз"},
        {"is of no kind", "is of no kind"},
        {"Цвет: is of no kind", "Цвет: is of no kind"},
        {"", ""}};
    struct fixture *fixture = *state;
    struct arena *arena = arena_new();
    struct violations reasons = violations_in(arena);
    struct feed_result result = {.row = 2,
                                 .line = 3,
                                 .external_id = BYTES_LITERAL("a"),
                                 .outcome = FEED_REFUSED,
                                 .reasons = &reasons};
    struct feed_report *report;
    struct buf content = BUF_INIT(1 << 20);
    struct err err;

    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
        assert_string_equal(feed_reason_said(pairs[i][0], true, arena), pairs[i][1]);
        assert_string_equal(feed_reason_said(pairs[i][0], false, arena), pairs[i][0]);
    }
    violations_add(&reasons, "price", "\"x\" is not a number; write 1999 or 1999.50");
    assert_int_equal(
        feed_report_open(&(struct feed_report_paths){.json = fixture->json, .is_russian = true},
                         &report, &err),
        0);
    assert_int_equal(feed_report_add(report, &result, &err), 0);
    assert_int_equal(feed_report_close(report, &err), 0);
    assert_int_equal(file_read(fixture->json, &content, &err), 0);
    assert_null(strstr(buf_text(&content), "is not a number"));
    assert_non_null(strstr(strstr(buf_text(&content), "«x» — не число"), "\"groups\":{"));
    assert_non_null(
        strstr(strstr(buf_text(&content), "\"groups\""), "«x» — не число; пишите 1999"));
    buf_release(&content);
    arena_free(arena);
}

static void xml_has_notes_and_no_marks_of_others(void **state)
{
    struct fixture *fixture = *state;
    struct arena *arena = arena_new();
    struct violations notes = violations_in(arena);
    const struct feed_result result = {.row = 1,
                                       .external_id = BYTES_LITERAL("<a>&'b'"),
                                       .outcome = FEED_CREATED,
                                       .notes = &notes};
    struct feed_report *report;
    struct err err;

    violations_add(&notes, "photos", "<row> & \x01 \"rest\"");
    assert_int_equal(
        feed_report_open(&(struct feed_report_paths){.xml = fixture->xml}, &report, &err), 0);
    assert_int_equal(feed_report_add(report, &result, &err), 0);
    assert_int_equal(feed_report_close(report, &err), 0);
    check_file(fixture->xml,
               "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<report>\n"
               "<row number=\"1\" externalId=\"&lt;a&gt;&amp;'b'\" outcome=\"created\">"
               "<note field=\"photos\">&lt;row&gt; &amp;   &quot;rest&quot;</note></row>\n"
               "<group of=\"noted\" rows=\"1\" field=\"photos\"><reason>&lt;row&gt; &amp;   "
               "&quot;rest&quot;</reason><example row=\"1\" externalId=\"&lt;a&gt;&amp;'b'\"/>"
               "</group>\n"
               "<totals created=\"1\" updated=\"0\" unchanged=\"0\" banned=\"0\" refused=\"0\" "
               "left=\"0\" deleted=\"0\" revived=\"0\" photosFailed=\"0\"/>\n</report>\n");
    arena_free(arena);
}

static void an_abandoned_report_leaves_nothing(void **state)
{
    struct fixture *fixture = *state;
    struct feed_result result = {.external_id = BYTES_LITERAL("a"), .outcome = FEED_CREATED};
    struct feed_report *report;
    char part[TEST_DIR_SIZE + 30];
    struct err err;

    snprintf(part, sizeof(part), "%s.part", fixture->json);
    assert_int_equal(
        feed_report_open(&(struct feed_report_paths){.json = fixture->json}, &report, &err), 0);
    assert_int_equal(feed_report_add(report, &result, &err), 0);
    assert_int_equal(access(part, F_OK), 0);
    feed_report_abandon(report);
    assert_int_equal(access(part, F_OK), -1);
    assert_int_equal(access(fixture->json, F_OK), -1);
}

static void a_report_that_cannot_be_written_is_told(void **state)
{
    struct feed_report *report;
    struct err err;

    (void)state;
    assert_int_equal(
        feed_report_open(&(struct feed_report_paths){.json = "/nowhere/r.json"}, &report, &err),
        ERR_NOT_FOUND);
    assert_null(report);
}

static void many_rows_are_written_as_they_come(void **state)
{
    struct fixture *fixture = *state;
    struct feed_result result = {
        .row = 1, .external_id = BYTES_LITERAL("a"), .outcome = FEED_UNCHANGED};
    struct feed_report *report;
    char part[TEST_DIR_SIZE + 30];
    struct buf content = BUF_INIT(16 << 20);
    struct err err;

    snprintf(part, sizeof(part), "%s.part", fixture->csv);
    assert_int_equal(
        feed_report_open(&(struct feed_report_paths){.csv = fixture->csv}, &report, &err), 0);
    for (size_t i = 0; i < 100000; i++)
        assert_int_equal(feed_report_add(report, &result, &err), 0);
    assert_int_equal(file_read(part, &content, &err), 0);
    assert_true(content.size > 1 << 20);
    assert_int_equal(feed_report_close(report, &err), 0);
    buf_release(&content);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(each_file_tells_every_row_and_the_totals, make, unmake),
        cmocka_unit_test_setup_teardown(reasons_are_told_in_russian_where_it_is_known, make,
                                        unmake),
        cmocka_unit_test_setup_teardown(xml_has_notes_and_no_marks_of_others, make, unmake),
        cmocka_unit_test_setup_teardown(an_abandoned_report_leaves_nothing, make, unmake),
        cmocka_unit_test(a_report_that_cannot_be_written_is_told),
        cmocka_unit_test_setup_teardown(many_rows_are_written_as_they_come, make, unmake),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
