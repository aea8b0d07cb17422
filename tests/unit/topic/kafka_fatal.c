/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A producer that librdkafka has given up for ever is replaced: after a broker has lost the end of
 * its log it answers that the numbers of records are out of order. The broker is librdkafka's own
 * mock, inside this process.
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
#include "topic/topic.h"

enum { PRODUCE_REQUEST = 0 };

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
    rd_kafka_t *host = rd_kafka_new(RD_KAFKA_PRODUCER, rd_kafka_conf_new(), NULL, 0);
    rd_kafka_mock_cluster_t *cluster = rd_kafka_mock_cluster_new(host, 1);
    struct topics *topics;
    struct err err;
    char url[256];
    uint64_t first, next;

    (void)state;
    assert_non_null(cluster);
    rd_kafka_mock_topic_create(cluster, "orders", 1, 1);
    snprintf(url, sizeof(url), "kafka://%s", rd_kafka_mock_cluster_bootstraps(cluster));
    assert_int_equal(topics_open(url, NULL, &topics, &err), 0);
    assert_int_equal(produce(topics, "before", &first), 0);

    rd_kafka_mock_push_request_errors(cluster, PRODUCE_REQUEST, 1,
                                      RD_KAFKA_RESP_ERR_OUT_OF_ORDER_SEQUENCE_NUMBER);
    assert_int_equal(produce(topics, "refused", &next), ERR_UNAVAILABLE);
    assert_int_equal(produce(topics, "after", &next), 0);
    assert_int_equal(next, first + 1);
    topics_close(topics);
    rd_kafka_mock_cluster_destroy(cluster);
    rd_kafka_destroy(host);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_producer_given_up_by_its_client_is_replaced),
    };

    return cmocka_run_group_tests_name("kafka_fatal", tests, NULL, NULL);
}
