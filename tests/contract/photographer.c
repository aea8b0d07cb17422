/* SPDX-License-Identifier: Apache-2.0 */
/* photographer.c - the demo's stand-in for who fetches photos: what it answers, and what it parks.
 */
#include "contract/cases.h"

#include <stdio.h>

#include "base/file.h"
#include "blob/blob.h"
#include "codec/message.h"
#include "contract/place.h"
#include "contract/topics_place.h"
#include "demo/photographer.h"
#include "model/topics.h"
#include "patience.h"
#include "stage/make_topics.h"
#include "stage/parked.h"
#include "topic/bounds.h"
#include "torg/v1/photo.pb-c.h"

static void produce(struct topics *topics, struct bytes value)
{
    const struct topic_record record = {.key = bytes_of("k"), .value = value};
    struct err err;

    OK(topic_produce(topics, TOPIC_PHOTO_REQUESTS, &record, 1, NULL, &err));
}

static void request(struct topics *topics)
{
    Torg__V1__PhotoRequest__Item item = TORG__V1__PHOTO_REQUEST__ITEM__INIT;
    Torg__V1__PhotoRequest__Item *items[] = {&item};
    Torg__V1__PhotoRequest message = TORG__V1__PHOTO_REQUEST__INIT;
    struct buf wire = BUF_INIT(1 << 10);

    item.url = (char *)"https://elsewhere.example/a";
    message.offer_id = (char *)"1000-0000-0000-0007";
    message.photos = items;
    message.n_photos = 1;
    message_encode(&message.base, &wire);
    produce(topics, buf_bytes(&wire));
    buf_release(&wire);
}

/* Records of photo-results, in all partitions. */
static uint64_t answer_count(struct topics *topics)
{
    struct topic_config config;
    uint64_t count = 0;
    struct err err;

    OK(topic_describe(topics, TOPIC_PHOTO_RESULTS, &config, &err));
    for (uint32_t i = 0; i < config.partition_count; i++) {
        uint64_t first, end;

        OK(topic_range(topics, TOPIC_PHOTO_RESULTS, i, &first, &end, &err));
        count += end;
    }
    return count;
}

/* One that cannot be read is kept where an operator finds it, and the next is answered. */
static void what_cannot_be_read_is_parked_and_the_next_answered(void **state)
{
    struct photographer *photographer;
    struct parked_total total = {0};
    char dir[TEST_DIR_SIZE];
    struct store_place at;
    struct topics *topics;
    struct store *store;
    struct blob *blob;
    struct err err;

    (void)state;
    assert_true(store_place_open(&at, false, "", &store));
    topics = test_topics_open(dir, false);
    OK(blob_open("memory:", &blob, &err));
    OK(stage_make_topics(topics, &err));
    produce(topics, bytes_of("\xff no message"));
    request(topics);
    OK(photographer_start(topics, blob, store, &photographer, &err));
    for (int i = 0; i < PATIENCE_MS / 10 && answer_count(topics) == 0; i++)
        pause_ms(10);
    photographer_stop(photographer);
    assert_int_equal(answer_count(topics), 1);
    OK(parked_total(store, "photographer", &total, &err));
    assert_int_equal(total.count, 1);
    blob_close(blob);
    test_topics_close(topics, dir);
    store_place_close(&at, store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_cannot_be_read_is_parked_and_the_next_answered),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
