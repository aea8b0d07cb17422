/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What real brokers hardly ever do in a test; the broker is librdkafka's own mock, in this process.
 *
 * A producer that librdkafka has given up for ever is replaced: after a broker has lost the end of
 * its log it answers that the numbers of records are out of order. A question to a broker that is
 * gone ends in a bounded time.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>
#include <librdkafka/rdkafka.h>
#include <librdkafka/rdkafka_mock.h>

#include "base/bytes.h"
#include "base/clock.h"
#include "topic/topic.h"

enum { PRODUCE_REQUEST = 0, ANSWER_S_MAX = 60 };

struct mock {
    rd_kafka_t *host;
    rd_kafka_mock_cluster_t *cluster;
    struct topics *topics;
};

static void mock_open(struct mock *mock)
{
    struct err err;
    char url[256];

    mock->host = rd_kafka_new(RD_KAFKA_PRODUCER, rd_kafka_conf_new(), NULL, 0);
    mock->cluster = rd_kafka_mock_cluster_new(mock->host, 1);
    assert_non_null(mock->cluster);
    rd_kafka_mock_topic_create(mock->cluster, "orders", 1, 1);
    snprintf(url, sizeof(url), "kafka://%s", rd_kafka_mock_cluster_bootstraps(mock->cluster));
    assert_int_equal(topics_open(url, NULL, &mock->topics, &err), 0);
}

static void mock_close(struct mock *mock)
{
    topics_close(mock->topics);
    rd_kafka_mock_cluster_destroy(mock->cluster);
    rd_kafka_destroy(mock->host);
}

static int produce(struct topics *topics, const char *value, uint64_t *offset)
{
    const struct topic_record record = {.key = bytes_of("key"), .value = bytes_of(value)};
    struct err err;
    int rc = topic_produce(topics, "orders", &record, 1, offset, &err);

    if (rc)
        print_message("%s: %s\n", value, err.text);
    return rc;
}

static void a_producer_given_up_by_its_client_is_replaced(void **state)
{
    struct mock mock;
    uint64_t first, next;

    (void)state;
    mock_open(&mock);
    assert_int_equal(produce(mock.topics, "before", &first), 0);
    rd_kafka_mock_push_request_errors(mock.cluster, PRODUCE_REQUEST, 1,
                                      RD_KAFKA_RESP_ERR_OUT_OF_ORDER_SEQUENCE_NUMBER);
    assert_int_equal(produce(mock.topics, "refused", &next), ERR_UNAVAILABLE);
    assert_int_equal(produce(mock.topics, "after", &next), 0);
    assert_int_equal(next, first + 1);
    mock_close(&mock);
}

static void a_question_to_a_broker_that_is_gone_ends(void **state)
{
    uint64_t first, end;
    struct mock mock;
    int64_t began_us;
    struct err err;

    (void)state;
    mock_open(&mock);
    assert_int_equal(produce(mock.topics, "before", &first), 0);
    assert_int_equal(topic_range(mock.topics, "orders", 0, &first, &end, &err), 0);
    assert_int_equal(end, 1);
    rd_kafka_mock_broker_set_down(mock.cluster, 1);
    began_us = clock_mono_us(clock_system());
    assert_int_not_equal(topic_range(mock.topics, "orders", 0, &first, &end, &err), 0);
    print_message("%s, after %d ms\n", err.text,
                  (int)((clock_mono_us(clock_system()) - began_us) / MS_US));
    assert_true(clock_mono_us(clock_system()) - began_us < (int64_t)ANSWER_S_MAX * SECOND_US);
    rd_kafka_mock_broker_set_up(mock.cluster, 1);
    mock_close(&mock);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_producer_given_up_by_its_client_is_replaced),
        cmocka_unit_test(a_question_to_a_broker_that_is_gone_ends),
    };

    return cmocka_run_group_tests_name("kafka_mock", tests, NULL, NULL);
}
