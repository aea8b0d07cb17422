/* SPDX-License-Identifier: Apache-2.0 */
/*
 * make_topics.h - the topics of model/topics.h, made where they are missing.
 *
 * One that is there with other partitions stays as it is: that is an operator's choice.
 */
#ifndef TORG_STAGE_MAKE_TOPICS_H
#define TORG_STAGE_MAKE_TOPICS_H

#include "topic/topic.h"

/* All of them, when a process starts; those with other partitions are told in the log. */
int stage_make_topics(struct topics *topics, struct err *err);
/* One of the list, by a stage that needs it; or another, that a config names. */
int stage_make_topic(struct topics *topics, const char *name, struct err *err);

#endif
