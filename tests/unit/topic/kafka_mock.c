/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What real brokers hardly ever do in a test; the broker is librdkafka's own mock, in this process.
 *
 * A producer that librdkafka has given up for ever is replaced: after a broker has lost the end of
 * its log it answers that the numbers of records are out of order. A question to a broker that is
 * gone ends in a bounded time. A broker that was frozen for longer than its session with the
 * controller is no coordinator of any group at first, one that was away comes back: who asks for a
 * lag meanwhile is told, and lives. A commit that comes while partitions are dealt anew is refused,
 * and has to be sent again: its sender may be their owner after it as before.
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
#include "patience.h"
#include "topic/kafka.h"
#include "topic/topic.h"

enum {
    PRODUCE_REQUEST = 0,
    OFFSET_COMMIT_REQUEST = 8,
    OFFSET_FETCH_REQUEST = 9,
    ANSWER_S_MAX = 60,
    POLL_MS = 100,
    BROKER_COUNT = 2
};

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
    mock->cluster = rd_kafka_mock_cluster_new(mock->host, BROKER_COUNT);
    assert_non_null(mock->cluster);
    rd_kafka_mock_topic_create(mock->cluster, "orders", 1, 1);
    rd_kafka_mock_partition_set_leader(mock->cluster, "orders", 0, 1);
    rd_kafka_mock_coordinator_set(mock->cluster, "group", "group", 2);
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
    rd_kafka_mock_broker_set_down(mock.cluster, 2);
    began_us = clock_mono_us(clock_system());
    assert_int_not_equal(topic_range(mock.topics, "orders", 0, &first, &end, &err), 0);
    print_message("%s, after %d ms\n", err.text,
                  (int)((clock_mono_us(clock_system()) - began_us) / MS_US));
    assert_true(clock_mono_us(clock_system()) - began_us < (int64_t)ANSWER_S_MAX * SECOND_US);
    rd_kafka_mock_broker_set_up(mock.cluster, 1);
    rd_kafka_mock_broker_set_up(mock.cluster, 2);
    mock_close(&mock);
}

/* rd_kafka_ListConsumerGroupOffsets ends the process at both: see kafka_group.c. */
static void a_lag_is_refused_by_a_broker_that_coordinates_no_group_yet(void **state)
{
    struct topic_lag lag;
    struct mock mock;
    uint64_t offset;
    struct err err;

    (void)state;
    mock_open(&mock);
    assert_int_equal(produce(mock.topics, "one", &offset), 0);
    rd_kafka_mock_push_request_errors(mock.cluster, OFFSET_FETCH_REQUEST, 2,
                                      RD_KAFKA_RESP_ERR_NOT_COORDINATOR,
                                      RD_KAFKA_RESP_ERR_COORDINATOR_NOT_AVAILABLE);
    assert_int_equal(topic_lag(mock.topics, "group", "orders", 0, &lag, &err), ERR_UNAVAILABLE);
    print_message("%s\n", err.text);
    assert_int_equal(topic_lag(mock.topics, "group", "orders", 0, &lag, &err), ERR_UNAVAILABLE);
    assert_int_equal(topic_lag(mock.topics, "group", "orders", 0, &lag, &err), 0);
    assert_false(lag.has_committed);
    assert_int_equal(lag.lag, 1);
    mock_close(&mock);
}

static void a_lag_is_known_again_when_its_coordinator_is_back(void **state)
{
    struct topic_lag lag;
    struct mock mock;
    uint64_t offset;
    struct err err;
    int64_t until_us;
    int rc;

    (void)state;
    mock_open(&mock);
    assert_int_equal(produce(mock.topics, "one", &offset), 0);
    rd_kafka_mock_broker_set_down(mock.cluster, 2);
    assert_int_not_equal(topic_lag(mock.topics, "group", "orders", 0, &lag, &err), 0);
    print_message("%s\n", err.text);
    rd_kafka_mock_broker_set_up(mock.cluster, 2);
    until_us = clock_mono_us(clock_system()) + (int64_t)PATIENCE_S * SECOND_US;
    do
        rc = topic_lag(mock.topics, "group", "orders", 0, &lag, &err);
    while (rc && clock_mono_us(clock_system()) < until_us);
    assert_int_equal(rc, 0);
    assert_int_equal(lag.lag, 1);
    mock_close(&mock);
}

/* More groups than handles are kept for them. */
static void many_groups_are_asked_in_turn(void **state)
{
    struct topic_lag lag;
    struct mock mock;
    uint64_t offset;
    struct err err;
    char name[16];
    int i;

    (void)state;
    mock_open(&mock);
    assert_int_equal(produce(mock.topics, "one", &offset), 0);
    for (i = 0; i < 2 * KAFKA_GROUP_COUNT; i++) {
        snprintf(name, sizeof(name), "group-%d", i);
        assert_int_equal(topic_lag(mock.topics, name, "orders", 0, &lag, &err), 0);
        assert_int_equal(lag.lag, 1);
    }
    mock_close(&mock);
}

static void a_commit_outlasts_the_dealing_of_partitions(void **state)
{
    const char *names[] = {"orders"};
    const struct consumer_options options = {
        .group = "group", .topics = names, .topic_count = 1, .start = TOPIC_START_EARLIEST};
    const struct topic_message *messages;
    struct consumer *consumer;
    struct topic_lag lag;
    struct mock mock;
    uint64_t offset;
    size_t count;
    struct err err;

    (void)state;
    mock_open(&mock);
    assert_int_equal(produce(mock.topics, "one", &offset), 0);
    assert_int_equal(consumer_open(mock.topics, &options, &consumer, &err), 0);
    do
        assert_int_equal(consumer_poll(consumer, POLL_MS, &messages, &count, &err), 0);
    while (count == 0);
    rd_kafka_mock_push_request_errors(mock.cluster, OFFSET_COMMIT_REQUEST, 2,
                                      RD_KAFKA_RESP_ERR_REBALANCE_IN_PROGRESS,
                                      RD_KAFKA_RESP_ERR_REBALANCE_IN_PROGRESS);
    assert_int_equal(consumer_commit_polled(consumer, &err), 0);
    assert_int_equal(topic_lag(mock.topics, "group", "orders", 0, &lag, &err), 0);
    assert_true(lag.has_committed);
    assert_int_equal(lag.lag, 0);
    consumer_close(consumer);
    mock_close(&mock);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_producer_given_up_by_its_client_is_replaced),
        cmocka_unit_test(a_question_to_a_broker_that_is_gone_ends),
        cmocka_unit_test(a_lag_is_refused_by_a_broker_that_coordinates_no_group_yet),
        cmocka_unit_test(a_lag_is_known_again_when_its_coordinator_is_back),
        cmocka_unit_test(many_groups_are_asked_in_turn),
        cmocka_unit_test(a_commit_outlasts_the_dealing_of_partitions),
    };

    return cmocka_run_group_tests_name("kafka_mock", tests, NULL, NULL);
}
