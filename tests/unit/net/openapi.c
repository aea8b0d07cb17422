/* SPDX-License-Identifier: Apache-2.0 */
/* Unit tests of net/server/openapi.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <yajl/yajl_tree.h>

#include "echo_descriptors.h"
#include "model_descriptors.h"
#include "net/server/openapi.h"
#include "torg/v1/system.pb-c.h"

static struct buf out;
static yajl_val document;

static int set_up(void **state)
{
    const struct bytes sets[] = {
        bytes_make(model_descriptors, model_descriptors_size),
        bytes_make(echo_descriptors, echo_descriptors_size),
    };
    struct gets gets = {.count = 0};
    static const struct rpc_method methods[] = {{.name = "GetSystem", .flags = RPC_PUBLIC}};
    static const struct rpc_service service = {
        .descriptor = &torg__v1__system_service__descriptor, .methods = methods, .method_count = 1};
    static const struct rpc_service *const services[] = {&service};
    static const struct folder folder = {.prefix = "/v1/photos/", .about = "A photo."};
    static const struct folder *const folders[] = {&folder};
    const struct openapi_source source = {.sets = sets,
                                          .set_count = 2,
                                          .gets = &gets,
                                          .services = services,
                                          .service_count = 1,
                                          .folders = folders,
                                          .folder_count = 1};
    struct err err;
    char text[256];

    (void)state;
    buf_init(&out, 1 << 20);
    gets_add(&gets, "/v1/freshness/", "/torg.v1.FreshnessService/GetProgress", "token");
    if (openapi_print(&source, &out, &err) != 0)
        return -1;
    document = yajl_tree_parse(buf_text(&out), text, sizeof(text));
    return document ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    yajl_tree_free(document);
    buf_release(&out);
    return 0;
}

/* The text at a path of at most five keys; "" when there is none. */
static const char *at(const char *a, const char *b, const char *c, const char *d, const char *e)
{
    const char *path[] = {a, b, c, d, e, NULL};
    const char *text = YAJL_GET_STRING(yajl_tree_get(document, path, yajl_t_string));

    return text ? text : "";
}

static bool has(const char *part)
{
    return strstr(buf_text(&out), part) != NULL;
}

static void methods_are_posts_with_their_comments(void **state)
{
    (void)state;
    assert_string_equal(at("openapi", NULL, NULL, NULL, NULL), "3.0.3");
    assert_string_equal(
        at("paths", "/torg.v1.SystemService/GetSystem", "post", "description", NULL),
        "Version, roles and start time of the answering process.");
    assert_string_equal(at("paths", "/torg.test.v1.EchoService/Fail", "post", "description", NULL),
                        "answers the status asked for");
    assert_true(has("{\"$ref\":\"#/components/schemas/torg.v1.GetSystemRequest\"}"));
}

static void an_address_of_a_get_stands_beside_its_method(void **state)
{
    const char *wait[] = {"paths", "/v1/freshness/{token}", "get", "parameters", NULL};
    yajl_val parameters = yajl_tree_get(document, wait, yajl_t_array);

    (void)state;
    assert_true(YAJL_IS_ARRAY(parameters));
    assert_int_equal(YAJL_GET_ARRAY(parameters)->len, 2);
    assert_true(has("{\"name\":\"token\",\"in\":\"path\",\"required\":true,"));
    assert_true(has("{\"name\":\"wait\",\"in\":\"query\","));
    assert_string_equal(at("paths", "/v1/freshness/{token}", "get", "operationId", NULL),
                        "torg.v1.FreshnessService.GetProgress.get");
}

static void an_address_without_a_method_is_refused(void **state)
{
    const struct bytes set = bytes_make(model_descriptors, model_descriptors_size);
    struct buf other = BUF_INIT(1 << 20);
    struct gets gets = {.count = 0};
    struct err err;

    (void)state;
    gets_add(&gets, "/v1/nothing/", "/torg.v1.NoService/Nothing", "id");
    assert_int_equal(
        openapi_print(&(struct openapi_source){.sets = &set, .set_count = 1, .gets = &gets}, &other,
                      &err),
        ERR_INVALID);
    buf_release(&other);
}

static void streams_of_answers_are_lines(void **state)
{
    const char *path[] = {"paths",
                          "/torg.test.v1.EchoService/Count",
                          "post",
                          "responses",
                          "200",
                          "content",
                          "application/x-ndjson",
                          NULL};

    (void)state;
    assert_non_null(yajl_tree_get(document, path, yajl_t_object));
}

static void what_needs_no_key_says_so(void **state)
{
    const char *open[] = {"paths", "/torg.v1.SystemService/GetSystem", "post", "security", NULL};
    const char *photo[] = {"paths", "/v1/photos/{name}", "get", "security", NULL};
    const char *closed[] = {"paths", "/torg.v1.SystemService/GetStatus", "post", "security", NULL};

    (void)state;
    assert_int_equal(YAJL_GET_ARRAY(yajl_tree_get(document, open, yajl_t_array))->len, 0);
    assert_int_equal(YAJL_GET_ARRAY(yajl_tree_get(document, photo, yajl_t_array))->len, 0);
    assert_null(yajl_tree_get(document, closed, yajl_t_any));
}

/* Answers have their numbers and lists always; what is sent, too, may lack them. */
static void required_is_what_answers_always_have(void **state)
{
    (void)state;
    assert_true(
        has("\"torg.test.v1.EchoResponse\":{\"type\":\"object\",\"additionalProperties\":false,"
            "\"properties\":{\"text\":{\"type\":\"string\"},\"count\":{"));
    assert_true(has("\"principal\":{\"type\":\"string\"}},\"required\":[\"count\"]}"));
    assert_false(has("\"required\":[\"aBool\""));
}

static void client_streams_and_other_packages_are_left_out(void **state)
{
    (void)state;
    assert_false(has("EchoService/Collect"));
    assert_false(has("grpc.health"));
}

static void schemas_follow_the_json_mapping(void **state)
{
    (void)state;
    assert_string_equal(at("components", "schemas", "torg.v1.System", "type", NULL), "object");
    assert_true(has("\"startTime\":{\"type\":\"string\",\"format\":\"date-time\"}"));
    assert_true(has("\"anInt64\":{\"type\":\"string\",\"format\":\"int64\""));
    assert_true(has("\"aMap\":{\"type\":\"object\",\"additionalProperties\":{\"type\":\"string\""));
    assert_true(has("\"childMap\":{\"type\":\"object\",\"additionalProperties\":{\"$ref\":"));
    assert_true(has("\"manyString\":{\"type\":\"array\",\"items\":{\"type\":\"string\"}}"));
    assert_true(has("\"torg.test.v1.Everything.Color\":{\"type\":\"string\",\"enum\":["
                    "\"COLOR_UNSPECIFIED\",\"COLOR_RED\",\"COLOR_DARK_GREEN\"]}"));
    assert_true(has("\"replySize\":{\"description\":\"reply with that many bytes of text instead\","
                    "\"type\":\"integer\""));
    assert_false(has("AMapEntry"));
}

/* Every $ref has its schema. */
static void no_reference_dangles(void **state)
{
    static const char prefix[] = "\"$ref\":\"#/components/schemas/";
    const char *place = buf_text(&out);
    int count = 0;

    (void)state;
    for (place = strstr(place, prefix); place; place = strstr(place, prefix)) {
        char name[128];
        const char *path[] = {"components", "schemas", name, NULL};
        size_t size;

        place += strlen(prefix);
        size = strcspn(place, "\"");
        assert_true(size < sizeof(name));
        memcpy(name, place, size);
        name[size] = 0;
        assert_non_null(yajl_tree_get(document, path, yajl_t_object));
        count++;
    }
    assert_true(count > 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(methods_are_posts_with_their_comments),
        cmocka_unit_test(an_address_of_a_get_stands_beside_its_method),
        cmocka_unit_test(an_address_without_a_method_is_refused),
        cmocka_unit_test(streams_of_answers_are_lines),
        cmocka_unit_test(what_needs_no_key_says_so),
        cmocka_unit_test(required_is_what_answers_always_have),
        cmocka_unit_test(client_streams_and_other_packages_are_left_out),
        cmocka_unit_test(schemas_follow_the_json_mapping),
        cmocka_unit_test(no_reference_dangles),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
