/* SPDX-License-Identifier: Apache-2.0 */
/* topics_place.h - topics for a test, with faults on demand, on every backend. */
#ifndef TORG_TESTS_CONTRACT_TOPICS_PLACE_H
#define TORG_TESTS_CONTRACT_TOPICS_PLACE_H

#include <stdbool.h>

#include "test_dir.h"
#include "topic/topic_fault.h"

enum { TEST_PREFIX_SIZE = 20 };

/* Before the names of topics and groups that this program has on Kafka: what others have there,
 * and the members of their groups, are nothing to it. */
const char *test_topics_prefix(void);
/* In files of a directory that is made, or Kafka's, which all cases of the program share and which
 * must be there. */
struct topics *test_topics_open(char dir[TEST_DIR_SIZE], bool on_kafka);
/* With the directory and all else that is in it. */
void test_topics_close(struct topics *topics, const char *dir);

#endif
